// The project's own sources and pages, for tests that compare what they say.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::tests {

// A file's text; empty where it can't be read.
inline std::string ReadText(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Names as a page lists them, in lines of up to 158 columns.
inline std::string ListOf(const std::set<std::string>& names) {
  std::string text, line;
  for (const std::string& name : names) {
    const std::string item = "`" + name + "`";
    if (line.size() + item.size() > 156) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + item;
  }
  return text + line + "\n";
}

// "CUDA 13.0": the toolkit of this build.
inline std::string ToolkitVersion() {
  const std::string refused = ReadText(LOCKSTEP_BUILD_DIR "/generated/refused_functions.inc");
  const int version = std::atoi(refused.substr(refused.find("// ") + 3, 6).c_str());
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// The text of every .cc, .h and .py file below a folder of the repository, except paths that contain one of `without`.
inline std::string SourcesBelow(const std::string& folder, const std::vector<std::string_view>& without = {}) {
  std::ostringstream all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LOCKSTEP_SOURCE_DIR "/" + folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".cc") && !path.ends_with(".h") && !path.ends_with(".py")) continue;
    if (std::any_of(without.begin(), without.end(), [&](auto part) { return path.find(part) != std::string::npos; })) {
      continue;
    }
    all << ReadText(path);
  }
  return all.str();
}

}  // namespace lockstep::tests
