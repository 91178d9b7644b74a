// Eigenvalues of symmetric and Hermitian matrices, in rising order, and their vectors in A's place.
#include "libraries/solver/arguments.h"

namespace lockstep::libraries::solver {
namespace {

// LAPACK says how much room it needs, and works with it.
template <typename T, typename Run>
void WithRoom(const Run& run) {
  const int ask = -1;
  int integers_size = 0;
  Real<T> real_size = 0;
  T size = 0;
  run(&size, &ask, &real_size, &ask, &integers_size, &ask);
  const int work_size = static_cast<int>(std::real(size)), reals_size = static_cast<int>(real_size);
  std::vector<T> work(static_cast<size_t>(work_size) + 1);
  std::vector<Real<T>> reals(static_cast<size_t>(reals_size) + 1);
  std::vector<int> integers(static_cast<size_t>(integers_size) + 1);
  run(work.data(), &work_size, reals.data(), &reals_size, integers.data(), &integers_size);
}

template <typename T>
int Syevd(cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda, Real<T>* w) {
  int result = 0;
  const auto run = [&](T* work, const int* work_size, [[maybe_unused]] Real<T>* reals,
                       [[maybe_unused]] const int* reals_size, int* integers, const int* integers_size) {
    if constexpr (kIsComplex<T>) {
      Lapack<T>::syevd(Of(mode), Of(fill), &n, a, &lda, w, work, work_size, reals, reals_size, integers, integers_size,
                       &result, 1, 1);
    } else {
      Lapack<T>::syevd(Of(mode), Of(fill), &n, a, &lda, w, work, work_size, integers, integers_size, &result, 1, 1);
    }
  };
  WithRoom<T>(run);
  return result;
}

template <typename T>
int Sygvd(int type, cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda, T* b, int ldb, Real<T>* w) {
  int result = 0;
  const auto run = [&](T* work, const int* work_size, [[maybe_unused]] Real<T>* reals,
                       [[maybe_unused]] const int* reals_size, int* integers, const int* integers_size) {
    if constexpr (kIsComplex<T>) {
      Lapack<T>::sygvd(&type, Of(mode), Of(fill), &n, a, &lda, b, &ldb, w, work, work_size, reals, reals_size, integers,
                       integers_size, &result, 1, 1);
    } else {
      Lapack<T>::sygvd(&type, Of(mode), Of(fill), &n, a, &lda, b, &ldb, w, work, work_size, integers, integers_size,
                       &result, 1, 1);
    }
  };
  WithRoom<T>(run);
  return result;
}

// One matrix, or a batch of them one behind the other.
template <typename T>
struct Eigen {
  Function f;
  cusolverEigMode_t mode;
  cublasFillMode_t fill;
  int64_t n;
  T* a;
  int64_t lda;
  Real<T>* w;
  Range work;
  int* info;
  int64_t count = 1;
  std::shared_ptr<Jacobi> jacobi = nullptr;

  bool vectors() const { return mode == CUSOLVER_EIG_MODE_VECTOR; }
  cusolverStatus_t Do(std::initializer_list<Argument> arguments) const {
    LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(f, info, arguments));
    LOCKSTEP_REFUSE_UNLESS_FIT(f, n, lda, count);
    const auto side = static_cast<double>(n);
    Call call = f.Begin(MultiplyAdds<T>(side * side * side * static_cast<double>(count) * (vectors() ? 4.5 : 2.0 / 3)),
                        kArithmetic<T>);
    for (int64_t i = 0; i < count; ++i) {
      AddTriangle(&call.memory, vectors() ? Access::kRead : Access::kReadWrite, "matrix A", a + i * n * lda, n, lda,
                  fill);
      if (vectors()) call.memory.push_back(MatrixOf(Access::kWrite, "matrix A", a + i * n * lda, n, n, lda));
    }
    call.memory.push_back(Elements(Access::kWrite, "the eigenvalues", w, n * count));
    call.memory.push_back(work);
    call.memory.push_back(Info(info, count));
    call.run = [self = *this] { self.Run(); };
    return Function::Do(std::move(call));
  }
  void Run() const {
    for (int64_t i = 0; i < count; ++i) {
      info[i] = Syevd(mode, fill, static_cast<int>(n), a + i * n * lda, static_cast<int>(lda), w + i * n);
    }
    if (jacobi != nullptr) *jacobi = {0, 1};
  }
};

template <typename T>
struct General {
  Function f;
  cusolverEigType_t type;
  cusolverEigMode_t mode;
  cublasFillMode_t fill;
  int n;
  T* a;
  int lda;
  T* b;
  int ldb;
  Real<T>* w;
  Range work;
  int* info;

  cusolverStatus_t Do() const {
    LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(f, info,
                                             {{type >= CUSOLVER_EIG_TYPE_1 && type <= CUSOLVER_EIG_TYPE_3, 1},
                                              {Mode(mode), 2},
                                              {Fill(fill), 3},
                                              {n >= 0, 4},
                                              {Leading(lda, n), 6},
                                              {Leading(ldb, n), 8}}));
    const double side = n;
    Call call = f.Begin(MultiplyAdds<T>(7 * side * side * side), kArithmetic<T>);
    AddTriangle(&call.memory, Access::kReadWrite, "matrix A", a, n, lda, fill);
    if (mode == CUSOLVER_EIG_MODE_VECTOR) call.memory.push_back(MatrixOf(Access::kWrite, "matrix A", a, n, n, lda));
    AddTriangle(&call.memory, Access::kReadWrite, "matrix B", b, n, ldb, fill);
    call.memory.push_back(Elements(Access::kWrite, "the eigenvalues", w, n));
    call.memory.push_back(work);
    call.memory.push_back(Info(info));
    call.run = [self = *this] {
      *self.info = Sygvd(self.type, self.mode, self.fill, self.n, self.a, self.lda, self.b, self.ldb, self.w);
    };
    return Function::Do(std::move(call));
  }
};

}  // namespace
}  // namespace lockstep::libraries::solver

using namespace lockstep::libraries;
using namespace lockstep::libraries::solver;

#define EIGEN(S, T, R, orthogonal, symmetric)                                                                          \
  cusolverStatus_t cusolverDn##S##symmetric##evd_bufferSize(                                                           \
      cusolverDnHandle_t handle, cusolverEigMode_t, cublasFillMode_t, int, const T*, int, const R*, int* size) {       \
    return AnswerWork({__func__, handle}, {}, size);                                                                   \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##S##symmetric##evd(cusolverDnHandle_t handle, cusolverEigMode_t mode,                    \
                                                 cublasFillMode_t fill, int n, T* a, int lda, R* w, T* work, int size, \
                                                 int* info) {                                                          \
    return Eigen<NumberOf<T>::type>{{__func__, handle}, mode, fill, n, N(a), lda, w, Work(work, size), info}.Do(       \
        {{Mode(mode), 1}, {Fill(fill), 2}, {n >= 0, 3}, {Leading(lda, n), 5}});                                        \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##S##symmetric##evj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t,              \
                                                            cublasFillMode_t, int, const T*, int, const R*, int* size, \
                                                            syevjInfo_t) {                                             \
    return AnswerWork({__func__, handle}, {}, size);                                                                   \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##S##symmetric##evj(cusolverDnHandle_t handle, cusolverEigMode_t mode,                    \
                                                 cublasFillMode_t fill, int n, T* a, int lda, R* w, T* work, int size, \
                                                 int* info, syevjInfo_t parameters) {                                  \
    const Function f{__func__, handle};                                                                                \
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(parameters)}));                                                         \
    return Eigen<NumberOf<T>::type>{f, mode, fill, n, N(a), lda, w, Work(work, size), info, 1, parameters->state}.Do(  \
        {{Mode(mode), 1}, {Fill(fill), 2}, {n >= 0, 3}, {Leading(lda, n), 5}});                                        \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##S##symmetric##evjBatched_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t,       \
                                                                   cublasFillMode_t, int, const T*, int, const R*,     \
                                                                   int* size, syevjInfo_t, int) {                      \
    return AnswerWork({__func__, handle}, {}, size);                                                                   \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##S##symmetric##evjBatched(cusolverDnHandle_t handle, cusolverEigMode_t mode,             \
                                                        cublasFillMode_t fill, int n, T* a, int lda, R* w, T* work,    \
                                                        int size, int* info, syevjInfo_t parameters, int count) {      \
    const Function f{__func__, handle};                                                                                \
    LOCKSTEP_RETURN_UNLESS_OK(                                                                                         \
        f.Check({NotNull(parameters), IsMode(mode), IsFill(fill), IsSize(n), Leads(lda, n), IsSize(count)}));          \
    return Eigen<NumberOf<T>::type>{f, mode, fill, n, N(a), lda, w, Work(work, size), info, count, parameters->state}  \
        .Do({});                                                                                                       \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##S##symmetric##gvd_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t,              \
                                                            cusolverEigMode_t, cublasFillMode_t, int, const T*, int,   \
                                                            const T*, int, const R*, int* size) {                      \
    return AnswerWork({__func__, handle}, {}, size);                                                                   \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##S##symmetric##gvd(cusolverDnHandle_t handle, cusolverEigType_t type,                    \
                                                 cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda,  \
                                                 T* b, int ldb, R* w, T* work, int size, int* info) {                  \
    return General<NumberOf<T>::type>{{__func__, handle}, type, mode, fill, n, N(a), lda, N(b), ldb, w,                \
                                      Work(work, size),   info}                                                        \
        .Do();                                                                                                         \
  }

extern "C" {

LOCKSTEP_ALL_TYPES(EIGEN)

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t,
                                             cublasFillMode_t, int64_t, cudaDataType, const void*, int64_t,
                                             cudaDataType, const void*, cudaDataType, size_t* on_device,
                                             size_t* on_host) {
  return AnswerWork({__func__, handle}, {}, on_device, on_host);
}
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                  cublasFillMode_t fill, int64_t n, cudaDataType type, void* a, int64_t lda,
                                  cudaDataType w_type, void* w, cudaDataType, void* work, size_t bytes, void*, size_t,
                                  int* info) {
  const Function f{__func__, handle};
  return OfType(f, type, [&](auto t) {
    using T = typename decltype(t)::type;
    LOCKSTEP_RETURN_UNLESS_OK(
        CheckArguments(f, info, {{Mode(mode), 2}, {Fill(fill), 3}, {n >= 0, 4}, {Leading(lda, n), 7}}));
    if (w_type != kData<Real<T>>) {
      LOCKSTEP_RETURN_UNLESS_OK(SetInfo(f, info, 0));
      return f.Invalid("the eigenvalues are of another precision than the matrix");
    }
    return Eigen<T>{f,
                    mode,
                    fill,
                    n,
                    static_cast<T*>(a),
                    lda,
                    static_cast<Real<T>*>(w),
                    Work(static_cast<char*>(work), static_cast<int64_t>(bytes)),
                    info}
        .Do({});
  });
}

}  // extern "C"
