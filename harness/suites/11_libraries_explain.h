// Explains a wrong sum, norm, scan or transpose by a library, or a fault in it.
#pragma once

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/input/oracle.h"
#include "judge/model/text.h"
#include "judge/run/call.h"
#include "suites/11_libraries_fixture.h"

namespace lockstep::suites {

// A library kernel's name without template arguments and version: "cub::detail::reduce::DeviceReduceKernel".
inline std::string ShortName(const std::string& kernel) {
  if (kernel.find("::detail::") == std::string::npos) return kernel;
  std::string name;
  int depth = 0;
  for (const char c : kernel) {
    depth -= c == '>' ? 1 : 0;
    if (depth == 0 && c != '>') name += c;
    depth += c == '<' ? 1 : 0;
    if (depth == 1 && c == '<') name.pop_back();
  }
  const size_t version = name.find("CUB_"), end = name.find("::", version);
  if (version != std::string::npos && end != std::string::npos) name.erase(version, end + 2 - version);
  return name;
}

// A line of evidence with short kernel names, and without their padding.
inline std::string ShortLine(const std::string& line) {
  constexpr size_t kLabel = 8;
  if (line.find("::detail::") == std::string::npos && line.find("     ", kLabel) == std::string::npos) return line;
  std::string result = line.substr(0, kLabel);
  for (const char c : ShortName(line.substr(std::min(kLabel, line.size())))) {
    if (c != ' ' || !result.ends_with("  ")) result += c;
  }
  return result;
}

struct FaultyCall {
  uint64_t elements;  // of the input
  bool is_filter;
};

// A hint that is more specific than the fault's own; else "".
inline std::string HintOfFinding(const vgpu::Finding& finding, const FaultyCall& call) {
  const auto says = [&](const char* what) { return finding.detail.find(what) != std::string::npos; };
  const std::string buffer = finding.memory ? finding.memory->buffer_name : "";
  switch (finding.kind) {
    case vgpu::FindingKind::kUninitialized:
      if (says("matrix B")) return "where beta is not 0, B is read too: a transpose adds nothing, so beta is 0";
      if (!call.is_filter) return "";
      return "no transform has written this number: a plan's length is n, its last argument the number of signals, and "
             "each spectrum has n / 2 + 1 numbers";
    case vgpu::FindingKind::kTimeout:
      return call.is_filter ? "a loop over the filter for each element takes n * n steps: multiply the spectra" : "";
    case vgpu::FindingKind::kOutOfBounds:
    case vgpu::FindingKind::kInvalidAddress:
      if (says("the result")) {
        return "with CUBLAS_POINTER_MODE_DEVICE the result goes to device memory; without it, to a variable on the "
               "host";
      }
      if (says("writes the output")) {
        return "a spectrum of n real numbers has n / 2 + 1 complex ones, for each signal";
      }
      if (says("reads the input")) return "the plan's length is n, and its last argument the number of signals";
      if (says(" matrix ")) {
        return "a leading dimension is the distance in memory between two of what cuBLAS sees as columns, here rows. "
               "Whether a matrix is transposed depends only on the operation, CUBLAS_OP_T or CUBLAS_OP_N";
      }
      if (buffer == "d_in" || buffer == "d_out") {
        return "the range is longer than the array: lengths are numbers of elements, and the end of d_in is d_in + n";
      }
      if (!call.is_filter && finding.kind == vgpu::FindingKind::kOutOfBounds) {
        return "CUB's first call returns the size of the temporary memory: allocate that many bytes, and pass no "
               "larger size to the second";
      }
      if (call.is_filter && finding.kind == vgpu::FindingKind::kOutOfBounds) {
        return "number j of all spectra is multiplied with number j % (n / 2 + 1) of the filter's, which has no more";
      }
      return "";
    default:
      return "";
  }
}

inline void ExplainFaults(const judge::CallReport& report, const FaultyCall& call,
                          std::vector<judge::Problem>& problems) {
  for (judge::Problem& problem : problems) {
    if (problem.finding) {
      problem.place = ShortName(problem.place);
      for (vgpu::MessageLine& line : problem.evidence) line.text = ShortLine(line.text);
    }
    const bool is_device_pointer = report.stopped.address == worker::FaultAddress::kDevice;
    if (call.elements == 0 && problem.verdict != judge::Verdict::kRejected) {
      problem.hint = "there are no elements here: return before anything else. cuFFT makes no plan of length 0";
    } else if (problem.verdict == judge::Verdict::kCrash && report.code == SIGSEGV && is_device_pointer) {
      problem.hint =
          "a Thrust algorithm treated the pointer as one to host memory, and read it on the host: pass "
          "thrust::device as its first argument, or wrap the pointer in thrust::device_pointer_cast";
    } else if (problem.verdict == judge::Verdict::kCrash && report.code == SIGABRT) {
      problem.hint =
          "an uncaught exception of Thrust, or a failed assert(): the output says which. Is a range longer than its "
          "array?";
    } else if (report.outcome == worker::Outcome::kDeviceTimeout) {
      problem.hint = "a launch for each element or signal: one call of a library's function does them all";
    }
    if (!problem.finding || call.elements == 0) continue;
    if (std::string hint = HintOfFinding(*problem.finding, call); !hint.empty()) problem.hint = std::move(hint);
  }
}

// A library function that refuses its arguments prints the reason and does nothing. Later problems are consequences.
inline void ExplainRefusals(const judge::CallReport& report, std::vector<judge::Problem>& problems) {
  struct Refusal {
    const char *said, *hint;
  };
  constexpr const char* kLeading =
      "cuBLAS refused the call: a leading dimension is at least the number of rows that the matrix has as it is "
      "stored, in column order. For d_in that is `columns`, for d_out `rows`";
  constexpr Refusal kRefusals[] = {
      {"data is not aligned to a complex",
       "cuFFT takes data that begins at a multiple of a complex number's size, 8 bytes. Of signals of odd length every "
       "other one doesn't: let one plan transform them all"},
      {"the plan was made for another type",
       "cufftExecR2C takes a plan of type CUFFT_R2C, cufftExecC2R one of CUFFT_C2R"},
      {"lda is smaller", kLeading},
      {"ldb is smaller", kLeading},
      {"ldc is smaller", kLeading},
      {"lockstep: cublas", "cuBLAS refused a call, as the output says: look at what it returned"},
      {"lockstep: cufft", "cuFFT refused a call, as the output says: look at what it returned"},
  };
  if (problems.empty() || problems.front().unfinished || problems.front().verdict == judge::Verdict::kCrash) return;
  for (const Refusal& refusal : kRefusals) {
    if (report.output.find(refusal.said) == std::string::npos) continue;
    for (judge::Problem& problem : problems) problem.hint = refusal.hint;
    return;
  }
}

// Memory that is still held usually belongs to a handle or a plan.
inline constexpr const char* kHeldHint =
    "each cudaMalloc needs its cudaFree, each cublasCreate its cublasDestroy, each cufftPlan its cufftDestroy, on "
    "every path out of the function; a device_vector in a global variable is never given back";

// A number returned without any kernel.
inline constexpr const char* kNoLaunchHint =
    "no kernel ran: without temporary memory CUB only says how much it needs, and with too little it returns an error";

// Explains a wrong sum of ints.
inline std::string ExplainSum(std::span<const int32_t> values, int32_t found) {
  const uint64_t n = values.size();
  const int64_t exact = judge::ExactSum(values);
  const int32_t expected = judge::WrappingSum(values);
  const auto wrapped = [](int64_t sum) { return static_cast<int32_t>(static_cast<uint32_t>(sum)); };
  if (n == 0) return "the sum of no elements is 0";
  if (found == wrapped(exact - values[0])) return "the first element is missing: a range begins at d_in itself";
  if (found == wrapped(exact - values[n - 1])) {
    return "the last element is missing: the end of a range is one past its last element, at d_in + n";
  }
  if (found == wrapped(exact + values[0])) return "the first element is in it twice: the sum begins with 0";
  if (found == judge::Largest(values)) return "that is the largest element: the operation is thrust::plus";
  const uint32_t surplus = static_cast<uint32_t>(found) - static_cast<uint32_t>(expected);
  if (surplus == 1) return "1 too much: the sum begins with 0";
  if (surplus == n) return "each element has added 1 too much";
  uint64_t power_of_two = 1;
  while (power_of_two * 2 <= n) power_of_two *= 2;
  if (power_of_two < n && found == judge::WrappingSum(values.first(power_of_two))) {
    return "only the first " + judge::Grouped(power_of_two) + " elements were added";
  }
  const auto clamped = static_cast<int32_t>(
      std::clamp<int64_t>(exact, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  if (exact != expected && (found == clamped || found == std::numeric_limits<int32_t>::min())) {
    return "that is no wrapped sum, but one of another type that was then made an int: add ints, from an int 0";
  }
  if (std::abs(static_cast<double>(found) - static_cast<double>(expected)) <=
      1e-5 * std::abs(static_cast<double>(exact))) {
    return "that is nearly the sum: a float keeps 24 bits. The type of the initial value is the type of the sum: give "
           "an int 0, not 0.0f";
  }
  if (found == static_cast<int8_t>(expected) || found == static_cast<int16_t>(expected)) {
    return "those are the sum's lowest bits alone: the type of the initial value is the type of the sum";
  }
  if (found == 0) return "the result is 0: is it copied to the host, to the variable that is returned?";
  if (found == judge::DeviceArray<int32_t>::FillValue()) return "that is memory that nothing had written";
  return "";
}

// Explains a wrong norm. `expected` is the right one.
inline std::string ExplainNorm(std::span<const float> values, double expected, double found, double bound) {
  double sum = 0, magnitude = 0, largest = 0;
  for (const float value : values) {
    sum += static_cast<double>(value);
    magnitude += std::abs(static_cast<double>(value));
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  const auto is = [&](double value) { return std::abs(found - value) <= std::max(bound, 1e-5 * std::abs(value)); };
  const uint64_t n = values.size();
  if (n == 0) return "the norm of no elements is 0";
  if (std::isnan(found)) return "that is not a number: the root of a negative sum, or memory that nothing had written?";
  if (is(expected * expected)) return "that is the sum of the squares: the norm is its square root";
  if (is(std::sqrt(expected))) return "the root was taken twice: cublasSnrm2 takes it already";
  if (is(std::sqrt(std::abs(sum)))) return "that is the root of the elements' sum: each is to be squared first";
  if (is(sum) || is(std::abs(sum))) return "that is the elements' sum: square each before it is added";
  if (is(magnitude))
    return "that is the sum of the magnitudes, another norm (cublasSasum): the Euclidean one adds squares";
  if (is(largest)) return "that is the largest magnitude, another norm";
  if (is(expected / std::sqrt(static_cast<double>(n))))
    return "that is divided by the root of n: the root of the mean of the squares";
  const auto square = [](float value) { return static_cast<double>(value) * static_cast<double>(value); };
  if (n > 1 && is(std::sqrt(expected * expected - square(values[n - 1])))) {
    return "the last element is missing: the end of a range is one past its last element, at d_in + n";
  }
  if (n > 1 && is(std::sqrt(expected * expected - square(values[0])))) return "the first element is missing";
  if (n > 1 && is(std::sqrt(expected * expected - square(values[0]) + std::abs(static_cast<double>(values[0]))))) {
    return "the first element was not squared: thrust::reduce applies a function to sums too. Square with "
           "thrust::transform_reduce";
  }
  if (std::isinf(found)) {
    return "that is more than a float holds: were sums squared too? thrust::reduce applies its function to sums. "
           "Square with thrust::transform_reduce";
  }
  return "the type of the initial value is the type of the sum, and an int has no fractions: 0 is an int, 0.0f a float";
}

// Explains a wrong scan. `first` is the first wrong element.
inline std::string ExplainScan(std::span<const int32_t> values, std::span<const int32_t> found, uint64_t first) {
  const uint64_t n = values.size();
  const int32_t poison = judge::DeviceArray<int32_t>::FillValue();
  const auto is_unwritten = [&](int32_t value) { return value == poison; };
  std::vector<uint32_t> before(n + 1);
  for (uint64_t i = 0; i < n; ++i) before[i + 1] = before[i] + static_cast<uint32_t>(values[i]);
  const auto all = [&](const std::function<uint32_t(uint64_t)>& candidate) {
    for (uint64_t i = 0; i < n; ++i) {
      if (static_cast<uint32_t>(found[i]) != candidate(i)) return false;
    }
    return true;
  };
  if (std::all_of(found.begin(), found.end(), is_unwritten)) {
    return "nothing was written to d_out: without temporary memory CUB only says how much it needs, and with too "
           "little it returns an error";
  }
  if (std::all_of(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(), is_unwritten)) {
    return "nothing was written from element " + judge::Grouped(first) + " to the end: the scan has n elements";
  }
  if (all([&](uint64_t i) { return before[i]; })) {
    return "that is the exclusive scan: element i has to include d_in[i] (InclusiveSum)";
  }
  if (all([&](uint64_t i) { return static_cast<uint32_t>(values[i]); })) return "that is d_in: nothing was added";
  if (all([&](uint64_t i) { return before[n] - before[i]; })) {
    return "each element is the sum from there to the end: the scan begins at element 0";
  }
  const uint32_t surplus = static_cast<uint32_t>(found[0]) - static_cast<uint32_t>(values[0]);
  if (surplus != 0 && all([&](uint64_t i) { return before[i + 1] + surplus; })) {
    return "every element is too large by " + std::to_string(static_cast<int32_t>(surplus)) +
           ": the scan begins with 0";
  }
  int32_t largest = std::numeric_limits<int32_t>::min();
  if (all([&](uint64_t i) { return static_cast<uint32_t>(largest = std::max(largest, values[i])); })) {
    return "that is the largest element up to each place: the operation is a sum";
  }
  if (std::all_of(found.begin(), found.end(), [](int32_t value) { return value == 0; })) return "all elements are 0";
  if (first > 0) return "all elements before this one are right";
  return "";
}

inline std::string ExplainTranspose(Shape shape, std::span<const float> in, std::span<const float> found) {
  const float poison = judge::DeviceArray<float>::FillValue();
  const auto is_unwritten = [&](float value) { return std::memcmp(&value, &poison, sizeof value) == 0; };
  const uint64_t rows = shape.rows, columns = shape.columns, n = shape.elements();
  const auto all = [&](const std::function<double(uint64_t)>& candidate) {
    for (uint64_t i = 0; i < n; ++i) {
      if (static_cast<double>(found[i]) != candidate(i)) return false;
    }
    return true;
  };
  const auto expected = [&](uint64_t i) { return static_cast<double>(in[i % rows * columns + i / rows]); };
  const auto as_other_shape = [&](uint64_t i) { return static_cast<double>(in[i % columns * rows + i / columns]); };
  if (std::all_of(found.begin(), found.end(), is_unwritten)) {
    return "nothing was written to d_out: what did the call return? cublasGetStatusName says it";
  }
  if (std::any_of(found.begin(), found.end(), is_unwritten)) {
    return "some elements were not written: m and n are the rows and columns of the result in column order, " +
           std::to_string(rows == columns ? rows : columns) + " and " + std::to_string(rows) + " here";
  }
  if (all([&](uint64_t i) { return static_cast<double>(in[i]); })) {
    return "d_out is a copy of d_in: the operation for A is CUBLAS_OP_T";
  }
  if (rows != columns && all(as_other_shape)) {
    return "rows and columns are swapped: cuBLAS stores matrices by columns. It sees d_in, which is stored by rows, as "
           "a matrix of `columns` rows and `rows` columns, with the leading dimension `columns`";
  }
  if (all([&](uint64_t i) { return 2 * expected(i); })) return "each element is doubled: alpha is 1, and beta is 0";
  if (all([&](uint64_t i) { return -expected(i); })) return "each element has the other sign: alpha is 1";
  if (std::all_of(found.begin(), found.end(), [](float value) { return value == 0; })) {
    return "all elements are 0: alpha has to be 1, and A has to be the matrix";
  }
  return "cuBLAS stores matrices by columns, a leading dimension apart: it sees d_in, which is stored by rows, as a "
         "matrix of " +
         judge::Counted(columns, "row") + " and " + judge::Counted(rows, "column");
}

}  // namespace lockstep::suites
