// Single edits of a kernel's PTX, each of which undoes a mistake that students make: a comparison that is off by one, x
// in place of y, a factor that is missing.
#pragma once

#include <string>
#include <vector>

namespace lockstep::judge {

struct PtxEdit {
  std::string text;      // of a module that holds the edited kernel
  std::string place;     // "shift.cu:46"
  std::string sentence;  // what is off there, and with what the kernel does something else
  int rank = 0;          // plausible ones first
};

// Of a kernel in nvcc's PTX with line numbers, where its code is in the student's file. One edit changes all
// instructions that came from the same place of a line: an unrolled loop has several.
std::vector<PtxEdit> EditsOf(const std::string& ptx, const std::string& kernel, const std::string& file);

}  // namespace lockstep::judge
