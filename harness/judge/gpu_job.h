// What the judge's own kernels work on. The host and gpu_kernels.cu share it, so that it holds plain numbers alone.
#pragma once

#include <cstdint>

namespace lockstep::judge {

// What an input is made of: any 32 bits, or floats that are whole numbers from -8 to 8. Element i is a function of a
// seed and i alone.
enum class GpuValues : uint32_t { kInts, kSmallFloats };

// What an output has to be.
enum class GpuTask : uint32_t {
  kSum,            // one int: the sum of the input's, which wraps around
  kShift,          // output i is input (i + parameter) mod n, 0 <= parameter < n
  kTranspose,      // the input has `parameter` columns and n / parameter rows
  kScan,           // exclusive, of floats whose sums are all exact
  kInclusiveScan,  // likewise
};

// The input and the output of one call. Elements are 32 bits wide.
struct GpuJob {
  uint64_t in = 0, out = 0;  // addresses on the device; equal where the task is done in place
  uint64_t n = 0;            // of the input
  uint64_t seed = 0;
  uint64_t parameter = 0;  // the task's own; of kSum the sum, which filling finds out
  GpuValues values = GpuValues::kInts;
  GpuTask task = GpuTask::kSum;
};

// How many of a job's elements are not what they have to be.
struct GpuWrong {
  uint64_t output = 0, input = 0;
};

}  // namespace lockstep::judge
