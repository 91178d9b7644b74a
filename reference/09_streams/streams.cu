// The streams solved: chunks small enough that the pipeline's ends are short, in the order that each device likes.
#include <algorithm>
#include <cstring>
#include <vector>

#include "streams.h"

namespace {

constexpr unsigned kThreads = 256;
constexpr size_t kChunks = 32;

unsigned BlocksOf(size_t n) { return static_cast<unsigned>((n + kThreads - 1) / kThreads); }

// n floats in page-locked memory and on the device, twice: what goes in, and what comes out.
struct Buffers {
  explicit Buffers(size_t n) {
    cudaMallocHost(&host_in, n * sizeof(float));
    cudaMallocHost(&host_out, n * sizeof(float));
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
  }
  ~Buffers() {
    cudaFreeHost(host_in);
    cudaFreeHost(host_out);
    cudaFree(in);
    cudaFree(out);
  }
  float *host_in = nullptr, *host_out = nullptr, *in = nullptr, *out = nullptr;
};

struct Streams {
  explicit Streams(size_t count) : all(count) {
    for (cudaStream_t& stream : all) cudaStreamCreate(&stream);
  }
  ~Streams() {
    for (cudaStream_t stream : all) cudaStreamDestroy(stream);
  }
  cudaStream_t operator[](size_t k) const { return all[k % all.size()]; }
  std::vector<cudaStream_t> all;
};

// A part of the arrays, by its first element and its length.
struct Chunk {
  size_t first, length;
  size_t bytes() const { return length * sizeof(float); }
};

std::vector<Chunk> Cut(size_t n, size_t length) {
  std::vector<Chunk> chunks;
  for (size_t first = 0; first < n; first += length) chunks.push_back({first, std::min(length, n - first)});
  return chunks;
}

// Chunks of equal size, of at least one block.
std::vector<Chunk> CutEvenly(size_t n) { return Cut(n, std::max<size_t>((n + kChunks - 1) / kChunks, kThreads)); }

void Send(const Buffers& b, const float* h_in, Chunk c, cudaStream_t stream) {
  std::memcpy(b.host_in + c.first, h_in + c.first, c.bytes());
  cudaMemcpyAsync(b.in + c.first, b.host_in + c.first, c.bytes(), cudaMemcpyHostToDevice, stream);
}

void Fetch(const Buffers& b, Chunk c, cudaStream_t stream) {
  cudaMemcpyAsync(b.host_out + c.first, b.out + c.first, c.bytes(), cudaMemcpyDeviceToHost, stream);
}

void Compute(const Buffers& b, Chunk c, cudaStream_t stream) {
  simulate_kernel<<<BlocksOf(c.length), kThreads, 0, stream>>>(b.in + c.first, b.out + c.first,
                                                               static_cast<unsigned>(c.length));
}

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  const Buffers b(n);
  std::memcpy(b.host_in, h_in, n * sizeof(float));
  cudaMemcpy(b.in, b.host_in, n * sizeof(float), cudaMemcpyHostToDevice);
  Compute(b, {0, n}, nullptr);
  cudaMemcpy(b.host_out, b.out, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::memcpy(h_out, b.host_out, n * sizeof(float));
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n == 0) return;
  const Buffers b(n);
  const Streams all(static_cast<size_t>(streams));
  size_t k = 0;
  for (const Chunk& c : CutEvenly(n)) {
    const cudaStream_t stream = all[k++];
    Send(b, h_in, c, stream);
    Compute(b, c, stream);
    Fetch(b, c, stream);
  }
  cudaDeviceSynchronize();
  std::memcpy(h_out, b.host_out, n * sizeof(float));
}

// The copies to the device first: each waits only for the kernel of its stream's previous chunk. By the time of the
// first copy back, its kernel has long ended.
void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  const Buffers b(n);
  const Streams all(4);
  const std::vector<Chunk> chunks = CutEvenly(n);
  for (size_t k = 0; k < chunks.size(); ++k) {
    Send(b, h_in, chunks[k], all[k]);
    Compute(b, chunks[k], all[k]);
  }
  for (size_t k = 0; k < chunks.size(); ++k) Fetch(b, chunks[k], all[k]);
  cudaDeviceSynchronize();
  std::memcpy(h_out, b.host_out, n * sizeof(float));
}

// A stream for each kind of work, and events from one to the next. The kernels are in one stream, so each comes after
// the one of the piece before.
void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  const Buffers b(n);
  const Streams all(3);
  const cudaStream_t to_device = all[0], kernels = all[1], to_host = all[2];
  float* carry = nullptr;  // one for each piece, after the 0 for the first one
  const std::vector<Chunk> pieces = Cut(n, kPiece);
  cudaMalloc(&carry, (pieces.size() + 1) * sizeof(float));
  cudaMemsetAsync(carry, 0, sizeof(float), kernels);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  for (size_t k = 0; k < pieces.size(); ++k) {
    const Chunk c = pieces[k];
    Send(b, h_in, c, to_device);
    cudaEventRecord(event, to_device);
    cudaStreamWaitEvent(kernels, event, 0);
    chain_kernel<<<BlocksOf(c.length), kThreads, 0, kernels>>>(
        b.in + c.first, b.out + c.first, static_cast<unsigned>(c.length), carry + k, carry + k + 1);
    cudaEventRecord(event, kernels);
    cudaStreamWaitEvent(to_host, event, 0);
    Fetch(b, c, to_host);
  }
  cudaDeviceSynchronize();
  std::memcpy(h_out, b.host_out, n * sizeof(float));
  cudaEventDestroy(event);
  cudaFree(carry);
}
