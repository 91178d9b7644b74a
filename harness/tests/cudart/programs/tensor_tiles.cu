// The two programs of a lecture on bulk copies: in one a thread copies an array through shared memory with bulk copies,
// in the other a matrix, tile by tile, with a tensor map. With the argument 1 no thread waits for the loads; with 2
// shared memory is overwritten before it has been sent.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/std/utility>
#include <vector>

#pragma nv_diag_suppress static_var_with_dynamic_init  // init() sets the barriers up

using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;

constexpr int kNoWait = 1, kReuse = 2;
constexpr int kPiece = 1024;
constexpr int kTileWidth = 32, kTileHeight = 8;

#define CHECK(call)                                                                                    \
  do {                                                                                                 \
    const cudaError_t error_ = (call);                                                                 \
    if (error_ != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorName(error_)), std::exit(1); \
  } while (0)

__device__ void SetUp(Barrier* barrier) {
  if (threadIdx.x == 0) {
    init(barrier, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
}

__global__ void AddOne(int* data, int mistake) {
  __shared__ alignas(16) int piece[kPiece];
  __shared__ Barrier barrier;
  SetUp(&barrier);
  int* const mine = data + blockIdx.x * kPiece;
  if (threadIdx.x == 0) cuda::memcpy_async(piece, mine, cuda::aligned_size_t<16>(sizeof piece), barrier);
  Barrier::arrival_token token = barrier.arrive();
  if (mistake != kNoWait) barrier.wait(cuda::std::move(token));
  for (int k = threadIdx.x; k < kPiece; k += blockDim.x) piece[k] += 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, mine, piece, sizeof piece);
    ptx::cp_async_bulk_commit_group();
    if (mistake != kReuse) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kPiece; k += blockDim.x) piece[k] = -1;
}

__global__ void AddOneToTiles(const __grid_constant__ CUtensorMap map, int mistake) {
  __shared__ alignas(128) int tile[kTileHeight][kTileWidth];
  __shared__ Barrier barrier;
  SetUp(&barrier);
  const int x = blockIdx.x * kTileWidth, y = blockIdx.y * kTileHeight;
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
  } else {
    token = barrier.arrive();
  }
  if (mistake != kNoWait) barrier.wait(cuda::std::move(token));
  for (int row = 0; row < kTileHeight; ++row) tile[row][threadIdx.x] += 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &tile);
    ptx::cp_async_bulk_commit_group();
    if (mistake != kReuse) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  __syncthreads();
  tile[0][threadIdx.x] = -1;
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

int main(int argc, char** argv) {
  const int mistake = argc > 1 ? std::atoi(argv[1]) : 0;
  constexpr int kWidth = 100, kHeight = 50, kPitch = 112;  // not whole tiles
  std::vector<int> array(8 * kPiece), matrix(kPitch * kHeight);
  for (size_t k = 0; k < array.size(); ++k) array[k] = static_cast<int>(k);
  for (size_t k = 0; k < matrix.size(); ++k) matrix[k] = static_cast<int>(k);
  int *a, *m;
  CHECK(cudaMalloc(&a, array.size() * sizeof(int)));
  CHECK(cudaMalloc(&m, matrix.size() * sizeof(int)));
  CHECK(cudaMemcpy(a, array.data(), array.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(m, matrix.data(), matrix.size() * sizeof(int), cudaMemcpyHostToDevice));
  AddOne<<<8, 128>>>(a, mistake);
  CHECK(cudaDeviceSynchronize());

  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  void* same = nullptr;
  CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &same, cudaEnableDefault, &found));
  if (same != function) std::printf("another entry point\n");
  const cuuint64_t extents[] = {kWidth, kHeight}, strides[] = {kPitch * sizeof(int)};
  const cuuint32_t box[] = {kTileWidth, kTileHeight}, steps[] = {1, 1};
  CUtensorMap map;
  if (reinterpret_cast<Encode>(function)(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, m, extents, strides, box, steps,
                                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                         CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::printf("no tensor map\n");
    return 1;
  }
  void* replace = nullptr;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapReplaceAddress", &replace, 12000, cudaEnableDefault, &found));
  if (reinterpret_cast<CUresult (*)(CUtensorMap*, void*)>(replace)(&map, m) != CUDA_SUCCESS) {
    std::printf("the map is no map\n");
  }
  AddOneToTiles<<<dim3((kWidth + kTileWidth - 1) / kTileWidth, (kHeight + kTileHeight - 1) / kTileHeight),
                  kTileWidth>>>(map, mistake);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(array.data(), a, array.size() * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(matrix.data(), m, matrix.size() * sizeof(int), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (size_t k = 0; k < array.size(); ++k) wrong += array[k] != static_cast<int>(k) + 1;
  std::printf("array: %d wrong\n", wrong);
  wrong = 0;
  for (int k = 0; k < kPitch * kHeight; ++k) wrong += matrix[k] != k + (k % kPitch < kWidth ? 1 : 0);
  std::printf("matrix: %d wrong\n", wrong);
  CHECK(cudaFree(a));
  CHECK(cudaFree(m));
}
