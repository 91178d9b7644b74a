// Shared by the public and the hidden tests of assignment 04.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/input/inputs.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// Offset of a buffer in its allocation, in ints. Allocations are aligned to 256 bytes.
struct Offsets {
  uint64_t in = 0, sum = 0, work = 0;
};

// The buffers of a reduction of up to `capacity` ints.
class ReductionBuffers {
 public:
  ReductionBuffers(judge::JudgeDevice& device, uint64_t capacity, Offsets offsets = {});

  judge::DeviceArray<int32_t> in, sum, work;
};

// Reduces the values in the first part of d_in, and returns all problems. `what` names the values in messages.
judge::EvidenceRun Reduce(judge::Runner& runner, const std::string& rung, ReductionBuffers& buffers,
                          const std::vector<int32_t>& values, const std::string& what);

class ReductionTest : public judge::LauncherTest {
 protected:
  // Reduces n values of this pattern in new buffers. No effect after a problem was found.
  void Expect(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked, Offsets offsets = {});
  // The same in the test's own buffers, with given values. is_repeated: an earlier call had the same size, so this one
  // must keep no memory.
  void ExpectIn(ReductionBuffers& buffers, const std::vector<int32_t>& values, const std::string& what,
                judge::Role role = judge::Role::kChecked, bool is_repeated = false);
  // The same in new buffers.
  void ExpectOf(const std::vector<int32_t>& values, const std::string& what);

 private:
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
