// cuSOLVER's factors and solutions of random matrices in all types: compares A with the factors' product, and Q^H Q
// with a unit matrix. Prints a line for each, "getrf, getrs S ok", and what the functions return for matrices that have
// no factors; the same on a GPU.
#include "solver_values.h"

template <typename T>
void lu(const char* letter) {
  for (const int rows : {kN, kM, 6}) {
    for (const bool pivots : {true, false}) {
      Array<T> a(kLead * kN);
      for (int i = 0; i < kN && !pivots; ++i) a.host[i + i * kLead] = Type<T>::narrow(5);
      a.up();
      int size = 0;
      call(Solver<T>::getrf_size(rows, kN, a.device, kLead, &size));
      Room<T> work(size);
      Room<int> info(1), rows_of(kN);
      call(Solver<T>::getrf(rows, kN, a.device, kLead, work.device, pivots ? rows_of.device : nullptr, info.device));
      expect_info(info);
      const int most = std::min(rows, kN);
      const Full packed = full(a.down(), rows, kN, kLead);
      Full lower = part(packed, rows, most);
      for (int i = 0; i < most; ++i) {
        for (int j = i; j < most; ++j) lower(i, j) = i == j;
      }
      Full expected = full(a.host, rows, kN, kLead);
      const auto exchanged = rows_of.down(kN);
      for (int i = 0; i < most && pivots; ++i) {
        compare(exchanged[i] > i && exchanged[i] <= rows ? 0 : 1, 0);
        if (worst > 0.1) break;
        for (int j = 0; j < kN; ++j) std::swap(expected(i, j), expected(exchanged[i] - 1, j));
      }
      compare(lower * part(packed, most, kN, true), expected);
      if (rows != kN) continue;
      for (const cublasOperation_t op : kOperations) {
        Array<T> b(kLead * kColumns);
        call(Solver<T>::getrs(op, kN, kColumns, a.device, kLead, pivots ? rows_of.device : nullptr, b.device, kLead,
                              info.device));
        expect_info(info);
        compare(turned(full(a.host, kN, kN, kLead), op) * full(b.down(), kN, kColumns, kLead),
                full(b.host, kN, kColumns, kLead));
      }
    }
  }
  tell("getrf, getrs", letter, 100 * Type<T>::kExact);
}

template <typename T>
void qr(const char* letter) {
  for (const int rows : {kM, kN, 6}) {
    const int most = std::min(rows, kN);
    Array<T> a(kLead * kN);
    int size = 0, another = 0;
    call(Solver<T>::geqrf_size(rows, kN, a.device, kLead, &size));
    Room<T> work(size), tau(kN);
    Room<int> info(1);
    call(Solver<T>::geqrf(rows, kN, a.device, kLead, tau.device, work.device, size, info.device));
    expect_info(info);
    const Full r = part(full(a.down(), rows, kN, kLead), most, kN, true);
    Array<T> q(kLead * kN);
    cudaMemcpy(q.device, a.device, q.host.size() * sizeof(T), cudaMemcpyDeviceToDevice);
    call(Solver<T>::orgqr_size(rows, most, most, q.device, kLead, tau.device, &another));
    Room<T> more(another);
    call(Solver<T>::orgqr(rows, most, most, q.device, kLead, tau.device, more.device, another, info.device));
    expect_info(info);
    const Full columns = full(q.down(), rows, most, kLead);
    compare(columns * r, full(a.host, rows, kN, kLead));
    compare(adjoint(columns) * columns, unit(most));
    for (const cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
      for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
        const bool complex = Type<T>::kComplex;
        if (op == (complex ? CUBLAS_OP_T : CUBLAS_OP_C)) continue;
        // A random C, multiplied by op(Q) from the left or from the right.
        const bool left = side == CUBLAS_SIDE_LEFT;
        const int m = left ? rows : 5, n = left ? 5 : rows;
        Array<T> c(kLead * std::max(m, n));
        int third = 0;
        call(Solver<T>::ormqr_size(side, op, m, n, most, a.device, kLead, tau.device, c.device, kLead, &third));
        Room<T> room(third);
        call(Solver<T>::ormqr(side, op, m, n, most, a.device, kLead, tau.device, c.device, kLead, room.device, third,
                              info.device));
        expect_info(info);
        // If only the first columns of Q are known: the first rows of Q^H C, or the first columns of C Q.
        const Full before = full(c.host, m, n, kLead), after = full(c.down(), m, n, kLead);
        if (left && op != CUBLAS_OP_N) compare(part(after, most, n), adjoint(columns) * before);
        if (!left && op == CUBLAS_OP_N) compare(part(after, m, most), before * columns);
        if (rows == most) {
          const Full all = op == CUBLAS_OP_N ? columns : adjoint(columns);
          compare(after, left ? all * before : before * all);
        }
        // Q keeps lengths.
        double length = 0;
        for (const Z& element : before.elements) length += std::norm(element);
        for (const Z& element : after.elements) length -= std::norm(element);
        compare(length, 0, 10);
      }
    }
  }
  tell("geqrf, orgqr, ormqr", letter, 10 * Type<T>::kExact);
}

template <typename T>
void cholesky(const char* letter) {
  for (const cublasFillMode_t fill : kFills) {
    Array<T> a(kLead * kN), b(kLead * kColumns);
    const Full matrix = definite(a, kN, kLead);
    int size = 0, another = 0;
    call(Solver<T>::potrf_size(fill, kN, a.device, kLead, &size));
    Room<T> work(size);
    Room<int> info(1);
    call(Solver<T>::potrf(fill, kN, a.device, kLead, work.device, size, info.device));
    expect_info(info);
    const Full factor = triangle(a.down(), fill, kN, kLead);
    compare(fill == CUBLAS_FILL_MODE_UPPER ? adjoint(factor) * factor : factor * adjoint(factor), matrix);
    call(Solver<T>::potrs(fill, kN, kColumns, a.device, kLead, b.device, kLead, info.device));
    expect_info(info);
    compare(matrix * full(b.down(), kN, kColumns, kLead), full(b.host, kN, kColumns, kLead));
    call(Solver<T>::potri_size(fill, kN, a.device, kLead, &another));
    Room<T> room(another);
    call(Solver<T>::potri(fill, kN, a.device, kLead, room.device, another, info.device));
    expect_info(info);
    compare(matrix * hermitian(a.down(), fill, kN, kLead), unit(kN));
  }
  tell("potrf, potrs, potri", letter, 100 * Type<T>::kExact);
  constexpr int kCount = 3, kSize = kLead * kN;
  for (const cublasFillMode_t fill : kFills) {
    Array<T> a(kSize * kCount), b(kLead * kCount);
    std::vector<Full> matrices;
    T *pointers[2 * kCount], **device;
    for (int i = 0; i < kCount; ++i) {
      matrices.push_back(definite(a, kN, kLead, i * kSize));
      pointers[i] = a.device + i * kSize;
      pointers[kCount + i] = b.device + i * kLead;
    }
    cudaMalloc(&device, sizeof pointers);
    cudaMemcpy(device, pointers, sizeof pointers, cudaMemcpyHostToDevice);
    Room<int> infos(kCount);
    call(Solver<T>::potrf_batched(fill, kN, device, kLead, infos.device, kCount));
    for (const int info : infos.down(kCount)) compare(info, 0);
    call(Solver<T>::potrs_batched(fill, kN, 1, device, kLead, device + kCount, kLead, infos.device, kCount));
    compare(infos.down(1)[0], 0);
    const auto solved = b.down();
    for (int i = 0; i < kCount; ++i) {
      const std::vector<T> x(solved.begin() + i * kLead, solved.end());
      const std::vector<T> right(b.host.begin() + i * kLead, b.host.end());
      compare(matrices[i] * full(x, kN, 1, kLead), full(right, kN, 1, kLead));
    }
    cudaFree(device);
  }
  tell("potrfBatched, potrsBatched", letter, 100 * Type<T>::kExact);
}

// The functions with 64-bit sizes.
template <typename T>
void generic(const char* letter) {
  cusolverDnParams_t any;
  call(cusolverDnCreateParams(&any));
  size_t on_device = 0, on_host = 0;
  {
    Array<T> a(kLead * kN), b(kLead * kColumns);
    Room<int64_t> pivots(kN);
    Room<int> info(1);
    call(cusolverDnXgetrf_bufferSize(handle, any, kN, kN, kData<T>, a.device, kLead, kData<T>, &on_device, &on_host));
    Room<char> work(on_device);
    std::vector<char> host(on_host + 1);
    call(cusolverDnXgetrf(handle, any, kN, kN, kData<T>, a.device, kLead, pivots.device, kData<T>, work.device,
                          on_device, host.data(), on_host, info.device));
    expect_info(info);
    call(cusolverDnXgetrs(handle, any, CUBLAS_OP_C, kN, kColumns, kData<T>, a.device, kLead, pivots.device, kData<T>,
                          b.device, kLead, info.device));
    expect_info(info);
    compare(adjoint(full(a.host, kN, kN, kLead)) * full(b.down(), kN, kColumns, kLead),
            full(b.host, kN, kColumns, kLead));
  }
  for (const cublasFillMode_t fill : kFills) {
    Array<T> a(kLead * kN), b(kLead * kColumns);
    const Full matrix = definite(a, kN, kLead);
    Room<int> info(1);
    call(cusolverDnXpotrf_bufferSize(handle, any, fill, kN, kData<T>, a.device, kLead, kData<T>, &on_device, &on_host));
    Room<char> work(on_device);
    std::vector<char> host(on_host + 1);
    call(cusolverDnXpotrf(handle, any, fill, kN, kData<T>, a.device, kLead, kData<T>, work.device, on_device,
                          host.data(), on_host, info.device));
    expect_info(info);
    call(cusolverDnXpotrs(handle, any, fill, kN, kColumns, kData<T>, a.device, kLead, kData<T>, b.device, kLead,
                          info.device));
    expect_info(info);
    compare(matrix * full(b.down(), kN, kColumns, kLead), full(b.host, kN, kColumns, kLead));
    for (const cublasDiagType_t diagonal : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
      Array<T> t(kLead * kN);
      for (int i = 0; i < kN; ++i) t.host[i + i * kLead] = Type<T>::narrow(3 + i);
      t.up();
      call(cusolverDnXtrtri_bufferSize(handle, fill, diagonal, kN, kData<T>, t.device, kLead, &on_device, &on_host));
      Room<char> room(on_device);
      std::vector<char> more(on_host + 1);
      call(cusolverDnXtrtri(handle, fill, diagonal, kN, kData<T>, t.device, kLead, room.device, on_device, more.data(),
                            on_host, info.device));
      expect_info(info);
      Full before = triangle(t.host, fill, kN, kLead), after = triangle(t.down(), fill, kN, kLead);
      for (int i = 0; i < kN && diagonal == CUBLAS_DIAG_UNIT; ++i) before(i, i) = after(i, i) = 1;
      compare(before * after, unit(kN));
    }
  }
  {
    Array<T> a(kLead * kN);
    Room<T> tau(kN);
    Room<int> info(1);
    call(cusolverDnXgeqrf_bufferSize(handle, any, kM, kN, kData<T>, a.device, kLead, kData<T>, tau.device, kData<T>,
                                     &on_device, &on_host));
    Room<char> work(on_device);
    std::vector<char> host(on_host + 1);
    call(cusolverDnXgeqrf(handle, any, kM, kN, kData<T>, a.device, kLead, kData<T>, tau.device, kData<T>, work.device,
                          on_device, host.data(), on_host, info.device));
    expect_info(info);
    // R^H R = A^H A.
    const Full r = part(full(a.down(), kM, kN, kLead), kN, kN, true), matrix = full(a.host, kM, kN, kLead);
    compare(adjoint(r) * r, adjoint(matrix) * matrix);
  }
  call(cusolverDnDestroyParams(any));
  tell("Xgetrf, Xgetrs, Xpotrf, Xpotrs, Xtrtri, Xgeqrf", letter, 1e3 * Type<T>::kExact);
}

// Pivots, signs, and what the functions return for matrices without factors.
static void known_matrices() {
  const auto print = [](const char* name, const std::vector<double>& numbers) {
    std::printf("%s", name);
    for (const double number : numbers) number == number ? std::printf(" %.4g", number) : std::printf(" nan");
    std::printf("\n");
  };
  Room<double> a(16), work(1 << 16), tau(4), s(4), b(16);
  Room<int> info(4), pivots(4);
  const auto set = [](const Room<double>& room, std::vector<double> numbers) {
    cudaMemcpy(room.device, numbers.data(), numbers.size() * sizeof(double), cudaMemcpyHostToDevice);
  };
  const auto say = [&](const char* name, int status) {
    const int known = info.down(1)[0];
    std::printf("%s: status %d, info %d\n", name, status, known);
    cudaMemset(info.device, 0xff, sizeof(int));
  };
  const auto pivots_of = [&] {
    const auto rows = pivots.down(3);
    print("pivots", {(double)rows[0], (double)rows[1], (double)rows[2]});
  };
  set(a, {1, 4, 7, 2, 5, 8, 3, 6, 10});
  say("getrf", Solver<double>::getrf(3, 3, a.device, 3, work.device, pivots.device, info.device));
  pivots_of();
  print("factors", a.down(9));
  set(a, {1, 2, 4, 2, 4, 8, 1, 1, 1});
  say("getrf of rank 2", Solver<double>::getrf(3, 3, a.device, 3, work.device, pivots.device, info.device));
  pivots_of();
  print("factors", a.down(9));
  set(a, {0, 0, 0, 0, 0, 0, 0, 0, 0});
  say("getrf of zeros", Solver<double>::getrf(3, 3, a.device, 3, work.device, pivots.device, info.device));
  set(a, {0, 1, 1, 0});
  say("getrf without exchanges", Solver<double>::getrf(2, 2, a.device, 2, work.device, nullptr, info.device));
  set(a, {1, 2, 2, 2, 3, 5, 2, 5, 9});
  int size = 0;
  Solver<double>::potrf_size(CUBLAS_FILL_MODE_LOWER, 3, a.device, 3, &size);
  say("potrf of an indefinite matrix",
      Solver<double>::potrf(CUBLAS_FILL_MODE_LOWER, 3, a.device, 3, work.device, size, info.device));
  set(a, {1, 0, 0, 0, 0, 0, 0, 0, 1});
  say("potrf of a semidefinite matrix",
      Solver<double>::potrf(CUBLAS_FILL_MODE_UPPER, 3, a.device, 3, work.device, size, info.device));
  set(a, {4, 0, 0, 0, 0, 0, 0, 0, 1});
  say("potri of a factor with a zero",
      Solver<double>::potri(CUBLAS_FILL_MODE_LOWER, 3, a.device, 3, work.device, 1 << 16, info.device));
  print("inverse", a.down(9));
  // The second matrix of a batch is indefinite.
  set(a, {4, 0, 0, 9, 4, 0, 0, -9});
  double *pointers[2] = {a.device, a.device + 4}, **device;
  cudaMalloc(&device, sizeof pointers);
  cudaMemcpy(device, pointers, sizeof pointers, cudaMemcpyHostToDevice);
  std::printf("potrfBatched %d:", Solver<double>::potrf_batched(CUBLAS_FILL_MODE_LOWER, 2, device, 2, info.device, 2));
  for (const int known : info.down(2)) std::printf(" info %d", known);
  std::printf("\n");
  print("factors", a.down(4));
  cudaFree(device);
  set(a, {3, 4, 0, 1, 2, 5});
  Solver<double>::geqrf_size(3, 2, a.device, 3, &size);
  say("geqrf", Solver<double>::geqrf(3, 2, a.device, 3, tau.device, work.device, size, info.device));
  print("factors", a.down(6));
  print("tau", tau.down(2));
  set(a, {2, 1, 0, 1, 2, 1, 0, 1, 2});
  set(b, {1, 0, 0, 0, -1, 0, 0, 0, 1});
  Solver<double>::sygvd_size(CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 3, a.device, 3,
                             b.device, 3, s.device, &size);
  say("sygvd with an indefinite B",
      Solver<double>::sygvd(CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 3, a.device, 3,
                            b.device, 3, s.device, work.device, size, info.device));
}

int main() {
  call(cusolverDnCreate(&handle));
  LOCKSTEP_EACH(lu);
  LOCKSTEP_EACH(qr);
  LOCKSTEP_EACH(cholesky);
  LOCKSTEP_EACH(generic);
  known_matrices();
  std::printf("left %d\n", cudaDeviceSynchronize());
  cusolverDnDestroy(handle);
}
