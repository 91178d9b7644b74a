// A worker's process: starts it with a socket, an output pipe and limits; kills it with all its children.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep::worker {

struct WorkerCommand {
  std::vector<std::string> prefix;       // the sandbox's command, which precedes the worker's
  std::string worker;                    // path of the executable
  std::vector<std::string> environment;  // "NAME=value", besides PATH and LANG; nothing is inherited
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

  // The process's own processor time, without children.
  double ProcessorSeconds() const;
  // How the process ended by itself; empty while it runs, or if Kill ended it.
  std::optional<ExitStatus> Status();
  // Stops the process and all its children (SIGSTOP), or continues them. No effect if it has ended. Throws StartError
  // if a process can't be stopped.
  void Hold();
  void Release();
  // Makes the worker report its location, by a signal that ends it: it sends Stopped.
  void RequestLocation();
  // Kills the process, its group and all its children (except orphans in another session, which a sandbox ends), and
  // reaps the process. Descriptors stay open, to be drained.
  void Kill();

 private:
  bool StopAll();  // whether each could be stopped; held_ lists them
  pid_t pid_ = -1;
  int socket_ = -1, output_ = -1, pidfd_ = -1;
  bool has_prefix_ = false;
  std::optional<ExitStatus> status_;
  std::vector<pid_t> held_;
};

}  // namespace lockstep::worker
