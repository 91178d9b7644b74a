// Singular values, in falling order, and their vectors.
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

// A = U S V^H of a matrix that is not wider than high.
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

  // Arguments have other numbers in the function with 64-bit sizes.
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
      return f.Invalid("the matrix is wider than high");
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

// The same with V instead of V^H, of any shape, one or a batch of them one behind the other.
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
  int count;
  std::shared_ptr<Jacobi> jacobi;

  bool vectors() const { return mode == CUSOLVER_EIG_MODE_VECTOR; }
  int most() const { return std::min(m, n); }
  int u_columns() const { return econ ? most() : m; }
  int v_columns() const { return econ ? most() : n; }
  T* a_of(int i) const { return a + static_cast<int64_t>(i) * lda * n; }
  T* u_of(int i) const { return u + static_cast<int64_t>(i) * ldu * m; }
  T* v_of(int i) const { return v + static_cast<int64_t>(i) * ldv * n; }

  cusolverStatus_t Do() const {
    Call call = f.Begin(MultiplyAdds<T>(Products(m, n) * count), kArithmetic<T>);
    for (int i = 0; i < count; ++i) {
      call.memory.push_back(MatrixOf(Access::kReadWrite, "matrix A", a_of(i), m, n, lda));
      if (!vectors()) continue;
      call.memory.push_back(MatrixOf(Access::kWrite, "matrix U", u_of(i), m, u_columns(), ldu));
      call.memory.push_back(MatrixOf(Access::kWrite, "matrix V", v_of(i), n, v_columns(), ldv));
    }
    call.memory.push_back(Elements(Access::kWrite, "the singular values", s, int64_t{most()} * count));
    call.memory.push_back(work);
    call.memory.push_back(Info(info, count));
    call.run = [self = *this] {
      for (int i = 0; i < self.count; ++i) self.RunOne(i);
      *self.jacobi = {0, 1};
    };
    return Function::Do(std::move(call));
  }

  void RunOne(int i) const {
    const char job = !vectors() ? 'N' : econ ? 'S' : 'A';
    const int rows = std::max(1, v_columns());
    std::vector<T> vt(static_cast<size_t>(rows) * static_cast<size_t>(n) + 1);
    info[i] = Gesvd(job, job, m, n, a_of(i), lda, s + static_cast<int64_t>(i) * most(), u_of(i), ldu, vt.data(), rows);
    if (!vectors()) return;
    for (int row = 0; row < n; ++row) {
      for (int column = 0; column < v_columns(); ++column) {
        v_of(i)[row + static_cast<int64_t>(column) * ldv] =
            Conjugate(vt[static_cast<size_t>(column) + static_cast<size_t>(row) * static_cast<size_t>(rows)]);
      }
    }
  }
};

}  // namespace
}  // namespace lockstep::libraries::solver

using namespace lockstep::libraries;
using namespace lockstep::libraries::solver;

#define SINGULAR(S, T, R, orthogonal, symmetric)                                                                       \
  cusolverStatus_t cusolverDn##S##gesvd_bufferSize(cusolverDnHandle_t handle, int, int, int* size) {                   \
    return AnswerWork({__func__, handle}, {}, size);                                                                   \
  }                                                                                                                    \
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
  cusolverStatus_t cusolverDn##S##gesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t, int, int, int,       \
                                                    const T*, int, const R*, const T*, int, const T*, int, int* size,  \
                                                    gesvdjInfo_t) {                                                    \
    return AnswerWork({__func__, handle}, {}, size);                                                                   \
  }                                                                                                                    \
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
    return Turned<NumberOf<T>::type>{                                                                                  \
        f, mode, econ != 0, m, n, N(a), lda, s, N(u), ldu, N(v), ldv, Work(work, size), info, 1, parameters->state}    \
        .Do();                                                                                                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##S##gesvdjBatched_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t, int, int,     \
                                                           const T*, int, const R*, const T*, int, const T*, int,      \
                                                           int* size, gesvdjInfo_t, int) {                             \
    return AnswerWork({__func__, handle}, {}, size);                                                                   \
  }                                                                                                                    \
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
    return Turned<NumberOf<T>::type>{                                                                                  \
        f, mode, false, m, n, N(a), lda, s, N(u), ldu, N(v), ldv, Work(work, size), info, count, parameters->state}    \
        .Do();                                                                                                         \
  }

extern "C" {

LOCKSTEP_ALL_TYPES(SINGULAR)

cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, signed char, signed char,
                                             int64_t m, int64_t n, cudaDataType, const void*, int64_t, cudaDataType,
                                             const void*, cudaDataType, const void*, int64_t, cudaDataType, const void*,
                                             int64_t, cudaDataType, size_t* on_device, size_t* on_host) {
  return AnswerWork({__func__, handle}, {{m >= n, "the matrix is wider than high"}}, on_device, on_host);
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
                       Work(static_cast<char*>(work), static_cast<int64_t>(bytes)),
                       info}
        .Do(true);
  });
}

}  // extern "C"
