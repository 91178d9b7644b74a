// The judge's own kernels, for timings: inputs and checks that would take the host too long. They are compiled to
// PTX with the judge and run in its own process, which no submission can reach.
//
// An input's element is a function of a key and the element's index (key.h), so a check needs no copy of the input. A
// thread makes a block of 16 words and processes each of them; the threads of a warp have neighbouring blocks. One
// launch handles all calls of a batch: blockIdx.y, or blockIdx.x where a comment says so, is the number of a job.
#include "gpu_job.h"

using lockstep::judge::ElementOf;
using lockstep::judge::GpuJob;
using lockstep::judge::GpuTask;
using lockstep::judge::GpuValues;
using lockstep::judge::GpuWrong;
using lockstep::judge::IsReduction;
using lockstep::judge::KeyUse;
using lockstep::judge::MakeBlock;
using lockstep::judge::Outputs;
using lockstep::judge::SeedKey;
using lockstep::judge::Within;
using lockstep::judge::WordAt;

constexpr uint64_t kNone = ~uint64_t{0};

// The bits of an input's element, from its word.
__device__ uint32_t value_of(const GpuJob& job, uint64_t index, uint32_t word) {
  if (job.values == GpuValues::kInts) return word;
  const long long rise = job.values == GpuValues::kRisingFloats ? static_cast<long long>(index / 64) : 0;
  return __float_as_uint(static_cast<float>(static_cast<int>(Within(word, 17)) - 8 + rise));
}

__device__ uint32_t* input(const GpuJob& job) { return reinterpret_cast<uint32_t*>(job.in); }
__device__ const uint32_t* output(const GpuJob& job) { return reinterpret_cast<const uint32_t*>(job.out); }

// Maps an int's bits to an unsigned number, so that the largest one is the maximum's or the minimum's.
__device__ uint32_t rank(GpuTask task, uint32_t value) {
  const uint32_t rising = value ^ 0x80000000u;
  return task == GpuTask::kMax ? rising : ~rising;
}

// source_of: the input element against which an output element is checked; target_of: its inverse. kNone: none.
__device__ uint64_t source_of(const GpuJob& job, uint64_t out) {
  switch (job.task) {
    case GpuTask::kSum:
    case GpuTask::kMax:
    case GpuTask::kMin:
      return kNone;
    case GpuTask::kShift:
      return out < job.n - job.parameter ? out + job.parameter : out - (job.n - job.parameter);
    case GpuTask::kTranspose: {
      const uint64_t height = job.n / job.parameter;
      return out % height * job.parameter + out / height;
    }
    case GpuTask::kScan:
      return out == 0 ? kNone : out - 1;
    case GpuTask::kInclusiveScan:
    case GpuTask::kMaxScan:
    case GpuTask::kIncrement:
    case GpuTask::kNextComponent:
      return out;
  }
  return kNone;
}
__device__ uint64_t target_of(const GpuJob& job, uint64_t in) {
  switch (job.task) {
    case GpuTask::kSum:
    case GpuTask::kMax:
    case GpuTask::kMin:
      return kNone;
    case GpuTask::kShift:
      return in < job.parameter ? in + (job.n - job.parameter) : in - job.parameter;
    case GpuTask::kTranspose:
      return in % job.parameter * (job.n / job.parameter) + in / job.parameter;
    case GpuTask::kScan:
      return in + 1 == job.n ? kNone : in + 1;
    case GpuTask::kInclusiveScan:
    case GpuTask::kMaxScan:
    case GpuTask::kIncrement:
    case GpuTask::kNextComponent:
      return in;
  }
  return kNone;
}

// The next component in the structure of element i: x follows z.
__device__ uint64_t next_component(const GpuJob& job, uint64_t i) {
  if (job.parameter == 1) return i % 3 == 2 ? i - 2 : i + 1;
  return i + job.parameter < job.n ? i + job.parameter : i + job.parameter - job.n;
}

// Whether an output element is right, bit for bit; `value` is its source element, if it has one. A scan's steps must be
// exact: all sums of the input are whole numbers that fit a float's 24 bits.
__device__ bool is_right(const GpuJob& job, uint64_t i, uint32_t value) {
  const uint32_t found = output(job)[i];
  switch (job.task) {
    case GpuTask::kSum:
      return found == static_cast<uint32_t>(job.parameter);
    case GpuTask::kMax:
    case GpuTask::kMin:
      return rank(job.task, found) == job.parameter;
    case GpuTask::kShift:
    case GpuTask::kTranspose:
      return found == value;
    case GpuTask::kScan:
      if (i == 0) return __uint_as_float(found) == 0.0f;
      return __uint_as_float(found) == __uint_as_float(output(job)[i - 1]) + __uint_as_float(value);
    case GpuTask::kInclusiveScan: {
      const float before = i == 0 ? 0.0f : __uint_as_float(output(job)[i - 1]);
      return __uint_as_float(found) == before + __uint_as_float(value);
    }
    case GpuTask::kMaxScan: {
      const float here = __uint_as_float(value);
      return __uint_as_float(found) == (i == 0 ? here : fmaxf(__uint_as_float(output(job)[i - 1]), here));
    }
    case GpuTask::kIncrement:
      return __uint_as_float(found) == __uint_as_float(value) + 1.0f;
    case GpuTask::kNextComponent: {
      const uint64_t next = next_component(job, i);
      const uint32_t other = value_of(job, next, WordAt(job.seed, next));
      return __uint_as_float(found) == __uint_as_float(value) + __uint_as_float(other);
    }
  }
  return false;
}

__device__ uint64_t first_index() { return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ uint64_t index_step() { return static_cast<uint64_t>(gridDim.x) * blockDim.x; }

// Calls act(index, value) for all input elements, which the threads share.
template <class Act>
__device__ void for_each_value(const GpuJob& job, Act act) {
  for (uint64_t block = first_index(); ElementOf(block, 0) < job.n; block += index_step()) {
    uint32_t words[16];
    MakeBlock(job.seed, KeyUse::kWords, block, words);
#pragma unroll 1  // unrolled, the block would be in registers, but the code would be 16 times as long
    for (uint32_t word = 0; word < 16; ++word) {
      const uint64_t i = ElementOf(block, word);
      if (i < job.n) act(i, value_of(job, i, words[word]));
    }
  }
}

// Writes each job's input, and computes a reduction's expected result.
extern "C" __global__ void lockstep_fill(GpuJob* d_jobs) {
  const GpuJob job = d_jobs[blockIdx.y];
  const bool sums = job.task == GpuTask::kSum;
  uint32_t result = 0;
  for_each_value(job, [&](uint64_t i, uint32_t value) {
    input(job)[i] = value;
    result = sums ? result + value : max(result, rank(job.task, value));
  });
  if (!IsReduction(job.task) || result == 0) return;
  auto* const parameter = reinterpret_cast<unsigned long long*>(&d_jobs[blockIdx.y].parameter);
  if (sums) {
    atomicAdd(parameter, result);  // wraps around at 2^64; its low 32 bits are the sum's
  } else {
    atomicMax(parameter, result);
  }
}

// Counts the wrong elements in each job's output, and in its input, unless the job works in place.
extern "C" __global__ void lockstep_check(const GpuJob* d_jobs, GpuWrong* d_wrong) {
  const GpuJob job = d_jobs[blockIdx.y];
  unsigned long long wrong_output = 0, wrong_input = 0;
  if (first_index() == 0 && Outputs(job) > 0 && source_of(job, 0) == kNone) wrong_output += !is_right(job, 0, 0);
  for_each_value(job, [&](uint64_t i, uint32_t value) {
    const uint64_t out = target_of(job, i);
    wrong_output += out != kNone && !is_right(job, out, value);
    wrong_input += job.in != job.out && input(job)[i] != value;
  });
  auto* const counts = reinterpret_cast<unsigned long long*>(&d_wrong[blockIdx.y]);
  if (wrong_output != 0) atomicAdd(&counts[0], wrong_output);
  if (wrong_input != 0) atomicAdd(&counts[1], wrong_input);
}

// Checks the first, the last and some other elements in the output of job blockIdx.x: quick enough to be part of a
// timed batch. Adds the number of wrong ones to *d_wrong.
extern "C" __global__ void lockstep_glance(const GpuJob* d_jobs, unsigned long long* d_wrong, SeedKey seed) {
  constexpr unsigned kLooks = 4;
  const GpuJob job = d_jobs[blockIdx.x];
  const uint64_t count = Outputs(job);
  if (count == 0) return;
  uint32_t words[16];
  MakeBlock(seed, KeyUse::kLooks, static_cast<uint64_t>(blockIdx.x) << 32 | threadIdx.x, words);
  unsigned wrong = 0;
  for (unsigned look = 0; look < kLooks; ++look) {
    const uint64_t place = threadIdx.x * kLooks + look;
    const uint64_t random = static_cast<uint64_t>(words[2 * look]) << 32 | words[2 * look + 1];
    const uint64_t i = place == 0 ? 0 : place == 1 ? count - 1 : random % count;
    const uint64_t source = source_of(job, i);
    wrong += !is_right(job, i, source == kNone ? 0 : value_of(job, source, WordAt(job.seed, source)));
  }
  if (wrong != 0) atomicAdd(d_wrong, wrong);
}

// Does nothing: its duration shows whether the GPU is busy.
extern "C" __global__ void lockstep_nothing() {}
