// docs/how-to/debug-a-kernel.md shows commands and what they print. This runs them.
//
// Of what is quoted, registers' numbers, rows and instructions' numbers may differ: they are the compiler's. A line of
// "..." stands for any lines, "..." at the begin of a line for any begin.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace debug_page_test {

struct Fenced {
  std::string language;
  std::vector<std::string> lines;
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Fenced> FencedBlocks(const std::string& path) {
  std::ifstream page(path);
  std::vector<Fenced> blocks;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), {}});
    } else if (inside) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

std::string Comparable(const std::string& line) {
  static const std::regex number("^ *[0-9]+  "), reg("%([a-z]+)[0-9]+"), rows("\\[[rc][0-9a-f]+( [rc][0-9a-f]+)*\\]"),
      target("(to|at) [0-9]+"), spaces(" +");
  std::string text = std::regex_replace(line, number, "N ");
  text = std::regex_replace(text, reg, "%$1");
  text = std::regex_replace(text, rows, "[rows]");
  text = std::regex_replace(text, target, "$1 N");
  return std::regex_replace(text, spaces, " ");
}

bool Fits(const std::string& quoted, const std::string& printed) {
  const std::string mine = Comparable(printed);
  if (!quoted.starts_with("...")) return Comparable(quoted) == mine;
  return mine.ends_with(Comparable(quoted.substr(3)));
}

// What of the quoted lines the printed ones lack, in their order; "" when all are there, and nothing between them that
// no "..." stands for.
std::string Missing(const std::vector<std::string>& quoted, const std::vector<std::string>& printed) {
  size_t at = 0;
  bool any = false;
  for (const std::string& line : quoted) {
    if (line == "...") {
      any = true;
      continue;
    }
    while (any && at < printed.size() && !Fits(line, printed[at])) ++at;
    if (at >= printed.size() || !Fits(line, printed[at])) return line;
    ++at;
    any = false;
  }
  return any || at == printed.size() ? "" : "(the end, before: " + printed[at] + ")";
}

class DebugPage : public testing::Test {
 protected:
  void Run(const Fenced& block) const {
    for (size_t at = 0; at < block.lines.size();) {
      const std::string command = block.lines[at];
      ASSERT_TRUE(command.starts_with("$ ")) << command;
      std::vector<std::string> quoted;
      std::string typed;  // at the debugger's prompt
      while (++at < block.lines.size() && !block.lines[at].starts_with("$ ")) {
        quoted.push_back(block.lines[at]);
        if (quoted.back().starts_with("(vgpu) ")) typed += quoted.back().substr(7) + "\n";
      }
      std::ofstream(folder_.path() + "typed") << typed;
      const std::string line = "cd " + folder_.path() + " && { " + Command(command.substr(2)) + "; } 2>&1 < typed";
      const std::vector<std::string> printed = Lines(Execute(line).text);
      EXPECT_EQ(Missing(quoted, printed), "") << command << "\nprints\n" << Joined(printed);
    }
  }

  static std::string Command(const std::string& line) {
    const std::string ours = std::regex_replace(line, std::regex("^vgpu-run "), LOCKSTEP_BUILD_DIR "/bin/vgpu-run ");
    return std::regex_replace(ours, std::regex("^nvcc "), LOCKSTEP_NVCC " ");
  }
  static std::string Joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }
  void Write(const std::string& text) const { std::ofstream(folder_.path() + "sum.cu") << text; }

 private:
  const TemporaryFolder folder_;
};

TEST_F(DebugPage, SaysWhatItsCommandsPrint) {
  ::setenv("LOCKSTEP_COLOR", "never", 1);
  std::string source;
  size_t commands = 0;
  for (const Fenced& block : FencedBlocks(LOCKSTEP_SOURCE_DIR "/docs/how-to/debug-a-kernel.md")) {
    if (block.language == "cuda") {
      source = Joined(block.lines);
    } else if (block.language == "diff") {
      ASSERT_EQ(block.lines.size(), 2u);
      const std::string before = block.lines[0].substr(1), after = block.lines[1].substr(1);
      const size_t place = source.find(before);
      ASSERT_NE(place, std::string::npos);
      source.replace(place, before.size(), after);
    } else if (block.language == "console") {
      ++commands;
      Run(block);
      continue;
    }
    Write(source);
  }
  EXPECT_GE(commands, 4u);
}

TEST(DebugPageTest, ALineThatIsNotPrintedIsMissed) {
  const std::vector<std::string> printed{"a", "   3  x %r1 [r40 c0]", "b"};
  EXPECT_EQ(Missing({"a", " 14  x %r7 [r80]", "b"}, printed), "");
  EXPECT_EQ(Missing({"...", "b"}, printed), "");
  EXPECT_EQ(Missing({"a", "...x %r2 [r0]", "..."}, printed), "");
  EXPECT_EQ(Missing({"a", "..."}, printed), "");
  EXPECT_EQ(Missing({"a", "b"}, printed), "b");
  EXPECT_EQ(Missing({"...", "c"}, printed), "c");
  EXPECT_EQ(Missing({"a"}, printed), "(the end, before: " + printed[1] + ")");
}

}  // namespace debug_page_test
}  // namespace lockstep
