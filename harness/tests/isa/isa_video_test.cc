// Video instructions against an H100: isa_video.h100.txt has a line for each form, with a hash of what it gave for the
// operands of video_cases.h.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/isa/video_cases.h"
#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace {

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

TEST(IsaVideoTest, EveryFormGivesWhatAnH100Gives) {
  const std::vector<std::string> all = VideoForms();
  const std::set<std::string> refused = Refused(all);
  EXPECT_EQ(refused.size(), kRefused);
  std::vector<std::string> forms;
  for (const std::string& form : all) {
    if (refused.count(form) == 0) forms.push_back(form);
  }
  TestDevice device(VideoModule(forms));
  const auto operands = device.Make(VideoOperands());
  std::vector<std::string> lines;
  for (size_t first = 0; first < forms.size(); first += kVideoFormsAKernel) {
    const auto results = device.Make(std::vector<uint32_t>(kVideoFormsAKernel * kVideoCases));
    device.Run(KernelOf(first), {{kVideoCases / 128}, {128}}, operands, results);
    const std::vector<uint32_t> values = device.Get(results);
    for (size_t k = first; k < std::min(first + kVideoFormsAKernel, forms.size()); ++k) {
      lines.push_back(VideoLine(forms[k], values.data() + (k - first) * kVideoCases));
    }
  }
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/harness/tests/isa/isa_video.h100.txt");
  std::string expected;
  size_t wrong = 0, k = 0;
  while (std::getline(file, expected)) {
    if (refused.count(expected.substr(0, expected.find(';') + 1)) != 0) continue;
    ASSERT_LT(k, lines.size());
    if (lines[k++] == expected) continue;
    if (++wrong <= 10) ADD_FAILURE() << "here  " << lines[k - 1] << "\nH100  " << expected;
  }
  EXPECT_EQ(k, lines.size());
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace lockstep::vgpu
