// The cases of the public tests in the instructor's suite: all devices, and in addition to the fixed questions a few of
// each kind that nobody can know beforehand. So a table of answers, the public suite's or another, helps only with the
// course's example.
#include "cases.h"

namespace lockstep::suites {
namespace {

int Between(judge::Random& random, int low, int high) { return static_cast<int>(random.Between(low, high)); }

// Common kernels: whole warps, and shared memory in round numbers.
void AskPlainKernels(Questions& questions, judge::Random& random, const std::vector<Sm>& devices) {
  for (const Sm& sm : devices) {
    const Kernel kernel = {32 * Between(random, 1, 16), Between(random, 8, 60), 256 * Between(random, 0, 40),
                           4 * Between(random, 0, 8), Between(random, 1, sm.limits.max_warps)};
    questions.Ask(sm, kernel);
  }
}

void AskBoundaries(Questions& questions, judge::Random& random, const std::vector<Sm>& devices) {
  for (const Sm& sm : devices) {
    const SmLimits& limits = sm.limits;
    for (int i = 0; i < 3; ++i) {
      const int threads = sm.limits.warp_size * Between(random, 1, 15) + Between(random, -1, 1);
      const int registers = 8 * Between(random, 1, 7) + Between(random, -1, 1);
      const int bytes = limits.shared_unit * Between(random, 0, limits.shared_per_block / limits.shared_unit / 4);
      questions.Ask(sm, {threads, registers, std::max(0, bytes + Between(random, -1, 1)), Between(random, 0, 9),
                         Between(random, 1, limits.max_warps)});
    }
  }
}

void AskBlocksThatDoNotFit(Questions& questions, judge::Random& random, const std::vector<Sm>& devices) {
  for (const Sm& sm : devices) {
    const SmLimits& limits = sm.limits;
    questions.Ask(sm, {limits.max_threads_per_block + Between(random, 2, 999), 9, 90, 0, 1});
    questions.Ask(sm, {64, limits.max_registers_per_thread + Between(random, 2, 99), 90, 0, 1});
    questions.Ask(sm, {64, 9, limits.shared_per_block + Between(random, 2, 9999), 0, 1});
    // Refused although it needs no registers; and more warps than there are, in blocks that fill an SM.
    questions.Ask(sm, {limits.max_threads_per_block + Between(random, 2, 999), 0, 90, 0, 1});
    questions.Ask(sm, {256, 9, 90, 0, limits.max_warps + Between(random, 1, 8)});
    // As far within the limits: code that refuses all of these refuses too much.
    questions.Ask(sm, {limits.max_threads_per_block - Between(random, 2, 99), Between(random, 4, 14),
                       Between(random, 10, limits.shared_per_block), 0, 1});
  }
}

void AskKernelsThatNeedNothing(Questions& questions, judge::Random& random, const std::vector<Sm>& devices) {
  for (const Sm& sm : devices) {
    const int threads = 32 * Between(random, 1, 16), warps = Between(random, 1, sm.limits.max_warps);
    questions.Ask(sm, {threads, 0, 8 * Between(random, 1, 999), 0, warps});
    questions.Ask(sm, {threads, Between(random, 8, 60), 0, 0, warps});
    questions.Ask(sm, {-Between(random, 0, 2), 0, 0, 0, warps});  // not even threads
  }
}

// Warps of two threads: a block and an SM have more of them than a byte counts.
void AskManySmallWarps(Questions& questions, judge::Random& random, int number) {
  SmLimits limits;
  limits.warp_size = 2;
  limits.max_threads_per_block = 1024;
  limits.max_warps = 1100;
  limits.max_blocks = 16;
  limits.registers = limits.registers_per_block = 1 << 18;
  limits.max_registers_per_thread = 255;
  limits.register_unit = 16;
  limits.warp_granularity = 4;
  limits.registers_by_block = number == 3;
  limits.shared = limits.shared_per_block = 1 << 16;
  limits.shared_unit = 256;
  for (int i = 0; i < 4; ++i) {
    questions.Ask({limits, "a device of small warps"}, {Between(random, 520, 1000), Between(random, 8, 40),
                                                        Between(random, 0, 8192), 0, Between(random, 300, 1000)});
  }
}

}  // namespace

std::vector<Case> CasesOf(const std::string& test, int number, const judge::SeedKey& seed) {
  const std::vector<Sm> devices = Devices(number), carveouts = Devices(number, true);
  Questions questions(number, devices);
  judge::Random random(seed);
  if (test == "SolvesTheCoursesExample") {
    questions.CoursesExample();
    return questions.Take();
  }
  questions.CoursesKernel();
  if (test == "KnowsEveryComputeCapability") {
    questions.EveryDevice();
    AskPlainKernels(questions, random, devices);
  } else if (test == "IsRightAtEveryBoundary") {
    questions.Boundaries();
    AskBoundaries(questions, random, devices);
  } else if (test == "RefusesBlocksThatDoNotFit") {
    questions.BlocksThatDoNotFit();
    AskBlocksThatDoNotFit(questions, random, devices);
  } else if (test == "KnowsKernelsThatNeedNothing") {
    questions.KernelsThatNeedNothing();
    AskKernelsThatNeedNothing(questions, random, devices);
  } else if (test == "KnowsEveryCarveOut") {
    questions.CarveOuts(carveouts);
    AskPlainKernels(questions, random, carveouts);
  } else {
    questions.DevicesThatWereNeverBuilt(random, 50, 4);
    AskManySmallWarps(questions, random, number);
  }
  return questions.Take();
}

}  // namespace lockstep::suites
