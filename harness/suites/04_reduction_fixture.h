// What the public and the hidden tests of assignment 04 share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/input/inputs.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// How many ints into its allocation a buffer begins. Allocations are aligned to 256 bytes.
struct Offsets {
  uint64_t in = 0, sum = 0, work = 0;
};

// The buffers of a reduction of up to `capacity` ints.
class ReductionBuffers {
 public:
  ReductionBuffers(judge::JudgeDevice& device, uint64_t capacity, Offsets offsets = {});

  judge::DeviceArray<int32_t> in, sum, work;
};

// Reduces the values, which fill the first part of d_in, and returns all that is wrong with how it went. `what` names
// the values in messages.
judge::EvidenceRun Reduce(judge::Runner& runner, const std::string& rung, ReductionBuffers& buffers,
                          const std::vector<int32_t>& values, const std::string& what);

class ReductionTest : public judge::LauncherTest {
 protected:
  // Reduces n values of this pattern in buffers of their own. Does nothing where a problem was found before.
  void Expect(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked, Offsets offsets = {});
  // The same in buffers that the test keeps, and with values of its own. is_repeated: a call of as many elements was
  // made before; this one may keep no memory.
  void ExpectIn(ReductionBuffers& buffers, const std::vector<int32_t>& values, const std::string& what,
                judge::Role role = judge::Role::kChecked, bool is_repeated = false);
  // The same in buffers of their own.
  void ExpectOf(const std::vector<int32_t>& values, const std::string& what);

 private:
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
