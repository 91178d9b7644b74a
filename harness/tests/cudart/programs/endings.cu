// A race, and then an end of the program that runs no destructors: given by name. endings_test.cc.
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

int main(int, char** argv) {
  const std::map<std::string, void (*)()> endings = {
      {"return", [] {}},
      {"exit", [] { exit(3); }},
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
