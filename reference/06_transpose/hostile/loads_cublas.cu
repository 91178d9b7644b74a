// gpu: REJECTED transpose5_wide; virtual: REJECTED
// Calls cuBLAS: declares the functions itself, and loads the library at run time.
#include <dlfcn.h>

#include "transpose.h"

void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  using Create = int (*)(void**);
  using Geam =
      int (*)(void*, int, int, int, int, const float*, const float*, int, const float*, const float*, int, float*, int);
  void* library = dlopen("libcublas.so.13", RTLD_NOW);
  if (library == nullptr) return;
  void* handle = nullptr;
  reinterpret_cast<Create>(dlsym(library, "cublasCreate_v2"))(&handle);
  const auto geam = reinterpret_cast<Geam>(dlsym(library, "cublasSgeam"));
  const int rows = static_cast<int>(height), columns = static_cast<int>(width);
  const float one = 1, zero = 0;
  geam(handle, 1, 0, rows, columns, &one, d_in, columns, &zero, d_in, rows, d_out, rows);
}

void transpose1_naive(const float*, float*, unsigned, unsigned) {}
void transpose2_tiled(const float*, float*, unsigned, unsigned) {}
void transpose3_padded(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
