// Shared by the public and the hidden tests of assignment 03.
//
// The elements of an array are all different, so an element in the wrong place shows how far it was shifted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// The rung with shifts from 0 to n - 1 only, and the in-place one.
inline constexpr const char* kSimpleRung = "shift1_gather";
inline constexpr const char* kInPlaceRung = "shift5_in_place";

enum class Values : uint8_t {
  kRamp,      // 1, 2, 3, …; for readable messages
  kDistinct,  // random, all different
};
std::vector<int32_t> MakeArray(Values values, uint64_t n, const judge::SeedKey& seed);

// d_in and d_out of an array of up to `capacity` ints; in place only d_in is used, and called d_data.
class ShiftBuffers {
 public:
  ShiftBuffers(judge::JudgeDevice& device, const std::string& rung, uint64_t capacity);

  judge::DeviceArray<int32_t> in, out;
};

// Shifts an array in the first part of d_in, and returns all problems. `what` names the values in messages.
judge::EvidenceRun Shift(judge::Runner& runner, const std::string& rung, ShiftBuffers& buffers,
                         const std::vector<int32_t>& array, int32_t shift, const std::string& what);

class ShiftTest : public judge::LauncherTest {
 protected:
  // Shifts n values in new buffers. No effect after a problem was found.
  void Expect(uint64_t n, int64_t shift, judge::Role role = judge::Role::kChecked, Values values = Values::kRamp);
  // The same in the test's own buffers, with given values.
  void ExpectIn(ShiftBuffers& buffers, const std::vector<int32_t>& array, int64_t shift, const std::string& what,
                judge::Role role = judge::Role::kChecked);

 private:
  uint64_t inputs_ = 0;
};

// Shifts for all rungs from the second on.
class AnyShiftTest : public ShiftTest {};

// The selected rungs without the first.
std::vector<std::string> RungsOfAnyShift();

}  // namespace lockstep::suites
