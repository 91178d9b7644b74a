// The outcome of a launcher call, and its problems.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "judge/model/api_counts.h"
#include "judge/model/verdict.h"
#include "judge/session/session.h"
#include "vgpu/core/counters.h"
#include "vgpu/core/finding.h"

namespace lockstep::vgpu {
struct PageData;  // vgpu/device/page_data.h
}

namespace lockstep::judge {

struct CallReport {
  std::shared_ptr<const vgpu::PageData> page;  // where one was asked for
  worker::Outcome outcome = worker::Outcome::kReturned;
  int code = 0;           // exit status or signal
  bool at_start = false;  // it ended before main, in the submission's start-up code
  bool loaded = true;     // at_start: it reached its constructors
  // Only if outcome is kCouldNotStart: how the process ended; the default if there was no process.
  worker::Outcome ended_by = worker::Outcome::kCouldNotStart;
  std::string not_called;  // why no call was made: no time is left, or earlier calls timed out; "" if one was
  Hint not_called_hint{};
  std::string cuda_error;   // name of the error that the call left behind, "" for none
  std::string detail;       // worker::CallResult's message, may be empty
  worker::Stopped stopped;  // worker::CallResult's
  std::string output;       // what was printed to stdout and stderr
  std::vector<vgpu::Finding> findings;
  bool observed = true;  // findings, launches and copies are known: the device is virtual
  std::vector<vgpu::LaunchRecord> launches;
  worker::Value value;                                // what the launcher returned
  std::vector<std::vector<uint8_t>> arrays;           // the host arrays among its arguments, as it left them, in order
  std::vector<worker::ApiCall> trace;                 // requests of the host code to the device, in order
  ApiCounts api;                                      // counts of the requests in `trace`
  std::vector<worker::StreamedOperation> operations;  // the requests as operations of streams
  worker::MemoryUse memory;                           // what the call and its kernels did to the buffers passed to it
  std::string before_main;                            // device work of the program before any call, "" for none
  uint64_t variable_bytes = 0;                        // of the program's __device__ variables
  uint64_t held_bytes = 0;                            // of device memory that the program allocated before the call
  uint64_t heap_bytes = 0;                            // the most memory kernels held from malloc() at any time
  std::vector<std::string> refusals;                  // uses of memory not passed to the call, and exceeded limits
  double limit_seconds = 0;
  bool endless = false;  // kDeviceTimeout: stopped because it made CUDA calls without end
  double seconds = 0;    // by the judge's clock, from request to answer, minus the judge's own work in between
};

// Copying more than a result back to the host amounts to computing on the host, in tasks about kernels.
inline constexpr uint64_t kMaxBytesToHost = 64;

// The total over all its launches.
inline uint64_t ThreadsOf(const CallReport& report) {
  uint64_t threads = 0;
  for (const vgpu::LaunchRecord& launch : report.launches) threads += launch.grid.Count() * launch.block.Count();
  return threads;
}

// Facts about the call for messages.
struct CallContext {
  std::string launcher;
  std::string input;                      // "n = 129, all ones"
  std::string source;                     // the student's file
  uint64_t host_bytes = kMaxBytesToHost;  // how much the launcher may copy from the device to the host
};

// A problem with a call: its place is the launcher, the last line of its evidence the input.
Problem MakeProblem(Verdict verdict, const CallContext& context, std::vector<vgpu::MessageLine> evidence,
                    HintText hint = {});

// The same for a wrong result whose first wrong element this is.
inline Problem WrongAt(uint64_t element, const CallContext& context, std::vector<vgpu::MessageLine> evidence,
                       HintText hint) {
  Problem problem = MakeProblem(Verdict::kWrong, context, std::move(evidence), std::move(hint));
  problem.element = element;
  return problem;
}

// All problems of how the call ran, without checking its result. After a fault of a kernel, errors and exits are its
// consequences, not separate problems.
std::vector<Problem> ProblemsOf(const CallReport& report, const CallContext& context);

// For a launcher that did nothing: an unchanged stub, unless it did something for another input. `lack` says what it
// did not do.
Problem UnfinishedProblem(const CallContext& context, const std::string& lack = "launched no kernel");
void NoteBegun(const std::string& launcher);

}  // namespace lockstep::judge
