// Level 1 of blas_values.cu.
#pragma once

template <typename T>
struct Vectors;
#define VECTORS(S, T, Norm, Index, Dot)                                                                             \
  template <>                                                                                                       \
  struct Vectors<T> {                                                                                               \
    static constexpr const char* kLetter = #S;                                                                      \
    static void run() {                                                                                             \
      linear<T>(kLetter, cublas##S##axpy, cublas##S##axpy_64, cublas##S##scal, cublas##S##scal_64, cublas##S##copy, \
                cublas##S##copy_64, cublas##S##swap, cublas##S##swap_64);                                           \
      reductions<T>(kLetter, cublas##Norm##nrm2, cublas##Norm##nrm2_64, cublas##Norm##asum, cublas##Norm##asum_64,  \
                    cublasI##Index##amax, cublasI##Index##amax_64, cublasI##Index##amin, cublasI##Index##amin_64);  \
      Dot                                                                                                           \
    }                                                                                                               \
  }

template <typename T, typename A, typename A64, typename S, typename S64, typename C, typename C64, typename W,
          typename W64>
void linear(const char* letter, A axpy, A64 axpy64, S scal, S64 scal64, C copy, C64 copy64, W swap, W64 swap64) {
  constexpr int n = 20;
  each(axpy, axpy64, [&](auto f) {
    Array<T> x(64), y(64);
    Factor<T> alpha(Type<T>::narrow({1.5, -0.5}));
    call(f(handle, n, alpha.get(), x.device, 2, y.device, -3));
    const auto result = y.down();
    for (int i = 0; i < n; ++i) {
      const int to = place(i, n, -3);
      compare(Type<T>::wide(result[to]), Type<T>::wide(alpha.host) * x.at(2 * i) + y.at(to));
    }
  });
  tell("axpy", letter, Type<T>::kExact);
  each(scal, scal64, [&](auto f) {
    Array<T> x(64);
    Factor<T> alpha(Type<T>::narrow({1.5, -0.5}));
    call(f(handle, n, alpha.get(), x.device, 3));
    const auto result = x.down();
    for (int i = 0; i < 64; ++i) {
      const bool changed = i % 3 == 0 && i < 3 * n;
      compare(Type<T>::wide(result[i]), changed ? Type<T>::wide(alpha.host) * x.at(i) : x.at(i));
    }
  });
  tell("scal", letter, Type<T>::kExact);
  each(copy, copy64, [&](auto f) {
    Array<T> x(64), y(64);
    call(f(handle, n, x.device, -2, y.device, 3));
    const auto result = y.down();
    for (int i = 0; i < n; ++i) compare(Type<T>::wide(result[3 * i]), x.at(place(i, n, -2)));
  });
  tell("copy", letter, 0);
  each(swap, swap64, [&](auto f) {
    Array<T> x(64), y(64);
    call(f(handle, n, x.device, 1, y.device, -2));
    const auto left = x.down(), right = y.down();
    for (int i = 0; i < n; ++i) {
      compare(Type<T>::wide(left[i]), y.at(place(i, n, -2)));
      compare(Type<T>::wide(right[place(i, n, -2)]), x.at(i));
    }
  });
  tell("swap", letter, 0);
}

template <typename T, typename N1, typename N2, typename A1, typename A2, typename I1, typename I2, typename J1,
          typename J2>
void reductions(const char* letter, N1 nrm2, N2 nrm264, A1 asum, A2 asum64, I1 amax, I2 amax64, J1 amin, J2 amin64) {
  using Real = typename Type<T>::Real;
  constexpr int n = 30;
  const auto size = [](Z value) { return std::abs(value.real()) + std::abs(value.imag()); };
  each(nrm2, nrm264, [&](auto f) {
    Array<T> x(64);
    Factor<Real> result(Real(-1));
    call(f(handle, n, x.device, 2, result.get()));
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::norm(x.at(2 * i));
    compare(result.value(), std::sqrt(sum));
  });
  tell("nrm2", letter, Type<T>::kExact);
  each(asum, asum64, [&](auto f) {
    Array<T> x(64);
    Factor<Real> result(Real(-1));
    call(f(handle, n, x.device, 2, result.get()));
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += size(x.at(2 * i));
    compare(result.value(), sum);
  });
  tell("asum", letter, Type<T>::kExact);
  const auto index = [&](const char* name, auto narrow, auto wide, bool largest) {
    each(narrow, wide, [&](auto f) {
      // The last argument's type is that of the index.
      const auto check = [&](auto number) {
        Array<T> x(64);
        x.host[40] = x.host[20];  // of equal ones the first counts
        x.up();
        cublasPointerMode_t mode;
        cublasGetPointerMode(handle, &mode);
        decltype(number)* device = nullptr;
        cudaMalloc(&device, sizeof number);
        if constexpr (std::is_invocable_v<decltype(f), cublasHandle_t, int, const T*, int, decltype(number)*>) {
          call(f(handle, n, x.device, 2, mode == CUBLAS_POINTER_MODE_HOST ? &number : device));
          if (mode != CUBLAS_POINTER_MODE_HOST) cudaMemcpy(&number, device, sizeof number, cudaMemcpyDeviceToHost);
          int best = 0;
          for (int i = 1; i < n; ++i) {
            const double here = size(x.at(2 * i)), than = size(x.at(2 * best));
            if (largest ? here > than : here < than) best = i;
          }
          compare(static_cast<double>(number), best + 1);
        }
        cudaFree(device);
      };
      check(int(-1));
      check(int64_t(-1));
    });
    tell(name, letter, 0);
  };
  index("amax", amax, amax64, true);
  index("amin", amin, amin64, false);
}

template <typename T, typename D, typename D64>
void dots(const char* name, const char* letter, D dot, D64 dot64, bool conjugates) {
  each(dot, dot64, [&](auto f) {
    constexpr int n = 25;
    Array<T> x(64), y(64);
    Factor<T> result(Type<T>::narrow(-1));
    call(f(handle, n, x.device, 2, y.device, -2, result.get()));
    Z sum = 0;
    for (int i = 0; i < n; ++i) sum += (conjugates ? std::conj(x.at(2 * i)) : x.at(2 * i)) * y.at(place(i, n, -2));
    compare(Type<T>::wide(result.value()), sum, n);
  });
  tell(name, letter, Type<T>::kExact);
}

template <typename T, typename Sine, typename F, typename F64>
void rotations(const char* letter, F rot, F64 rot64) {
  using Real = typename Type<T>::Real;
  each(rot, rot64, [&](auto f) {
    constexpr int n = 16;
    Array<T> x(64), y(64);
    Factor<Real> c(Real(0.6));
    Factor<Sine> s(Type<Sine>::narrow({0.48, 0.64}));
    call(f(handle, n, x.device, 2, y.device, -1, c.get(), s.get()));
    const auto left = x.down(), right = y.down();
    for (int i = 0; i < n; ++i) {
      const Z a = x.at(2 * i), b = y.at(place(i, n, -1)), sine = Type<Sine>::wide(s.host);
      compare(Type<T>::wide(left[2 * i]), static_cast<double>(c.host) * a + sine * b);
      compare(Type<T>::wide(right[place(i, n, -1)]), static_cast<double>(c.host) * b - std::conj(sine) * a);
    }
  });
  tell("rot", letter, Type<T>::kExact);
}

// The rotation that a function makes from (a, b) turns (a, b) into (r, 0).
template <typename T, typename F>
void making(const char* letter, F rotg) {
  using Real = typename Type<T>::Real;
  each(rotg, rotg, [&](auto f) {
    Factor<T> a(Type<T>::narrow({0.8, 0.3})), b(Type<T>::narrow({-0.5, 0.9})), s(Type<T>::narrow(0));
    Factor<Real> c(Real(0));
    const Z x = Type<T>::wide(a.host), y = Type<T>::wide(b.host);
    call(f(handle, a.get(), b.get(), c.get(), s.get()));
    const Z cosine = c.value(), sine = Type<T>::wide(s.value());
    compare(cosine * x + sine * y, Type<T>::wide(a.value()));
    compare(cosine * y - std::conj(sine) * x, 0);
    compare(std::norm(cosine) + std::norm(sine), 1);
  });
  tell("rotg", letter, Type<T>::kExact);
}

// The second element becomes 0, and the length stays as it was.
template <typename T, typename M, typename M64, typename G>
void modified(const char* letter, M rotm, M64 rotm64, G rotmg) {
  each(rotm, rotm64, [&](auto f) {
    cublasPointerMode_t mode;
    cublasGetPointerMode(handle, &mode);
    Factor<T> d1(T(1.5)), d2(T(0.75)), x1(T(0.5)), y1(T(-2));
    Array<T> x(4), y(4), param(5);
    T host[5] = {};
    x.host[0] = x1.host;
    y.host[0] = y1.host;
    x.up();
    y.up();
    const bool on_host = mode == CUBLAS_POINTER_MODE_HOST;
    call(rotmg(handle, d1.get(), d2.get(), x1.get(), y1.get(), on_host ? host : param.device));
    call(f(handle, 1, x.device, 1, y.device, 1, on_host ? host : param.device));
    const double before = 1.5 * 0.5 * 0.5 + 0.75 * 2 * 2;
    const double after = static_cast<double>(d1.value()) * x.down()[0] * x.down()[0];
    compare(after, before);
    compare(y.down()[0], 0);
    compare(x.down()[0], x1.value());
  });
  tell("rotm", letter, Type<T>::kExact);
}

#define REAL_DOT(S, T) dots<T>("dot", #S, cublas##S##dot, cublas##S##dot_64, false);
#define COMPLEX_DOTS(S, T)                                         \
  dots<T>("dotu", #S, cublas##S##dotu, cublas##S##dotu_64, false); \
  dots<T>("dotc", #S, cublas##S##dotc, cublas##S##dotc_64, true);
VECTORS(S, float, S, s, REAL_DOT(S, float));
VECTORS(D, double, D, d, REAL_DOT(D, double));
VECTORS(C, cuComplex, Sc, c, COMPLEX_DOTS(C, cuComplex));
VECTORS(Z, cuDoubleComplex, Dz, z, COMPLEX_DOTS(Z, cuDoubleComplex));

static void vectors_of_all_types() {
  Vectors<float>::run();
  Vectors<double>::run();
  Vectors<cuComplex>::run();
  Vectors<cuDoubleComplex>::run();
  rotations<float, float>("S", cublasSrot, cublasSrot_64);
  rotations<double, double>("D", cublasDrot, cublasDrot_64);
  rotations<cuComplex, cuComplex>("C", cublasCrot, cublasCrot_64);
  rotations<cuComplex, float>("Cs", cublasCsrot, cublasCsrot_64);
  rotations<cuDoubleComplex, cuDoubleComplex>("Z", cublasZrot, cublasZrot_64);
  rotations<cuDoubleComplex, double>("Zd", cublasZdrot, cublasZdrot_64);
  making<float>("S", cublasSrotg);
  making<double>("D", cublasDrotg);
  making<cuComplex>("C", cublasCrotg);
  making<cuDoubleComplex>("Z", cublasZrotg);
  modified<float>("S", cublasSrotm, cublasSrotm_64, cublasSrotmg);
  modified<double>("D", cublasDrotm, cublasDrotm_64, cublasDrotmg);
}
