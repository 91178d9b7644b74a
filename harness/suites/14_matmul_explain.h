// Explains a wrong product.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "judge/model/text.h"
#include "judge/model/verdict.h"
#include "suites/14_matmul_fixture.h"

namespace lockstep::suites {

// A hint for a kernel's fault that is more specific than the fault's own; else "".
inline judge::HintText HintOfFault(const judge::Problem& problem) {
  if (!problem.finding || !problem.finding->memory) return "";
  const vgpu::Finding& finding = *problem.finding;
  const std::string& buffer = finding.memory->buffer_name;
  const bool shared = finding.memory->space == vgpu::MemorySpace::kShared;
  switch (finding.kind) {
    case vgpu::FindingKind::kRace:
      if (shared) {
        return "a step has two barriers: one between filling the tiles and reading them, and one before the next step "
               "fills them again";
      }
      return buffer == "d_c" ? "each element of d_c belongs to one thread, which adds up its sum in a register" : "";
    case vgpu::FindingKind::kUninitialized:
      if (shared) {
        return "nothing was stored to this word of the tile, or not yet: wait at a barrier before you read; every word "
               "needs a thread that fills it, past the matrix's edge with 0";
      }
      if (buffer != "d_c") return "";
      return {"d_c holds garbage at first: begin each sum with 0", {"variable"}};
    case vgpu::FindingKind::kMisaligned:
      return "addresses are aligned to one element, and rows begin where the one before ends: a wider access needs an "
             "address and row lengths that are multiples of it. Otherwise access single elements";
    case vgpu::FindingKind::kOutOfBounds:
      if (buffer == "d_a") return "d_a has rows * depth elements: test the row against rows, and k against depth";
      if (buffer == "d_b")
        return "d_b has depth * columns elements: test k against depth, and the column against columns";
      if (buffer == "d_c") return "d_c has rows * columns elements: test the row and the column before the store";
      return "";
    default:
      return "";
  }
}

// Compares a wrong element and some neighbours with the results of mistakes.
class Suspect {
 public:
  Suspect(Shape shape, const Factors& factors, std::span<const float> result, uint64_t wrong)
      : shape_(shape),
        factors_(factors),
        result_(result),
        row_(wrong / shape.columns),
        column_(wrong % shape.columns) {}

  // A hint, or "".
  judge::HintText Hint() const {
    const auto [rows, columns, depth] = shape_;
    const double found = static_cast<double>(result_[row_ * columns + column_]);
    const double off = std::abs(found - Right(row_, column_, 0, depth));
    if (factors_.values == Values::kReals && off < 0.1) {
      return "this is close, but no order of float additions is that far off: are all products and sums float?";
    }
    if (std::isnan(found)) {
      return "0 times an infinity is no number: fill both tiles with 0 past their edges, and add no other row's elements";
    }
    if (Fits([&](uint64_t r, uint64_t c) { return Sum(r, rows, c, columns, 0, depth); })) {
      return {"d_a is read by columns: row r of it begins at d_a[r * depth]", {"element", {"d_a"}}};
    }
    if (Fits([&](uint64_t r, uint64_t c) { return Sum(r * depth, 1, c * depth, 1, 0, depth); })) {
      return {"d_b is read by rows: its element in row k and column c is d_b[k * columns + c]", {"element", {"d_b"}}};
    }
    if (factors_.values == Values::kReals &&
        std::ranges::all_of(result_, [](float value) { return value == std::trunc(value); })) {
      return {"all results are whole numbers: is the sum, or a factor on its way, kept in an int?", {"int"}};
    }
    for (uint64_t end = 0; end < depth; ++end) {
      if (Fits([&](uint64_t r, uint64_t c) { return Right(r, c, 0, end); })) {
        return "these are the sums of the first " + judge::Counted(end, "product") + " of " + judge::Grouped(depth) +
               ": round the number of steps up, and fill what lies past the depth with 0";
      }
      if (Fits([&](uint64_t r, uint64_t c) { return Right(r, c, end, depth); })) {
        return "these are the sums without the first " + judge::Counted(end, "product") +
               ": a sum begins once, before the first step";
      }
    }
    for (uint64_t row = 0; row < rows; ++row) {
      if (Fits([&](uint64_t, uint64_t c) { return Right(row, c, 0, depth); })) {
        return "these are the sums of row " + std::to_string(row) +
               ": is the row that a thread stores the one of d_a that "
               "it has read?";
      }
    }
    return "";
  }

 private:
  // The sum of products of d_a's elements from `a` on with d_b's from `b` on, with these steps.
  double Sum(uint64_t a, uint64_t a_step, uint64_t b, uint64_t b_step, uint64_t begin, uint64_t end) const {
    double sum = 0;
    for (uint64_t k = begin; k < end; ++k) {
      const uint64_t from_a = a + k * a_step, from_b = b + k * b_step;
      if (from_a >= factors_.a.size() || from_b >= factors_.b.size()) return std::nan("");
      sum += static_cast<double>(factors_.a[from_a]) * static_cast<double>(factors_.b[from_b]);
    }
    return sum;
  }
  double Right(uint64_t row, uint64_t column, uint64_t begin, uint64_t end) const {
    return Sum(row * shape_.depth, 1, column, shape_.columns, begin, end);
  }
  template <class Expected>
  bool Fits(const Expected& expected) const {
    constexpr double kClose = 1e-3;  // sums of whole numbers differ by more
    constexpr uint64_t kNeighbours = 3;
    for (uint64_t i = 0; i < kNeighbours && column_ + i < shape_.columns; ++i) {
      const double found = static_cast<double>(result_[row_ * shape_.columns + column_ + i]);
      if (!(std::abs(found - expected(row_, column_ + i)) < kClose)) return false;
    }
    return true;
  }

  Shape shape_;
  const Factors& factors_;
  std::span<const float> result_;
  uint64_t row_, column_;
};

}  // namespace lockstep::suites
