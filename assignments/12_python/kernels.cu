// The kernels of assignment 12, as earlier assignments left them. They are given: you write the host code that launches
// them. `nvcc -ptx kernels.cu` makes kernels.ptx; the tests do that for you.
//
// extern "C" keeps the names as they are, so that get_function("circular_shift") finds its kernel.

// From assignment 03. Element i of the result is element i + places of the input, which wraps around at its end. places
// is less than n. A thread for each element; those past the end do nothing.
extern "C" __global__ void circular_shift(const int* in, int* out, unsigned n, unsigned places) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned to_end = n - i;
  out[i] = in[places < to_end ? i + places : places - to_end];
}

// From assignment 04. out[b] is the sum of the elements of block b: one for each of its threads, as far as there are n.
// blockDim.x is a power of two, and the launch gives the block an int of shared memory for each thread.
extern "C" __global__ void block_sums(const int* in, int* out, unsigned n) {
  extern __shared__ int kept[];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  kept[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned left = blockDim.x / 2; left > 0; left /= 2) {
    if (threadIdx.x < left) kept[threadIdx.x] += kept[threadIdx.x + left];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = kept[0];
}

// out[i] = in[i] - background[i], modulo 2^32; out may be in. A thread for each element; those past the end do nothing.
extern "C" __global__ void subtract(const int* in, const int* background, int* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] - background[i];
}
