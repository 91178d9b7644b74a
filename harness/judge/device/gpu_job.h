// The jobs of the judge's own kernels. The host and gpu_kernels.cu share this file, so it contains only plain numbers.
#pragma once

#include "judge/input/key.h"

namespace lockstep::judge {

// The kind of values in an input. Element i is a function of only a seed and i.
enum class GpuValues : uint32_t {
  kInts,          // any 32 bits
  kSmallFloats,   // whole numbers from -8 to 8
  kRisingFloats,  // the same plus i / 64, so that a running maximum has many steps
};

// The expected output.
enum class GpuTask : uint32_t {
  kSum,            // one int: the wrapping sum of the input
  kMax,            // one int: the largest element of the input
  kMin,            // the smallest
  kShift,          // output i is input (i + parameter) mod n, 0 <= parameter < n
  kTranspose,      // the input has `parameter` columns and n / parameter rows
  kScan,           // exclusive, of floats whose sums are all exact
  kInclusiveScan,  // likewise
  kMaxScan,        // of floats: the largest up to here, inclusive
  kIncrement,      // of floats: output i is input i plus 1, exact
  kNextComponent,  // of structures of three floats: output i is input i plus the structure's next component, exact.
                   // parameter: the distance between two components, 1 or n / 3
};

// The input and the output of one call. Elements are 32 bits wide.
struct GpuJob {
  uint64_t in = 0, out = 0;  // device addresses; equal for an in-place task
  uint64_t n = 0;            // elements of the input
  SeedKey seed;
  uint64_t parameter = 0;  // the task's own; for a reduction the expected result, computed while filling
  GpuValues values = GpuValues::kInts;
  GpuTask task = GpuTask::kSum;
};

LOCKSTEP_ON_BOTH constexpr bool IsReduction(GpuTask task) {
  return task == GpuTask::kSum || task == GpuTask::kMax || task == GpuTask::kMin;
}
LOCKSTEP_ON_BOTH constexpr uint64_t Outputs(const GpuJob& job) { return IsReduction(job.task) ? 1 : job.n; }

// The number of wrong elements of a job.
struct GpuWrong {
  uint64_t output = 0, input = 0;
};

}  // namespace lockstep::judge
