// A shell command, and what it printed.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace lockstep {

struct Output {
  int status = -1;  // -1: it could not be started, or a signal ended it
  std::string text;
};

inline Output Execute(const std::string& command) {
  Output output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> chunk;
  for (size_t got; (got = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) output.text.append(chunk.data(), got);
  const int status = ::pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

}  // namespace lockstep
