// The seed from which every input of a run is derived, so that known inputs reveal nothing about others.
//
// The grader has a number of 128 bits. It is a key, from which a key for each name ("Test.Name/rung#3") is derived,
// which in turn generates the words of one input (key.h). All derivations use ChaCha, whose blocks do not reveal the
// key: a part of an input reveals nothing about the rest, or about other inputs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "judge/input/key.h"

namespace lockstep::judge {

// In decimal, as in flags and result files.
std::optional<SeedNumber> ParseSeed(std::string_view text);
std::string SeedText(SeedNumber number);
// With this many bits, from the system's source of randomness.
SeedNumber RandomSeed(int bits);

bool operator==(const SeedKey& a, const SeedKey& b);

// Derives the key of a name from another key: a test's inputs do not depend on earlier tests.
SeedKey SeedFor(const SeedKey& above, std::string_view name);

// Generates the words of the elements from `first` on; `first` is a multiple of kGroupWords.
void FillWords(const SeedKey& key, KeyUse use, uint64_t first, std::span<uint32_t> words);

}  // namespace lockstep::judge
