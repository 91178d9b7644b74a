// Explains a wrong transpose.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/model/text.h"
#include "judge/model/verdict.h"
#include "suites/06_transpose_fixture.h"

namespace lockstep::suites {

// A hint for a kernel's fault that is more specific than the fault's own; else "".
inline judge::HintText HintOfFault(const judge::Problem& problem, Shape shape) {
  if (!problem.finding || !problem.finding->memory) return "";
  const vgpu::Finding& finding = *problem.finding;
  const std::string& buffer = finding.memory->buffer_name;
  switch (finding.kind) {
    case vgpu::FindingKind::kRace: {
      // For an asynchronous copy the fault's own hint names the missing wait.
      const bool copies = finding.first.traits.Any(vgpu::kAsynchronous) ||
                          (finding.second && finding.second->traits.Any(vgpu::kAsynchronous));
      if (finding.memory->space == vgpu::MemorySpace::kShared && !copies) {
        return "a column of the tile comes from all the threads that filled it: synchronise them (__syncthreads(), or "
               "__syncwarp() in a warp's own tile) between filling and reading, and before you fill the tile again";
      }
      if (buffer != "d_out") return "";
      return {
          "each element of d_out belongs to one thread: (x, y) goes to d_out[x * height + y], and a loop moves on "
          "by as many rows as the block has",
          {"element", {buffer}}};
    }
    case vgpu::FindingKind::kUninitialized:
      if (finding.memory->space != vgpu::MemorySpace::kShared) return "";
      if (finding.block_dim.x < kTile && finding.block_dim.y > 1) {
        return "a block is " + std::to_string(finding.block_dim.x) + " threads wide, and a row of the tile has " +
               std::to_string(kTile) + " elements: are the block's x and y exchanged?";
      }
      if (shape.width == shape.height && shape.width % kTile == 0) {  // where a guard can't be the mistake
        return {
            "nothing was stored to this word of the tile, which the matrix fills: does each pass of the loop store "
            "its own row, s_tile[row][threadIdx.x], until the tile has all its rows?",
            {"loop"}};
      }
      return "nothing was loaded to this word of the tile: at the matrix's edges, guard the store by its own position "
             "in d_out, not by the load's guard";
    case vgpu::FindingKind::kMisaligned:
      return "d_in and d_out are only aligned to 4 bytes: check their addresses before you move more than 4 bytes at "
             "once";
    case vgpu::FindingKind::kOutOfBounds:
      if (buffer == "d_out") {
        return {
            "element (x, y) goes to d_out[x * height + y], if x < width and y < height: does your guard test that, "
            "and is height the length of your row?",
            {"element", {buffer}}};
      }
      if (buffer == "d_in") {
        return {
            "element (x, y) is d_in[y * width + x], if x < width and y < height: does your guard test that, and is "
            "width the length of your row?",
            {"element", {buffer}}};
      }
      return "";
    default:
      return "";
  }
}

// Compares a result with the matrix that it should be the transpose of.
class TransposeResult {
 public:
  // has_tiles: whether the rung should use tiles; otherwise hints don't mention them. threads: in all launches.
  TransposeResult(Shape shape, std::span<const uint32_t> in, std::span<const uint32_t> out, uint32_t untouched,
                  bool has_tiles, uint64_t threads)
      : shape_(shape), in_(in), out_(out), untouched_(untouched), has_tiles_(has_tiles), threads_(threads) {}

  // The first element that is wrong, or nothing. Rows of d_out have `height` elements.
  std::optional<uint64_t> FirstWrong() const {
    // Some rows of d_out at a time, which are pieces of d_in's rows: whole columns of d_in would miss the cache at each
    // element.
    constexpr uint64_t kRows = 32;
    const uint64_t height = shape_.height;
    for (uint64_t first = 0; first < shape_.width; first += kRows) {
      const uint64_t rows = std::min(kRows, shape_.width - first);
      bool right = true;
      for (uint64_t column = 0; column < height; ++column) {
        const uint32_t* source = &in_[column * shape_.width + first];
        for (uint64_t row = 0; row < rows; ++row) right &= out_[(first + row) * height + column] == source[row];
      }
      for (uint64_t i = first * height; !right; ++i) {
        if (out_[i] != Expected(i)) return i;
      }
    }
    return std::nullopt;
  }

  // The expected and the found value of an element of d_out.
  std::vector<vgpu::MessageLine> Evidence(uint64_t wrong) const {
    const uint64_t row = wrong / shape_.height, column = wrong % shape_.height;
    const uint64_t source = column * shape_.width + row;
    uint64_t count = 0;
    for (uint64_t i = 0; i < out_.size(); ++i) count += out_[i] != Expected(i) ? 1 : 0;
    std::string found;
    if (Untouched(wrong)) {
      found = "the old contents (nothing was written)";
    } else {
      found += ValueOf(out_[wrong]);
      const auto origin = std::find(in_.begin(), in_.end(), out_[wrong]);
      found += origin == in_.end() ? ", which is not in d_in"
                                   : ", which is " + InPlace(static_cast<uint64_t>(origin - in_.begin()));
    }
    return {
        "row " + std::to_string(row) + ", column " + std::to_string(column) + " of d_out is wrong" +
            (count > 1 ? " (" + judge::Grouped(count) + " of " + judge::Counted(out_.size(), "element") + " in total)"
                       : ""),
        {"expect", ValueOf(in_[source]) + ", which is " + InPlace(source)},
        {"found", found}};
  }

  // A sentence, or "".
  judge::HintText Hint(uint64_t wrong) const {
    if (std::all_of(out_.begin(), out_.end(), [this](uint32_t word) { return word == untouched_; })) {
      return "nothing wrote to d_out";
    }
    if (std::all_of(out_.begin(), out_.end(), [](uint32_t word) { return word == 0; })) return "d_out is all zeros";
    if (judge::HintText hint = HintOfUnwritten(); !hint.empty()) return hint;
    if (judge::HintText hint = HintOfPlaces(); !hint.empty()) return hint;
    const float expected = FloatOf(Expected(wrong)), found = FloatOf(out_[wrong]);
    if (expected == found || (std::isnan(expected) && std::isnan(found))) {
      return "the value is the same, but its bits are not: only move elements, compute nothing with them";
    }
    if (out_.size() >= kLarge) {
      return "this many elements exceed some limit: a grid, a 16-bit index, an index held in a float?";
    }
    return "";
  }

 private:
  // Likely tile sizes; the largest one that explains the result is used.
  static constexpr std::array<uint64_t, 4> kTiles = {64, 32, 16, 8};
  // Elements on which a guess is tested: millions would tell no more.
  static constexpr uint64_t kTried = 1 << 18;
  // More elements than anyone checks by hand.
  static constexpr uint64_t kLarge = 1 << 20;

  uint32_t Expected(uint64_t i) const { return in_[i % shape_.height * shape_.width + i / shape_.height]; }
  bool Untouched(uint64_t i) const { return out_[i] == untouched_ && Expected(i) != untouched_; }

  static float FloatOf(uint32_t word) { return std::bit_cast<float>(word); }
  static std::string ValueOf(uint32_t word) {
    const float value = FloatOf(word);
    char text[64];
    if (std::isnan(value)) {
      std::snprintf(text, sizeof text, "NaN (0x%08X)", word);
      return text;
    }
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
  std::string InPlace(uint64_t i) const {
    return "row " + std::to_string(i / shape_.width) + ", column " + std::to_string(i % shape_.width) + " of d_in";
  }

  // If everything written is right, explains the missing part.
  judge::HintText HintOfUnwritten() const {
    const uint64_t width = shape_.width, height = shape_.height;
    uint64_t unwritten = 0;
    for (uint64_t i = 0; i < out_.size(); ++i) {
      if (Untouched(i)) {
        ++unwritten;
      } else if (out_[i] != Expected(i)) {
        return "";
      }
    }
    const auto all_lie = [&](auto&& inside) {
      for (uint64_t i = 0; i < out_.size(); ++i) {
        if (Untouched(i) && !inside(i / height, i % height)) return false;
      }
      return true;
    };
    const uint64_t least = std::min(width, height);
    const std::string missing =
        judge::Counted(unwritten, "element") + (unwritten == 1 ? " was" : " were") + " not written. ";
    if (width != height && all_lie([&](uint64_t row, uint64_t column) { return row >= least || column >= least; }) &&
        unwritten == out_.size() - least * least) {
      return missing +
             "The rest form a square: is width somewhere where height belongs, in a bound or in where a tile begins?";
    }
    for (const uint64_t tile : kTiles) {
      if (tile > least) continue;
      const uint64_t rows = width / tile * tile, columns = height / tile * tile;
      if (!all_lie([&](uint64_t row, uint64_t column) { return row >= rows || column >= columns; })) continue;
      if (!has_tiles_) {
        return {missing + "All of them are in row " + judge::Grouped(rows) + " or column " + judge::Grouped(columns) +
                    " of d_out, or beyond: do you round the number of blocks up, and check each index against width "
                    "and height?",
                {"blocks"}};
      }
      const std::string size = std::to_string(tile) + " x " + std::to_string(tile);
      if (unwritten == out_.size() - rows * columns) {
        return {missing + "They are past the last full tile of " + size +
                    ": do you round the number of tiles up, and check each index against width and height?",
                {"blocks"}};
      }
      return {missing + "They are in partial tiles of " + size +
                  ": a thread with nothing to load may still have an element to store, so do not return early, and "
                  "guard the store on its own",
              {"return"}};
    }
    if (threads_ >= out_.size()) {
      return {missing + "There are threads for them: which guard or index leaves them out?", {"guard"}};
    }
    if (threads_ == 0) return missing + "Do the blocks and their threads cover the whole matrix?";  // on a real GPU
    return {missing + "The launch has " + judge::Counted(threads_, "thread") + " for " +
                judge::Counted(out_.size(), "element") +
                (has_tiles_ ? ": does each thread store several, in a loop over the rows of its tile?"
                            : ": do the blocks cover the whole matrix?"),
            {has_tiles_ ? "loop" : ""}};
  }

  // Whether every written element came from the source that a typical mistake would use.
  template <class Source>
  bool AllComeFrom(Source source) const {
    uint64_t written = 0;
    const uint64_t tried = std::min<uint64_t>(out_.size(), kTried);
    for (uint64_t i = 0; i < tried; ++i) {
      if (out_[i] == untouched_) continue;
      const std::optional<uint64_t> from = source(i);
      if (!from || *from >= in_.size() || out_[i] != in_[*from]) return false;
      ++written;
    }
    return 2 * written >= tried;
  }

  // Whether one of the tested elements is both written and wrong.
  bool AnyIsMisplaced() const {
    for (uint64_t i = 0; i < std::min<uint64_t>(out_.size(), kTried); ++i) {
      if (out_[i] != untouched_ && out_[i] != Expected(i)) return true;
    }
    return false;
  }

  judge::HintText HintOfPlaces() const {
    const uint64_t width = shape_.width, height = shape_.height;
    using Place = std::optional<uint64_t>;
    if (AllComeFrom([](uint64_t i) -> Place { return i; })) {
      return {"d_out is a copy of d_in: element (x, y) goes to d_out[x * height + y]", {"element", {"d_out"}}};
    }
    if (AllComeFrom([&](uint64_t i) -> Place {
          if (i % width >= height) return std::nullopt;
          return i % width * width + i / width;
        })) {
      return {"the rows of d_out have height elements, not width: element (x, y) goes to d_out[x * height + y]",
              {"element", {"d_out"}}};
    }
    if (AllComeFrom([&](uint64_t i) -> Place { return i % height * height + i / height; })) {
      return {"the rows of d_in have width elements, not height: element (x, y) is d_in[y * width + x]",
              {"element", {"d_in"}}};
    }
    if (width != height && AllComeFrom([&](uint64_t i) -> Place { return i % width * height + i / width; })) {
      return "row and column are computed with height: element i of d_in is in row i / width, column i % width";
    }
    const auto in_place = [&](uint64_t row, uint64_t column) -> Place {
      if (row >= height || column >= width) return std::nullopt;
      return row * width + column;
    };
    if (!has_tiles_) return "";
    for (const uint64_t tile : kTiles) {
      const std::string each = "each tile of " + std::to_string(tile) + " x " + std::to_string(tile) + " ";
      if (AllComeFrom([&](uint64_t i) {
            const uint64_t row = i / height, column = i % height;
            return in_place(row / tile * tile + column % tile, column / tile * tile + row % tile);
          })) {
        return each + "is transposed, but still in its old place: swap the tile's own x and y too";
      }
      if (AllComeFrom([&](uint64_t i) {
            const uint64_t row = i / height, column = i % height;
            return in_place(column / tile * tile + row % tile, row / tile * tile + column % tile);
          })) {
        return each + "is in the right place, but not transposed: store s_tile[threadIdx.x][row], a column";
      }
    }
    // Some are right; the others are still in their old row and column.
    if (AnyIsMisplaced() && AllComeFrom([&](uint64_t i) -> Place {
          return out_[i] == Expected(i) ? i % height * width + i / height : in_place(i / height, i % height);
        })) {
      return "the wrong elements have the same row and column as in d_in: does an index or a pointer step along a row "
             "where it should step down the rows (by width in d_in, by height in d_out)?";
    }
    return "";
  }

  Shape shape_;
  std::span<const uint32_t> in_, out_;
  uint32_t untouched_;
  bool has_tiles_;
  uint64_t threads_;
};

}  // namespace lockstep::suites
