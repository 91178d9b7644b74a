// Kernels for the test of the flow analysis.
__global__ void divergent_kernel(int* data, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k < i; ++k) {
    if (data[k] < 0) continue;
    if (data[k] > 1000) break;
    sum += data[k] & 1 ? data[k] * 3 : data[sum];
  }
  data[i] = sum;
}
