// points: 100
// A list of jobs, each with the rank that it is issued by: the rungs differ in how they are ranked.
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "streams.h"

namespace {

enum Kind { kThere, kKernel, kBack };

struct Job {
  int rank;
  Kind kind;
  size_t number, first, count;
};

struct Machine {
  std::vector<float*> locked, device;
  std::vector<cudaStream_t> streams;
  size_t n;

  Machine(size_t length, size_t stream_count) : locked(2), device(3), streams(stream_count), n(length) {
    for (auto& each : locked) cudaMallocHost(&each, n * sizeof(float));
    for (auto& each : device) cudaMalloc(&each, (n + 2) * sizeof(float));
    for (auto& each : streams) cudaStreamCreateWithPriority(&each, cudaStreamNonBlocking, 0);
  }
  ~Machine() {
    for (auto each : streams) cudaStreamDestroy(each);
    for (auto each : device) cudaFree(each);
    for (auto each : locked) cudaFreeHost(each);
  }

  void Do(const Job& job, cudaStream_t stream) const {
    const size_t bytes = job.count * sizeof(float);
    float *up = locked[0] + job.first, *down = locked[1] + job.first;
    float *in = device[0] + job.first, *out = device[1] + job.first;
    if (job.kind == kThere) cudaMemcpyAsync(in, up, bytes, cudaMemcpyHostToDevice, stream);
    if (job.kind == kBack) cudaMemcpyAsync(down, out, bytes, cudaMemcpyDeviceToHost, stream);
    if (job.kind == kKernel) simulate_kernel<<<job.count / 256 + 1, 256, 0, stream>>>(in, out, job.count);
  }
};

std::vector<Job> JobsOf(size_t n, size_t each, const std::function<int(Kind, size_t)>& rank) {
  std::vector<Job> jobs;
  for (size_t number = 0; number * each < n; ++number) {
    const size_t first = number * each, count = std::min(each, n - first);
    for (Kind kind : {kThere, kKernel, kBack}) jobs.push_back({rank(kind, number), kind, number, first, count});
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.rank < b.rank; });
  return jobs;
}

void Solve(const float* h_in, float* h_out, size_t n, size_t streams, size_t each,
           const std::function<int(Kind, size_t)>& rank) {
  if (n == 0) return;
  Machine machine(n, streams);
  memcpy(machine.locked[0], h_in, n * sizeof(float));
  for (const Job& job : JobsOf(n, each, rank)) {
    machine.Do(job, streams == 0 ? nullptr : machine.streams[job.number % streams]);
  }
  cudaDeviceSynchronize();
  memcpy(h_out, machine.locked[1], n * sizeof(float));
}

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  Solve(h_in, h_out, n, 0, n, [](Kind kind, size_t) { return int(kind); });
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  Solve(h_in, h_out, n, size_t(streams), std::min<size_t>(n / 20 + 1, 50'000),
        [](Kind kind, size_t number) { return int(3 * number + kind); });
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  // A kernel right behind its copy, and the copies back three chunks later.
  Solve(h_in, h_out, n, 7, 65'536, [](Kind kind, size_t number) { return int(number) + (kind == kBack ? 3 : 0); });
}

void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Machine machine(n, 3);
  memcpy(machine.locked[0], h_in, n * sizeof(float));
  const auto s = machine.streams;
  cudaMemsetAsync(machine.device[2], 0, sizeof(float), s[kKernel]);
  std::vector<cudaEvent_t> events;
  const auto then = [&](cudaStream_t first, cudaStream_t second) {
    cudaEventCreate(&events.emplace_back());
    cudaEventRecord(events.back(), first);
    cudaStreamWaitEvent(second, events.back(), 0);
  };
  const auto jobs = JobsOf(n, kPiece, [](Kind kind, size_t number) { return int(3 * number + kind); });
  for (const Job& job : jobs) {
    if (job.kind == kKernel) {
      then(s[kThere], s[kKernel]);
      chain_kernel<<<job.count / 512 + 1, 512, 0, s[kKernel]>>>(
          machine.device[0] + job.first, machine.device[1] + job.first, job.count, machine.device[2] + job.number,
          machine.device[2] + job.number + 1);
      then(s[kKernel], s[kBack]);
    } else {
      machine.Do(job, s[job.kind]);
    }
  }
  for (auto each : s) cudaStreamSynchronize(each);
  memcpy(h_out, machine.locked[1], n * sizeof(float));
  for (auto event : events) cudaEventDestroy(event);
}
