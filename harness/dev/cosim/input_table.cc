#include "dev/cosim/kernel.h"
#include "dev/cosim/random.h"

namespace lockstep::cosim {
namespace {

constexpr uint64_t kNasty16[] = {0, 1, 2, 0xffff, 0x7fff, 0x8000, 0x8001, 0xfffe, 255, 256, 0x80, 0x7f, 31, 32, 16, 15};
constexpr uint64_t kNasty32[] = {
    0,  1,      2,       0xffffffff, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 31,         32,         33,  63,
    64, 0xffff, 0x10000, 0x7fff,     0x8000,     0xffff8000, 0xaaaaaaaa, 0x55555555, 0x00ffffff, 0x01000000, 255, 256};
constexpr uint64_t kNasty64[] = {
    0,  1,  2,          ~0ull,       ~0ull >> 1, 1ull << 63, (1ull << 63) + 1,   ~1ull,
    63, 64, 0xffffffff, 0x100000000, 0x7fffffff, 0x80000000, 0xffffffff80000000, 0xffffffff00000000};
// Zeros, subnormals, least and greatest, infinities, NaNs, ones, halves, ties, bounds of integers; signs are random.
constexpr uint64_t kNastyF32[] = {0,          1,          2,          0x007fffff, 0x00400000, 0x00800000, 0x00800001,
                                  0x01000000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7fffffff, 0x7f800001, 0x3f800000,
                                  0x3f800001, 0x3f7fffff, 0x3f000000, 0x3effffff, 0x3f000001, 0x3fc00000, 0x40200000,
                                  0x4b000000, 0x4b000001, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5effffff,
                                  0x5f000000, 0x5f800000, 0x33800000, 0x33000000, 0x477fe000, 0x477ff000, 0x38800000,
                                  0x33c00000, 0x43600000};
constexpr uint64_t kNastyF64[] = {0,
                                  1,
                                  0x000fffffffffffff,
                                  0x0010000000000000,
                                  0x0010000000000001,
                                  0x7fefffffffffffff,
                                  0x7ff0000000000000,
                                  0x7ff8000000000000,
                                  0x7fffffffffffffff,
                                  0x3ff0000000000000,
                                  0x3ff0000000000001,
                                  0x3fefffffffffffff,
                                  0x3fe0000000000000,
                                  0x3fdfffffffffffff,
                                  0x3ff8000000000000,
                                  0x4330000000000000,
                                  0x4330000000000001,
                                  0x41dfffffffc00000,
                                  0x41e0000000000000,
                                  0x41efffffffe00000,
                                  0x43dfffffffffffff,
                                  0x43e0000000000000,
                                  0x3810000000000000,
                                  0x380fffffffffffff,
                                  0x36a0000000000000,
                                  0x47efffffe0000000,
                                  0x47effffff0000000,
                                  0x3ff0000010000000,
                                  0x3ff0000030000000,
                                  0x3e70000000000000};
constexpr uint64_t kNastyF16[] = {0,      1,      2,      0x03ff, 0x0400, 0x0401, 0x7bff, 0x7c00,
                                  0x7e00, 0x7c01, 0x3c00, 0x3c01, 0x3bff, 0x3800, 0x3e00, 0x4100,
                                  0x6400, 0x6401, 0x6800, 0x7800, 0x1000, 0x0200};
constexpr uint64_t kNastyBf16[] = {0,      1,      2,      0x007f, 0x0080, 0x0081, 0x7f7f, 0x7f80, 0x7fc0, 0x7f81,
                                   0x3f80, 0x3f81, 0x3f7f, 0x3f00, 0x3fc0, 0x4020, 0x4300, 0x4f00, 0x5f00, 0x3300};

// An edge value, a number near one (so that sums do not absorb an operand), or random bits.
template <size_t N>
uint64_t Floating(Random& random, const uint64_t (&nasty)[N], int mantissa, uint64_t bias, int width) {
  const uint64_t sign = (random.Bits() & 1) << (width - 1), all = width == 64 ? ~0ull : (1ull << width) - 1;
  const int choice = random.Pick(8);
  if (choice < 3) return nasty[random.Pick(N)] | sign;
  if (choice == 3) return random.Bits() & all;
  const uint64_t near = choice < 7
                            ? bias + static_cast<uint64_t>(random.Pick(9)) - 4
                            : bias + static_cast<uint64_t>(random.Pick(mantissa)) - static_cast<uint64_t>(mantissa / 3);
  uint64_t fraction = random.Bits() & ((1ull << mantissa) - 1);
  if (random.OneIn(3)) fraction &= ~0ull << random.Pick(mantissa);  // sums and products that are exact, or ties
  return sign | near << mantissa | fraction;
}

template <size_t N>
uint64_t Whole(Random& random, const uint64_t (&nasty)[N], int width) {
  const uint64_t all = width == 64 ? ~0ull : (1ull << width) - 1;
  const int choice = random.Pick(6);
  if (choice < 2) return nasty[random.Pick(N)];
  if (choice == 2) return random.Bits() & all;
  const int shift = random.Pick(width);
  const uint64_t value = (random.Bits() & all) >> shift;
  return choice == 3 ? (0 - value) & all : value;
}

}  // namespace

std::vector<uint64_t> InputTable() {
  std::vector<uint64_t> table;
  Random random(0x5eed);
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int k = 0; k < kEntries; ++k) {
      const auto f16 = [&] { return Floating(random, kNastyF16, 10, 15, 16); };
      const auto bf16 = [&] { return Floating(random, kNastyBf16, 7, 127, 16); };
      uint64_t value = 0;
      if (kind == 0) value = Whole(random, kNasty16, 16);
      if (kind == 1) value = Whole(random, kNasty32, 32);
      if (kind == 2) value = Whole(random, kNasty64, 64);
      if (kind == 3) value = Floating(random, kNastyF32, 23, 127, 32);
      if (kind == 4) value = Floating(random, kNastyF64, 52, 1023, 64);
      if (kind == 5) value = f16();
      if (kind == 6) value = bf16() | bf16() << 16;
      if (kind == 7) value = f16() | f16() << 16;
      table.push_back(value);
    }
  }
  return table;
}

}  // namespace lockstep::cosim
