// Kernels that the interpreter's speed is measured on. Each is what a course would have its students write.

// A block's sum by sequential addressing.
extern "C" __global__ void reduction(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[256];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + tid;
  s_data[tid] = i < n ? d_in[i] : 0;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s) s_data[tid] += s_data[tid + s];
    __syncthreads();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

// A block's inclusive scan (Hillis and Steele), two buffers.
extern "C" __global__ void scan(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_data[2][256];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + tid;
  int from = 0;
  s_data[0][tid] = i < n ? d_in[i] : 0.0f;
  __syncthreads();
  for (unsigned offset = 1; offset < blockDim.x; offset *= 2) {
    s_data[1 - from][tid] = s_data[from][tid] + (tid >= offset ? s_data[from][tid - offset] : 0.0f);
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) d_out[i] = s_data[from][tid];
}

// Through a padded tile.
extern "C" __global__ void transpose(const float* d_in, float* d_out, unsigned width, unsigned height) {
  __shared__ float tile[32][33];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8) {
    if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = d_in[(y + k) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8) {
    if (x < height && y + k < width) d_out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
  }
}

// A 16 by 16 tile a step.
extern "C" __global__ void matrix_multiply(const float* d_a, const float* d_b, float* d_c, unsigned n) {
  __shared__ float s_a[16][16], s_b[16][16];
  const unsigned row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < n; k += 16) {
    s_a[threadIdx.y][threadIdx.x] = d_a[row * n + k + threadIdx.x];
    s_b[threadIdx.y][threadIdx.x] = d_b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (unsigned j = 0; j < 16; ++j) sum += s_a[threadIdx.y][j] * s_b[j][threadIdx.x];
    __syncthreads();
  }
  d_c[row * n + column] = sum;
}

// The lengths of Collatz sequences: every lane of a warp leaves its loop at another time.
extern "C" __global__ void divergent(int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = i + 1;
  int steps = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++steps;
  }
  d_out[i] = steps;
}
