// Compares the references with NVIDIA's own libraries and the limit of a GPU's memory bandwidth.
//
// Every figure is the median of several groups of calls, timed by GPU events. Contestants alternate by group, so that
// changes of clocks affect all of them. Calls, except Matmul's, cycle through buffers that together far exceed the L2
// cache, so that none finds its input there. A call before each group is not timed: it flushes dirty lines that another
// contestant left in the cache.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    const cudaError_t error_ = (call);                                                                \
    if (error_ != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                                   \
    }                                                                                                 \
  } while (false)

namespace limits {

constexpr size_t kRotationBytes = size_t{512} << 20;

// Buffers of equal size for successive calls, an input and an output each.
template <class T>
class Rotation {
 public:
  explicit Rotation(size_t n) : n_(n) {
    const size_t sets = std::clamp<size_t>(kRotationBytes / (n * sizeof(T)), 2, 64);
    for (size_t i = 0; i < sets; ++i) {
      CHECK(cudaMalloc(&in_.emplace_back(), n * sizeof(T)));
      CHECK(cudaMalloc(&out_.emplace_back(), n * sizeof(T)));
    }
  }
  ~Rotation() {
    for (T* memory : in_) cudaFree(memory);
    for (T* memory : out_) cudaFree(memory);
  }
  void Fill(const std::vector<T>& values) {
    for (T* memory : in_) CHECK(cudaMemcpy(memory, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  size_t sets() const { return in_.size(); }
  const T* in(size_t call) const { return in_[call % in_.size()]; }
  T* out(size_t call) const { return out_[call % out_.size()]; }
  std::vector<T> Output(size_t call) const {
    std::vector<T> values(n_);
    CHECK(cudaMemcpy(values.data(), out(call), n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  size_t n_;
  std::vector<T*> in_, out_;
};

// A contestant: `launch` makes one call, `check` ends the program if the previous call's result is wrong.
struct Contestant {
  const char* what;
  std::function<void(size_t call)> launch;
  std::function<void(const char* what)> check = [](const char*) {};
};

// Times the contestants alternately, in groups of calls that take some milliseconds, and prints a row for each:
// task,size,what,microseconds,GB/s. Each call moves `bytes` (for Matmul: the number of operations).
inline void Compare(const char* task, const std::string& size, double bytes,
                    const std::vector<Contestant>& contestants) {
  constexpr int kRounds = 21;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  size_t call = 0;
  const auto seconds_a_call = [&](const Contestant& contestant, int calls) {
    contestant.launch(call++);
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < calls; ++i) contestant.launch(call++);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    return milliseconds / 1e3 / calls;
  };
  std::vector<int> calls;
  for (const Contestant& contestant : contestants) {
    call = 0;
    contestant.launch(call++);
    contestant.check(contestant.what);
    seconds_a_call(contestant, 2);
    calls.push_back(std::clamp(static_cast<int>(2e-3 / seconds_a_call(contestant, 5)), 5, 200));
  }
  std::vector<std::vector<double>> seconds(contestants.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < contestants.size(); ++i) seconds[i].push_back(seconds_a_call(contestants[i], calls[i]));
  }
  CHECK(cudaGetLastError());
  for (size_t i = 0; i < contestants.size(); ++i) {
    std::nth_element(seconds[i].begin(), seconds[i].begin() + kRounds / 2, seconds[i].end());
    const double median = seconds[i][kRounds / 2];
    std::printf("%s,%s,%s,%.3f,%.1f\n", task, size.c_str(), contestants[i].what, 1e6 * median, bytes / median / 1e9);
  }
  std::fflush(stdout);
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
}

inline void Require(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "%s: wrong result\n", what);
  std::exit(1);
}

// Each times one assignment's reference.
void Reduction();
void Scan();
void Transpose();
void Shift();
void Matmul();
void Histogram();
void Sort();

}  // namespace limits
