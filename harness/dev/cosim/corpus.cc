#include "dev/cosim/corpus.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "dev/cosim/kernel.h"
#include "dev/cosim/target.h"

namespace lockstep::cosim {

uint64_t GeneratorDigest(uint64_t count) {
  uint64_t digest = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](uint64_t value) { digest = (digest ^ value) * 0x100000001b3; };
  for (const char c : std::string(kModuleHeader)) add(static_cast<uint8_t>(c));
  for (uint64_t seed = 0; seed < count; ++seed) {
    const Kernel kernel = MakeKernel(seed);
    for (const char c : kernel.Text()) add(static_cast<uint8_t>(c));
    add(static_cast<uint64_t>(kernel.threads));
    add(static_cast<uint64_t>(kernel.blocks));
    add(kernel.slots.size());
  }
  for (const uint64_t value : InputTable()) add(value);
  return digest;
}

Corpus ReadCorpus(const std::string& path) {
  std::ifstream file(path);
  Corpus corpus;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    uint64_t first, second;
    while (words >> std::dec >> first >> std::hex >> second) {
      if (corpus.count == 0) {
        corpus.count = first;
        corpus.generator = second;
      } else {
        corpus.hashes.emplace_back(first, second);
      }
    }
    if (!words.eof()) throw std::runtime_error(path + ": no line of a corpus: " + line);
  }
  if (corpus.hashes.empty()) throw std::runtime_error(path + ": no corpus");
  return corpus;
}

size_t WriteCorpus(const std::vector<uint64_t>& recorded, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("can't write " + path);
  std::fprintf(file, "# cosim corpus: seeds, digest of their kernels; then seeds, hash of the GPU's output of each\n");
  std::fprintf(file, "%zu %016" PRIx64, recorded.size(), GeneratorDigest(recorded.size()));
  const std::unique_ptr<Target> target = MakeVirtualTarget();
  size_t kept = 0;
  for (uint64_t seed = 0; seed < recorded.size(); ++seed) {
    if (recorded[seed] == 0) continue;
    const Kernel kernel = MakeKernel(seed);
    if (!target->Load(kModuleHeader + kernel.Text()).empty()) continue;
    const Outcome outcome = target->Run(kernel);
    if (!outcome.error.empty() || Hash(outcome.words) != recorded[seed]) continue;
    std::fprintf(file, "%s%" PRIu64 " %016" PRIx64, kept % 8 == 0 ? "\n" : "  ", seed, recorded[seed]);
    ++kept;
  }
  std::fprintf(file, "\n");
  if (std::fclose(file) != 0) throw std::runtime_error("can't write " + path);
  return kept;
}

}  // namespace lockstep::cosim
