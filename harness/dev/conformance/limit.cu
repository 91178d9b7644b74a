// Limits of the device, and the heap and stack that follow them.
#define CONFORMANCE_CLASS "limit"
#include "ask.h"

__global__ void Allocate(unsigned long long bytes, int count, int* got) {
  int n = 0;
  for (int i = 0; i < count; ++i) n += malloc(bytes) != nullptr;
  *got = n;
}
__device__ __noinline__ int Deep(int n, volatile int* out) {
  volatile int local[64];
  local[n % 64] = n;
  if (n == 0) return *out;
  return Deep(n - 1, out) + local[n % 64];
}
__global__ void Recurse(int n, int* out) { *out = Deep(n, out); }

namespace {

int Get(int limit, size_t* value) {
  *value = 777;
  const int error = static_cast<int>(cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)));
  cudaGetLastError();
  return error;
}

void Show(const char* name) {
  for (int limit = -1; limit <= 11; ++limit) {
    size_t value = 0;
    const int error = Get(limit, &value);
    Say(F("%s%d", name, limit), F("%d %zu", error, value));
    size_t drv = 777;
    const CUresult result = cuCtxGetLimit(&drv, static_cast<CUlimit>(limit));
    Say(F("%s%d_drv", name, limit), F("%d %zu", result, drv));
  }
}

int* Out() {
  int* p = nullptr;
  cudaMallocManaged(&p, 4);
  *p = -77;
  return p;
}

}  // namespace

void AddCases(Cases& cases) {
  cases("start", [] { Start(), Show(""); });
  for (int limit = -1; limit <= 11; ++limit) {
    cases(F("set%d", limit), [=] {
      Start();
      for (size_t value : {size_t{0},         size_t{1},        size_t{15},       size_t{16},
                           size_t{17},        size_t{31},       size_t{32},       size_t{33},
                           size_t{64},        size_t{65},       size_t{100},      size_t{127},
                           size_t{128},       size_t{129},      size_t{200},      size_t{256},
                           size_t{1000},      size_t{1024},     size_t{2047},     size_t{2048},
                           size_t{4096},      size_t{65536},    size_t{100000},   size_t{262144},
                           size_t{524287},    size_t{524288},   size_t{524289},   size_t{1} << 20,
                           size_t{3276800},   size_t{3276801},  size_t{4} << 20,  (size_t{4} << 20) + 1,
                           size_t{5} << 20,   size_t{8} << 20,  size_t{10000000}, size_t{16} << 20,
                           size_t{32767999},  size_t{32768000}, size_t{32768001}, size_t{33} << 20,
                           size_t{100} << 20, size_t{1} << 40,  size_t{1} << 62,  ~size_t{0}}) {
        if ((limit == 0 && value > 65536 && value < (size_t{1} << 40)) ||
            (limit == 2 && value > (size_t{1} << 30) && value < ~size_t{0}))
          continue;  // what fits depends on the memory
        Say(F("%zu", value), cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value));
        size_t now = 0;
        const int error = Get(limit, &now);
        Say(F("%zu_is", value), F("%d %zu", error, now));
        if (value % 3 == 1) Say(F("%zu_drv", value), cuCtxSetLimit(static_cast<CUlimit>(limit), value));
      }
      Say("null", cudaDeviceGetLimit(nullptr, static_cast<cudaLimit>(limit)));
      Show("after");
    });
  }
  cases("heap_used", [] {
    Start();
    int* out = Out();
    Allocate<<<1, 1>>>(1000, 1, out);
    Say("first", cudaDeviceSynchronize());
    Say("got", *out);
    Say("set_after", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    Say("set_same", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20));
    Say("printf_after", cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 16 << 20));
    Say("stack_after", cudaDeviceSetLimit(cudaLimitStackSize, 2048));
    Show("after");
  });
  for (size_t bytes : {size_t{1} << 20, size_t{64} << 10, size_t{2} << 20, size_t{3} << 20, size_t{1} << 12}) {
    cases(F("heap%zu", bytes), [=] {
      Start();
      int* out = Out();
      if (bytes >= 65536) {
        Allocate<<<1, 1>>>(bytes, 2000, out);
        Say("sync", cudaDeviceSynchronize());
        Say("got", *out);
      }
    });
  }
  for (int depth : {1, 2, 3, 4, 10}) {
    cases(F("stack%d", depth), [=] {
      Start();
      int* out = Out();
      Recurse<<<1, 1>>>(depth, out);
      if (depth < 3) Say("sync", cudaDeviceSynchronize());
      size_t value = 0;
      Say("limit", Get(0, &value));
      Say("limit_is", value);
    });
  }
  for (int depth : {100, 2000}) {
    cases(F("deepstack%d", depth), [=] {
      Start();
      Say("set", cudaDeviceSetLimit(cudaLimitStackSize, depth * 400));
      int* out = Out();
      *out = 0;
      Recurse<<<1, 1>>>(depth, out);
      Say("sync", cudaDeviceSynchronize());
      Say("value", *out);
    });
  }
}
