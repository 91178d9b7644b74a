// Shared by the public and the hidden tests of assignment 06.
//
// Elements are moved, never computed with. So they are compared as words of 32 bits. The words of a matrix are all
// different, so a word in the wrong place shows where it came from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"
#include "transpose.h"

namespace lockstep::suites {

struct Shape {
  uint64_t width = 0, height = 0;
  uint64_t elements() const { return width * height; }
};

// kLong: the height of a matrix with more rows of tiles than the largest gridDim.y.
constexpr uint64_t kMostBlocksInY = 65535;
constexpr uint64_t kLong = (kMostBlocksInY + 1) * kTile + 1;

enum class Values : uint8_t {
  kRamp,  // 1, 2, 3, … as floats; for readable messages. Up to 2^24 elements
  kBits,  // random words: numbers of all sizes, infinities, NaNs
  kNaNs,  // only NaNs, each with a different payload. Up to 2^23 elements
};
std::vector<uint32_t> MakeMatrix(Values values, uint64_t elements, const judge::SeedKey& seed);

// Offset of a buffer in its allocation, in elements. Allocations are aligned to 256 bytes.
struct Offsets {
  uint64_t in = 0, out = 0;
};

// d_in and d_out of a matrix of up to `capacity` elements.
class TransposeBuffers {
 public:
  TransposeBuffers(judge::JudgeDevice& device, uint64_t capacity, Offsets offsets = {});

  judge::DeviceArray<uint32_t> in, out;
};

// Transposes a matrix in the first part of d_in, and returns all problems. `what` names the values in messages.
judge::EvidenceRun Transpose(judge::Runner& runner, const std::string& rung, TransposeBuffers& buffers, Shape shape,
                             const std::vector<uint32_t>& matrix, const std::string& what);

class TransposeTest : public judge::LauncherTest {
 protected:
  // Transposes a matrix of this shape in new buffers. No effect after a problem was found.
  void Expect(Shape shape, Values values = Values::kRamp, judge::Role role = judge::Role::kChecked,
              Offsets offsets = {});
  // The same in the test's own buffers, with a given matrix. is_repeated: an earlier call had the same shape, so this
  // one must keep no memory.
  void ExpectIn(TransposeBuffers& buffers, Shape shape, const std::vector<uint32_t>& matrix, const std::string& what,
                judge::Role role = judge::Role::kChecked, bool is_repeated = false);

 private:
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
