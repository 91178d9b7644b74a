// The project's own sources, for tests that hold what they say.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::tests {

// The text of every .cc, .h and .py below a folder of the repository, but for those whose path holds one of `without`.
inline std::string SourcesBelow(const std::string& folder, const std::vector<std::string_view>& without = {}) {
  std::ostringstream all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LOCKSTEP_SOURCE_DIR "/" + folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".cc") && !path.ends_with(".h") && !path.ends_with(".py")) continue;
    if (std::any_of(without.begin(), without.end(), [&](auto part) { return path.find(part) != std::string::npos; })) {
      continue;
    }
    all << std::ifstream(path).rdbuf();
  }
  return all.str();
}

}  // namespace lockstep::tests
