// cuFFT's plans for batches of one-dimensional transforms: makes, destroys and executes them.
#include <algorithm>
#include <memory>
#include <utility>

#include "libraries/plan_table.h"
#include "libraries/submission/include/cufft.h"
#include "libraries/submission/operation.h"

namespace lockstep::libraries::submission {
namespace {

constexpr size_t kLeast = 256;  // bytes of device memory that a plan holds until it is destroyed, as NVIDIA's does

struct Plan {
  cudaStream_t stream = nullptr;
  cufftType type = CUFFT_C2C;
  bool is_made = false, is_basic = true;
  LibraryOperation operation;  // addresses and direction are filled in at execution
  size_t work_bytes = 0;
  bool allocates = true;     // making it gives it a work area
  void* own_area = nullptr;  // to be freed
  bool has_area = false;
};

using Plans = PlanTable<Plan>;

bool IsType(cufftType type) {
  return type == CUFFT_C2C || type == CUFFT_R2C || type == CUFFT_C2R || type == CUFFT_Z2Z || type == CUFFT_D2Z ||
         type == CUFFT_Z2D;
}

// A transform as programs describe it; strides and distances are 0 in the basic layout.
struct Request {
  int n = 0, batch = 1;
  cufftType type = CUFFT_C2C;
  long long in_stride = 0, in_distance = 0, out_stride = 0, out_distance = 0;
};

vgpu::LibraryOperand SideOf(const Request& request, FourierForm form, long long stride, long long distance) {
  if (stride == 0) return {0, 1, form == FourierForm::kHalf ? request.n / 2 + 1 : request.n};
  return {0, stride, distance};
}

// About as much as an H100's long transforms need.
size_t WorkBytes(const LibraryOperation& operation) {
  constexpr int64_t kLongest = 16384;
  if (operation.n <= kLongest) return 0;
  const auto numbers = static_cast<size_t>(operation.in == FourierForm::kComplex ? operation.n : operation.n / 2 + 1);
  const size_t number = operation.is_double ? sizeof(cufftDoubleComplex) : sizeof(cufftComplex);
  return numbers * number * static_cast<size_t>(operation.batch);
}

// Fills in the plan, except for its work area.
cufftResult Describe(const Request& request, Plan* plan) {
  if (!IsType(request.type)) return CUFFT_INVALID_TYPE;
  if (request.n <= 0 || request.batch <= 0) return CUFFT_INVALID_SIZE;
  LibraryOperation& operation = plan->operation;
  operation.kind = LibraryKind::kFft;
  operation.is_double = request.type == CUFFT_Z2Z || request.type == CUFFT_D2Z || request.type == CUFFT_Z2D;
  operation.n = request.n;
  operation.batch = request.batch;
  if (request.type == CUFFT_R2C || request.type == CUFFT_D2Z) {
    operation.in = FourierForm::kReal;
    operation.out = FourierForm::kHalf;
  } else if (request.type == CUFFT_C2R || request.type == CUFFT_Z2D) {
    operation.in = FourierForm::kHalf;
    operation.out = FourierForm::kReal;
    operation.is_inverse = true;
  }
  operation.operands[0] = SideOf(request, operation.in, request.in_stride, request.in_distance);
  operation.operands[2] = SideOf(request, operation.out, request.out_stride, request.out_distance);
  plan->type = request.type;
  plan->is_basic = request.in_stride == 0;
  plan->work_bytes = WorkBytes(operation);
  return CUFFT_SUCCESS;
}

cufftResult Make(const char* function, const std::shared_ptr<Plan>& plan, const Request& request, size_t* work_size) {
  if (plan == nullptr || plan->is_made) return CUFFT_INVALID_PLAN;
  if (work_size == nullptr) return CUFFT_INVALID_VALUE;
  Plan made = *plan;
  const cufftResult wrong = Describe(request, &made);
  if (wrong != CUFFT_SUCCESS) return wrong;
  if (const std::string why = vgpu::WhyNot(made.operation); !why.empty()) {
    lockstep_refuse("cuFFT", function, why.c_str());
    return CUFFT_NOT_SUPPORTED;
  }
  const size_t own = made.allocates ? std::max(made.work_bytes, kLeast) : kLeast;
  if (cudaMalloc(&made.own_area, own) != cudaSuccess) return CUFFT_ALLOC_FAILED;
  made.has_area |= made.allocates;
  made.is_made = true;
  *plan = made;
  *work_size = plan->work_bytes;
  return CUFFT_SUCCESS;
}

// cufftPlan…: creates and makes a plan in one call. If that fails there is no plan.
cufftResult Create(const char* function, cufftHandle* handle, const Request& request) {
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  *handle = 0;
  const cufftHandle created = Plans::Add();
  size_t work_size = 0;
  const cufftResult result = Make(function, Plans::Find(created), request, &work_size);
  if (result == CUFFT_SUCCESS) {
    *handle = created;
  } else {
    Plans::Remove(created);
  }
  return result;
}

cufftResult Many(const char* function, int rank, const int* n, const int* in_embed, int in_stride, int in_distance,
                 const int* out_embed, int out_stride, int out_distance, cufftType type, int batch, Request* request) {
  if (rank < 1 || n == nullptr || (in_embed == nullptr) != (out_embed == nullptr)) return CUFFT_INVALID_VALUE;
  if (rank > 1) {
    lockstep_refuse("cuFFT", function, "transforms of more than one dimension");
    return CUFFT_NOT_SUPPORTED;
  }
  *request = {n[0], batch, type};
  if (in_embed != nullptr) {
    if (in_stride <= 0 || in_distance <= 0 || out_stride <= 0 || out_distance <= 0) return CUFFT_INVALID_VALUE;
    *request = {n[0], batch, type, in_stride, in_distance, out_stride, out_distance};
  }
  return CUFFT_SUCCESS;
}

cufftResult Invalid(const char* function, const char* why) {
  lockstep_say(function, why);
  return CUFFT_INVALID_VALUE;
}

cufftResult Execute(const char* function, cufftHandle handle, cufftType type, const void* input, void* output,
                    int direction) {
  const CalledAs called(function);
  const std::shared_ptr<Plan> plan = Plans::Find(handle);
  if (plan == nullptr || !plan->is_made) return CUFFT_INVALID_PLAN;
  if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) {
    return Invalid(function, "the direction is neither CUFFT_FORWARD nor CUFFT_INVERSE");
  }
  // NVIDIA's cuFFT runs the plan's type whichever function is called; no program can intend that, so it is refused.
  if (type != plan->type) return Invalid(function, "the plan was made for another type than this function's");
  const size_t alignment = plan->operation.is_double ? sizeof(cufftDoubleComplex) : sizeof(cufftComplex);
  if (reinterpret_cast<size_t>(input) % alignment != 0 || reinterpret_cast<size_t>(output) % alignment != 0) {
    return Invalid(function, "data is not aligned to a complex number's size");
  }
  if (plan->work_bytes > 0 && !plan->has_area) return CUFFT_NO_WORKSPACE;
  LibraryOperation operation = plan->operation;
  operation.operands[0].address = AddressOf(input);
  operation.operands[2].address = AddressOf(output);
  if (operation.in == FourierForm::kComplex) operation.is_inverse = direction == CUFFT_INVERSE;
  if (plan->is_basic && input == output) {
    // Real signals have room for the complex numbers that replace them.
    if (operation.in == FourierForm::kReal) operation.operands[0].stride = 2 * (operation.n / 2 + 1);
    if (operation.out == FourierForm::kReal) operation.operands[2].stride = 2 * (operation.n / 2 + 1);
  }
  return lockstep_do_operation(function, plan->stream, &operation) == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

constexpr int kVersion = 12000;

}  // namespace

}  // namespace lockstep::libraries::submission

using namespace lockstep::libraries::submission;

extern "C" {

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  const CalledAs called(__func__);
  return Create(__func__, plan, {nx, batch, type});
}

cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch) {
  const CalledAs called(__func__);
  Request request;
  const cufftResult wrong =
      Many(__func__, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, &request);
  return wrong != CUFFT_SUCCESS ? wrong : Create(__func__, plan, request);
}

cufftResult cufftCreate(cufftHandle* plan) {
  if (plan == nullptr) return CUFFT_INVALID_VALUE;
  *plan = Plans::Add();
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* work_size) {
  const CalledAs called(__func__);
  return Make(__func__, Plans::Find(plan), {nx, batch, type}, work_size);
}

cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* work_size) {
  const CalledAs called(__func__);
  Request request;
  const cufftResult wrong =
      Many(__func__, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, &request);
  return wrong != CUFFT_SUCCESS ? wrong : Make(__func__, Plans::Find(plan), request, work_size);
}

cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* work_size) {
  Plan plan;
  if (work_size == nullptr) return CUFFT_INVALID_VALUE;
  const cufftResult wrong = Describe({nx, batch, type}, &plan);
  *work_size = plan.work_bytes;
  return wrong;
}

cufftResult cufftGetSize(cufftHandle plan, size_t* work_size) {
  const auto found = Plans::Find(plan);
  if (found == nullptr) return CUFFT_INVALID_PLAN;
  if (work_size == nullptr) return CUFFT_INVALID_VALUE;
  *work_size = found->work_bytes;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle plan, void* work_area) {
  const CalledAs called(__func__);
  const auto found = Plans::Find(plan);
  if (found == nullptr) return CUFFT_INVALID_PLAN;
  cudaFree(std::exchange(found->own_area, nullptr));
  found->has_area = work_area != nullptr;
  const bool holds = !found->is_made || cudaMalloc(&found->own_area, kLeast) == cudaSuccess;
  return holds ? CUFFT_SUCCESS : CUFFT_ALLOC_FAILED;
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int auto_allocate) {
  const auto found = Plans::Find(plan);
  if (found == nullptr || found->is_made) return CUFFT_INVALID_PLAN;
  found->allocates = auto_allocate != 0;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  const auto found = Plans::Find(plan);
  if (found == nullptr) return CUFFT_INVALID_PLAN;
  found->stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) {
  const CalledAs called(__func__);
  const auto removed = Plans::Remove(plan);
  if (removed == nullptr) return CUFFT_INVALID_PLAN;
  cudaFree(removed->own_area);
  return CUFFT_SUCCESS;
}

cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = kVersion;
  return CUFFT_SUCCESS;
}

#define LOCKSTEP_EXECUTE(...) Execute(__func__, __VA_ARGS__)
#include "libraries/fft/executions.inc"
#undef LOCKSTEP_EXECUTE

}  // extern "C"
