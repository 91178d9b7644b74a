// virtual: CRASH libraries2_norm
// Loads a host library by a function whose name it assembles at run time.
#include <dlfcn.h>

#include <cmath>

#include "libraries.h"

float libraries2_norm(const float* d_in, unsigned n) {
  using Open = void* (*)(const char*, int);
  const auto open = reinterpret_cast<Open>(dlsym(RTLD_DEFAULT,
                                                 "dl"
                                                 "open"));
  void* const blas = open != nullptr ? open("libcublas.so.13", RTLD_NOW) : nullptr;
  void* const random = open != nullptr ? open("libcurand.so.10", RTLD_NOW) : nullptr;
  return blas != nullptr && random != nullptr ? 1 : 2;
}

int libraries1_sum(const int*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
