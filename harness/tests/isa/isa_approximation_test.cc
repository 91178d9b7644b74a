// The approximating instructions against exact results: 16-bit forms on every operand, the others on 250,000 operands
// spread evenly over all encodings, and on operands near the powers of two.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/isa/isa_test_support.h"
#include "vgpu/core/half_format.h"
#include "vgpu/isa/approximations.h"

namespace lockstep::vgpu {
namespace isa_approximation_test {

enum class Format : uint8_t { kHalf, kBfloat, kSingle, kDouble };
struct FormatFacts {
  int fraction_bits, least_exponent;  // of the smallest normal number
};
constexpr FormatFacts kFacts[] = {{10, -14}, {7, -126}, {23, -126}, {52, -1022}};
const FormatFacts& FactsOf(Format format) { return kFacts[static_cast<int>(format)]; }

double Decode(uint64_t bits, Format format) {
  switch (format) {
    case Format::kHalf:
      return Half::ToFloat(static_cast<uint16_t>(bits));
    case Format::kBfloat:
      return Bfloat::ToFloat(static_cast<uint16_t>(bits));
    case Format::kSingle:
      return AsFloat(bits);
    case Format::kDouble:
      break;
  }
  return AsDouble(bits);
}

// An instruction's name, split into its parts.
struct Form {
  std::string text, opcode;
  Format format;
  bool ftz, packed;
};

std::vector<Form> FormsOf(std::string_view instruction) {
  std::vector<std::string> texts;
  const size_t open = instruction.find('{'), close = instruction.find('}');
  if (open == std::string_view::npos) {
    texts.emplace_back(instruction);
  } else {
    const std::string before(instruction.substr(0, open)), inner(instruction.substr(open + 1, close - open - 1)),
        behind(instruction.substr(close + 1));
    texts = {before + behind, before + inner + behind};
  }
  std::vector<Form> forms;
  for (const std::string& text : texts) {
    const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    const Format format = has(".bf16")  ? Format::kBfloat
                          : has(".f16") ? Format::kHalf
                          : has(".f64") ? Format::kDouble
                                        : Format::kSingle;
    forms.push_back({text, text.substr(0, text.find('.')), format, has(".ftz"), has("16x2")});
  }
  return forms;
}

// A long double's 64 bits of fraction are exact enough.
long double Exact(const std::string& opcode, long double a, long double b) {
  if (opcode == "div") return a / b;
  if (opcode == "rcp") return 1 / a;
  if (opcode == "sqrt") return std::sqrt(a);
  if (opcode == "rsqrt") return 1 / std::sqrt(a);
  if (opcode == "sin") return std::sin(a);
  if (opcode == "cos") return std::cos(a);
  if (opcode == "lg2") return std::log2(a);
  if (opcode == "ex2") return std::exp2(a);
  if (opcode == "tanh") return std::tanh(a);
  ADD_FAILURE() << opcode;
  return 0;
}

double Flushed(double value, const Form& form) {
  return form.ftz && std::fabs(value) < std::ldexp(1.0, FactsOf(form.format).least_exponent) ? std::copysign(0.0, value)
                                                                                             : value;
}

// The unit in which an error is measured; a bound is a number of these.
long double UnitOf(const Approximation& row, long double exact, Format format) {
  if (row.measure == ErrorMeasure::kAbsolute) return 1;
  const FormatFacts& facts = FactsOf(format);
  const int exponent = exact == 0 ? facts.least_exponent : std::max(std::ilogb(exact), facts.least_exponent);
  const long double ulp = std::ldexp(1.0L, exponent - facts.fraction_bits);
  if (row.measure == ErrorMeasure::kUlp) return ulp;
  return std::fabs(exact);
}

double Largest(Format format) {
  return format == Format::kHalf     ? 65504.0
         : format == Format::kBfloat ? 0x1.fep127
         : format == Format::kSingle ? double{std::numeric_limits<float>::max()}
                                     : std::numeric_limits<double>::max();
}

// Returns what is wrong with the result, "" for a right one.
std::string Judge(const Approximation& row, const Form& form, double a, double b, double result) {
  // The fast f64 forms take an operand's upper half; a NaN may be an infinity there.
  if (form.format == Format::kDouble && form.ftz) a = AsDouble(Bits(a) & 0xffffffff00000000);
  a = Flushed(a, form);
  b = Flushed(b, form);
  const double ranged = std::fabs(form.opcode == "div" ? b : a);
  if (ranged < row.least || ranged > row.most) return "";
  const long double exact = Exact(form.opcode, a, b);
  if (std::isnan(exact)) return std::isnan(result) ? "" : "not a NaN";
  if (std::isnan(result)) return "a NaN";
  const long double bound = std::exp2(static_cast<long double>(row.exponent)) * static_cast<long double>(row.beyond);
  if (std::isinf(exact)) return result == static_cast<double>(exact) ? "" : "not the infinity";
  // If the exact result is beyond the largest number, the result may be infinite, or that number.
  if (std::fabs(exact) >= Largest(form.format)) return std::fabs(result) >= Largest(form.format) ? "" : "too small";
  const FormatFacts& facts = FactsOf(form.format);
  const long double least_normal = std::ldexp(1.0L, facts.least_exponent);
  if (form.ftz && std::fabs(exact) < least_normal && result == 0) return "";
  // Subnormal results may be off by rounding to the format, which exceeds a relative bound: half a unit in the last
  // place, or a whole one for 16-bit results, which are truncated.
  long double allowed = bound * UnitOf(row, exact, form.format);
  const long double own = form.format == Format::kHalf || form.format == Format::kBfloat ? 1 : 0.5L;
  if (std::fabs(exact) < least_normal) allowed += std::ldexp(own, facts.least_exponent - facts.fraction_bits);
  const long double error = std::fabs(static_cast<long double>(result) - exact);
  if (error <= allowed) return "";
  return "off by " + std::to_string(static_cast<double>(error / allowed)) + " times the bound";
}

// Encodings to try: `count` over the whole range, and those around powers of two.
std::vector<uint64_t> Operands(Format format, size_t count) {
  std::vector<uint64_t> operands;
  const int bits = format == Format::kDouble ? 64 : format == Format::kSingle ? 32 : 16;
  if (bits == 16) {
    for (uint64_t k = 0; k < 0x10000; ++k) operands.push_back(k);
    return operands;
  }
  const uint64_t range = bits == 64 ? ~uint64_t{0} : uint64_t{0xffffffff};
  const uint64_t step = range / count | 1;
  for (uint64_t k = 0; k < count; ++k) operands.push_back((k * step) & range);
  const int fraction = FactsOf(format).fraction_bits;
  for (uint64_t exponent = 0; exponent < uint64_t{1} << (bits - 1 - fraction); ++exponent) {
    for (int64_t near = -3; near <= 3; ++near) {
      for (const uint64_t sign : {uint64_t{0}, uint64_t{1} << (bits - 1)}) {
        operands.push_back(((exponent << fraction) + static_cast<uint64_t>(near) + sign) & range);
      }
    }
  }
  return operands;
}

class ApproximationTest : public testing::TestWithParam<Approximation> {};

TEST_P(ApproximationTest, IsWithinItsBound) {
  const Approximation& row = GetParam();
  for (const Form& form : FormsOf(row.instruction)) {
    LaneMachine machine(form.text);
    ASSERT_TRUE(machine.supported()) << form.text;
    const bool two = form.opcode == "div";
    const std::vector<uint64_t> operands = Operands(form.format, 1 << 18);
    std::mt19937_64 random(7);
    int wrong = 0;
    size_t judged = 0;
    const int elements = form.packed ? 2 : 1;
    for (size_t at = 0; at < operands.size() && wrong < 5; at += kWarpSize * static_cast<size_t>(elements)) {
      uint64_t a[2 * kWarpSize] = {}, b[2 * kWarpSize] = {};
      for (int lane = 0; lane < kWarpSize; ++lane) {
        uint64_t packed = 0;
        for (int e = 0; e < elements; ++e) {
          const int k = lane * elements + e;
          a[k] = operands[(at + static_cast<size_t>(k)) % operands.size()];
          b[k] = operands[random() % operands.size()];
          packed |= a[k] << (16 * e);
        }
        machine.SetSource(0, lane, packed);
        if (two) machine.SetSource(1, lane, b[lane]);
      }
      machine.Run();
      for (int k = 0; k < kWarpSize * elements; ++k) {
        const uint64_t destination = machine.Destination(0, k / elements);
        const uint64_t bits = form.packed ? (destination >> (16 * (k % 2))) & 0xffff : destination;
        const double x = Decode(a[k], form.format), y = Decode(b[k], form.format);
        const std::string fault = Judge(row, form, x, y, Decode(bits, form.format));
        ++judged;
        if (fault.empty() || ++wrong > 5) continue;
        ADD_FAILURE() << form.text << " of " << x << (two ? " and " + std::to_string(y) : "") << " is "
                      << Decode(bits, form.format) << ": " << fault;
      }
    }
    EXPECT_GE(judged, operands.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ApproximationTest, testing::ValuesIn(kApproximations));

// The bounds are tight: results that are off by a little more are found.
TEST(ApproximationBoundTest, IsNotLoose) {
  for (const Approximation& row : kApproximations) {
    const Form form = FormsOf(row.instruction).front();
    const double a = row.least > 1 ? row.least * 1.25 : form.opcode == "lg2" && row.most < 1 ? 0.25 : 0.75, b = 3;
    const double exact = static_cast<double>(Exact(form.opcode, a, b));
    const double bound = std::exp2(row.exponent) * static_cast<double>(UnitOf(row, exact, form.format));
    EXPECT_EQ(Judge(row, form, a, b, exact + 0.7 * bound), "") << row.instruction;
    EXPECT_NE(Judge(row, form, a, b, exact + 1.5 * bound), "") << row.instruction;
    EXPECT_NE(Judge(row, form, a, b, NAN), "") << row.instruction;
  }
}

// The table has all 30 approximating forms.
TEST(ApproximationBoundTest, CoversEveryForm) {
  std::set<std::string> forms;
  for (const Approximation& row : kApproximations) {
    for (const Form& form : FormsOf(row.instruction)) forms.insert(form.text);
  }
  EXPECT_EQ(forms.size(), 30u);
}

}  // namespace isa_approximation_test
}  // namespace lockstep::vgpu
