// What the tests of assignment 07 ask, and the answers, computed. The instructor's suite asks all of it, on inputs that
// depend on the seed too; a part of it, with one seed, is the public suite's table.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "judge/input/inputs.h"
#include "mistakes.h"
#include "oracle.h"

namespace lockstep::suites {

// The answers that rung `number` is asked for; 0: those of all rungs.
inline Case Solved(const Sm& sm, const Kernel& kernel, int number) {
  const OccupancyLimits limits = FillSm(sm.limits, {kernel.threads, kernel.registers, kernel.shared});
  Answers answers{limits.by_warps, limits.by_registers, limits.by_shared};
  const int by[4] = {limits.by_warps, limits.by_blocks, limits.by_registers, limits.by_shared};
  answers.limiter = static_cast<int>(std::min_element(by, by + 4) - by);
  answers.warps = limits.Blocks() * WarpsOf(sm.limits, kernel.threads);
  const bool has_sizes = number == 0 || number == 6;
  if (has_sizes) {
    answers.best_block = BestBlockSize(sm.limits, kernel.registers, kernel.shared, kernel.shared_per_thread);
  }
  if (number == 0 || number == 7) {
    answers.register_budget = RegisterBudget(sm.limits, kernel.threads, kernel.shared, kernel.warps);
  }
  return {sm, kernel, answers, MistakesOf(sm.limits, kernel, answers, has_sizes)};
}

inline Sm MakeSm(const vgpu::ComputeCapability& capability, int carveout_kb) {
  return {LimitsOf(capability, carveout_kb), "compute capability " + std::to_string(capability.major) + "." +
                                                 std::to_string(capability.minor) + ", " + std::to_string(carveout_kb) +
                                                 " KB of shared memory"};
}

// Devices that the rung's rule is for, with their largest carve-out, or with each.
inline std::vector<Sm> Devices(int number, bool every_carveout = false) {
  std::vector<Sm> devices;
  for (const vgpu::ComputeCapability& capability : vgpu::AllCapabilities()) {
    for (const int carveout_kb : capability.carveouts_kb) {
      if (!every_carveout && carveout_kb != capability.carveouts_kb.back()) continue;
      Sm sm = MakeSm(capability, carveout_kb);
      if (Concerns(number, sm.limits)) devices.push_back(std::move(sm));
    }
  }
  return devices;
}

// No number is that of a real GPU, and none follows from another, with one exception that 1.x always has: a block may
// have all of an SM's registers.
inline Sm MadeUpDevice(judge::Random& random, int index, int number) {
  const auto between = [&](int low, int high) { return static_cast<int>(random.Between(low, high)); };
  SmLimits sm;
  sm.warp_size = 8 << between(0, 4);  // up to 128
  sm.max_warps = between(8, 96);
  sm.max_threads_per_block = sm.warp_size * between(4, 48);
  sm.max_blocks = between(2, 40);
  sm.warp_granularity = between(1, 8);
  sm.register_unit = 32 * between(1, 16);
  sm.registers = 1024 * between(8, 160);
  sm.max_registers_per_thread = between(60, 300);
  sm.shared_unit = 64 * between(1, 16);
  sm.shared = 1024 * between(8, 256);
  sm.shared_reserved = 256 * between(0, 6);
  sm.shared_per_block = (sm.shared - sm.shared_reserved) / between(1, 3);
  sm.registers_by_block = number == 3 || (number != 4 && between(0, 3) == 0);
  sm.registers_per_block = sm.registers_by_block ? sm.registers : sm.registers / between(1, 2);
  return {sm, "made-up device no. " + std::to_string(index)};
}

inline Kernel RandomKernel(judge::Random& random, const SmLimits& sm) {
  const auto between = [&](int low, int high) { return static_cast<int>(random.Between(low, high)); };
  Kernel kernel;
  kernel.threads = between(1, sm.max_threads_per_block);
  kernel.registers = between(1, sm.max_registers_per_thread);
  // Small and large needs alike, which one range would not give.
  kernel.shared = between(0, sm.shared_per_block >> between(0, 6));
  kernel.shared_per_thread = between(0, 1) * between(0, 64);
  kernel.warps = between(1, sm.max_warps);
  return kernel;
}

// Asks for one test: each question with its answer, for one rung, or for all (number 0).
class Questions {
 public:
  Questions(int number, std::vector<Sm> devices) : number_(number), devices_(std::move(devices)) {}
  std::vector<Case> Take() { return std::move(cases_); }
  void Ask(const Sm& sm, const Kernel& kernel) {
    if (Concerns(number_, sm.limits)) cases_.push_back(Solved(sm, kernel, number_));
  }

  // 5 KB, 30 registers and 128 threads on the course's GPU; from 2.0 on the first GPU with that rule stands in for it.
  void CoursesKernel() {
    for (const Sm& sm : Courses()) Ask(sm, kCoursesKernel);
  }
  void CoursesExample() {
    for (const Sm& sm : Courses()) {
      Ask(sm, kCoursesKernel);
      for (const int threads : {512, 256, 64}) Ask(sm, {threads, 10, 5 * 1024, 0, 8});
    }
  }

  void EveryDevice() {
    const Kernel kernels[] = {{256, 32, 0, 0, 16},         {128, 40, 6 * 1024, 0, 8},  {192, 21, 3000, 16, 6},
                              {1024, 24, 1024, 4, 32},     {64, 63, 1000, 40, 4},      {512, 16, 12 * 1024, 8, 16},
                              {96, 72, 10 * 1024, 64, 12}, {32, 128, 48 * 1024, 0, 1}, {352, 33, 200, 12, 22}};
    for (const Sm& sm : devices_) {
      for (const Kernel& kernel : kernels) Ask(sm, kernel);
    }
  }

  void Boundaries() {
    for (const Sm& sm : devices_) {
      const int unit = sm.limits.shared_unit, most = sm.limits.shared_per_block;
      for (const int threads : {1, 31, 32, 33, 63, 65, 95, 97, 129, 160, 161, 257, 481, 511, 513}) {
        Ask(sm, {threads, 17, 4 * threads, 4, (threads + 31) / 32});
      }
      for (const int registers : {1, 7, 8, 9, 15, 20, 24, 25, 32, 33, 41, 62, 63, 64, 65}) {
        Ask(sm, {96, registers, registers * 100, registers, 3});
        Ask(sm, {224, registers, 0, registers, 14});
      }
      for (const int bytes :
           {1, unit - 1, unit, unit + 1, 3 * unit + 1, most / 2, most / 2 + 1, most / 3, most - 1, most}) {
        Ask(sm, {64, 10, bytes, 1, 4});
      }
    }
  }

  void BlocksThatDoNotFit() {
    for (const Sm& sm : devices_) {
      const SmLimits& limits = sm.limits;
      const int most = limits.max_threads_per_block;
      const int registers = limits.max_registers_per_thread;
      for (const int threads : {0, most + 1, most + 32, 2 * most}) Ask(sm, {threads, 16, 100, 0, 1});
      for (const int threads : {32, most - 32, most}) {
        for (const int more : {0, 1, 8}) Ask(sm, {threads, registers + more, 100, 0, 1});
      }
      for (const int more : {0, 1, 5000}) Ask(sm, {32, 16, limits.shared_per_block + more, 0, 1});
      Ask(sm, {32, 16, 0, 0, limits.max_warps + 1});
      // Just within and just beyond what a block may have of the registers.
      const int fits = limits.registers_per_block / most;
      for (const int count : {fits - 8, fits - 1, fits, fits + 1}) Ask(sm, {most, count, 0, limits.shared / 64, 1});
    }
  }

  void KernelsThatNeedNothing() {
    for (const Sm& sm : devices_) {
      Ask(sm, {128, 0, 1000, 0, 4});
      Ask(sm, {128, 16, 0, 0, 4});
      Ask(sm, {128, 0, 0, 0, 4});
    }
  }

  void CarveOuts(const std::vector<Sm>& devices) {
    for (const Sm& sm : devices) {
      for (const int bytes : {0, 1000, 7 * 1024, 30 * 1024, 64 * 1024}) Ask(sm, {128, 24, bytes, 3, 8});
    }
  }

  void DevicesThatWereNeverBuilt(judge::Random& random, int count, int kernels) {
    for (int i = 1; i <= count; ++i) {
      const Sm sm = MadeUpDevice(random, i, number_);
      for (int k = 0; k < kernels; ++k) Ask(sm, RandomKernel(random, sm.limits));
    }
  }

 private:
  static constexpr Kernel kCoursesKernel = {128, 30, 5 * 1024, 0, 8};

  std::vector<Sm> Courses() const {
    if (number_ != 0) return {Devices(number_).front()};
    return {Devices(3).front(), Devices(4).front()};
  }

  int number_;
  std::vector<Sm> devices_;
  std::vector<Case> cases_;
};

}  // namespace lockstep::suites
