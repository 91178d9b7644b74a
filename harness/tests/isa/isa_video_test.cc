// Video instructions against an H100: isa_video.h100.txt has, in the order of the forms and by instruction, a hash of
// what each form gave for the operands of video_cases.h.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/isa/video_cases.h"
#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace isa_video_test {

constexpr size_t kRefused = 443;

std::string KernelOf(size_t form) { return "k" + std::to_string(form / kVideoFormsAKernel); }

// The forms that are refused: where the H100 does not do what the PTX ISA says.
std::set<std::string> Refused(const std::vector<std::string>& forms) {
  TestDevice device(VideoModule(forms));
  std::set<std::string> refused;
  for (size_t first = 0; first < forms.size(); first += kVideoFormsAKernel) {
    std::istringstream listing(device->Disassemble(device.module(), KernelOf(first)));
    for (std::string line; std::getline(listing, line);) {
      const size_t from = line.find(" v"), to = line.find("  ", from + 1);
      if (from != std::string::npos && line.find("not supported") != std::string::npos) {
        refused.insert(line.substr(from + 1, to - from - 1) + ";");
      }
    }
  }
  return refused;
}

// An H100's results, by form.
std::vector<uint64_t> Recorded() {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/harness/tests/isa/isa_video.h100.txt");
  std::vector<uint64_t> hashes;
  for (std::string word; file >> word;) {
    if (word[0] != 'v') hashes.push_back(std::stoull(word, nullptr, 16));
  }
  return hashes;
}

TEST(IsaVideoTest, EveryFormGivesWhatAnH100Gives) {
  const std::vector<std::string> all = VideoForms();
  const std::vector<uint64_t> recorded = Recorded();
  ASSERT_EQ(recorded.size(), all.size());
  const std::set<std::string> refused = Refused(all);
  EXPECT_EQ(refused.size(), kRefused);
  std::vector<std::string> forms;
  std::vector<uint64_t> expected;
  for (size_t k = 0; k < all.size(); ++k) {
    if (refused.count(all[k]) != 0) continue;
    forms.push_back(all[k]);
    expected.push_back(recorded[k]);
  }
  TestDevice device(VideoModule(forms));
  const auto operands = device.Make(VideoOperands());
  size_t wrong = 0;
  for (size_t first = 0; first < forms.size(); first += kVideoFormsAKernel) {
    const auto results = device.Make(std::vector<uint32_t>(kVideoFormsAKernel * kVideoCases));
    device.Run(KernelOf(first), {{kVideoCases / 128}, {128}}, operands, results);
    const std::vector<uint32_t> values = device.Get(results);
    for (size_t k = first; k < std::min(first + kVideoFormsAKernel, forms.size()); ++k) {
      const uint32_t* const own = values.data() + (k - first) * kVideoCases;
      if (VideoHash(own) == expected[k]) continue;
      if (++wrong <= 10) ADD_FAILURE() << forms[k] << " begins with " << std::hex << own[0] << " " << own[1];
    }
  }
  EXPECT_EQ(wrong, 0u);
}

}  // namespace isa_video_test
}  // namespace lockstep::vgpu
