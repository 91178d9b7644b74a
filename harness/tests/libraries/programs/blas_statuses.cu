// What cuBLAS returns for unusual arguments, call by call: blas_statuses.h100.txt is what an H100 printed, without the
// lines " ** On entry to SGEMM parameter number 8 had an illegal value". Left out: calls that crash there (level 1 with
// factors at null pointers) or succeed without a result (cublasSgemv with an unknown operation or increments of 0).
#include <cublas_v2.h>

#include <cstdio>

#include "tell.h"

static cublasHandle_t handle;
static float *x, *y, *m;    // device memory of 64 x 64 elements, filled with ones
static double *dx, *dy;     // the same
static cuComplex *cx, *cy;  // the same
static int* number;         // on the device

static const cublasOperation_t N = CUBLAS_OP_N, T = CUBLAS_OP_T, C = CUBLAS_OP_C, kNone = (cublasOperation_t)9;
static const cublasFillMode_t U = CUBLAS_FILL_MODE_UPPER, kFull = CUBLAS_FILL_MODE_FULL;
static const cublasSideMode_t L = CUBLAS_SIDE_LEFT, R = CUBLAS_SIDE_RIGHT;
static const cublasDiagType_t D = CUBLAS_DIAG_NON_UNIT;
static const float one = 1, zero = 0;
static const double done = 1, dzero = 0;
static const cuComplex cone = {1, 0}, czero = {0, 0};

static void handles() {
  int value = -1;
  cublasPointerMode_t pointers;
  cublasAtomicsMode_t atomics;
  cublasMath_t math;
  cudaStream_t stream;
  TELL(cublasCreate(nullptr));
  TELL(cublasDestroy(nullptr));
  TELL(cublasGetVersion(handle, nullptr));
  TELL_VALUE(cublasGetVersion(handle, &value), value / 10000);
  TELL_VALUE(cublasGetVersion(nullptr, &value), value / 10000);
  TELL_VALUE(cublasGetProperty(MAJOR_VERSION, &value), value);
  TELL_VALUE(cublasGetProperty((libraryPropertyType)7, &value), value);
  TELL(cublasGetProperty(MAJOR_VERSION, nullptr));
  TELL_VALUE(cublasGetPointerMode(handle, &pointers), pointers);
  TELL(cublasGetPointerMode(handle, nullptr));
  TELL(cublasSetPointerMode(handle, (cublasPointerMode_t)5));
  TELL_VALUE(cublasGetAtomicsMode(handle, &atomics), atomics);
  TELL(cublasSetAtomicsMode(handle, (cublasAtomicsMode_t)5));
  TELL(cublasGetAtomicsMode(handle, nullptr));
  TELL_VALUE(cublasGetMathMode(handle, &math), math);
  TELL(cublasSetMathMode(handle, (cublasMath_t)77));
  TELL(cublasSetMathMode(handle, CUBLAS_TENSOR_OP_MATH));
  TELL_VALUE(cublasGetMathMode(handle, &math), math);
  TELL(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
  TELL(cublasGetMathMode(handle, nullptr));
  TELL_VALUE(cublasGetStream(handle, &stream), stream != nullptr);
  TELL(cublasGetStream(handle, nullptr));
  TELL(cublasSetStream(nullptr, nullptr));
  TELL_VALUE(cublasGetSmCountTarget(handle, &value), value);
  TELL(cublasSetSmCountTarget(handle, -1));
  TELL(cublasSetSmCountTarget(handle, 100000));
  TELL(cublasSetSmCountTarget(handle, 2));
  TELL_VALUE(cublasGetSmCountTarget(handle, &value), value);
  TELL(cublasSetSmCountTarget(handle, 0));
  TELL(cublasSetWorkspace(handle, nullptr, 0));
  TELL(cublasSetWorkspace(handle, x + 1, 4096));
  TELL(cublasSetWorkspace(handle, m, 16384));
  TELL(cublasLoggerConfigure(0, 0, 0, nullptr));
  TELL(cublasSetLoggerCallback(nullptr));
  TELL_VALUE(cublasGetCudartVersion() / 1000, 0);
  for (int status = 0; status <= 17; ++status) {
    std::printf("%d %s: %s\n", status, cublasGetStatusName((cublasStatus_t)status),
                cublasGetStatusString((cublasStatus_t)status));
  }
}

static void vectors() {
  float host[8] = {}, back[8] = {};
  TELL(cublasSetVector(-1, 4, host, 1, x, 1));
  TELL(cublasSetVector(0, 4, host, 1, x, 1));
  TELL(cublasSetVector(2, 0, host, 1, x, 1));
  TELL(cublasSetVector(2, 4, host, 0, x, 1));
  TELL(cublasSetVector(2, 4, host, -1, x, 1));
  TELL(cublasSetVector(2, 4, nullptr, 1, x, 1));
  TELL(cublasGetVector(2, 4, y, 1, back, 0));
  TELL(cublasGetVector(2, 4, y, 1, nullptr, 1));
  TELL(cublasSetMatrix(-1, 2, 4, host, 2, x, 2));
  TELL(cublasSetMatrix(2, 2, 0, host, 2, x, 2));
  TELL(cublasSetMatrix(2, 2, 4, host, 1, x, 2));
  TELL(cublasSetMatrix(2, 2, 4, host, 2, x, 0));
  TELL(cublasSetMatrix(0, 2, 4, host, 2, x, 2));
  TELL(cublasGetMatrix(2, 2, 4, y, 2, back, 1));
}

static void level1() {
  float value = -1;
  double dvalue = -1;
  cuComplex cvalue = {-1, -1};
  int index = -7;
  TELL(cublasSaxpy(nullptr, 4, &one, x, 1, y, 1));
  TELL(cublasSaxpy(handle, 0, &one, x, 1, y, 1));
  TELL(cublasSaxpy(handle, -1, &one, x, 1, y, 1));
  TELL(cublasSaxpy(handle, 4, &zero, nullptr, 1, nullptr, 1));
  TELL(cublasSaxpy(handle, 0, nullptr, x, 1, y, 1));
  TELL(cublasScopy(handle, -1, x, 1, y, 1));
  TELL(cublasScopy(handle, 4, x, 0, y, 1));
  TELL(cublasSswap(handle, -1, x, 1, y, 1));
  TELL(cublasSscal(handle, -1, &one, x, 1));
  TELL(cublasSscal(handle, 4, &one, x, 0));
  TELL(cublasSscal(handle, 4, &one, x, -1));
  TELL_VALUE(cublasSdot(handle, 0, x, 1, y, 1, &value), value);
  TELL_VALUE(cublasSdot(handle, -1, x, 1, y, 1, &value), value);
  TELL_VALUE(cublasSdot(handle, 4, x, 1, y, -1, &value), value);
  TELL(cublasSdot(handle, 4, x, 1, y, 1, nullptr));
  value = -1;
  TELL_VALUE(cublasSnrm2(handle, 0, x, 1, &value), value);
  value = -1;
  TELL_VALUE(cublasSnrm2(handle, 4, x, 0, &value), value);
  value = -1;
  TELL_VALUE(cublasSnrm2(handle, 4, x, -1, &value), value);
  value = -1;
  TELL_VALUE(cublasSasum(handle, 4, x, 0, &value), value);
  TELL_VALUE(cublasSasum(handle, 4, x, -2, &value), value);
  TELL_VALUE(cublasDnrm2(handle, 4, dx, 1, &dvalue), dvalue);
  TELL_VALUE(cublasScnrm2(handle, 4, cx, 1, &value), value);
  TELL_VALUE(cublasScasum(handle, 4, cx, 1, &value), value);
  TELL_VALUE(cublasCdotc(handle, 0, cx, 1, cy, 1, &cvalue), cvalue.x);
  TELL_VALUE(cublasIsamax(handle, 0, x, 1, &index), index);
  index = -7;
  TELL_VALUE(cublasIsamax(handle, 4, x, 0, &index), index);
  index = -7;
  TELL_VALUE(cublasIsamax(handle, 4, x, -1, &index), index);
  TELL_VALUE(cublasIsamax(handle, 4, x, 1, &index), index);
  TELL_VALUE(cublasIsamin(handle, 4, x, 1, &index), index);
  TELL(cublasIsamax(handle, 4, x, 1, nullptr));
  TELL(cublasSrot(handle, -1, x, 1, y, 1, &one, &zero));
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  TELL(cublasIsamax(handle, 4, x, 1, number));
  TELL(cublasSdot(handle, 0, x, 1, y, 1, m));
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
}

static void level2() {
  TELL(cublasSgemv(handle, N, -1, 4, &one, m, 4, x, 1, &zero, y, 1));
  TELL(cublasSgemv(handle, N, 0, 4, &one, m, 4, x, 1, &zero, y, 1));
  TELL(cublasSgemv(handle, N, 4, 0, &one, m, 4, x, 1, &zero, y, 1));
  TELL(cublasSgemv(handle, N, 4, 4, &one, m, 3, x, 1, &zero, y, 1));
  TELL(cublasSgemv(handle, C, 4, 4, &one, m, 4, x, -1, &zero, y, 1));
  TELL(cublasSgemv(handle, CUBLAS_OP_CONJG, 4, 4, &one, m, 4, x, 1, &zero, y, 1));
  TELL(cublasSgemv(handle, N, 4, 4, &one, nullptr, 4, x, 1, &zero, y, 1));
  TELL(cublasSgbmv(handle, N, 4, 4, 1, 1, &one, m, 2, x, 1, &zero, y, 1));
  TELL(cublasSgbmv(handle, N, 4, 4, -1, 1, &one, m, 3, x, 1, &zero, y, 1));
  TELL(cublasStrmv(handle, kFull, N, D, 4, m, 4, x, 1));
  TELL(cublasStrmv(handle, U, N, D, 4, m, 3, x, 1));
  TELL(cublasStrmv(handle, U, N, D, 0, m, 0, x, 1));
  TELL(cublasStrmv(handle, U, N, D, 4, m, 4, x, 0));
  TELL(cublasStrsv(handle, U, kNone, D, 4, m, 4, x, 1));
  TELL(cublasStbmv(handle, U, N, D, 4, 2, m, 2, x, 1));
  TELL(cublasStpsv(handle, U, N, D, -2, m, x, 1));
  TELL(cublasSsymv(handle, U, 4, &one, m, 3, x, 1, &zero, y, 1));
  TELL(cublasSsymv(handle, kFull, 4, &one, m, 4, x, 1, &zero, y, 1));
  TELL(cublasSsbmv(handle, U, 4, 2, &one, m, 2, x, 1, &zero, y, 1));
  TELL(cublasSspmv(handle, U, -4, &one, m, x, 1, &zero, y, 1));
  TELL(cublasSger(handle, 4, 4, &one, x, 1, y, 1, m, 3));
  TELL(cublasSger(handle, 4, -4, &one, x, 1, y, 1, m, 4));
  TELL(cublasSger(handle, 4, 4, &one, x, 0, y, 1, m, 4));
  TELL(cublasSsyr(handle, U, 4, &one, x, 1, m, 3));
  TELL(cublasSsyr2(handle, U, 4, &one, x, 1, y, 0, m, 4));
  TELL(cublasSspr(handle, kFull, 4, &one, x, 1, m));
  TELL(cublasChemv(handle, U, 4, &cone, cx, 3, cy, 1, &czero, cy + 64, 1));
}

static void level3() {
  TELL(cublasSgemm(handle, N, N, 4, 4, 4, &one, m, 3, x, 4, &zero, y, 4));
  TELL(cublasSgemm(handle, T, N, 4, 4, 5, &one, m, 4, x, 5, &zero, y, 4));
  TELL(cublasSgemm(handle, N, N, 4, 4, 4, &one, m, 4, x, 4, &zero, y, 3));
  TELL(cublasSgemm(handle, N, N, -4, 4, 4, &one, m, 4, x, 4, &zero, y, 4));
  TELL(cublasSgemm(handle, N, N, 0, 4, 4, &one, m, 0, x, 4, &zero, y, 0));
  TELL(cublasSgemm(handle, N, N, 0, 4, 4, &one, m, 1, x, 4, &zero, y, 1));
  TELL(cublasSgemm(handle, N, N, 4, 4, 0, &one, nullptr, 4, nullptr, 1, &zero, y, 4));
  TELL(cublasSgemm(handle, kNone, N, 4, 4, 4, &one, m, 4, x, 4, &zero, y, 4));
  TELL(cublasSgemm(handle, N, N, 4, 4, 4, nullptr, m, 4, x, 4, &zero, y, 4));
  TELL(cublasSgemm(handle, N, N, 4, 4, 4, &one, m, 4, x, 4, nullptr, y, 4));
  TELL(cublasSgemm(handle, N, N, 4, 4, 4, &zero, nullptr, 4, nullptr, 4, &zero, y, 4));
  TELL(cublasSgemm(handle, N, N, 4, 4, 4, &one, m, 4, nullptr, 4, &zero, y, 4));
  TELL(cublasSgemmStridedBatched(handle, N, N, 4, 4, 4, &one, m, 4, 0, x, 4, 16, &zero, y, 4, 16, -1));
  TELL(cublasSgemmStridedBatched(handle, N, N, 4, 4, 4, &one, m, 4, 0, x, 4, 16, &zero, y, 4, 16, 0));
  TELL(cublasSgemmStridedBatched(handle, N, N, 4, 4, 4, &one, m, 4, 0, x, 4, 16, &zero, y, 4, 4, 2));
  TELL(cublasSgemmBatched(handle, N, N, 4, 4, 4, &one, nullptr, 4, nullptr, 4, &zero, nullptr, 4, 0));
  TELL(cublasSgemmBatched(handle, N, N, 4, 4, 4, &one, nullptr, 4, nullptr, 4, &zero, nullptr, 4, -1));
  TELL(cublasSsymm(handle, L, U, 4, 4, &one, m, 3, x, 4, &zero, y, 4));
  TELL(cublasSsymm(handle, L, kFull, 4, 4, &one, m, 4, x, 4, &zero, y, 4));
  TELL(cublasSsyrk(handle, U, N, 4, 4, &one, m, 3, &zero, y, 4));
  TELL(cublasSsyrk(handle, U, N, 4, -4, &one, m, 4, &zero, y, 4));
  TELL(cublasCherk(handle, U, T, 4, 4, &one, cx, 4, &zero, cy, 4));
  TELL(cublasCsyrk(handle, U, C, 4, 4, &cone, cx, 4, &czero, cy, 4));
  TELL(cublasCher2k(handle, U, T, 4, 4, &cone, cx, 4, cx, 4, &zero, cy, 4));
  TELL(cublasSsyr2k(handle, U, N, 4, 4, &one, m, 4, x, 3, &zero, y, 4));
  TELL(cublasStrmm(handle, L, U, N, D, 4, 4, &one, m, 3, x, 4, y, 4));
  TELL(cublasStrmm(handle, L, U, N, D, 4, 4, &one, m, 4, x, 4, x, 4));
  TELL(cublasStrmm(handle, (cublasSideMode_t)7, U, N, D, 4, 4, &one, m, 4, x, 4, y, 4));
  TELL(cublasStrsm(handle, R, U, N, D, 4, 4, &one, m, 4, x, 3));
  TELL(cublasStrsm(handle, R, U, N, D, 4, 0, &one, m, 4, x, 4));
  TELL(cublasStrsm(handle, R, U, N, (cublasDiagType_t)3, 4, 4, &one, m, 4, x, 4));
  TELL(cublasSgeam(handle, N, N, 4, 4, &one, m, 4, &zero, nullptr, 4, y, 4));
  TELL(cublasSgeam(handle, N, N, 4, 4, &one, m, 4, &one, y, 5, y, 4));
  TELL(cublasSgeam(handle, T, N, 4, 4, &one, y, 4, &one, x, 4, y, 4));
  TELL(cublasSgeam(handle, N, N, 4, 4, &one, m, 3, &one, x, 4, y, 4));
  TELL(cublasSdgmm(handle, L, 4, 4, m, 3, x, 1, y, 4));
  TELL(cublasSdgmm(handle, L, 4, 4, m, 4, x, 0, y, 4));
  TELL(cublasSgetrfBatched(handle, -1, nullptr, 4, nullptr, number, 1));
  TELL(cublasSgetrfBatched(handle, 4, nullptr, 3, nullptr, number, 1));
  TELL(cublasSgetrfBatched(handle, 4, nullptr, 4, nullptr, number, 0));
  TELL(cublasSmatinvBatched(handle, 33, nullptr, 33, nullptr, 33, number, 1));
}

static void extended() {
  const cudaDataType H = CUDA_R_16F, F = CUDA_R_32F, I8 = CUDA_R_8I, I32 = CUDA_R_32I, B = CUDA_R_16BF,
                     F64 = CUDA_R_64F;
  const cublasGemmAlgo_t A = CUBLAS_GEMM_DEFAULT;
  const int ione = 1, izero = 0;
#define GEMM(alpha, ta, tb, tc, beta, compute) \
  cublasGemmEx(handle, N, N, 4, 4, 4, alpha, m, ta, 4, x, tb, 4, beta, y, tc, 4, compute, A)
  TELL(GEMM(&one, F, F, F, &zero, CUBLAS_COMPUTE_32F));
  TELL(GEMM(&one, F, F, F, &zero, CUBLAS_COMPUTE_32F_PEDANTIC));
  TELL(GEMM(&one, F, F, F, &zero, CUBLAS_COMPUTE_32F_FAST_TF32));
  TELL(GEMM(&one, F, F, F, &zero, CUBLAS_COMPUTE_32F_FAST_16F));
  TELL(GEMM(&one, F, F, F, &zero, CUBLAS_COMPUTE_32F_FAST_16BF));
  TELL(GEMM(&one, F, F, F, &zero, CUBLAS_COMPUTE_64F));
  TELL(GEMM(&one, F, F, F, &zero, CUBLAS_COMPUTE_16F));
  TELL(GEMM(&one, H, H, H, &zero, CUBLAS_COMPUTE_32F));
  TELL(GEMM(&one, H, H, F, &zero, CUBLAS_COMPUTE_32F));
  TELL(GEMM(&one, H, H, H, &zero, CUBLAS_COMPUTE_16F));
  TELL(GEMM(&one, H, H, F, &zero, CUBLAS_COMPUTE_16F));
  TELL(GEMM(&one, B, B, B, &zero, CUBLAS_COMPUTE_32F));
  TELL(GEMM(&one, B, B, F, &zero, CUBLAS_COMPUTE_32F));
  TELL(GEMM(&one, B, H, F, &zero, CUBLAS_COMPUTE_32F));
  TELL(GEMM(&one, I8, I8, F, &zero, CUBLAS_COMPUTE_32F));
  TELL(GEMM(&ione, I8, I8, I32, &izero, CUBLAS_COMPUTE_32I));
  TELL(GEMM(&ione, I8, I8, I8, &izero, CUBLAS_COMPUTE_32I));
  TELL(GEMM(&done, F64, F64, F64, &dzero, CUBLAS_COMPUTE_64F));
  TELL(GEMM(&done, F64, F64, F64, &dzero, CUBLAS_COMPUTE_32F));
  TELL(GEMM(&cone, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, &czero, CUBLAS_COMPUTE_32F));
  TELL(GEMM(&cone, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, &czero, CUBLAS_COMPUTE_32F_FAST_TF32));
  TELL(cublasGemmEx(handle, N, N, 4, 4, 4, &one, m, F, 4, x, F, 4, &zero, y, F, 4, CUBLAS_COMPUTE_32F,
                    (cublasGemmAlgo_t)77));
  TELL(cublasGemmEx(handle, N, N, 4, 4, 4, &one, m, F, 3, x, F, 4, &zero, y, F, 4, CUBLAS_COMPUTE_32F, A));
  TELL(cublasGemmEx(handle, N, N, 4, 4, 3, &ione, m, I8, 4, x, I8, 3, &izero, y, I32, 4, CUBLAS_COMPUTE_32I, A));
  TELL(cublasGemmEx(handle, N, N, 4, 4, 4, &ione, (char*)m + 1, I8, 5, x, I8, 4, &izero, y, I32, 4, CUBLAS_COMPUTE_32I,
                    A));
  TELL(cublasGemmEx(handle, N, N, 3, 3, 3, &one, (char*)m + 2, H, 3, x, H, 3, &zero, y, H, 3, CUBLAS_COMPUTE_32F, A));
  float value = -1;
  TELL(cublasScalEx(handle, 4, &one, F, x, F, 1, F));
  TELL(cublasScalEx(handle, 4, &one, F, x, H, 1, F));
  TELL(cublasScalEx(handle, 4, &one, F, x, H, 1, H));
  TELL(cublasScalEx(handle, 4, &one, F, x, B, 1, F));
  TELL(cublasScalEx(handle, 4, &one, F, x, F64, 1, F));
  TELL(cublasAxpyEx(handle, 4, &one, F, x, F, 1, y, F, 1, F));
  TELL(cublasAxpyEx(handle, 4, &one, F, x, H, 1, y, H, 1, F));
  TELL(cublasAxpyEx(handle, 4, &one, F, x, H, 1, y, F, 1, F));
  TELL(cublasDotEx(handle, 4, x, F, 1, y, F, 1, &value, F, F));
  TELL(cublasDotEx(handle, 4, x, H, 1, y, H, 1, &value, H, F));
  TELL(cublasDotEx(handle, 4, x, H, 1, y, H, 1, &value, F, F));
  TELL(cublasDotEx(handle, 4, x, B, 1, y, B, 1, &value, B, F));
  TELL(cublasNrm2Ex(handle, 4, x, F, 1, &value, F, F));
  TELL(cublasNrm2Ex(handle, 4, x, H, 1, &value, H, F));
  TELL(cublasNrm2Ex(handle, 4, x, H, 1, &value, F, F));
  TELL(cublasNrm2Ex(handle, 4, x, F, 1, &value, F64, F64));
}

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  for (float** vector : {&x, &y, &m}) {
    cudaMalloc(vector, 4096 * sizeof(float));
    cudaMemset(*vector, 0, 4096 * sizeof(float));
  }
  for (double** vector : {&dx, &dy}) {
    cudaMalloc(vector, 4096 * sizeof(double));
    cudaMemset(*vector, 0, 4096 * sizeof(double));
  }
  for (cuComplex** vector : {&cx, &cy}) {
    cudaMalloc(vector, 4096 * sizeof(cuComplex));
    cudaMemset(*vector, 0, 4096 * sizeof(cuComplex));
  }
  cudaMalloc(&number, 256 * sizeof(int));
  cudaMemset(number, 0, 256 * sizeof(int));
  std::printf("cublasCreate = %d\n", cublasCreate(&handle));
  handles();
  vectors();
  level1();
  level2();
  level3();
  extended();
  std::printf("cublasDestroy = %d\n", cublasDestroy(handle));
}
