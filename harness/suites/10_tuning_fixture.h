// Shared by the public and the hidden tests of assignment 10.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/input/inputs.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"
#include "suites/10_tuning_landscape.h"

namespace lockstep::suites {

struct TuningInput {
  std::vector<int32_t> in, marks;
  std::string what;  // "n = 1,100, m = 97, random integers"
};

enum class Values : uint8_t {
  kAny,    // random over the whole range of int
  kClose,  // few different values: many elements equal a mark
  kEnds,   // the least and the largest ints, and their neighbours
};
TuningInput MakeInput(uint64_t n, uint64_t m, Values values, const judge::SeedKey& seed);

// d_in, d_marks and d_out for an input.
class TuningBuffers {
 public:
  TuningBuffers(judge::JudgeDevice& device, const TuningInput& input, uint64_t offset = 0);

  judge::DeviceArray<int32_t> in, marks, out;
};

// A device for a tuner: its name and properties, and its clock. `profile` is the id of an existing device; `clock` may
// be one that was never built.
struct Machine {
  std::string profile, name;
  const vgpu::DeviceProfile* clock = nullptr;
};
Machine MachineOf(const std::string& profile);
// A large device's clock with the name of a small one, or the reverse, randomly modified, so that name, properties and
// tables don't reveal what is fast.
Machine MachineNeverBuilt(const judge::SeedKey& seed, bool is_large);

// Rung 1.
class FamilyTest : public judge::LauncherTest {
 protected:
  // Calls the family in one configuration, in new buffers. No effect after a problem was found.
  void Expect(const Config& config, const TuningInput& input, uint64_t offset = 0);
  void ExpectRefused(const Config& config);
  // Sweeps the family: no configuration may do more work than its numbers require.
  void ExpectEffort(const TuningInput& input);
  const TuningInput& Some();  // enough elements for several blocks of any configuration
  uint64_t inputs_ = 0;

 private:
  std::optional<TuningInput> some_;
};

// Rung 2.
class ClockTest : public judge::LauncherTest {
 protected:
  // Measures on this machine, in these configurations.
  void ExpectTimes(const Machine& machine, const TuningInput& input, const std::vector<Config>& configs);
  void ExpectRefused(const Machine& machine);
};

// Rung 3, and rung 4.
class TunerTest : public judge::LauncherTest {
 protected:
  // Runs the tuner on this machine. Its choice may take at most `ratio` times the best time.
  void ExpectChoice(const Machine& machine, const TuningInput& input, double ratio);
};
class ExhaustiveTest : public TunerTest {};

// Limits of a choice's time as a multiple of the best.
inline constexpr double kAsGood = 1.05, kNear = 1.15;
inline constexpr double kBest = 1.01;     // rung 3 has measured it
inline constexpr double kUseless = 1.12;  // rung 4 in evidence runs: a search that made few launches may miss the best

inline std::vector<std::string> RungsOf(const std::string& prefix, const std::string& other = "none") {
  return judge::Suite::Get().SelectedRungs(
      [&](const std::string& rung) { return rung.starts_with(prefix) || rung.starts_with(other); });
}

// The tuners' input sizes: large enough for configurations to differ, and multiples of no block size.
TuningInput PublicTask();
TuningInput TaskOf(const judge::SeedKey& seed);

}  // namespace lockstep::suites
