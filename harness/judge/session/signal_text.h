// A signal's name and meaning.
#pragma once

#include <string.h>  // sigabbrev_np, of the GNU C library

#include <string>

namespace lockstep::worker {

// "SIGSEGV, "Segmentation fault""
inline std::string SignalText(int signal) {
  const char* name = ::sigabbrev_np(signal);
  const char* meaning = ::sigdescr_np(signal);
  std::string text = name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
  if (meaning != nullptr) text += ", \"" + std::string(meaning) + "\"";
  return text;
}

}  // namespace lockstep::worker
