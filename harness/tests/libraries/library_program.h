// A program of harness/tests/libraries/programs, linked with stand-ins and run by vgpu-run; NAME.h100.txt is what an
// H100 printed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/recorded.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {

class LibraryProgram {
 public:
  static bool HasLibrary(const std::string& file) { return std::filesystem::exists(kLibraries + "/" + file); }
  // False for a function that is refused.
  static bool HasFunction(const std::string& file, const std::string& function) {
    return Execute("nm -D --defined-only " + kLibraries + "/" + file + " | grep -q ' T " + function + "'").status == 0;
  }
  // libraries: "-lcublas". flags: more for nvcc.
  void Build(const std::string& name, const std::string& libraries, const std::string& flags = "") {
    name_ = name;
    program_ = folder_.path() + std::filesystem::path(name).filename().string();
    const Output output =
        Execute(std::string(LOCKSTEP_NVCC) + " -std=c++17 -w -lineinfo -Xcompiler -g1 -cudart shared " + kLinkerFlags +
                flags + " -gencode arch=compute_80,code=compute_80 " + kPrograms + name + ".cu -o " + program_ + " -L" +
                kLibraries + " " + libraries + " 2>&1");
    ASSERT_EQ(output.status, 0) << output.text;
  }
  const std::string& path() const { return program_; }
  // Returns what the program prints; flags: vgpu-run's.
  std::string Run(const std::string& flags, const std::string& arguments_and_redirection) const {
    const Output output = Execute(kVgpuRun + flags + program_ + " " + arguments_and_redirection);
    EXPECT_EQ(output.status, 0) << output.text;
    return output.text;
  }
  // What a run that may find faults prints, with vgpu-run's messages.
  std::string RunFaulty(const std::string& flags, const std::string& arguments) const {
    return Execute(kVgpuRun + flags + program_ + " " + arguments + " 2>&1").text;
  }
  std::string OnAnH100() const { return ReadRecorded(kPrograms + name_ + ".h100.txt"); }

  // Builds the program. It must print what an H100 printed, and the checkers must find nothing: no function uses memory
  // that its definition doesn't use.
  void ExpectH100s(const std::string& name, const std::string& libraries, const std::string& flags = "") {
    ASSERT_NO_FATAL_FAILURE(Build(name, libraries, flags));
    EXPECT_EQ(Run("", "2>/dev/null"), OnAnH100());
    EXPECT_NE(Run("--check=init,races ", "2>&1 >/dev/null").find("Findings\n  none\n"), std::string::npos);
  }

 private:
  static inline const std::string kLibraries = std::string(LOCKSTEP_BUILD_DIR) + "/lib";
  // Where the libraries are built with sanitizers, vgpu-run brings their runtime.
  static inline const std::string kLinkerFlags =
      std::filesystem::exists(std::string(LOCKSTEP_BUILD_DIR) + "/link_flags.txt") ? "-Xlinker --allow-shlib-undefined "
                                                                                   : "";
  static inline const std::string kPrograms = std::string(LOCKSTEP_SOURCE_DIR) + "/harness/tests/libraries/programs/";
  static inline const std::string kVgpuRun = std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run --device=h200 ";

  const TemporaryFolder folder_;
  std::string name_, program_;
};

}  // namespace lockstep
