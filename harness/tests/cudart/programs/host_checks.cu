// Programs, by name, for what --check reports besides a kernel's faults: host_checks_test.cc.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

constexpr int kInts = 1000, kBlock = 256;

__global__ void Square(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * i;
}
struct Pair {
  double value;
  int index;  // and 4 bytes that nobody writes
};
__global__ void MakePairs(Pair* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i].value = i;
  out[i].index = i;
}
__global__ void Clear(int* locks) { atomicExch(locks + threadIdx.x, 0); }
__global__ void Take(int* locks, int* out) { out[threadIdx.x] = atomicExch(locks + threadIdx.x, 1); }
__global__ void Step(int* out) { out[threadIdx.x + 1000] = 1; }  // OUT
__global__ void Total(const int* in, int* out) {
  __shared__ int sum[1];
  if (threadIdx.x == 0) sum[0] = 0;
  __syncthreads();
  sum[0] = sum[0] + in[threadIdx.x];  // RACE
  __syncthreads();
  if (threadIdx.x == 0) *out = sum[0];
}

int* Buffer() {
  int* buffer = nullptr;
  cudaMalloc(&buffer, kInts * sizeof(int));
  return buffer;
}
void Back(const int* buffer, size_t bytes = kInts * sizeof(int)) {
  std::vector<int> host(kInts);
  cudaMemcpy(host.data(), buffer, bytes, cudaMemcpyDeviceToHost);  // BACK
}

void GridRoundedDown() {
  int* out = Buffer();
  Square<<<kInts / kBlock, kBlock>>>(out, kInts);
  Back(out);
  cudaFree(out);
}
void GridRoundedUp() {
  int* out = Buffer();
  Square<<<(kInts + kBlock - 1) / kBlock, kBlock>>>(out, kInts);
  Back(out);
  cudaFree(out);
}
void LastElementLeft() {
  int* out = Buffer();
  Square<<<4, kBlock>>>(out, kInts - 1);
  Back(out);
  cudaFree(out);
}
void OnlyWhatIsThere() {
  int* out = Buffer();
  Square<<<4, kBlock>>>(out, kInts - 1);
  Back(out, (kInts - 1) * sizeof(int));
  cudaFree(out);
}
void NeverLaunched() {
  int* out = Buffer();
  Square<<<4, 2048>>>(out, kInts);
  static_cast<void>(cudaGetLastError());
  Back(out);
  cudaFree(out);
}
void Padding() {
  Pair* pairs = nullptr;
  cudaMalloc(&pairs, 100 * sizeof(Pair));
  MakePairs<<<1, 128>>>(pairs, 100);
  std::vector<Pair> host(100);
  cudaMemcpy(host.data(), pairs, 100 * sizeof(Pair), cudaMemcpyDeviceToHost);
  cudaMemcpy(host.data(), pairs, sizeof(Pair), cudaMemcpyDeviceToHost);
  cudaFree(pairs);
}
void ExchangeThatOnlyWrites() {
  int* locks = Buffer();
  Clear<<<1, 32>>>(locks);
  int* out = Buffer();
  Take<<<1, 32>>>(locks, out);
  cudaDeviceSynchronize();
  cudaFree(locks);
  cudaFree(out);
}
void ExchangeThatReads() {
  int* locks = Buffer();
  int* out = Buffer();
  Take<<<1, 32>>>(locks, out);
  cudaDeviceSynchronize();
  cudaFree(locks);
  cudaFree(out);
}
void FreedAfterAFault() {
  int* out = Buffer();
  Step<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
void SmallArray() {
  int *in = Buffer(), *out = Buffer();
  cudaMemset(in, 0, kInts * sizeof(int));
  Total<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

int main(int, char** argv) {
  const std::map<std::string, void (*)()> programs = {
      {"GridRoundedDown", GridRoundedDown},     {"GridRoundedUp", GridRoundedUp},
      {"LastElementLeft", LastElementLeft},     {"OnlyWhatIsThere", OnlyWhatIsThere},
      {"NeverLaunched", NeverLaunched},         {"Padding", Padding},
      {"ExchangeThatReads", ExchangeThatReads}, {"ExchangeThatOnlyWrites", ExchangeThatOnlyWrites},
      {"FreedAfterAFault", FreedAfterAFault},   {"SmallArray", SmallArray},
  };
  programs.at(argv[1])();
}
