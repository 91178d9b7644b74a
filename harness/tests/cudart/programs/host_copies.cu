// When the host sees a copy's result, and whether a copy reads what the host changes meanwhile: in a stream and as a
// graph's node, for each kind of source and destination memory. host_copies.h200.txt is this program's output on a
// machine with one H200. Kernels before or next to the copies take as many clock cycles as the first argument says.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "check.h"

constexpr int kMost = 250000;
constexpr int kBefore = 1, kCopied = 2, kLater = 9;
constexpr size_t kSizes[] = {1, 1000, kMost};  // ints

__device__ int variable[kMost];

__global__ void Spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
__global__ void Store(int* to, int value) { *to = value; }

long long cycles = 100'000'000;  // of an H200: 50 ms

enum class Memory { kDevice, kVariable, kPageable, kPinned };
const char* NameOf(Memory memory) {
  constexpr const char* kNames[] = {"device", "variable", "pageable", "page-locked"};
  return kNames[static_cast<int>(memory)];
}

// `count` ints in memory of one kind, all with the same value.
class Buffer {
 public:
  Buffer(Memory memory, size_t count, int value) : memory_(memory), bytes_(count * sizeof(int)) {
    const std::vector<int> values(count, value);
    if (memory == Memory::kDevice) CHECK(cudaMalloc(&at_, bytes_));
    if (memory == Memory::kVariable) CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&at_), variable));
    if (memory == Memory::kPageable) at_ = static_cast<int*>(std::malloc(bytes_));
    if (memory == Memory::kPinned) CHECK(cudaMallocHost(&at_, bytes_));
    CHECK(cudaMemcpy(at_, values.data(), bytes_, cudaMemcpyDefault));
    CHECK(cudaDeviceSynchronize());
  }
  ~Buffer() {
    if (memory_ == Memory::kDevice) CHECK(cudaFree(at_));
    if (memory_ == Memory::kPageable) std::free(at_);
    if (memory_ == Memory::kPinned) CHECK(cudaFreeHost(at_));
  }
  int* at() const { return at_; }
  size_t bytes() const { return bytes_; }
  bool AllAre(int value) const {
    std::vector<int> values(bytes_ / sizeof(int));
    CHECK(cudaMemcpy(values.data(), at_, bytes_, cudaMemcpyDefault));
    for (const int each : values) {
      if (each != value) return false;
    }
    return true;
  }
  // Whether the host sees the value now, without waiting.
  bool HostSees(int value) const {
    const volatile int* const seen = at_;
    return seen[0] == value && seen[bytes_ / sizeof(int) - 1] == value;
  }

 private:
  const Memory memory_;
  const size_t bytes_;
  int* at_ = nullptr;
};

// A graph that is built node by node.
struct Graph {
  cudaGraph_t graph = nullptr;
  Graph() { CHECK(cudaGraphCreate(&graph, 0)); }
  ~Graph() { CHECK(cudaGraphDestroy(graph)); }
  using Nodes = std::vector<cudaGraphNode_t>;
  cudaGraphNode_t Kernel(const Nodes& after = {}) {
    void* arguments[] = {&cycles};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(Spin);
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  cudaGraphNode_t Copy(const Buffer& to, const Buffer& from, const Nodes& after = {}) {
    cudaGraphNode_t node;
    CHECK(cudaGraphAddMemcpyNode1D(&node, graph, after.data(), after.size(), to.at(), from.at(), to.bytes(),
                                   cudaMemcpyDefault));
    return node;
  }
  cudaGraphNode_t CopyRows(const Buffer& to, const Buffer& from, const Nodes& after) {
    cudaMemcpy3DParms params = {};
    params.dstPtr = make_cudaPitchedPtr(to.at(), sizeof(int), sizeof(int), to.bytes() / sizeof(int));
    params.srcPtr = make_cudaPitchedPtr(from.at(), sizeof(int), sizeof(int), to.bytes() / sizeof(int));
    params.extent = make_cudaExtent(sizeof(int), to.bytes() / sizeof(int), 1);
    params.kind = cudaMemcpyDefault;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddMemcpyNode(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  void Launch(cudaStream_t stream) {
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, stream));
    executables.push_back(executable);
  }
  void Free() {
    for (const cudaGraphExec_t executable : executables) CHECK(cudaGraphExecDestroy(executable));
    executables.clear();
  }
  std::vector<cudaGraphExec_t> executables;
};

// start() makes a copy in the stream. Returns when the host sees its result: "at once", "at the wait" or "never".
const char* Arrival(const Buffer& to, cudaStream_t stream, const std::function<void()>& start) {
  start();
  const bool at_once = to.HostSees(kCopied);
  CHECK(cudaStreamSynchronize(stream));
  if (!to.AllAre(kCopied)) return "never";
  return at_once ? "at once" : "at the wait";
}

// One answer for all sizes, or "it depends".
const char* Same(const std::function<const char*(size_t)>& answer) {
  const char* first = nullptr;
  for (const size_t count : kSizes) {
    const char* const next = answer(count);
    if (first == nullptr) first = next;
    if (std::strcmp(first, next) != 0) return "it depends";
  }
  return first;
}

void Arrivals(cudaStream_t stream) {
  std::printf("seen by the host          in a stream  in a graph\n");
  for (const Memory to_memory : {Memory::kPageable, Memory::kPinned}) {
    for (const Memory from_memory : {Memory::kDevice, Memory::kVariable, Memory::kPageable, Memory::kPinned}) {
      const char* const in_stream = Same([=](size_t count) {
        const Buffer to(to_memory, count, kBefore), from(from_memory, count, kCopied);
        return Arrival(to, stream, [&] {
          Spin<<<1, 1, 0, stream>>>(cycles);
          CHECK(cudaMemcpyAsync(to.at(), from.at(), to.bytes(), cudaMemcpyDefault, stream));
        });
      });
      const char* const in_graph = Same([=](size_t count) {
        const Buffer to(to_memory, count, kBefore), from(from_memory, count, kCopied);
        Graph graph;
        graph.Copy(to, from, {graph.Kernel()});
        const char* const arrival = Arrival(to, stream, [&] { graph.Launch(stream); });
        graph.Free();
        return arrival;
      });
      std::printf("%-11s %-13s %-12s %s\n", NameOf(to_memory), NameOf(from_memory), in_stream, in_graph);
    }
  }
}

void Shapes(cudaStream_t stream) {
  struct Shape {
    const char* name;
    std::function<void(Graph&, const Buffer& to, const Buffer& from)> make;
  };
  const Shape shapes[] = {
      {"behind a kernel",
       [](Graph& graph, const Buffer& to, const Buffer& from) { graph.Copy(to, from, {graph.Kernel()}); }},
      {"before a kernel",
       [](Graph& graph, const Buffer& to, const Buffer& from) { graph.Kernel({graph.Copy(to, from)}); }},
      {"beside a kernel",
       [](Graph& graph, const Buffer& to, const Buffer& from) {
         graph.Kernel();
         graph.Copy(to, from);
       }},
      {"between kernels", [](Graph& graph, const Buffer& to,
                             const Buffer& from) { graph.Kernel({graph.Copy(to, from, {graph.Kernel()})}); }},
      {"behind two, beside one",
       [](Graph& graph, const Buffer& to, const Buffer& from) {
         const auto first = graph.Kernel(), second = graph.Kernel();
         graph.Copy(to, from, {first, second});
         graph.Kernel({second});
       }},
      {"row by row",
       [](Graph& graph, const Buffer& to, const Buffer& from) { graph.CopyRows(to, from, {graph.Kernel()}); }},
      {"in a graph within",
       [](Graph& graph, const Buffer& to, const Buffer& from) {
         Graph inner;
         inner.Copy(to, from, {inner.Kernel()});
         cudaGraphNode_t node;
         CHECK(cudaGraphAddChildGraphNode(&node, graph.graph, nullptr, 0, inner.graph));
         graph.Kernel();
       }},
  };
  std::printf("device to pageable, in a graph\n");
  for (const Shape& shape : shapes) {
    std::printf("%-25s %s\n", shape.name, Same([&](size_t count) {
                  const size_t most = std::strcmp(shape.name, "row by row") == 0 ? 1000 : count;
                  const Buffer to(Memory::kPageable, std::min(count, most), kBefore),
                      from(Memory::kDevice, std::min(count, most), kCopied);
                  Graph graph;
                  shape.make(graph, to, from);
                  const char* const arrival = Arrival(to, stream, [&] { graph.Launch(stream); });
                  graph.Free();
                  return arrival;
                }));
  }
}

// Whether work finds the old values if the host changes its source as soon as the call has returned.
void Sources(cudaStream_t stream) {
  const auto found = [](const Buffer& to) { return to.AllAre(kCopied) ? "the old ones" : "others"; };
  const auto change = [](const Buffer& from) {
    for (size_t k = 0; k < from.bytes() / sizeof(int); ++k) from.at()[k] = kLater;
  };
  std::printf("pageable memory changed behind the call, the device finds\n");
  std::printf("%-25s %s\n", "in a stream", Same([&](size_t count) {
                const Buffer to(Memory::kDevice, count, kBefore), from(Memory::kPageable, count, kCopied);
                Spin<<<1, 1, 0, stream>>>(cycles);
                CHECK(cudaMemcpyAsync(to.at(), from.at(), to.bytes(), cudaMemcpyDefault, stream));
                change(from);
                CHECK(cudaStreamSynchronize(stream));
                return found(to);
              }));
  std::printf("%-25s %s\n", "in a graph", Same([&](size_t count) {
                const Buffer to(Memory::kDevice, count, kBefore), from(Memory::kPageable, count, kCopied);
                Graph graph;
                graph.Copy(to, from, {graph.Kernel()});
                graph.Launch(stream);
                change(from);
                CHECK(cudaStreamSynchronize(stream));
                graph.Free();
                return found(to);
              }));
  const Buffer to(Memory::kDevice, 1, kBefore);
  Graph graph;
  int* target = to.at();
  int value = kCopied;
  void* arguments[] = {&target, &value};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(Store);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph.graph, nullptr, 0, &params));
  value = kLater;
  graph.Launch(stream);
  CHECK(cudaStreamSynchronize(stream));
  graph.Free();
  std::printf("%-25s %s\n", "a kernel node's argument", found(to));
}

int main(int argc, char** argv) {
  if (argc > 1) cycles = std::atoll(argv[1]);
  cudaStream_t streams[3] = {};  // the last is the default one
  CHECK(cudaStreamCreate(&streams[0]));
  CHECK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
  Spin<<<1, 1>>>(1);
  CHECK(cudaDeviceSynchronize());
  const char* const names[] = {"a blocking stream", "a non-blocking stream", "the default stream"};
  for (int k = 0; k < 3; ++k) {
    std::printf("== %s\n", names[k]);
    Arrivals(streams[k]);
    Shapes(streams[k]);
    Sources(streams[k]);
  }
  return 0;
}
