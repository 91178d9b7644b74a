#include "libraries/rand/mersenne_jump.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace lockstep::libraries {

namespace {

constexpr size_t kDegree = 19937;  // 624 words less 31 bits
constexpr int kLog2LaneDistance = 2048;
constexpr int kWordBits = 64;
constexpr size_t kPolynomialWords = (kDegree + kWordBits - 1) / kWordBits;

// Bit i is the coefficient of x^i.
using Polynomial = std::array<uint64_t, kPolynomialWords>;
using Square = std::array<uint64_t, 2 * kPolynomialWords + 1>;

// The exponents of the characteristic polynomial below its degree. M. Matsumoto and T. Nishimura give it in "Mersenne
// Twister", ACM TOMACS 8 (1998), Appendix A: with u = x^623 + x^396, v = x^624 + x^397 and the bits a0 to a31 of the
// twist it is v (u^31 + a0 u^30 + … + a30) + a31.
std::vector<size_t> CharacteristicExponents() {
  std::vector<bool> sum(kDegree + 1);
  sum[0] = true;
  const auto times = [&sum](size_t high, size_t low) {
    std::vector<bool> product(kDegree + 1);
    for (size_t i = 0; i <= kDegree; ++i) {
      if (!sum[i]) continue;
      product[i + high] = !product[i + high];
      product[i + low] = !product[i + low];
    }
    sum = product;
  };
  for (int bit = 0; bit < 31; ++bit) {
    times(kMersenneWords - 1, kMersenneMiddle - 1);
    if ((kMersenneTwist >> bit & 1) != 0) sum[0] = !sum[0];
  }
  times(kMersenneWords, kMersenneMiddle);
  if (kMersenneTwist >> 31 != 0) sum[0] = !sum[0];
  std::vector<size_t> exponents;
  for (size_t i = 0; i < kDegree; ++i) {
    if (sum[i]) exponents.push_back(i);
  }
  return exponents;
}

// Moves bit i of `bits` to bit 2 i.
uint64_t SpreadBits(uint32_t bits) {
  uint64_t spread = bits;
  spread = (spread | spread << 16) & 0x0000ffff0000ffff;
  spread = (spread | spread << 8) & 0x00ff00ff00ff00ff;
  spread = (spread | spread << 4) & 0x0f0f0f0f0f0f0f0f;
  spread = (spread | spread << 2) & 0x3333333333333333;
  return (spread | spread << 1) & 0x5555555555555555;
}

// Reduces terms modulo the characteristic polynomial: `bits` are the coefficients from x^(kDegree + first) on, and
// x^kDegree equals the sum of x^e over the exponents e.
void AddReduced(uint64_t bits, size_t first, const std::vector<size_t>& exponents, Square& sum) {
  for (const size_t exponent : exponents) {
    const size_t at = first + exponent, shift = at % kWordBits;
    sum[at / kWordBits] ^= bits << shift;
    sum[at / kWordBits + 1] ^= bits >> 1 >> (kWordBits - 1 - shift);
  }
}

void SquareModulo(Polynomial& polynomial, const std::vector<size_t>& exponents) {
  constexpr size_t kTopBits = kDegree % kWordBits;  // of a polynomial's last word
  Square square = {};
  for (size_t i = 0; i < kPolynomialWords; ++i) {
    square[2 * i] = SpreadBits(static_cast<uint32_t>(polynomial[i]));
    square[2 * i + 1] = SpreadBits(static_cast<uint32_t>(polynomial[i] >> 32));
  }
  // From the top down. The second highest exponent is more than 64 below the degree, so no finished word gets new bits.
  for (size_t i = square.size() - 1; i >= kPolynomialWords; --i) {
    const uint64_t bits = square[i];
    square[i] = 0;
    if (bits != 0) AddReduced(bits, i * kWordBits - kDegree, exponents, square);
  }
  const uint64_t bits = square[kPolynomialWords - 1] >> kTopBits;
  square[kPolynomialWords - 1] ^= bits << kTopBits;
  AddReduced(bits, 0, exponents, square);
  std::copy_n(square.begin(), kPolynomialWords, polynomial.begin());
}

// x^d modulo the characteristic polynomial, where d is the distance of two lanes.
const Polynomial& LaneDistance() {
  static const Polynomial distance = [] {
    const std::vector<size_t> exponents = CharacteristicExponents();
    Polynomial power = {2};
    for (int i = 0; i < kLog2LaneDistance; ++i) SquareModulo(power, exponents);
    return power;
  }();
  return distance;
}

// For each of the state's words, the words with non-zero coefficients in the polynomial are summed. The coefficients
// are arranged in kRows rows, so that each column selects one of 2^kRows sums of shifted pieces of the sequence; these
// sums are precomputed.
constexpr size_t kRows = 4, kSums = size_t{1} << kRows;
constexpr size_t kColumns = (kDegree + kRows - 1) / kRows / 8 * 8 + 8;
constexpr size_t kPiece = kColumns + kMersenneWords;

// [column]: where the sum that the column selects begins; the sums are stored one after another.
std::vector<uint32_t> SumsOfColumns(const Polynomial& polynomial) {
  std::vector<uint32_t> sums(kColumns);
  for (size_t i = 0; i < kDegree; ++i) {
    if ((polynomial[i / kWordBits] >> (i % kWordBits) & 1) != 0) sums[i % kColumns] |= 1u << (i / kColumns);
  }
  for (size_t i = 0; i < kColumns; ++i) sums[i] = static_cast<uint32_t>(sums[i] * kPiece + i);
  return sums;
}

using Vector [[gnu::vector_size(32)]] = uint32_t;
constexpr size_t kVectorWords = sizeof(Vector) / sizeof(uint32_t);
Vector Load(const uint32_t* words) {
  Vector vector;
  std::memcpy(&vector, words, sizeof(vector));
  return vector;
}
// The part of a state that fits in registers.
constexpr size_t kVectors = 13, kAtOnce = kVectors * kVectorWords;
static_assert(kMersenneWords % kAtOnce == 0 && kPiece % kVectorWords == 0);

}  // namespace

MersenneJump::MersenneJump() : words_(kRows * kColumns + kMersenneWords), sums_(kSums * kPiece) {}

MersenneState MersenneJump::NextLane(const MersenneState& state) {
  static const std::vector<uint32_t> sums_of_columns = SumsOfColumns(LaneDistance());
  std::copy(state.begin(), state.end(), words_.begin());
  for (size_t i = kMersenneWords; i < words_.size(); ++i) {
    const uint32_t* const oldest = words_.data() + (i - kMersenneWords);
    words_[i] = NextMersenneWord(oldest[0], oldest[1], oldest[kMersenneMiddle]);
  }
  for (size_t sum = 1; sum < kSums; ++sum) {
    const uint32_t* const without = &sums_[(sum & (sum - 1)) * kPiece];
    const uint32_t* const row = &words_[static_cast<size_t>(__builtin_ctzll(sum)) * kColumns];
    for (size_t i = 0; i < kPiece; i += kVectorWords) {
      const Vector with = Load(without + i) ^ Load(row + i);
      std::memcpy(&sums_[sum * kPiece + i], &with, sizeof(with));
    }
  }
  MersenneState result;
  for (size_t first = 0; first < kMersenneWords; first += kAtOnce) {
    Vector total[kVectors] = {};
    for (const uint32_t start : sums_of_columns) {
#pragma GCC unroll 13
      for (size_t i = 0; i < kVectors; ++i) total[i] ^= Load(&sums_[start + first + i * kVectorWords]);
    }
    std::memcpy(&result[first], total, sizeof(total));
  }
  return result;
}

}  // namespace lockstep::libraries
