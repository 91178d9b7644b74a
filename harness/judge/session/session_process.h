// A worker's process: start it with one socket, one output pipe and limits; kill it with all it started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep::worker {

struct WorkerCommand {
  std::vector<std::string> prefix;       // the sandbox's command, put before the worker's
  std::string worker;                    // path of the executable
  std::vector<std::string> environment;  // "NAME=value", beside PATH and LANG; nothing is inherited
  uint64_t file_bytes = uint64_t{16} << 20;
  uint64_t open_files = 1024;
};

struct ExitStatus {
  bool by_signal = false;
  int code = 0;  // exit status, or signal
};

class StartError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class WorkerProcess {
 public:
  // Throws StartError when the program could not be executed.
  explicit WorkerProcess(const WorkerCommand& command);
  ~WorkerProcess();  // kills
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int socket() const { return socket_; }
  int output() const { return output_; }     // standard output and error, in the order they were written
  int exit_event() const { return pidfd_; }  // readable once the process has ended
  bool has_prefix() const { return has_prefix_; }

  // Processor time that the process has had; what it started is not in it.
  double ProcessorSeconds() const;
  // How the process ended, by itself; nothing while it runs, or when Kill ended it.
  std::optional<ExitStatus> Status();
  // Stops the process and all that it started, as they stand, and lets them run again. Nothing where it has ended.
  // Throws StartError where a process can't be stopped.
  void Hold();
  void Release();
  // Asks what the worker is doing, by a signal that ends it: it sends Stopped.
  void RequestLocation();
  // Kills the process, its group and all that it started (except what has lost its parent and is in another session:
  // a sandbox ends that), and collects the process. Descriptors stay open, to be drained.
  void Kill();

 private:
  bool StopAll();  // whether each could be stopped; held_ has them
  pid_t pid_ = -1;
  int socket_ = -1, output_ = -1, pidfd_ = -1;
  bool has_prefix_ = false;
  std::optional<ExitStatus> status_;
  std::vector<pid_t> held_;
};

}  // namespace lockstep::worker
