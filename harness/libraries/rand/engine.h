// A generator's bits, in the order in which cuRAND's host API stores results.
//
// Theory of operation. A pseudo-random generator of cuRAND is many lanes: the states of a fixed number of threads, at
// starts far apart in one sequence. Results cycle through the lanes. A draw (a result or a pair of normals) takes
// consecutive words from one lane, and the next draw uses the next lane. So the position is just the next lane, and two
// calls give the same results as one long call. The number of lanes and the distance of their starts are documented for
// some orderings and measured on an H100 for the others (tests/libraries/rand_test.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lockstep::libraries {

// A distribution's needs per draw.
struct Draw {
  uint32_t words = 1;    // 32-bit words that the draw consumes
  uint32_t results = 1;  // results per draw
};

class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  // The words for the next `results` results, grouped by draw. The last draw may produce more results than requested,
  // and the first ResultsDrawn() results of the first draw were already returned.
  virtual void Next(uint32_t* words, uint64_t results, Draw draw) = 0;
  virtual uint32_t ResultsDrawn(Draw) const { return 0; }
};

struct EngineSettings {
  uint64_t seed = 0, offset = 0;
  bool is_legacy = false;   // CURAND_ORDERING_PSEUDO_LEGACY
  bool is_seeded = false;   // CURAND_ORDERING_PSEUDO_SEEDED: the lanes of XORWOW differ by their seeds
  bool is_dynamic = false;  // CURAND_ORDERING_PSEUDO_DYNAMIC: lanes for each multiprocessor
};
constexpr size_t kMultiprocessors = 132;  // for which the dynamic lanes are known, of an H100

std::unique_ptr<Engine> MakeXorwow(const EngineSettings& settings);
std::unique_ptr<Engine> MakeMrg32k3a(const EngineSettings& settings);
std::unique_ptr<Engine> MakeMtgp32(const EngineSettings& settings);
std::unique_ptr<Engine> MakeMt19937(const EngineSettings& settings);
std::unique_ptr<Engine> MakePhilox(const EngineSettings& settings);

// Takes the words of draws from `lanes`, whose elements have `uint32_t Next()`; the first draw uses lane `*next`.
template <typename Lanes>
void DrawFrom(Lanes& lanes, size_t* next, uint32_t* words, uint64_t results, Draw draw) {
  const uint64_t draws = (results + draw.results - 1) / draw.results;
  for (uint64_t i = 0; i < draws; ++i) {
    for (uint32_t word = 0; word < draw.words; ++word) *words++ = lanes[*next].Next();
    if (++*next == lanes.size()) *next = 0;
  }
}

}  // namespace lockstep::libraries
