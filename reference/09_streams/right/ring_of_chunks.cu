// points: 100
// Memory for a few chunks only, on the device and page-locked: a slot is used again when its stream is done.
#include <array>
#include <cstring>

#include "streams.h"

namespace {

constexpr size_t kSlot = 32768;

struct Slot {
  cudaStream_t stream;
  float *up, *down, *in, *out;
  size_t at = 0, length = 0;  // the chunk in flight; length 0: none

  void Open() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMallocHost(&up, kSlot * sizeof(float));
    cudaMallocHost(&down, kSlot * sizeof(float));
    cudaMalloc(&in, kSlot * sizeof(float));
    cudaMalloc(&out, kSlot * sizeof(float));
  }
  void Close() {
    cudaFree(out);
    cudaFree(in);
    cudaFreeHost(down);
    cudaFreeHost(up);
    cudaStreamDestroy(stream);
  }
  // Empties the slot into h_out.
  void Finish(float* h_out) {
    if (length == 0) return;
    cudaStreamSynchronize(stream);
    memcpy(h_out + at, down, length * sizeof(float));
    length = 0;
  }
  void Begin(const float* h_in, size_t n, size_t chunk) {
    at = chunk * kSlot;
    length = n - at < kSlot ? n - at : kSlot;
    memcpy(up, h_in + at, length * sizeof(float));
    cudaMemcpyAsync(in, up, length * sizeof(float), cudaMemcpyDefault, stream);
  }
  void Back() { cudaMemcpyAsync(down, out, length * sizeof(float), cudaMemcpyDefault, stream); }
  unsigned Blocks() const { return unsigned(length + 255) / 256; }
};

size_t ChunksOf(size_t n) { return (n + kSlot - 1) / kSlot; }

// The copy back of a chunk is issued `lag` chunks later.
void Pipeline(const float* h_in, float* h_out, size_t n, size_t slots, size_t lag) {
  std::array<Slot, 32> ring;
  for (size_t k = 0; k < slots; ++k) ring[k].Open();
  const size_t chunks = ChunksOf(n);
  for (size_t c = 0; c < chunks + lag; ++c) {
    if (c < chunks) {
      Slot& slot = ring[c % slots];
      slot.Finish(h_out);
      slot.Begin(h_in, n, c);
      simulate_kernel<<<slot.Blocks(), 256, 0, slot.stream>>>(slot.in, slot.out, unsigned(slot.length));
    }
    if (c >= lag) ring[(c - lag) % slots].Back();
  }
  for (size_t k = 0; k < slots; ++k) ring[k].Finish(h_out);
  for (size_t k = 0; k < slots; ++k) ring[k].Close();
}

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (!n) return;
  float *host, *device;
  cudaMallocHost(&host, 2 * n * sizeof(float));
  cudaMalloc(&device, 2 * n * sizeof(float));
  memcpy(host, h_in, n * sizeof(float));
  cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice);
  simulate_kernel<<<unsigned(n + 255) / 256, 256>>>(device, device + n, unsigned(n));
  cudaMemcpy(host + n, device + n, n * sizeof(float), cudaMemcpyDeviceToHost);
  memcpy(h_out, host + n, n * sizeof(float));
  cudaFree(device);
  cudaFreeHost(host);
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  Pipeline(h_in, h_out, n, size_t(streams), 0);
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) { Pipeline(h_in, h_out, n, 6, 3); }

void streams4_events(const float* h_in, float* h_out, size_t n) {
  static_assert(kSlot == kPiece);
  std::array<Slot, 4> ring;
  for (Slot& slot : ring) slot.Open();
  float* carry;  // a place for each slot
  cudaMalloc(&carry, ring.size() * sizeof(float));
  cudaMemset(carry, 0, ring.size() * sizeof(float));
  cudaDeviceSynchronize();
  std::array<cudaEvent_t, 4> behind;
  for (cudaEvent_t& event : behind) cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  for (size_t c = 0; c < ChunksOf(n); ++c) {
    const size_t k = c % 4, before = (c + 3) % 4;
    ring[k].Finish(h_out);
    ring[k].Begin(h_in, n, c);
    if (c > 0) cudaStreamWaitEvent(ring[k].stream, behind[before], 0);
    chain_kernel<<<ring[k].Blocks(), 256, 0, ring[k].stream>>>(ring[k].in, ring[k].out, unsigned(ring[k].length),
                                                               carry + before, carry + k);
    cudaEventRecord(behind[k], ring[k].stream);
    ring[k].Back();
  }
  for (Slot& slot : ring) slot.Finish(h_out);
  for (cudaEvent_t event : behind) cudaEventDestroy(event);
  cudaFree(carry);
  for (Slot& slot : ring) slot.Close();
}
