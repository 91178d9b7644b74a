// Eigenvalues of symmetric and Hermitian matrices, in ascending order; their vectors overwrite A.
#include "libraries/solver/arguments.h"

namespace lockstep::libraries::solver {
namespace {

// Calls a function of LAPACK twice: for the size of its workspace, then with a workspace.
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

// The requested eigenvalues: all, those in (low, high], or number `first` to number `last`. Their count is stored in
// host memory.
template <typename T>
struct Part {
  cusolverEigRange_t range = CUSOLVER_EIG_RANGE_ALL;
  Real<T> low = 0, high = 0;
  int64_t first = 1, last = 0;
  int* count = nullptr;
  int64_t* long_count = nullptr;

  bool is_range() const { return range >= CUSOLVER_EIG_RANGE_ALL && range <= CUSOLVER_EIG_RANGE_V; }
  bool has_values(int64_t n) const { return range != CUSOLVER_EIG_RANGE_V || n == 0 || low < high; }
  bool has_first(int64_t n) const {
    return range != CUSOLVER_EIG_RANGE_I || (first >= 1 && first <= std::max<int64_t>(1, n));
  }
  bool has_last(int64_t n) const { return range != CUSOLVER_EIG_RANGE_I || (last >= std::min(n, first) && last <= n); }
  void Keep(int64_t n, Real<T>* w, T* vectors, int64_t leading) const {
    int64_t from = 0, to = n;
    if (range == CUSOLVER_EIG_RANGE_I) from = first - 1, to = last;
    if (range == CUSOLVER_EIG_RANGE_V) {
      from = std::upper_bound(w, w + n, low) - w;
      to = std::upper_bound(w, w + n, high) - w;
    }
    std::copy(w + from, w + to, w);
    for (int64_t i = from; vectors != nullptr && i < to; ++i) {
      std::copy_n(vectors + i * leading, n, vectors + (i - from) * leading);
    }
    if (count != nullptr) *count = static_cast<int>(to - from);
    if (long_count != nullptr) *long_count = to - from;
  }
};

// One matrix, or a batch of contiguous ones.
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
  Part<T> part = {};

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
    call.waits = part.count != nullptr || part.long_count != nullptr;
    call.run = [self = *this] { self.Run(); };
    return Function::Do(std::move(call));
  }
  void Run() const {
    for (int64_t i = 0; i < count; ++i) {
      T* const matrix = a + i * n * lda;
      if (count > 1 && !jacobi->sorts) {
        Unsorted(matrix, i);
        continue;
      }
      info[i] = Syevd(mode, fill, static_cast<int>(n), matrix, static_cast<int>(lda), w + i * n);
      if (info[i] == 0) part.Keep(n, w + i * n, vectors() ? matrix : nullptr, lda);
    }
    if (jacobi != nullptr) jacobi->residual = 0, jacobi->sweeps = 1;
  }
  void Unsorted(T* matrix, int64_t i) const {
    const int order = static_cast<int>(n);
    std::vector<T> factors(matrix, matrix + (n > 0 ? (n - 1) * lda + n : 0)), ones;
    info[i] = Syevd(CUSOLVER_EIG_MODE_VECTOR, fill, order, factors.data(), static_cast<int>(lda), w + i * n);
    if (info[i] != 0) return;
    const std::vector<int> places = Places(order, factors.data(), lda);
    std::vector<Real<T>> real_ones(places.size(), 1);
    for (size_t at = 0; at < places.size(); ++at)
      ones.push_back(Turn(factors[at + static_cast<size_t>(places[at] * lda)]));
    Reorder(places, real_ones, 1, w + i * n, 1);
    Reorder(places, ones, n, factors.data(), lda);
    for (int64_t column = 0; vectors() && column < n; ++column) {
      std::copy_n(factors.data() + column * lda, n, matrix + column * lda);
    }
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
  std::shared_ptr<Jacobi> jacobi = nullptr;
  Part<T> part = {};

  // Functions that compute a part of the eigenvalues number their arguments differently from the third on.
  cusolverStatus_t Do() const {
    const int more = part.count != nullptr ? 1 : 0;
    LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(f, info,
                                             {{type >= CUSOLVER_EIG_TYPE_1 && type <= CUSOLVER_EIG_TYPE_3, 1},
                                              {Mode(mode), 2},
                                              {part.is_range(), 3},
                                              {Fill(fill), 3 + more},
                                              {n >= 0, 4 + more},
                                              {Leading(lda, n), 6 + more},
                                              {Leading(ldb, n), 8 + more},
                                              {part.has_values(n), 11},
                                              {part.has_first(n), 12},
                                              {part.has_last(n), 13}}));
    const double side = n;
    Call call = f.Begin(MultiplyAdds<T>(7 * side * side * side), kArithmetic<T>);
    AddTriangle(&call.memory, Access::kReadWrite, "matrix A", a, n, lda, fill);
    if (mode == CUSOLVER_EIG_MODE_VECTOR) call.memory.push_back(MatrixOf(Access::kWrite, "matrix A", a, n, n, lda));
    AddTriangle(&call.memory, Access::kReadWrite, "matrix B", b, n, ldb, fill);
    call.memory.push_back(Elements(Access::kWrite, "the eigenvalues", w, n));
    call.memory.push_back(work);
    call.memory.push_back(Info(info));
    call.waits = part.count != nullptr;
    call.run = [self = *this] {
      if (self.jacobi != nullptr) self.jacobi->residual = 0, self.jacobi->sweeps = 1;
      *self.info = Sygvd(self.type, self.mode, self.fill, self.n, self.a, self.lda, self.b, self.ldb, self.w);
      if (*self.info != 0) return;
      self.part.Keep(self.n, self.w, self.mode == CUSOLVER_EIG_MODE_VECTOR ? self.a : nullptr, self.lda);
    };
    return Function::Do(std::move(call));
  }
};

// Eigenvalues of a general matrix, and right eigenvectors.
template <typename T>
struct Unsymmetric {
  Function f;
  bool vectors;
  int n;
  T* a;
  int lda;
  bool is_w_complex;  // false, for a real matrix: w has all real parts, then all imaginary ones
  void* w;
  T* vr;
  int ldvr;
  Range work;
  int* info;

  cusolverStatus_t Do() const {
    const double side = n;
    Call call = f.Begin(MultiplyAdds<T>((vectors ? 25 : 10) * side * side * side), kArithmetic<T>);
    call.memory = {MatrixOf(Access::kReadWrite, "matrix A", a, n, n, lda),
                   Elements(Access::kWrite, "the eigenvalues", static_cast<Real<T>*>(w), 2 * int64_t{n}), work,
                   Info(info)};
    if (vectors) call.memory.push_back(MatrixOf(Access::kWrite, "matrix VR", vr, n, n, ldvr));
    call.run = [self = *this] { self.Run(); };
    return Function::Do(std::move(call));
  }
  void Run() const {
    const char none = 'N', right = vectors ? 'V' : 'N';
    const int one = 1, ld = vectors ? ldvr : 1;
    std::vector<Real<T>> parts(2 * static_cast<size_t>(n) + 1);
    WithWork<T>([&](T* room, const int* size) {
      if constexpr (kIsComplex<T>) {
        Lapack<T>::geev(&none, &right, &n, a, &lda, static_cast<T*>(w), nullptr, &one, vr, &ld, room, size,
                        parts.data(), info, 1, 1);
      } else {
        Lapack<T>::geev(&none, &right, &n, a, &lda, parts.data(), parts.data() + n, nullptr, &one, vr, &ld, room, size,
                        info, 1, 1);
      }
    });
    if constexpr (!kIsComplex<T>) {
      for (int i = 0; i < n; ++i) {
        static_cast<T*>(w)[is_w_complex ? 2 * i : i] = parts[static_cast<size_t>(i)];
        static_cast<T*>(w)[is_w_complex ? 2 * i + 1 : n + i] = parts[static_cast<size_t>(n + i)];
      }
    }
  }
};

// The eigenvalues of a symmetric matrix are real.
template <typename T>
cusolverStatus_t CheckPrecision(const Function& f, int* info, cudaDataType w_type) {
  if (w_type == kData<Real<T>>) return CUSOLVER_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(SetInfo(f, info, 0));
  return f.Invalid("the eigenvalues are of another precision than the matrix");
}

}  // namespace
}  // namespace lockstep::libraries::solver

using namespace lockstep::libraries;
using namespace lockstep::libraries::solver;

#define EIGEN(S, T, R, orthogonal, symmetric)                                                                          \
  LOCKSTEP_CHECKED_WORK(cusolverDn##S##symmetric##evd, n >= 0, cusolverEigMode_t, cublasFillMode_t, int n, const T*,   \
                        int, const R*, int* size)                                                                      \
  cusolverStatus_t cusolverDn##S##symmetric##evd(cusolverDnHandle_t handle, cusolverEigMode_t mode,                    \
                                                 cublasFillMode_t fill, int n, T* a, int lda, R* w, T* work, int size, \
                                                 int* info) {                                                          \
    return Eigen<NumberOf<T>::type>{{__func__, handle}, mode, fill, n, N(a), lda, w, Work(work, size), info}.Do(       \
        {{Mode(mode), 1}, {Fill(fill), 2}, {n >= 0, 3}, {Leading(lda, n), 5}});                                        \
  }                                                                                                                    \
  LOCKSTEP_WORK(cusolverDn##S##symmetric##evj, cusolverEigMode_t, cublasFillMode_t, int, const T*, int, const R*,      \
                int* size, syevjInfo_t)                                                                                \
  cusolverStatus_t cusolverDn##S##symmetric##evj(cusolverDnHandle_t handle, cusolverEigMode_t mode,                    \
                                                 cublasFillMode_t fill, int n, T* a, int lda, R* w, T* work, int size, \
                                                 int* info, syevjInfo_t parameters) {                                  \
    const Function f{__func__, handle};                                                                                \
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(parameters)}));                                                         \
    return Eigen<NumberOf<T>::type>{f, mode, fill, n, N(a), lda, w, Work(work, size), info, 1, parameters->state}.Do(  \
        {{Mode(mode), 1}, {Fill(fill), 2}, {n >= 0, 3}, {Leading(lda, n), 5}});                                        \
  }                                                                                                                    \
  LOCKSTEP_WORK(cusolverDn##S##symmetric##evjBatched, cusolverEigMode_t, cublasFillMode_t, int, const T*, int,         \
                const R*, int* size, syevjInfo_t, int)                                                                 \
  cusolverStatus_t cusolverDn##S##symmetric##evjBatched(cusolverDnHandle_t handle, cusolverEigMode_t mode,             \
                                                        cublasFillMode_t fill, int n, T* a, int lda, R* w, T* work,    \
                                                        int size, int* info, syevjInfo_t parameters, int count) {      \
    const Function f{__func__, handle};                                                                                \
    LOCKSTEP_RETURN_UNLESS_OK(                                                                                         \
        f.Check({NotNull(parameters), IsMode(mode), IsFill(fill), IsSize(n), Leads(lda, n), IsSize(count)}));          \
    return Eigen<NumberOf<T>::type>{f, mode, fill, n, N(a), lda, w, Work(work, size), info, count, parameters->state}  \
        .Do({});                                                                                                       \
  }                                                                                                                    \
  LOCKSTEP_WORK(cusolverDn##S##symmetric##gvd, cusolverEigType_t, cusolverEigMode_t, cublasFillMode_t, int, const T*,  \
                int, const T*, int, const R*, int* size)                                                               \
  cusolverStatus_t cusolverDn##S##symmetric##gvd(cusolverDnHandle_t handle, cusolverEigType_t type,                    \
                                                 cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda,  \
                                                 T* b, int ldb, R* w, T* work, int size, int* info) {                  \
    return General<NumberOf<T>::type>{{__func__, handle}, type, mode, fill, n, N(a), lda, N(b), ldb, w,                \
                                      Work(work, size),   info}                                                        \
        .Do();                                                                                                         \
  }

#define PARTS(S, T, R, orthogonal, symmetric)                                                                          \
  LOCKSTEP_WORK(cusolverDn##S##symmetric##evdx, cusolverEigMode_t, cusolverEigRange_t, cublasFillMode_t, int,          \
                const T*, int, R, R, int, int, int*, const R*, int* size)                                              \
  cusolverStatus_t cusolverDn##S##symmetric##evdx(                                                                     \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, cusolverEigRange_t range, cublasFillMode_t fill, int n, T* a, \
      int lda, R low, R high, int first, int last, int* count, R* w, T* work, int size, int* info) {                   \
    const Part<NumberOf<T>::type> part = {range, low, high, first, last, count};                                       \
    return Eigen<NumberOf<T>::type>{{__func__, handle}, mode, fill, n,       N(a), lda, w,                             \
                                    Work(work, size),   info, 1,    nullptr, part}                                     \
        .Do({{Mode(mode), 1},                                                                                          \
             {part.is_range(), 2},                                                                                     \
             {Fill(fill), 3},                                                                                          \
             {n >= 0, 4},                                                                                              \
             {Leading(lda, n), 6},                                                                                     \
             {part.has_values(n), 8},                                                                                  \
             {part.has_first(n), 9},                                                                                   \
             {part.has_last(n), 10}});                                                                                 \
  }                                                                                                                    \
  LOCKSTEP_WORK(cusolverDn##S##symmetric##gvdx, cusolverEigType_t, cusolverEigMode_t, cusolverEigRange_t,              \
                cublasFillMode_t, int, const T*, int, const T*, int, R, R, int, int, int*, const R*, int* size)        \
  cusolverStatus_t cusolverDn##S##symmetric##gvdx(                                                                     \
      cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t mode, cusolverEigRange_t range,             \
      cublasFillMode_t fill, int n, T* a, int lda, T* b, int ldb, R low, R high, int first, int last, int* count,      \
      R* w, T* work, int size, int* info) {                                                                            \
    return General<NumberOf<T>::type>{{__func__, handle},                                                              \
                                      type,                                                                            \
                                      mode,                                                                            \
                                      fill,                                                                            \
                                      n,                                                                               \
                                      N(a),                                                                            \
                                      lda,                                                                             \
                                      N(b),                                                                            \
                                      ldb,                                                                             \
                                      w,                                                                               \
                                      Work(work, size),                                                                \
                                      info,                                                                            \
                                      nullptr,                                                                         \
                                      {range, low, high, first, last, count}}                                          \
        .Do();                                                                                                         \
  }                                                                                                                    \
  LOCKSTEP_WORK(cusolverDn##S##symmetric##gvj, cusolverEigType_t, cusolverEigMode_t, cublasFillMode_t, int, const T*,  \
                int, const T*, int, const R*, int* size, syevjInfo_t)                                                  \
  cusolverStatus_t cusolverDn##S##symmetric##gvj(                                                                      \
      cusolverDnHandle_t handle, cusolverEigType_t type, cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a,   \
      int lda, T* b, int ldb, R* w, T* work, int size, int* info, syevjInfo_t parameters) {                            \
    const Function f{__func__, handle};                                                                                \
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(parameters)}));                                                         \
    return General<NumberOf<T>::type>{                                                                                 \
        f, type, mode, fill, n, N(a), lda, N(b), ldb, w, Work(work, size), info, parameters->state}                    \
        .Do();                                                                                                         \
  }

extern "C" {

LOCKSTEP_ALL_TYPES(EIGEN)
LOCKSTEP_ALL_TYPES(PARTS)

LOCKSTEP_WIDE_WORK(cusolverDnXsyevd, cusolverEigMode_t, cublasFillMode_t, int64_t, cudaDataType, const void*, int64_t,
                   cudaDataType, const void*, cudaDataType)
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                  cublasFillMode_t fill, int64_t n, cudaDataType type, void* a, int64_t lda,
                                  cudaDataType w_type, void* w, cudaDataType, void* work, size_t bytes, void*, size_t,
                                  int* info) {
  const Function f{__func__, handle};
  return OfType(f, type, [&](auto t) {
    using T = typename decltype(t)::type;
    LOCKSTEP_RETURN_UNLESS_OK(
        CheckArguments(f, info, {{Mode(mode), 2}, {Fill(fill), 3}, {n >= 0, 4}, {Leading(lda, n), 7}}));
    LOCKSTEP_RETURN_UNLESS_OK(CheckPrecision<T>(f, info, w_type));
    return Eigen<T>{f, mode, fill, n, static_cast<T*>(a), lda, static_cast<Real<T>*>(w), WorkOf(work, bytes), info}.Do(
        {});
  });
}

LOCKSTEP_WIDE_WORK(cusolverDnXsyevdx, cusolverEigMode_t, cusolverEigRange_t, cublasFillMode_t, int64_t, cudaDataType,
                   const void*, int64_t, void*, void*, int64_t, int64_t, int64_t*, cudaDataType, const void*,
                   cudaDataType)
cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                   cusolverEigRange_t range, cublasFillMode_t fill, int64_t n, cudaDataType type,
                                   void* a, int64_t lda, void* low, void* high, int64_t first, int64_t last,
                                   int64_t* count, cudaDataType w_type, void* w, cudaDataType, void* work, size_t bytes,
                                   void*, size_t, int* info) {
  const Function f{__func__, handle};
  return OfType(f, type, [&](auto t) {
    using T = typename decltype(t)::type;
    Part<T> part = {range, 0, 0, first, last, nullptr, count};
    if (range == CUSOLVER_EIG_RANGE_V) {
      LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(low), NotNull(high)}));
      part.low = *static_cast<Real<T>*>(low);
      part.high = *static_cast<Real<T>*>(high);
    }
    LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(f, info,
                                             {{Mode(mode), 2},
                                              {part.is_range(), 3},
                                              {Fill(fill), 4},
                                              {n >= 0, 5},
                                              {Leading(lda, n), 8},
                                              {part.has_values(n), 10},
                                              {part.has_first(n), 11},
                                              {part.has_last(n), 12}}));
    LOCKSTEP_RETURN_UNLESS_OK(CheckPrecision<T>(f, info, w_type));
    return Eigen<T>{f,    mode, fill,    n,   static_cast<T*>(a), lda, static_cast<Real<T>*>(w), WorkOf(work, bytes),
                    info, 1,    nullptr, part}
        .Do({});
  });
}

LOCKSTEP_WIDE_WORK(cusolverDnXgeev, cusolverEigMode_t, cusolverEigMode_t, int64_t, cudaDataType, const void*, int64_t,
                   cudaDataType, const void*, cudaDataType, const void*, int64_t, cudaDataType, const void*, int64_t,
                   cudaDataType)
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t left,
                                 cusolverEigMode_t right, int64_t n, cudaDataType type, void* a, int64_t lda,
                                 cudaDataType w_type, void* w, cudaDataType, void*, int64_t, cudaDataType vr_type,
                                 void* vr, int64_t ldvr, cudaDataType, void* work, size_t bytes, void*, size_t,
                                 int* info) {
  const Function f{__func__, handle};
  return OfType(f, type, [&](auto t) {
    using T = typename decltype(t)::type;
    const bool vectors = right == CUSOLVER_EIG_MODE_VECTOR;
    LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(
        f, info,
        {{Mode(left), 2}, {Mode(right), 3}, {n >= 0, 4}, {Leading(lda, n), 7}, {!vectors || Leading(ldvr, n), 15}}));
    LOCKSTEP_REFUSE_UNLESS_FIT(f, n, lda, ldvr);
    if (left == CUSOLVER_EIG_MODE_VECTOR) return f.Missing("vectors left of the matrix");
    const bool is_w_complex = w_type == kData<std::complex<Real<T>>>;
    if ((w_type != type && !is_w_complex) || (vectors && vr_type != type))
      return f.Missing("this combination of types");
    return Unsymmetric<T>{f,
                          vectors,
                          static_cast<int>(n),
                          static_cast<T*>(a),
                          static_cast<int>(lda),
                          is_w_complex,
                          w,
                          static_cast<T*>(vr),
                          static_cast<int>(ldvr),
                          WorkOf(work, bytes),
                          info}
        .Do();
  });
}

}  // extern "C"
