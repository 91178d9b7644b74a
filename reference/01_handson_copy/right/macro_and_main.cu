// points: 100 + 10
// Output for people, a macro called CHECK, and the main that it was tried out with.

#include <iostream>
#include <vector>

#include "copy.h"

using namespace std;

#define CHECK(call)                                                                    \
  if (cudaError_t status = (call); status != cudaSuccess) {                            \
    cerr << __FILE__ << ":" << __LINE__ << ": " << cudaGetErrorString(status) << endl; \
    if (first == cudaSuccess) first = status;                                          \
  }

cudaError_t check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) cerr << what << ": " << cudaGetErrorName(error) << endl;
  return error;
}

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  cudaError_t first = cudaSuccess;
  int* a_d;
  CHECK(cudaMalloc((void**)&a_d, n * sizeof(int)));
  CHECK(cudaMemcpy(a_d, h_in, n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(h_out, a_d, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a_d));
  return first;
}

cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) {
  int *a_d = nullptr, *b_d = nullptr;
  const size_t bytes = sizeof(int) * n;
  cudaError_t error = check(cudaMalloc((void**)&a_d, bytes), "a_d");
  if (!error) error = check(cudaMalloc((void**)&b_d, bytes), "b_d");
  if (!error) error = check(cudaMemcpy(a_d, h_in, bytes, cudaMemcpyHostToDevice), "to the device");
  if (!error) error = check(cudaMemcpy(b_d, a_d, bytes, cudaMemcpyDeviceToDevice), "on the device");
  if (!error) error = check(cudaMemcpy(h_out, b_d, bytes, cudaMemcpyDeviceToHost), "to the host");
  cudaFree(b_d);
  cudaFree(a_d);
  if (error) cudaGetLastError();
  return error;
}

cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) { return copy3_checked(h_in, h_out, n); }

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  int* pinned = nullptr;
  if (cudaError_t error = check(cudaMallocHost((void**)&pinned, 2 * n * sizeof(int)), "pinned")) return error;
  copy(h_in, h_in + n, pinned);
  const cudaError_t error = copy3_checked(pinned, pinned + n, n);
  if (!error) copy(pinned + n, pinned + 2 * n, h_out);
  cudaFreeHost(pinned);
  return error;
}

int main() {
  vector<int> in(1000), out(1000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i);
  if (copy3_checked(in.data(), out.data(), in.size()) != cudaSuccess) return 1;
  cout << (in == out ? "right" : "wrong") << endl;
  return in == out ? 0 : 1;
}
