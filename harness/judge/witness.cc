#include "judge/witness.h"

#include <vector>

#include "judge/no_server.h"

namespace lockstep::judge {

bool Witness::Starts() const {
  if (command_.worker.empty()) return false;
  NoServer server;
  worker::WorkerSession session(command_);
  return session.Start(limits_, server).outcome == worker::Outcome::kReturned;
}

bool Witness::CouldCall(const std::string& launcher, std::span<const worker::Argument> arguments) {
  if (command_.worker.empty()) return false;
  const auto known = could_call_.find(launcher);
  if (known != could_call_.end()) return known->second;
  NoServer server;
  worker::WorkerSession session(command_);
  bool could = session.Start(limits_, server).outcome == worker::Outcome::kReturned;
  if (could) {
    const std::vector<worker::Argument> call(arguments.begin(), arguments.end());
    could = session.Prepare(launcher, {&call, 1}, limits_, server).outcome == worker::Outcome::kReturned;
  }
  session.Stop();
  return could_call_[launcher] = could;
}

}  // namespace lockstep::judge
