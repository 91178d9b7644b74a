// A library call as a piece of work: its result, also in a captured stream; and mistakes that must be found.
//   multiply            a product at once and by a graph
//   multiply outside    matrix C runs past its buffer
//   multiply unwritten  matrix B was never written
//   multiply races      another stream writes matrix A
//   multiply host       matrix A is in pageable host memory
//   multiply missing    a function that cuBLAS does not have here
#include <cublasXt.h>
#include <cublas_v2.h>

#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kSide = 32, kElements = kSide * kSide;

static cublasHandle_t handle;
static float *a, *b, *c;

static int product(const float* left, float* result) {
  const float two = 2, none = 0;
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, kSide, kSide, kSide, &two, left, kSide, b, kSide, &none, result,
                     kSide);
}

// The largest difference from a sum in double precision.
static double worst(const std::vector<float>& x, const std::vector<float>& y) {
  std::vector<float> z(kElements);
  cudaMemcpy(z.data(), c, sizeof(float) * kElements, cudaMemcpyDeviceToHost);
  double most = 0;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      double sum = 0;
      for (int k = 0; k < kSide; ++k) sum += 2.0 * x[row + k * kSide] * y[column + k * kSide];
      const double off = sum - z[row + column * kSide];
      most = off > most ? off : -off > most ? -off : most;
    }
  }
  return most;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  std::vector<float> x(kElements), y(kElements);
  for (int i = 0; i < kElements; ++i) x[i] = static_cast<float>(i % 13 - 6), y[i] = static_cast<float>(i % 7 - 3);
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  for (float** matrix : {&a, &b, &c}) cudaMalloc(matrix, sizeof(float) * kElements);
  cudaMemcpy(a, x.data(), sizeof(float) * kElements, cudaMemcpyHostToDevice);
  if (std::strcmp(what, "unwritten") != 0) cudaMemcpy(b, y.data(), sizeof(float) * kElements, cudaMemcpyHostToDevice);
  cublasCreate(&handle);
  cublasSetStream(handle, stream);
  if (std::strcmp(what, "outside") == 0) std::printf("product %d\n", product(a, c + kSide));
  if (std::strcmp(what, "host") == 0) std::printf("product %d\n", product(x.data(), c));
  if (std::strcmp(what, "missing") == 0) {
    cublasXtHandle_t xt;
    std::printf("cublasXtCreate %d\n", cublasXtCreate(&xt));
  }
  if (std::strcmp(what, "races") == 0) {
    cudaMemsetAsync(a, 0, sizeof(float) * kElements, other);
    std::printf("product %d\n", product(a, c));
  }
  if (*what == '\0' || std::strcmp(what, "unwritten") == 0) {
    std::printf("product %d\n", product(a, c));
    std::printf("wait %d\n", cudaStreamSynchronize(stream));
  }
  if (*what == '\0') {
    std::printf("off by %g\n", worst(x, y));
    cudaMemset(c, 0, sizeof(float) * kElements);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    std::printf("captured %d\n", product(a, c));
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    std::printf("off by %g before the graph\n", worst(x, y));
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    std::printf("off by %g after it\n", worst(x, y));
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
  std::printf("wait %d\n", cudaDeviceSynchronize());
  cublasDestroy(handle);
  for (float* matrix : {a, b, c}) cudaFree(matrix);
}
