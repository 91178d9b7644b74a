// points: 100
// Rungs 3 and 4 are graphs: streams are captured, forked and joined by events, and the graph is launched once.
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "streams.h"

namespace {

struct Arrays {
  float *up, *down, *in, *out, *carry;
};

void WithArrays(const float* h_in, float* h_out, size_t n, const std::function<void(const Arrays&)>& work) {
  if (n == 0) return;
  const size_t bytes = n * sizeof(float), carries = (n + kPiece - 1) / kPiece + 1;
  Arrays a;
  cudaMallocHost(&a.up, bytes);
  cudaMallocHost(&a.down, bytes);
  cudaMalloc(&a.in, bytes);
  cudaMalloc(&a.out, bytes);
  cudaMalloc(&a.carry, carries * sizeof(float));
  cudaMemset(a.carry, 0, carries * sizeof(float));
  std::memcpy(a.up, h_in, bytes);
  cudaDeviceSynchronize();  // the memset, which non-blocking streams don't wait for
  work(a);
  std::memcpy(h_out, a.down, bytes);
  for (float* each : {a.in, a.out, a.carry}) cudaFree(each);
  for (float* each : {a.up, a.down}) cudaFreeHost(each);
}

dim3 Grid(size_t length) { return dim3(unsigned((length + 191) / 192)); }

void Launch(const std::function<void(std::vector<cudaStream_t>&)>& capture, int branches) {
  std::vector<cudaStream_t> streams(branches);
  for (auto& s : streams) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal);
  cudaEventRecord(fork, streams[0]);
  for (int k = 1; k < branches; ++k) cudaStreamWaitEvent(streams[k], fork, 0);
  capture(streams);
  for (int k = 1; k < branches; ++k) {
    cudaEventRecord(join, streams[k]);
    cudaStreamWaitEvent(streams[0], join, 0);
  }
  cudaGraph_t graph;
  cudaStreamEndCapture(streams[0], &graph);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, streams[0]);
  cudaStreamSynchronize(streams[0]);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  for (auto& s : streams) cudaStreamDestroy(s);
}

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  WithArrays(h_in, h_out, n, [&](const Arrays& a) {
    cudaMemcpy(a.in, a.up, n * sizeof(float), cudaMemcpyHostToDevice);
    simulate_kernel<<<Grid(n), 192>>>(a.in, a.out, n);
    cudaMemcpy(a.down, a.out, n * sizeof(float), cudaMemcpyDeviceToHost);
  });
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  WithArrays(h_in, h_out, n, [&](const Arrays& a) {
    std::vector<cudaStream_t> all(streams);
    for (auto& s : all) cudaStreamCreate(&s);
    constexpr size_t kParts = 36;
    for (size_t k = 0; k < kParts; ++k) {
      const size_t from = n * k / kParts, length = n * (k + 1) / kParts - from;
      if (length == 0) continue;
      cudaStream_t s = all[k % streams];
      cudaMemcpyAsync(a.in + from, a.up + from, length * sizeof(float), cudaMemcpyHostToDevice, s);
      simulate_kernel<<<Grid(length), 192, 0, s>>>(a.in + from, a.out + from, length);
      cudaMemcpyAsync(a.down + from, a.out + from, length * sizeof(float), cudaMemcpyDeviceToHost, s);
    }
    for (auto& s : all) cudaStreamSynchronize(s);
    for (auto& s : all) cudaStreamDestroy(s);
  });
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  WithArrays(h_in, h_out, n, [&](const Arrays& a) {
    Launch(
        [&](std::vector<cudaStream_t>& s) {
          constexpr size_t kPart = 65536;
          for (size_t at = 0, k = 0; at < n; at += kPart, ++k) {
            const size_t length = std::min(kPart, n - at);
            cudaMemcpyAsync(a.in + at, a.up + at, length * sizeof(float), cudaMemcpyHostToDevice, s[k % s.size()]);
            simulate_kernel<<<Grid(length), 192, 0, s[k % s.size()]>>>(a.in + at, a.out + at, length);
          }
          for (size_t at = 0, k = 0; at < n; at += kPart, ++k) {
            const size_t length = std::min(kPart, n - at);
            cudaMemcpyAsync(a.down + at, a.out + at, length * sizeof(float), cudaMemcpyDeviceToHost, s[k % s.size()]);
          }
        },
        4);
  });
}

void streams4_events(const float* h_in, float* h_out, size_t n) {
  WithArrays(h_in, h_out, n, [&](const Arrays& a) {
    cudaEvent_t event;
    cudaEventCreate(&event);
    Launch(
        [&](std::vector<cudaStream_t>& s) {
          for (size_t at = 0, k = 0; at < n; at += kPiece, ++k) {
            const size_t length = std::min(kPiece, n - at);
            cudaMemcpyAsync(a.in + at, a.up + at, length * sizeof(float), cudaMemcpyHostToDevice, s[0]);
            cudaEventRecord(event, s[0]);
            cudaStreamWaitEvent(s[1], event, 0);
            chain_kernel<<<Grid(length), 192, 0, s[1]>>>(a.in + at, a.out + at, length, a.carry + k, a.carry + k + 1);
            cudaEventRecord(event, s[1]);
            cudaStreamWaitEvent(s[2], event, 0);
            cudaMemcpyAsync(a.down + at, a.out + at, length * sizeof(float), cudaMemcpyDeviceToHost, s[2]);
          }
        },
        3);
    cudaEventDestroy(event);
  });
}
