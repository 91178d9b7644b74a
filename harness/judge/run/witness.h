// A control worker: the library and the launchers' glue without a submission.
//
// When a submission's worker does not start, or gives an invalid answer, the control worker is started in the same
// sandbox at that moment. If it works, so do the sandbox and the harness, and the submission is at fault; if it fails
// too, the harness is.
#pragma once

#include <map>
#include <span>
#include <string>

#include "judge/session/session.h"

namespace lockstep::judge {

class ControlWorker {
 public:
  // `command` without a worker: there is no control worker, and the submission is never found at fault.
  ControlWorker(worker::WorkerCommand command, worker::Limits limits) : command_(std::move(command)), limits_(limits) {}

  // Whether a control worker starts now.
  bool Starts() const;
  // Whether a control worker starts that has this launcher and accepts these arguments. Nothing is called. Checked once
  // per launcher.
  bool CouldCall(const std::string& launcher, std::span<const worker::Argument> arguments);

 private:
  bool Start(worker::WorkerSession& session, worker::CudaServer& server) const;

  worker::WorkerCommand command_;
  worker::Limits limits_;
  std::map<std::string, bool> could_call_;
};

// For workers that send the judge no requests: those on a real GPU use its own runtime, and a control worker has no
// kernels.
class NoServer : public worker::CudaServer {
 public:
  void BeginCall(std::span<const worker::Argument>) override {}
  worker::Message Serve(const worker::Message& request) override {
    if (request.type == worker::MessageType::kNote) return {};
    throw worker::WireError("a worker that has no virtual GPU asked for it");
  }
  void EndSession() override {}
};

}  // namespace lockstep::judge
