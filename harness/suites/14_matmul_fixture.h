// Shared by the public and the hidden tests of assignment 14.
//
// Results are compared with sums in double. Whole numbers are so small that every order of additions gives the same
// float, so any other result is wrong. For real numbers, a sum of k products in float, in any order, is within
// k u / (1 - k u) times the sum of the products' magnitudes, with the unit roundoff u (on rung 5 four times float's);
// this bound accepts every order. Magnitudes are from 1/2 to 1, so up to a depth of 700 the bound is less than half of
// one product: a missing or repeated product is always found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"
#include "matmul.h"

namespace lockstep::suites {

struct Shape {
  uint64_t rows = 0, columns = 0, depth = 0;
  uint64_t elements() const { return rows * columns; }  // of the product
  uint64_t products() const { return rows * columns * depth; }
};

enum class Values : uint8_t {
  kWhole,     // whole numbers from -8 to 8, without 0
  kReals,     // magnitudes from 1/2 to 1, of either sign
  kInfinity,  // whole numbers, two infinities in d_a and one in d_b
};

// Offset of a buffer in its allocation, in elements. Allocations are aligned to 256 bytes.
struct Offsets {
  uint64_t a = 0, b = 0, c = 0;
};

// The inputs of products of up to this shape; T is a half's bits on rung 5, else float.
template <class T>
struct Inputs {
  Inputs(judge::JudgeDevice& device, Shape most, Offsets offsets)
      : a(device, most.rows * most.depth, "d_a", offsets.a), b(device, most.depth * most.columns, "d_b", offsets.b) {}

  judge::DeviceArray<T> a, b;
};

// d_a, d_b and d_c of products of up to this shape.
class MatmulBuffers {
 public:
  MatmulBuffers(judge::JudgeDevice& device, const std::string& rung, Shape most, Offsets offsets = {});

  std::optional<Inputs<float>> floats;
  std::optional<Inputs<uint16_t>> halves;  // on rung 5
  judge::DeviceArray<float> c;
};

// The elements of both inputs, and their name in messages.
struct Factors {
  std::vector<float> a, b;  // exactly representable as halves if the rung uses halves
  Values values;
  std::string what;
};
Factors MakeFactors(const std::string& rung, Shape shape, Values values, const judge::SeedKey& seed);

// Multiplies factors in the first parts of d_a and d_b, and returns all problems.
judge::EvidenceRun Multiply(judge::Runner& runner, const std::string& rung, MatmulBuffers& buffers, Shape shape,
                            const Factors& factors);

class MatmulTest : public judge::LauncherTest {
 protected:
  // Multiplies matrices of this shape in new buffers. No effect after a problem was found.
  void Expect(Shape shape, Values values = Values::kWhole, judge::Role role = judge::Role::kChecked,
              Offsets offsets = {});
  // Products of these shapes in sequence in the same buffers, with different values each time. With `repeats` the last
  // call must keep no memory: an earlier one had the same shape.
  void ExpectInTurn(const std::vector<Shape>& shapes, const std::string& how, bool repeats = false);

 private:
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
