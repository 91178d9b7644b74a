// A transform as a piece of work: between kernels, in two streams, in a graph; and mistakes that must be found.
//   fft_work            convolutions by transforms in two streams at once, then by a graph
//   fft_work outside    the output's buffer is one number too small
//   fft_work pitched    the last row's end is past the input's buffer
//   fft_work unwritten  one number of the input was never written
//   fft_work races      another stream writes the input
//   fft_work host       the input is in pageable host memory
//   fft_work area       the work area is a byte too small
//   fft_work overwrites another stream reads an input that the transform to real numbers overwrites
//   fft_work other      a function for other types than the plan's
//   fft_work missing    a callback
//   fft_work half       a type that is missing
#include <cufftXt.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kLength = 100, kHalf = kLength / 2 + 1;

__global__ void multiply(cufftComplex* x, const cufftComplex* y, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kHalf) return;
  x[i] = {(x[i].x * y[i].x - x[i].y * y[i].y) * scale, (x[i].x * y[i].y + x[i].y * y[i].x) * scale};
}

// A signal rotated by a number of places, which is its convolution with one spike.
struct Turn {
  int places;
  float *signal, *spike, *result;
  cufftComplex *signal_transform, *spike_transform;
  cufftHandle forward, inverse;
  cudaStream_t stream;

  explicit Turn(int by) : places(by) {
    for (float** real : {&signal, &spike, &result}) cudaMalloc(real, kLength * sizeof(float));
    for (cufftComplex** complex : {&signal_transform, &spike_transform}) {
      cudaMalloc(complex, kHalf * sizeof(cufftComplex));
    }
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cufftPlan1d(&forward, kLength, CUFFT_R2C, 1);
    cufftPlan1d(&inverse, kLength, CUFFT_C2R, 1);
    cufftSetStream(forward, stream);
    cufftSetStream(inverse, stream);
    std::vector<float> values(kLength), one(kLength);
    for (int i = 0; i < kLength; ++i) values[i] = static_cast<float>(i);
    one[places] = 1;
    cudaMemcpy(signal, values.data(), kLength * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(spike, one.data(), kLength * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(result, 0, kLength * sizeof(float));
    cudaDeviceSynchronize();  // the streams do not wait for the default stream
  }
  int run() {
    int status = cufftExecR2C(forward, signal, signal_transform);
    if (status == 0) status = cufftExecR2C(forward, spike, spike_transform);
    multiply<<<1, 64, 0, stream>>>(signal_transform, spike_transform, 1.0f / kLength);
    return status == 0 ? cufftExecC2R(inverse, signal_transform, result) : status;
  }
  bool is_right() const {
    std::vector<float> values(kLength);
    cudaMemcpy(values.data(), result, kLength * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < kLength; ++i) {
      if (!(std::abs(values[(i + places) % kLength] - i) < 1e-4)) return false;
    }
    return true;
  }
  void end() const {
    cufftDestroy(forward);
    cufftDestroy(inverse);
    for (float* real : {signal, spike, result}) cudaFree(real);
    for (cufftComplex* complex : {signal_transform, spike_transform}) cudaFree(complex);
  }
};

static void work() {
  Turn a(7), b(31);
  std::printf("runs %d %d\n", a.run(), b.run());
  std::printf("wait %d\n", cudaDeviceSynchronize());
  std::printf("right %d %d\n", a.is_right(), b.is_right());
  cudaMemset(a.result, 0, kLength * sizeof(float));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(a.stream, cudaStreamCaptureModeGlobal);
  std::printf("captured %d\n", a.run());
  cudaStreamEndCapture(a.stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  std::printf("right %d before the graph\n", a.is_right());
  cudaGraphLaunch(executable, a.stream);
  cudaStreamSynchronize(a.stream);
  std::printf("right %d after it\n", a.is_right());
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  a.end();
  b.end();
}

// A transform of 100 x 8 complex numbers to 100 x 14 real ones.
static void overwrite(cufftComplex* input, cufftComplex* output, cudaStream_t stream, cudaStream_t other) {
  cufftHandle plan;
  cufftPlan2d(&plan, 100, 14, CUFFT_C2R);
  cufftSetStream(plan, stream);
  cudaMemcpyAsync(output + 720, input, 64, cudaMemcpyDeviceToDevice, other);
  std::printf("transform %d\n", cufftExecC2R(plan, input, reinterpret_cast<float*>(output)));
  cufftDestroy(plan);
}

static void use_small_area(cudaStream_t stream) {
  cufftHandle plan;
  size_t bytes;
  void *area, *data;
  constexpr int kLong = 65536;
  cudaMalloc(&data, kLong * sizeof(cufftComplex));
  cudaMemset(data, 0, kLong * sizeof(cufftComplex));
  cudaDeviceSynchronize();
  cufftCreate(&plan);
  cufftSetAutoAllocation(plan, 0);
  cufftMakePlan1d(plan, kLong, CUFFT_C2C, 1, &bytes);
  cudaMalloc(&area, bytes - 1);
  cufftSetWorkArea(plan, area);
  cufftSetStream(plan, stream);
  auto* const numbers = static_cast<cufftComplex*>(data);
  std::printf("transform %d\n", cufftExecC2C(plan, numbers, numbers, CUFFT_FORWARD));
  cufftDestroy(plan);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* mode) { return std::strcmp(what, mode) == 0; };
  if (*what == '\0') {
    work();
    return 0;
  }
  constexpr int kRows = 8;
  constexpr size_t kBytes = kRows * kLength * sizeof(cufftComplex);
  std::vector<cufftComplex> host(kRows * kLength);
  cufftComplex *input, *output;
  cudaMalloc(&input, kBytes);
  cudaMalloc(&output, is("outside") ? kBytes - sizeof(cufftComplex) : kBytes);
  cudaMemset(input, 0, is("unwritten") ? kBytes - sizeof(cufftComplex) : kBytes);
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cufftHandle plan;
  int n[] = {kLength}, pitch[] = {kLength + 1};
  if (is("pitched")) {
    cufftPlanMany(&plan, 1, n, pitch, 1, pitch[0], n, 1, kLength, CUFFT_C2C, kRows);
  } else {
    cufftPlan1d(&plan, kLength, CUFFT_C2C, kRows);
  }
  cufftSetStream(plan, stream);
  cudaDeviceSynchronize();
  if (is("races")) cudaMemsetAsync(input, 0, kBytes, other);
  if (is("area")) {
    use_small_area(stream);
  } else if (is("overwrites")) {
    overwrite(input, output, stream, other);
  } else if (is("other")) {
    std::printf("transform %d\n", cufftExecR2C(plan, reinterpret_cast<float*>(input), output));
  } else if (is("missing")) {
    void* callback = nullptr;
    std::printf("cufftXtSetCallback %d\n", cufftXtSetCallback(plan, &callback, CUFFT_CB_LD_COMPLEX, nullptr));
  } else if (is("half")) {
    cufftHandle half;
    long long n64[] = {8};
    size_t bytes;
    cufftCreate(&half);
    std::printf("cufftXtMakePlanMany %d\n", cufftXtMakePlanMany(half, 1, n64, nullptr, 1, 0, CUDA_C_16F, nullptr, 1, 0,
                                                                CUDA_C_16F, 1, &bytes, CUDA_C_16F));
  } else {
    std::printf("transform %d\n", cufftExecC2C(plan, is("host") ? host.data() : input, output, CUFFT_FORWARD));
  }
  std::printf("wait %d\n", cudaDeviceSynchronize());
  cufftDestroy(plan);
  cudaFree(input);
  cudaFree(output);
}
