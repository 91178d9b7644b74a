// Shared by the public and the hidden tests of assignment 01.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "judge/input/inputs.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// A deliberate failure of the nth request of a kind, counted from 1.
struct Fault {
  enum class Kind : uint8_t { kNone, kAllocation, kCopy } kind = Kind::kNone;
  uint64_t nth = 0;
};

// One call of a launcher: its report, and all problems with its copy.
judge::EvidenceRun CopyOnce(judge::Runner& runner, const std::string& rung, const std::vector<int32_t>& values,
                            const std::string& what, Fault fault = {});

// Selected rungs from the nth on.
std::vector<std::string> RungsFrom(uint64_t number);

// Tests of every rung.
class CopyTest : public judge::LauncherTest {
 protected:
  // Copies n values of this pattern. No effect after a problem was found.
  void Expect(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked);
  // The same, but returns the report, so that a test can check the calls.
  judge::EvidenceRun Run(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked,
                         Fault fault = {});
  // Checks that the call copied the ints to device memory that it allocated, and freed all memory, page-locked too.
  void ExpectNothingHeld(const judge::EvidenceRun& run, uint64_t n);
  // A call whose nth allocation or copy fails: it must return the error, free memory and leave h_out unchanged.
  void ExpectError(uint64_t n, Fault fault);

 private:
  uint64_t inputs_ = 0;
};

class CopyPathTest : public CopyTest {
 protected:
  // Checks that data goes from the first buffer to the second, and from the second to the host.
  void ExpectPath(uint64_t n);
};
class CopyErrorTest : public CopyTest {};
class PinnedCopyTest : public CopyTest {
 protected:
  // Checks that all copies from and to the host are from and to page-locked memory, which is freed.
  void ExpectPinned(uint64_t n);
};

}  // namespace lockstep::suites
