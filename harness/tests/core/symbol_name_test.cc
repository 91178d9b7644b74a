// Names as the source has them, and how long they could get.
#include "vgpu/core/symbol_name.h"

#include <gtest/gtest.h>

namespace lockstep::vgpu {
namespace {

TEST(SymbolNameTest, OnlyMangledNamesAreDemangled) {
  EXPECT_EQ(Demangled("_Z6kernelPi"), "kernel(int*)");
  EXPECT_EQ(Demangled("b"), std::nullopt) << "no type bool";
  EXPECT_EQ(Demangled("_Z"), std::nullopt);
}

// f<A<i, i>, A<A, A>, A<A<A, A>, A<A, A>>, …>
std::string Doubling(int times) {
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1fI1AIiiE";
  for (int k = 1; k <= times; ++k) {
    const std::string last = std::string("S") + digits[static_cast<size_t>(k)] + "_";
    name += "S0_I" + last + last + "E";
  }
  return name + "EvT_";
}

TEST(SymbolNameTest, TheBoundHolds) {
  for (const std::string& name :
       {Doubling(1), Doubling(5), Doubling(10), std::string("_Z6kernelPKiPij"), std::string("_Z4copyIiEvPKT_PS0_m"),
        std::string("_Z3addILi128EEvPi"), std::string("_Z1fSsSsSs")}) {
    ASSERT_TRUE(Demangled(name)) << name;
    EXPECT_GE(LongestDemangled(name), Demangled(name)->size()) << name;
  }
  EXPECT_GT(LongestDemangled(Doubling(33)), uint64_t{1} << 32);
}

TEST(SymbolNameTest, CapitalsInIdentifiersAreNoReferences) {
  EXPECT_LT(LongestDemangled("_Z60TheSTudentSTransposeSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTPi"), 1000u);
  // Behind a literal a number may be anything.
  EXPECT_GT(LongestDemangled("_Z1fIXL1AE40aE" + std::string(60, 'S') + "EvT_"), uint64_t{1} << 32);
}

}  // namespace
}  // namespace lockstep::vgpu
