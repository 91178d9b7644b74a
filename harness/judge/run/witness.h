// A worker of the harness's own: the library and the launchers' glue, and no submission.
//
// When a submission's worker does not start, or answers as no worker would, the witness is started in the same box at
// that moment. If it does what every worker must do, the box and the harness work, and the submission is at fault; if
// it fails too, the harness is.
#pragma once

#include <map>
#include <span>
#include <string>

#include "judge/session/session.h"

namespace lockstep::judge {

class ControlWorker {
 public:
  // `command` without a worker: there is no witness, and nobody is ever cleared.
  ControlWorker(worker::WorkerCommand command, worker::Limits limits) : command_(std::move(command)), limits_(limits) {}

  // Whether one starts now.
  bool Starts() const;
  // Whether one starts that has this launcher, and takes these arguments. Nothing is called. Asked once a launcher.
  bool CouldCall(const std::string& launcher, std::span<const worker::Argument> arguments);

 private:
  bool Start(worker::WorkerSession& session, worker::CudaServer& server) const;

  worker::WorkerCommand command_;
  worker::Limits limits_;
  std::map<std::string, bool> could_call_;
};

}  // namespace lockstep::judge
