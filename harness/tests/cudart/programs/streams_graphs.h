// The pairs of streams.cu that launch graphs.
#pragma once

#include <initializer_list>

#include "streams_fixture.h"

// A graph of the work that a stream captures, which may be instantiated several times.
template <typename Work>
struct Captured {
  cudaGraph_t graph = nullptr;
  Captured(cudaStream_t stream, const Work& work) {
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    work();
    CHECK(cudaStreamEndCapture(stream, &graph));
  }
  cudaGraphExec_t Instantiate() const {
    cudaGraphExec_t executable = nullptr;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    return executable;
  }
};

void GraphTwice(Fixture& f, bool right) {
  // Launches of one executable graph are ordered; those of two executables of one graph are not.
  const Captured captured(f.s1, [&] {
    Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
    Add<<<kBlocks, kBlock, 0, f.s1>>>(f.b, f.a);
    Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 6);
  });
  const cudaGraphExec_t first = captured.Instantiate(), second = captured.Instantiate();
  CHECK(cudaGraphLaunch(first, f.s1));
  CHECK(cudaGraphLaunch(right ? first : second, f.s2));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(first));
  CHECK(cudaGraphExecDestroy(second));
  CHECK(cudaGraphDestroy(captured.graph));
}
void GraphsSourceChanged(Fixture& f, bool right) {
  // The launch returns once it has copied pageable memory.
  static int pageable[kInts];
  int* const source = right ? pageable : f.pinned;
  const Captured captured(f.s1, [&] { CHECK(cudaMemcpyAsync(f.a, source, kBytes, cudaMemcpyHostToDevice, f.s1)); });
  const cudaGraphExec_t executable = captured.Instantiate();
  CHECK(cudaGraphLaunch(executable, f.s1));
  source[17] = 4711;
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(captured.graph));
}
void GraphsResultFreed(Fixture& f, bool right) {
  const Captured captured(f.s1, [&] { CHECK(cudaMemcpyAsync(f.pinned, f.a, kBytes, cudaMemcpyDeviceToHost, f.s1)); });
  const cudaGraphExec_t executable = captured.Instantiate();
  CHECK(cudaGraphLaunch(executable, f.s1));
  if (right) CHECK(cudaStreamSynchronize(f.s1));
  CHECK(cudaFreeHost(f.pinned));
  f.pinned = nullptr;
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(captured.graph));
}
void GraphBranches(Fixture& f, bool right) {
  CHECK(cudaStreamBeginCapture(f.s1, cudaStreamCaptureModeGlobal));
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  f.Order(f.s1, f.s2);
  Add<<<kBlocks, kBlock, 0, f.s1>>>(f.b, f.a);
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.c, f.a);
  if (right) f.Order(f.s2, f.s1);
  Add<<<kBlocks, kBlock, 0, f.s1>>>(f.b, f.c);
  if (!right) f.Order(f.s2, f.s1);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(f.s1, &graph));
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  // Launches of one graph come one after the other.
  CHECK(cudaGraphLaunch(executable, f.s1));
  CHECK(cudaGraphLaunch(executable, f.s3));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
}
void GraphBesideStream(Fixture& f, bool right) {
  CHECK(cudaStreamBeginCapture(f.s1, cudaStreamCaptureModeGlobal));
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(f.s1, &graph));
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, right ? f.s2 : f.s1));
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
}

template <typename T>
struct Same {
  using Type = T;
};
// A kernel node that depends on these.
template <typename... Arguments>
cudaGraphNode_t AddKernel(cudaGraph_t graph, std::initializer_list<cudaGraphNode_t> after, void (*kernel)(Arguments...),
                          typename Same<Arguments>::Type... arguments) {
  void* const pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = dim3(kBlocks);
  params.blockDim = dim3(kBlock);
  params.kernelParams = const_cast<void**>(pointers);
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddKernelNode(&node, graph, after.begin(), after.size(), &params));
  return node;
}
// Launches a graph with the node `inner` and a kernel that reads its result: after it, or unordered. Frees both graphs.
void LaunchWithin(Fixture& f, cudaGraph_t inner, bool in_order) {
  cudaGraph_t outer = nullptr;
  CHECK(cudaGraphCreate(&outer, 0));
  cudaGraphNode_t within = nullptr;
  CHECK(cudaGraphAddChildGraphNode(&within, outer, nullptr, 0, inner));
  AddKernel(outer, {}, Fill, f.pinned, 1, kInts);
  if (in_order) {
    AddKernel(outer, {within}, Add, f.pinned2, f.b, kInts);
  } else {
    AddKernel(outer, {}, Add, f.pinned2, f.b, kInts);
  }
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaGraphInstantiate(&executable, outer, 0));
  CHECK(cudaGraphDestroy(inner));
  CHECK(cudaGraphDestroy(outer));
  CHECK(cudaGraphLaunch(executable, f.s1));
  CHECK(cudaGraphLaunch(executable, f.s2));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(executable));
}
void GraphWithin(Fixture& f, bool right) {
  cudaGraph_t inner = nullptr;
  CHECK(cudaGraphCreate(&inner, 0));
  const cudaGraphNode_t fill = AddKernel(inner, {}, Fill, f.a, 5, kInts);
  AddKernel(inner, {}, Fill, f.c, 6, kInts);
  if (right) {
    AddKernel(inner, {fill}, Add, f.b, f.a, kInts);
  } else {
    AddKernel(inner, {}, Add, f.b, f.a, kInts);
  }
  LaunchWithin(f, inner, true);
}
void GraphBesideOneWithin(Fixture& f, bool right) {
  cudaGraph_t inner = nullptr;
  CHECK(cudaGraphCreate(&inner, 0));
  AddKernel(inner, {}, Fill, f.b, 5, kInts);
  AddKernel(inner, {}, Fill, f.c, 6, kInts);
  LaunchWithin(f, inner, right);
}
