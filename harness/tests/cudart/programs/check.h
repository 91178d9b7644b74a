// Ends a program at the first call that fails.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                             \
  do {                                                                          \
    const cudaError_t error = (call);                                           \
    if (error != cudaSuccess) {                                                 \
      std::printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                             \
    }                                                                           \
  } while (false)
