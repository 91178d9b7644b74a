// Source forms of mangled names, and bounds on their length.
#include "vgpu/core/symbol_name.h"

#include <gtest/gtest.h>

namespace lockstep::vgpu {
namespace symbol_name_test {

TEST(SymbolNameTest, OnlyMangledNamesAreDemangled) {
  EXPECT_EQ(Demangled("_Z6kernelPi"), "kernel(int*)");
  EXPECT_EQ(Demangled("b"), std::nullopt) << "no type bool";
  EXPECT_EQ(Demangled("_Z"), std::nullopt);
}

TEST(SymbolNameTest, TheCompilersPartsAreLeftOut) {
  EXPECT_EQ(VariableName("_ZZ1kPKiS0_PiE3sum_$_0"), "sum");
  EXPECT_EQ(VariableName("tile_$_12"), "tile");
  EXPECT_EQ(VariableName("cost_$_"), "cost_$_");
  EXPECT_EQ(VariableName("_$_1"), "_$_1");
  EXPECT_EQ(Demangled("__nv_static_30__5a5d2b5f_9_static_cu_91d1c4ab__Z4fillPi"), "fill(int*)");
  EXPECT_EQ(VariableName("__nv_static_30__5a5d2b5f_9_static_cu_91d1c4ab_late"), "late");
  for (const char* cut : {"__nv_static_", "__nv_static_99__5a", "__nv_static_99999999999999999999_a"}) {
    EXPECT_EQ(VariableName(cut), cut);
  }
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

// A mangled name of 300 characters can expand to 30 GB; some of CUB's kernels have names that look like it.
TEST(SymbolNameTest, OfNamesThatMayBeEndlessTheBeginningIsDecoded) {
  EXPECT_EQ(Demangled(Doubling(33)), "f");
  std::string name = "_ZN3cub6detail6kernelIi";
  for (int k = 0; k < 60; ++k) name += "S0_";
  EXPECT_EQ(Demangled(name + "EEvT_"), "cub::detail::kernel");
  EXPECT_EQ(Demangled(name.replace(0, 4, "_ZN99999999999999999999")), std::nullopt) << "no name is so long";
}

TEST(SymbolNameTest, CapitalsInIdentifiersAreNoReferences) {
  EXPECT_LT(LongestDemangled("_Z60TheSTudentSTransposeSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTSTPi"), 1000u);
  // After a literal of class type, a number may have any meaning.
  EXPECT_GT(LongestDemangled("_Z1fIXL1AE40aE" + std::string(60, 'S') + "EvT_"), uint64_t{1} << 32);
}

// A kernel of Thrust's for zipped, permuted and transformed ranges, as nvcc names it.
TEST(SymbolNameTest, LongNamesOfLibrariesAreNotEndless) {
  const std::string name =
      "_ZN3cub17CUB_300001_SM_8006detail9transform16transform_kernelINS2_10policy_hubILb1EN4cuda3std3__"
      "45tupleIJN6thrust"
      "23THRUST_300001_SM_800_NS12zip_iteratorINS8_IJNSA_6detail15normal_iteratorINSA_10device_ptrI6float2EEEENSA_"
      "20permutation_iteratorISH_NSA_18transform_iteratorI6moduloNSA_17counting_iteratorIjNSA_11use_defaultESM_SM_EESM_"
      "SM_EEEEEEEEEEEEE10policy1000El8multiplySH_JSR_EEEvT0_iT1_T2_DpNS2_10kernel_argIT3_EE";
  ASSERT_TRUE(Demangled(name));
  EXPECT_GE(LongestDemangled(name), Demangled(name)->size());
  EXPECT_LT(LongestDemangled(name), uint64_t{64} << 20);
  // These are no literals: a parameter, and names that continue after what looks like a literal.
  for (const std::string beginning : {"_Z1fXfL0p_", "_Z1fIXLb1", "_Z1fIXLb", "_Z1fIL1AE", "_Z1fIXLb1F"}) {
    EXPECT_GT(LongestDemangled(beginning + "40aE" + std::string(60, 'S') + "EvT_"), uint64_t{1} << 32) << beginning;
  }
}

}  // namespace symbol_name_test
}  // namespace lockstep::vgpu
