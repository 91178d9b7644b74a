// Single edits of a kernel's PTX, each of which corrects a common mistake: an off-by-one comparison, x instead of y, a
// missing factor.
#pragma once

#include <string>
#include <vector>

namespace lockstep::judge {

struct PtxEdit {
  std::string text;      // the text of a module with the edited kernel
  std::string place;     // "shift.cu:46"
  std::string sentence;  // the mistake that the edit corrects
  int rank = 0;          // plausible ones first
};

// Edits of a kernel in nvcc's PTX with line numbers, at code from the student's file. One edit changes all equal
// instructions with the same source position, as an unrolled loop has; two or three are also changed one at a time.
std::vector<PtxEdit> EditsOf(const std::string& ptx, const std::string& kernel, const std::string& file);

}  // namespace lockstep::judge
