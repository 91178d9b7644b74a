// What cuSOLVER's dense functions return for unusual arguments: solver_statuses.h100.txt is what an H100 printed. Left
// out are calls that crash there (null pointers) or end the context (cusolverDnDgetrf with negative sizes).
#include <cusolverDn.h>

#include <cstdio>

#include "tell.h"

static cusolverDnHandle_t handle;
static double *a, *b, *work;  // of 4096 elements; a and b are unit matrices of order 8
static int *info, *pivots;
static int64_t* wide;

// Like TELL, and prints info too, which is 77 before the call.
#define TELL_INFO(call)                                                                      \
  do {                                                                                       \
    int known = 77;                                                                          \
    cudaMemcpy(info, &known, sizeof known, cudaMemcpyHostToDevice);                          \
    const int told = static_cast<int>(call);                                                 \
    cudaMemcpy(&known, info, sizeof known, cudaMemcpyDeviceToHost);                          \
    std::printf("%s = %d: info %d, %d\n", #call, told, known, (int)cudaDeviceSynchronize()); \
    unit();                                                                                  \
  } while (false)

static const auto U = CUBLAS_FILL_MODE_UPPER, L = CUBLAS_FILL_MODE_LOWER, kFull = CUBLAS_FILL_MODE_FULL;
static const auto N = CUBLAS_OP_N;
static const auto kNone = (cublasOperation_t)9;
static const auto V = CUSOLVER_EIG_MODE_VECTOR, kNoMode = (cusolverEigMode_t)9;
static const auto D = CUDA_R_64F, F = CUDA_R_32F;

static void unit() {
  double host[4096] = {};
  for (int i = 0; i < 8; ++i) host[9 * i] = 1;
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
}

static void handles() {
  int value = -1;
  cudaStream_t stream;
  TELL_VALUE(cusolverGetVersion(&value), value / 1000);
  TELL(cusolverGetVersion(nullptr));
  TELL_VALUE(cusolverGetProperty(MAJOR_VERSION, &value), value);
  TELL_VALUE(cusolverGetProperty((libraryPropertyType)7, &value), value);
  TELL_VALUE(cusolverDnGetStream(handle, &stream), stream == nullptr);
  cusolverDeterministicMode_t mode;
  TELL_VALUE(cusolverDnGetDeterministicMode(handle, &mode), mode);
  TELL(cusolverDnSetDeterministicMode(handle, (cusolverDeterministicMode_t)9));
  TELL(cusolverDnSetDeterministicMode(handle, CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS));
  TELL_VALUE(cusolverDnGetDeterministicMode(handle, &mode), mode);
  TELL(cusolverDnGetDeterministicMode(handle, nullptr));
  cusolverMathMode_t math;
  TELL_VALUE(cusolverDnGetMathMode(handle, &math), math);
  TELL(cusolverDnSetMathMode(handle, (cusolverMathMode_t)9));
  TELL(cusolverDnSetMathMode(handle, CUSOLVER_DEFAULT_MATH));
  cusolverDnParams_t params;
  TELL(cusolverDnCreateParams(&params));
  TELL(cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_0));
  TELL(cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_1));
  TELL(cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, (cusolverAlgMode_t)9));
  TELL(cusolverDnSetAdvOptions(params, (cusolverDnFunction_t)9, CUSOLVER_ALG_0));
  TELL(cusolverDnDestroyParams(params));
  TELL(cusolverDnDestroyParams(nullptr));
  syevjInfo_t eigen;
  gesvdjInfo_t singular;
  TELL(cusolverDnCreateSyevjInfo(&eigen));
  TELL(cusolverDnXsyevjSetTolerance(eigen, 1e-7));
  TELL(cusolverDnXsyevjSetTolerance(eigen, -1));
  TELL(cusolverDnXsyevjSetMaxSweeps(eigen, 15));
  TELL(cusolverDnXsyevjSetMaxSweeps(eigen, -1));
  TELL(cusolverDnXsyevjSetSortEig(eigen, 0));
  TELL(cusolverDnXsyevjSetSortEig(eigen, 7));
  double residual = -7;
  int sweeps = -7;
  TELL_VALUE(cusolverDnXsyevjGetResidual(handle, eigen, &residual), residual);
  TELL_VALUE(cusolverDnXsyevjGetSweeps(handle, eigen, &sweeps), sweeps);
  TELL(cusolverDnDestroySyevjInfo(eigen));
  TELL(cusolverDnCreateGesvdjInfo(&singular));
  TELL(cusolverDnXgesvdjSetTolerance(singular, 1e-7));
  TELL(cusolverDnXgesvdjSetMaxSweeps(singular, 15));
  TELL(cusolverDnXgesvdjSetSortEig(singular, 0));
  TELL(cusolverDnDestroyGesvdjInfo(singular));
}

static void factors() {
  int size = -1;
  TELL(cusolverDnDgetrf_bufferSize(handle, 8, 8, a, 8, &size));
  TELL(cusolverDnDgetrf_bufferSize(nullptr, 8, 8, a, 8, &size));
  TELL(cusolverDnDgetrf_bufferSize(handle, -1, 8, a, 8, &size));
  TELL(cusolverDnDgetrf_bufferSize(handle, 8, -1, a, 8, &size));
  TELL(cusolverDnDgetrf_bufferSize(handle, 8, 8, a, 7, &size));
  TELL_VALUE(cusolverDnDgetrf_bufferSize(handle, 0, 0, a, 1, &size), size);
  TELL(cusolverDnDgetrf_bufferSize(handle, 8, 8, nullptr, 8, &size));
  TELL_INFO(cusolverDnDgetrf(handle, 8, 8, a, 8, work, pivots, info));
  TELL_INFO(cusolverDnDgetrf(nullptr, 8, 8, a, 8, work, pivots, info));
  TELL_INFO(cusolverDnDgetrf(handle, 8, 8, a, 7, work, pivots, info));
  TELL_INFO(cusolverDnDgetrf(handle, 0, 0, a, 1, work, pivots, info));
  TELL_INFO(cusolverDnDgetrf(handle, 0, 0, a, 0, work, pivots, info));
  TELL_INFO(cusolverDnDgetrf(handle, 8, 8, a, 8, work, pivots, info));
  TELL_INFO(cusolverDnDgetrs(handle, kNone, 8, 2, a, 8, pivots, b, 8, info));
  TELL_INFO(cusolverDnDgetrs(handle, N, -1, 2, a, 8, pivots, b, 8, info));
  TELL_INFO(cusolverDnDgetrs(handle, N, 8, -1, a, 8, pivots, b, 8, info));
  TELL_INFO(cusolverDnDgetrs(handle, N, 8, 2, a, 7, pivots, b, 8, info));
  TELL_INFO(cusolverDnDgetrs(handle, N, 8, 2, a, 8, pivots, b, 7, info));
  TELL_INFO(cusolverDnDgetrs(handle, N, 8, 0, a, 8, pivots, b, 8, info));
  TELL_INFO(cusolverDnDgetrs(handle, N, 0, 2, a, 8, pivots, b, 8, info));
  TELL(cusolverDnDpotrf_bufferSize(handle, L, 8, a, 8, &size));
  TELL(cusolverDnDpotrf_bufferSize(handle, kFull, 8, a, 8, &size));
  TELL(cusolverDnDpotrf_bufferSize(handle, L, -1, a, 8, &size));
  TELL(cusolverDnDpotrf_bufferSize(handle, L, 8, a, 7, &size));
  TELL_INFO(cusolverDnDpotrf(handle, L, 8, a, 8, work, 4096, info));
  TELL_INFO(cusolverDnDpotrf(handle, kFull, 8, a, 8, work, 4096, info));
  TELL_INFO(cusolverDnDpotrf(handle, L, -1, a, 8, work, 4096, info));
  TELL_INFO(cusolverDnDpotrf(handle, L, 8, a, 7, work, 4096, info));
  TELL_INFO(cusolverDnDpotrf(handle, L, 8, a, 8, work, -1, info));
  TELL_INFO(cusolverDnDpotrf(handle, L, 0, a, 8, work, 4096, info));
  TELL_INFO(cusolverDnDpotrs(handle, L, 8, 2, a, 8, b, 8, info));
  TELL_INFO(cusolverDnDpotrs(handle, kFull, 8, 2, a, 8, b, 8, info));
  TELL_INFO(cusolverDnDpotrs(handle, L, 8, -1, a, 8, b, 8, info));
  TELL_INFO(cusolverDnDpotrs(handle, L, 8, 2, a, 7, b, 8, info));
  TELL_INFO(cusolverDnDpotrs(handle, L, 8, 2, a, 8, b, 7, info));
  TELL(cusolverDnDpotri_bufferSize(handle, L, 8, a, 8, &size));
  TELL_INFO(cusolverDnDpotri(handle, L, 8, a, 8, work, 4096, info));
  TELL_INFO(cusolverDnDpotri(handle, L, 8, a, 7, work, 4096, info));
  TELL_INFO(cusolverDnDpotri(handle, L, 0, a, 8, work, 4096, info));
  TELL(cusolverDnDgeqrf_bufferSize(handle, 8, 8, a, 8, &size));
  TELL(cusolverDnDgeqrf_bufferSize(handle, 8, 8, a, 7, &size));
  TELL_INFO(cusolverDnDgeqrf(handle, 8, 8, a, 8, work, work + 8, 4000, info));
  TELL_INFO(cusolverDnDgeqrf(handle, -1, 8, a, 8, work, work + 8, 4000, info));
  TELL_INFO(cusolverDnDgeqrf(handle, 8, -1, a, 8, work, work + 8, 4000, info));
  TELL_INFO(cusolverDnDgeqrf(handle, 8, 8, a, 7, work, work + 8, 4000, info));
  TELL_INFO(cusolverDnDgeqrf(handle, 8, 0, a, 8, work, work + 8, 4000, info));
  TELL(cusolverDnDorgqr_bufferSize(handle, 8, 8, 8, a, 8, work, &size));
  TELL_INFO(cusolverDnDorgqr(handle, 8, 8, 9, a, 8, work, work + 8, 4000, info));
  TELL_INFO(cusolverDnDorgqr(handle, 7, 8, 7, a, 8, work, work + 8, 4000, info));
  TELL_INFO(cusolverDnDorgqr(handle, 8, 8, -1, a, 8, work, work + 8, 4000, info));
  TELL_INFO(cusolverDnDorgqr(handle, 8, 8, 8, a, 7, work, work + 8, 4000, info));
  TELL_INFO(cusolverDnDormqr(handle, (cublasSideMode_t)9, N, 8, 2, 8, a, 8, work, b, 8, work + 8, 4000, info));
  TELL_INFO(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, kNone, 8, 2, 8, a, 8, work, b, 8, work + 8, 4000, info));
  TELL_INFO(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, N, 8, 2, 9, a, 8, work, b, 8, work + 8, 4000, info));
  TELL_INFO(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, N, 8, 2, 8, a, 7, work, b, 8, work + 8, 4000, info));
  TELL_INFO(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, N, 8, 2, 8, a, 8, work, b, 7, work + 8, 4000, info));
  TELL_INFO(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_C, 8, 2, 8, a, 8, work, b, 8, work + 8, 4000, info));
}

static void spectra() {
  int size = -1;
  double *const u = b + 1024, *const v = b + 2048, *const s = b + 3072;
  TELL(cusolverDnDgesvd_bufferSize(handle, 8, 8, &size));
  TELL(cusolverDnDgesvd_bufferSize(handle, 7, 8, &size));
  TELL(cusolverDnDgesvd_bufferSize(handle, -1, 8, &size));
  TELL_INFO(cusolverDnDgesvd(handle, 'A', 'A', 7, 8, a, 8, s, u, 8, v, 8, work, 4096, nullptr, info));
  TELL_INFO(cusolverDnDgesvd(handle, 'A', 'A', 8, 8, a, 8, s, u, 8, v, 8, work, 4096, nullptr, info));
  TELL_INFO(cusolverDnDgesvd(handle, 'X', 'A', 8, 8, a, 8, s, u, 8, v, 8, work, 4096, nullptr, info));
  TELL_INFO(cusolverDnDgesvd(handle, 'A', 'X', 8, 8, a, 8, s, u, 8, v, 8, work, 4096, nullptr, info));
  TELL_INFO(cusolverDnDgesvd(handle, 'O', 'O', 8, 8, a, 8, s, u, 8, v, 8, work, 4096, nullptr, info));
  TELL_INFO(cusolverDnDgesvd(handle, 'A', 'A', 8, 8, a, 7, s, u, 8, v, 8, work, 4096, nullptr, info));
  TELL_INFO(cusolverDnDgesvd(handle, 'A', 'A', 8, 8, a, 8, s, u, 7, v, 8, work, 4096, nullptr, info));
  TELL_INFO(cusolverDnDgesvd(handle, 'A', 'A', 8, 8, a, 8, s, u, 8, v, 7, work, 4096, nullptr, info));
  TELL_INFO(cusolverDnDgesvd(handle, 'A', 'A', 8, 8, a, 8, s, u, 8, v, 8, work, 0, nullptr, info));
  TELL_INFO(cusolverDnDgesvd(handle, 'A', 'A', 0, 0, a, 8, s, u, 8, v, 8, work, 4096, nullptr, info));
  TELL(cusolverDnDsyevd_bufferSize(handle, V, L, 8, a, 8, s, &size));
  TELL(cusolverDnDsyevd_bufferSize(handle, kNoMode, L, 8, a, 8, s, &size));
  TELL(cusolverDnDsyevd_bufferSize(handle, V, kFull, 8, a, 8, s, &size));
  TELL(cusolverDnDsyevd_bufferSize(handle, V, L, 8, a, 7, s, &size));
  TELL_INFO(cusolverDnDsyevd(handle, kNoMode, L, 8, a, 8, s, work, 4096, info));
  TELL_INFO(cusolverDnDsyevd(handle, V, kFull, 8, a, 8, s, work, 4096, info));
  TELL_INFO(cusolverDnDsyevd(handle, V, L, -1, a, 8, s, work, 4096, info));
  TELL_INFO(cusolverDnDsyevd(handle, V, L, 8, a, 7, s, work, 4096, info));
  TELL_INFO(cusolverDnDsyevd(handle, V, L, 0, a, 8, s, work, 4096, info));
  TELL_INFO(cusolverDnDsygvd(handle, (cusolverEigType_t)9, V, L, 8, a, 8, b, 8, s, work, 4096, info));
  TELL_INFO(cusolverDnDsygvd(handle, CUSOLVER_EIG_TYPE_1, V, L, 8, a, 8, b, 7, s, work, 4096, info));
  syevjInfo_t eigen;
  gesvdjInfo_t singular;
  cusolverDnCreateSyevjInfo(&eigen);
  cusolverDnCreateGesvdjInfo(&singular);
  TELL(cusolverDnDsyevj_bufferSize(handle, V, L, 8, a, 8, s, &size, eigen));
  TELL(cusolverDnDsyevj_bufferSize(handle, V, L, 8, a, 7, s, &size, eigen));
  TELL_INFO(cusolverDnDsyevj(handle, kNoMode, L, 8, a, 8, s, work, 4096, info, eigen));
  TELL_INFO(cusolverDnDsyevj(handle, V, L, 8, a, 7, s, work, 4096, info, eigen));
  TELL(cusolverDnDgesvdj_bufferSize(handle, V, 0, 8, 8, a, 8, s, u, 8, v, 8, &size, singular));
  TELL(cusolverDnDgesvdj_bufferSize(handle, V, 0, 8, 8, a, 7, s, u, 8, v, 8, &size, singular));
  TELL_INFO(cusolverDnDgesvdj(handle, kNoMode, 0, 8, 8, a, 8, s, u, 8, v, 8, work, 4096, info, singular));
  TELL_INFO(cusolverDnDgesvdj(handle, V, 0, 8, 8, a, 7, s, u, 8, v, 8, work, 4096, info, singular));
  TELL_INFO(cusolverDnDgesvdj(handle, V, 0, 8, 8, a, 8, s, u, 7, v, 8, work, 4096, info, singular));
  TELL_INFO(cusolverDnDgesvdj(handle, V, 0, 8, 8, a, 8, s, u, 8, v, 7, work, 4096, info, singular));
  cusolverDnDestroySyevjInfo(eigen);
  cusolverDnDestroyGesvdjInfo(singular);
}

static void generic() {
  cusolverDnParams_t any;
  cusolverDnCreateParams(&any);
  size_t device = 0, host = 0;
  static char room[1 << 16];
  TELL(cusolverDnXgetrf_bufferSize(handle, any, 8, 8, D, a, 8, D, &device, &host));
  TELL(cusolverDnXgetrf_bufferSize(handle, nullptr, 8, 8, D, a, 8, D, &device, &host));
  TELL(cusolverDnXgetrf_bufferSize(handle, any, 8, 8, D, a, 7, D, &device, &host));
  TELL_INFO(cusolverDnXgetrf(handle, any, 8, 8, D, a, 8, wide, D, work, 32768, room, sizeof room, info));
  TELL_INFO(cusolverDnXgetrf(handle, nullptr, 8, 8, D, a, 8, wide, D, work, 32768, room, sizeof room, info));
  TELL_INFO(cusolverDnXgetrf(handle, any, 8, 8, D, a, 7, wide, D, work, 32768, room, sizeof room, info));
  TELL_INFO(cusolverDnXgetrf(handle, any, 8, 8, D, a, 8, wide, F, work, 32768, room, sizeof room, info));
  TELL_INFO(cusolverDnXgetrf(handle, any, 8, 8, D, a, 8, wide, D, work, 0, room, sizeof room, info));
  TELL_INFO(cusolverDnXgetrs(handle, any, N, 8, 2, D, a, 8, wide, F, b, 8, info));
  TELL_INFO(cusolverDnXgetrs(handle, any, kNone, 8, 2, D, a, 8, wide, D, b, 8, info));
  TELL_INFO(cusolverDnXpotrf(handle, any, L, 8, D, a, 8, D, work, 32768, room, sizeof room, info));
  TELL_INFO(cusolverDnXpotrf(handle, any, kFull, 8, D, a, 8, D, work, 32768, room, sizeof room, info));
  TELL_INFO(cusolverDnXpotrf(handle, any, L, 8, D, a, 8, F, work, 32768, room, sizeof room, info));
  TELL_INFO(cusolverDnXpotrs(handle, any, L, 8, 2, D, a, 8, D, b, 7, info));
  TELL_INFO(cusolverDnXgeqrf(handle, any, 8, 8, D, a, 7, D, work, D, work + 8, 32000, room, sizeof room, info));
  TELL_INFO(cusolverDnXsyevd(handle, any, V, L, 8, D, a, 8, F, b + 64, D, work, 32768, room, sizeof room, info));
  TELL_INFO(cusolverDnXsyevd(handle, any, V, L, 8, D, a, 7, D, b + 64, D, work, 32768, room, sizeof room, info));
  TELL(cusolverDnXgesvd_bufferSize(handle, any, 'A', 'A', 7, 8, D, a, 8, D, b, D, b, 8, D, b, 8, D, &device, &host));
  cusolverDnDestroyParams(any);
}

int main() {
  for (double** array : {&a, &b, &work}) {
    cudaMalloc(array, 4096 * sizeof(double));
    cudaMemset(*array, 0, 4096 * sizeof(double));
  }
  cudaMalloc(&info, 64);
  cudaMalloc(&pivots, 64);
  cudaMalloc(&wide, 64);
  unit();
  const int order[] = {1, 2, 3, 4, 5, 6, 7, 8};
  cudaMemcpy(pivots, order, sizeof order, cudaMemcpyHostToDevice);
  TELL(cusolverDnCreate(&handle));
  handles();
  factors();
  spectra();
  generic();
  TELL(cusolverDnDestroy(handle));
  for (void* memory : {(void*)a, (void*)b, (void*)work, (void*)info, (void*)pivots, (void*)wide}) cudaFree(memory);
}
