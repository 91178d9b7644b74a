// Runs many random kernels on the virtual GPU and on another target for comparison, in several processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::cosim {

struct Campaign {
  uint64_t first = 0, count = 100;  // seeds
  std::vector<std::string> gpu;     // options of ptxas, one target each; empty: the virtual GPU itself
  std::string swap_from, swap_to;   // without a GPU: an instruction in the second side's text, and its replacement;
                                    // empty: the second side runs with checkers
  std::string out;                  // folder
  int jobs = 1, per_module = 50;
  int reductions = 4, tries = 150;  // how many a worker makes; attempts in each
  int seconds = 0;                  // time after which no more modules are started; 0: no limit
};

// Runs each seed with a non-zero hash on the virtual GPU and compares: recorded[k] belongs to seed first + k. A given
// text runs instead of the generated module. Prints the seeds that differ; returns their number, or 1 if none agrees.
int CompareRecorded(uint64_t first, const std::vector<uint64_t>& recorded, const std::string& text = "");

// Writes out/report.txt and out/hashes.bin (hashes of each seed's output on the second side's first target; 0: none).
// Returns how many kernels differ, are refused or lost; or 1 if none ran or `out` can't be written.
int Run(const Campaign& campaign);

// Shrinks the kernel of the campaign's first seed, which destroys the GPU's context or never ends on it, compiled with
// its first GPU options, to out/kSEED.ptx and .cubin. Returns 0 if the result still fails so but ends on the virtual
// GPU; 1 if it doesn't, or the given kernel did not.
int Shrink(const Campaign& campaign);

}  // namespace lockstep::cosim
