// The expected arrays of assignment 02, and those that typical mistakes produce.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "judge/device/device.h"
#include "judge/model/text.h"
#include "launch.h"
#include "suites/02_handson_launch_fixture.h"

namespace lockstep::suites {

inline constexpr int32_t kPoison = static_cast<int32_t>(0x01010101u * judge::kPoisonByte);

// The value stored by thread `thread` of block `block`, with the device's wrapping.
inline int32_t ValueAt(uint64_t block, uint64_t thread) {
  return static_cast<int32_t>(static_cast<uint32_t>(1000 * block + thread));
}

// The task's definition by element, and variants for mistakes: all are functions of the element's index.
using Filling = std::function<int32_t(uint64_t)>;

inline Filling LinearFilling(const Shape& shape) {
  return [block = uint64_t{shape.block}](uint64_t i) { return ValueAt(i / block, i % block); };
}

inline Filling TiledFilling(const Shape& shape) {
  return [shape, tiles = uint64_t{BlocksFor(shape.width, kTile)}](uint64_t i) {
    const uint64_t row = i / shape.width, column = i % shape.width;
    return ValueAt(row / kTile * tiles + column / kTile, row % kTile * kTile + column % kTile);
  };
}

struct Mistake {
  Filling filling;
  judge::HintText hint;
};

inline std::vector<Mistake> MistakesOf(int number, const Shape& shape) {
  const uint64_t block = shape.block;
  if (number == 6) {
    const uint64_t width = shape.width, height = shape.height;
    const uint64_t across = BlocksFor(shape.width, kTile), down = BlocksFor(shape.height, kTile);
    const auto at = [=](auto value) { return [=](uint64_t i) { return value(i / width, i % width); }; };
    return {
        {at([=](uint64_t r, uint64_t c) {
           return ValueAt(c / kTile * down + r / kTile, c % kTile * kTile + r % kTile);
         }),
         "x and y are swapped: x is the column, and runs along a row"},
        {at([=](uint64_t r, uint64_t c) {
           return ValueAt(r / kTile * across + c / kTile, c % kTile * kTile + r % kTile);
         }),
         "a thread's number in its block is threadIdx.y * blockDim.x + threadIdx.x"},
        {at([=](uint64_t r, uint64_t c) {
           return ValueAt(c / kTile * down + r / kTile, r % kTile * kTile + c % kTile);
         }),
         "a block's number in the grid is blockIdx.y * gridDim.x + blockIdx.x"},
        {at([=](uint64_t r, uint64_t c) { return ValueAt(c / kTile, r % kTile * kTile + c % kTile); }),
         "the block's number ignores blockIdx.y"},
        {[=](uint64_t i) { return TiledFilling(shape)(i % height * width + i / height % width); },
         {"the array is stored column by column: element (row, column) is d_a[row * width + column]",
          {"element", {"d_a"}}}},
        {at([=](uint64_t r, uint64_t c) {
           if (c >= down * kTile || r >= across * kTile) return kPoison;
           return ValueAt(r / kTile * down + c / kTile, r % kTile * kTile + c % kTile);
         }),
         "the grid's sides are swapped: x runs along a row, so gridDim.x follows from the width and gridDim.y from "
         "the height"},
    };
  }
  return {
      {[](uint64_t i) { return static_cast<int32_t>(i); },
       "that is the element's index: store 1000 * blockIdx.x + threadIdx.x, and launch n / block blocks of `block` "
       "threads, so that there are several blocks"},
      {[=](uint64_t i) { return static_cast<int32_t>(i % block); },
       "that is threadIdx.x alone: the block's part is missing"},
      {[=](uint64_t i) { return static_cast<int32_t>(1000 * (i / block)); },
       "that is the block's part alone: add threadIdx.x"},
      {[=](uint64_t i) { return ValueAt(i % block, i / block); }, "blockIdx and threadIdx are swapped"},
      {[=](uint64_t i) { return ValueAt(i / block % kMaxBlocks, i % block); },
       "that is the block of the thread that stored it: store the block that the element has in rung 2, i / "
       "blockDim.x"},
      {[](uint64_t) { return 0; }, "all elements are 0"},
  };
}

// If an index was stored in too narrow a type, an element holds the value of one whose index differs only in the high
// bits. Returns the type's number of bits; 0: not the case.
inline unsigned NarrowIndexBits(const Filling& right, std::span<const int32_t> found) {
  for (const unsigned bits : {16u, 8u}) {
    const uint64_t numbers = uint64_t{1} << bits;
    for (uint64_t i = 0; i < std::min<uint64_t>(found.size(), numbers); ++i) {
      if (found[i] == right(i)) continue;
      for (uint64_t other = i + numbers; other < found.size(); other += numbers) {
        if (found[i] == right(other)) return bits;
      }
      break;
    }
  }
  return 0;
}

// Explains a wrong array. threads: of the kernel; 0: unknown.
inline judge::HintText Explain(int number, const Shape& shape, const Filling& right, std::span<const int32_t> found,
                               uint64_t threads) {
  const uint64_t n = found.size();
  const auto matches = [&](const Filling& filling, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      if (found[i] != filling(i)) return false;
    }
    return true;
  };
  const Filling untouched = [](uint64_t) { return kPoison; };
  if (matches(untouched, 0, n)) {
    return number == 3 ? "nothing was copied to h_out"
                       : "no thread stored anything: is the kernel launched, and does it store?";
  }
  for (const Mistake& mistake : MistakesOf(number, shape)) {
    if (matches(mistake.filling, 0, n)) return mistake.hint;
  }
  if (const unsigned bits = NarrowIndexBits(right, found); bits > 0) {
    return "elements have the values of others, which are " + judge::Grouped(uint64_t{1} << bits) +
           " or a multiple of it further on: the index is kept in " + std::to_string(bits) + " bits";
  }
  if (number == 6) return "";  // the rest applies to one-dimensional grids
  const auto blocks = static_cast<uint32_t>(BlocksFor(shape.n, shape.block));
  if (blocks != shape.block && matches(LinearFilling({shape.n, blocks}), 0, n)) {
    return "blocks and threads are swapped: kernel<<<blocks, threads per block>>>";
  }
  for (uint32_t block = 1; block <= 1024; block *= 2) {
    if (block == shape.block || !matches(LinearFilling({shape.n, block}), 0, n)) continue;
    return "blocks of " + std::to_string(block) + " threads were launched: use the block size you are given";
  }
  uint64_t prefix = 0;
  while (prefix < n && found[prefix] == right(prefix)) ++prefix;
  if (!matches(untouched, prefix, n)) return "";
  const std::string start = "the first " + judge::Grouped(prefix) + " of " + judge::Grouped(n) +
                            " elements are right and the rest " +
                            (number == 3 ? "did not arrive; " : "were not stored; ");
  if (number == 3 && prefix == n / 4) return start + "cudaMemcpy counts bytes: n * sizeof(int)";
  if (number == 5 && prefix == uint64_t{kMaxBlocks} * shape.block) {
    return start + "each thread stored only one element: use a grid-stride loop, with steps of gridDim.x * blockDim.x";
  }
  if (threads >= n && number == 3) return start + "does the kernel store all n ints, and does the copy move them all?";
  if (threads >= n) return start + "the kernel had a thread for each: does its guard let every i < n pass?";
  if (n % shape.block != 0 && prefix == n / shape.block * shape.block) {
    return {start + "the last, partial block is missing: round the number of blocks up", {"blocks"}};
  }
  if (prefix == shape.block) return start + "the index is blockIdx.x * blockDim.x + threadIdx.x";
  return start + "do you launch enough blocks?";
}

}  // namespace lockstep::suites
