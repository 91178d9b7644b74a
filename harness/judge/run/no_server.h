// For workers that send the judge no requests: those on a real GPU use its own runtime, and a control worker has no
// kernels.
#pragma once

#include "judge/session/session.h"

namespace lockstep::judge {

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
