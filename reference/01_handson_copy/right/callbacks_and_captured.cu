// points: 100 + 10
// A stream is captured and its graph run; on the bonus rung functions of the host, launched into the stream, move the
// ints between ordinary and page-locked memory. Clean-up is a list of functions that run in reverse.
#include <cstring>
#include <functional>
#include <stack>

#include "copy.h"

namespace {

class Cleanup {
 public:
  ~Cleanup() {
    for (; !steps_.empty(); steps_.pop()) steps_.top()();
  }
  void Add(std::function<void()> step) { steps_.push(std::move(step)); }

 private:
  std::stack<std::function<void()>> steps_;
};

#define DO(call)                       \
  do {                                 \
    const cudaError_t error_ = (call); \
    if (error_ != cudaSuccess) {       \
      (void)cudaGetLastError();        \
      return error_;                   \
    }                                  \
  } while (false)

cudaError_t Buffer(Cleanup& cleanup, int** buffer, size_t bytes) {
  DO(cudaMalloc(buffer, bytes));
  cleanup.Add([memory = *buffer] { cudaFree(memory); });
  return cudaSuccess;
}

cudaError_t Locked(Cleanup& cleanup, int** buffer, size_t bytes) {
  DO(cudaHostAlloc(buffer, bytes, cudaHostAllocPortable));
  cleanup.Add([memory = *buffer] { cudaFreeHost(memory); });
  return cudaSuccess;
}

cudaError_t Stream(Cleanup& cleanup, cudaStream_t* stream) {
  DO(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, 0));
  cleanup.Add([made = *stream] { cudaStreamDestroy(made); });
  return cudaSuccess;
}

struct Move {
  void* to;
  const void* from;
  size_t bytes;
  static void CUDART_CB Run(void* move) {
    const auto* const m = static_cast<const Move*>(move);
    std::memcpy(m->to, m->from, m->bytes);
  }
};

cudaError_t ThereAndBack(const int* h_in, int* h_out, size_t bytes, bool second) {
  Cleanup cleanup;
  int *a_d = nullptr, *b_d = nullptr;
  cudaStream_t stream;
  DO(Buffer(cleanup, &a_d, bytes));
  if (second) DO(Buffer(cleanup, &b_d, bytes));
  DO(Stream(cleanup, &stream));
  DO(cudaMemcpyAsync(a_d, h_in, bytes, cudaMemcpyHostToDevice, stream));
  if (second) DO(cudaMemcpyAsync(b_d, a_d, bytes, cudaMemcpyDeviceToDevice, stream));
  DO(cudaMemcpyAsync(h_out, second ? b_d : a_d, bytes, cudaMemcpyDeviceToHost, stream));
  return cudaStreamSynchronize(stream);
}

}  // namespace

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  return n == 0 ? cudaSuccess : ThereAndBack(h_in, h_out, n * sizeof *h_in, false);
}

cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) {
  return n == 0 ? cudaSuccess : ThereAndBack(h_in, h_out, n * sizeof *h_in, true);
}

cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) {
  return n == 0 ? cudaSuccess : ThereAndBack(h_in, h_out, n * sizeof *h_in, true);
}

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  if (n == 0) return cudaSuccess;
  const size_t bytes = n * sizeof(int);
  Cleanup cleanup;
  int *in = nullptr, *out = nullptr, *a_d = nullptr, *b_d = nullptr;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  DO(Locked(cleanup, &in, bytes));
  DO(Locked(cleanup, &out, bytes));
  DO(Buffer(cleanup, &a_d, bytes));
  DO(Buffer(cleanup, &b_d, bytes));
  DO(Stream(cleanup, &stream));
  Move fill{in, h_in, bytes}, empty{h_out, out, bytes};
  DO(cudaLaunchHostFunc(stream, Move::Run, &fill));
  DO(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  cudaError_t error = cudaMemcpyAsync(a_d, in, bytes, cudaMemcpyHostToDevice, stream);
  if (error == cudaSuccess) error = cudaMemcpyAsync(b_d, a_d, bytes, cudaMemcpyDeviceToDevice, stream);
  if (error == cudaSuccess) error = cudaMemcpyAsync(out, b_d, bytes, cudaMemcpyDeviceToHost, stream);
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  if (error != cudaSuccess) {
    if (ended == cudaSuccess) cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    return error;
  }
  DO(ended);
  cleanup.Add([=] { cudaGraphDestroy(graph); });
  DO(cudaGraphInstantiateWithFlags(&ready, graph, 0));
  cleanup.Add([=] { cudaGraphExecDestroy(ready); });
  DO(cudaGraphLaunch(ready, stream));
  DO(cudaStreamSynchronize(stream));
  DO(cudaLaunchHostFunc(stream, Move::Run, &empty));
  DO(cudaStreamSynchronize(stream));
  return cudaSuccess;
}
