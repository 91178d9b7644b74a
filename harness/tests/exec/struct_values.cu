// Functions that take and return structs by value, for struct_values_test.cc.
#include "struct_values.h"

namespace structs = lockstep::structs;

extern "C" __global__ void struct_values_kernel(uint32_t first_seed, uint32_t* out) {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  structs::TryAll<0>(first_seed + thread * 2654435761u, out + thread * 2 * structs::kShapes);
}

#define LOCKSTEP_PARAMETER(shape)                                                                           \
  extern "C" __global__ void struct_parameter_##shape(char, structs::Shape<shape>::Type s, uint32_t* out) { \
    out[threadIdx.x] = structs::Hash(s, threadIdx.x);                                                       \
  }
LOCKSTEP_PARAMETER(0)
LOCKSTEP_PARAMETER(1)
LOCKSTEP_PARAMETER(2)
LOCKSTEP_PARAMETER(3)
LOCKSTEP_PARAMETER(4)
