// The kernels that the parser's test reads: one of everything that nvcc makes of ordinary device code.
#include <cassert>
#include <cstdio>

__constant__ float coefficients[4] = {1, 2, 3.5f, -1};
__device__ int numbers[3] = {7, 8, 9};
__device__ int* second_number = &numbers[1];
__device__ const char* words[2] = {"abc", "def"};

struct Shape {
  __device__ virtual int Area(int side) const { return side * side; }
};
struct Triangle : Shape {
  __device__ int Area(int side) const override { return side * side / 2; }
};

struct Large {
  int values[20];
  char tail;
};

__device__ __noinline__ int Fibonacci(int n) { return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2); }

__device__ __noinline__ Large Changed(Large large, int k) {
  large.values[k] = 3;
  return large;
}

__device__ int Doubled(int x) { return x * 2; }
__device__ int Tripled(int x) { return x * 3; }
__device__ int (*functions[2])(int) = {Doubled, Tripled};

template <int kWords>
__global__ void __launch_bounds__(256, 2) everything_kernel(int* data, int n, Large large) {
  __shared__ int tile[256];
  extern __shared__ double dynamic[];
  const int i = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  tile[threadIdx.x] = i < n ? data[i] : 0;
  dynamic[threadIdx.x] = i;
  __syncthreads();
  switch (tile[threadIdx.x]) {
    case 0:
      data[i] = *second_number;
      break;
    case 1:
      printf("%d %f\n", i, coefficients[i & 3]);
      break;
    case 2:
      assert(n > 3);
      break;
    case 3:
      data[i] = Fibonacci(n);
      break;
    case 4:
      data[i] = Changed(large, n).values[i];
      break;
    case 5:
      data[i] = functions[i & 1](n);
      break;
    default:
      data[i] = words[i & 1][i % 3] + static_cast<int>(dynamic[i ^ kWords]);
  }
  // Names that come again in every scope.
  asm volatile(
      "{ .reg .pred p; .reg .b32 q<3>; setp.ne.b32 p, %0, 0; @p bra L1; mov.u32 q1, %%laneid; st.global.u32 [%1], q1; "
      "L1: }" ::"r"(n),
      "l"(data));
  asm volatile(
      "{ .reg .pred p; .reg .b32 q<3>; setp.ne.b32 p, %0, 0; @!p bra L1; mov.u32 q2, %%laneid; "
      "st.global.u32 [%1+4], q2; L1: }" ::"r"(n),
      "l"(data));
}
template __global__ void everything_kernel<3>(int*, int, Large);

__global__ void virtual_kernel(int* data, Shape* shape, int n) {
  Triangle triangle;
  const Shape* chosen = n > 3 ? shape : &triangle;
  data[0] = chosen->Area(n);
}
