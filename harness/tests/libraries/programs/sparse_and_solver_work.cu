// Calls of cuSPARSE and cuSOLVER as pieces of work: in a graph; and mistakes that must be found.
//   sparse_and_solver_work            a product and a factor, by a graph
//   sparse_and_solver_work index      a column index is past the matrix
//   sparse_and_solver_work offsets    the offsets fall
//   sparse_and_solver_work short      vector y is longer than its buffer
//   sparse_and_solver_work unwritten  an element of vector x that counts was never written; another doesn't count
//   sparse_and_solver_work races      another stream writes the values of matrix A
//   sparse_and_solver_work pivots     a pivot is no row of the matrix
//   sparse_and_solver_work triangle   the half of a matrix that doesn't count was never written
//   sparse_and_solver_work workspace  factors in two streams share a workspace
//   sparse_and_solver_work missing    functions that are not there
#include <cusolverDn.h>
#include <cusparse.h>

#include <cstdio>
#include <cstring>
#include <vector>

static const char* what = "";
static bool is(const char* name) { return std::strcmp(what, name) == 0; }

template <typename T>
T* upload(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
static void print(const char* name, const double* device, int count) {
  std::vector<double> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost);
  std::printf("%s", name);
  for (const double number : host) std::printf(" %g", number);
  std::printf("\n");
}

int main(int argc, char** argv) {
  what = argc > 1 ? argv[1] : "";
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cusparseHandle_t sparse;
  cusolverDnHandle_t solver;
  cusparseCreate(&sparse);
  cusolverDnCreate(&solver);
  cusparseSetStream(sparse, stream);
  cusolverDnSetStream(solver, stream);

  // [1 2 0; 0 3 0], of which nothing is in the last column.
  std::vector<int> offsets = {0, 2, 3}, columns = {0, 1, 1};
  if (is("index")) columns[2] = 7;
  if (is("offsets")) offsets[1] = 4;
  int *const d_offsets = upload(offsets), *const d_columns = upload(columns);
  double* const values = upload(std::vector<double>{1, 2, 3});
  double* const y = upload(std::vector<double>(is("short") ? 1 : 2));
  double* x = nullptr;
  cudaMalloc(&x, 3 * sizeof(double));
  const double ones[] = {1, 1};
  cudaMemcpy(x, ones, (is("unwritten") ? 1 : 2) * sizeof(double), cudaMemcpyHostToDevice);
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t from, to;
  cusparseCreateCsr(&matrix, 2, 3, 3, d_offsets, d_columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
  cusparseCreateDnVec(&from, 3, x, CUDA_R_64F);
  cusparseCreateDnVec(&to, 2, y, CUDA_R_64F);
  const double two = 2, none = 0;
  const auto product = [&](cusparseOperation_t op, cusparseDnVecDescr_t left, cusparseDnVecDescr_t right) {
    return (int)cusparseSpMV(sparse, op, &two, matrix, left, &none, right, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT,
                             nullptr);
  };
  // [4 2; 2 5], whose factor is [2 0; 1 2].
  double* a = nullptr;
  cudaMalloc(&a, 4 * sizeof(double));
  const double lower[] = {4, 2, 2, 5};
  cudaMemcpy(a, lower, 2 * sizeof(double), cudaMemcpyHostToDevice);
  cudaMemcpy(a + (is("triangle") ? 3 : 2), lower + (is("triangle") ? 3 : 2), (is("triangle") ? 1 : 2) * sizeof(double),
             cudaMemcpyHostToDevice);
  int *const info = upload(std::vector<int>{7, 7}), *const pivots = upload(std::vector<int>{2, 5});
  int size = 0;
  cusolverDnDgeqrf_bufferSize(solver, 2, 2, a, 2, &size);
  double *work = nullptr, *tau = nullptr;
  cudaMalloc(&work, size * sizeof(double));
  cudaMalloc(&tau, 4 * sizeof(double));
  const auto factor = [&] { return (int)cusolverDnDpotrf(solver, CUBLAS_FILL_MODE_LOWER, 2, a, 2, work, size, info); };

  if (is("pivots")) {
    std::printf("solution %d\n", (int)cusolverDnDgetrs(solver, CUBLAS_OP_N, 2, 1, a, 2, pivots, y, 2, info));
  } else if (is("triangle")) {
    std::printf("factor %d\n", factor());
  } else if (is("workspace")) {
    double* const another = upload(std::vector<double>{1, 2, 3, 4});
    std::printf("factor %d\n", (int)cusolverDnDgeqrf(solver, 2, 2, a, 2, tau, work, size, info));
    cusolverDnSetStream(solver, other);
    std::printf("factor %d\n", (int)cusolverDnDgeqrf(solver, 2, 2, another, 2, tau + 2, work, size, info + 1));
    cudaDeviceSynchronize();
    cudaFree(another);
  } else if (is("missing")) {
    cusolverDnIRSParams_t parameters;
    size_t bytes = 0;
    std::printf("cusparseXcsrsort_bufferSizeExt %d\n",
                (int)cusparseXcsrsort_bufferSizeExt(sparse, 0, 0, 0, nullptr, nullptr, &bytes));
    std::printf("cusolverDnIRSParamsCreate %d\n", (int)cusolverDnIRSParamsCreate(&parameters));
  } else if (is("")) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    const int captured = product(CUSPARSE_OPERATION_NON_TRANSPOSE, from, to);
    std::printf("captured %d, %d\n", captured, factor());
    cudaStreamEndCapture(stream, &graph);
    // Descriptors may be gone when the work is done.
    cusparseDestroySpMat(matrix);
    matrix = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    print("before the graph", y, 2);
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    print("y", y, 2);
    print("factor", a, 4);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  } else {
    if (is("races")) cudaMemsetAsync(values, 0, 3 * sizeof(double), other);
    std::printf("product %d\n", product(CUSPARSE_OPERATION_NON_TRANSPOSE, from, to));
  }
  std::printf("wait %d\n", (int)cudaDeviceSynchronize());
  cusparseDestroySpMat(matrix);
  cusparseDestroyDnVec(from);
  cusparseDestroyDnVec(to);
  cusparseDestroy(sparse);
  cusolverDnDestroy(solver);
  for (int* memory : {d_offsets, d_columns, info, pivots}) cudaFree(memory);
  for (double* memory : {values, y, x, a, work, tau}) cudaFree(memory);
}
