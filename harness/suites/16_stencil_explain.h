// The expected image, and explanations of wrong ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judge/model/text.h"
#include "judge/model/verdict.h"
#include "suites/16_stencil_fixture.h"

namespace lockstep::suites {

inline bool IsSeparable(const std::string& rung) { return rung.starts_with("convolve4"); }
inline bool IsSteps(const std::string& rung) { return rung.starts_with("stencil5"); }

// A hint for a fault of a rung's kernel that is more specific than the fault's own; else "".
inline std::string HintOfFault(const std::string& rung, const judge::Problem& problem) {
  if (!problem.finding || !problem.finding->memory) return "";
  const std::string& buffer = problem.finding->memory->buffer_name;
  const bool shared = problem.finding->memory->space == vgpu::MemorySpace::kShared;
  switch (problem.finding->kind) {
    case vgpu::FindingKind::kRace:
      if (shared) {
        return "put a barrier between filling the tile and reading it; each step reads one array and stores to "
               "another, and needs a barrier after it";
      }
      return buffer == "d_out" ? "pixel (x, y) is d_out[y * width + x], and one thread stores it" : "";
    case vgpu::FindingKind::kUninitialized:
      if (shared && IsSteps(rung)) {
        return "nothing was stored to this word: the halo is as wide as the number of steps, in the corners too, and "
               "each step that leaves out the outermost pixels leaves one less on each side for the next";
      }
      if (shared && IsSeparable(rung)) {
        return "nothing was stored to this word: the halo has corners, its rows need their sums along the row too, and "
               "a word stored as [y][x] has to be read as [y][x]";
      }
      return shared
                 ? "nothing was stored to this word of the tile: the halo is on all four sides and in the corners. It "
                   "has more words than a block has threads, and threads without a pixel have to load too"
                 : "";
    case vgpu::FindingKind::kMisaligned:
      return "arrays are aligned to one element, and rows begin where the one before ends: a wider access needs an "
             "address and a width that are multiples of it";
    case vgpu::FindingKind::kOutOfBounds:
      if (problem.finding->memory->space == vgpu::MemorySpace::kConst) {
        return "is this array long enough for the weights of the largest radius, kMaxRadius?";
      }
      if (shared) return "how large is the tile with its halo on both sides where the radius, or the steps, are 8?";
      if (buffer == "d_in")
        return "a pixel beyond the image is its nearest one: clamp x and y to the image before you load";
      return buffer == "d_out" ? "test x against width and y against height before the store" : "";
    default:
      return "";
  }
}

// A rung's input.
struct Input {
  std::vector<double> pixels;
  std::vector<float> filter;       // by rows; on rung 4 the products of both below
  std::vector<float> row, column;  // on rung 4
  std::string what;                // the name in messages
};

// Sums of a filter with these radii along x and y; beyond the image are its nearest pixels, or zeros.
inline std::vector<double> Convolved(const std::vector<double>& pixels, Image image, std::span<const float> filter,
                                     int64_t along_x, int64_t along_y, bool zeros = false) {
  const auto width = static_cast<int64_t>(image.width), height = static_cast<int64_t>(image.height);
  std::vector<double> sums;
  for (int64_t pixel = 0; pixel < width * height; ++pixel) {
    double sum = 0;
    const float* weight = filter.data();
    for (int64_t y = pixel / width - along_y; y <= pixel / width + along_y; ++y) {
      const int64_t row = std::clamp<int64_t>(y, 0, height - 1) * width;
      for (int64_t x = pixel % width - along_x; x <= pixel % width + along_x; ++x, ++weight) {
        const int64_t from = row + std::clamp<int64_t>(x, 0, width - 1);
        if (zeros && from != y * width + x) continue;
        sum += static_cast<double>(*weight) * pixels[static_cast<size_t>(from)];
      }
    }
    sums.push_back(sum);
  }
  return sums;
}

// The image after this many steps.
inline std::vector<double> Stepped(std::vector<double> pixels, Image image, uint64_t steps) {
  constexpr float kCross[] = {0, 0.25f, 0, 0.25f, 0, 0.25f, 0, 0.25f, 0};
  for (; steps > 0; --steps) pixels = Convolved(pixels, image, kCross, 1, 1);
  return pixels;
}

// A hint for an image whose first wrong pixel is this one; or "".
inline std::string HintOfImage(Image image, const Input& input, std::span<const double> expected, double bound,
                               std::span<const float> found, uint64_t wrong) {
  const auto close = [&](uint64_t i, double value, double most) { return std::abs(found[i] - value) <= most; };
  if (bound > 0 && close(wrong, expected[wrong], 0.1)) {
    return "this is close, but no order of float additions is that far off: are all weights and sums float?";
  }
  if (!input.filter.empty() && std::ranges::all_of(found, [](float sum) { return sum == 0; }))
    return "every pixel is 0: are the weights where the kernel reads them?";
  std::vector<std::pair<std::vector<double>, std::string>> mistakes;
  const auto reach = static_cast<int64_t>(image.reach);
  const auto add = [&](const std::vector<float>& filter, int64_t along_y, bool zeros, const char* hint) {
    if (!filter.empty()) mistakes.emplace_back(Convolved(input.pixels, image, filter, reach, along_y, zeros), hint);
  };
  add(input.filter, reach, true, "beyond the image this takes 0: take the nearest pixel of the edge");
  add({input.filter.rbegin(), input.filter.rend()}, reach, false,
      "the filter is turned around: its first weight is for the pixel `radius` up and to the left");
  std::vector<float> exchanged;
  const uint64_t side = 2 * image.reach + 1;
  for (uint64_t i = 0; i < input.filter.size(); ++i) exchanged.push_back(input.filter[i % side * side + i / side]);
  add(exchanged, reach, false,
      input.row.empty()
          ? "the filter's rows and columns are exchanged: weights side by side are for pixels side by side"
          : "d_row and d_column have changed places: d_row's weights are for neighbours along x");
  add(input.row, 0, false, "these are the sums along the rows: those along the columns are missing");
  for (uint64_t steps = 0; input.filter.empty() && steps <= kMaxSteps; ++steps) {
    const std::string hint = "this is the image after " + judge::Counted(steps, "step") + " instead of ";
    mistakes.emplace_back(Stepped(input.pixels, image, steps), hint + std::to_string(image.reach));
  }
  for (const auto& [result, hint] : mistakes) {
    uint64_t i = 0;
    while (i < result.size() && close(i, result[i], 1e-3)) ++i;
    if (i == result.size()) return hint;
  }
  bool has_inner = false;
  for (uint64_t i = 0; i < expected.size(); ++i) {
    const uint64_t x = i % image.width, y = i / image.width;
    const uint64_t to_edge = std::min({x, y, image.width - 1 - x, image.height - 1 - y});
    has_inner |= to_edge >= image.reach;
    if (to_edge >= image.reach && !close(i, expected[i], 1e-3)) {
      return input.filter.empty() && reach > 1
                 ? "each step makes one more pixel on each side of a tile wrong: the halo has to have a pixel per step"
                 : "does each of this call's weights meet its pixel: weight (j, i) the one at (x + i - radius, y + j - radius)?";
    }
  }
  if (!has_inner) return "";
  return "only pixels near an edge are wrong: a pixel beyond it is the nearest one, in corners too, and in every step";
}

}  // namespace lockstep::suites
