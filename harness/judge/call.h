// What a call of a launcher came to, and what is wrong about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/verdict.h"
#include "vgpu/counters.h"
#include "vgpu/finding.h"
#include "worker/session.h"

namespace lockstep::judge {

struct CallReport {
  worker::Outcome outcome = worker::Outcome::kReturned;
  int code = 0;            // exit status or signal
  bool at_start = false;   // it ended before main: in the submission's start-up code
  std::string cuda_error;  // name of the error that the call left behind, "" for none
  std::string detail;      // a sentence from below, may be empty
  std::string output;      // what was printed to stdout and stderr
  std::vector<vgpu::Finding> findings;
  bool observed = true;  // findings, launches and copies are known: the device is a virtual one
  std::vector<vgpu::LaunchRecord> launches;
  uint64_t bytes_to_host = 0;         // copied from the device by the host code
  std::vector<std::string> refusals;  // requests for what was not given to the call, one sentence each
  double limit_seconds = 0;
};

// What a message says about the call.
struct CallContext {
  std::string launcher;
  std::string input;   // "n = 129, all ones"
  std::string source;  // the student's file
};

// Everything wrong with how the call went; whether its result is right is not looked at. After a fault of a kernel,
// errors and exits are its consequences and no problems of their own.
std::vector<Problem> ProblemsOf(const CallReport& report, const CallContext& context);

// For a launcher that launched nothing and wrote nothing: a stub as it was handed out.
Problem UnfinishedProblem(const CallContext& context);

// More than a result copied back to the host is a computation on the host.
inline constexpr uint64_t kMaxBytesToHost = 64;

}  // namespace lockstep::judge
