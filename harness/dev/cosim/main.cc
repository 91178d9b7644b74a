// Random kernels in lockstep on the virtual GPU and on a GPU.
//
//   cosim ptx SEED [COUNT]                          prints a module with these kernels
//   cosim run FIRST COUNT [--gpu OPTIONS]… [--swap FROM=TO] [--jobs N] [--per-module N] [--reductions N] [--tries N]
//             [--seconds N] --out DIR                runs the kernels of these seeds on both sides
//   cosim shrink SEED --gpu OPTIONS [--tries N] --out DIR
//                                                   shrinks a kernel whose launch fails or never ends, as long as it
//                                                   still does
//   cosim compare FIRST COUNT FILE [--begin SEED] [--text PTX]
//                                                   compares the virtual GPU with a run's hashes.bin, without a GPU.
//                                                   SEED (0) is the seed of FILE's first hash. --text: runs this module
//                                                   instead, a changed copy of what `cosim ptx FIRST` prints: does the
//                                                   GPU's result match it?
//   cosim corpus COUNT FILE OUT                     writes what harness/tests/cosim/cosim_test.cc replays: those of the
//                                                   first seeds for which the virtual GPU agrees with such a FILE
//
// --gpu -O3: compiled by ptxas with these options, run on this machine's GPU; may be given more than once. Without it
// the second side is the virtual GPU: with --swap it runs a text in which one instruction is replaced (is the wrong
// one detected?), else it has the checkers on (are the kernels free of races?).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "dev/cosim/campaign.h"
#include "dev/cosim/corpus.h"
#include "dev/cosim/kernel.h"

namespace {

int Usage() {
  std::fputs("cosim ptx | run | shrink | compare | corpus …; see harness/dev/cosim/main.cc\n", stderr);
  return 2;
}

std::vector<uint64_t> ReadHashes(const char* path, uint64_t first, uint64_t count) {
  std::vector<uint64_t> recorded(count);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(first * sizeof recorded[0]));
  file.read(reinterpret_cast<char*>(recorded.data()), static_cast<std::streamsize>(count * sizeof recorded[0]));
  recorded.resize(static_cast<size_t>(file.gcount()) / sizeof recorded[0]);
  return recorded;
}

std::string ReadAll(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lockstep::cosim;
  const std::string command = argc > 2 ? argv[1] : "";
  if (command == "ptx") {
    std::fputs(kModuleHeader, stdout);
    const uint64_t first = std::strtoull(argv[2], nullptr, 10),
                   count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    for (uint64_t seed = first; seed < first + count; ++seed) std::fputs(MakeKernel(seed).Text().c_str(), stdout);
    return 0;
  }
  if (command == "compare" && argc >= 5) {
    const uint64_t first = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
    uint64_t begin = 0;
    std::string text;
    for (int k = 5; k + 1 < argc; k += 2) {
      const std::string flag = argv[k];
      if (flag == "--begin") begin = std::strtoull(argv[k + 1], nullptr, 10);
      if (flag == "--text") text = ReadAll(argv[k + 1]);
    }
    if (first < begin) return Usage();
    return CompareRecorded(first, ReadHashes(argv[4], first - begin, count), text) == 0 ? 0 : 1;
  }
  if (command == "corpus" && argc == 5) {
    const size_t kept = WriteCorpus(ReadHashes(argv[3], 0, std::strtoull(argv[2], nullptr, 10)), argv[4]);
    std::printf("%zu kernels\n", kept);
    return kept > 0 ? 0 : 1;
  }
  const bool shrink = command == "shrink";
  if (!shrink && (command != "run" || argc < 4)) return Usage();
  Campaign campaign;
  campaign.first = std::strtoull(argv[2], nullptr, 10);
  campaign.count = shrink ? 1 : std::strtoull(argv[3], nullptr, 10);
  for (int k = shrink ? 3 : 4; k + 1 < argc; k += 2) {
    const std::string flag = argv[k], value = argv[k + 1];
    if (flag == "--gpu") {
      campaign.gpu.push_back(value);
    } else if (flag == "--swap") {
      campaign.swap_from = value.substr(0, value.find('='));
      campaign.swap_to = value.substr(value.find('=') + 1);
    } else if (flag == "--jobs") {
      campaign.jobs = std::atoi(value.c_str());
    } else if (flag == "--per-module") {
      campaign.per_module = std::atoi(value.c_str());
    } else if (flag == "--reductions") {
      campaign.reductions = std::atoi(value.c_str());
    } else if (flag == "--tries") {
      campaign.tries = std::atoi(value.c_str());
    } else if (flag == "--seconds") {
      campaign.seconds = std::atoi(value.c_str());
    } else if (flag == "--out") {
      campaign.out = value;
    } else {
      return Usage();
    }
  }
  if (campaign.out.empty()) return Usage();
  if (shrink) return campaign.gpu.empty() ? Usage() : Shrink(campaign);
  return Run(campaign) == 0 ? 0 : 1;
}
