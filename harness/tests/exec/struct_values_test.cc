// Structs by value, to functions and back and as parameters of kernels: what the virtual GPU computes with them against
// the same code on the host.
#include "tests/exec/struct_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace struct_values_test {

using structs::kShapes;

template <uint32_t kShape>
void CollectSizes(std::vector<size_t>& sizes) {
  sizes.push_back(sizeof(typename structs::Shape<kShape>::Type));
  if constexpr (kShape + 1 < kShapes) CollectSizes<kShape + 1>(sizes);
}

TEST(StructValuesTest, ShapesAreOfManySizes) {
  std::vector<size_t> sizes;
  CollectSizes<0>(sizes);
  EXPECT_LE(*std::min_element(sizes.begin(), sizes.end()), 4u);
  EXPECT_GE(*std::max_element(sizes.begin(), sizes.end()), 300u);
  EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), 1024u);
  EXPECT_GE(std::set<size_t>(sizes.begin(), sizes.end()).size(), size_t{kShapes} / 2);
}

TEST(StructValuesTest, FunctionsTakeAndReturnThem) {
  constexpr uint32_t kThreads = 96, kFirstSeed = 17;
  TestDevice device(ReadPtx("struct_values"));
  const auto out = device.Make(std::vector<uint32_t>(kThreads * 2 * kShapes));
  device.Run("struct_values_kernel", {{3}, {kThreads / 3}}, kFirstSeed, out);
  const std::vector<uint32_t> found = device.Get(out);
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    uint32_t expected[2 * kShapes];
    structs::TryAll<0>(kFirstSeed + thread * 2654435761u, expected);
    for (uint32_t k = 0; k < 2 * kShapes; ++k) {
      ASSERT_EQ(found[thread * 2 * kShapes + k], expected[k])
          << "thread " << thread << ", shape " << k / 2 << (k % 2 == 0 ? ", called" : ", through a pointer");
    }
  }
}

template <uint32_t kShape>
void CheckParameter() {
  using S = typename structs::Shape<kShape>::Type;
  TestDevice device(ReadPtx("struct_values"));
  const auto out = device.Make(std::vector<uint32_t>(32));
  const S s = structs::Make<S>(kShape + 40);
  device.Run("struct_parameter_" + std::to_string(kShape), {{1}, {32}}, 'x', s, out);
  const std::vector<uint32_t> found = device.Get(out);
  for (uint32_t thread = 0; thread < 32; ++thread) {
    EXPECT_EQ(found[thread], structs::Hash(s, thread)) << "shape " << kShape << ", thread " << thread;
  }
}

TEST(StructValuesTest, KernelsTakeThem) {
  CheckParameter<0>();
  CheckParameter<1>();
  CheckParameter<2>();
  CheckParameter<3>();
  CheckParameter<4>();
}

}  // namespace struct_values_test
}  // namespace lockstep::vgpu
