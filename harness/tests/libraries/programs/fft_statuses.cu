// What cuFFT returns for invalid and unusual arguments; fft_statuses.h100.txt is what an H100 printed. Left out: data
// pointers that are null or to host memory (the H100's kernel faults); second and third dimensions of 0 or less (they
// succeed or give an internal error); sizes that exceed any memory.
#include <cufftXt.h>

#include <cstdio>

#include "tell.h"

static float* memory;  // on the device: 1 MiB of zeros
static cufftHandle plan = CUFFT_PLAN_NULL;
static size_t work = 77;

// For calls that create a plan, which is destroyed after the call.
#define TELL_NEW(call)                                                                                  \
  do {                                                                                                  \
    plan = -7;                                                                                          \
    const int told = static_cast<int>(call);                                                            \
    std::printf("%s = %d, plan %s\n", #call, told, plan == -7 ? "as before" : plan == 0 ? "0" : "set"); \
    if (told == 0) cufftDestroy(plan);                                                                  \
  } while (false)
#define TELL_MADE(call)                      \
  do {                                       \
    cufftCreate(&plan);                      \
    const int told = static_cast<int>(call); \
    std::printf("%s = %d\n", #call, told);   \
    cufftDestroy(plan);                      \
  } while (false)

static const cufftType kNoType = static_cast<cufftType>(0x33);
static const int F = CUFFT_FORWARD, I = CUFFT_INVERSE;
static int sizes[4] = {4, 6, 8, 10}, no_size[1] = {0};
static int small[3] = {3, 5, 7}, large[3] = {5, 7, 9}, none[3] = {0, 0, 0};
static long long sizes64[4] = {4, 6, 8, 10}, large64[3] = {5, 7, 9}, none64[3] = {0, 0, 0};

static cufftComplex* c(size_t at = 0) { return reinterpret_cast<cufftComplex*>(memory + at); }
static cufftDoubleComplex* z() { return reinterpret_cast<cufftDoubleComplex*>(memory); }
static double* d() { return reinterpret_cast<double*>(memory); }

static void library() {
  int value = -1;
  TELL_VALUE(cufftGetVersion(&value), value / 1000);
  TELL_VALUE(cufftGetProperty(MAJOR_VERSION, &value), value);
  TELL_VALUE(cufftGetProperty((libraryPropertyType)7, &value), value);
  TELL(cufftGetProperty(MAJOR_VERSION, nullptr));
  TELL(cufftGetVersion(nullptr));
  TELL(cufftCreate(nullptr));
  TELL(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1));
}

static void plans() {
  TELL_NEW(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  TELL_NEW(cufftPlan1d(&plan, 0, CUFFT_C2C, 1));
  TELL_NEW(cufftPlan1d(&plan, -8, CUFFT_C2C, 1));
  TELL_NEW(cufftPlan1d(&plan, 8, CUFFT_C2C, 0));
  TELL_NEW(cufftPlan1d(&plan, 8, CUFFT_C2C, -1));
  TELL_NEW(cufftPlan1d(&plan, 8, kNoType, 1));
  TELL_NEW(cufftPlan1d(&plan, 0, kNoType, 1));
  TELL_NEW(cufftPlan1d(&plan, 8, kNoType, 0));
  TELL_NEW(cufftPlan1d(&plan, 0, CUFFT_C2C, 0));
  TELL_NEW(cufftPlan1d(&plan, 1, CUFFT_R2C, 1));
  TELL_NEW(cufftPlan2d(&plan, 8, 4, CUFFT_R2C));
  TELL_NEW(cufftPlan2d(&plan, 0, 4, CUFFT_R2C));
  TELL_NEW(cufftPlan2d(&plan, 4, 4, kNoType));
  TELL_NEW(cufftPlan3d(&plan, 4, 4, 4, CUFFT_Z2D));
  TELL_NEW(cufftPlan3d(&plan, 0, 4, 4, CUFFT_Z2D));
  TELL_NEW(cufftPlan3d(&plan, 4, 4, 4, kNoType));
}

static void many() {
#define MANY(rank, n, in, is, id, out, os, od, type, batch) \
  TELL_NEW(cufftPlanMany(&plan, rank, n, in, is, id, out, os, od, type, batch))
  MANY(1, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1);
  MANY(0, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1);
  MANY(4, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1);
  MANY(-1, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1);
  MANY(1, nullptr, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1);
  MANY(1, no_size, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1);
  MANY(2, sizes, nullptr, 0, 0, nullptr, 0, 0, CUFFT_C2C, 1);
  MANY(2, sizes, nullptr, -1, -1, nullptr, -1, -1, CUFFT_C2C, 2);
  MANY(2, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 0);
  MANY(2, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, -1);
  MANY(2, sizes, nullptr, 1, 0, nullptr, 1, 0, kNoType, 1);
  MANY(2, sizes, large, 1, 35, large, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, small, 1, 35, large, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, large, 1, 35, small, 1, 35, CUFFT_C2C, 2);
  MANY(1, sizes, small, 1, 35, small, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, none, 1, 35, large, 1, 35, CUFFT_C2C, 2);
  MANY(1, sizes, none, 1, 35, none, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, large, 0, 35, large, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, large, 1, 35, large, 0, 35, CUFFT_C2C, 2);
  MANY(2, sizes, large, -1, 35, large, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, large, 1, 35, large, -1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, large, 1, 0, large, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, large, 1, 35, large, 1, 0, CUFFT_C2C, 2);
  MANY(2, sizes, large, 1, 0, large, 1, 0, CUFFT_C2C, 1);
  MANY(2, sizes, large, 1, -35, large, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, large, 1, 1, large, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, large, 1, 35, large, 1, 1, CUFFT_C2C, 2);
  MANY(2, sizes, large, 1, 35, nullptr, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, nullptr, 1, 35, large, 1, 35, CUFFT_C2C, 2);
  MANY(2, sizes, nullptr, 0, 35, large, 0, 35, CUFFT_C2C, 2);
#undef MANY
  TELL_MADE(cufftMakePlanMany64(plan, 1, sizes64, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftMakePlanMany64(plan, 0, sizes64, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftMakePlanMany64(plan, 4, sizes64, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftMakePlanMany64(plan, 1, none64, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftMakePlanMany64(plan, 2, sizes64, large64, 1, 35, large64, 1, 35, CUFFT_C2C, 2, &work));
  TELL_MADE(cufftMakePlanMany64(plan, 2, sizes64, large64, 0, 35, large64, 1, 35, CUFFT_C2C, 2, &work));
  TELL_MADE(cufftMakePlanMany64(plan, 1, sizes64, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 0, &work));
  TELL_MADE(cufftMakePlanMany64(plan, 1, sizes64, nullptr, 1, 0, nullptr, 1, 0, kNoType, 1, &work));
}

static void made() {
  TELL(cufftMakePlan1d(12345, 8, CUFFT_C2C, 1, &work));
  TELL(cufftMakePlan1d(-1, 8, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftMakePlan1d(plan, 0, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftMakePlan1d(plan, 8, CUFFT_C2C, 0, &work));
  TELL_MADE(cufftMakePlan1d(plan, 8, kNoType, 1, &work));
  TELL_MADE(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, nullptr));
  TELL_MADE(cufftMakePlan1d(plan, 0, CUFFT_C2C, 1, nullptr));
  TELL_MADE(cufftMakePlan2d(plan, 8, 8, CUFFT_C2C, &work));
  TELL_MADE(cufftMakePlan2d(plan, 8, 8, kNoType, &work));
  TELL_MADE(cufftMakePlan3d(plan, 8, 8, 8, CUFFT_D2Z, &work));
  TELL_MADE(cufftMakePlanMany(plan, 1, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftMakePlanMany(plan, 5, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  // A plan that is used before it is made, and one that is made twice.
  cufftCreate(&plan);
  TELL(cufftGetSize(plan, &work));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftSetStream(plan, nullptr));
  TELL(cufftSetAutoAllocation(plan, 1));
  TELL(cufftMakePlan1d(plan, 0, CUFFT_C2C, 1, &work));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &work));
  TELL(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &work));
  TELL(cufftMakePlan1d(plan, 16, CUFFT_C2C, 1, &work));
  TELL(cufftMakePlan2d(plan, 8, 8, CUFFT_R2C, &work));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftSetAutoAllocation(plan, 0));
  TELL(cufftDestroy(plan));
  // The simple functions make their plans, so these can't be made again.
  TELL(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  TELL(cufftMakePlan1d(plan, 16, CUFFT_C2C, 1, &work));
  TELL(cufftDestroy(plan));
}

static void xt() {
#define XT(in, out, execution) \
  TELL_MADE(cufftXtMakePlanMany(plan, 1, sizes64, nullptr, 1, 0, in, nullptr, 1, 0, out, 1, &work, execution))
  XT(CUDA_C_32F, CUDA_C_32F, CUDA_C_32F);
  XT(CUDA_R_32F, CUDA_C_32F, CUDA_C_32F);
  XT(CUDA_C_32F, CUDA_R_32F, CUDA_C_32F);
  XT(CUDA_R_64F, CUDA_C_64F, CUDA_C_64F);
  XT(CUDA_R_32F, CUDA_R_32F, CUDA_C_32F);
  XT(CUDA_C_32F, CUDA_C_64F, CUDA_C_64F);
  XT(CUDA_C_32F, CUDA_C_32F, CUDA_C_64F);
  XT(CUDA_R_32F, CUDA_C_32F, CUDA_R_32F);
  XT(CUDA_R_32I, CUDA_C_32F, CUDA_C_32F);
  XT(CUDA_C_32F, CUDA_R_32F, CUDA_R_32F);
  XT(CUDA_C_32F, CUDA_C_32F, CUDA_R_32F);
  XT(CUDA_R_64F, CUDA_C_64F, CUDA_R_64F);
  XT(CUDA_C_64F, CUDA_C_64F, CUDA_R_64F);
  XT(CUDA_R_64F, CUDA_C_64F, CUDA_R_32F);
#undef XT
}

static void executions() {
  cufftHandle c2c, r2c, c2r, z2z, d2z, z2d;
  cufftPlan1d(&c2c, 8, CUFFT_C2C, 1);
  cufftPlan1d(&r2c, 8, CUFFT_R2C, 1);
  cufftPlan1d(&c2r, 8, CUFFT_C2R, 1);
  cufftPlan1d(&z2z, 8, CUFFT_Z2Z, 1);
  cufftPlan1d(&d2z, 8, CUFFT_D2Z, 1);
  cufftPlan1d(&z2d, 8, CUFFT_Z2D, 1);
  TELL(cufftExecC2C(c2c, c(), c(), F));
  TELL(cufftExecC2C(c2c, c(), c(64), I));
  TELL(cufftExecC2C(c2c, c(), c(), 0));
  TELL(cufftExecC2C(c2c, c(), c(), 5));
  // Data that is aligned to a real number, but not to two of them.
  TELL(cufftExecC2C(c2c, c(1), c(64), F));
  TELL(cufftExecC2C(c2c, c(64), c(1), F));
  TELL(cufftExecZ2Z(z2z, reinterpret_cast<cufftDoubleComplex*>(memory + 2), z(), F));
  TELL(cufftExecC2R(c2r, c(64), memory + 1));
  TELL(cufftExecC2C(c2c, c(1), c(64), 0));
  TELL(cufftExecC2C(12345, c(), c(), F));
  TELL(cufftExecC2C(-1, c(), c(), F));
  TELL(cufftExecC2C(12345, nullptr, c(), 0));
  TELL(cufftExecR2C(c2c, memory, c(64)));
  TELL(cufftExecC2R(c2c, c(64), memory));
  TELL(cufftExecZ2Z(c2c, z(), z(), F));
  TELL(cufftExecD2Z(c2c, d(), z()));
  TELL(cufftExecZ2D(c2c, z(), d()));
  TELL(cufftExecR2C(r2c, memory, c(64)));
  TELL(cufftExecR2C(r2c, memory, c()));
  TELL(cufftExecC2R(r2c, c(64), memory));
  TELL(cufftExecC2C(r2c, c(64), c(), F));
  TELL(cufftExecD2Z(r2c, d(), z()));
  TELL(cufftExecR2C(r2c, memory + 1, c(64)));
  TELL(cufftExecR2C(r2c, memory, c(65)));
  TELL(cufftExecC2R(c2r, c(64), memory));
  TELL(cufftExecR2C(c2r, memory, c(64)));
  TELL(cufftExecC2C(c2r, c(64), c(), F));
  TELL(cufftExecC2C(c2r, c(64), c(), I));
  TELL(cufftExecZ2Z(z2z, z(), z(), F));
  TELL(cufftExecZ2Z(z2z, z(), z(), 3));
  TELL(cufftExecC2C(z2z, c(), c(), F));
  TELL(cufftExecD2Z(d2z, d(), z()));
  TELL(cufftExecR2C(d2z, memory, c(64)));
  TELL(cufftExecZ2D(z2d, z(), d()));
  TELL(cufftExecC2R(z2d, c(64), memory));
  TELL(cufftXtExec(c2c, memory, memory, F));
  TELL(cufftXtExec(c2c, memory, memory, 4));
  TELL(cufftXtExec(r2c, memory, c(64), F));
  TELL(cufftXtExec(r2c, memory, c(64), I));
  TELL(cufftXtExec(r2c, memory, c(64), 0));
  TELL(cufftXtExec(c2r, c(64), memory, I));
  TELL(cufftXtExec(c2r, c(64), memory, F));
  TELL(cufftXtExec(12345, memory, memory, F));
  TELL(cufftDestroy(c2c));
  TELL(cufftDestroy(c2c));
  TELL(cufftExecC2C(c2c, c(), c(), F));
  TELL(cufftSetStream(c2c, nullptr));
  TELL(cufftGetSize(c2c, &work));
  TELL(cufftDestroy(12345));
  TELL(cufftDestroy(CUFFT_PLAN_NULL));
  for (const cufftHandle other : {r2c, c2r, z2z, d2z, z2d}) cufftDestroy(other);
}

static void work_areas() {
  TELL(cufftEstimate1d(8, CUFFT_C2C, 1, &work));
  TELL(cufftEstimate1d(0, CUFFT_C2C, 1, &work));
  TELL(cufftEstimate1d(8, CUFFT_C2C, 0, &work));
  TELL(cufftEstimate1d(8, kNoType, 1, &work));
  TELL(cufftEstimate1d(8, CUFFT_C2C, 1, nullptr));
  TELL(cufftEstimate2d(8, 8, CUFFT_C2C, &work));
  TELL(cufftEstimate2d(0, 8, CUFFT_C2C, &work));
  TELL(cufftEstimate3d(8, 8, 8, CUFFT_C2C, &work));
  TELL(cufftEstimateMany(1, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  TELL(cufftEstimateMany(7, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftGetSize1d(plan, 8, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftGetSize1d(plan, 0, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftGetSize1d(plan, 8, CUFFT_C2C, 0, &work));
  TELL_MADE(cufftGetSize1d(plan, 8, kNoType, 1, &work));
  TELL_MADE(cufftGetSize2d(plan, 8, 8, CUFFT_C2C, &work));
  TELL_MADE(cufftGetSize3d(plan, 8, 8, 8, CUFFT_C2C, &work));
  TELL_MADE(cufftGetSizeMany(plan, 1, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftGetSizeMany(plan, 4, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  TELL_MADE(cufftGetSizeMany64(plan, 1, sizes64, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &work));
  TELL(cufftGetSize1d(12345, 8, CUFFT_C2C, 1, &work));
  TELL(cufftGetSize(12345, &work));
  TELL(cufftSetWorkArea(12345, memory));
  TELL(cufftSetAutoAllocation(12345, 0));
  TELL(cufftSetStream(12345, nullptr));
  TELL(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  TELL(cufftGetSize(plan, &work));
  TELL(cufftGetSize1d(plan, 16, CUFFT_C2C, 1, &work));
  TELL(cufftSetWorkArea(plan, memory + 1024));
  TELL(cufftSetWorkArea(plan, nullptr));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftSetAutoAllocation(plan, 0));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftDestroy(plan));
  // 10007 needs a work area.
  TELL(cufftCreate(&plan));
  TELL(cufftSetAutoAllocation(plan, 0));
  TELL(cufftMakePlan1d(plan, 10007, CUFFT_C2C, 1, &work));
  std::printf("a work area is needed: %d\n", work > 0);
  TELL(cufftExecC2C(plan, c(), c(), F));
  void* area;
  cudaMalloc(&area, work);
  TELL(cufftSetWorkArea(plan, area));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftSetWorkArea(plan, nullptr));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftSetAutoAllocation(plan, 1));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftDestroy(plan));
  TELL(cufftPlan1d(&plan, 10007, CUFFT_C2C, 1));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftSetWorkArea(plan, nullptr));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftSetWorkArea(plan, area));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftSetAutoAllocation(plan, 0));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftDestroy(plan));
  TELL(cufftCreate(&plan));
  TELL(cufftSetWorkArea(plan, area));
  TELL(cufftMakePlan1d(plan, 10007, CUFFT_C2C, 1, &work));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftXtSetWorkArea(plan, &area));
  TELL(cufftXtSetWorkArea(12345, &area));
  TELL(cufftDestroy(plan));
  cudaFree(area);
}

static void properties() {
  long long value = -1;
  const cufftProperty patient = NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, none = static_cast<cufftProperty>(9);
  TELL(cufftCreate(&plan));
  TELL_VALUE(cufftGetPlanPropertyInt64(plan, patient, &value), value);
  TELL(cufftGetPlanPropertyInt64(plan, patient, nullptr));
  TELL(cufftGetPlanPropertyInt64(plan, none, &value));
  TELL(cufftGetPlanPropertyInt64(12345, patient, &value));
  TELL(cufftSetPlanPropertyInt64(plan, patient, 1));
  TELL_VALUE(cufftGetPlanPropertyInt64(plan, patient, &value), value);
  TELL(cufftSetPlanPropertyInt64(plan, patient, 7));
  TELL(cufftSetPlanPropertyInt64(plan, none, 1));
  TELL(cufftSetPlanPropertyInt64(12345, patient, 1));
  TELL(cufftResetPlanProperty(plan, patient));
  TELL_VALUE(cufftGetPlanPropertyInt64(plan, patient, &value), value);
  TELL(cufftResetPlanProperty(plan, none));
  TELL(cufftResetPlanProperty(12345, patient));
  TELL(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &work));
  TELL(cufftSetPlanPropertyInt64(plan, patient, 1));
  TELL_VALUE(cufftGetPlanPropertyInt64(plan, patient, &value), value);
  TELL(cufftResetPlanProperty(plan, patient));
  TELL(cufftDestroy(plan));
}

static void streams() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  TELL(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  TELL(cufftSetStream(plan, stream));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftSetStream(plan, nullptr));
  TELL(cufftExecC2C(plan, c(), c(), F));
  TELL(cufftDestroy(plan));
  cudaStreamDestroy(stream);
}

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  cudaMalloc(&memory, 1 << 20);
  cudaMemset(memory, 0, 1 << 20);
  library();
  plans();
  many();
  made();
  xt();
  executions();
  work_areas();
  properties();
  streams();
  std::printf("left %d\n", cudaDeviceSynchronize());
}
