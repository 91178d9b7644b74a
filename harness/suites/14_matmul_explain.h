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
      if (finding.first.in_file.ends_with("mma.hpp")) {
        return "nothing was stored to this word of the tile, or not yet: does a barrier come before load_matrix_sync, and "
               "is its last argument how many elements apart the tile's rows are?";
      }
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
    if (Fits([&](uint64_t r, uint64_t c) { return Turned(r, c, false); })) return HintOfTurned("d_b");
    if (Fits([&](uint64_t r, uint64_t c) { return Turned(r, c, true); })) return HintOfTurned("d_a");
    return HintOfPlace();
  }

 private:
  static judge::HintText HintOfTurned(const std::string& matrix) {
    return "each 16 × 16 elements of " + matrix +
           " have rows and columns exchanged: a tile whose rows are rows of the matrix is wmma::row_major";
  }
  // The sum if each fragment of d_a, or of d_b, were transposed.
  double Turned(uint64_t row, uint64_t column, bool of_a) const {
    constexpr uint64_t kFragment = 16;
    double sum = 0;
    for (uint64_t k = 0; k < (shape_.depth + kFragment - 1) / kFragment * kFragment; ++k) {
      const uint64_t other = of_a ? row : column;
      const uint64_t own_k = other % kFragment + k / kFragment * kFragment;
      const uint64_t turned = other / kFragment * kFragment + k % kFragment;
      const uint64_t a_row = of_a ? turned : row, b_column = of_a ? column : turned;
      const uint64_t a_k = of_a ? own_k : k, b_k = of_a ? k : own_k;
      if (a_row >= shape_.rows || b_column >= shape_.columns || a_k >= shape_.depth || b_k >= shape_.depth) continue;
      sum += static_cast<double>(factors_.a[a_row * shape_.depth + a_k]) *
             static_cast<double>(factors_.b[b_k * shape_.columns + b_column]);
    }
    return sum;
  }
  // A hint if the sums belong elsewhere in the product.
  judge::HintText HintOfPlace() const {
    // Of fewer neighbours or products some fit by chance.
    if (column_ + kNeighbours > shape_.columns || shape_.depth < 16 || shape_.products() > 1 << 22) return "";
    for (uint64_t row = 0; row < shape_.rows; ++row) {
      for (uint64_t first = 0; first + kNeighbours <= shape_.columns; ++first) {
        if (Fits([&](uint64_t, uint64_t c) { return Right(row, first + c - column_, 0, shape_.depth); })) {
          return "this is the sum of row " + std::to_string(row) + " and column " + std::to_string(first) +
                 ": does a thread store each sum in the row of d_a and the column of d_b that it has read for it?";
        }
      }
    }
    return "";
  }
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
    for (uint64_t i = 0; i < kNeighbours && column_ + i < shape_.columns; ++i) {
      const double found = static_cast<double>(result_[row_ * shape_.columns + column_ + i]);
      if (!(std::abs(found - expected(row_, column_ + i)) < kClose)) return false;
    }
    return true;
  }

  static constexpr uint64_t kNeighbours = 3;
  Shape shape_;
  const Factors& factors_;
  std::span<const float> result_;
  uint64_t row_, column_;
};

}  // namespace lockstep::suites
