// Error bounds of the approximate instructions: what the PTX ISA guarantees, and what isa_approximation_test checks for
// this implementation, whose results are an H100's. docs/reference/isa.md prints the table.
//
// Source: PTX ISA 9.0, 9.7.3 and 9.7.4. Where it guarantees nothing, `documented` is false and the bound is this
// project's. An H100 exceeds two of the bounds: there `beyond` is its largest error, divided by the bound.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep::vgpu {

enum class ErrorMeasure : uint8_t {
  kUlp,       // units in the last place of the exact result, in the result's format
  kRelative,  // relative to the exact result
  kAbsolute,
};

struct Approximation {
  std::string_view instruction;  // parts in braces are optional: "sqrt.approx{.ftz}.f32"
  ErrorMeasure measure;
  double exponent;      // the bound is 2^exponent
  double least, most;   // range of the operand's magnitude (div: the divisor's); 0 and infinity: unbounded
  std::string_view on;  // the same range in words
  bool documented = true;
  double beyond = 1;
};

inline constexpr double kAnySize = __builtin_inf();

inline constexpr Approximation kApproximations[] = {
    {"div.approx{.ftz}.f32", ErrorMeasure::kUlp, 1, 0x1p-126, 0x1p126, "divisors from 2^-126 to 2^126"},
    {"div.full{.ftz}.f32", ErrorMeasure::kUlp, 1, 0, kAnySize, "all operands"},
    {"rcp.approx{.ftz}.f32", ErrorMeasure::kUlp, 0, 0, kAnySize, "all operands"},
    {"rcp.approx.ftz.f64", ErrorMeasure::kRelative, -19, 0, kAnySize, "all operands", false},
    {"sqrt.approx{.ftz}.f32", ErrorMeasure::kRelative, -23, 0, kAnySize, "all positive operands"},
    {"rsqrt.approx{.ftz}.f32", ErrorMeasure::kRelative, -22.9, 0, kAnySize, "all positive operands"},
    {"rsqrt.approx.f64", ErrorMeasure::kUlp, 1, 0, kAnySize, "all positive operands", false},
    {"rsqrt.approx.ftz.f64", ErrorMeasure::kRelative, -19, 0, kAnySize, "all positive operands", false},
    {"sin.approx{.ftz}.f32", ErrorMeasure::kAbsolute, -20.5, 0, 6.283185, "-2 pi to 2 pi"},
    {"sin.approx{.ftz}.f32", ErrorMeasure::kAbsolute, -14.7, 0, 314.15926, "-100 pi to 100 pi"},
    {"cos.approx{.ftz}.f32", ErrorMeasure::kAbsolute, -20.5, 0, 6.283185, "-2 pi to 2 pi", true, 1.053},
    {"cos.approx{.ftz}.f32", ErrorMeasure::kAbsolute, -14.7, 0, 314.15926, "-100 pi to 100 pi"},
    {"lg2.approx{.ftz}.f32", ErrorMeasure::kAbsolute, -22, 0.5, 2, "1/2 to 2"},
    {"lg2.approx{.ftz}.f32", ErrorMeasure::kRelative, -22, 0, 0.5, "positive operands below 1/2"},
    {"lg2.approx{.ftz}.f32", ErrorMeasure::kRelative, -22, 2, kAnySize, "operands above 2"},
    {"ex2.approx{.ftz}.f32", ErrorMeasure::kUlp, 1, 0, kAnySize, "all operands"},
    {"ex2.approx.f16{x2}", ErrorMeasure::kRelative, -9.9, 0, kAnySize, "all operands"},
    {"ex2.approx.ftz.bf16{x2}", ErrorMeasure::kRelative, -7, 0, kAnySize, "all operands"},
    {"tanh.approx.f32", ErrorMeasure::kRelative, -11, 0, kAnySize, "all operands"},
    {"tanh.approx.f16{x2}", ErrorMeasure::kAbsolute, -10.987, 0, kAnySize, "all operands"},
    {"tanh.approx.bf16{x2}", ErrorMeasure::kAbsolute, -8, 0, kAnySize, "all operands", true, 1.0001},
};

}  // namespace lockstep::vgpu
