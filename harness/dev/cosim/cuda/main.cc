// Random CUDA C++ programs, each run on the host and on a device (docs/records/cosim.md).
//
//   cosim-cuda write FIRST COUNT FILE.cu              the programs of these seeds
//   cosim-cuda compile FILE.cu PROGRAM [NVCC_FLAGS]   for the virtual GPU
//   cosim-cuda check FIRST COUNT --out DIR [--flags NVCC_FLAGS] [--jobs N] [--per-file N] [--sanitize N]
//              [--checks LIST] [--gpu sm_90]
//
// check runs them on the virtual GPU with its checkers, with --gpu before that on this machine's (compiled for this
// architecture from the same PTX), and leaves failures in DIR. --sanitize 5: every fifth file is also compiled by g++
// with its checks for undefined behaviour.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "dev/cosim/cuda/check.h"
#include "dev/cosim/cuda/kernel_maker.h"

namespace {

int Usage() {
  std::fputs("cosim-cuda write | compile | check …; see harness/dev/cosim/cuda/main.cc\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lockstep::cosim::cuda;
  const std::string command = argc > 3 ? argv[1] : "";
  if (command == "write" && argc == 5) {
    std::ofstream(argv[4]) << MakeFile(std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]));
    return 0;
  }
  Check check;
  check.nvcc = LOCKSTEP_NVCC;
  check.include = LOCKSTEP_SOURCE_DIR "/harness/dev/cosim/cuda";
  check.cuda_include = LOCKSTEP_CUDA_INCLUDE;
  check.launcher = LOCKSTEP_BUILD_DIR "/bin/vgpu-run";
  if (command == "compile") {
    for (int k = 4; k < argc; ++k) check.flags += std::string(" ") + argv[k];
    return std::system(CompileCommand(check, argv[2], argv[3]).c_str()) == 0 ? 0 : 1;
  }
  if (command != "check") return Usage();
  check.first = std::strtoull(argv[2], nullptr, 10);
  check.count = std::strtoull(argv[3], nullptr, 10);
  for (int k = 4; k + 1 < argc; k += 2) {
    const std::string flag = argv[k], value = argv[k + 1];
    if (flag == "--out") {
      check.out = value;
    } else if (flag == "--flags") {
      check.flags = value;
    } else if (flag == "--jobs") {
      check.jobs = std::atoi(value.c_str());
    } else if (flag == "--per-file") {
      check.per_file = std::atoi(value.c_str());
    } else if (flag == "--sanitize") {
      check.sanitize = std::atoi(value.c_str());
    } else if (flag == "--checks") {
      check.checks = value;
    } else if (flag == "--gpu") {
      check.gpu = true;
      check.architecture = value;
    } else {
      return Usage();
    }
  }
  if (check.out.empty() || check.per_file < 1) return Usage();
  const Tally tally = Run(check);
  std::string report = std::to_string(tally.programs) + " programs, " + std::to_string(tally.functions) +
                       " functions: " + std::to_string(tally.same) + " same, " + std::to_string(tally.differing) +
                       " differ; " + std::to_string(tally.sanitized) + " checked for undefined behaviour\n";
  for (const std::string& trouble : tally.troubles) report += trouble + "\n";
  std::ofstream(check.out + "/report.txt") << report;
  std::fputs(report.c_str(), stdout);
  return tally.troubles.empty() ? 0 : 1;
}
