// What cublasLtMatmul computes: orders, operations, epilogues, batches and types, against sums by the definition.
// Prints a line for each case, and the same on a GPU.
#include <cublasLt.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <vector>

static cublasLtHandle_t handle;
static constexpr int kRows = 16, kColumns = 24, kInner = 32, kBatches = 2;

template <typename T>
struct Matrix {
  std::vector<double> host;
  T* device = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  int leading, apart;
  bool by_rows;
  Matrix(cudaDataType type, int rows, int columns, bool in_rows) : by_rows(in_rows) {
    leading = (by_rows ? columns : rows) + 8;
    apart = leading * (by_rows ? rows : columns);
    std::vector<T> values(apart * kBatches);
    for (size_t i = 0; i < values.size(); ++i) {
      host.push_back(static_cast<double>((i * 7 + i / 5) % 9) - 4);
      values[i] = static_cast<T>(static_cast<float>(host.back()));
    }
    cudaMalloc(&device, values.size() * sizeof(T));
    cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    cublasLtMatrixLayoutCreate(&layout, type, rows, columns, leading);
    const cublasLtOrder_t order = by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    const int count = kBatches;
    const int64_t stride = apart;
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order);
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
  }
  ~Matrix() {
    cublasLtMatrixLayoutDestroy(layout);
    cudaFree(device);
  }
  Matrix(const Matrix&) = delete;
  int index(int batch, int row, int column) const {
    return batch * apart + (by_rows ? row * leading + column : row + column * leading);
  }
};

static double activated(int epilogue, double value) {
  if ((epilogue & CUBLASLT_EPILOGUE_RELU) != 0) return value > 0 ? value : 0;
  if ((epilogue & CUBLASLT_EPILOGUE_GELU) == 0) return value;
  return 0.5 * value * (1 + std::tanh(0.7978845608 * (value + 0.044715 * value * value * value)));
}

template <typename T, typename S>
void product(const char* name, cudaDataType type, cublasComputeType_t compute, cudaDataType scale, S by, S before,
             bool turned, bool a_by_rows, bool d_by_rows, int epilogue, double allowed) {
  Matrix<T> a(type, turned ? kInner : kRows, turned ? kRows : kInner, a_by_rows), b(type, kInner, kColumns, false);
  Matrix<T> c(type, kRows, kColumns, d_by_rows), d(type, kRows, kColumns, d_by_rows), bias(type, kRows, 1, false);
  cublasLtMatmulDesc_t matmul;
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t found;
  const cublasOperation_t operation = turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasLtEpilogue_t after = static_cast<cublasLtEpilogue_t>(epilogue);
  cublasLtMatmulDescCreate(&matmul, compute, scale);
  cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_TRANSA, &operation, sizeof operation);
  cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, &after, sizeof after);
  if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) {
    cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias.device, sizeof bias.device);
  }
  const size_t workspace = 1 << 20;
  void* scratch = nullptr;
  cudaMalloc(&scratch, workspace);
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                       sizeof workspace);
  int count = 0;
  int status = cublasLtMatmulAlgoGetHeuristic(handle, matmul, a.layout, b.layout, c.layout, d.layout, preference, 1,
                                              &found, &count);
  if (status == 0 && count == 1) {
    status = cublasLtMatmul(handle, matmul, &by, a.device, a.layout, b.device, b.layout, &before, c.device, c.layout,
                            d.device, d.layout, &found.algo, scratch, workspace, nullptr);
  }
  std::vector<T> result(d.host.size());
  cudaMemcpy(result.data(), d.device, result.size() * sizeof(T), cudaMemcpyDeviceToHost);
  double worst = 0;
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        double sum = 0;
        for (int k = 0; k < kInner; ++k) {
          sum += a.host[turned ? a.index(batch, k, row) : a.index(batch, row, k)] * b.host[b.index(batch, k, column)];
        }
        double value = static_cast<double>(static_cast<float>(by)) * sum +
                       static_cast<double>(static_cast<float>(before)) * c.host[c.index(batch, row, column)];
        if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) value += bias.host[row];
        value = activated(epilogue, value);
        const double off = static_cast<double>(static_cast<float>(result[d.index(batch, row, column)])) - value;
        worst = std::fmax(worst, std::fabs(off) / (1 + std::fabs(value)));
      }
    }
  }
  if (status != 0 || count != 1) {
    std::printf("%s status %d\n", name, status);
  } else if (worst <= allowed) {
    std::printf("%s ok\n", name);
  } else {
    std::printf("%s off by %g\n", name, worst);
  }
  cudaFree(scratch);
  cublasLtMatmulPreferenceDestroy(preference);
  cublasLtMatmulDescDestroy(matmul);
}

int main() {
  std::printf("create %d\n", cublasLtCreate(&handle));
  const auto F = CUDA_R_32F, H = CUDA_R_16F, D = CUDA_R_64F;
  const auto single = CUBLAS_COMPUTE_32F;
  const int none = CUBLASLT_EPILOGUE_DEFAULT;
  product<float, float>("plain", F, single, F, 0.5f, 0, false, false, false, none, 1e-6);
  product<float, float>("with C", F, single, F, 0.5f, -2, false, false, false, none, 1e-6);
  product<float, float>("turned", F, single, F, 0.5f, -2, true, false, false, none, 1e-6);
  product<float, float>("A in rows", F, single, F, 0.5f, -2, false, true, false, none, 1e-6);
  product<float, float>("D in rows", F, single, F, 0.5f, -2, false, false, true, none, 1e-6);
  product<float, float>("bias", F, single, F, 0.5f, 0, false, false, false, CUBLASLT_EPILOGUE_BIAS, 1e-6);
  product<float, float>("relu", F, single, F, 0.5f, -2, false, false, false, CUBLASLT_EPILOGUE_RELU, 1e-6);
  product<float, float>("gelu", F, single, F, 0.01f, 0, false, false, false, CUBLASLT_EPILOGUE_GELU, 1e-3);
  product<__half, float>("half", H, single, F, 0.5f, -2, true, false, false, none, 1e-3);
  product<__half, float>("half relu bias", H, single, F, 0.5f, 0, true, false, false, CUBLASLT_EPILOGUE_RELU_BIAS,
                         1e-3);
  product<__half, float>("half gelu bias", H, single, F, 0.01f, 0, true, false, false, CUBLASLT_EPILOGUE_GELU_BIAS,
                         2e-3);
  product<double, double>("double", D, CUBLAS_COMPUTE_64F, D, 0.5, -2, false, false, false, none, 1e-12);
  std::printf("left %d\n", cudaDeviceSynchronize());
  std::printf("destroy %d\n", cublasLtDestroy(handle));
}
