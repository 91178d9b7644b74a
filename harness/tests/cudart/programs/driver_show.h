// For programs that print what calls of both APIs return.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

inline void Show(const char* what, CUresult result) {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  std::printf("%s = %s, %s\n", what, name == nullptr ? "?" : name, text == nullptr ? "?" : text);
}
inline void Show(const char* what, cudaError_t error) { std::printf("%s = %s\n", what, cudaGetErrorName(error)); }
#define SHOW(call) Show(#call, call)
