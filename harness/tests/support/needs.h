// What a test needs of the machine that runs it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace lockstep {

// Set by .ci/run: there a missing package fails a test instead of skipping it.
inline bool InCi() { return std::getenv("LOCKSTEP_CI") != nullptr; }

}  // namespace lockstep

// Leaves the rest of a test out, or fails it in CI; `text` says what is missing and what to install.
#define LOCKSTEP_SKIP_BUT_IN_CI(text)         \
  do {                                        \
    if (::lockstep::InCi()) FAIL() << (text); \
    GTEST_SKIP() << (text);                   \
  } while (false)
