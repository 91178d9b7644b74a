// A race, then the end of the program that the argument names; most run no destructors. See endings_test.cc.
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

__global__ void AddUp(int* sum) { *sum += static_cast<int>(threadIdx.x); }  // RACE

void Overflow(volatile char* above) {
  volatile char here[1 << 16];
  here[0] = *above;
  Overflow(here);
  above[0] = here[0];
}

void Signal(int number) {
  raise(number);
  puts("it goes on");
}

// Makes calls in the destructor of an object constructed before the first call, as CCCL's device objects do.
struct Static {
  bool used = false;
  using OfDevice = int (*)(void*, int);
  static OfDevice Driver(const char* name) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
    return reinterpret_cast<OfDevice>(function);
  }
  void Use() {
    used = true;
    void* context;
    Driver("cuDevicePrimaryCtxRetain")(&context, 0);
    size_t limit = 0;
    cudaDeviceGetLimit(&limit, cudaLimitStackSize);
    cudaDeviceSetLimit(cudaLimitStackSize, limit);
    cudaDeviceGraphMemTrim(0);
  }
  ~Static() {
    if (!used) return;
    Use();
    reinterpret_cast<int (*)(int)>(Driver("cuDevicePrimaryCtxRelease"))(0);
    void* late = nullptr;
    cudaFree(cudaMalloc(&late, 4) == cudaSuccess ? late : nullptr);
    puts("objects are gone");
  }
} before_main;

int main(int, char** argv) {
  const std::map<std::string, void (*)()> endings = {
      {"return", [] {}},
      {"exit", [] { exit(3); }},
      {"static", [] { before_main.Use(); }},
      {"assert", [] { assert(!"so"); }},
      {"abort", [] { abort(); }},
      {"exception", [] { throw std::runtime_error("nobody catches it"); }},
      {"_exit", [] { _exit(3); }},
      {"_Exit", [] { _Exit(3); }},
      {"quick_exit", [] { quick_exit(3); }},
      {"null", [] { *static_cast<volatile int*>(nullptr) = 1; }},
      {"stack",
       [] {
         volatile char top = 0;
         Overflow(&top);
       }},
      {"terminate", [] { Signal(SIGTERM); }},
      {"interrupt", [] { Signal(SIGINT); }},
      {"own_handler",
       [] {
         signal(SIGINT, [](int) { puts("its own handler"); });
         Signal(SIGINT);
       }},
      {"child",
       [] {
         if (fork() == 0) _exit(0);
         wait(nullptr);
         puts("the child is gone");
       }},
  };
  int* sum;
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(sum, 0, sizeof *sum);
  AddUp<<<1, 64>>>(sum);
  cudaDeviceSynchronize();
  endings.at(argv[1])();
  cudaFree(sum);
}
