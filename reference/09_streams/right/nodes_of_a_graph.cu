// points: 100
// Every rung is a graph of nodes that were added one by one, with their dependencies, and launched once into one stream.
#include <algorithm>
#include <cstring>
#include <vector>

#include "streams.h"

namespace {

class Graph {
 public:
  Graph(const float* h_in, size_t n) : n_(n) {
    cudaMallocHost(&in_, n * sizeof(float));
    cudaMallocHost(&out_, n * sizeof(float));
    cudaMalloc(&d_in_, n * sizeof(float));
    cudaMalloc(&d_out_, n * sizeof(float));
    cudaMalloc(&carries_, (n / kPiece + 2) * sizeof(float));
    cudaMemset(carries_, 0, sizeof(float));
    std::memcpy(in_, h_in, n * sizeof(float));
    cudaGraphCreate(&graph_, 0);
  }
  ~Graph() {
    cudaGraphDestroy(graph_);
    cudaFree(carries_);
    cudaFree(d_out_);
    cudaFree(d_in_);
    cudaFreeHost(out_);
    cudaFreeHost(in_);
  }

  using Nodes = std::vector<cudaGraphNode_t>;
  cudaGraphNode_t send(size_t at, size_t length, const Nodes& after) {
    cudaGraphNode_t node;
    cudaGraphAddMemcpyNode1D(&node, graph_, after.data(), after.size(), d_in_ + at, in_ + at, length * sizeof(float),
                             cudaMemcpyHostToDevice);
    return node;
  }
  cudaGraphNode_t fetch(size_t at, size_t length, const Nodes& after) {
    cudaGraphNode_t node;
    cudaGraphAddMemcpyNode1D(&node, graph_, after.data(), after.size(), out_ + at, d_out_ + at, length * sizeof(float),
                             cudaMemcpyDeviceToHost);
    return node;
  }
  cudaGraphNode_t simulate(size_t at, size_t length, const Nodes& after) {
    const float* in = d_in_ + at;
    float* out = d_out_ + at;
    unsigned count = length;
    void* arguments[] = {&in, &out, &count};
    return kernel(reinterpret_cast<void*>(simulate_kernel), length, arguments, after);
  }
  cudaGraphNode_t chain(size_t at, size_t length, const Nodes& after) {
    const float* in = d_in_ + at;
    float* out = d_out_ + at;
    unsigned count = length;
    float *from = carries_ + at / kPiece, *to = from + 1;
    void* arguments[] = {&in, &out, &count, &from, &to};
    return kernel(reinterpret_cast<void*>(chain_kernel), length, arguments, after);
  }
  void run(float* h_out) {
    cudaGraphExec_t ready;
    cudaGraphInstantiate(&ready, graph_, 0);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaGraphExecDestroy(ready);
    std::memcpy(h_out, out_, n_ * sizeof(float));
  }

 private:
  cudaGraphNode_t kernel(void* function, size_t length, void** arguments, const Nodes& after) {
    cudaKernelNodeParams p = {};
    p.func = function;
    p.gridDim = dim3((length + 255) / 256);
    p.blockDim = dim3(256);
    p.kernelParams = arguments;
    cudaGraphNode_t node;
    cudaGraphAddKernelNode(&node, graph_, after.data(), after.size(), &p);
    return node;
  }

  size_t n_;
  float *in_ = nullptr, *out_ = nullptr, *d_in_ = nullptr, *d_out_ = nullptr, *carries_ = nullptr;
  cudaGraph_t graph_ = nullptr;
};

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Graph graph(h_in, n);
  graph.fetch(0, n, {graph.simulate(0, n, {graph.send(0, n, {})})});
  graph.run(h_out);
}

// One branch for each stream: in a branch a chunk begins when the one before it is done.
void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  if (n == 0) return;
  Graph graph(h_in, n);
  const size_t chunk = std::max<size_t>(n / 32 + 1, 64);
  std::vector<Graph::Nodes> branches(streams);
  for (size_t at = 0, k = 0; at < n; at += chunk, ++k) {
    const size_t length = std::min(chunk, n - at);
    Graph::Nodes& last = branches[k % branches.size()];
    last = {graph.fetch(at, length, {graph.simulate(at, length, {graph.send(at, length, last)})})};
  }
  graph.run(h_out);
}

// The copies back begin when the last copy to the device has ended.
void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Graph graph(h_in, n);
  const size_t chunk = n / 32 + 1;
  Graph::Nodes kernels, last;
  for (size_t at = 0; at < n; at += chunk) {
    last = {graph.send(at, std::min(chunk, n - at), last)};
    kernels.push_back(graph.simulate(at, std::min(chunk, n - at), last));
  }
  for (size_t k = 0; k < kernels.size(); ++k) {
    graph.fetch(k * chunk, std::min(chunk, n - k * chunk), {kernels[k], last[0]});
  }
  graph.run(h_out);
}

void streams4_events(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Graph graph(h_in, n);
  Graph::Nodes before;
  for (size_t at = 0; at < n; at += kPiece) {
    const size_t length = std::min(kPiece, n - at);
    Graph::Nodes after = before;
    after.push_back(graph.send(at, length, {}));
    before = {graph.chain(at, length, after)};
    graph.fetch(at, length, before);
  }
  graph.run(h_out);
}
