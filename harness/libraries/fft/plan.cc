// Handles of plans, settings of plans, versions.
#include "libraries/fft/plan.h"

using namespace lockstep::libraries::fft;

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUFFT_INTERNAL_ERROR;
  *handle = Plans::Add();
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) {
  return plan == CUFFT_PLAN_NULL || Plans::Remove(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftGetVersion(int* version) {
  if (version != nullptr) *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}

cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  constexpr int kVersion[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
  if (value == nullptr) return CUFFT_INVALID_VALUE;
  if (type < MAJOR_VERSION || type > PATCH_LEVEL) return CUFFT_INVALID_TYPE;
  *value = kVersion[type];
  return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  const auto found = Plans::Find(plan);
  if (found == nullptr) return CUFFT_INVALID_PLAN;
  found->stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftGetSize(cufftHandle plan, size_t* work_size) {
  const auto found = Plans::Find(plan);
  if (found == nullptr || !found->is_made()) return CUFFT_INVALID_PLAN;
  if (work_size == nullptr) return CUFFT_INVALID_VALUE;
  *work_size = found->work_bytes;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle plan, void* area) {
  const auto found = Plans::Find(plan);
  if (found == nullptr) return CUFFT_INVALID_PLAN;
  found->work_area = area;
  found->has_own_area = false;
  return CUFFT_SUCCESS;
}

cufftResult cufftXtSetWorkArea(cufftHandle plan, void** areas) {
  return cufftSetWorkArea(plan, areas == nullptr ? nullptr : areas[0]);  // of one GPU
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocates) {
  const auto found = Plans::Find(plan);
  if (found == nullptr) return CUFFT_INVALID_PLAN;
  found->allocates = allocates != 0;
  return CUFFT_SUCCESS;
}

// Properties choose how long making a plan may take. They have no effect here.
cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, cufftProperty property, long long* value) {
  const auto found = Plans::Find(plan);
  if (found == nullptr) return CUFFT_INVALID_PLAN;
  if (value == nullptr) return CUFFT_INVALID_VALUE;
  if (property != NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT) return CUFFT_INVALID_VALUE;
  *value = found->is_patient;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty property, const long long value) {
  const auto found = Plans::Find(plan);
  if (found == nullptr) return CUFFT_INVALID_PLAN;
  if (property != NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT) return CUFFT_INVALID_VALUE;
  if (found->is_made()) return CUFFT_NOT_SUPPORTED;
  found->is_patient = value;
  return CUFFT_SUCCESS;
}
cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty property) {
  return cufftSetPlanPropertyInt64(plan, property, 0);
}

}  // extern "C"
