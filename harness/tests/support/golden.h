// Texts that people read are compared with files in tests/golden. LOCKSTEP_UPDATE_GOLDEN=1 writes these files anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/source_files.h"

namespace lockstep {

// Rows of a generated table, each ended by a line break, side by side in lines of up to 400 columns.
inline std::string SideBySide(const std::string& rows) {
  constexpr size_t kColumns = 400;
  std::istringstream lines(rows);
  std::string text, line;
  for (std::string row; std::getline(lines, row);) {
    row.erase(0, row.find_first_not_of(' '));
    if (!line.empty() && line.size() + 1 + row.size() > kColumns) text += std::exchange(line, "") + "\n";
    line += (line.empty() ? "" : " ") + row;
  }
  return text + line + "\n";
}

// `path` is relative to the project's root.
inline void ExpectFile(const std::string& path, const std::string& text) {
  const std::string full_path = std::string(LOCKSTEP_SOURCE_DIR) + "/" + path;
  const char* update = std::getenv("LOCKSTEP_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(full_path) << text << '\n';
    return;
  }
  EXPECT_EQ(tests::ReadText(full_path), text + "\n") << "LOCKSTEP_UPDATE_GOLDEN=1 writes " << full_path << " anew";
}

inline void ExpectGolden(const std::string& name, const std::string& text) {
  ExpectFile("harness/tests/golden/" + name, text);
}

}  // namespace lockstep
