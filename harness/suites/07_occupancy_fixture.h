// What the public and the hidden tests of assignment 07 share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/inputs.h"
#include "judge/launcher_test.h"
#include "judge/occupancy_oracle.h"

namespace lockstep::suites {

struct Kernel {
  int threads = 0, registers = 0;
  int shared = 0, shared_per_thread = 0;  // bytes
  int warps = 0;                          // that the bonus rung asks for
};

// An SM, and how messages call it.
struct Sm {
  judge::SmLimits limits;
  std::string name;
};

class OccupancyTest : public judge::LauncherTest {
 protected:
  // Asks the rung about this kernel. Does nothing where a problem was found before.
  void Expect(const Sm& sm, const Kernel& kernel);

  // Devices that the rung's rule is for, with their largest carve-out, or with each.
  std::vector<Sm> Devices() const;
  std::vector<Sm> DevicesWithCarveOuts() const;
  // Whether the rung is for such a device: rung 3 is for 1.x, rung 4 for what came later.
  bool Concerns(const judge::SmLimits& limits) const;
  int number() const;  // the rung's

  Sm MadeUpDevice(judge::Random& random, int index) const;
  static Kernel RandomKernel(judge::Random& random, const judge::SmLimits& sm);

 private:
  std::vector<judge::Problem> Ask(const Sm& sm, const Kernel& kernel);
};

}  // namespace lockstep::suites
