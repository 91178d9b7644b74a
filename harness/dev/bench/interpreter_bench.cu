// Kernels for speed_bench: the shapes of work that courses have.
extern "C" __global__ void reduction(const int* in, int* out, unsigned n) {
  extern __shared__ int sdata[];
  const unsigned tid = threadIdx.x;
  int sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sdata[tid] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

extern "C" __global__ void reduction_naive(const int* in, int* out, unsigned n) {
  extern __shared__ int sdata[];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  sdata[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

extern "C" __global__ void scan(const float* in, float* out, unsigned n) {
  __shared__ float buffer[2][256];
  const unsigned tid = threadIdx.x, i = blockIdx.x * 256 + tid;
  int side = 0;
  buffer[0][tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < 256; d *= 2) {
    buffer[1 - side][tid] = tid >= d ? buffer[side][tid] + buffer[side][tid - d] : buffer[side][tid];
    side = 1 - side;
    __syncthreads();
  }
  if (i < n) out[i] = buffer[side][tid];
}

extern "C" __global__ void transpose(const float* in, float* out, unsigned n) {
  __shared__ float tile[32][33];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" __global__ void transpose_naive(const float* in, float* out, unsigned n) {
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8) out[x * n + y + k] = in[(y + k) * n + x];
}

extern "C" __global__ void matrix_multiply(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float at[16][16], bt[16][16];
  const unsigned row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (unsigned t = 0; t < n; t += 16) {
    at[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    bt[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += at[threadIdx.y][k] * bt[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void divergent(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = in[i], steps = 0;
  while (x != 1) {
    if (x % 2 == 0) {
      x /= 2;
    } else {
      x = 3 * x + 1;
    }
    ++steps;
  }
  out[i] = steps;
}
