// Outputs that a GPU gave for the first seeds' kernels, to replay on the virtual GPU without a GPU.
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

// Of the first count seeds' kernels and of the inputs: a recorded hash belongs to one text.
uint64_t GeneratorDigest(uint64_t count);

// Throws std::runtime_error where the file is no corpus.
Corpus ReadCorpus(const std::string& path);

// Keeps the seeds whose hash (0: none) the virtual GPU gives too. Returns how many.
size_t WriteCorpus(const std::vector<uint64_t>& recorded, const std::string& path);

}  // namespace lockstep::cosim
