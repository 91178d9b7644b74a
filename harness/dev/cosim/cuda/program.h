// A random CUDA C++ program is a namespace; a file holds several.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::cosim::cuda {

struct ProgramText {
  std::string text;
  std::string entry;  // in the file's table of programs
  int functions = 0;
};

ProgramText MakeProgram(uint64_t seed);

// A file of the programs of these seeds.
std::string MakeFile(uint64_t first, int count, int* functions = nullptr);

}  // namespace lockstep::cosim::cuda
