// What cuSOLVER's eigenvalues and singular values are, of random matrices in all types: A V = V W and A = U S V^H, in
// order, with orthogonal vectors. Prints a line for each, "syevd, syevj, Xsyevd S ok", and the same on a GPU.
#include "solver_values.h"

// A V = V W or A V = B V W, with W in rising order.
template <typename R>
void check_eigen(const Full& a, const Full& b, const Full& vectors, const std::vector<R>& values) {
  Full scaled = b * vectors;
  for (int column = 0; column < a.rows; ++column) {
    for (int row = 0; row < a.rows; ++row) scaled(row, column) *= values[column];
    if (column > 0) compare(values[column] >= values[column - 1] ? 0 : 1, 0);
  }
  compare(a * vectors, scaled);
  compare(adjoint(vectors) * (b * vectors), unit(a.rows));
}

template <typename T>
void eigen(const char* letter) {
  using R = typename Type<T>::Real;
  for (const cublasFillMode_t fill : kFills) {
    for (const cusolverEigMode_t mode : {CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_MODE_NOVECTOR}) {
      const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
      for (int way = 0; way < 3; ++way) {
        Array<T> a(kLead * kN);
        for (int i = 0; i < kN; ++i) a.host[i + i * kLead] = Type<T>::narrow(a.at(i + i * kLead).real() + i);
        a.up();
        const Full matrix = hermitian(a.host, fill, kN, kLead);
        Room<R> values(kN);
        Room<int> info(1);
        int size = 0;
        syevjInfo_t parameters;
        call(cusolverDnCreateSyevjInfo(&parameters));
        if (way == 0) {
          call(Solver<T>::syevd_size(mode, fill, kN, a.device, kLead, values.device, &size));
          Room<T> work(size);
          call(Solver<T>::syevd(mode, fill, kN, a.device, kLead, values.device, work.device, size, info.device));
        } else if (way == 1) {
          call(Solver<T>::syevj_size(mode, fill, kN, a.device, kLead, values.device, &size, parameters));
          Room<T> work(size);
          call(Solver<T>::syevj(mode, fill, kN, a.device, kLead, values.device, work.device, size, info.device,
                                parameters));
          double residual = 1;
          int sweeps = 0;
          call(cusolverDnXsyevjGetResidual(handle, parameters, &residual));
          call(cusolverDnXsyevjGetSweeps(handle, parameters, &sweeps));
          compare(residual, 0, 1);
          compare(sweeps > 0 ? 1 : 0, 1);
        } else {
          size_t on_device = 0, on_host = 0;
          cusolverDnParams_t any;
          call(cusolverDnCreateParams(&any));
          call(cusolverDnXsyevd_bufferSize(handle, any, mode, fill, kN, kData<T>, a.device, kLead, kRealData<T>,
                                           values.device, kData<T>, &on_device, &on_host));
          Room<char> work(on_device);
          std::vector<char> host(on_host + 1);
          call(cusolverDnXsyevd(handle, any, mode, fill, kN, kData<T>, a.device, kLead, kRealData<T>, values.device,
                                kData<T>, work.device, on_device, host.data(), on_host, info.device));
          call(cusolverDnDestroyParams(any));
        }
        call(cusolverDnDestroySyevjInfo(parameters));
        expect_info(info);
        const auto found = values.down(kN);
        if (vectors) {
          check_eigen(matrix, unit(kN), full(a.down(), kN, kN, kLead), found);
        } else {
          // The sum of the eigenvalues is the trace; the sum of their squares is that of the elements' squares.
          Z trace = 0, squares = 0;
          for (int i = 0; i < kN; ++i) trace += matrix(i, i) - Z(found[i]), squares -= found[i] * found[i];
          for (const Z& element : matrix.elements) squares += std::norm(element);
          compare(trace, 0, 10);
          compare(squares, 0, 100);
        }
      }
    }
  }
  tell("syevd, syevj, Xsyevd", letter, 10 * Type<T>::kExact);
  for (const cusolverEigType_t type : {CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_TYPE_2, CUSOLVER_EIG_TYPE_3}) {
    for (const cublasFillMode_t fill : kFills) {
      Array<T> a(kLead * kN), b(kLead * kN);
      for (int i = 0; i < kN; ++i) a.host[i + i * kLead] = Type<T>::narrow(a.at(i + i * kLead).real() + i);
      a.up();
      const Full left = hermitian(a.host, fill, kN, kLead), right = definite(b, kN, kLead);
      Room<R> values(kN);
      Room<int> info(1);
      int size = 0;
      call(Solver<T>::sygvd_size(type, CUSOLVER_EIG_MODE_VECTOR, fill, kN, a.device, kLead, b.device, kLead,
                                 values.device, &size));
      Room<T> work(size);
      call(Solver<T>::sygvd(type, CUSOLVER_EIG_MODE_VECTOR, fill, kN, a.device, kLead, b.device, kLead, values.device,
                            work.device, size, info.device));
      expect_info(info);
      const Full vectors = full(a.down(), kN, kN, kLead);
      const auto w = values.down(kN);
      if (type == CUSOLVER_EIG_TYPE_1) {
        check_eigen(left, right, vectors, w);
      } else {
        Full scaled = vectors;
        for (int column = 0; column < kN; ++column) {
          for (int row = 0; row < kN; ++row) scaled(row, column) *= w[column];
        }
        compare(type == CUSOLVER_EIG_TYPE_2 ? left * (right * vectors) : right * (left * vectors), scaled);
      }
      const Full factor = triangle(b.down(), fill, kN, kLead);
      compare(fill == CUBLAS_FILL_MODE_UPPER ? adjoint(factor) * factor : factor * adjoint(factor), right);
    }
  }
  tell("sygvd", letter, 1e3 * Type<T>::kExact);
  constexpr int kCount = 3, kSide = 5;
  Array<T> a(kSide * kSide * kCount);
  for (int i = 0; i < kSide * kCount; ++i) {
    T& element = a.host[i / kSide * kSide * kSide + i % kSide * (kSide + 1)];
    element = Type<T>::narrow(Type<T>::wide(element).real() + i);
  }
  a.up();
  Room<R> values(kSide * kCount);
  Room<int> infos(kCount);
  int size = 0;
  syevjInfo_t parameters;
  call(cusolverDnCreateSyevjInfo(&parameters));
  call(Solver<T>::syevj_batched_size(CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, kSide, a.device, kSide,
                                     values.device, &size, parameters, kCount));
  Room<T> work(size);
  call(Solver<T>::syevj_batched(CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, kSide, a.device, kSide, values.device,
                                work.device, size, infos.device, parameters, kCount));
  call(cusolverDnDestroySyevjInfo(parameters));
  const auto all = a.down();
  const auto all_values = values.down(kSide * kCount);
  for (int i = 0; i < kCount; ++i) {
    compare(infos.down(kCount)[i], 0);
    const std::vector<T> before(a.host.begin() + i * kSide * kSide, a.host.end());
    const std::vector<T> after(all.begin() + i * kSide * kSide, all.end());
    check_eigen(hermitian(before, CUBLAS_FILL_MODE_LOWER, kSide, kSide), unit(kSide), full(after, kSide, kSide, kSide),
                std::vector<R>(all_values.begin() + i * kSide, all_values.end()));
  }
  tell("syevjBatched", letter, 10 * Type<T>::kExact);
}

// A = U S V^H, with S in falling order.
template <typename R>
void check_singular(const Full& a, const Full& u, const std::vector<R>& s, const Full& vh) {
  const int most = std::min(a.rows, a.columns);
  Full scaled = part(u, u.rows, most);
  for (int column = 0; column < most; ++column) {
    for (int row = 0; row < u.rows; ++row) scaled(row, column) *= s[column];
    compare(s[column] >= 0 && (column == 0 || s[column] <= s[column - 1]) ? 0 : 1, 0);
  }
  compare(scaled * part(vh, most, vh.columns), a);
  compare(adjoint(u) * u, unit(u.columns));
  compare(vh * adjoint(vh), unit(vh.rows));
}

template <typename T>
void singular(const char* letter) {
  using R = typename Type<T>::Real;
  for (const int rows : {kM, kN}) {
    for (const char job : {'A', 'S', 'N', 'O'}) {
      for (const bool generic : {false, true}) {
        Array<T> a(kLead * kN);
        const Full matrix = full(a.host, rows, kN, kLead);
        Room<T> u(kLead * kLead), vt(kLead * kN);
        Room<R> s(kN), real(kN);
        Room<int> info(1);
        const char right = job == 'O' ? 'S' : job;
        if (generic) {
          size_t on_device = 0, on_host = 0;
          cusolverDnParams_t any;
          call(cusolverDnCreateParams(&any));
          call(cusolverDnXgesvd_bufferSize(handle, any, job, right, rows, kN, kData<T>, a.device, kLead, kRealData<T>,
                                           s.device, kData<T>, u.device, kLead, kData<T>, vt.device, kLead, kData<T>,
                                           &on_device, &on_host));
          Room<char> work(on_device);
          std::vector<char> host(on_host + 1);
          call(cusolverDnXgesvd(handle, any, job, right, rows, kN, kData<T>, a.device, kLead, kRealData<T>, s.device,
                                kData<T>, u.device, kLead, kData<T>, vt.device, kLead, kData<T>, work.device, on_device,
                                host.data(), on_host, info.device));
          call(cusolverDnDestroyParams(any));
        } else {
          int size = 0;
          call(Solver<T>::gesvd_size(rows, kN, &size));
          Room<T> work(size);
          call(Solver<T>::gesvd(job, right, rows, kN, a.device, kLead, s.device, u.device, kLead, vt.device, kLead,
                                work.device, size, real.device, info.device));
        }
        expect_info(info);
        const auto values = s.down(kN);
        if (job == 'N') {
          double squares = 0;
          for (const Z& element : matrix.elements) squares += std::norm(element);
          for (const R value : values) squares -= value * value;
          compare(squares, 0, 100);
        } else {
          const Full left = job == 'O' ? full(a.down(), rows, kN, kLead)
                                       : full(u.down(kLead * kLead), rows, job == 'A' ? rows : kN, kLead);
          check_singular(matrix, left, values, full(vt.down(kLead * kN), kN, kN, kLead));
        }
      }
    }
  }
  tell("gesvd, Xgesvd", letter, 10 * Type<T>::kExact);
  for (const int rows : {kM, kN, 6}) {
    for (const int econ : {0, 1}) {
      for (const cusolverEigMode_t mode : {CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_MODE_NOVECTOR}) {
        const int most = std::min(rows, kN);
        Array<T> a(kLead * kN);
        Room<T> u(kLead * kLead), v(kLead * kLead);
        Room<R> s(kN);
        Room<int> info(1);
        int size = 0;
        gesvdjInfo_t parameters;
        call(cusolverDnCreateGesvdjInfo(&parameters));
        call(Solver<T>::gesvdj_size(mode, econ, rows, kN, a.device, kLead, s.device, u.device, kLead, v.device, kLead,
                                    &size, parameters));
        Room<T> work(size);
        call(Solver<T>::gesvdj(mode, econ, rows, kN, a.device, kLead, s.device, u.device, kLead, v.device, kLead,
                               work.device, size, info.device, parameters));
        double residual = 1;
        int sweeps = 0;
        call(cusolverDnXgesvdjGetResidual(handle, parameters, &residual));
        call(cusolverDnXgesvdjGetSweeps(handle, parameters, &sweeps));
        compare(residual, 0, 1);
        compare(sweeps > 0 ? 1 : 0, 1);
        call(cusolverDnDestroyGesvdjInfo(parameters));
        expect_info(info);
        if (mode == CUSOLVER_EIG_MODE_NOVECTOR) continue;
        check_singular(full(a.host, rows, kN, kLead), full(u.down(kLead * kLead), rows, econ ? most : rows, kLead),
                       s.down(kN), adjoint(full(v.down(kLead * kLead), kN, econ ? most : kN, kLead)));
      }
    }
  }
  tell("gesvdj", letter, 10 * Type<T>::kExact);
  constexpr int kCount = 3, kRows = 7, kSide = 5;
  Array<T> a(kRows * kSide * kCount);
  Room<T> u(kRows * kRows * kCount), v(kSide * kSide * kCount);
  Room<R> s(kSide * kCount);
  Room<int> infos(kCount);
  int size = 0;
  gesvdjInfo_t parameters;
  call(cusolverDnCreateGesvdjInfo(&parameters));
  call(Solver<T>::gesvdj_batched_size(CUSOLVER_EIG_MODE_VECTOR, kRows, kSide, a.device, kRows, s.device, u.device,
                                      kRows, v.device, kSide, &size, parameters, kCount));
  Room<T> work(size);
  call(Solver<T>::gesvdj_batched(CUSOLVER_EIG_MODE_VECTOR, kRows, kSide, a.device, kRows, s.device, u.device, kRows,
                                 v.device, kSide, work.device, size, infos.device, parameters, kCount));
  call(cusolverDnDestroyGesvdjInfo(parameters));
  const auto us = u.down(kRows * kRows * kCount), vs = v.down(kSide * kSide * kCount);
  const auto ss = s.down(kSide * kCount);
  for (int i = 0; i < kCount; ++i) {
    compare(infos.down(kCount)[i], 0);
    const std::vector<T> before(a.host.begin() + i * kRows * kSide, a.host.end());
    const std::vector<T> left(us.begin() + i * kRows * kRows, us.end()),
        right(vs.begin() + i * kSide * kSide, vs.end());
    check_singular(full(before, kRows, kSide, kRows), full(left, kRows, kRows, kRows),
                   std::vector<R>(ss.begin() + i * kSide, ss.end()), adjoint(full(right, kSide, kSide, kSide)));
  }
  tell("gesvdjBatched", letter, 10 * Type<T>::kExact);
}

int main() {
  call(cusolverDnCreate(&handle));
  LOCKSTEP_EACH(eigen);
  LOCKSTEP_EACH(singular);
  std::printf("left %d\n", cudaDeviceSynchronize());
  cusolverDnDestroy(handle);
}
