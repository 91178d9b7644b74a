// What the public and the hidden tests of assignment 01 share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "judge/input/inputs.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// What goes wrong in a call on purpose: the nth request of a kind, from 1.
struct Fault {
  enum class Kind : uint8_t { kNone, kAllocation, kCopy } kind = Kind::kNone;
  uint64_t nth = 0;
};

// One call of a launcher: what it reported, and all that is wrong with the copy that it made.
judge::EvidenceRun CopyOnce(judge::Runner& runner, const std::string& rung, const std::vector<int32_t>& values,
                            const std::string& what, Fault fault = {});

// Rungs from the nth on, as far as they are selected.
std::vector<std::string> RungsFrom(uint64_t number);

// Tests of every rung.
class CopyTest : public judge::LauncherTest {
 protected:
  // Copies n values of this pattern. Does nothing where a problem was found before.
  void Expect(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked);
  // The same, and returns the report, so that a test can look at the calls.
  judge::EvidenceRun Run(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked,
                         Fault fault = {});
  // Nothing may be left of what the call allocated, on the device or page-locked.
  void ExpectNothingHeld(const judge::EvidenceRun& run, uint64_t n);
  // A call whose nth allocation or copy fails: the error comes back, the memory is freed, h_out is as it was.
  void ExpectError(uint64_t n, Fault fault);

 private:
  uint64_t inputs_ = 0;
};

class CopyPathTest : public CopyTest {
 protected:
  // The data has to go from the first buffer to the second, and from the second to the host.
  void ExpectPath(uint64_t n);
};
class CopyErrorTest : public CopyTest {};
class PinnedCopyTest : public CopyTest {};

}  // namespace lockstep::suites
