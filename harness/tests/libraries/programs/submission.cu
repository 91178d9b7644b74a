// Prints statuses and results of the cuBLAS and cuFFT functions that submissions may call, one call per line: the same
// with any library.
#include <cublas_v2.h>
#include <cufft.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

// Values between -1 and 1 that do not repeat soon.
template <typename T>
std::vector<T> Values(size_t n, double seed) {
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(std::sin(seed + 1.7 * static_cast<double>(i * i % 1009)));
  return values;
}

template <typename T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()) {
    cudaMalloc(&address_, count_ * sizeof(T));
    cudaMemcpy(address_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~OnDevice() { cudaFree(address_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  operator T*() const { return address_; }
  void Print() const {
    std::vector<T> values(count_);
    cudaMemcpy(values.data(), address_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    for (const T& value : values) std::printf(" %.9g", static_cast<double>(value));
  }

 private:
  T* address_ = nullptr;
  size_t count_;
};

constexpr cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

// The functions of one type, S or D.
#define LOCKSTEP_TRY(S, s, T)                                                                                          \
  void Try##S(cublasHandle_t handle) {                                                                                 \
    const auto line = [](const char* what, int status) { std::printf("\n" #S "%s %d:", what, status); };               \
    const T alpha = 1.5, beta = -0.5, zero = 0;                                                                        \
    for (const int incx : {1, 2, -1, -3, 0}) {                                                                         \
      for (const int incy : {1, -2}) {                                                                                 \
        for (const int n : {0, 1, 9}) {                                                                                \
          const OnDevice<T> x(Values<T>(40, 1)), y(Values<T>(40, 2));                                                  \
          line("axpy", cublas##S##axpy(handle, n, &alpha, x, incx, y, incy)), y.Print();                               \
          line("copy", cublas##S##copy(handle, n, x, incx, y, incy)), y.Print();                                       \
          if (incx != 0) line("swap", cublas##S##swap(handle, n, x, incx, y, incy)), x.Print(), y.Print();             \
          line("scal", cublas##S##scal(handle, n, &beta, x, incx)), x.Print();                                         \
          T dot = 7, norm = 7, sum = 7;                                                                                \
          int most = 7, least = 7;                                                                                     \
          line("dot", cublas##S##dot(handle, n, x, incx, y, incy, &dot)), std::printf(" %.9g", double(dot));           \
          line("nrm2", cublas##S##nrm2(handle, n, x, incx, &norm)), std::printf(" %.9g", double(norm));                \
          line("asum", cublas##S##asum(handle, n, x, incx, &sum)), std::printf(" %.9g", double(sum));                  \
          line("amax", cublasI##s##amax(handle, n, x, incx, &most)), std::printf(" %d", most);                         \
          line("amin", cublasI##s##amin(handle, n, x, incx, &least)), std::printf(" %d", least);                       \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
    const int m = 5, n = 3, k = 4, lead = 7;                                                                           \
    for (const auto a : kOperations) {                                                                                 \
      for (const T* second : {&beta, &zero}) {                                                                         \
        const OnDevice<T> A(Values<T>(lead * 7, 3)), x(Values<T>(30, 4)), y(Values<T>(30, 5));                         \
        line("gemv", cublas##S##gemv(handle, a, m, n, &alpha, A, lead, x, 2, second, y, -1)), y.Print();               \
        line("gemv", cublas##S##gemv(handle, a, m, n, &zero, A, lead, x, -1, second, y, 3)), y.Print();                \
        for (const auto b : kOperations) {                                                                             \
          const OnDevice<T> B(Values<T>(lead * 7, 6)), C(Values<T>(lead * 14, 7));                                     \
          line("geam", cublas##S##geam(handle, a, b, m, n, &alpha, A, lead, second, B, lead, C, lead)), C.Print();     \
          line("geam", cublas##S##geam(handle, a, b, m, n, &zero, A, lead, second, B, lead, C, lead)), C.Print();      \
          line("gemm", cublas##S##gemm(handle, a, b, m, n, k, &alpha, A, lead, B, lead, second, C, lead)), C.Print();  \
          line("gemmStridedBatched", cublas##S##gemmStridedBatched(handle, a, b, m, n, k, &alpha, A, lead, 1, B, lead, \
                                                                   2, second, C, lead, lead * 7, 2)),                  \
              C.Print();                                                                                               \
        }                                                                                                              \
        line("ger", cublas##S##ger(handle, m, n, &alpha, x, -2, y, 1, A, lead)), A.Print();                            \
        const OnDevice<T> C(Values<T>(lead * 7, 8));                                                                   \
        line("dgmm", cublas##S##dgmm(handle, CUBLAS_SIDE_LEFT, m, n, A, lead, x, 2, C, lead)), C.Print();              \
        line("dgmm", cublas##S##dgmm(handle, CUBLAS_SIDE_RIGHT, m, n, A, lead, x, 1, C, lead)), C.Print();             \
      }                                                                                                                \
    }                                                                                                                  \
    const OnDevice<T> A(Values<T>(25, 9)), C(Values<T>(25, 10)), factors({alpha, beta, 0}), x(Values<T>(25, 11));      \
    line("in place", cublas##S##geam(handle, CUBLAS_OP_N, CUBLAS_OP_T, 5, 5, &alpha, C, 5, &beta, A, 5, C, 5));        \
    C.Print();                                                                                                         \
    line("in place", cublas##S##geam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 5, 5, &alpha, C, 5, &beta, A, 5, C, 5));        \
    line("no room", cublas##S##geam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 4, 5, &alpha, A, 4, &zero, A, 4, C, 4));         \
    line("no room", cublas##S##gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 5, 5, 5, &alpha, A, 4, A, 5, &beta, C, 5));      \
    line("negative", cublas##S##gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, -1, 5, 5, &alpha, A, 5, A, 5, &beta, C, 5));    \
    line("no handle", cublas##S##scal(nullptr, 5, &alpha, A, 1));                                                      \
    line("nothing", cublas##S##gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 5, 5, &alpha, A, 5, A, 5, &beta, C, 5));      \
    line("no product", cublas##S##gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 5, 5, 0, &alpha, A, 5, A, 5, &beta, C, 5));   \
    C.Print();                                                                                                         \
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);                                                          \
    line("device", cublas##S##axpy(handle, 5, static_cast<T*>(factors), A, 1, C, 1)), C.Print();                       \
    line("device", cublas##S##dot(handle, 5, A, 1, C, 1, static_cast<T*>(factors) + 2)), factors.Print();              \
    line("device", cublas##S##gemv(handle, CUBLAS_OP_T, 5, 5, static_cast<T*>(factors), A, 5, x, 1,                    \
                                   static_cast<T*>(factors) + 1, C, 1)),                                               \
        C.Print();                                                                                                     \
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);                                                            \
  }
LOCKSTEP_TRY(S, s, float)
LOCKSTEP_TRY(D, d, double)

// Transforms of all types, as rows without gaps and with strides, out of place and in place.
template <typename T>
void Transform(cufftType forward, cufftType backward, bool is_real, int n, int batch, bool strided, bool in_place) {
  const size_t room = static_cast<size_t>(batch) * 4 * static_cast<size_t>(n + 3);
  const OnDevice<T> input(Values<T>(room, n)), output(Values<T>(room, batch));
  T* const to = in_place ? input : output;
  cufftHandle plan = 0, back = 0;
  int status = 0;
  if (strided) {
    int length = n, embed = n;
    const int distance = 2 * n + 1;
    status = cufftPlanMany(&plan, 1, &length, &embed, 2, distance, &embed, 2, distance, forward, batch);
    cufftPlanMany(&back, 1, &length, &embed, 2, distance, &embed, 2, distance, backward, batch);
  } else {
    status = cufftPlan1d(&plan, n, forward, batch);
    cufftPlan1d(&back, n, backward, batch);
  }
  std::printf("\nplan %#x %d times %d: %d", static_cast<int>(forward), n, batch, status);
  const auto execute = [&](cufftHandle handle, T* from, T* into, bool is_back) {
    if constexpr (sizeof(T) == sizeof(float)) {
      auto* const numbers = reinterpret_cast<cufftComplex*>(from);
      if (!is_real) {
        return cufftExecC2C(handle, numbers, reinterpret_cast<cufftComplex*>(into),
                            is_back ? CUFFT_INVERSE : CUFFT_FORWARD);
      }
      return is_back ? cufftExecC2R(handle, numbers, into)
                     : cufftExecR2C(handle, from, reinterpret_cast<cufftComplex*>(into));
    } else {
      auto* const numbers = reinterpret_cast<cufftDoubleComplex*>(from);
      if (!is_real) {
        return cufftExecZ2Z(handle, numbers, reinterpret_cast<cufftDoubleComplex*>(into),
                            is_back ? CUFFT_INVERSE : CUFFT_FORWARD);
      }
      return is_back ? cufftExecZ2D(handle, numbers, into)
                     : cufftExecD2Z(handle, from, reinterpret_cast<cufftDoubleComplex*>(into));
    }
  };
  std::printf("\nforward %d:", execute(plan, input, to, false));
  to == input ? input.Print() : output.Print();
  std::printf("\nback %d:", execute(back, to, input, true));
  input.Print();
  std::printf("\ndestroyed %d %d", cufftDestroy(plan), cufftDestroy(back));
}

void TryTransforms() {
  for (const int n : {1, 2, 3, 7, 8, 12, 50, 127, 254}) {
    for (const int batch : {1, 3}) {
      for (const bool strided : {false, true}) {
        for (const bool in_place : {false, true}) {
          if (strided && in_place) continue;
          Transform<float>(CUFFT_C2C, CUFFT_C2C, false, n, batch, strided, in_place);
          Transform<float>(CUFFT_R2C, CUFFT_C2R, true, n, batch, strided, in_place);
          Transform<double>(CUFFT_Z2Z, CUFFT_Z2Z, false, n, batch, strided, in_place);
          Transform<double>(CUFFT_D2Z, CUFFT_Z2D, true, n, batch, strided, in_place);
        }
      }
    }
  }
  cufftHandle plan = 99;
  std::printf("\nno length %d", cufftPlan1d(&plan, 0, CUFFT_C2C, 1));
  std::printf("\nno batch %d", cufftPlan1d(&plan, 8, CUFFT_C2C, 0));
  std::printf("\nno type %d", cufftPlan1d(&plan, 8, static_cast<cufftType>(1), 1));
  std::printf("\nno plan %d %d", cufftExecC2C(12345, nullptr, nullptr, CUFFT_FORWARD), cufftDestroy(12345));
  size_t bytes = 7;
  std::printf("\nmade %d %d", cufftCreate(&plan), cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes));
  std::printf(" of %zu, twice %d", bytes, cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes));
  std::printf("\nno direction %d", cufftExecC2C(plan, nullptr, nullptr, 0));
  cufftDestroy(plan);
}

}  // namespace

int main() {
  cublasHandle_t handle;
  std::printf("created %d %d", cublasCreate(&handle), cublasCreate(nullptr));
  TryS(handle);
  TryD(handle);
  std::printf("\n%s %s", cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE),
              cublasGetStatusString(CUBLAS_STATUS_SUCCESS));
  std::printf("\ndestroyed %d %d", cublasDestroy(handle), cublasDestroy(nullptr));
  TryTransforms();
  std::printf("\nlast error %d\n", cudaDeviceSynchronize());
}
