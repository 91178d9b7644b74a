// A GPU's recorded outputs for the kernels of the first seeds, to replay on the virtual GPU without a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::cosim {

struct Corpus {
  uint64_t generator = 0;                             // GeneratorDigest(count)
  uint64_t count = 0;                                 // seeds 0 … count-1
  std::vector<std::pair<uint64_t, uint64_t>> hashes;  // seed, hash of the GPU's output
};

// A digest of the first `count` seeds' kernels and of the inputs: recorded hashes are valid only for these texts.
uint64_t GeneratorDigest(uint64_t count);

// Throws std::runtime_error if the file is not a corpus.
Corpus ReadCorpus(const std::string& path);

// Writes a corpus of the seeds whose recorded hash (0: none) the virtual GPU reproduces. Returns their number.
size_t WriteCorpus(const std::vector<uint64_t>& recorded, const std::string& path);

}  // namespace lockstep::cosim
