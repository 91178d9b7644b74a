// When an event's time is available: once the host has waited, in whatever way. Each line prints the answers before and
// after the wait.
#include <cstdio>

__global__ void spin(int* out, int turns) {
  int sum = threadIdx.x;
  for (int k = 0; k < turns; ++k) sum = sum * 1664525 + 1013904223;
  out[threadIdx.x] = sum;
}

int main() {
  constexpr int kTurns = 100'000, kThreads = 32;
  int* out;
  int host[kThreads];
  cudaEvent_t begin, end;
  cudaStream_t stream;
  cudaMalloc(&out, sizeof host);
  spin<<<1, kThreads>>>(out, kTurns);  // before any event, so its time is not needed
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaStreamCreate(&stream);
  const auto elapsed = [&] {
    float milliseconds = -1;
    const cudaError_t error = cudaEventElapsedTime(&milliseconds, begin, end);
    return error == cudaSuccess && !(milliseconds > 0) ? "no time" : cudaGetErrorName(error);
  };
  const auto show = [&](const char* name, auto wait) {
    cudaEventRecord(begin, stream);
    spin<<<1, kThreads, 0, stream>>>(out, kTurns);
    cudaEventRecord(end, stream);
    const char* before = elapsed();
    wait();
    std::printf("%s: %s, %s\n", name, before, elapsed());
    cudaDeviceSynchronize();
  };
  show("nothing", [] {});
  show("the first event", [&] { cudaEventSynchronize(begin); });
  show("asking twice", [&] {
    for (int k = 0; k < 2; ++k) cudaEventQuery(end);
  });
  show("the second event", [&] { cudaEventSynchronize(end); });
  show("asking for the second event", [&] {
    while (cudaEventQuery(end) == cudaErrorNotReady) {
    }
  });
  show("asking for the stream", [&] {
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
  });
  show("the stream", [&] { cudaStreamSynchronize(stream); });
  show("the device", [] { cudaDeviceSynchronize(); });
  show("a copy", [&] { cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost); });
  show("a copy in the stream", [&] { cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, stream); });
  // Which operations in the default stream keep kernels of two other streams from overlapping.
  cudaStream_t other, loose;
  cudaEvent_t between;
  cudaStreamCreate(&other);
  cudaStreamCreateWithFlags(&loose, cudaStreamNonBlocking);
  cudaEventCreate(&between);
  const auto span = [&](auto call) {
    float both = -1;
    cudaEventRecord(begin, loose);
    spin<<<1, kThreads, 0, stream>>>(out, kTurns);
    call();
    spin<<<1, kThreads, 0, other>>>(out, kTurns);
    cudaDeviceSynchronize();
    cudaEventRecord(end, loose);
    cudaDeviceSynchronize();
    cudaEventElapsedTime(&both, begin, end);
    return both;
  };
  const float alone = span([] {});
  const auto show_span = [&](const char* name, auto call) {
    std::printf("%s: %s\n", name, span(call) > 1.5f * alone ? "one after the other" : "side by side");
  };
  show_span("an event", [&] { cudaEventRecord(between, nullptr); });
  show_span("a wait", [&] {
    cudaEventRecord(between, loose);
    cudaStreamWaitEvent(nullptr, between);
  });
  show_span("an event in another stream", [&] { cudaEventRecord(between, loose); });
  show_span("a fill of 0 bytes", [&] { cudaMemsetAsync(out, 0, 0, nullptr); });
  float milliseconds = -1;
  cudaEventElapsedTime(&milliseconds, begin, end);
  std::printf("%s\n%f ms\n", cudaGetErrorName(cudaGetLastError()), milliseconds);
  return 0;
}
