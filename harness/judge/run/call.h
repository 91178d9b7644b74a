// The outcome of a call of a launcher, and what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/model/api_counts.h"
#include "judge/model/verdict.h"
#include "judge/session/session.h"
#include "vgpu/core/counters.h"
#include "vgpu/core/finding.h"

namespace lockstep::judge {

struct CallReport {
  worker::Outcome outcome = worker::Outcome::kReturned;
  int code = 0;           // exit status or signal
  bool at_start = false;  // it ended before main: in the submission's start-up code
  bool loaded = true;     // at_start: it came as far as its constructors
  // outcome kCouldNotStart: how the process ended.
  worker::Outcome ended_by = worker::Outcome::kCouldNotStart;
  std::string over_budget;  // a sentence where no call was made, as there was no time left
  bool timed_out_before = false;  // over_budget is that the launcher timed out in other tests
  std::string cuda_error;   // name of the error that the call left behind, "" for none
  std::string detail;       // a sentence from below, may be empty
  worker::Stopped stopped;  // worker::CallResult's
  std::string output;       // what was printed to stdout and stderr
  std::vector<vgpu::Finding> findings;
  bool observed = true;  // findings, launches and copies are known: the device is a virtual one
  std::vector<vgpu::LaunchRecord> launches;
  worker::Value value;                                // what the launcher returned
  std::vector<std::vector<uint8_t>> arrays;           // the host arrays among its arguments, as it left them, in order
  std::vector<worker::ApiCall> trace;                 // what the host code asked of the device, in order
  ApiCounts api;                                      // the same, counted
  std::vector<worker::StreamedOperation> operations;  // the same, as operations of streams
  worker::MemoryUse memory;                           // what it and its kernels did to the buffers that it was given
  std::string before_main;            // what the program did on the device before any call, "" for nothing
  uint64_t variable_bytes = 0;        // of the program's __device__ variables
  uint64_t heap_bytes = 0;            // the most that kernels held of malloc() at one time
  std::vector<std::string> refusals;  // requests for what was not given to the call, one sentence each
  double limit_seconds = 0;
  bool endless = false;  // kDeviceTimeout: it was stopped because it made call after call
  double seconds = 0;    // the judge's clock, from the order to the answer, less what the judge itself did meanwhile
};

// More than a result copied back to the host is a computation on the host, where the task is the kernels.
inline constexpr uint64_t kMaxBytesToHost = 64;

// Of all its launches.
inline uint64_t ThreadsOf(const CallReport& report) {
  uint64_t threads = 0;
  for (const vgpu::LaunchRecord& launch : report.launches) threads += launch.grid.Count() * launch.block.Count();
  return threads;
}

// What a message says about the call.
struct CallContext {
  std::string launcher;
  std::string input;                      // "n = 129, all ones"
  std::string source;                     // the student's file
  uint64_t host_bytes = kMaxBytesToHost;  // that the launcher may copy from the device to the host
};

// A problem with a call: the launcher is its place, the input the last line of its evidence.
Problem MakeProblem(Verdict verdict, const CallContext& context, std::vector<vgpu::MessageLine> evidence,
                    HintText hint = {});

// The same of a wrong result, whose first wrong element this is.
inline Problem WrongAt(uint64_t element, const CallContext& context, std::vector<vgpu::MessageLine> evidence,
                       HintText hint) {
  Problem problem = MakeProblem(Verdict::kWrong, context, std::move(evidence), std::move(hint));
  problem.element = element;
  return problem;
}

// Everything wrong with how the call went; whether its result is right is not looked at. After a fault of a kernel,
// errors and exits are its consequences and no problems of their own.
std::vector<Problem> ProblemsOf(const CallReport& report, const CallContext& context);

// For a launcher that did nothing: a stub as it was handed out, unless it has been noted to do something for another
// input. `lack` says what it did not do.
Problem UnfinishedProblem(const CallContext& context, const std::string& lack = "launched no kernel");
void NoteBegun(const std::string& launcher);

}  // namespace lockstep::judge
