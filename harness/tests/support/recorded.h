// What a GPU printed, NAME.h100.txt: lines side by side, " | " where one ended (harness/dev/side_by_side.py).
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace lockstep {

inline std::string ReadRecorded(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::string text(std::istreambuf_iterator<char>(file), {});
  for (size_t at = 0; (at = text.find(" | ", at)) != std::string::npos;) text.replace(at, 3, "\n");
  return text;
}

}  // namespace lockstep
