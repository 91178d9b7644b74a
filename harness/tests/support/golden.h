// Texts that people read are compared with files in tests/golden. LOCKSTEP_UPDATE_GOLDEN=1 writes these files anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace lockstep {

// `path` is relative to the project's root.
inline void ExpectFile(const std::string& path, const std::string& text) {
  const std::string full_path = std::string(LOCKSTEP_SOURCE_DIR) + "/" + path;
  const char* update = std::getenv("LOCKSTEP_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(full_path) << text << '\n';
    return;
  }
  std::ifstream file(full_path);
  ASSERT_TRUE(file.good()) << full_path << " is missing; LOCKSTEP_UPDATE_GOLDEN=1 writes it";
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(golden.str(), text + "\n") << "LOCKSTEP_UPDATE_GOLDEN=1 writes " << full_path << " anew";
}

inline void ExpectGolden(const std::string& name, const std::string& text) {
  ExpectFile("harness/tests/golden/" + name, text);
}

}  // namespace lockstep
