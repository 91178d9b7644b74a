// Runs every kernel of checker_pairs*.cu and compares the checkers' findings with its comment (checker_pairs.h).
#include "tests/observers/checker_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace checker_pairs_test {

struct Declared {
  std::string file, kernel;
  std::vector<std::string> kinds;  // "race, shared"; none: clean
  std::vector<std::string> says;   // what the findings' texts hold
  uint32_t blocks = 1, threads = 64, shared_bytes = 0;
  bool cooperative = false;
  std::set<int> here, first, second;  // lines
};
void PrintTo(const Declared& declared, std::ostream* out) { *out << declared.file << " " << declared.kernel; }

std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    parts.push_back(part);
  }
  return parts;
}

// A mark in a helper function counts for the kernels after it in the file.
std::vector<Declared> ReadDeclarations(const std::filesystem::path& path) {
  static const std::regex kernel_name("__global__ void (\\w+)"), shape("(\\d+) x (\\d+)(?:, (\\d+) bytes)?");
  static const std::regex marks("// ((?:here|first|second)(?:, (?:here|first|second))*)$");
  std::vector<Declared> all;
  Declared helpers, next;
  Declared* current = &helpers;
  std::ifstream file(path);
  std::smatch match;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("// expect: ")) {
      next = helpers;
      next.file = path.stem();
      if (line != "// expect: clean") next.kinds = Split(line.substr(11), '|');
    } else if (line.starts_with("// says: ")) {
      next.says.push_back(line.substr(9));
    } else if (line.starts_with("// launch: ") && std::regex_search(line, match, shape)) {
      next.blocks = static_cast<uint32_t>(std::stoul(match[1]));
      next.threads = static_cast<uint32_t>(std::stoul(match[2]));
      next.cooperative = line.ends_with(", cooperative");
      if (match[3].matched) next.shared_bytes = static_cast<uint32_t>(std::stoul(match[3]));
    } else if (std::regex_search(line, match, kernel_name)) {
      next.kernel = match[1];
      all.push_back(next);
      current = &all.back();
    } else if (line.starts_with("__device__")) {
      current = &helpers;
    }
    if (std::regex_search(line, match, marks)) {
      for (const std::string& mark : Split(match[1], ',')) {
        (mark == "here" ? current->here : mark == "first" ? current->first : current->second).insert(number);
      }
    }
  }
  return all;
}

std::vector<Declared> AllDeclarations() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(LOCKSTEP_SOURCE_DIR "/harness/tests/observers")) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == ".cu" && path.stem().string().starts_with("checker_pairs_")) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  std::vector<Declared> all;
  for (const auto& path : files) {
    for (Declared& declared : ReadDeclarations(path)) all.push_back(std::move(declared));
  }
  return all;
}

std::string KindOf(const Finding& finding) {
  static constexpr const char* kSpaces[] = {"global", "shared", "local", "constant", "parameter"};
  std::string kind(NameOf(finding.kind));
  if (finding.memory) kind += std::string(", ") + kSpaces[static_cast<int>(finding.memory->space)];
  return kind;
}

class CheckerPairsTest : public ::testing::TestWithParam<Declared> {};

struct Outcome {
  LaunchResult result;
  std::vector<Finding> findings;
  std::vector<uint8_t> memory;  // of all buffers
  LaunchRecord record;
};

// Kernels whose blocks each have buffers of their own: the pointers that they load from their parameter move by kApart
// bytes a block.
constexpr size_t kApart = 4 * kInts;
std::string GiveBlocksTheirOwn(const std::string& ptx) {
  static const std::regex load(R"(ld\.param\.u64\s+(%rd\d+), \[\w+_param_0(?:\+(0|8|16|24|32|64))?\];)");
  return std::regex_replace(ptx, load,
                            "$& { .reg .u32 %own_r; .reg .u64 %own_rd; mov.u32 %own_r, %ctaid.x; mul.wide.u32 %own_rd, "
                            "%own_r, " +
                                std::to_string(kApart) + "; add.u64 $1, $1, %own_rd; }");
}

struct Shape {
  uint32_t blocks;
  bool apart = false;  // each block has its own buffers
  int threads = 1;
};

// Runs the kernel with every checker on.
Outcome RunDeclared(const Declared& declared, const Shape& run) {
  const auto [blocks, apart, threads] = run;
  DeviceOptions options;
  options.checkers = CheckerSet::All();
  options.instruction_budget = 1'000'000;
  options.threads = threads;
  const std::string ptx = ReadPtx(declared.file);
  TestDevice device(apart ? GiveBlocksTheirOwn(ptx) : ptx, options);
  const size_t more = apart ? kApart / 4 * (blocks - 1) : 0;  // elements
  static std::vector<int> ramp(kInts);                        // static, as messages name its address
  for (int k = 0; k < kInts; ++k) ramp[static_cast<size_t>(k)] = k;
  std::vector<int> ramps(kInts + more);
  for (size_t k = 0; k < ramps.size(); ++k) ramps[k] = static_cast<int>(k % kInts);
  const auto pointer = [](uint64_t address) { return reinterpret_cast<int*>(address); };
  Buffers buffers{};
  buffers.in = pointer(device.Make(ramps, "in").address);
  buffers.out = pointer(device.Make(std::vector<int>(kInts + more), "out").address);
  buffers.raw = pointer(device->Allocate(4 * (kInts + more), "raw"));
  buffers.odd = pointer(device.Make(std::vector<int>(5 + more), "odd").address);
  buffers.rows = pointer(device.Make(std::vector<int>(3 * 64 + 60 + more), "rows").address);
  buffers.freed = pointer(device.Make(ramp, "freed").address);
  EXPECT_TRUE(device->Free(reinterpret_cast<uint64_t>(buffers.freed)));
  buffers.host = ramp.data();
  buffers.tickets = reinterpret_cast<unsigned*>(device.Make(std::vector<int>(kInts + more), "tickets").address);
  buffers.n = kInts;
  Outcome outcome;
  outcome.result = device.Launch(declared.kernel,
                                 {{blocks}, {declared.threads}, declared.shared_bytes, declared.cooperative}, buffers);
  outcome.findings = device->findings().findings();
  for (const Device::AllocationInfo& a : device->Allocations()) {
    outcome.memory.resize(outcome.memory.size() + a.bytes);
    EXPECT_TRUE(device->Read(outcome.memory.data() + outcome.memory.size() - a.bytes, a.base, a.bytes));
  }
  if (!device->launches().empty()) outcome.record = device->launches()[0];
  return outcome;
}

std::string TextOf(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += Format(finding) + "\n";
  return text;
}

TEST_P(CheckerPairsTest, FindsWhatIsDeclared) {
  const Declared& declared = GetParam();
  const auto [result, findings, memory, record] = RunDeclared(declared, {declared.blocks});
  const std::string texts = TextOf(findings);
  if (declared.kinds.empty()) {
    EXPECT_EQ(texts, "");
    EXPECT_EQ(result.error, LaunchError::kNone);
    return;
  }
  ASSERT_FALSE(findings.empty());
  for (const std::string& part : declared.says) EXPECT_NE(texts.find(part), std::string::npos) << texts;
  for (const Finding& finding : findings) {
    EXPECT_TRUE(std::count(declared.kinds.begin(), declared.kinds.end(), KindOf(finding))) << KindOf(finding) << "\n"
                                                                                           << texts;
    if (finding.second) {
      EXPECT_TRUE(declared.first.contains(finding.first.line)) << texts;
      EXPECT_TRUE(declared.second.contains(finding.second->line)) << texts;
    } else {
      EXPECT_TRUE(declared.here.contains(finding.first.line)) << texts;
    }
    EXPECT_FALSE(Format(finding).find("hint") == std::string::npos) << texts;
  }
}

// Runs the kernel as declared, with seven times as many blocks on the same buffers, and with these on separate buffers.
TEST_P(CheckerPairsTest, LeavesTheSameWithAnyNumberOfThreads) {  // in turn
  const Declared& declared = GetParam();
  const uint32_t many_blocks = declared.blocks * 7;
  for (const Shape& shape : {Shape{declared.blocks}, Shape{many_blocks}, Shape{many_blocks, true}}) {
    const Outcome one = RunDeclared(declared, shape);
    for (const int threads : {2, 3, 8}) {
      const Outcome many = RunDeclared(declared, {shape.blocks, shape.apart, threads});
      const std::string what = std::to_string(shape.blocks) + " blocks, " + std::to_string(threads) + " threads";
      EXPECT_EQ(TextOf(many.findings), TextOf(one.findings)) << what;
      EXPECT_EQ(many.result.error, one.result.error);
      EXPECT_EQ(many.result.microseconds, one.result.microseconds);
      EXPECT_TRUE(many.memory == one.memory) << what;
      EXPECT_TRUE(many.record.counters == one.record.counters) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CheckerPairsTest, ::testing::ValuesIn(AllDeclarations()),
                         [](const auto& info) { return info.param.kernel; });

TEST(CheckerPairsListTest, ThereAreManyAndBothSorts) {
  const std::vector<Declared> all = AllDeclarations();
  const auto clean = std::count_if(all.begin(), all.end(), [](const Declared& d) { return d.kinds.empty(); });
  EXPECT_GE(all.size(), 100u);
  EXPECT_GE(clean, 50);
  EXPECT_GE(static_cast<int>(all.size()) - clean, 50);
}

// The test above shows something only if many launches run on several threads.
TEST(CheckerPairsListTest, ManyRunOnSeveralThreads) {  // in turn
  int clean = 0, faulty = 0, together = 0;
  for (const Declared& declared : AllDeclarations()) {
    together += RunDeclared(declared, {declared.blocks * 7, false, 2}).record.cpu_threads == 1;
    const Outcome apart = RunDeclared(declared, {declared.blocks * 7, true, 2});
    if (apart.record.cpu_threads == 2) (apart.findings.empty() ? clean : faulty) += 1;
  }
  EXPECT_GE(clean, 20);
  EXPECT_GE(faulty, 20);
  EXPECT_GE(together, 60);
}

}  // namespace checker_pairs_test
}  // namespace lockstep::vgpu
