// points: 100
// Rung 2 has a thread of the host for each stream; on rungs 1 and 4 the host waits for events before it uses memory again.
#include <algorithm>
#include <thread>
#include <vector>

#include "streams.h"

static const unsigned kBlock = 512;

// Memory for two chunks, which take turns: one is on its way while the other one's results are moved.
struct Desk {
  cudaStream_t stream;
  cudaEvent_t done[2];
  float *up[2], *down[2], *in[2], *out[2];

  explicit Desk(size_t chunk) {
    cudaStreamCreate(&stream);
    for (int k = 0; k < 2; ++k) {
      cudaEventCreateWithFlags(&done[k], cudaEventDisableTiming);
      cudaHostAlloc(reinterpret_cast<void**>(&up[k]), chunk * sizeof(float), cudaHostAllocDefault);
      cudaHostAlloc(reinterpret_cast<void**>(&down[k]), chunk * sizeof(float), cudaHostAllocDefault);
      cudaMalloc(reinterpret_cast<void**>(&in[k]), chunk * sizeof(float));
      cudaMalloc(reinterpret_cast<void**>(&out[k]), chunk * sizeof(float));
    }
  }
  ~Desk() {
    for (int k = 0; k < 2; ++k) {
      cudaFree(out[k]);
      cudaFree(in[k]);
      cudaFreeHost(down[k]);
      cudaFreeHost(up[k]);
      cudaEventDestroy(done[k]);
    }
    cudaStreamDestroy(stream);
  }
};

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Desk desk(n);
  std::copy_n(h_in, n, desk.up[0]);
  cudaMemcpyAsync(desk.in[0], desk.up[0], n * sizeof(float), cudaMemcpyHostToDevice, desk.stream);
  simulate_kernel<<<(n + kBlock - 1) / kBlock, kBlock, 0, desk.stream>>>(desk.in[0], desk.out[0], n);
  cudaMemcpyAsync(desk.down[0], desk.out[0], n * sizeof(float), cudaMemcpyDeviceToHost, desk.stream);
  cudaEventRecord(desk.done[0], desk.stream);
  cudaEventSynchronize(desk.done[0]);
  std::copy_n(desk.down[0], n, h_out);
}

// Each thread fills and issues its own chunks; the host waits after all threads have ended.
void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n == 0) return;
  const size_t chunk = n / (6 * streams) + 1;
  std::vector<Desk*> desks;
  std::vector<std::thread> threads;
  Desk whole(n);
  for (int k = 0; k < streams; ++k) desks.push_back(new Desk(1));
  for (int k = 0; k < streams; ++k) {
    threads.emplace_back([&, k] {
      for (size_t at = k * chunk; at < n; at += streams * chunk) {
        const size_t length = std::min(chunk, n - at);
        std::copy_n(h_in + at, length, whole.up[0] + at);
        cudaMemcpyAsync(whole.in[0] + at, whole.up[0] + at, length * sizeof(float), cudaMemcpyHostToDevice,
                        desks[k]->stream);
        simulate_kernel<<<(length + 255) / 256, 256, 0, desks[k]->stream>>>(whole.in[0] + at, whole.out[0] + at,
                                                                          length);
        cudaMemcpyAsync(whole.down[0] + at, whole.out[0] + at, length * sizeof(float), cudaMemcpyDeviceToHost,
                        desks[k]->stream);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (Desk* desk : desks) {
    cudaStreamSynchronize(desk->stream);
    delete desk;
  }
  std::copy_n(whole.down[0], n, h_out);
}

// Here one thread issues everything, because the order matters: every chunk has its own desk.
void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  const size_t chunk = std::max<size_t>(n / 16 + 1, 1000);
  std::vector<Desk*> desks;
  const auto length = [&](size_t c) { return std::min(chunk, n - c * chunk); };
  for (size_t c = 0; c * chunk < n; ++c) {
    desks.push_back(new Desk(chunk));
    std::copy_n(h_in + c * chunk, length(c), desks[c]->up[0]);
  }
  for (size_t c = 0; c < desks.size(); ++c) {
    cudaMemcpyAsync(desks[c]->in[0], desks[c]->up[0], length(c) * sizeof(float), cudaMemcpyHostToDevice,
                    desks[c]->stream);
    simulate_kernel<<<(length(c) + kBlock - 1) / kBlock, kBlock, 0, desks[c]->stream>>>(desks[c]->in[0],
                                                                                       desks[c]->out[0], length(c));
  }
  for (size_t c = 0; c < desks.size(); ++c) {
    cudaMemcpyAsync(desks[c]->down[0], desks[c]->out[0], length(c) * sizeof(float), cudaMemcpyDeviceToHost,
                    desks[c]->stream);
  }
  for (size_t c = 0; c < desks.size(); ++c) {
    cudaStreamSynchronize(desks[c]->stream);
    std::copy_n(desks[c]->down[0], length(c), h_out + c * chunk);
    delete desks[c];
  }
}

// Four desks of two pieces. The events are those that the host waits for, too.
void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  std::vector<Desk*> desks;
  for (int k = 0; k < 4; ++k) desks.push_back(new Desk(kPiece));
  cudaEvent_t stored;
  cudaEventCreate(&stored);
  float* carry;
  cudaMalloc(reinterpret_cast<void**>(&carry), 2 * sizeof(float));
  cudaMemset(carry, 0, 2 * sizeof(float));
  const size_t pieces = (n + kPiece - 1) / kPiece;
  const auto length = [&](size_t p) { return std::min(kPiece, n - p * kPiece); };
  const auto fetch = [&](size_t p) {
    Desk& desk = *desks[p % 4];
    cudaEventSynchronize(desk.done[p / 4 % 2]);
    std::copy_n(desk.down[p / 4 % 2], length(p), h_out + p * kPiece);
  };
  for (size_t p = 0; p < pieces; ++p) {
    Desk& desk = *desks[p % 4];
    const int k = p / 4 % 2;
    if (p >= 8) fetch(p - 8);
    std::copy_n(h_in + p * kPiece, length(p), desk.up[k]);
    cudaMemcpyAsync(desk.in[k], desk.up[k], length(p) * sizeof(float), cudaMemcpyHostToDevice, desk.stream);
    if (p > 0) cudaStreamWaitEvent(desk.stream, stored, 0);
    chain_kernel<<<(length(p) + kBlock - 1) / kBlock, kBlock, 0, desk.stream>>>(
        desk.in[k], desk.out[k], length(p), carry + p % 2, carry + (p + 1) % 2);
    cudaEventRecord(stored, desk.stream);
    cudaMemcpyAsync(desk.down[k], desk.out[k], length(p) * sizeof(float), cudaMemcpyDeviceToHost, desk.stream);
    cudaEventRecord(desk.done[k], desk.stream);
  }
  for (size_t p = pieces < 8 ? 0 : pieces - 8; p < pieces; ++p) fetch(p);
  for (Desk* desk : desks) delete desk;
  cudaEventDestroy(stored);
  cudaFree(carry);
}
