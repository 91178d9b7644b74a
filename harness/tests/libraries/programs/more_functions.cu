// Functions that public examples call: cuBLAS's rotations and updates by types, and groups of
// products; cuSOLVER's parts of a spectrum, eigenvalues of any matrix and truncated factors; cuSPARSE's rotation, sorting
// and repeated products. Prints what they find, without signs of vectors; the same on a GPU.
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include <complex>
#include <cstdio>
#include <vector>

using C = std::complex<float>;

static void call(int status) {
  if (status != 0) std::printf("status %d\n", status);
}

template <typename T>
struct Array {
  T* device = nullptr;
  size_t size;
  explicit Array(const std::vector<T>& values) : size(values.size()) {
    cudaMalloc(&device, size * sizeof(T));
    cudaMemcpy(device, values.data(), size * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Array() { cudaFree(device); }
  Array(const Array&) = delete;
  operator T*() const { return device; }
  std::vector<T> down() const {
    std::vector<T> values(size);
    cudaMemcpy(values.data(), device, size * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }
};

static void print(double value) { std::printf(" %.4f", value == 0 ? 0 : value); }
static void print(C value) { print(value.real()), print(value.imag()); }
static void print(int value) { std::printf(" %d", value); }
template <typename T>
void show(const char* name, const Array<T>& array, bool signs = true) {
  std::printf("%s:", name);
  for (const T& value : array.down()) {
    if constexpr (std::is_same_v<T, double>) {
      print(signs ? value : std::abs(value));
    } else {
      print(value);
    }
  }
  std::printf("\n");
}

static void blas() {
  cublasHandle_t handle;
  call(cublasCreate(&handle));
  call(cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER));
  call(cublasSetMathMode(handle, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH));
  const Array<C> x({{1, 2}, {3, -1}}), y({{0, 1}, {-2, 4}});
  const float cosine = 0.6F, sine = 0.8F;
  const C turn(0.6F, 0), with(0, 0.8F);
  call(cublasRotEx(handle, 2, x, CUDA_C_32F, 1, y, CUDA_C_32F, 1, &cosine, &sine, CUDA_R_32F, CUDA_C_32F));
  call(cublasRotEx_64(handle, 2, x, CUDA_C_32F, 1, y, CUDA_C_32F, -1, &turn, &with, CUDA_C_32F, CUDA_C_32F));
  show("RotEx x", x), show("RotEx y", y);
  const auto* const alpha = reinterpret_cast<const cuComplex*>(&turn);
  const auto* const beta = reinterpret_cast<const cuComplex*>(&with);
  const Array<C> a({{1, 1}, {2, 0}, {0, -1}, {3, 2}}), c({{1, 0}, {5, 5}, {2, 1}, {4, 0}});
  const cublasFillMode_t upper = CUBLAS_FILL_MODE_UPPER;
  call(cublasCsyrkEx(handle, upper, CUBLAS_OP_T, 2, 2, alpha, a, CUDA_C_32F, 2, beta, c, CUDA_C_32F, 2));
  show("CsyrkEx", c);
  call(cublasCsyrk3mEx(handle, upper, CUBLAS_OP_N, 2, 2, alpha, a, CUDA_C_32F, 2, beta, c, CUDA_C_32F, 2));
  show("Csyrk3mEx", c);
  call(cublasCherkEx(handle, upper, CUBLAS_OP_C, 2, 2, &cosine, a, CUDA_C_32F, 2, &sine, c, CUDA_C_32F, 2));
  call(cublasCherk3mEx_64(handle, upper, CUBLAS_OP_N, 2, 2, &cosine, a, CUDA_C_32F, 2, &sine, c, CUDA_C_32F, 2));
  show("CherkEx", c);
  // A group of two products of 2 × 2, then one of 2 × 1 by 1 × 2.
  const Array<double> m({1, 2, 3, 4}), n({5, 6, 7, 8}), first({0, 0, 0, 0}), second({1, 1, 1, 1}), third({0, 0, 0, 0});
  const Array<const double*> left({m, n, m}), right({n, m, n});
  const Array<double*> to({first, second, third});
  const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T};
  const int twos[] = {2, 2}, ks[] = {2, 1}, counts[] = {2, 1}, leads_b[] = {2, 2};
  const double scales[] = {1, 0.5}, keeps[] = {1, 0};
  call(cublasDgemmGroupedBatched(handle, ops, ops, twos, twos, ks, scales, left, twos, right, leads_b, keeps, to, twos,
                                 2, counts));
  show("grouped 1", first), show("grouped 2", second), show("grouped 3", third);
  call(cublasGemmGroupedBatchedEx(
      handle, ops, ops, twos, twos, ks, scales, reinterpret_cast<const void* const*>(left.device), CUDA_R_64F, twos,
      reinterpret_cast<const void* const*>(right.device), CUDA_R_64F, leads_b, keeps,
      reinterpret_cast<void* const*>(to.device), CUDA_R_64F, twos, 2, counts, CUBLAS_COMPUTE_64F));
  show("grouped 2", second);
  cublasDestroy(handle);
}

static const std::vector<double> kSymmetric = {4, 1, 0, 1, 3, 1, 0, 1, 2}, kDefinite = {2, 1, 0, 1, 2, 0, 0, 0, 1};

static void spectra(cusolverDnHandle_t handle, cusolverDnParams_t any) {
  const cusolverEigMode_t vectors = CUSOLVER_EIG_MODE_VECTOR;
  const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
  const Array<int> info({7});
  int size = 0, count = 0;
  for (const cusolverEigRange_t range : {CUSOLVER_EIG_RANGE_ALL, CUSOLVER_EIG_RANGE_I, CUSOLVER_EIG_RANGE_V}) {
    const Array<double> a(kSymmetric), g(kSymmetric), b(kDefinite), w({0, 0, 0}), v({0, 0, 0});
    call(cusolverDnDsyevdx_bufferSize(handle, vectors, range, lower, 3, a, 3, 2, 5, 2, 3, &count, w, &size));
    const Array<double> work(std::vector<double>(size + 1));
    call(cusolverDnDsyevdx(handle, vectors, range, lower, 3, a, 3, 2, 5, 2, 3, &count, w, work, size, info));
    std::printf("syevdx %d of range %d:", count, range);
    for (int i = 0; i < count; ++i) print(w.down()[i]), print(std::abs(a.down()[3 * i]));
    call(cusolverDnDsygvdx_bufferSize(handle, CUSOLVER_EIG_TYPE_1, vectors, range, lower, 3, g, 3, b, 3, 1, 3, 2, 3,
                                      &count, v, &size));
    const Array<double> more(std::vector<double>(size + 1));
    call(cusolverDnDsygvdx(handle, CUSOLVER_EIG_TYPE_1, vectors, range, lower, 3, g, 3, b, 3, 1, 3, 2, 3, &count, v,
                           more, size, info));
    std::printf("\nsygvdx %d:", count);
    for (int i = 0; i < count; ++i) print(v.down()[i]), print(std::abs(g.down()[3 * i]));
    std::printf("\n");
  }
  syevjInfo_t parameters;
  call(cusolverDnCreateSyevjInfo(&parameters));
  const Array<double> g(kSymmetric), b(kDefinite), w({0, 0, 0});
  call(cusolverDnDsygvj_bufferSize(handle, CUSOLVER_EIG_TYPE_1, vectors, lower, 3, g, 3, b, 3, w, &size, parameters));
  const Array<double> work(std::vector<double>(size + 1));
  call(cusolverDnDsygvj(handle, CUSOLVER_EIG_TYPE_1, vectors, lower, 3, g, 3, b, 3, w, work, size, info, parameters));
  show("sygvj", w);
  // Where the eigenvalues of two matrices are stored.
  const Array<double> two({1, -1, 0, -1, 2, 0, 0, 0, 0, 3, 4, 0, 4, 7, 0, 0, 0, 0}), found(std::vector<double>(6));
  const Array<int> infos({7, 7});
  call(cusolverDnXsyevjSetSortEig(parameters, 0));
  call(cusolverDnDsyevjBatched_bufferSize(handle, vectors, lower, 3, two, 3, found, &size, parameters, 2));
  const Array<double> room(std::vector<double>(size + 1));
  call(cusolverDnDsyevjBatched(handle, vectors, lower, 3, two, 3, found, room, size, infos, parameters, 2));
  show("unsorted", found), show("unsorted vectors", two);
  call(cusolverDnDestroySyevjInfo(parameters));
  // A matrix that is not symmetric: it has one real eigenvalue and two conjugate ones.
  const Array<double> any_matrix({1, 7, 4, 2, 4, 2, -3, -2, 1}), real(std::vector<double>(6)),
      vr(std::vector<double>(9));
  size_t on_device = 0, on_host = 0;
  call(cusolverDnXgeev_bufferSize(handle, any, CUSOLVER_EIG_MODE_NOVECTOR, vectors, 3, CUDA_R_64F, any_matrix, 3,
                                  CUDA_R_64F, real, CUDA_R_64F, nullptr, 1, CUDA_R_64F, vr, 3, CUDA_R_64F, &on_device,
                                  &on_host));
  const Array<char> space(std::vector<char>(on_device + 1));
  std::vector<char> host(on_host + 1);
  call(cusolverDnXgeev(handle, any, CUSOLVER_EIG_MODE_NOVECTOR, vectors, 3, CUDA_R_64F, any_matrix, 3, CUDA_R_64F, real,
                       CUDA_R_64F, nullptr, 1, CUDA_R_64F, vr, 3, CUDA_R_64F, space, on_device, host.data(), on_host,
                       info));
  show("Xgeev", real), show("Xgeev vectors", vr, false), show("info", info);
}

static void factors(cusolverDnHandle_t handle, cusolverDnParams_t any) {
  const cusolverEigMode_t vectors = CUSOLVER_EIG_MODE_VECTOR;
  const std::vector<double> tall = {1, 4, 2, 2, 5, 1};  // 3 × 2
  const Array<double> a(tall), s({0, 0}), u(std::vector<double>(9)), v(std::vector<double>(4));
  const Array<int> info({7});
  size_t on_device = 0, on_host = 0;
  double error = 7;
  call(cusolverDnXgesvdp_bufferSize(handle, any, vectors, 1, 3, 2, CUDA_R_64F, a, 3, CUDA_R_64F, s, CUDA_R_64F, u, 3,
                                    CUDA_R_64F, v, 2, CUDA_R_64F, &on_device, &on_host));
  const Array<char> space(std::vector<char>(on_device + 1));
  std::vector<char> host(on_host + 1);
  call(cusolverDnXgesvdp(handle, any, vectors, 1, 3, 2, CUDA_R_64F, a, 3, CUDA_R_64F, s, CUDA_R_64F, u, 3, CUDA_R_64F,
                         v, 2, CUDA_R_64F, space, on_device, host.data(), on_host, info, &error));
  show("Xgesvdp", s), show("v", v, false);
  const Array<double> b(tall), t(std::vector<double>(2)), left(std::vector<double>(6)), right(std::vector<double>(4));
  int size = 0;
  double residual = 7;
  call(cusolverDnDgesvdaStridedBatched_bufferSize(handle, vectors, 2, 3, 2, b, 3, 6, t, 2, left, 3, 6, right, 2, 4,
                                                  &size, 1));
  const Array<double> work(std::vector<double>(size + 1));
  call(cusolverDnDgesvdaStridedBatched(handle, vectors, 2, 3, 2, b, 3, 6, t, 2, left, 3, 6, right, 2, 4, work, size,
                                       info, &residual, 1));
  show("gesvda", t), show("u", left, false), show("v", right, false);
}

static void sparse() {
  cusparseHandle_t handle;
  call(cusparseCreate(&handle));
  const Array<int> rows({2, 0, 1, 0}), columns({1, 2, 0, 0}), order({9, 9, 9, 9});
  call(cusparseCreateIdentityPermutation(handle, 4, order));
  size_t bytes = 0;
  call(cusparseXcoosort_bufferSizeExt(handle, 3, 3, 4, rows, columns, &bytes));
  const Array<char> room(std::vector<char>(bytes + 1));
  call(cusparseXcoosortByRow(handle, 3, 3, 4, rows, columns, order, room));
  show("by row", rows), show("columns", columns), show("order", order);
  call(cusparseXcoosortByColumn(handle, 3, 3, 4, rows, columns, order, room));
  show("by column", columns), show("rows", rows), show("order", order);
  const Array<int> at({0, 2});
  const Array<double> some({1, 2}), dense({10, 20, 30});
  const double cosine = 0.6, sine = 0.8;
  cusparseSpVecDescr_t x;
  cusparseDnVecDescr_t y;
  call(cusparseCreateSpVec(&x, 3, 2, at, some, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  call(cusparseCreateDnVec(&y, 3, dense, CUDA_R_64F));
  call(cusparseRot(handle, &cosine, &sine, x, y));
  show("Rot x", some), show("Rot y", dense);
  // A A, computed twice: the second time with other values at the same places.
  const Array<int> offsets({0, 2, 3, 4}), indices({0, 1, 2, 0}), c_offsets({0, 0, 0, 0});
  const Array<double> values({1, 2, 3, 4});
  cusparseSpMatDescr_t a, c;
  cusparseSpGEMMDescr_t descriptor;
  const cusparseOperation_t N = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const cusparseSpGEMMAlg_t D = CUSPARSE_SPGEMM_DEFAULT;
  call(cusparseCreateCsr(&a, 3, 3, 4, offsets, indices, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  call(cusparseCreateCsr(&c, 3, 3, 0, c_offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  call(cusparseSpGEMM_createDescr(&descriptor));
  size_t sizes[5] = {};
  std::vector<void*> buffers(5);
  const auto make = [&](int i) { cudaMalloc(&buffers[i], sizes[i] + 1); };
  call(cusparseSpGEMMreuse_workEstimation(handle, N, N, a, a, c, D, descriptor, &sizes[0], nullptr));
  make(0);
  call(cusparseSpGEMMreuse_workEstimation(handle, N, N, a, a, c, D, descriptor, &sizes[0], buffers[0]));
  call(cusparseSpGEMMreuse_nnz(handle, N, N, a, a, c, D, descriptor, &sizes[1], nullptr, &sizes[2], nullptr, &sizes[3],
                               nullptr));
  make(1), make(2), make(3);
  call(cusparseSpGEMMreuse_nnz(handle, N, N, a, a, c, D, descriptor, &sizes[1], buffers[1], &sizes[2], buffers[2],
                               &sizes[3], buffers[3]));
  int64_t height = 0, width = 0, count = 0;
  call(cusparseSpMatGetSize(c, &height, &width, &count));
  const Array<int> c_indices(std::vector<int>(count, 0));
  const Array<double> c_values(std::vector<double>(count, 0));
  call(cusparseCsrSetPointers(c, c_offsets, c_indices, c_values));
  call(cusparseSpGEMMreuse_copy(handle, N, N, a, a, c, D, descriptor, &sizes[4], nullptr));
  make(4);
  call(cusparseSpGEMMreuse_copy(handle, N, N, a, a, c, D, descriptor, &sizes[4], buffers[4]));
  const double two = 2, none = 0;
  for (int i = 0; i < 2; ++i) {
    call(cusparseSpGEMMreuse_compute(handle, N, N, &two, a, a, &none, c, CUDA_R_64F, D, descriptor));
    show("offsets", c_offsets), show("indices", c_indices), show("values", c_values);
    cudaMemset(values, 0, 8);
  }
  for (void* buffer : buffers) cudaFree(buffer);
  call(cusparseSpGEMM_destroyDescr(descriptor));
  for (cusparseSpMatDescr_t matrix : {a, c}) call(cusparseDestroySpMat(matrix));
  call(cusparseDestroySpVec(x)), call(cusparseDestroyDnVec(y)), call(cusparseDestroy(handle));
}

int main() {
  blas();
  cusolverDnHandle_t handle;
  cusolverDnParams_t any;
  call(cusolverDnCreate(&handle)), call(cusolverDnCreateParams(&any));
  spectra(handle, any);
  factors(handle, any);
  call(cusolverDnDestroyParams(any)), call(cusolverDnDestroy(handle));
  sparse();
  std::printf("left %d\n", cudaDeviceSynchronize());
}
