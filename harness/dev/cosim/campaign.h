// Runs many random kernels on the virtual GPU and beside it on something else, in several processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::cosim {

struct Campaign {
  uint64_t first = 0, count = 100;  // seeds
  std::vector<std::string> gpu;     // options of ptxas, one target each; empty: the virtual GPU itself
  std::string swap_from, swap_to;   // without a GPU: an instruction of the second side's texts, and what replaces it;
                                    // empty: the second side has the checkers on
  std::string out;                  // folder
  int jobs = 1, per_module = 50;
  int reductions = 4, tries = 150;  // of a worker, of a reduction
  int seconds = 0;                  // stop taking modules after that; 0: never
};

// Runs each seed whose hash is not 0 on the virtual GPU and compares: recorded[k] is seed first + k's. Where there is a
// text, that module runs instead of the kernels' own. Prints the seeds that differ; returns how many.
int CompareRecorded(uint64_t first, const std::vector<uint64_t>& recorded, const std::string& text = "");

// Writes out/report.txt and out/hashes.bin (of each seed's output on the first target that is not the virtual GPU; 0
// where there is none). Returns how many kernels differ, are refused or lost.
int Run(const Campaign& campaign);

}  // namespace lockstep::cosim
