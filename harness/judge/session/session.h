// The judge's end of a worker: starts the process, calls its launchers, serves its CUDA requests, and says
// exactly how it ended.
//
// The worker may do anything: it is one process, or a tree of them, that talks over one socket and prints to
// one pipe. The session always reads both, trusts nothing, and never waits without a deadline. The
// deadline covers the worker's own time: the clock stops while the judge runs a kernel for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/session/session_process.h"
#include "protocol/wire_call.h"

namespace lockstep::worker {

// Serves a worker's CUDA requests. DeviceServer (session_device.h) does it on a virtual GPU.
class CudaServer {
 public:
  virtual ~CudaServer() = default;
  // Begins a call with these arguments: its copies may access only these buffers of the judge's.
  virtual void BeginCall(std::span<const Argument> arguments) = 0;
  // Handles a request or a Note. Returns the Reply to a request (with type and flags). Throws WireError for a malformed
  // message; any other exception is a harness failure and propagates from Start or Call.
  virtual Message Serve(const Message& request) = 0;
  // The worker is gone: frees everything it created on the device.
  virtual void EndSession() = 0;
};

enum class Outcome : uint8_t {
  kReturned,
  kExited,          // the program ended by itself; code is its status
  kCrashed,         // killed by a signal, see code
  kTimeout,         // over Limits::call_seconds of its own time
  kDeviceTimeout,   // its kernels took more than Limits::device_seconds of the judge's time
  kClosedSocket,    // closed the connection but is still running
  kFlooded,         // printed more than Limits::output_bytes
  kProtocolError,   // sent an invalid message
  kNoSuchLauncher,  // glue and suite disagree: the harness's failure
  kBadSignature,    // likewise
  kCouldNotStart,   // sent no Started: the harness's failure, unless another worker starts in the same sandbox
};
std::string_view NameOf(Outcome outcome);
bool IsHarnessFailure(Outcome outcome);

struct Limits {
  double call_seconds = 20;
  double device_seconds = 300;
  // Kernels run on this machine's processors: time used by other processes is not counted.
  bool device_is_processor = false;
  uint64_t output_bytes = 1'000'000;
  // Limit of processor time in a call, if the worker is a process without a prefix: host code that computes this long
  // never ends. 0: unlimited.
  double busy_seconds = 0;
};

struct CallResult {
  Outcome outcome = Outcome::kReturned;
  // Only if outcome is kCouldNotStart: how the process ended; the default if there was no process.
  Outcome ended_by = Outcome::kCouldNotStart;
  int code = 0;         // kExited: status; kCrashed: signal
  std::string message;  // a sentence; empty for kReturned
  Value result;         // what the launcher returned
  int cuda_error = 0;   // the error left behind by the launcher, unchecked; 0 = none
  std::string cuda_error_name;
  std::vector<std::vector<uint8_t>> arrays;  // host-array arguments as the launcher left them, in order
  std::string output;                        // output during this call, both streams; raw bytes, not to be interpreted
  Stopped stopped;                           // where its own code was when it ended, according to itself
  double seconds = 0;                        // the worker's own time, without waiting for a processor
  double device_seconds = 0;
  bool busy = false;  // kTimeout: over Limits::busy_seconds
};

class WorkerSession {
 public:
  explicit WorkerSession(WorkerCommand command);
  ~WorkerSession();  // kills the worker; the last server must still exist, or Stop must have been called
  WorkerSession(const WorkerSession&) = delete;
  WorkerSession& operator=(const WorkerSession&) = delete;

  // Starts the worker and waits for its list of launchers; kReturned on success. Its static constructors run meanwhile,
  // so their CUDA calls are served too.
  CallResult Start(const Limits& limits, CudaServer& server);
  // Whether another Call is possible. False after any outcome except kReturned, kNoSuchLauncher, kBadSignature.
  bool alive() const { return alive_; }
  const std::vector<LauncherInfo>& launchers() const { return launchers_; }

  // Calls a launcher and serves the worker until it returns or fails.
  CallResult Call(const std::string& launcher, std::span<const Argument> arguments, const Limits& limits,
                  CudaServer& server);
  // Several calls without device pointers, within one call's limits. Returns each call's result, or a single one if not
  // all returned. Output and time of all are in the first one.
  std::vector<CallResult> CallAll(const std::string& launcher, std::span<const std::vector<Argument>> calls,
                                  const Limits& limits, CudaServer& server);
  // Sends the worker calls that RunBatch will run in sequence. They have no host arrays. This calls no code of the
  // submission, though its threads may be running.
  CallResult Prepare(const std::string& launcher, std::span<const std::vector<Argument>> calls, const Limits& limits,
                     CudaServer& server);
  // Runs the first `calls` of them. result.seconds is by the judge's clock, from request to answer: the calls, and the
  // wait for the device.
  CallResult RunBatch(uint32_t calls, const Limits& limits, CudaServer& server);
  // Stops the worker's processes (SIGSTOP) until the next request.
  void Hold();
  // Ends the worker and its process group, and frees its device resources.
  void Stop();

 private:
  class Conversation;
  std::optional<CallResult> CanNotCall(const std::string& launcher, std::span<const Argument> arguments) const;
  // Sends a message and serves the worker until it answers. array_bytes: size of the host arrays that come back.
  CallResult Converse(std::span<const uint8_t> opening, MessageType awaited, const Limits& limits, CudaServer& server,
                      uint64_t array_bytes, std::vector<uint8_t>& answer);
  CallResult Exchange(std::span<const uint8_t> opening, const Limits& limits, CudaServer& server,
                      uint64_t array_bytes = 0);
  CallResult Finish(CallResult result);

  WorkerCommand command_;
  std::unique_ptr<WorkerProcess> process_;
  std::vector<LauncherInfo> launchers_;
  FrameReader reader_;
  CudaServer* server_ = nullptr;
  bool alive_ = false;
  bool started_ = false;  // the worker's executable was loaded
};

}  // namespace lockstep::worker
