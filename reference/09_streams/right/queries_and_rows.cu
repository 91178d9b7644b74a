// points: 100
// 2-D copies of rows; the host queries events until all work is done.
#include <cstring>
#include <vector>

#include "streams.h"

constexpr size_t kRow = 2048, kRows = 24;

// Both arrays as rows of kRow floats, and a remainder.
class Matrix {
 public:
  explicit Matrix(const float* h_in, size_t n) : n_(n) {
    cudaHostAlloc(reinterpret_cast<void**>(&locked_), 2 * n * sizeof(float), cudaHostAllocDefault);
    cudaMalloc(reinterpret_cast<void**>(&in_), n * sizeof(float));
    cudaMalloc(reinterpret_cast<void**>(&out_), n * sizeof(float));
    std::memcpy(locked_, h_in, n * sizeof(float));
  }
  ~Matrix() {
    for (float* each : {in_, out_}) cudaFree(each);
    cudaFreeHost(locked_);
  }
  size_t strips() const { return (n_ + kRow * kRows - 1) / (kRow * kRows); }
  size_t begin(size_t strip) const { return strip * kRow * kRows; }
  size_t length(size_t strip) const { return n_ - begin(strip) < kRow * kRows ? n_ - begin(strip) : kRow * kRows; }
  float* in(size_t at) const { return in_ + at; }
  float* out(size_t at) const { return out_ + at; }
  void Take(float* h_out) const { std::memcpy(h_out, locked_ + n_, n_ * sizeof(float)); }

  void There(size_t strip, cudaStream_t stream) const {
    Rows(in_ + begin(strip), locked_ + begin(strip), length(strip), cudaMemcpyHostToDevice, stream);
  }
  void Back(size_t strip, cudaStream_t stream) const {
    Rows(locked_ + n_ + begin(strip), out_ + begin(strip), length(strip), cudaMemcpyDeviceToHost, stream);
  }
  void Run(size_t strip, cudaStream_t stream) const {
    dim3 block(256), grid((length(strip) + 255) / 256);
    simulate_kernel<<<grid, block, 0, stream>>>(in(begin(strip)), out(begin(strip)), length(strip));
  }

 private:
  static void Rows(float* to, const float* from, size_t length, cudaMemcpyKind kind, cudaStream_t stream) {
    const size_t bytes = kRow * sizeof(float), rows = length / kRow, rest = length % kRow;
    if (rows > 0) cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, rows, kind, stream);
    if (rest > 0) cudaMemcpyAsync(to + rows * kRow, from + rows * kRow, rest * sizeof(float), kind, stream);
  }
  size_t n_;
  float *locked_, *in_, *out_;
};

static void AskUntilDone(const std::vector<cudaStream_t>& streams) {
  for (cudaStream_t stream : streams) {
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    cudaStreamDestroy(stream);
  }
}

static std::vector<cudaStream_t> NewStreams(int count) {
  std::vector<cudaStream_t> streams;
  for (int k = 0; k < count; ++k) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    streams.push_back(stream);
  }
  return streams;
}

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  float *locked, *device;
  cudaMallocHost(&locked, n * sizeof(float));
  cudaMalloc(&device, n * sizeof(float));
  std::memcpy(locked, h_in, n * sizeof(float));
  cudaMemcpy(device, locked, n * sizeof(float), cudaMemcpyDefault);
  // In place: each thread loads its own element before it stores there.
  simulate_kernel<<<(n + 255) / 256, 256>>>(device, device, n);
  cudaMemcpy(locked, device, n * sizeof(float), cudaMemcpyDefault);
  std::memcpy(h_out, locked, n * sizeof(float));
  cudaFree(device);
  cudaFreeHost(locked);
}

void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n == 0) return;
  Matrix m(h_in, n);
  const auto all = NewStreams(streams);
  if (m.strips() < 2 * all.size()) {
    // With few elements each stream still gets some.
    const size_t part = (n + all.size() - 1) / all.size();
    float* host;
    cudaMallocHost(&host, n * sizeof(float));
    std::memcpy(host, h_in, n * sizeof(float));
    for (size_t k = 0; k * part < n; ++k) {
      const size_t at = k * part, length = n - at < part ? n - at : part;
      cudaMemcpyAsync(m.in(at), host + at, length * sizeof(float), cudaMemcpyHostToDevice, all[k]);
      simulate_kernel<<<(length + 255) / 256, 256, 0, all[k]>>>(m.in(at), m.out(at), length);
      cudaMemcpyAsync(host + at, m.out(at), length * sizeof(float), cudaMemcpyDeviceToHost, all[k]);
    }
    AskUntilDone(all);
    std::memcpy(h_out, host, n * sizeof(float));
    cudaFreeHost(host);
    return;
  }
  for (size_t k = 0; k < m.strips(); ++k) {
    m.There(k, all[k % all.size()]);
    m.Run(k, all[k % all.size()]);
    m.Back(k, all[k % all.size()]);
  }
  AskUntilDone(all);
  m.Take(h_out);
}

void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Matrix m(h_in, n);
  const auto all = NewStreams(4);
  for (size_t k = 0; k < m.strips(); ++k) {
    m.There(k, all[k % 4]);
    m.Run(k, all[k % 4]);
  }
  for (size_t k = 0; k < m.strips(); ++k) m.Back(k, all[k % 4]);
  AskUntilDone(all);
  m.Take(h_out);
}

void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Matrix m(h_in, n);
  const auto all = NewStreams(3);
  float* carry;
  cudaMalloc(&carry, (n / kPiece + 2) * sizeof(float));
  cudaMemset(carry, 0, (n / kPiece + 2) * sizeof(float));
  cudaEvent_t there, computed;
  cudaEventCreate(&there);
  cudaEventCreate(&computed);
  size_t strip = 0, back = 0;
  for (size_t piece = 0; piece * kPiece < n; ++piece) {
    const size_t at = piece * kPiece, length = n - at < kPiece ? n - at : kPiece;
    // Strips and pieces have different lengths: send all strips that the piece overlaps.
    while (strip < m.strips() && m.begin(strip) < at + length) m.There(strip++, all[0]);
    cudaEventRecord(there, all[0]);
    cudaStreamWaitEvent(all[1], there, 0);
    chain_kernel<<<(length + 255) / 256, 256, 0, all[1]>>>(m.in(at), m.out(at), length, carry + piece,
                                                           carry + piece + 1);
    cudaEventRecord(computed, all[1]);
    cudaStreamWaitEvent(all[2], computed, 0);
    while (back < m.strips() && m.begin(back) + m.length(back) <= at + length) m.Back(back++, all[2]);
  }
  AskUntilDone(all);
  m.Take(h_out);
  cudaEventDestroy(there);
  cudaEventDestroy(computed);
  cudaFree(carry);
}
