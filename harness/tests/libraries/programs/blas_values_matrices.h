// Levels 2 and 3 of blas_values.cu, and what cuBLAS has beyond them.
#pragma once

#define LOCKSTEP_FOR_SQUARES(fill, operation, unit)       \
  for (const cublasFillMode_t fill : kFills)              \
    for (const cublasOperation_t operation : kOperations) \
      for (const bool unit : {false, true})

static cublasDiagType_t diagonal(bool unit) { return unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT; }

// A triangle that is far from singular.
template <typename T>
void strengthen(Array<T>& matrix, int n, int leading) {
  for (int i = 0; i < n; ++i) matrix.host[i + i * leading] = Type<T>::narrow(4.0 + i);
  matrix.up();
}

// Compares `run`, which replaces x by op(A) x or, if it solves, by the inverse of op(A) times x.
template <typename T, typename Run>
void in_place(const Dense& matrix, cublasOperation_t operation, bool solves, Run run) {
  for (const int increment : {1, -2}) {
    Array<T> x(64);
    call(run(x.device, increment));
    const auto result = x.down();
    const auto element = [&](bool after, int i) {
      const int at = place(i, kOrder, increment);
      return after ? Type<T>::wide(result[at]) : x.at(at);
    };
    for (int i = 0; i < kOrder; ++i) {
      Z sum = 0;
      for (int j = 0; j < kOrder; ++j) sum += turned(matrix, operation, i, j) * element(solves, j);
      compare(element(!solves, i), sum, kOrder);
    }
  }
}

#define LOCKSTEP_TRIANGULAR(S, T, name, solves)                                                                   \
  LOCKSTEP_FOR_SQUARES(fill, operation, unit) {                                                                   \
    Array<T> a(kLead * kOrder), p(kOrder * (kOrder + 1) / 2), b(kLead * kOrder);                                  \
    strengthen(a, kOrder, kLead);                                                                                 \
    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;                                                            \
    for (int i = 0, at = 0; i < kOrder; at += upper ? i + 2 : kOrder - i, ++i) p.host[at] = Type<T>::narrow(5);   \
    p.up();                                                                                                       \
    for (int i = 0; i < kOrder; ++i) b.host[(upper ? 3 : 0) + i * kLead] = Type<T>::narrow(5);                    \
    b.up();                                                                                                       \
    each(cublas##S##tr##name, cublas##S##tr##name##_64, [&](auto f) {                                             \
      in_place<T>(triangular(general(a.host), fill, unit), operation, solves, [&](T* x, int incx) {               \
        return f(handle, fill, operation, diagonal(unit), kOrder, a.device, kLead, x, incx);                      \
      });                                                                                                         \
    });                                                                                                           \
    each(cublas##S##tp##name, cublas##S##tp##name##_64, [&](auto f) {                                             \
      in_place<T>(triangular(packed(p.host, fill, kOrder), fill, unit), operation, solves, [&](T* x, int incx) {  \
        return f(handle, fill, operation, diagonal(unit), kOrder, p.device, x, incx);                             \
      });                                                                                                         \
    });                                                                                                           \
    each(cublas##S##tb##name, cublas##S##tb##name##_64, [&](auto f) {                                             \
      in_place<T>(triangular(banded(b.host, upper ? 0 : 3, upper ? 3 : 0, kLead), fill, unit), operation, solves, \
                  [&](T* x, int incx) {                                                                           \
                    return f(handle, fill, operation, diagonal(unit), kOrder, 3, b.device, kLead, x, incx);       \
                  });                                                                                             \
    });                                                                                                           \
  }                                                                                                               \
  tell("tr" #name ", tp" #name ", tb" #name, #S, 8 * Type<T>::kExact)

#define LOCKSTEP_SYMMETRIC_VECTORS(S, T, full, band, pack, hermitian)                                               \
  for (const cublasFillMode_t fill : kFills) {                                                                      \
    Array<T> a(kLead * kOrder), p(kOrder * (kOrder + 1) / 2);                                                       \
    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;                                                              \
    each(cublas##S##full, cublas##S##full##_64, [&](auto f) {                                                       \
      product_with_vector<T>(symmetric(general(a.host), fill, hermitian), CUBLAS_OP_N, kOrder, kOrder,              \
                             [&](T* alpha, T* x, int incx, T* beta, T* y, int incy) {                               \
                               return f(handle, fill, kOrder, alpha, a.device, kLead, x, incx, beta, y, incy);      \
                             });                                                                                    \
    });                                                                                                             \
    each(cublas##S##band, cublas##S##band##_64, [&](auto f) {                                                       \
      product_with_vector<T>(symmetric(banded(a.host, upper ? 0 : 2, upper ? 2 : 0, kLead), fill, hermitian),       \
                             CUBLAS_OP_N, kOrder, kOrder, [&](T* alpha, T* x, int incx, T* beta, T* y, int incy) {  \
                               return f(handle, fill, kOrder, 2, alpha, a.device, kLead, x, incx, beta, y, incy);   \
                             });                                                                                    \
    });                                                                                                             \
    each(cublas##S##pack, cublas##S##pack##_64, [&](auto f) {                                                       \
      product_with_vector<T>(symmetric(packed(p.host, fill, kOrder), fill, hermitian), CUBLAS_OP_N, kOrder, kOrder, \
                             [&](T* alpha, T* x, int incx, T* beta, T* y, int incy) {                               \
                               return f(handle, fill, kOrder, alpha, p.device, x, incx, beta, y, incy);             \
                             });                                                                                    \
    });                                                                                                             \
  }                                                                                                                 \
  tell(#full ", " #band ", " #pack, #S, Type<T>::kExact)

#define LOCKSTEP_GENERAL_VECTORS(S, T)                                                                              \
  for (const cublasOperation_t operation : kOperations) {                                                           \
    Array<T> a(kLead * kN);                                                                                         \
    each(cublas##S##gemv, cublas##S##gemv_64, [&](auto f) {                                                         \
      product_with_vector<T>(general(a.host), operation, kM, kN,                                                    \
                             [&](T* alpha, T* x, int incx, T* beta, T* y, int incy) {                               \
                               return f(handle, operation, kM, kN, alpha, a.device, kLead, x, incx, beta, y, incy); \
                             });                                                                                    \
    });                                                                                                             \
    each(cublas##S##gbmv, cublas##S##gbmv_64, [&](auto f) {                                                         \
      product_with_vector<T>(                                                                                       \
          banded(a.host, 2, 3, kLead), operation, kM, kN, [&](T* alpha, T* x, int incx, T* beta, T* y, int incy) {  \
            return f(handle, operation, kM, kN, 2, 3, alpha, a.device, kLead, x, incx, beta, y, incy);              \
          });                                                                                                       \
    });                                                                                                             \
  }                                                                                                                 \
  tell("gemv, gbmv", #S, Type<T>::kExact)

// Compares a matrix after an update: elements for which `changes` is true must equal `expected`.
template <typename T>
void compare_update(const Array<T>& matrix, int rows, int columns, const std::function<bool(int, int)>& changes,
                    const Dense& expected) {
  const auto result = matrix.down();
  for (int column = 0; column < columns; ++column) {
    for (int row = 0; row < rows; ++row) {
      const size_t at = row + column * kLead;
      compare(Type<T>::wide(result[at]), changes(row, column) ? expected(row, column) : matrix.at(at), kOrder);
    }
  }
}
static bool everywhere(int, int) { return true; }

#define LOCKSTEP_GER(S, T, name, conjugates)                                                      \
  each(cublas##S##name, cublas##S##name##_64, [&](auto f) {                                       \
    Array<T> a(kLead * kN), x(64), y(64);                                                         \
    Factor<T> alpha(Type<T>::narrow({0.75, -0.5}));                                               \
    call(f(handle, kM, kN, alpha.get(), x.device, 2, y.device, -3, a.device, kLead));             \
    compare_update(a, kM, kN, everywhere, [&](int row, int column) {                              \
      const Z right = y.at(place(column, kN, -3));                                                \
      return a.at(row + column * kLead) +                                                         \
             Type<T>::wide(alpha.host) * x.at(2 * row) * (conjugates ? std::conj(right) : right); \
    });                                                                                           \
  });                                                                                             \
  tell(#name, #S, Type<T>::kExact)

#define LOCKSTEP_RANK1(S, T, A, name, pack, packs, hermitian)                                                     \
  for (const cublasFillMode_t fill : kFills) {                                                                    \
    const auto inside = [=](int row, int column) { return stored(fill, row, column); };                           \
    each(cublas##S##name, cublas##S##name##_64, [&](auto f) {                                                     \
      Array<T> a(kLead * kOrder), x(64);                                                                          \
      for (int i = 0; i < kOrder; ++i) a.host[i * (kLead + 1)] = Type<T>::narrow(a.at(i * (kLead + 1)).real());   \
      a.up();                                                                                                     \
      Factor<A> alpha(Type<A>::narrow({0.75, -0.5}));                                                             \
      call(f(handle, fill, kOrder, alpha.get(), x.device, -2, a.device, kLead));                                  \
      compare_update(a, kOrder, kOrder, inside, [&](int row, int column) {                                        \
        const Z right = x.at(place(column, kOrder, -2));                                                          \
        return a.at(row + column * kLead) +                                                                       \
               Type<A>::wide(alpha.host) * x.at(place(row, kOrder, -2)) * (hermitian ? std::conj(right) : right); \
      });                                                                                                         \
    });                                                                                                           \
    packs                                                                                                         \
  }                                                                                                               \
  tell(#name, #S, Type<T>::kExact)
#define LOCKSTEP_PACKED1(S, T, A, pack, hermitian)                                                                    \
  each(cublas##S##pack, cublas##S##pack##_64, [&](auto f) {                                                           \
    Array<T> a(kOrder * (kOrder + 1) / 2), x(64);                                                                     \
    Factor<A> alpha(Type<A>::narrow(0.75));                                                                           \
    const Dense before = symmetric(packed(a.host, fill, kOrder), fill, hermitian);                                    \
    call(f(handle, fill, kOrder, alpha.get(), x.device, 1, a.device));                                                \
    const Dense after = packed(a.down(), fill, kOrder);                                                               \
    for (int row = 0; row < kOrder; ++row) {                                                                          \
      for (int column = 0; column < kOrder; ++column) {                                                               \
        const Z right = hermitian ? std::conj(x.at(column)) : x.at(column);                                           \
        if (inside(row, column)) compare(after(row, column), before(row, column) + 0.75 * x.at(row) * right, kOrder); \
      }                                                                                                               \
    }                                                                                                                 \
  });
#define LOCKSTEP_RANK2(S, T, name, packs, hermitian)                                                              \
  for (const cublasFillMode_t fill : kFills) {                                                                    \
    const auto inside = [=](int row, int column) { return stored(fill, row, column); };                           \
    const auto twice = [&](Z alpha, Z left, Z up, Z other, Z other_up) {                                          \
      return hermitian ? alpha * left * std::conj(other_up) + std::conj(alpha) * other * std::conj(up)            \
                       : alpha * (left * other_up + other * up);                                                  \
    };                                                                                                            \
    each(cublas##S##name, cublas##S##name##_64, [&](auto f) {                                                     \
      Array<T> a(kLead * kOrder), x(64), y(64);                                                                   \
      for (int i = 0; i < kOrder; ++i) a.host[i * (kLead + 1)] = Type<T>::narrow(a.at(i * (kLead + 1)).real());   \
      a.up();                                                                                                     \
      Factor<T> alpha(Type<T>::narrow({0.75, -0.5}));                                                             \
      call(f(handle, fill, kOrder, alpha.get(), x.device, 2, y.device, -1, a.device, kLead));                     \
      compare_update(a, kOrder, kOrder, inside, [&](int row, int column) {                                        \
        return a.at(row + column * kLead) + twice(Type<T>::wide(alpha.host), x.at(2 * row), x.at(2 * column),     \
                                                  y.at(place(row, kOrder, -1)), y.at(place(column, kOrder, -1))); \
      });                                                                                                         \
    });                                                                                                           \
    packs                                                                                                         \
  }                                                                                                               \
  tell(#name, #S, Type<T>::kExact)
#define LOCKSTEP_PACKED2(S, T, pack, hermitian)                                                                       \
  each(cublas##S##pack, cublas##S##pack##_64, [&](auto f) {                                                           \
    Array<T> a(kOrder * (kOrder + 1) / 2), x(64), y(64);                                                              \
    Factor<T> alpha(Type<T>::narrow({0.75, -0.5}));                                                                   \
    const Dense before = symmetric(packed(a.host, fill, kOrder), fill, hermitian);                                    \
    call(f(handle, fill, kOrder, alpha.get(), x.device, 1, y.device, 1, a.device));                                   \
    const Dense after = packed(a.down(), fill, kOrder);                                                               \
    for (int row = 0; row < kOrder; ++row) {                                                                          \
      for (int column = 0; column < kOrder; ++column) {                                                               \
        if (!inside(row, column)) continue;                                                                           \
        compare(                                                                                                      \
            after(row, column),                                                                                       \
            before(row, column) + twice(Type<T>::wide(alpha.host), x.at(row), x.at(column), y.at(row), y.at(column)), \
            kOrder);                                                                                                  \
      }                                                                                                               \
    }                                                                                                                 \
  });

// alpha left(i, ·) · right(·, j) + beta C, with k terms.
static Z sum_of(const std::function<Z(int, int)>& left, const std::function<Z(int, int)>& right, int k, int row,
                int column) {
  Z sum = 0;
  for (int i = 0; i < k; ++i) sum += left(row, i) * right(i, column);
  return sum;
}
static Dense operated(Dense matrix, cublasOperation_t operation) {
  return [=](int row, int column) { return turned(matrix, operation, row, column); };
}

#define LOCKSTEP_GEMM(S, T, name)                                                                                      \
  for (const cublasOperation_t first : kOperations) {                                                                  \
    for (const cublasOperation_t second : kOperations) {                                                               \
      each(cublas##S##name, cublas##S##name##_64, [&](auto f) {                                                        \
        Array<T> a(kLead * kLead), b(kLead * kLead), c(kLead * kLead);                                                 \
        Factor<T> alpha(Type<T>::narrow({0.75, -0.5})), beta(Type<T>::narrow({-1.25, 0.25}));                          \
        call(f(handle, first, second, kM, kN, kK, alpha.get(), a.device, kLead, b.device, kLead, beta.get(), c.device, \
               kLead));                                                                                                \
        const Dense left = operated(general(a.host), first), right = operated(general(b.host), second);                \
        compare_update(c, kM, kN, everywhere, [&](int row, int column) {                                               \
          return Type<T>::wide(alpha.host) * sum_of(left, right, kK, row, column) +                                    \
                 Type<T>::wide(beta.host) * c.at(row + column * kLead);                                                \
        });                                                                                                            \
      });                                                                                                              \
    }                                                                                                                  \
  }                                                                                                                    \
  tell(#name, #S, Type<T>::kExact)

#define LOCKSTEP_SYMM(S, T, name, hermitian)                                                                    \
  for (const cublasFillMode_t fill : kFills) {                                                                  \
    for (const bool left : {true, false}) {                                                                     \
      each(cublas##S##name, cublas##S##name##_64, [&](auto f) {                                                 \
        Array<T> a(kLead * kLead), b(kLead * kLead), c(kLead * kLead);                                          \
        Factor<T> alpha(Type<T>::narrow({0.75, -0.5})), beta(Type<T>::narrow({-1.25, 0.25}));                   \
        call(f(handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, fill, kM, kN, alpha.get(), a.device, kLead, \
               b.device, kLead, beta.get(), c.device, kLead));                                                  \
        const Dense whole = symmetric(general(a.host), fill, hermitian), other = general(b.host);               \
        compare_update(c, kM, kN, everywhere, [&](int row, int column) {                                        \
          return Type<T>::wide(alpha.host) *                                                                    \
                     (left ? sum_of(whole, other, kM, row, column) : sum_of(other, whole, kN, row, column)) +   \
                 Type<T>::wide(beta.host) * c.at(row + column * kLead);                                         \
        });                                                                                                     \
      });                                                                                                       \
    }                                                                                                           \
  }                                                                                                             \
  tell(#name, #S, Type<T>::kExact)

// of: the operation that is tested besides CUBLAS_OP_N; it transposes, or transposes and conjugates.
#define LOCKSTEP_SYRK(S, T, A, name, hermitian, of)                                                              \
  for (const cublasFillMode_t fill : kFills) {                                                                   \
    for (const cublasOperation_t operation : {CUBLAS_OP_N, of}) {                                                \
      each(cublas##S##name, cublas##S##name##_64, [&](auto f) {                                                  \
        Array<T> a(kLead * kLead), c(kLead * kLead);                                                             \
        for (int i = 0; i < kOrder && hermitian; ++i)                                                            \
          c.host[i * (kLead + 1)] = Type<T>::narrow(c.at(i * (kLead + 1)).real());                               \
        c.up();                                                                                                  \
        Factor<A> alpha(Type<A>::narrow({0.75, -0.5})), beta(Type<A>::narrow({-1.25, 0.25}));                    \
        call(f(handle, fill, operation, kOrder, kK, alpha.get(), a.device, kLead, beta.get(), c.device, kLead)); \
        const Dense left = operated(general(a.host), operation);                                                 \
        const Dense right = [=](int row, int column) {                                                           \
          return hermitian ? std::conj(left(column, row)) : left(column, row);                                   \
        };                                                                                                       \
        compare_update(                                                                                          \
            c, kOrder, kOrder, [=](int row, int column) { return stored(fill, row, column); },                   \
            [&](int row, int column) {                                                                           \
              return Type<A>::wide(alpha.host) * sum_of(left, right, kK, row, column) +                          \
                     Type<A>::wide(beta.host) * c.at(row + column * kLead);                                      \
            });                                                                                                  \
      });                                                                                                        \
    }                                                                                                            \
  }                                                                                                              \
  tell(#name, #S, Type<T>::kExact)

// half: computes only the product of A and B's transpose, which is symmetric as B is a multiple of A.
#define LOCKSTEP_SYR2K(S, T, B, name, hermitian, of, half)                                                     \
  for (const cublasFillMode_t fill : kFills) {                                                                 \
    for (const cublasOperation_t operation : {CUBLAS_OP_N, of}) {                                              \
      each(cublas##S##name, cublas##S##name##_64, [&](auto f) {                                                \
        Array<T> a(kLead * kLead), b(kLead * kLead), c(kLead * kLead);                                         \
        if (half) {                                                                                            \
          for (size_t i = 0; i < a.host.size(); ++i) b.host[i] = Type<T>::narrow(a.at(i) * 0.5);               \
          b.up();                                                                                              \
        }                                                                                                      \
        for (int i = 0; i < kOrder && hermitian; ++i)                                                          \
          c.host[i * (kLead + 1)] = Type<T>::narrow(c.at(i * (kLead + 1)).real());                             \
        c.up();                                                                                                \
        Factor<T> alpha(Type<T>::narrow({0.75, half ? 0 : -0.5}));                                             \
        Factor<B> beta(Type<B>::narrow({-1.25, 0.25}));                                                        \
        call(f(handle, fill, operation, kOrder, kK, alpha.get(), a.device, kLead, b.device, kLead, beta.get(), \
               c.device, kLead));                                                                              \
        const Dense x = operated(general(a.host), operation), y = operated(general(b.host), operation);        \
        const auto other = [](Z value) { return hermitian ? std::conj(value) : value; };                       \
        const Z by = Type<T>::wide(alpha.host);                                                                \
        compare_update(                                                                                        \
            c, kOrder, kOrder, [=](int row, int column) { return stored(fill, row, column); },                 \
            [&](int row, int column) {                                                                         \
              Z sum = 0;                                                                                       \
              for (int k = 0; k < kK; ++k) {                                                                   \
                sum += by * x(row, k) * other(y(column, k));                                                   \
                if (!half) sum += other(by) * y(row, k) * other(x(column, k));                                 \
              }                                                                                                \
              return sum + Type<B>::wide(beta.host) * c.at(row + column * kLead);                              \
            });                                                                                                \
      });                                                                                                      \
    }                                                                                                          \
  }                                                                                                            \
  tell(#name, #S, Type<T>::kExact)

#define LOCKSTEP_TRMM(S, T)                                                                                            \
  LOCKSTEP_FOR_SQUARES(fill, operation, unit) {                                                                        \
    for (const bool left : {true, false}) {                                                                            \
      const cublasSideMode_t side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;                                       \
      Array<T> a(kLead * kLead), b(kLead * kLead);                                                                     \
      strengthen(a, kLead, kLead);                                                                                     \
      const Dense whole = operated(triangular(general(a.host), fill, unit), operation);                                \
      each(cublas##S##trmm, cublas##S##trmm_64, [&](auto f) {                                                          \
        Array<T> c(kLead * kLead);                                                                                     \
        Factor<T> alpha(Type<T>::narrow({0.75, -0.5}));                                                                \
        call(f(handle, side, fill, operation, diagonal(unit), kM, kN, alpha.get(), a.device, kLead, b.device, kLead,   \
               c.device, kLead));                                                                                      \
        const Dense other = general(b.host);                                                                           \
        compare_update(c, kM, kN, everywhere, [&](int row, int column) {                                               \
          return Type<T>::wide(alpha.host) *                                                                           \
                 (left ? sum_of(whole, other, kM, row, column) : sum_of(other, whole, kN, row, column));               \
        });                                                                                                            \
      });                                                                                                              \
      each(cublas##S##trsm, cublas##S##trsm_64, [&](auto f) {                                                          \
        Array<T> x(kLead * kLead);                                                                                     \
        Factor<T> alpha(Type<T>::narrow({0.75, -0.5}));                                                                \
        call(f(handle, side, fill, operation, diagonal(unit), kM, kN, alpha.get(), a.device, kLead, x.device, kLead)); \
        const Dense found = general(x.down());                                                                         \
        for (int row = 0; row < kM; ++row) {                                                                           \
          for (int column = 0; column < kN; ++column) {                                                                \
            compare(left ? sum_of(whole, found, kM, row, column) : sum_of(found, whole, kN, row, column),              \
                    Type<T>::wide(alpha.host) * x.at(row + column * kLead), unit ? 100 : kM);                          \
          }                                                                                                            \
        }                                                                                                              \
      });                                                                                                              \
    }                                                                                                                  \
  }                                                                                                                    \
  tell("trmm, trsm", #S, 20 * Type<T>::kExact)

#define LOCKSTEP_BEYOND(S, T)                                                                                         \
  for (const cublasOperation_t first : kOperations) {                                                                 \
    each(cublas##S##geam, cublas##S##geam_64, [&](auto f) {                                                           \
      Array<T> a(kLead * kLead), b(kLead * kLead), c(kLead * kLead);                                                  \
      Factor<T> alpha(Type<T>::narrow({0.75, -0.5})), beta(Type<T>::narrow({-1.25, 0.25}));                           \
      call(f(handle, first, CUBLAS_OP_T, kM, kN, alpha.get(), a.device, kLead, beta.get(), b.device, kLead, c.device, \
             kLead));                                                                                                 \
      compare_update(c, kM, kN, everywhere, [&](int row, int column) {                                                \
        return Type<T>::wide(alpha.host) * turned(general(a.host), first, row, column) +                              \
               Type<T>::wide(beta.host) * b.at(column + row * kLead);                                                 \
      });                                                                                                             \
    });                                                                                                               \
  }                                                                                                                   \
  for (const bool left : {true, false}) {                                                                             \
    each(cublas##S##dgmm, cublas##S##dgmm_64, [&](auto f) {                                                           \
      Array<T> a(kLead * kLead), x(64), c(kLead * kLead);                                                             \
      call(f(handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, kM, kN, a.device, kLead, x.device, 2, c.device,     \
             kLead));                                                                                                 \
      compare_update(c, kM, kN, everywhere, [&](int row, int column) {                                                \
        return a.at(row + column * kLead) * x.at(2 * (left ? row : column));                                          \
      });                                                                                                             \
    });                                                                                                               \
  }                                                                                                                   \
  for (const cublasFillMode_t fill : kFills) {                                                                        \
    Array<T> p(kOrder * (kOrder + 1) / 2), a(kLead * kOrder), q(kOrder * (kOrder + 1) / 2);                           \
    call(cublas##S##tpttr(handle, fill, kOrder, p.device, a.device, kLead));                                          \
    call(cublas##S##trttp(handle, fill, kOrder, a.device, kLead, q.device));                                          \
    compare_update(                                                                                                   \
        a, kOrder, kOrder, [=](int row, int column) { return stored(fill, row, column); },                            \
        packed(p.host, fill, kOrder));                                                                                \
    const auto again = q.down();                                                                                      \
    for (size_t i = 0; i < again.size(); ++i) compare(Type<T>::wide(again[i]), p.at(i));                              \
  }                                                                                                                   \
  tell("geam, dgmm, tpttr, trttp", #S, Type<T>::kExact)

// Complex symmetric matrices, which have no band or packed form.
#define LOCKSTEP_SYMV(S, T)                                                                                    \
  for (const cublasFillMode_t fill : kFills) {                                                                 \
    Array<T> a(kLead * kOrder);                                                                                \
    each(cublas##S##symv, cublas##S##symv_64, [&](auto f) {                                                    \
      product_with_vector<T>(symmetric(general(a.host), fill, false), CUBLAS_OP_N, kOrder, kOrder,             \
                             [&](T* alpha, T* x, int incx, T* beta, T* y, int incy) {                          \
                               return f(handle, fill, kOrder, alpha, a.device, kLead, x, incx, beta, y, incy); \
                             });                                                                               \
    });                                                                                                        \
  }                                                                                                            \
  tell("symv", #S, Type<T>::kExact)

#define LOCKSTEP_ALL_OF(S, T)                                \
  LOCKSTEP_GENERAL_VECTORS(S, T);                            \
  LOCKSTEP_TRIANGULAR(S, T, mv, false);                      \
  LOCKSTEP_TRIANGULAR(S, T, sv, true);                       \
  LOCKSTEP_GEMM(S, T, gemm);                                 \
  LOCKSTEP_SYMM(S, T, symm, false);                          \
  LOCKSTEP_SYRK(S, T, T, syrk, false, CUBLAS_OP_T);          \
  LOCKSTEP_SYR2K(S, T, T, syr2k, false, CUBLAS_OP_T, false); \
  LOCKSTEP_SYR2K(S, T, T, syrkx, false, CUBLAS_OP_T, true);  \
  LOCKSTEP_TRMM(S, T);                                       \
  LOCKSTEP_BEYOND(S, T)
#define LOCKSTEP_REAL(S, T)                                                          \
  static void matrices_##S() {                                                       \
    LOCKSTEP_ALL_OF(S, T);                                                           \
    LOCKSTEP_SYMMETRIC_VECTORS(S, T, symv, sbmv, spmv, false);                       \
    LOCKSTEP_GER(S, T, ger, false);                                                  \
    LOCKSTEP_RANK1(S, T, T, syr, spr, LOCKSTEP_PACKED1(S, T, T, spr, false), false); \
    LOCKSTEP_RANK2(S, T, syr2, LOCKSTEP_PACKED2(S, T, spr2, false), false);          \
  }
#define LOCKSTEP_COMPLEX(S, T, R)                                                  \
  static void matrices_##S() {                                                     \
    LOCKSTEP_ALL_OF(S, T);                                                         \
    LOCKSTEP_SYMV(S, T);                                                           \
    LOCKSTEP_GEMM(S, T, gemm3m);                                                   \
    LOCKSTEP_SYMMETRIC_VECTORS(S, T, hemv, hbmv, hpmv, true);                      \
    LOCKSTEP_GER(S, T, geru, false);                                               \
    LOCKSTEP_GER(S, T, gerc, true);                                                \
    LOCKSTEP_RANK1(S, T, T, syr, none, , false);                                   \
    LOCKSTEP_RANK1(S, T, R, her, hpr, LOCKSTEP_PACKED1(S, T, R, hpr, true), true); \
    LOCKSTEP_RANK2(S, T, syr2, , false);                                           \
    LOCKSTEP_RANK2(S, T, her2, LOCKSTEP_PACKED2(S, T, hpr2, true), true);          \
    LOCKSTEP_SYMM(S, T, hemm, true);                                               \
    LOCKSTEP_SYRK(S, T, R, herk, true, CUBLAS_OP_C);                               \
    LOCKSTEP_SYR2K(S, T, R, her2k, true, CUBLAS_OP_C, false);                      \
    LOCKSTEP_SYR2K(S, T, R, herkx, true, CUBLAS_OP_C, true);                       \
  }

LOCKSTEP_REAL(S, float)
LOCKSTEP_REAL(D, double)
LOCKSTEP_COMPLEX(C, cuComplex, float)
LOCKSTEP_COMPLEX(Z, cuDoubleComplex, double)

static void matrices_of_all_types() {
  matrices_S();
  matrices_D();
  matrices_C();
  matrices_Z();
}
