// A language model's training, as small as it can be: each character predicts the next one through a hidden layer.
// Kernels of our own and cuBLAS, forward and backward, with plain gradient descent.
//
//   nvcc -arch=sm_80 -lineinfo train_step.cu -lcublas -o train_step && ./train_step 20
//
// hidden = tanh(embedding[character]); logits = hidden · output; loss = mean of -log softmax(logits)[next character].
#include <cublas_v2.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kCharacters = 32, kWidth = 64, kThreads = 128;
constexpr float kRate = 2.0F;
const std::string kText =
    "the threads of a warp run together and the warps of a block share its memory "
    "so the block waits at a barrier until all of its warps have met there ";

__global__ void Embed(const int* text, const float* embedding, float* hidden, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * kWidth) hidden[i] = tanhf(embedding[text[i / kWidth] * kWidth + i % kWidth]);
}

// A warp for each character, a lane for each logit: turns logits into their gradients.
__global__ void SoftmaxLoss(const int* next, float* logits, float* loss, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const float logit = logits[row * kCharacters + lane];
  float most = logit;
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0U, most, step));
  const float power = expf(logit - most);
  float sum = power;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0U, sum, step);
  const float right = lane == next[row] ? 1.0F : 0.0F;
  if (right != 0) atomicAdd(loss, (logf(sum) - (logit - most)) / n);
  logits[row * kCharacters + lane] = (power / sum - right) / n;
}

__global__ void EmbedBackward(const int* text, const float* hidden, const float* d_hidden, float* d_embedding, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * kWidth) return;
  const float slope = 1 - hidden[i] * hidden[i];
  atomicAdd(&d_embedding[text[i / kWidth] * kWidth + i % kWidth], d_hidden[i] * slope);
}

__global__ void Descend(float* weights, const float* gradient, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) weights[i] -= kRate * gradient[i];
}

int Blocks(int threads) { return (threads + kThreads - 1) / kThreads; }

template <typename T>
T* Device(const std::vector<T>& values) {
  T* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

// C (rows × columns) = A · B, all in the order of C++; `a_turned`, `b_turned`: the transpose of what is stored.
void Multiply(cublasHandle_t blas, const float* a, bool a_turned, const float* b, bool b_turned, float* c, int rows,
              int columns, int inner) {
  const float one = 1, zero = 0;
  cublasSgemm(blas, b_turned ? CUBLAS_OP_T : CUBLAS_OP_N, a_turned ? CUBLAS_OP_T : CUBLAS_OP_N, columns, rows, inner,
              &one, b, b_turned ? inner : columns, a, a_turned ? rows : inner, &zero, c, columns);
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20;
  std::vector<int> codes;
  for (const char c : kText) codes.push_back(c == ' ' ? 0 : c - 'a' + 1);
  const int n = static_cast<int>(codes.size()) - 1, weights = kCharacters * kWidth;
  std::vector<float> start(weights), zeros(n * kWidth);
  for (int k = 0; k < weights; ++k) start[k] = 0.1F * std::sin(static_cast<float>(k * k % 1009));

  const int* text = Device(codes);
  float *embedding = Device(start), *output = Device(start), *hidden = Device(zeros), *d_hidden = Device(zeros);
  float *logits = Device(zeros), *d_embedding = Device(start), *d_output = Device(start), *loss = Device(zeros);
  cublasHandle_t blas;
  cublasCreate(&blas);
  for (int step = 0; step <= steps; ++step) {
    cudaMemset(loss, 0, sizeof(float));
    cudaMemset(d_embedding, 0, weights * sizeof(float));
    Embed<<<Blocks(n * kWidth), kThreads>>>(text, embedding, hidden, n);
    Multiply(blas, hidden, false, output, false, logits, n, kCharacters, kWidth);
    SoftmaxLoss<<<Blocks(n * 32), kThreads>>>(text + 1, logits, loss, n);
    Multiply(blas, hidden, true, logits, false, d_output, kWidth, kCharacters, n);
    Multiply(blas, logits, false, output, true, d_hidden, n, kWidth, kCharacters);
    EmbedBackward<<<Blocks(n * kWidth), kThreads>>>(text, hidden, d_hidden, d_embedding, n);
    Descend<<<Blocks(weights), kThreads>>>(embedding, d_embedding, weights);
    Descend<<<Blocks(weights), kThreads>>>(output, d_output, weights);
    float value = 0;
    cudaMemcpy(&value, loss, sizeof value, cudaMemcpyDeviceToHost);
    if (step % 10 == 0) std::printf("step %3d  loss %.3f\n", step, value);
  }
  cublasDestroy(blas);
  for (void* memory : {static_cast<void*>(embedding), static_cast<void*>(output), static_cast<void*>(hidden),
                       static_cast<void*>(d_hidden), static_cast<void*>(logits), static_cast<void*>(d_embedding),
                       static_cast<void*>(d_output), static_cast<void*>(loss)}) {
    cudaFree(memory);
  }
  cudaFree(const_cast<int*>(text));
}
