// points: 100 + 10
// The copies are the nodes of a graph, which is launched once.
#include <vector>

#include "copy.h"

namespace {

// What has to be undone, in reverse order.
class Cleanup {
 public:
  ~Cleanup() {
    for (size_t i = undo_.size(); i > 0; --i) undo_[i - 1].function(undo_[i - 1].what);
  }
  void add(void* what, void (*function)(void*)) { undo_.push_back({what, function}); }

 private:
  struct Undo {
    void* what;
    void (*function)(void*);
  };
  std::vector<Undo> undo_;
};

struct Chain {
  cudaError_t error = cudaSuccess;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t last = nullptr;
  Cleanup cleanup;

  void* allocate(size_t bytes) {
    void* d = nullptr;
    if (error == cudaSuccess) error = cudaMalloc(&d, bytes);
    if (error != cudaSuccess) return nullptr;
    cleanup.add(d, [](void* what) { cudaFree(what); });
    return d;
  }
  void begin() {
    if (error == cudaSuccess) error = cudaGraphCreate(&graph, 0);
    if (error == cudaSuccess) cleanup.add(graph, [](void* what) { cudaGraphDestroy(static_cast<cudaGraph_t>(what)); });
  }
  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    cudaGraphNode_t node = nullptr;
    if (error != cudaSuccess) return;
    error = cudaGraphAddMemcpyNode1D(&node, graph, &last, last == nullptr ? 0 : 1, to, from, bytes, kind);
    last = node;
  }
  cudaError_t run() {
    cudaGraphExec_t exec = nullptr;
    cudaStream_t stream = nullptr;
    if (error == cudaSuccess) error = cudaGraphInstantiate(&exec, graph, 0);
    if (error != cudaSuccess) return error;
    cleanup.add(exec, [](void* what) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(what)); });
    error = cudaStreamCreate(&stream);
    if (error != cudaSuccess) return error;
    cleanup.add(stream, [](void* what) { cudaStreamDestroy(static_cast<cudaStream_t>(what)); });
    error = cudaGraphLaunch(exec, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    return error;
  }
};

cudaError_t through(const int* from, int* to, size_t n, bool twice) {
  if (n == 0) return cudaSuccess;
  const size_t bytes = n * sizeof *from;
  Chain chain;
  void* const d_a = chain.allocate(bytes);
  void* const d_b = twice ? chain.allocate(bytes) : d_a;
  chain.begin();
  chain.copy(d_a, from, bytes, cudaMemcpyHostToDevice);
  if (twice) chain.copy(d_b, d_a, bytes, cudaMemcpyDeviceToDevice);
  chain.copy(to, d_b, bytes, cudaMemcpyDeviceToHost);
  return chain.run();
}

}  // namespace

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) { return through(h_in, h_out, n, false); }
cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) { return through(h_in, h_out, n, true); }

cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return through(h_in, h_out, n, true); }

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  int* h_locked = nullptr;
  if (n == 0) return cudaSuccess;
  cudaError_t error = cudaMallocHost(&h_locked, 2 * n * sizeof(int));
  if (error != cudaSuccess) return error;
  const std::vector<int> in(h_in, h_in + n);
  for (size_t i = 0; i < n; ++i) h_locked[i] = in[i];
  error = through(h_locked, h_locked + n, n, true);
  for (size_t i = 0; error == cudaSuccess && i < n; ++i) h_out[i] = h_locked[n + i];
  const cudaError_t freed = cudaFreeHost(h_locked);
  return error != cudaSuccess ? error : freed;
}
