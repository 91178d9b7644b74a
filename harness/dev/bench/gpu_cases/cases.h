// Cases: kernels whose counters or times are compared with a GPU's. The same program runs on a GPU, under Nsight
// Compute and on the virtual GPU; harness/dev/bench/gpu_counting.py and gpu_time.py run it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace gpu_cases {

enum Set : unsigned {
  kCounting = 1,  // small; counters are compared with Nsight Compute's. One launch each
  kTiming = 2,    // large; modelled time is compared with a GPU's
  kCourse = 4,    // the course's figures on a G80. May take several launches
  kHeldOut = 8,   // as kTiming, but not used to calibrate the model
};

// Device memory shared by the cases of a run. Contents do not matter, except for `index`.
struct Memory {
  float* in;
  float* out;
  unsigned* index;  // a permutation of [0, kIndices)
  template <typename T>
  const T* In() const {
    return reinterpret_cast<const T*>(in);
  }
  template <typename T>
  T* Out() const {
    return reinterpret_cast<T*>(out);
  }
};
inline constexpr unsigned kIndices = 1u << 24;

struct Case {
  std::string name;
  unsigned sets;
  std::function<void(const Memory&)> launch;
};

inline std::vector<Case>& Cases() {
  static std::vector<Case> cases;
  return cases;
}

// A static object of this type adds a file's cases.
struct Registration {
  explicit Registration(void (*add)()) { add(); }
};

inline void Add(const std::string& name, unsigned sets, std::function<void(const Memory&)> launch) {
  Cases().push_back({name, sets, std::move(launch)});
}

}  // namespace gpu_cases
