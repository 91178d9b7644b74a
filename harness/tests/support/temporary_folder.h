// A temporary folder, which is removed with the object.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace lockstep {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = testing::TempDir() + "/lockstep_test.XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("can't make " + path_);
    path_ += "/";
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }  // ends in "/"

 private:
  std::string path_;
};

}  // namespace lockstep
