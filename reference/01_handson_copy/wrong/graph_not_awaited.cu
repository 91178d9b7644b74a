// verdict: WRONG copy4_pinned
// Launches a graph of the copies, and reads what it brings before it has waited for the graph.
#include <algorithm>

#include "copy.h"

// Serves the rungs that are not the point here: right, checked, and with nothing left behind.
cudaError_t good(const int* h_in, int* h_out, size_t n) {
  const size_t bytes = n * sizeof(int);
  int *a_d = nullptr, *b_d = nullptr;
  cudaError_t error = cudaMalloc(&a_d, bytes);
  if (error == cudaSuccess) error = cudaMalloc(&b_d, bytes);
  if (error == cudaSuccess) error = cudaMemcpy(a_d, h_in, bytes, cudaMemcpyHostToDevice);
  if (error == cudaSuccess) error = cudaMemcpy(b_d, a_d, bytes, cudaMemcpyDeviceToDevice);
  if (error == cudaSuccess) error = cudaMemcpy(h_out, b_d, bytes, cudaMemcpyDeviceToHost);
  cudaFree(b_d);
  cudaFree(a_d);
  return error;
}

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  const size_t bytes = n * sizeof(int);
  int *a_d = nullptr, *b_d = nullptr, *staging = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaError_t error = cudaMalloc(&a_d, bytes);
  if (error == cudaSuccess) error = cudaMalloc(&b_d, bytes);
  if (error == cudaSuccess) error = cudaMallocHost(&staging, bytes);
  if (error == cudaSuccess) error = cudaStreamCreate(&stream);
  if (error == cudaSuccess) {
    std::copy_n(h_in, n, staging);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(a_d, staging, bytes, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(b_d, a_d, bytes, cudaMemcpyDeviceToDevice, stream);
    cudaMemcpyAsync(staging, b_d, bytes, cudaMemcpyDeviceToHost, stream);
    error = cudaStreamEndCapture(stream, &graph);
  }
  if (error == cudaSuccess) error = cudaGraphInstantiate(&exec, graph, 0);
  if (error == cudaSuccess) error = cudaGraphLaunch(exec, stream);
  if (error == cudaSuccess) std::copy_n(staging, n, h_out);
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  if (exec != nullptr) cudaGraphExecDestroy(exec);
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (stream != nullptr) cudaStreamDestroy(stream);
  cudaFreeHost(staging);
  cudaFree(b_d);
  cudaFree(a_d);
  return error;
}

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) { return good(h_in, h_out, n); }
cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) { return good(h_in, h_out, n); }
cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return good(h_in, h_out, n); }
