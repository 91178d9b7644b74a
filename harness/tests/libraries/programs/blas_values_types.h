// Products in mixed types, batches, and factors of batches: blas_values.cu.
#pragma once

#include <cuda_bf16.h>

// Small whole numbers, which every type holds and every order of additions adds up exactly.
template <typename T>
struct Whole {
  std::vector<double> host;
  T* device = nullptr;
  Whole(int count, int most) : host(count) {
    std::vector<T> values(count);
    for (int i = 0; i < count; ++i) {
      host[i] = std::floor((random_number() + 1) / 2 * (2 * most + 1)) - most;
      values[i] = static_cast<T>(static_cast<float>(host[i]));
    }
    cudaMalloc(&device, count * sizeof(T));
    cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Whole() { cudaFree(device); }
  Whole(const Whole&) = delete;
  double after(int i) const {
    T value;
    cudaMemcpy(&value, device + i, sizeof(T), cudaMemcpyDeviceToHost);
    return static_cast<double>(static_cast<float>(value));
  }
};

static constexpr int kSide = 8;  // 8-bit types ask for multiples of 4

template <typename A, typename C, typename S>
void exact_product(const char* name, cudaDataType a_type, cudaDataType c_type, cublasComputeType_t compute, S alpha,
                   S beta) {
  const auto check = [&](const Whole<A>& a, const Whole<A>& b, const Whole<C>& c, int batch) {
    for (int row = 0; row < kSide; ++row) {
      for (int column = 0; column < kSide; ++column) {
        const int base = batch * kSide * kSide;
        double sum = 0;
        for (int k = 0; k < kSide; ++k) sum += a.host[base + k + row * kSide] * b.host[base + k + column * kSide];
        const double factor = static_cast<double>(static_cast<float>(alpha)),
                     keep = static_cast<double>(static_cast<float>(beta));
        const int at = base + row + column * kSide;
        compare(c.after(at), factor * sum + keep * c.host[at]);
      }
    }
  };
  const cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT;
  constexpr int kCount = kSide * kSide, kBatches = 3;
  {
    Whole<A> a(kCount, 3), b(kCount, 3);
    Whole<C> c(kCount, 3);
    call(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, kSide, kSide, kSide, &alpha, a.device, a_type, kSide, b.device,
                      a_type, kSide, &beta, c.device, c_type, kSide, compute, algorithm));
    check(a, b, c, 0);
  }
  {
    Whole<A> a(kCount * kBatches, 3), b(kCount * kBatches, 3);
    Whole<C> c(kCount * kBatches, 3);
    call(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, kSide, kSide, kSide, &alpha, a.device, a_type,
                                    kSide, kCount, b.device, a_type, kSide, kCount, &beta, c.device, c_type, kSide,
                                    kCount, kBatches, compute, algorithm));
    for (int i = 0; i < kBatches; ++i) check(a, b, c, i);
  }
  {
    Whole<A> a(kCount * kBatches, 3), b(kCount * kBatches, 3);
    Whole<C> c(kCount * kBatches, 3);
    void *pointers[3 * kBatches], **device;
    for (int i = 0; i < kBatches; ++i) {
      pointers[i] = a.device + i * kCount;
      pointers[kBatches + i] = b.device + i * kCount;
      pointers[2 * kBatches + i] = c.device + i * kCount;
    }
    cudaMalloc(&device, sizeof pointers);
    cudaMemcpy(device, pointers, sizeof pointers, cudaMemcpyHostToDevice);
    call(cublasGemmBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, kSide, kSide, kSide, &alpha, device, a_type, kSide,
                             device + kBatches, a_type, kSide, &beta, device + 2 * kBatches, c_type, kSide, kBatches,
                             compute, algorithm));
    for (int i = 0; i < kBatches; ++i) check(a, b, c, i);
    cudaFree(device);
  }
  tell("gemmEx", name, 0);
}

// How a computation's type rounds a number x that it can't hold: x times 1, where all other elements are 0.
static void rounded(const char* name, cublasComputeType_t compute, cublasMath_t math) {
  for (const float x : {1 + 0x1p-11f, 1 + 0x1p-11f + 0x1p-20f, 1 + 3 * 0x1p-11f, 1 + 0x1p-8f, 1 + 3 * 0x1p-8f}) {
    float a[kSide * kSide] = {}, b[kSide * kSide] = {}, one = 1, none = 0, result = 0, *device;
    for (int i = 0; i < kSide; ++i) a[i * (kSide + 1)] = x, b[i * (kSide + 1)] = 1;
    cudaMalloc(&device, 3 * sizeof a);
    cudaMemset(device, 0, 3 * sizeof a);
    cudaMemcpy(device, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(device + kSide * kSide, b, sizeof b, cudaMemcpyHostToDevice);
    float* const to = device + 2 * kSide * kSide;
    cublasSetMathMode(handle, math);
    if (math == CUBLAS_DEFAULT_MATH) {
      call(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, device, CUDA_R_32F, kSide,
                        device + kSide * kSide, CUDA_R_32F, kSide, &none, to, CUDA_R_32F, kSide, compute,
                        CUBLAS_GEMM_DEFAULT));
    } else {
      call(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, device, kSide,
                       device + kSide * kSide, kSide, &none, to, kSide));
    }
    cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
    cudaMemcpy(&result, to, sizeof result, cudaMemcpyDeviceToHost);
    std::printf("%s %a -> %a\n", name, static_cast<double>(x), static_cast<double>(result));
    cudaFree(device);
  }
}

template <typename T>
void typed_vectors(const char* name, cudaDataType type) {
  constexpr int n = 12;
  float alpha = 2, *parameter;
  cudaMalloc(&parameter, 16);
  Whole<T> x(2 * n, 3), y(2 * n, 3), z(2 * n, 3);
  call(cublasAxpyEx(handle, n, &alpha, CUDA_R_32F, x.device, type, 2, y.device, type, 1, CUDA_R_32F));
  for (int i = 0; i < n; ++i) compare(y.after(i), 2 * x.host[2 * i] + y.host[i]);
  call(cublasScalEx_64(handle, n, &alpha, CUDA_R_32F, z.device, type, 2, CUDA_R_32F));
  for (int i = 0; i < 2 * n; ++i) compare(z.after(i), (i % 2 == 0 ? 2 : 1) * z.host[i]);
  T result;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) sum += x.host[2 * i] * x.host[i], squares += x.host[i] * x.host[i];
  call(cublasDotEx(handle, n, x.device, type, 2, x.device, type, 1, &result, type, CUDA_R_32F));
  compare(static_cast<float>(result), sum);
  call(cublasDotcEx(handle, n, x.device, type, 2, x.device, type, 1, &result, type, CUDA_R_32F));
  compare(static_cast<float>(result), sum);
  call(cublasNrm2Ex(handle, n, x.device, type, 1, &result, type, CUDA_R_32F));
  compare(static_cast<float>(result), std::sqrt(squares));
  cudaFree(parameter);
  tell("axpyEx, scalEx, dotEx, dotcEx, nrm2Ex", name, 4e-3);
}

static void typed_products() {
  const float two = 2, minus = -1;
  exact_product<__half, __half, __half>("half", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, __half(2.f), __half(-1.f));
  exact_product<__half, __half, float>("half by single", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, two, minus);
  exact_product<__half, float, float>("half to single", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, two, minus);
  exact_product<__nv_bfloat16, __nv_bfloat16, float>("bfloat", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1.f, 0.f);
  exact_product<__nv_bfloat16, float, float>("bfloat to single", CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, two,
                                             minus);
  exact_product<float, float, float>("single", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, two, minus);
  exact_product<float, float, float>("tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, two, minus);
  exact_product<double, double, double>("double", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 2.0, -1.0);
  exact_product<signed char, int, int>("bytes", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 2, -1);
  exact_product<signed char, float, float>("bytes to single", CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F, two, minus);
  rounded("tf32", CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_DEFAULT_MATH);
  rounded("half", CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_DEFAULT_MATH);
  rounded("bfloat", CUBLAS_COMPUTE_32F_FAST_16BF, CUBLAS_DEFAULT_MATH);
  rounded("mode tf32", CUBLAS_COMPUTE_32F, CUBLAS_TF32_TENSOR_OP_MATH);
  rounded("mode tensor", CUBLAS_COMPUTE_32F, CUBLAS_TENSOR_OP_MATH);
  typed_vectors<__half>("half", CUDA_R_16F);
  typed_vectors<__nv_bfloat16>("bfloat", CUDA_R_16BF);
  typed_vectors<float>("single", CUDA_R_32F);
}

// A X = B by factors of A; A times its inverse; solutions of triangles in batches.
template <typename T, typename F, typename I, typename S, typename M, typename R>
void factors(const char* letter, F getrf, I getri, S getrs, M matinv, R trsm) {
  constexpr int n = 9, kCount = 4, kSize = n * n;
  Array<T> a(kSize * kCount), b(kSize * kCount), c(kSize * kCount), d(kSize * kCount), e(kSize * kCount);
  T *pointers[5 * kCount], **device;
  Array<T>* const arrays[] = {&a, &b, &c, &d, &e};
  for (int i = 0; i < 5 * kCount; ++i) pointers[i] = arrays[i / kCount]->device + i % kCount * kSize;
  int *pivots, *info, host[kCount + 1] = {7, 7, 7, 7, 7};
  cudaMalloc(&device, sizeof pointers);
  cudaMemcpy(device, pointers, sizeof pointers, cudaMemcpyHostToDevice);
  cudaMalloc(&pivots, n * kCount * sizeof(int));
  cudaMalloc(&info, sizeof host);
  T one = Type<T>::narrow(1);
  T **const A = device, **const B = A + kCount, **const C = B + kCount, **const D = C + kCount, **const E = D + kCount;
  const auto infos = [&] {
    cudaMemcpy(host, info, kCount * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < kCount; ++i) compare(host[i], 0);
  };
  call(matinv(handle, n, A, n, D, n, info, kCount));
  infos();
  call(getrf(handle, n, A, n, pivots, info, kCount));
  infos();
  call(getri(handle, n, A, n, pivots, C, n, info, kCount));
  infos();
  call(getrs(handle, CUBLAS_OP_N, n, n, A, n, pivots, B, n, host, kCount));
  compare(host[0], 0);
  call(trsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, n, n, &one, A, n, E, n,
            kCount));
  const auto solved = b.down(), inverse = c.down(), another = d.down(), lower = a.down(), half = e.down();
  for (int batch = 0; batch < kCount; ++batch) {
    for (int row = 0; row < n; ++row) {
      for (int column = 0; column < n; ++column) {
        Z right = 0, identity = 0, again = 0, triangle = 0;
        for (int k = 0; k < n; ++k) {
          const Z left = a.at(batch * kSize + row + k * n);
          const int at = batch * kSize + k + column * n;
          right += left * Type<T>::wide(solved[at]);
          identity += left * Type<T>::wide(inverse[at]);
          again += left * Type<T>::wide(another[at]);
          if (k <= row)
            triangle += (k == row ? Z(1) : Type<T>::wide(lower[batch * kSize + row + k * n])) * Type<T>::wide(half[at]);
        }
        compare(right, b.at(batch * kSize + row + column * n), n);
        compare(identity, row == column ? 1 : 0, n);
        compare(again, row == column ? 1 : 0, n);
        compare(triangle, e.at(batch * kSize + row + column * n), n);
      }
    }
  }
  // A singular matrix: its info is the place of the first zero on the diagonal.
  cudaMemset(a.device, 0, kSize * sizeof(T));
  call(getrf(handle, n, A, n, pivots, info, 1));
  cudaMemcpy(host, info, sizeof(int), cudaMemcpyDeviceToHost);
  compare(host[0], 1);
  cudaFree(device);
  cudaFree(pivots);
  cudaFree(info);
  tell("getrf, getri, getrs, matinv, trsm in batches", letter, 1e3 * Type<T>::kExact);
}

static void batches_of_factors() {
#define LOCKSTEP_FACTORS(S, T)                                                                                        \
  factors<T>(#S, cublas##S##getrfBatched, cublas##S##getriBatched, cublas##S##getrsBatched, cublas##S##matinvBatched, \
             cublas##S##trsmBatched)
  LOCKSTEP_FACTORS(S, float);
  LOCKSTEP_FACTORS(D, double);
  LOCKSTEP_FACTORS(C, cuComplex);
  LOCKSTEP_FACTORS(Z, cuDoubleComplex);
}
