// Shared by the public and the hidden tests of assignment 08.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"
#include "suites/08_coalescing_case.h"
#include "suites/08_coalescing_explain.h"

namespace lockstep::suites {

enum class Values : uint8_t {
  kRamp,    // 1, 2, 3, …; for readable messages. Up to 2^23 floats
  kRandom,  // whole numbers from 1 to 2^23
};
std::vector<uint32_t> MakeFloats(Values values, uint64_t count, const judge::SeedKey& seed);

// d_in and d_out of up to `capacity` floats.
class CoalescingBuffers {
 public:
  CoalescingBuffers(judge::JudgeDevice& device, uint64_t capacity);

  judge::DeviceArray<uint32_t> in, out;
};

// Runs a launcher on floats in the first part of d_in, and returns all problems. `what` names the values in messages.
judge::EvidenceRun Increment(judge::Runner& runner, const std::string& rung, CoalescingBuffers& buffers,
                             const std::vector<uint32_t>& floats, const std::string& what);

// Rungs 2 to 8.
class CoalescingTest : public judge::LauncherTest {
 protected:
  // Runs the rung on n elements or structures in new buffers. No effect after a problem was found.
  void Expect(uint64_t n, Values values = Values::kRamp, judge::Role role = judge::Role::kChecked);
  // The same in the test's own buffers, with given floats.
  void ExpectIn(CoalescingBuffers& buffers, const std::vector<uint32_t>& floats, const std::string& what,
                judge::Role role = judge::Role::kChecked);
  // Floats for each element or structure.
  uint64_t each() const { return FloatsEach(LayoutOf(rung())); }

 private:
  uint64_t inputs_ = 0;
};

// Rungs 1 and 9: runs all cases of the current test, up to the first problem.
class PredictionTest : public judge::LauncherTest {
 protected:
  void ExpectAll();

 private:
  std::vector<judge::Problem> ProblemsOf(const PredictionCase& one, const worker::Argument& argument,
                                         const judge::CallReport& report);
};

// The selected rungs whose launchers launch kernels, and the others.
std::vector<std::string> RungsWithKernels();
std::vector<std::string> RungsOfPredictions();

}  // namespace lockstep::suites
