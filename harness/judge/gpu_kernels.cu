// The judge's own kernels, for timings: inputs and checks of a size that takes the host too long. They are compiled to
// PTX with the judge and run in its own process, where no submission reaches.
//
// An input's element is a function of a seed and the element's index, so that a check needs no copy of the input. All
// calls of a batch are dealt with at once: blockIdx.y, or where said blockIdx.x, is the number of a job.
#include "gpu_job.h"

using lockstep::judge::GpuJob;
using lockstep::judge::GpuTask;
using lockstep::judge::GpuValues;
using lockstep::judge::GpuWrong;
using lockstep::judge::IsReduction;
using lockstep::judge::Outputs;

// SplitMix64's finalizer: every bit of the result depends on every bit of seed and index.
__device__ uint64_t mix(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The bits of an input's element.
__device__ uint32_t value_at(const GpuJob& job, uint64_t index) {
  const uint64_t random = mix(job.seed, index);
  if (job.values == GpuValues::kInts) return static_cast<uint32_t>(random >> 32);
  const long long rise = job.values == GpuValues::kRisingFloats ? static_cast<long long>(index / 64) : 0;
  return __float_as_uint(static_cast<float>(static_cast<int>((random >> 32) % 17) - 8 + rise));
}

__device__ uint32_t* input(const GpuJob& job) { return reinterpret_cast<uint32_t*>(job.in); }
__device__ const uint32_t* output(const GpuJob& job) { return reinterpret_cast<const uint32_t*>(job.out); }

// An int's bits as a number whose unsigned order is the reduction's: the largest is the result.
__device__ uint32_t rank(GpuTask task, uint32_t value) {
  const uint32_t rising = value ^ 0x80000000u;
  return task == GpuTask::kMax ? rising : ~rising;
}

// Whether an output's element is what it has to be, bit for bit. A step of a scan has to be exact: all sums of the
// input are whole numbers that fit a float's 24 bits.
__device__ bool is_right(const GpuJob& job, uint64_t i) {
  const uint32_t found = output(job)[i];
  switch (job.task) {
    case GpuTask::kSum:
      return found == static_cast<uint32_t>(job.parameter);
    case GpuTask::kMax:
    case GpuTask::kMin:
      return rank(job.task, found) == job.parameter;
    case GpuTask::kShift:
      return found == value_at(job, i < job.n - job.parameter ? i + job.parameter : i - (job.n - job.parameter));
    case GpuTask::kTranspose: {
      const uint64_t height = job.n / job.parameter;
      return found == value_at(job, i % height * job.parameter + i / height);
    }
    case GpuTask::kScan:
    case GpuTask::kInclusiveScan: {
      const bool inclusive = job.task == GpuTask::kInclusiveScan;
      const float before = i == 0 ? 0.0f : __uint_as_float(output(job)[i - 1]);
      const float added = inclusive ? __uint_as_float(value_at(job, i))
                          : i == 0  ? 0.0f
                                    : __uint_as_float(value_at(job, i - 1));
      return __uint_as_float(found) == before + added;
    }
    case GpuTask::kMaxScan: {
      const float here = __uint_as_float(value_at(job, i));
      return __uint_as_float(found) == (i == 0 ? here : fmaxf(__uint_as_float(output(job)[i - 1]), here));
    }
  }
  return false;
}

__device__ uint64_t first_index() { return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ uint64_t index_step() { return static_cast<uint64_t>(gridDim.x) * blockDim.x; }

// Writes each job's input; of a reduction, finds out the result too.
extern "C" __global__ void lockstep_fill(GpuJob* d_jobs) {
  const GpuJob job = d_jobs[blockIdx.y];
  const bool sums = job.task == GpuTask::kSum;
  uint32_t result = 0;
  for (uint64_t i = first_index(); i < job.n; i += index_step()) {
    const uint32_t value = value_at(job, i);
    input(job)[i] = value;
    result = sums ? result + value : max(result, rank(job.task, value));
  }
  if (!IsReduction(job.task) || result == 0) return;
  auto* const parameter = reinterpret_cast<unsigned long long*>(&d_jobs[blockIdx.y].parameter);
  if (sums) {
    atomicAdd(parameter, result);  // wraps around at 2^64; its low 32 bits are the sum's
  } else {
    atomicMax(parameter, result);
  }
}

// Counts what is wrong in each job's output, and in its input, unless that is the same memory.
extern "C" __global__ void lockstep_check(const GpuJob* d_jobs, GpuWrong* d_wrong) {
  const GpuJob job = d_jobs[blockIdx.y];
  unsigned long long wrong_output = 0, wrong_input = 0;
  for (uint64_t i = first_index(); i < Outputs(job); i += index_step()) wrong_output += !is_right(job, i);
  if (job.in != job.out) {
    for (uint64_t i = first_index(); i < job.n; i += index_step()) wrong_input += input(job)[i] != value_at(job, i);
  }
  auto* const counts = reinterpret_cast<unsigned long long*>(&d_wrong[blockIdx.y]);
  if (wrong_output != 0) atomicAdd(&counts[0], wrong_output);
  if (wrong_input != 0) atomicAdd(&counts[1], wrong_input);
}

// Looks at the first and the last element and at some of the others, in the output of job blockIdx.x: quick enough to
// be part of a timed batch. Adds what is wrong to *d_wrong.
extern "C" __global__ void lockstep_glance(const GpuJob* d_jobs, unsigned long long* d_wrong, uint64_t salt) {
  constexpr unsigned kLooks = 4;
  const GpuJob job = d_jobs[blockIdx.x];
  const uint64_t count = Outputs(job);
  if (count == 0) return;
  unsigned wrong = 0;
  for (unsigned look = 0; look < kLooks; ++look) {
    const uint64_t place = threadIdx.x * kLooks + look;
    const uint64_t i = place == 0 ? 0 : place == 1 ? count - 1 : mix(salt + blockIdx.x, place) % count;
    wrong += !is_right(job, i);
  }
  if (wrong != 0) atomicAdd(d_wrong, wrong);
}

// For finding out whether the GPU is busy.
extern "C" __global__ void lockstep_nothing() {}
