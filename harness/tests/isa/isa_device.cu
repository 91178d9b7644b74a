// Library functions as nvcc compiles them: one kernel per type, one result array per expression.

extern "C" __global__ void float_kernel(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i];
  const auto put = [&](int row, float value) { out[row * n + i] = value; };
  put(0, sinf(x));
  put(1, cosf(x));
  put(2, expf(x));
  put(3, logf(fabsf(x)));
  put(4, sqrtf(fabsf(x)));
  put(5, powf(fabsf(x), 1.7f));
  put(6, tanhf(x));
  put(7, 1.0f / x);
  put(8, floorf(x) + ceilf(x) * 2 + rintf(x) * 4 + truncf(x) * 8);
  put(9, atan2f(x, 2.0f));
  put(10, erff(x));
  put(11, cbrtf(x));
}

extern "C" __global__ void double_kernel(const float* a, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = a[i];
  const auto put = [&](int row, double value) { out[row * n + i] = value; };
  put(0, sin(x));
  put(1, exp(x));
  put(2, log(fabs(x)));
  put(3, pow(fabs(x), 1.7));
  put(4, sqrt(fabs(x)));
  put(5, 1.0 / x);
  put(6, rsqrt(fabs(x)));
  put(7, tgamma(fabs(x)));
}
