// For tests that compare what a program prints with what it printed on an H100: programs/NAME.cu and NAME.h100.txt.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/needs.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {

class LibraryProgramTest : public testing::Test {
 protected:
  static std::string Folder() { return std::string(LOCKSTEP_BUILD_DIR) + "/lib"; }
  static std::string Programs() { return std::string(LOCKSTEP_SOURCE_DIR) + "/harness/tests/libraries/programs/"; }
  static bool IsBuilt(const std::string& file) { return std::filesystem::exists(Folder() + "/" + file); }

  void Build(const std::string& name, const std::string& libraries) { Build(name, libraries, folder_.path()); }
  void Build(const std::string& name, const std::string& libraries, const std::string& folder) {
    program_ = folder + name;
    const Output output =
        Execute(std::string(LOCKSTEP_NVCC) +
                " -std=c++17 -w -lineinfo -Xcompiler -g1 -cudart shared -gencode arch=compute_80,code=compute_80 " +
                Programs() + name + ".cu -o " + program_ + " -L" + Folder() + " " + libraries + " 2>&1");
    ASSERT_EQ(output.status, 0) << output.text;
  }
  std::string Run(const std::string& flags, const std::string& redirection) const {
    const Output output = Execute(std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run --device=h200 " + flags + program_ +
                                  " " + redirection);
    EXPECT_EQ(output.status, 0) << output.text;
    return output.text;
  }
  // What the program prints, and that no checker finds anything in it: no function touches what its definition does
  // not.
  void ExpectH100s(const std::string& name, const std::string& libraries) {
    ASSERT_NO_FATAL_FAILURE(Build(name, libraries));
    std::ifstream file(Programs() + name + ".h100.txt");
    EXPECT_TRUE(file.good()) << name;
    std::stringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(Run("", "2>/dev/null"), expected.str());
    EXPECT_NE(Run("--check=init,races ", "2>&1 >/dev/null").find("Findings\n  none\n"), std::string::npos);
  }

  const TemporaryFolder folder_;
  std::string program_;
};

}  // namespace lockstep
