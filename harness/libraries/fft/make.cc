// Makes plans: the many ways to describe a transform, checked in cuFFT's order; and the sizes of work areas.
#include <algorithm>
#include <new>
#include <optional>

#include "libraries/fft/plan.h"

namespace lockstep::libraries::fft {
namespace {

constexpr int kMostDimensions = 3;

bool IsType(cufftType type) {
  constexpr cufftType kTypes[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

// The transform that a function's arguments describe.
struct Request {
  cufftResult wrong = CUFFT_SUCCESS;  // the error if the arguments describe none
  Description what;
};

Request Simple(std::vector<int64_t> n, cufftType type, int64_t batch = 1) {
  Request request;
  request.what.n = std::move(n);
  request.what.type = type;
  request.what.batch = batch;
  return request;
}

template <typename I>
Request Many(int rank, const I* n, const I* in_embed, I in_stride, I in_distance, const I* out_embed, I out_stride,
             I out_distance, cufftType type, I batch) {
  Request request;
  request.wrong = CUFFT_INVALID_VALUE;
  if (rank < 1 || rank > kMostDimensions || n == nullptr) return request;
  if ((in_embed == nullptr) != (out_embed == nullptr)) return request;
  const bool is_basic = in_embed == nullptr;
  if (!is_basic && (in_stride <= 0 || in_distance <= 0 || out_stride <= 0 || out_distance <= 0)) return request;
  request = Simple({n, n + rank}, type, batch);
  if (!is_basic) {
    request.what.in = {{in_embed, in_embed + rank}, in_stride, in_distance};
    request.what.out = {{out_embed, out_embed + rank}, out_stride, out_distance};
  }
  return request;
}

cufftResult Check(const Request& request) {
  const Description& what = request.what;
  if (request.wrong != CUFFT_SUCCESS) return request.wrong;
  if (!IsType(what.type)) return CUFFT_INVALID_TYPE;
  for (size_t d = 0; d < what.n.size(); ++d) {
    if (d > 0 && what.n[d] == 0 && what.kind() != Kind::kComplex) return CUFFT_INTERNAL_ERROR;
    if (what.n[d] <= 0) return CUFFT_INVALID_SIZE;
  }
  if (what.batch <= 0) return CUFFT_INVALID_SIZE;
  return CUFFT_SUCCESS;
}

// A work area's size. We need none; an H100 needs about this for lengths that are long or have a large prime factor.
size_t WorkBytes(const Description& what) {
  constexpr int64_t kLongest = 16384, kLongestOfDoubles = 4096, kLongestRough = 4096, kLargestFactor = 127;
  constexpr size_t kOfRough = 4;
  const bool is_real = what.kind() != Kind::kComplex;
  bool is_needed = false, is_rough = false;
  for (const int64_t length : what.n) {
    if (LargestPrimeFactor(length) > kLargestFactor && (is_real || length > kLongestRough)) is_rough = true;
    if (length > (is_real && what.is_double() ? kLongestOfDoubles : kLongest)) is_needed = true;
  }
  if (!is_needed && !is_rough) return 0;
  size_t bytes = what.batch * (what.is_double() ? sizeof(cufftDoubleComplex) : sizeof(cufftComplex));
  for (size_t d = 0; d < what.n.size(); ++d) {
    bytes *= is_real && d + 1 == what.n.size() ? what.n[d] / 2 + 1 : what.n[d];
  }
  return is_rough ? bytes * kOfRough : bytes;
}

cufftResult Size(const Request& request, size_t* work_size) {
  const cufftResult wrong = Check(request);
  if (wrong != CUFFT_SUCCESS) return wrong;
  if (work_size == nullptr) return CUFFT_INVALID_VALUE;
  *work_size = WorkBytes(request.what);
  return CUFFT_SUCCESS;
}

cufftResult Make(const char* function, const std::shared_ptr<Plan>& plan, const Request& request, size_t* work_size) {
  if (plan == nullptr || plan->is_made()) return CUFFT_INVALID_PLAN;
  if (work_size == nullptr) return CUFFT_INVALID_VALUE;
  const cufftResult wrong = Check(request);
  if (wrong != CUFFT_SUCCESS) return wrong;
  for (const int64_t length : request.what.n) {
    if (length > kLongestLine) {
      lockstep_refuse("cuFFT", function, "dimensions of more than 2^27 numbers");
      return CUFFT_NOT_SUPPORTED;
    }
  }
  try {
    plan->transform = std::make_shared<Transform>(request.what.kind(), request.what.n);
  } catch (const std::bad_alloc&) {
    return CUFFT_ALLOC_FAILED;
  }
  plan->what = request.what;
  plan->has_own_area = plan->allocates;
  plan->work_bytes = *work_size = WorkBytes(request.what);
  return CUFFT_SUCCESS;
}

// cufftPlan…: creates and makes a plan in one call. If that fails there is no plan.
cufftResult Create(const char* function, cufftHandle* handle, const Request& request) {
  cufftHandle created = CUFFT_PLAN_NULL;
  size_t work_size = 0;
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  *handle = 0;
  cufftResult result = cufftCreate(&created);
  if (result == CUFFT_SUCCESS) {
    result = Make(function, Plans::Find(created), request, &work_size);
    if (result != CUFFT_SUCCESS) Plans::Remove(created);
  }
  if (result == CUFFT_SUCCESS) *handle = created;
  return result;
}

cufftResult SizeFor(cufftHandle plan, const Request& request, size_t* work_size) {
  return Plans::Find(plan) == nullptr ? CUFFT_INVALID_PLAN : Size(request, work_size);
}

// The cufftType for the three data types given to cufftXtMakePlanMany; nullopt if there is none.
std::optional<cufftType> TypeOf(cudaDataType in, cudaDataType out, cudaDataType execution) {
  struct Types {
    cudaDataType in, out, execution, real;
    cufftType type;
  };
  constexpr Types kTypes[] = {
      {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUDA_R_32F, CUFFT_C2C},
      {CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUDA_R_32F, CUFFT_R2C},
      {CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUDA_R_32F, CUFFT_C2R},
      {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUDA_R_64F, CUFFT_Z2Z},
      {CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUDA_R_64F, CUFFT_D2Z},
      {CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUDA_R_64F, CUFFT_Z2D},
  };
  for (const Types& types : kTypes) {
    if (types.in == in && types.out == out && (types.execution == execution || types.real == execution)) {
      return types.type;
    }
  }
  return std::nullopt;
}
bool IsHalf(cudaDataType type) {
  return type == CUDA_R_16F || type == CUDA_C_16F || type == CUDA_R_16BF || type == CUDA_C_16BF;
}

}  // namespace
}  // namespace lockstep::libraries::fft

using namespace lockstep::libraries::fft;

extern "C" {

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return Create(__func__, plan, Simple({nx}, type, batch));
}
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return Create(__func__, plan, Simple({nx, ny}, type));
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return Create(__func__, plan, Simple({nx, ny, nz}, type));
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch) {
  return Create(__func__, plan, Many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch));
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* work_size) {
  return Make(__func__, Plans::Find(plan), Simple({nx}, type, batch), work_size);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* work_size) {
  return Make(__func__, Plans::Find(plan), Simple({nx, ny}, type), work_size);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* work_size) {
  return Make(__func__, Plans::Find(plan), Simple({nx, ny, nz}, type), work_size);
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* work_size) {
  return Make(__func__, Plans::Find(plan), Many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch),
              work_size);
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                                long long batch, size_t* work_size) {
  return Make(__func__, Plans::Find(plan), Many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch),
              work_size);
}
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, cudaDataType inputtype, long long* onembed, long long ostride,
                                long long odist, cudaDataType outputtype, long long batch, size_t* work_size,
                                cudaDataType executiontype) {
  if (IsHalf(inputtype) || IsHalf(outputtype) || IsHalf(executiontype)) {
    lockstep_refuse("cuFFT", __func__, "half precision");
    return CUFFT_NOT_SUPPORTED;
  }
  const auto type = TypeOf(inputtype, outputtype, executiontype);
  if (!type) return CUFFT_INVALID_TYPE;
  return Make(__func__, Plans::Find(plan),
              Many(rank, n, inembed, istride, idist, onembed, ostride, odist, *type, batch), work_size);
}

cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* work_size) {
  return Size(Simple({nx}, type, batch), work_size);
}
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* work_size) {
  return Size(Simple({nx, ny}, type), work_size);
}
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* work_size) {
  return Size(Simple({nx, ny, nz}, type), work_size);
}
cufftResult cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                              int odist, cufftType type, int batch, size_t* work_size) {
  return Size(Many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch), work_size);
}

cufftResult cufftGetSize1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* work_size) {
  return SizeFor(plan, Simple({nx}, type, batch), work_size);
}
cufftResult cufftGetSize2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* work_size) {
  return SizeFor(plan, Simple({nx, ny}, type), work_size);
}
cufftResult cufftGetSize3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* work_size) {
  return SizeFor(plan, Simple({nx, ny, nz}, type), work_size);
}
cufftResult cufftGetSizeMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                             int ostride, int odist, cufftType type, int batch, size_t* work_size) {
  return SizeFor(plan, Many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch), work_size);
}
cufftResult cufftGetSizeMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                               long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                               long long batch, size_t* work_size) {
  return SizeFor(plan, Many(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch), work_size);
}
cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                               long long idist, cudaDataType inputtype, long long* onembed, long long ostride,
                               long long odist, cudaDataType outputtype, long long batch, size_t* work_size,
                               cudaDataType executiontype) {
  const auto type = TypeOf(inputtype, outputtype, executiontype);
  if (!type) return CUFFT_INVALID_TYPE;
  return SizeFor(plan, Many(rank, n, inembed, istride, idist, onembed, ostride, odist, *type, batch), work_size);
}

}  // extern "C"
