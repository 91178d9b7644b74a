// Runs cases: --set=counting|timing|course|held-out, or --case=NAME; launches each once, in the order of their names,
// and prints the names. With --time=N also measures by events N batches of kBatch launches of each case, and prints
// after the name the median time per launch in microseconds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "cases.h"

namespace {

using gpu_cases::Case;

constexpr int kBatch = 20;

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Uninitialised buffers, since their contents do not matter, and the first `indices` entries of the permutation.
gpu_cases::Memory MakeMemory(size_t bytes, unsigned indices) {
  gpu_cases::Memory memory{};
  Check(cudaMalloc(&memory.in, bytes), "cudaMalloc");
  Check(cudaMalloc(&memory.out, bytes), "cudaMalloc");
  // An odd factor permutes the integers modulo a power of two.
  std::vector<unsigned> index(indices);
  for (unsigned k = 0; k < indices; ++k) index[k] = k * 2654435761u % gpu_cases::kIndices;
  Check(cudaMalloc(&memory.index, index.size() * sizeof(unsigned)), "cudaMalloc");
  Check(cudaMemcpy(memory.index, index.data(), index.size() * sizeof(unsigned), cudaMemcpyHostToDevice), "cudaMemcpy");
  return memory;
}

double MedianMicroseconds(const Case& c, const gpu_cases::Memory& memory, int batches) {
  cudaEvent_t begin, end;
  Check(cudaEventCreate(&begin), "cudaEventCreate");
  Check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  for (int k = -1; k < batches; ++k) {  // the first warms up
    Check(cudaEventRecord(begin), c.name.c_str());
    for (int launch = 0; launch < kBatch; ++launch) c.launch(memory);
    Check(cudaEventRecord(end), c.name.c_str());
    Check(cudaEventSynchronize(end), c.name.c_str());
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, begin, end), c.name.c_str());
    if (k >= 0) times.push_back(ms / kBatch);
  }
  std::nth_element(times.begin(), times.begin() + batches / 2, times.end());
  return 1e3 * times[batches / 2];
}

}  // namespace

int main(int argc, char** argv) {
  unsigned sets = 0;
  std::string name;
  int timed = 0;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == "--set=counting") {
      sets = gpu_cases::kCounting;
    } else if (argument == "--set=timing") {
      sets = gpu_cases::kTiming;
    } else if (argument == "--set=course") {
      sets = gpu_cases::kCourse;
    } else if (argument == "--set=held-out") {
      sets = gpu_cases::kHeldOut;
    } else if (argument.rfind("--case=", 0) == 0) {
      name = argument.substr(7);
    } else if (argument.rfind("--time=", 0) == 0) {
      timed = std::atoi(argument.c_str() + 7);
    } else {
      std::fprintf(stderr, "usage: %s --set=counting|timing|course|held-out | --case=NAME  [--time=N]\n", argv[0]);
      return 2;
    }
  }
  std::vector<Case> cases = gpu_cases::Cases();
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  const auto is_other = [&](const Case& c) { return name.empty() ? (c.sets & sets) == 0 : c.name != name; };
  cases.erase(std::remove_if(cases.begin(), cases.end(), is_other), cases.end());
  unsigned needs = sets;
  for (const Case& c : cases) needs |= sets == 0 ? c.sets : 0;
  // A G80 has 768 MiB.
  const bool course = (needs & gpu_cases::kCourse) != 0,
             timing = !course && (needs & (gpu_cases::kTiming | gpu_cases::kHeldOut)) != 0;
  const size_t megabytes = course ? 128 : timing ? 512 : 16;
  const gpu_cases::Memory memory = MakeMemory(megabytes << 20, timing ? gpu_cases::kIndices : 1u << 16);
  for (const Case& c : cases) {
    c.launch(memory);
    Check(cudaGetLastError(), c.name.c_str());
    Check(cudaDeviceSynchronize(), c.name.c_str());
    if (timed > 0) {
      std::printf("%s\t%.2f\n", c.name.c_str(), MedianMicroseconds(c, memory, timed));
    } else {
      std::printf("%s\n", c.name.c_str());
    }
  }
  return 0;
}
