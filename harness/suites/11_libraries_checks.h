// Checks of assignment 11's results.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/device/compare.h"
#include "judge/model/text.h"
#include "judge/suite/buffer_check.h"
#include "suites/11_libraries_explain.h"
#include "suites/11_libraries_filter.h"
#include "suites/11_libraries_fixture.h"

namespace lockstep::suites {

inline bool DidNothing(const judge::CallReport& report) {
  return report.observed && report.trace.empty() && report.launches.empty();
}

inline bool HasKernels(const judge::CallReport& report) { return !report.observed || !report.launches.empty(); }

// Checks that everything the call allocated was freed.
inline void CheckFreed(const judge::CallContext& context, const judge::CallReport& report,
                       std::vector<judge::Problem>& problems) {
  const size_t before = problems.size();
  judge::CheckNothingHeld(context, report, problems);
  if (problems.size() > before) problems.back().hint = kHeldHint;
}

// The problem of a right number that no kernel computed, or of a wrong number.
inline std::optional<judge::Problem> ProblemOfNumber(const judge::CallContext& context, const judge::CallReport& report,
                                                     bool is_right, bool is_work, const std::string& expected,
                                                     const std::string& found,
                                                     const std::function<std::string()>& hint) {
  if (is_right) {
    if (!is_work || HasKernels(report)) return std::nullopt;
    return DidNothing(report) ? judge::UnfinishedProblem(context) : judge::NoKernelProblem(context);
  }
  if (DidNothing(report) && is_work) return judge::UnfinishedProblem(context);
  return judge::MakeProblem(judge::Verdict::kWrong, context, {{"expect", expected}, {"found", found}},
                            HasKernels(report) || !is_work ? hint() : kNoLaunchHint);
}

inline std::optional<judge::Problem> CheckScan(const judge::CallContext& context, const judge::CallReport& report,
                                               std::span<const int32_t> values, std::span<const int32_t> found) {
  std::vector<int32_t> expected(values.size());
  uint32_t sum = 0;
  for (uint64_t i = 0; i < values.size(); ++i) {
    sum += static_cast<uint32_t>(values[i]);
    expected[i] = static_cast<int32_t>(sum);
  }
  const auto mismatch = judge::CompareExact<int32_t>(expected, found);
  if (!mismatch) {
    return values.size() < 2 || HasKernels(report) ? std::nullopt : std::optional(judge::NoKernelProblem(context));
  }
  if (DidNothing(report)) return judge::UnfinishedProblem(context);
  return judge::MakeProblem(judge::Verdict::kWrong, context,
                            {"d_out: " + judge::MismatchText(*mismatch, values.size())},
                            ExplainScan(values, found, mismatch->index));
}

// Checks the transpose, row by row.
inline std::optional<judge::Problem> CheckTranspose(const judge::CallContext& context, const judge::CallReport& report,
                                                    Shape shape, std::span<const float> matrix,
                                                    std::span<const float> found) {
  const uint64_t rows = shape.rows, columns = shape.columns;
  std::vector<double> expected(matrix.size());
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t c = 0; c < columns; ++c) expected[c * rows + r] = static_cast<double>(matrix[r * columns + c]);
  }
  const std::vector<double> exact(matrix.size());
  const auto mismatch = judge::CompareBounded<float>(expected, found, exact);
  if (!mismatch) {
    // A single row or column is a copy.
    if (rows < 2 || columns < 2 || HasKernels(report)) return std::nullopt;
    return judge::NoKernelProblem(context);
  }
  if (DidNothing(report)) return judge::UnfinishedProblem(context);
  const uint64_t row = mismatch->index / rows, column = mismatch->index % rows;
  return judge::MakeProblem(
      judge::Verdict::kWrong, context,
      {"row " + judge::Grouped(row) + ", column " + judge::Grouped(column) + " of d_out is wrong" +
           (mismatch->count > 1
                ? " (" + judge::Grouped(mismatch->count) + " of " + judge::Counted(matrix.size(), "element") + " are)"
                : ""),
       {"expect", mismatch->expected + ", which is row " + judge::Grouped(column) + ", column " + judge::Grouped(row) +
                      " of d_in"},
       {"found", mismatch->found}},
      ExplainTranspose(shape, matrix, found));
}

inline std::optional<judge::Problem> CheckFilter(const judge::CallContext& context, const judge::CallReport& report,
                                                 const FilterInput& input, std::span<const float> found) {
  const uint64_t n = input.n;
  const double filter_norm = NormOf(input.filter);
  for (uint64_t s = 0; s < input.count; ++s) {
    const std::span<const float> signal = std::span(input.signals).subspan(s * n, n);
    const std::span<const float> result = found.subspan(s * n, n);
    const std::vector<double> expected = Convolve(signal, input.filter);
    const double bound = BoundOf(n, NormOf(signal), filter_norm);
    const auto mismatch = judge::CompareBounded<float>(expected, result, std::vector<double>(n, bound));
    if (!mismatch) continue;
    if (DidNothing(report)) return judge::UnfinishedProblem(context);
    std::string hint = FilterExplainer(signal, input.filter, expected, result, bound).Explain();
    if (s > 0) {
      const std::string before = s == 1 ? "signal 0 is right" : "the first " + judge::Grouped(s) + " signals are right";
      hint =
          before + (hint.empty() ? ". Number j of all spectra is multiplied with number j % (n / 2 + 1) of the filter's"
                                 : ", but in signal " + judge::Grouped(s) + ": " + hint);
    }
    const std::string of = input.count == 1 ? "d_out: " : "signal " + judge::Grouped(s) + " of d_out: ";
    return judge::MakeProblem(judge::Verdict::kWrong, context, {of + judge::MismatchText(*mismatch, n)}, hint);
  }
  return found.empty() || HasKernels(report) ? std::nullopt : std::optional(judge::NoKernelProblem(context));
}

}  // namespace lockstep::suites
