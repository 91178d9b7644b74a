// What the judge's own kernels work on. The host and gpu_kernels.cu share it, so it holds only plain numbers.
#pragma once

#include "judge/input/key.h"

namespace lockstep::judge {

// What an input is made of. Element i is a function of a seed and i alone.
enum class GpuValues : uint32_t {
  kInts,          // any 32 bits
  kSmallFloats,   // whole numbers from -8 to 8
  kRisingFloats,  // the same, and i / 64 more: a running maximum has many steps
};

// What an output has to be.
enum class GpuTask : uint32_t {
  kSum,            // one int: the sum of the input's, which wraps around
  kMax,            // one int: the largest of the input's
  kMin,            // the smallest
  kShift,          // output i is input (i + parameter) mod n, 0 <= parameter < n
  kTranspose,      // the input has `parameter` columns and n / parameter rows
  kScan,           // exclusive, of floats whose sums are all exact
  kInclusiveScan,  // likewise
  kMaxScan,        // of floats: the largest up to here, inclusive
  kIncrement,      // of floats: output i is input i plus 1, exact
  kNextComponent,  // of structures of three floats: output i is input i plus the structure's next component, exact.
                   // parameter: how far apart two components are, 1 or n / 3
};

// The input and the output of one call. Elements are 32 bits wide.
struct GpuJob {
  uint64_t in = 0, out = 0;  // addresses on the device; equal where the task is done in place
  uint64_t n = 0;            // of the input
  SeedKey seed;
  uint64_t parameter = 0;  // the task's own; of a reduction the result, which filling finds out
  GpuValues values = GpuValues::kInts;
  GpuTask task = GpuTask::kSum;
};

LOCKSTEP_ON_BOTH constexpr bool IsReduction(GpuTask task) {
  return task == GpuTask::kSum || task == GpuTask::kMax || task == GpuTask::kMin;
}
LOCKSTEP_ON_BOTH constexpr uint64_t Outputs(const GpuJob& job) { return IsReduction(job.task) ? 1 : job.n; }

// How many of a job's elements are not what they have to be.
struct GpuWrong {
  uint64_t output = 0, input = 0;
};

}  // namespace lockstep::judge
