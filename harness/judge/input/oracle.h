// Expected results, computed on the CPU.
#pragma once

#include <cstdint>
#include <span>

namespace lockstep::judge {

// Modulo 2^32, as int adds on the GPU.
int32_t WrappingSum(std::span<const int32_t> values);
// The mathematical sum; n stays below 2^32, so it fits.
int64_t ExactSum(std::span<const int32_t> values);
int32_t Largest(std::span<const int32_t> values);   // INT32_MIN, the identity, if empty
int32_t Smallest(std::span<const int32_t> values);  // INT32_MAX if empty

}  // namespace lockstep::judge
