// Singular values, in descending order, and their vectors.
#include <cmath>

#include "libraries/solver/arguments.h"

namespace lockstep::libraries::solver {
namespace {

template <typename T>
int Gesvd(char jobu, char jobvt, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt) {
  int result = 0;
  std::vector<Real<T>> reals(5 * static_cast<size_t>(std::min(m, n)) + 1);
  WithWork<T>([&](T* work, const int* size) {
    if constexpr (kIsComplex<T>) {
      Lapack<T>::gesvd(&jobu, &jobvt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, size, reals.data(), &result, 1, 1);
    } else {
      Lapack<T>::gesvd(&jobu, &jobvt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, size, &result, 1, 1);
    }
  });
  return result;
}

bool IsJob(char job) { return job == 'A' || job == 'S' || job == 'O' || job == 'N'; }

double Products(double m, double n) { return 4 * m * n * std::min(m, n); }

// A = U S V^H for a matrix with at least as many rows as columns.
template <typename T>
struct Singular {
  Function f;
  char jobu, jobvt;
  int64_t m, n;
  T* a;
  int64_t lda;
  Real<T>* s;
  T* u;
  int64_t ldu;
  T* vt;
  int64_t ldvt;
  Range work;
  int* info;

  // The function with 64-bit sizes numbers its arguments differently.
  cusolverStatus_t Do(bool is_generic) const {
    const auto number = [&](int classic, int generic) { return is_generic ? generic : classic; };
    LOCKSTEP_RETURN_UNLESS_OK(
        CheckArguments(f, info,
                       {{IsJob(jobu), number(1, 2)},
                        {IsJob(jobvt) && (jobu != 'O' || jobvt != 'O'), number(2, 3)},
                        {m >= 0, number(3, 4)},
                        {n >= 0, number(4, 5)},
                        {Leading(lda, m), number(6, 8)},
                        {ldu >= 1 && ((jobu != 'A' && jobu != 'S') || Leading(ldu, m)), number(9, 13)},
                        {ldvt >= 1 && ((jobvt != 'A' && jobvt != 'S') || Leading(ldvt, n)), number(11, 16)}}));
    LOCKSTEP_REFUSE_UNLESS_FIT(f, m, n, lda, ldu, ldvt);
    if (m < n) {
      LOCKSTEP_RETURN_UNLESS_OK(SetInfo(f, info, 0));
      return f.Invalid("the matrix has more columns than rows");
    }
    Call call = f.Begin(MultiplyAdds<T>(Products(static_cast<double>(m), static_cast<double>(n))), kArithmetic<T>);
    call.memory = {MatrixOf(Access::kReadWrite, "matrix A", a, m, n, lda),
                   Elements(Access::kWrite, "the singular values", s, n), work, Info(info)};
    if (jobu == 'A' || jobu == 'S') {
      call.memory.push_back(MatrixOf(Access::kWrite, "matrix U", u, m, jobu == 'A' ? m : n, ldu));
    }
    if (jobvt == 'A' || jobvt == 'S') call.memory.push_back(MatrixOf(Access::kWrite, "matrix VT", vt, n, n, ldvt));
    call.run = [self = *this] {
      *self.info = Gesvd(self.jobu, self.jobvt, static_cast<int>(self.m), static_cast<int>(self.n), self.a,
                         static_cast<int>(self.lda), self.s, self.u, static_cast<int>(self.ldu), self.vt,
                         static_cast<int>(self.ldvt));
    };
    return Function::Do(std::move(call));
  }
};

// Elements between the matrices of a batch, and between their singular values.
struct Strides {
  int64_t a = 0, s = 0, u = 0, v = 0;
};

// The same with V instead of V^H, for one matrix of any shape, or a batch.
template <typename T>
struct Turned {
  Function f;
  cusolverEigMode_t mode;
  bool econ;
  int m, n;
  T* a;
  int lda;
  Real<T>* s;
  T* u;
  int ldu;
  T* v;
  int ldv;
  Range work;
  int* info;
  int count = 1;
  Strides strides = {};
  std::shared_ptr<Jacobi> jacobi = nullptr;
  int rank = -1;                // number of values and vectors to keep, which also preserves A; -1: all
  double* residuals = nullptr;  // the norms of the dropped values, in host memory

  bool vectors() const { return mode == CUSOLVER_EIG_MODE_VECTOR; }
  int most() const { return std::min(m, n); }
  int kept() const { return rank >= 0 ? rank : most(); }
  int u_columns() const { return rank >= 0 || econ ? kept() : m; }
  int v_columns() const { return rank >= 0 || econ ? kept() : n; }
  T* a_of(int i) const { return a + i * strides.a; }
  Real<T>* s_of(int i) const { return s + i * strides.s; }
  T* u_of(int i) const { return u + i * strides.u; }
  T* v_of(int i) const { return v + i * strides.v; }

  cusolverStatus_t Do() const {
    Call call = f.Begin(MultiplyAdds<T>(Products(m, n) * count), kArithmetic<T>);
    for (int i = 0; i < count; ++i) {
      call.memory.push_back(MatrixOf(rank >= 0 ? Access::kRead : Access::kReadWrite, "matrix A", a_of(i), m, n, lda));
      call.memory.push_back(Elements(Access::kWrite, "the singular values", s_of(i), kept()));
      if (!vectors()) continue;
      call.memory.push_back(MatrixOf(Access::kWrite, "matrix U", u_of(i), m, u_columns(), ldu));
      call.memory.push_back(MatrixOf(Access::kWrite, "matrix V", v_of(i), n, v_columns(), ldv));
    }
    call.memory.push_back(work);
    call.memory.push_back(Info(info, count));
    call.waits = residuals != nullptr;
    call.run = [self = *this] {
      for (int i = 0; i < self.count; ++i) self.RunOne(i);
      if (self.jacobi != nullptr) self.jacobi->residual = 0, self.jacobi->sweeps = 1;
    };
    return Function::Do(std::move(call));
  }

  void RunOne(int i) const {
    const bool is_sorted = count == 1 || jacobi == nullptr || jacobi->sorts;
    const char job = !vectors() && is_sorted ? 'N' : rank >= 0 || econ ? 'S' : 'A';
    const int columns = job == 'A' ? m : most(), rows = std::max(1, job == 'A' ? n : most()), ld = std::max(1, m);
    std::vector<T> matrix(static_cast<size_t>(m) * static_cast<size_t>(n) + 1),
        left(static_cast<size_t>(ld) * static_cast<size_t>(columns) + 1);
    std::vector<T> vt(static_cast<size_t>(rows) * static_cast<size_t>(n) + 1), right(vt.size());
    std::vector<Real<T>> values(static_cast<size_t>(most()) + 1);
    for (int column = 0; column < n; ++column)
      std::copy_n(a_of(i) + int64_t{column} * lda, m, matrix.data() + int64_t{column} * m);
    info[i] = Gesvd(job, job, m, n, matrix.data(), ld, values.data(), left.data(), ld, vt.data(), rows);
    const int right_columns = job == 'A' ? n : most();
    for (int row = 0; job != 'N' && row < n; ++row) {
      for (int column = 0; column < right_columns; ++column) {
        right[static_cast<size_t>(row + int64_t{column} * n)] =
            Conjugate(vt[static_cast<size_t>(column + int64_t{row} * rows)]);
      }
    }
    if (!is_sorted) Unsort(values.data(), left.data(), right.data());
    std::copy_n(values.data(), kept(), s_of(i));
    for (int column = 0; vectors() && column < u_columns(); ++column) {
      std::copy_n(left.data() + int64_t{column} * m, m, u_of(i) + int64_t{column} * ldu);
    }
    for (int column = 0; vectors() && column < v_columns(); ++column) {
      std::copy_n(right.data() + int64_t{column} * n, n, v_of(i) + int64_t{column} * ldv);
    }
    if (residuals == nullptr) return;
    double squares = 0;
    for (int k = kept(); k < most(); ++k)
      squares += static_cast<double>(values[static_cast<size_t>(k)]) * values[static_cast<size_t>(k)];
    residuals[i] = std::sqrt(squares);
  }

  // Columns of U without a singular value stay in place.
  void Unsort(Real<T>* values, T* left, T* right) const {
    std::vector<int> places = Places(n, right, n);
    std::erase_if(places, [&](int place) { return place >= most(); });
    std::vector<T> factors;
    for (size_t at = 0; at < places.size(); ++at)
      factors.push_back(Turn(right[at + static_cast<size_t>(places[at]) * static_cast<size_t>(n)]));
    Reorder(places, std::vector<Real<T>>(places.size(), 1), 1, values, 1);
    Reorder(places, factors, m, left, m);
    Reorder(places, factors, n, right, n);
  }
};

// The arguments of cusolverDnXgesvdp and cusolverDnXgesvdr, which return V.
struct Wide {
  cudaDataType type, s_type, u_type, v_type;
  int64_t m, n;
  void* a;
  int64_t lda;
  void *s, *u;
  int64_t ldu;
  void* v;
  int64_t ldv;
  Range work;
  int* info;

  cusolverStatus_t Do(const Function& f, bool vectors, bool econ, int rank = -1) const {
    return OfType(f, type, [&](auto t) {
      using T = typename decltype(t)::type;
      LOCKSTEP_RETURN_UNLESS_OK(f.Check(
          {IsSize(m),
           IsSize(n),
           Leads(lda, m),
           Leads(ldu, m),
           Leads(ldv, n),
           {s_type == kData<Real<T>> && u_type == type && v_type == type, "the arrays are of different types"}}));
      LOCKSTEP_REFUSE_UNLESS_FIT(f, m, n, lda, ldu, ldv);
      Turned<T> turned{f, vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR, econ, static_cast<int>(m),
                       static_cast<int>(n)};
      turned.a = static_cast<T*>(a), turned.lda = static_cast<int>(lda);
      turned.s = static_cast<Real<T>*>(s);
      turned.u = static_cast<T*>(u), turned.ldu = static_cast<int>(ldu);
      turned.v = static_cast<T*>(v), turned.ldv = static_cast<int>(ldv);
      turned.work = work, turned.info = info, turned.rank = rank;
      return turned.Do();
    });
  }
};

}  // namespace
}  // namespace lockstep::libraries::solver

using namespace lockstep::libraries;
using namespace lockstep::libraries::solver;

// The common arguments of the functions with V, by their names.
#define TURNED(T, A, ECON) \
  Turned<NumberOf<T>::type> turned { f, mode, ECON, m, n, A, lda, s, N(u), ldu, N(v), ldv, Work(work, size), info }

#define SINGULAR(S, T, R, orthogonal, symmetric)                                                                       \
  LOCKSTEP_CHECKED_WORK(cusolverDn##S##gesvd, m >= 0 || n >= 0, int m, int n, int* size)                               \
  cusolverStatus_t cusolverDn##S##gesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m, int n,  \
                                        T* a, int lda, R* s, T* u, int ldu, T* vt, int ldvt, T* work, int size, R*,    \
                                        int* info) {                                                                   \
    return Singular<NumberOf<T>::type>{{__func__, handle},                                                             \
                                       static_cast<char>(jobu),                                                        \
                                       static_cast<char>(jobvt),                                                       \
                                       m,                                                                              \
                                       n,                                                                              \
                                       N(a),                                                                           \
                                       lda,                                                                            \
                                       s,                                                                              \
                                       N(u),                                                                           \
                                       ldu,                                                                            \
                                       N(vt),                                                                          \
                                       ldvt,                                                                           \
                                       Work(work, size),                                                               \
                                       info}                                                                           \
        .Do(false);                                                                                                    \
  }                                                                                                                    \
  LOCKSTEP_CHECKED_WORK(cusolverDn##S##gesvdj, m >= 0 && n >= 0, cusolverEigMode_t, int, int m, int n, const T*, int,  \
                        const R*, const T*, int, const T*, int, int* size, gesvdjInfo_t)                               \
  cusolverStatus_t cusolverDn##S##gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t mode, int econ, int m, int n,    \
                                         T* a, int lda, R* s, T* u, int ldu, T* v, int ldv, T* work, int size,         \
                                         int* info, gesvdjInfo_t parameters) {                                         \
    const Function f{__func__, handle};                                                                                \
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(parameters)}));                                                         \
    const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;                                                             \
    LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(f, info,                                                                  \
                                             {{Mode(mode), 1},                                                         \
                                              {m >= 0, 3},                                                             \
                                              {n >= 0, 4},                                                             \
                                              {Leading(lda, m), 6},                                                    \
                                              {!vectors || Leading(ldu, m), 9},                                        \
                                              {!vectors || Leading(ldv, n), 11}}));                                    \
    TURNED(T, N(a), econ != 0);                                                                                        \
    turned.jacobi = parameters->state;                                                                                 \
    return turned.Do();                                                                                                \
  }                                                                                                                    \
  LOCKSTEP_WORK(cusolverDn##S##gesvdjBatched, cusolverEigMode_t, int, int, const T*, int, const R*, const T*, int,     \
                const T*, int, int* size, gesvdjInfo_t, int)                                                           \
  cusolverStatus_t cusolverDn##S##gesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, T* a, \
                                                int lda, R* s, T* u, int ldu, T* v, int ldv, T* work, int size,        \
                                                int* info, gesvdjInfo_t parameters, int count) {                       \
    const Function f{__func__, handle};                                                                                \
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(parameters),                                                            \
                                       IsMode(mode),                                                                   \
                                       IsSize(m),                                                                      \
                                       IsSize(n),                                                                      \
                                       Leads(lda, m),                                                                  \
                                       Leads(ldu, m),                                                                  \
                                       Leads(ldv, n),                                                                  \
                                       IsSize(count),                                                                  \
                                       {m <= 32 && n <= 32, "a matrix of a batch has more than 32 rows"}}));           \
    TURNED(T, N(a), false);                                                                                            \
    turned.count = count, turned.jacobi = parameters->state;                                                           \
    turned.strides = {int64_t{lda} * n, std::min(m, n), int64_t{ldu} * m, int64_t{ldv} * n};                           \
    return turned.Do();                                                                                                \
  }

#define TRUNCATED(S, T, R, orthogonal, symmetric)                                                                \
  LOCKSTEP_WORK(cusolverDn##S##gesvdaStridedBatched, cusolverEigMode_t, int, int, int, const T*, int, long long, \
                const R*, long long, const T*, int, long long, const T*, int, long long, int* size, int)         \
  cusolverStatus_t cusolverDn##S##gesvdaStridedBatched(                                                          \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int rank, int m, int n, const T* a, int lda,            \
      long long a_stride, R* s, long long s_stride, T* u, int ldu, long long u_stride, T* v, int ldv,            \
      long long v_stride, T* work, int size, int* info, double* residuals, int count) {                          \
    const Function f{__func__, handle};                                                                          \
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsMode(mode),                                                             \
                                       IsSize(n),                                                                \
                                       {m >= n, "the matrix has more columns than rows"},                        \
                                       Leads(lda, m),                                                            \
                                       Leads(ldu, m),                                                            \
                                       Leads(ldv, n),                                                            \
                                       IsSize(count),                                                            \
                                       {rank >= 0 && rank <= n, "the rank is negative or exceeds n"}}));         \
    TURNED(T, const_cast<NumberOf<T>::type*>(N(a)), true);                                                       \
    turned.count = count, turned.rank = rank, turned.residuals = residuals;                                      \
    turned.strides = {a_stride, s_stride, u_stride, v_stride};                                                   \
    return turned.Do();                                                                                          \
  }

extern "C" {

LOCKSTEP_ALL_TYPES(SINGULAR)
LOCKSTEP_ALL_TYPES(TRUNCATED)

cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, signed char, signed char,
                                             int64_t m, int64_t n, cudaDataType, const void*, int64_t, cudaDataType,
                                             const void*, cudaDataType, const void*, int64_t, cudaDataType, const void*,
                                             int64_t, cudaDataType, size_t* on_device, size_t* on_host) {
  return AnswerWork({__func__, handle}, {{m >= n, "the matrix has more columns than rows"}}, on_device, on_host);
}
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t, signed char jobu, signed char jobvt,
                                  int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType s_type,
                                  void* s, cudaDataType u_type, void* u, int64_t ldu, cudaDataType vt_type, void* vt,
                                  int64_t ldvt, cudaDataType, void* work, size_t bytes, void*, size_t, int* info) {
  const Function f{__func__, handle};
  return OfType(f, type, [&](auto t) {
    using T = typename decltype(t)::type;
    LOCKSTEP_RETURN_UNLESS_OK(f.Check(
        {{u_type == type && vt_type == type && s_type == kData<Real<T>>, "the arrays are of different types"}}));
    return Singular<T>{f,
                       static_cast<char>(jobu),
                       static_cast<char>(jobvt),
                       m,
                       n,
                       static_cast<T*>(a),
                       lda,
                       static_cast<Real<T>*>(s),
                       static_cast<T*>(u),
                       ldu,
                       static_cast<T*>(vt),
                       ldvt,
                       WorkOf(work, bytes),
                       info}
        .Do(true);
  });
}

LOCKSTEP_WIDE_WORK(cusolverDnXgesvdp, cusolverEigMode_t, int, int64_t, int64_t, cudaDataType, const void*, int64_t,
                   cudaDataType, const void*, cudaDataType, const void*, int64_t, cudaDataType, const void*, int64_t,
                   cudaDataType)
#define WIDE_ARGUMENTS                                                                                              \
  cudaDataType type, void *a, int64_t lda, cudaDataType s_type, void *s, cudaDataType u_type, void *u, int64_t ldu, \
      cudaDataType v_type, void *v, int64_t ldv, cudaDataType, void *work, size_t bytes, void *, size_t, int *info
#define WIDE {type, s_type, u_type, v_type, m, n, a, lda, s, u, ldu, v, ldv, WorkOf(work, bytes), info}

// NVIDIA's uses a polar decomposition, and returns its error for the smallest singular values; LAPACK's is taken as 0.
cusolverStatus_t cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode, int econ,
                                   int64_t m, int64_t n, WIDE_ARGUMENTS, double* error) {
  const Function f{__func__, handle};
  const Wide wide = WIDE;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsMode(mode), NotNull(error)}));
  *error = 0;
  return wide.Do(f, mode == CUSOLVER_EIG_MODE_VECTOR, econ != 0);
}

LOCKSTEP_WIDE_WORK(cusolverDnXgesvdr, signed char, signed char, int64_t, int64_t, int64_t, int64_t, int64_t,
                   cudaDataType, const void*, int64_t, cudaDataType, const void*, cudaDataType, const void*, int64_t,
                   cudaDataType, const void*, int64_t, cudaDataType)
// NVIDIA's library uses random projections; this computes exactly.
cusolverStatus_t cusolverDnXgesvdr(cusolverDnHandle_t handle, cusolverDnParams_t, signed char jobu, signed char jobv,
                                   int64_t m, int64_t n, int64_t rank, int64_t more, int64_t, WIDE_ARGUMENTS) {
  const Function f{__func__, handle};
  const Wide wide = WIDE;
  LOCKSTEP_RETURN_UNLESS_OK(
      f.Check({{rank >= 0 && more >= 0 && rank + more <= std::min(m, n), "k, p or the sum k + p is out of range"}}));
  if (jobu != jobv) return f.Missing("vectors of one side alone");
  return wide.Do(f, jobu != 'N', true, static_cast<int>(rank));
}

}  // extern "C"
