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
  // A call with these arguments begins: the only buffers of the judge's that its copies may touch.
  virtual void BeginCall(std::span<const Argument> arguments) = 0;
  // A request or a Note. Returns the Reply to a request (its type and flags included). Throws WireError when the
  // message makes no sense; any other exception is a failure of the harness and leaves Start or Call.
  virtual Message Serve(const Message& request) = 0;
  // The worker is gone: everything it made on the device goes too.
  virtual void EndSession() = 0;
};

enum class Outcome : uint8_t {
  kReturned,
  kExited,          // the program ended itself; code says with what
  kCrashed,         // killed by a signal; code says which
  kTimeout,         // over Limits::call_seconds of its own time
  kDeviceTimeout,   // its kernels took more than Limits::device_seconds of the judge's time
  kClosedSocket,    // closed the connection and lives on
  kFlooded,         // printed more than Limits::output_bytes
  kProtocolError,   // sent something that is no message
  kNoSuchLauncher,  // glue and suite disagree: the harness's failure
  kBadSignature,    // likewise
  kCouldNotStart,   // no greeting came: the harness's failure, unless another worker starts in the same box
};
std::string_view NameOf(Outcome outcome);
bool IsHarnessFailure(Outcome outcome);

struct Limits {
  double call_seconds = 20;
  double device_seconds = 300;
  // Kernels run on this machine's processors: what others had of these does not count as theirs.
  bool device_is_processor = false;
  uint64_t output_bytes = 1'000'000;
  // Of processor time in a call, where the worker is a process of its own without a prefix: host code that computes for
  // so long never ends. 0: nobody looks.
  double busy_seconds = 0;
};

struct CallResult {
  Outcome outcome = Outcome::kReturned;
  // kCouldNotStart: how the process ended; the same again where it could not be executed.
  Outcome ended_by = Outcome::kCouldNotStart;
  int code = 0;         // kExited: status; kCrashed: signal
  std::string message;  // a sentence; empty when it returned
  Value result;         // what the launcher returned
  int cuda_error = 0;   // left behind by the launcher, unchecked; 0 = none
  std::string cuda_error_name;
  std::vector<std::vector<uint8_t>> arrays;  // host-array arguments as the launcher left them, in order
  std::string output;  // what it printed during this call, both streams; raw bytes, not to be interpreted
  Stopped stopped;     // where its own code was when it ended, in its own words
  double seconds = 0;  // of the worker's own time, without what the judge waited for a processor
  double device_seconds = 0;
  bool busy = false;  // kTimeout: over Limits::busy_seconds
};

class WorkerSession {
 public:
  explicit WorkerSession(WorkerCommand command);
  ~WorkerSession();  // kills the worker; the server it used last must still live, or Stop must have been called
  WorkerSession(const WorkerSession&) = delete;
  WorkerSession& operator=(const WorkerSession&) = delete;

  // Starts the worker and waits until it says which launchers it has; kReturned when it has. Its static
  // constructors run meanwhile, so their CUDA calls are served too.
  CallResult Start(const Limits& limits, CudaServer& server);
  // Whether another Call can be made. False after any outcome but kReturned, kNoSuchLauncher, kBadSignature.
  bool alive() const { return alive_; }
  const std::vector<LauncherInfo>& launchers() const { return launchers_; }

  // Calls a launcher and serves the worker until it returns, or until something else is certain.
  CallResult Call(const std::string& launcher, std::span<const Argument> arguments, const Limits& limits,
                  CudaServer& server);
  // The same of several calls, which have no pointers to device memory, within one call's limits. Each call's result;
  // or one, where something else than that they all returned is certain. What they printed, and the time that they
  // took, is the first one's.
  std::vector<CallResult> CallAll(const std::string& launcher, std::span<const std::vector<Argument>> calls,
                                  const Limits& limits, CudaServer& server);
  // Tells the worker of calls that RunBatch then makes, one after the other. They take no host arrays. No code of the
  // submission's is called, though it may run, for it may have threads.
  CallResult Prepare(const std::string& launcher, std::span<const std::vector<Argument>> calls, const Limits& limits,
                     CudaServer& server);
  // Makes the first so many of them. result.seconds is the judge's clock, from the order to the answer: the calls, and
  // the wait for the device.
  CallResult RunBatch(uint32_t calls, const Limits& limits, CudaServer& server);
  // Stops the worker's processes as they stand, until there is something to be done again.
  void Hold();
  // Ends the worker, its process group, and what it holds on the device.
  void Stop();

 private:
  class Conversation;
  std::optional<CallResult> CanNotCall(const std::string& launcher, std::span<const Argument> arguments) const;
  // Sends a message and serves the worker until it answers. array_bytes: of host arrays, that come back.
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
