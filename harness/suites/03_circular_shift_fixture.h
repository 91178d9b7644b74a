// What the public and the hidden tests of assignment 03 share.
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

// The rung whose launcher gets shifts from 0 to n - 1 only, and the one that shifts in place.
inline constexpr const char* kSimpleRung = "shift1_gather";
inline constexpr const char* kInPlaceRung = "shift5_in_place";

enum class Values : uint8_t {
  kRamp,      // 1, 2, 3, …; for messages that can be read
  kDistinct,  // random, all different
};
std::vector<int32_t> MakeArray(Values values, uint64_t n, const judge::SeedKey& seed);

// d_in and d_out of an array of up to `capacity` ints; in place d_in alone is used, and called d_data.
class ShiftBuffers {
 public:
  ShiftBuffers(judge::JudgeDevice& device, const std::string& rung, uint64_t capacity);

  judge::DeviceArray<int32_t> in, out;
};

// Shifts an array that fills the first part of d_in, and returns all that is wrong with how it went. `what` names the
// values in messages.
judge::EvidenceRun Shift(judge::Runner& runner, const std::string& rung, ShiftBuffers& buffers,
                         const std::vector<int32_t>& array, int32_t shift, const std::string& what);

class ShiftTest : public judge::LauncherTest {
 protected:
  // Shifts n values in buffers of their own. Does nothing where a problem was found before.
  void Expect(uint64_t n, int64_t shift, judge::Role role = judge::Role::kChecked, Values values = Values::kRamp);
  // The same in buffers that the test keeps, and with values of its own.
  void ExpectIn(ShiftBuffers& buffers, const std::vector<int32_t>& array, int64_t shift, const std::string& what,
                judge::Role role = judge::Role::kChecked);

 private:
  uint64_t inputs_ = 0;
};

// Shifts that only the rungs from the second on get.
class AnyShiftTest : public ShiftTest {};

// The selected rungs without the first.
std::vector<std::string> RungsOfAnyShift();

}  // namespace lockstep::suites
