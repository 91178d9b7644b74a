// Programs compiled for the virtual GPU.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/shell.h"

namespace lockstep {

// flags: more for nvcc.
inline void CompileProgram(const std::string& source, const std::string& program, const std::string& flags = "") {
  const Output built = Execute(std::string(LOCKSTEP_NVCC) +
                               " -std=c++17 -lineinfo -cudart shared -gencode arch=compute_80,code=compute_80 " +
                               flags + " " + source + " -o " + program + " 2>&1");
  ASSERT_EQ(built.status, 0) << built.text;
}

}  // namespace lockstep
