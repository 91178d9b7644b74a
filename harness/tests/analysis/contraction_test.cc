// Which products and sums become multiply-adds. The expected texts are what ptxas 13.0 makes of them for sm_90.
#include "vgpu/analysis/contraction.h"

#include <gtest/gtest.h>

#include "vgpu/ptx/parser.h"
#include "vgpu/ptx/text.h"

namespace lockstep::vgpu {

TEST(ContractionTest, IsThatOfPtxas) {
  const std::string a = "mul.f32 %f4, %f1, %f2; ", b = "mul.f32 %f5, %f2, %f3; ", plus = "add.f32 %f6, %f4, %f3; ";
  const std::string mul_rn = "mul.rn.f32 %f4, %f1, %f2; ", mul_sat = "mul.sat.f32 %f4, %f1, %f2; ";
  const std::string both = "add.f32 %f6, %f4, %f5; ", twice = "add.f32 %f6, %f4, %f4; ";
  const std::string ftz = "add.ftz.sat.f32 %f6, %f3, %f4; ", store = "st.global.f32 [%d0], %f4; ";
  const std::pair<std::string, std::string> cases[] = {
      {a + plus, "fma.rn.f32 %f6, %f1, %f2, %f3; "},
      {"mul.ftz.f32 %f4, %f1, %f2; " + ftz, "fma.rn.ftz.sat.f32 %f6, %f1, %f2, %f3; "},
      {"mul.f16 %h4, %h1, %h2; sub.f16 %h5, %h3, %h4; add.f16 %h6, %h4, %h1; ",
       "neg.f16 negative@3, %h1; fma.rn.f16 %h5, negative@3, %h2, %h3; fma.rn.f16 %h6, %h1, %h2, %h1; "},
      {a + ftz, a + ftz},  // not of one form, or with other uses
      {a + twice, a + twice},
      {mul_rn + plus, mul_rn + plus},
      {mul_sat + plus, mul_sat + plus},
      {a + plus + store, a + plus + store},
      {a + b + both, b + "fma.rn.f32 %f6, %f1, %f2, %f5; "},  // the first, or the one with fewer uses
      {a + b + plus + both, a + plus + "fma.rn.f32 %f6, %f2, %f3, %f4; "}};
  for (const auto& [text, expected] : cases) {
    const ptx::Module module = ptx::Parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n"
        ".reg .f32 %f<9>; .reg .b16 %h<9>; .reg .b64 %d<2>;\n" +
        text + "\n}");
    const auto function = Contracted(module.functions.at(0));
    std::string all;
    for (const auto& i : function ? function->body : module.functions[0].body) all += TextOf(i) + "; ";
    EXPECT_EQ(all, expected);
  }
}

}  // namespace lockstep::vgpu
