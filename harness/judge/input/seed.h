// The seed from which every input of a run is derived, so that known inputs reveal nothing about others.
//
// The grader has a number of 128 bits. It is a key, which makes a key for each name ("Test.Name/rung#3"), which in turn
// makes the words of one input (key.h). All of it is ChaCha, from whose blocks there is no known way back to a key: a
// part of an input reveals nothing about the rest, or about other inputs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "judge/input/key.h"

namespace lockstep::judge {

// In decimal, as flags and result files have it.
std::optional<SeedNumber> ParseSeed(std::string_view text);
std::string SeedText(SeedNumber number);
// Of so many bits, from the system's source of randomness.
SeedNumber RandomSeed(int bits);

bool operator==(const SeedKey& a, const SeedKey& b);

// The key of a name below another key: a test's inputs do not depend on which tests ran before it.
SeedKey SeedFor(const SeedKey& above, std::string_view name);

// The words of elements `first` and on; `first` is a multiple of kGroupWords.
void FillWords(const SeedKey& key, KeyUse use, uint64_t first, std::span<uint32_t> words);

}  // namespace lockstep::judge
