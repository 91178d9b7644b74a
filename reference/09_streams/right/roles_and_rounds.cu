// points: 100
// Coroutines by hand: each chunk is a small state machine, and a scheduler decides which chunk's next step is issued.
#include <cstring>
#include <initializer_list>
#include <vector>

#include "streams.h"

namespace {

enum class State { kNew, kSent, kComputed, kFetched };

struct Shared {
  float *host_in, *host_out, *dev_in, *dev_out, *carry;
  bool chained;
};

struct ChunkMachine {
  const Shared* shared;
  size_t index, first, count;
  cudaStream_t stream;
  cudaEvent_t after;  // what the next chunk's kernel waits for
  State state = State::kNew;

  void Step(const ChunkMachine* before) {
    switch (state) {
      case State::kNew:
        cudaMemcpyAsync(shared->dev_in + first, shared->host_in + first, count * 4, cudaMemcpyHostToDevice, stream);
        state = State::kSent;
        break;
      case State::kSent: {
        const unsigned blocks = (count + 127) / 128;
        if (shared->chained) {
          if (before != nullptr) cudaStreamWaitEvent(stream, before->after, 0);
          chain_kernel<<<blocks, 128, 0, stream>>>(shared->dev_in + first, shared->dev_out + first, count,
                                                   shared->carry + index, shared->carry + index + 1);
          cudaEventRecord(after, stream);
        } else {
          simulate_kernel<<<blocks, 128, 0, stream>>>(shared->dev_in + first, shared->dev_out + first, count);
        }
        state = State::kComputed;
        break;
      }
      case State::kComputed:
        cudaMemcpyAsync(shared->host_out + first, shared->dev_out + first, count * 4, cudaMemcpyDeviceToHost, stream);
        state = State::kFetched;
        break;
      case State::kFetched:
        break;
    }
  }
};

struct Plan {
  size_t streams, chunk;
  bool chained;
  int back_later;  // chunks between a kernel and the copy back, in the order of issue
};

void Execute(const float* h_in, float* h_out, size_t n, const Plan& plan) {
  if (n == 0) return;
  Shared shared{nullptr, nullptr, nullptr, nullptr, nullptr, plan.chained};
  const size_t chunks = (n - 1) / plan.chunk + 1;
  for (float** each : {&shared.host_in, &shared.host_out}) cudaMallocHost(each, n * 4);
  for (float** each : {&shared.dev_in, &shared.dev_out}) cudaMalloc(each, n * 4);
  cudaMalloc(&shared.carry, (chunks + 1) * 4);
  std::memcpy(shared.host_in, h_in, n * 4);
  std::vector<cudaStream_t> streams(plan.streams);
  for (cudaStream_t& each : streams) cudaStreamCreate(&each);
  cudaMemsetAsync(shared.carry, 0, 4, streams.front());
  std::vector<ChunkMachine> machines;
  for (size_t c = 0; c < chunks; ++c) {
    const size_t first = c * plan.chunk;
    machines.push_back({&shared, c, first, n - first < plan.chunk ? n - first : plan.chunk,
                        streams[c % streams.size()], nullptr});
    if (plan.chained) cudaEventCreateWithFlags(&machines[c].after, cudaEventDisableTiming);
  }
  for (size_t round = 0; round < chunks + plan.back_later; ++round) {
    if (round < chunks) {
      for (int step = 0; step < 2; ++step) machines[round].Step(round > 0 ? &machines[round - 1] : nullptr);
    }
    if (round >= size_t(plan.back_later)) machines[round - plan.back_later].Step(nullptr);
  }
  for (cudaStream_t each : streams) cudaStreamSynchronize(each);
  std::memcpy(h_out, shared.host_out, n * 4);
  for (ChunkMachine& machine : machines) {
    if (plan.chained) cudaEventDestroy(machine.after);
  }
  for (cudaStream_t each : streams) cudaStreamDestroy(each);
  for (float* each : {shared.dev_in, shared.dev_out, shared.carry}) cudaFree(each);
  for (float* each : {shared.host_in, shared.host_out}) cudaFreeHost(each);
}

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) { Execute(h_in, h_out, n, {1, n, false, 0}); }

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  Execute(h_in, h_out, n, {size_t(streams), n / 30 + 1, false, 0});
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  Execute(h_in, h_out, n, {8, n / 28 + 1, false, 4});
}

void streams4_events(const float* h_in, float* h_out, size_t n) { Execute(h_in, h_out, n, {5, kPiece, true, 1}); }
