// Texts that people read are compared with files in tests/golden. LOCKSTEP_UPDATE_GOLDEN=1 writes these files anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace lockstep {

inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + "/harness/tests/golden/" + name;
  const char* update = std::getenv("LOCKSTEP_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path) << text << '\n';
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file.good()) << path << " is missing; LOCKSTEP_UPDATE_GOLDEN=1 writes it";
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(golden.str(), text + "\n") << "LOCKSTEP_UPDATE_GOLDEN=1 writes " << path << " anew";
}

}  // namespace lockstep
