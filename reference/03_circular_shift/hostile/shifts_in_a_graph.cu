// virtual: REJECTED shift2_any
// The two copies are nodes of a graph, with a kernel that does nothing.
#include "shift.h"

__global__ void idle_kernel() {}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const long long rest = static_cast<long long>(shift) % n;
  const size_t offset = rest < 0 ? rest + n : rest;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(d_out, d_in + offset, sizeof(int) * (n - offset), cudaMemcpyDeviceToDevice, stream);
  if (offset > 0) cudaMemcpyAsync(d_out + (n - offset), d_in, sizeof(int) * offset, cudaMemcpyDeviceToDevice, stream);
  idle_kernel<<<1, 1, 0, stream>>>();
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
