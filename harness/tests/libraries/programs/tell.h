// Prints what calls of a library return, with the calls' text.
#pragma once

#include <cstdio>
#include <type_traits>

// Prints the call's text and its status, then waits for the device and prints the error that remains.
#define TELL(call)                                               \
  do {                                                           \
    const int told = static_cast<int>(call);                     \
    std::printf("%s = %d", #call, told);                         \
    const cudaError_t waited = cudaDeviceSynchronize();          \
    if (waited != cudaSuccess) std::printf(", %d", (int)waited); \
    std::printf("\n");                                           \
  } while (false)
// Prints a call's text, its status, and a host variable that it may have set.
#define TELL_VALUE(call, value)              \
  do {                                       \
    const int told = static_cast<int>(call); \
    print_value(#call, told, value);         \
  } while (false)

template <typename T>
void print_value(const char* call, int status, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    std::printf("%s = %d: %g\n", call, status, value);
  } else {
    std::printf("%s = %d: %lld\n", call, status, (long long)value);
  }
}
