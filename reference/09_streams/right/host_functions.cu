// points: 100
// The streams move the results to h_out, by host functions that follow the copies back.
#include <cstring>
#include <deque>
#include <future>
#include <vector>

#include "streams.h"

struct Move {
  float* to;
  const float* from;
  size_t count;
};

static void CUDART_CB Perform(void* data) {
  const Move* move = static_cast<const Move*>(data);
  std::memcpy(move->to, move->from, move->count * sizeof(float));
}

struct Desk {
  float *host = nullptr, *device = nullptr, *h_out;
  const size_t n;
  std::deque<Move> moves;

  Desk(const float* h_in, float* out, size_t count) : h_out(out), n(count) {
    cudaMallocHost(&host, 2 * n * sizeof(float));
    cudaMalloc(&device, 2 * n * sizeof(float));
    std::memcpy(host, h_in, n * sizeof(float));
  }
  ~Desk() {
    cudaFree(device);
    cudaFreeHost(host);
  }
  size_t Count(size_t at, size_t most) const { return n - at < most ? n - at : most; }
  void Upload(size_t at, size_t most, cudaStream_t stream) {
    cudaMemcpyAsync(device + at, host + at, Count(at, most) * sizeof(float), cudaMemcpyHostToDevice, stream);
  }
  void Download(size_t at, size_t most, cudaStream_t stream) {
    cudaMemcpyAsync(host + n + at, device + n + at, Count(at, most) * sizeof(float), cudaMemcpyDeviceToHost, stream);
    moves.push_back({h_out + at, host + n + at, Count(at, most)});
    cudaLaunchHostFunc(stream, Perform, &moves.back());
  }
  void Simulate(size_t at, size_t most, cudaStream_t stream) {
    const unsigned count = Count(at, most);
    simulate_kernel<<<count / 1024 + 1, 1024, 0, stream>>>(device + at, device + n + at, count);
  }
};

static std::vector<cudaStream_t> Open(int count) {
  std::vector<cudaStream_t> streams(count);
  for (int k = 0; k < count; ++k) cudaStreamCreate(&streams[k]);
  return streams;
}

static void Close(const std::vector<cudaStream_t>& streams) {
  for (size_t k = 0; k < streams.size(); ++k) {
    cudaStreamSynchronize(streams[k]);
    cudaStreamDestroy(streams[k]);
  }
}

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n > 0) {
    Desk desk(h_in, h_out, n);
    desk.Upload(0, n, nullptr);
    desk.Simulate(0, n, nullptr);
    desk.Download(0, n, nullptr);
    std::promise<void> moved;
    cudaLaunchHostFunc(nullptr, [](void* promise) { static_cast<std::promise<void>*>(promise)->set_value(); }, &moved);
    moved.get_future().wait();
  }
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n > 0) {
    Desk desk(h_in, h_out, n);
    const auto open = Open(streams);
    const size_t most = n / 48 + 1;
    int turn = 0;
    for (size_t at = 0; at < n; at += most) {
      const cudaStream_t stream = open[turn++ % streams];
      desk.Upload(at, most, stream);
      desk.Simulate(at, most, stream);
      desk.Download(at, most, stream);
    }
    Close(open);
  }
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  if (n > 0) {
    Desk desk(h_in, h_out, n);
    const auto open = Open(16);
    const size_t most = n / 16 + 1;
    for (int phase = 0; phase < 3; ++phase) {
      for (size_t k = 0; k * most < n; ++k) {
        if (phase == 0) desk.Upload(k * most, most, open[k]);
        if (phase == 1) desk.Simulate(k * most, most, open[k]);
        if (phase == 2) desk.Download(k * most, most, open[k]);
      }
    }
    Close(open);
  }
}

void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n > 0) {
    Desk desk(h_in, h_out, n);
    const auto open = Open(2);
    float* carry;
    cudaMalloc(&carry, 2 * sizeof(float));
    cudaMemsetAsync(carry, 0, 2 * sizeof(float), open[1]);
    std::vector<cudaEvent_t> arrived(n / kPiece + 1);
    // All copies to the device in one stream, everything else in the other two.
    for (size_t k = 0; k * kPiece < n; ++k) {
      desk.Upload(k * kPiece, kPiece, open[0]);
      cudaEventCreate(&arrived[k]);
      cudaEventRecord(arrived[k], open[0]);
    }
    const auto back = Open(1);
    cudaEvent_t computed;
    cudaEventCreate(&computed);
    for (size_t k = 0; k * kPiece < n; ++k) {
      const unsigned count = desk.Count(k * kPiece, kPiece);
      cudaStreamWaitEvent(open[1], arrived[k], 0);
      chain_kernel<<<count / 256 + 1, 256, 0, open[1]>>>(desk.device + k * kPiece, desk.device + n + k * kPiece, count,
                                                         carry + k % 2, carry + (k + 1) % 2);
      cudaEventRecord(computed, open[1]);
      cudaStreamWaitEvent(back[0], computed, 0);
      desk.Download(k * kPiece, kPiece, back[0]);
    }
    Close(back);
    Close(open);
    for (size_t k = 0; k * kPiece < n; ++k) cudaEventDestroy(arrived[k]);
    cudaEventDestroy(computed);
    cudaFree(carry);
  }
}
