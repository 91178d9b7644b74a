// Copies between host and device on a real GPU: measures the link to the host, as model/profiles describes it, and what
// streams gain. Prints CSV lines `what,value`; docs/records/transfers.md has those of an H100.
//
//   nvcc -O2 -std=c++17 -arch=sm_90 -o gpu_transfers harness/dev/bench/gpu_transfers.cu && ./gpu_transfers
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int kRepeats = 21;
constexpr size_t kLargeBytes = size_t{256} << 20;
constexpr unsigned kThreads = 256;

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) Check(call, #call)

// The median time of `work`, with the wait for its end, by the host's clock in microseconds.
double Microseconds(const std::function<void()>& work) {
  std::vector<double> times;
  for (int k = 0; k < kRepeats + 2; ++k) {
    CHECK(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    work();
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    if (k >= 2) times.push_back(time.count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void Print(const std::string& what, double value) { std::printf("%s,%.3f\n", what.c_str(), value); }

__global__ void Simulate(const float* in, float* out, unsigned n, int steps) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = in[i];
  for (int step = 0; step < steps; ++step) x = 3.99 * fma(-x, x, x);
  out[i] = static_cast<float>(x);
}

enum class Order { kDepthFirst, kBreadthFirst };

}  // namespace

int main() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  std::fprintf(stderr, "%s, %d copy engines\n", properties.name, properties.asyncEngineCount);
  Print("copy_engines", properties.asyncEngineCount);

  float *pinned_in, *pinned_out, *in, *out;
  CHECK(cudaMallocHost(&pinned_in, kLargeBytes));
  CHECK(cudaMallocHost(&pinned_out, kLargeBytes));
  CHECK(cudaMalloc(&in, kLargeBytes));
  CHECK(cudaMalloc(&out, kLargeBytes));
  auto* pageable = static_cast<float*>(std::malloc(kLargeBytes));
  std::fill_n(pageable, kLargeBytes / sizeof(float), 0.25f);
  std::memcpy(pinned_in, pageable, kLargeBytes);

  // Times, by size, of single copies that the host waits for.
  for (const size_t bytes : {size_t{4} << 10, size_t{64} << 10, size_t{1} << 20, size_t{16} << 20, kLargeBytes}) {
    const std::string size = std::to_string(bytes >> 10) + "k_us";
    Print("pageable_to_device_" + size, Microseconds([&] { cudaMemcpy(in, pageable, bytes, cudaMemcpyHostToDevice); }));
    Print("pinned_to_device_" + size, Microseconds([&] { cudaMemcpy(in, pinned_in, bytes, cudaMemcpyHostToDevice); }));
    Print("pageable_to_host_" + size, Microseconds([&] { cudaMemcpy(pageable, in, bytes, cudaMemcpyDeviceToHost); }));
    Print("pinned_to_host_" + size, Microseconds([&] { cudaMemcpy(pinned_out, in, bytes, cudaMemcpyDeviceToHost); }));
    Print("on_device_" + size, Microseconds([&] { cudaMemcpy(out, in, bytes, cudaMemcpyDeviceToDevice); }));
  }
  // The fixed cost of a copy that follows another in a stream: 256 copies compared with one as large as all.
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (const size_t bytes : {size_t{64} << 10, size_t{256} << 10}) {
    constexpr int kCopies = 256;
    const double many = Microseconds([&] {
      for (int k = 0; k < kCopies; ++k) {
        cudaMemcpyAsync(in + k * (bytes / 4), pinned_in + k * (bytes / 4), bytes, cudaMemcpyHostToDevice, stream);
      }
    });
    const double one =
        Microseconds([&] { cudaMemcpyAsync(in, pinned_in, kCopies * bytes, cudaMemcpyHostToDevice, stream); });
    Print("queued_copy_" + std::to_string(bytes >> 10) + "k_us", (many - one) / (kCopies - 1));
  }
  // Both directions at once.
  cudaStream_t other;
  CHECK(cudaStreamCreate(&other));
  Print("both_ways_us", Microseconds([&] {
          cudaMemcpyAsync(in, pinned_in, kLargeBytes, cudaMemcpyHostToDevice, stream);
          cudaMemcpyAsync(pinned_out, out, kLargeBytes, cudaMemcpyDeviceToHost, other);
        }));

  // 2^24 elements in 32 chunks; a kernel that takes about half as long as a copy.
  constexpr unsigned kElements = 1u << 24, kChunks = 32, kChunk = kElements / kChunks;
  constexpr int kKernelSteps = 256;
  std::vector<cudaStream_t> streams(8);
  for (cudaStream_t& each : streams) CHECK(cudaStreamCreate(&each));
  const auto send = [&](const float* from, unsigned first, unsigned n, cudaStream_t s) {
    cudaMemcpyAsync(in + first, from + first, n * sizeof(float), cudaMemcpyHostToDevice, s);
  };
  const auto compute = [&](unsigned first, unsigned n, cudaStream_t s) {
    Simulate<<<(n + kThreads - 1) / kThreads, kThreads, 0, s>>>(in + first, out + first, n, kKernelSteps);
  };
  const auto fetch = [&](float* to, unsigned first, unsigned n, cudaStream_t s) {
    cudaMemcpyAsync(to + first, out + first, n * sizeof(float), cudaMemcpyDeviceToHost, s);
  };
  Print("to_device_us", Microseconds([&] { send(pinned_in, 0, kElements, stream); }));
  Print("kernel_us", Microseconds([&] { compute(0, kElements, stream); }));
  Print("to_host_us", Microseconds([&] { fetch(pinned_out, 0, kElements, stream); }));
  Print("whole_pageable_us", Microseconds([&] {
          send(pageable, 0, kElements, stream);
          compute(0, kElements, stream);
          fetch(pageable, 0, kElements, stream);
        }));
  Print("whole_pinned_us", Microseconds([&] {
          send(pinned_in, 0, kElements, stream);
          compute(0, kElements, stream);
          fetch(pinned_out, 0, kElements, stream);
        }));
  for (const Order order : {Order::kDepthFirst, Order::kBreadthFirst}) {
    for (const unsigned count : {1u, 2u, 4u, 8u}) {
      const auto work = [&](const float* from, float* to) {
        if (order == Order::kDepthFirst) {
          for (unsigned c = 0; c < kChunks; ++c) {
            send(from, c * kChunk, kChunk, streams[c % count]);
            compute(c * kChunk, kChunk, streams[c % count]);
            fetch(to, c * kChunk, kChunk, streams[c % count]);
          }
        } else {
          for (unsigned c = 0; c < kChunks; ++c) send(from, c * kChunk, kChunk, streams[c % count]);
          for (unsigned c = 0; c < kChunks; ++c) compute(c * kChunk, kChunk, streams[c % count]);
          for (unsigned c = 0; c < kChunks; ++c) fetch(to, c * kChunk, kChunk, streams[c % count]);
        }
      };
      const std::string name =
          std::string(order == Order::kDepthFirst ? "depth" : "breadth") + "_first_" + std::to_string(count) + "_us";
      Print("pinned_" + name, Microseconds([&] { work(pinned_in, pinned_out); }));
      if (order == Order::kDepthFirst) Print("pageable_" + name, Microseconds([&] { work(pageable, pageable); }));
    }
  }
  return 0;
}
