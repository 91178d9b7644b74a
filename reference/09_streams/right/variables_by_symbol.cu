// points: 100
// Nothing is allocated on the device: both arrays are variables of the program, copied to and from by their symbols.
#include <algorithm>
#include <cstring>
#include <vector>

#include "streams.h"

static constexpr size_t kRoom = size_t{1} << 22, kMostPieces = kRoom / kPiece;
__device__ float d_values[kRoom], d_results[kRoom], d_carries[kMostPieces + 1];

static float* address_of(const void* symbol) {
  void* address = nullptr;
  cudaGetSymbolAddress(&address, symbol);
  return static_cast<float*>(address);
}

struct Job {
  float *in, *out, *d_in, *d_out;
  size_t n;
  std::vector<cudaStream_t> streams;

  Job(const float* h_in, size_t count, int number) : n(count), streams(number) {
    cudaMallocHost(&in, n * sizeof(float));
    cudaMallocHost(&out, n * sizeof(float));
    std::memcpy(in, h_in, n * sizeof(float));
    d_in = address_of(d_values);
    d_out = address_of(d_results);
    for (cudaStream_t& stream : streams) cudaStreamCreate(&stream);
  }
  void send(size_t at, size_t length, cudaStream_t stream) const {
    cudaMemcpyToSymbolAsync(d_values, in + at, length * sizeof(float), at * sizeof(float), cudaMemcpyHostToDevice,
                            stream);
  }
  void simulate(size_t at, size_t length, cudaStream_t stream) const {
    simulate_kernel<<<(length + 127) / 128, 128, 0, stream>>>(d_in + at, d_out + at, length);
  }
  void fetch(size_t at, size_t length, cudaStream_t stream) const {
    cudaMemcpyFromSymbolAsync(out + at, d_results, length * sizeof(float), at * sizeof(float), cudaMemcpyDeviceToHost,
                              stream);
  }
  void finish(float* h_out) {
    cudaDeviceSynchronize();
    std::memcpy(h_out, out, n * sizeof(float));
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
    cudaFreeHost(in);
    cudaFreeHost(out);
  }
};

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Job job(h_in, n, 0);
  cudaMemcpyToSymbol(d_values, job.in, n * sizeof(float));
  job.simulate(0, n, nullptr);
  cudaMemcpyFromSymbol(job.out, d_results, n * sizeof(float));
  job.finish(h_out);
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n == 0) return;
  Job job(h_in, n, streams);
  const size_t chunk = n / 24 + 1;
  for (size_t at = 0, k = 0; at < n; at += chunk, ++k) {
    const size_t length = std::min(chunk, n - at);
    const cudaStream_t stream = job.streams[k % job.streams.size()];
    job.send(at, length, stream);
    job.simulate(at, length, stream);
    job.fetch(at, length, stream);
  }
  job.finish(h_out);
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Job job(h_in, n, 2);
  const size_t chunk = n / 20 + 1;
  size_t k = 0;
  for (size_t at = 0; at < n; at += chunk, ++k) {
    job.send(at, std::min(chunk, n - at), job.streams[k % 2]);
    job.simulate(at, std::min(chunk, n - at), job.streams[k % 2]);
  }
  k = 0;
  for (size_t at = 0; at < n; at += chunk, ++k) job.fetch(at, std::min(chunk, n - at), job.streams[k % 2]);
  job.finish(h_out);
}

void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Job job(h_in, n, 3);
  float* const carry = address_of(d_carries);
  const float none = 0;
  cudaMemcpyToSymbol(d_carries, &none, sizeof none);
  std::vector<cudaEvent_t> events;
  const auto then = [&](cudaStream_t from, cudaStream_t to) {
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, from);
    cudaStreamWaitEvent(to, event, 0);
    events.push_back(event);
  };
  for (size_t at = 0, k = 0; at < n; at += kPiece, ++k) {
    const size_t length = std::min(kPiece, n - at);
    job.send(at, length, job.streams[0]);
    then(job.streams[0], job.streams[1]);
    chain_kernel<<<(length + 255) / 256, 256, 0, job.streams[1]>>>(job.d_in + at, job.d_out + at, length, carry + k,
                                                                   carry + k + 1);
    then(job.streams[1], job.streams[2]);
    job.fetch(at, length, job.streams[2]);
  }
  job.finish(h_out);
  for (cudaEvent_t event : events) cudaEventDestroy(event);
}
