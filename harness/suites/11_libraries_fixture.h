// Shared by the public and the hidden tests of assignment 11: a test class for each kind of rung.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/input/inputs.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// Values and their name in messages.
template <class T>
struct Input {
  std::vector<T> values;
  std::string what;
};

// Whole numbers whose sum of squares is exact in float, in any order.
Input<float> MakeWholeNumbers(uint64_t n, const judge::SeedKey& seed);
// Between -1 and 1.
Input<float> MakeReals(uint64_t n, const judge::SeedKey& seed);

struct Shape {
  uint64_t rows = 0, columns = 0;
  uint64_t elements() const { return rows * columns; }
};
// Whole numbers, all different.
std::vector<float> MakeMatrix(Shape shape, const judge::SeedKey& seed);

// Contiguous signals of n elements, and the filter for all of them.
struct FilterInput {
  uint64_t n = 0, count = 1;
  std::vector<float> signals, filter;
  std::string what;
};
// Random signals. The filter has at most `taps` elements that are not 0, at random places; with taps >= n none is 0.
FilterInput MakeFilterInput(uint64_t n, uint64_t count, uint64_t taps, const judge::SeedKey& seed);
// Random signals; the filter is `weight` at one place.
FilterInput MakeDelta(uint64_t n, uint64_t count, uint64_t place, float weight, const judge::SeedKey& seed);

// Each makes one call, and collects all its problems.
judge::EvidenceRun RunSum(judge::Runner& runner, const std::string& rung, const Input<int32_t>& input);
judge::EvidenceRun RunNorm(judge::Runner& runner, const std::string& rung, const Input<float>& input);
judge::EvidenceRun RunScan(judge::Runner& runner, const std::string& rung, const Input<int32_t>& input);
judge::EvidenceRun RunTranspose(judge::Runner& runner, const std::string& rung, Shape shape,
                                const std::vector<float>& matrix);
judge::EvidenceRun RunFilter(judge::Runner& runner, const std::string& rung, const FilterInput& input);

class LibraryTest : public judge::LauncherTest {
 protected:
  // The seed of the next input.
  judge::SeedKey NextSeed() { return Seed(inputs_++); }
  void Take(judge::EvidenceRun run) {
    Keep(run.report);
    Add(std::move(run.problems));
  }

 private:
  uint64_t inputs_ = 0;
};

// Of the classes below: once a problem was found, Expect, ExpectOf and ExpectDelta call nothing more.
class SumTest : public LibraryTest {
 protected:
  void Expect(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked);
  void ExpectOf(const Input<int32_t>& input, judge::Role role = judge::Role::kChecked);
};

class NormTest : public LibraryTest {
 protected:
  void Expect(uint64_t n, judge::Role role = judge::Role::kChecked);
  void ExpectOf(const Input<float>& input, judge::Role role = judge::Role::kChecked);
};

class ScanTest : public LibraryTest {
 protected:
  void Expect(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked);
};

class TransposeTest : public LibraryTest {
 protected:
  void Expect(Shape shape, judge::Role role = judge::Role::kChecked);
};

class FilterTest : public LibraryTest {
 protected:
  // On the rung with one signal, only the first of `count` signals is used.
  void Expect(uint64_t n, uint64_t count, uint64_t taps, judge::Role role = judge::Role::kChecked);
  void ExpectDelta(uint64_t n, uint64_t count, uint64_t place, float weight);
  bool has_many() const;
};
// Only for the rung with many signals.
class ManyFilterTest : public FilterTest {};

// Selected rungs with one of these prefixes.
std::vector<std::string> LibraryRungs(const std::vector<std::string>& beginnings);

}  // namespace lockstep::suites
