// Random kernels whose outputs a GPU gave (docs/records/cosim.md), replayed on the virtual GPU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "dev/cosim/campaign.h"
#include "dev/cosim/corpus.h"
#include "dev/cosim/kernel.h"
#include "dev/cosim/target.h"

namespace lockstep::cosim {
namespace cosim_test {

const Corpus& Recorded() {
  static const Corpus corpus = ReadCorpus(LOCKSTEP_SOURCE_DIR "/harness/tests/golden/cosim_h200.txt");
  return corpus;
}

void ExpectGenerator() {
  ASSERT_EQ(GeneratorDigest(Recorded().count), Recorded().generator)
      << "the generator changed: record the corpus anew on a GPU (docs/records/cosim.md)";
}

TEST(Cosim, VirtualGpuGivesTheGpusOutputs) {  // in turn
  ASSERT_NO_FATAL_FAILURE(ExpectGenerator());
  ASSERT_GE(Recorded().hashes.size(), Recorded().count * 98 / 100);
  const std::unique_ptr<Target> target = MakeVirtualTarget();
  for (const auto& [seed, hash] : Recorded().hashes) {
    const Kernel kernel = MakeKernel(seed);
    ASSERT_EQ(target->Load(kModuleHeader + kernel.Text()), "") << "seed " << seed;
    const Outcome outcome = target->Run(kernel);
    EXPECT_EQ(outcome.error, "") << "seed " << seed;
    EXPECT_EQ(Hash(outcome.words), hash) << "seed " << seed << ": see it with cosim ptx " << seed;
  }
}

// A run makes its folder and says how far it came; one that can't write there starts nothing.
TEST(Cosim, RunMakesItsFolder) {
  Campaign campaign;
  campaign.count = 3;
  campaign.per_module = 2;
  campaign.out = testing::TempDir() + "/cosim_" + std::to_string(getpid()) + "/run";
  EXPECT_EQ(cosim::Run(campaign), 0);
  std::string report;
  std::getline(std::ifstream(campaign.out + "/report.txt"), report);
  EXPECT_TRUE(report.starts_with("3 kernels, 0 differences, 0 refused by the other side, 0 lost, 0 not run,"))
      << report;
  EXPECT_EQ(std::filesystem::file_size(campaign.out + "/hashes.bin"), 3 * sizeof(uint64_t));
  std::filesystem::remove_all(campaign.out);

  campaign.out = "/dev/null/run";
  testing::internal::CaptureStderr();
  EXPECT_NE(cosim::Run(campaign), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "cosim: can't write to --out /dev/null/run: Not a directory\n");
}

// Is a wrong instruction detected? The text is changed, the GPU's outputs are not.
class CosimWrong : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(CosimWrong, IsFound) {
  const std::string from = std::string(" ") + GetParam().first + " ", to = std::string(" ") + GetParam().second + " ";
  const std::unique_ptr<Target> target = MakeVirtualTarget();
  int with = 0;
  for (const auto& [seed, hash] : Recorded().hashes) {
    const Kernel kernel = MakeKernel(seed);
    std::string text = kModuleHeader + kernel.Text();
    if (text.find(from) == std::string::npos) continue;
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    ++with;
    ASSERT_EQ(target->Load(text), "") << "seed " << seed;
    const Outcome outcome = target->Run(kernel);
    ASSERT_EQ(outcome.error, "") << "seed " << seed;
    if (Hash(outcome.words) != hash) return;
  }
  FAIL() << "not found in " << with << " kernels that hold" << from;
}

INSTANTIATE_TEST_SUITE_P(Instructions, CosimWrong,
                         testing::Values(std::pair{"add.s32", "sub.s32"}, std::pair{"min.s32", "min.u32"},
                                         std::pair{"shr.s32", "shr.u32"}, std::pair{"mad.lo.s32", "mad.hi.s32"},
                                         std::pair{"fma.rn.f32", "fma.rz.f32"}, std::pair{"mul.rn.f64", "mul.rm.f64"},
                                         std::pair{"fma.rn.ftz.f16", "fma.rn.f16"},
                                         std::pair{"shfl.sync.up.b32", "shfl.sync.down.b32"}),
                         [](const auto& info) {
                           std::string name = info.param.second;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace cosim_test
}  // namespace lockstep::cosim
