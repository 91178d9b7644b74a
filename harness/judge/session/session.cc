#include "judge/session/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "judge/session/processor_time.h"
#include "judge/session/signal_text.h"

namespace lockstep::worker {

namespace {

// How long a worker that closed its socket may take to end before it counts as still running.
constexpr double kGraceSeconds = 3.0;
// How long a worker over its time limit has to report its location.
constexpr double kPlaceSeconds = 1.0;
// The interval for checking a worker's processor time.
constexpr double kLookSeconds = 0.1;
// kMaxReads reads are more than a socket buffer can hold of an ended process's messages.
constexpr uint64_t kReadBytes = uint64_t{1} << 18;
constexpr int kMaxReads = 64;
// A Returned message without its arrays: a value, and the name of an error.
constexpr uint64_t kReturnedBytes = uint64_t{64} << 10;

bool IsRequest(MessageType type) { return type >= MessageType::kLoadModule; }
// Messages to a CUDA server that get no answer.
bool IsTold(MessageType type) { return type >= MessageType::kNote && type < MessageType::kLoadModule; }

constexpr char kClosedSocketText[] = "the program closed its connection to the judge";

// A sandbox reports its program's death by a signal as this status plus the signal.
constexpr int kSignalStatusBase = 128;

CallResult Ended(const ExitStatus& status, bool has_prefix) {
  CallResult result;
  result.code = status.code;
  const bool reported = has_prefix && !status.by_signal && status.code > kSignalStatusBase && status.code < 128 + 65;
  if (reported) result.code -= kSignalStatusBase;
  if (status.by_signal || reported) {
    result.outcome = Outcome::kCrashed;
    result.message = "the program was ended by " + SignalText(result.code);
  } else {
    result.outcome = Outcome::kExited;
    result.message = "the program exited with status " + std::to_string(result.code);
  }
  return result;
}

CallResult Failure(Outcome outcome, std::string message) {
  CallResult result;
  result.outcome = outcome;
  result.message = std::move(message);
  return result;
}

}  // namespace

std::string_view NameOf(Outcome outcome) {
  static constexpr std::
      string_view kNames[] = {"returned",         "exited",        "crashed",        "timeout",
                              "device timeout",   "closed socket", "flooded",        "protocol error",
                              "no such launcher", "bad signature", "could not start"};  // in the enumeration's order
  return kNames[static_cast<size_t>(outcome)];
}

bool IsHarnessFailure(Outcome outcome) {
  return outcome == Outcome::kNoSuchLauncher || outcome == Outcome::kBadSignature || outcome == Outcome::kCouldNotStart;
}

// One exchange: from a Call (or the start) to the message that ends it, or to whatever prevents that.
class WorkerSession::Conversation {
 public:
  Conversation(WorkerSession& session, const Limits& limits, CudaServer& server, MessageType awaited)
      : session_(session), process_(*session.process_), limits_(limits), server_(server), awaited_(awaited) {}

  // The payload of the awaited message is in payload() when the outcome is kReturned.
  CallResult Run(std::span<const uint8_t> opening) {
    CallResult result;
    try {
      std::optional<CallResult> failure = SendAll(opening);
      while (!failure && !done_) failure = Step();
      if (failure) result = std::move(*failure);
    } catch (const WireError& error) {
      result = Failure(Outcome::kProtocolError,
                       std::string("the program wrote to the judge's connection itself: ") + error.what());
    }
    if (result.outcome == Outcome::kTimeout) AwaitPlace();
    if (result.outcome != Outcome::kReturned) process_.Kill();
    if (auto flood = DrainOutput(); flood && result.outcome == Outcome::kReturned) {
      result = std::move(*flood);
      process_.Kill();
    }
    if (result.outcome != Outcome::kReturned) result.stopped = std::move(stopped_);
    result.output = std::move(output_);
    result.seconds = WorkerSeconds();
    result.device_seconds = device_seconds_;
    return result;
  }
  const std::vector<uint8_t>& payload() const { return awaited_message_.payload; }

 private:
  double WorkerSeconds() const { return RunningClock::Seconds() - begin_ - serving_seconds_; }

  // The worker's remaining time. Time that the judge waited for a processor is subtracted only when it matters:
  // computing it takes longer than a short call.
  double SecondsLeft() const {
    const double at_least = limits_.call_seconds - (WallSeconds() - wall_begin_ - serving_wall_seconds_);
    return at_least > 0 ? at_least : limits_.call_seconds - WorkerSeconds();
  }

  // Handles received messages, then waits for more.
  std::optional<CallResult> Step() {
    Message message;
    while (!done_ && session_.reader_.Next(&message)) {
      if (auto failure = Handle(message)) return failure;
      if (SecondsLeft() < 0) return TimedOut();
    }
    if (done_) return std::nullopt;
    if (socket_closed_) return AwaitEnd();
    return Wait(POLLIN);
  }

  // Waits until the socket is ready; reads some of its data, and all of the output. While a message is being sent
  // nothing is read, so that a worker that only sends can't fill the judge's memory.
  std::optional<CallResult> Wait(short socket_events) {
    const double left = SecondsLeft();
    if (left <= 0) return TimedOut();
    pollfd polled[3] = {
        {process_.socket(), socket_events, 0}, {process_.output(), POLLIN, 0}, {process_.exit_event(), POLLIN, 0}};
    if (output_closed_) polled[1].fd = -1;
    if (socket_closed_) polled[0].fd = -1;
    const double most = looks_at_processor_ ? kLookSeconds : 3600.0;
    const int timeout = static_cast<int>(std::min(left, most) * 1000) + 1;
    const int ready = ::poll(polled, 3, timeout);
    if (ready < 0 && errno != EINTR) throw std::runtime_error(std::string("poll: ") + std::strerror(errno));
    if (ready == 0 && looks_at_processor_ && process_.ProcessorSeconds() - processor_begin_ > limits_.busy_seconds) {
      CallResult result = TimedOut();
      result.busy = true;
      return result;
    }
    if (polled[1].revents != 0) {
      if (auto flood = DrainOutput()) return flood;
    }
    // Messages sent before the process ended are still in the socket, so read those first.
    const bool ended = polled[2].revents != 0;
    if ((polled[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 || ended) ReadSocket(ended);
    return std::nullopt;
  }

  void ReadSocket(bool ended) {
    if (buffer_.empty()) buffer_.resize(kReadBytes);
    for (int reads = 0; !socket_closed_; ++reads) {
      if (reads == kMaxReads) {
        socket_closed_ = true;  // the worker has ended: any further sender is its child
        return;
      }
      const ssize_t got = ::recv(process_.socket(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (got > 0) {
        session_.reader_.Feed({buffer_.data(), static_cast<size_t>(got)});
        if (!ended) return;
      } else if (got < 0 && errno == EINTR) {
        continue;
      } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        // A child that outlives the worker may hold the socket open; it can't speak for the worker.
        socket_closed_ = ended;
        return;
      } else {
        socket_closed_ = true;
      }
    }
  }

  // Collects the program's output; too much is a failure.
  std::optional<CallResult> DrainOutput() {
    char chunk[1 << 14];
    while (!output_closed_) {
      const ssize_t got = ::read(process_.output(), chunk, sizeof chunk);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      if (got <= 0) {
        output_closed_ = true;
        break;
      }
      const uint64_t room = limits_.output_bytes - std::min<uint64_t>(limits_.output_bytes, output_.size());
      output_.append(chunk, std::min<uint64_t>(room, static_cast<uint64_t>(got)));
      if (static_cast<uint64_t>(got) > room) {
        return Failure(Outcome::kFlooded,
                       "the program printed more than " + std::to_string(limits_.output_bytes) + " bytes");
      }
    }
    return std::nullopt;
  }

  std::optional<CallResult> AwaitEnd() {
    const double begin = WallSeconds();
    while (!process_.Status()) {
      if (auto flood = DrainOutput()) return flood;
      if (WallSeconds() - begin > kGraceSeconds) {
        return Failure(Outcome::kClosedSocket, kClosedSocketText);
      }
      pollfd polled{process_.exit_event(), POLLIN, 0};
      ::poll(&polled, 1, 50);
    }
    const ExitStatus status = *process_.Status();
    if (!status.by_signal && status.code == kConnectionLostStatus) {
      return Failure(Outcome::kClosedSocket, kClosedSocketText);
    }
    return Ended(status, process_.has_prefix());
  }

  // Gives the worker a moment to report its location.
  void AwaitPlace() {
    const double begin = WallSeconds();
    process_.RequestLocation();
    while (!process_.Status() && WallSeconds() - begin < kPlaceSeconds && !DrainOutput()) {
      pollfd polled{process_.exit_event(), POLLIN, 0};
      ::poll(&polled, 1, 20);
      ReadPlace();
    }
  }

  // All its other messages are too late.
  void ReadPlace() {
    try {
      ReadSocket(false);
      for (Message message; session_.reader_.Next(&message);) {
        if (message.type == MessageType::kStopped) stopped_ = DecodeStopped(message.payload);
      }
    } catch (const WireError&) {
      return;  // truncated: there is no location
    }
  }

  CallResult TimedOut() const {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", limits_.call_seconds);
    return Failure(Outcome::kTimeout, "the program did not come back within " + std::string(seconds) + " s");
  }

  std::optional<CallResult> Handle(const Message& message) {
    // Started comes first and only once: whoever sends something before it, or another one, is not the main program.
    if (session_.started_ == (message.type == MessageType::kStarted)) {
      throw WireError(std::string(NameOf(message.type)) + (session_.started_ ? " again" : " before Started"));
    }
    if (message.type == awaited_) {
      awaited_message_ = message;
      done_ = true;
      return std::nullopt;
    }
    if (message.type == MessageType::kStarted) {
      session_.started_ = true;
      return std::nullopt;
    }
    if (message.type == MessageType::kStopped) {
      stopped_ = DecodeStopped(message.payload);
      return std::nullopt;
    }
    if (!IsRequest(message.type) && !IsTold(message.type)) {
      throw WireError("unexpected " + std::string(NameOf(message.type)));
    }
    if (!IsRequest(message.type)) {
      server_.Serve(message);
      return std::nullopt;
    }
    const double begin = RunningClock::Seconds(), wall_begin = WallSeconds(), processor = ProcessorSeconds();
    const Message reply = server_.Serve(message);
    const double seconds = RunningClock::Seconds() - begin;
    serving_seconds_ += seconds;
    serving_wall_seconds_ += WallSeconds() - wall_begin;
    device_seconds_ += limits_.device_is_processor ? std::min(seconds, ProcessorSeconds() - processor) : seconds;
    if (device_seconds_ > limits_.device_seconds) {
      return Failure(Outcome::kDeviceTimeout, "the program's kernels and copies took too long");
    }
    return SendAll(Frame(reply.type, reply.flags, reply.payload));
  }

  std::optional<CallResult> SendAll(std::span<const uint8_t> bytes) {
    while (!bytes.empty() && !socket_closed_) {
      const ssize_t sent = ::send(process_.socket(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes = bytes.subspan(static_cast<size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (auto failure = Wait(POLLOUT)) return failure;
      } else if (errno != EINTR) {
        // It ended or is ending; remaining messages are in the socket.
        ReadSocket(true);
        socket_closed_ = true;
      }
    }
    return std::nullopt;
  }

  WorkerSession& session_;
  WorkerProcess& process_;
  const Limits limits_;
  CudaServer& server_;
  const MessageType awaited_;
  const double begin_ = RunningClock::Seconds(), wall_begin_ = WallSeconds();
  const bool looks_at_processor_ = limits_.busy_seconds > 0 && !process_.has_prefix();
  const double processor_begin_ = looks_at_processor_ ? process_.ProcessorSeconds() : 0;
  double serving_seconds_ = 0, serving_wall_seconds_ = 0;
  double device_seconds_ = 0;
  bool done_ = false, socket_closed_ = false, output_closed_ = false;
  Message awaited_message_;
  Stopped stopped_;
  std::string output_;
  std::vector<uint8_t> buffer_;
};

WorkerSession::WorkerSession(WorkerCommand command) : command_(std::move(command)) {}

WorkerSession::~WorkerSession() { Stop(); }

void WorkerSession::Stop() {
  alive_ = false;
  process_.reset();
  if (server_ != nullptr) server_->EndSession();
  server_ = nullptr;
}

CallResult WorkerSession::Finish(CallResult result) {
  if (result.outcome != Outcome::kReturned) Stop();
  return result;
}

CallResult WorkerSession::Start(const Limits& limits, CudaServer& server) {
  Stop();
  reader_ = FrameReader();
  started_ = false;
  try {
    process_ = std::make_unique<WorkerProcess>(command_);
  } catch (const StartError& error) {
    return Failure(Outcome::kCouldNotStart, error.what());
  }
  server_ = &server;
  server.BeginCall({});
  Conversation conversation(*this, limits, server, MessageType::kHello);
  CallResult result = conversation.Run({});
  if (!started_ && result.outcome != Outcome::kReturned && result.outcome != Outcome::kProtocolError) {
    // The sandbox or the dynamic linker failed; or code that the linker runs before any constructor.
    result.ended_by = result.outcome;
    const std::string said = result.output.substr(0, std::min(result.output.find('\n'), result.output.size()));
    result.message = "the worker could not be started: " + (said.empty() ? result.message : said);
    result.outcome = Outcome::kCouldNotStart;
    return Finish(std::move(result));
  }
  if (result.outcome == Outcome::kReturned) {
    try {
      launchers_ = DecodeHello(conversation.payload()).launchers;
      alive_ = true;
    } catch (const WireError& error) {
      result.outcome = Outcome::kProtocolError;
      result.message = error.what();
    }
  }
  return Finish(std::move(result));
}

std::optional<CallResult> WorkerSession::CanNotCall(const std::string& launcher,
                                                    std::span<const Argument> arguments) const {
  if (!alive_) return Failure(Outcome::kCouldNotStart, "the worker is not running");
  const auto found = std::find_if(launchers_.begin(), launchers_.end(),
                                  [&](const LauncherInfo& candidate) { return candidate.name == launcher; });
  if (found == launchers_.end()) {
    return Failure(Outcome::kNoSuchLauncher, "the worker has no launcher " + launcher);
  }
  if (std::string mismatch = Mismatch(*found, arguments); !mismatch.empty()) {
    return Failure(Outcome::kBadSignature, std::move(mismatch));
  }
  return std::nullopt;
}

void WorkerSession::Hold() {
  if (alive_) process_->Hold();
}

CallResult WorkerSession::Converse(std::span<const uint8_t> opening, MessageType awaited, const Limits& limits,
                                   CudaServer& server, uint64_t array_bytes, std::vector<uint8_t>& answer) {
  server_ = &server;
  process_->Release();
  reader_.set_most_returned(kReturnedBytes + array_bytes);
  Conversation conversation(*this, limits, server, awaited);
  CallResult result = conversation.Run(opening);
  answer = conversation.payload();
  return result;
}

namespace {

// Parses a launcher's result from the answer's payload.
void Take(std::span<const uint8_t> payload, CallResult& result) {
  try {
    Returned returned = DecodeReturned(payload);
    if (!returned.refused.empty()) {
      // The signatures agree, so only an IPC handle can be at fault, not the submission.
      result.outcome = Outcome::kBadSignature;
      result.message = returned.refused;
      return;
    }
    result.result = returned.result;
    result.cuda_error = returned.cuda_error;
    result.cuda_error_name = std::move(returned.cuda_error_name);
    result.arrays = std::move(returned.arrays);
  } catch (const WireError& error) {
    result.outcome = Outcome::kProtocolError;
    result.message = error.what();
  }
}

// The error in the returned host arrays; "" if there is none.
std::string WrongArrays(std::span<const Argument> arguments, const CallResult& result) {
  size_t arrays = 0;
  for (const Argument& argument : arguments) {
    if (argument.kind != ArgumentKind::kHostArray) continue;
    if (arrays >= result.arrays.size() || result.arrays[arrays].size() != argument.bytes.size()) {
      return "a host array came back with another size";
    }
    ++arrays;
  }
  return arrays == result.arrays.size() ? "" : "more host arrays came back than were sent";
}

uint64_t ArrayBytes(std::span<const Argument> arguments) {
  uint64_t bytes = 0;
  for (const Argument& argument : arguments) {
    if (argument.kind == ArgumentKind::kHostArray) bytes += sizeof(uint64_t) + argument.bytes.size();
  }
  return bytes;
}

}  // namespace

// Sends a message that is answered by Returned. The host arrays' sizes are not checked yet.
CallResult WorkerSession::Exchange(std::span<const uint8_t> opening, const Limits& limits, CudaServer& server,
                                   uint64_t array_bytes) {
  std::vector<uint8_t> answer;
  CallResult result = Converse(opening, MessageType::kReturned, limits, server, array_bytes, answer);
  if (result.outcome == Outcome::kReturned) Take(answer, result);
  return result.outcome == Outcome::kBadSignature ? result : Finish(std::move(result));
}

CallResult WorkerSession::Call(const std::string& launcher, std::span<const Argument> arguments, const Limits& limits,
                               CudaServer& server) {
  if (auto failure = CanNotCall(launcher, arguments)) return std::move(*failure);
  server.BeginCall(arguments);
  CallResult result =
      Exchange(Frame(MessageType::kCall, 0, EncodeCall(launcher, arguments)), limits, server, ArrayBytes(arguments));
  if (result.outcome != Outcome::kReturned) return result;
  result.message = WrongArrays(arguments, result);
  if (result.message.empty()) return result;
  result.outcome = Outcome::kProtocolError;
  return Finish(std::move(result));
}

std::vector<CallResult> WorkerSession::CallAll(const std::string& launcher,
                                               std::span<const std::vector<Argument>> calls, const Limits& limits,
                                               CudaServer& server) {
  uint64_t answer_bytes = 0;
  std::vector<std::vector<uint8_t>> parts;
  for (const std::vector<Argument>& arguments : calls) {
    if (auto failure = CanNotCall(launcher, arguments)) return {std::move(*failure)};
    answer_bytes += ArrayBytes(arguments) + kReturnedBytes;
    parts.push_back(EncodeCall(launcher, arguments));
  }
  server.BeginCall({});
  std::vector<uint8_t> answer;
  CallResult whole = Converse(Frame(MessageType::kCallAll, 0, EncodeAll(parts)), MessageType::kReturnedAll, limits,
                              server, answer_bytes, answer);
  const auto fail = [&](std::string message) -> std::vector<CallResult> {
    whole.outcome = Outcome::kProtocolError;
    whole.message = std::move(message);
    return {Finish(std::move(whole))};
  };
  if (whole.outcome != Outcome::kReturned) return {Finish(std::move(whole))};
  std::vector<CallResult> results(calls.size());
  try {
    const std::vector<std::span<const uint8_t>> returned = DecodeAll(answer);
    if (returned.size() != calls.size()) return fail("another number of answers than calls");
    for (size_t k = 0; k < calls.size(); ++k) {
      Take(returned[k], results[k]);
      if (results[k].outcome != Outcome::kReturned) return fail(results[k].message);
      if (std::string wrong = WrongArrays(calls[k], results[k]); !wrong.empty()) return fail(std::move(wrong));
    }
  } catch (const WireError& error) {
    return fail(error.what());
  }
  results.front().output = std::move(whole.output);
  results.front().seconds = whole.seconds;
  results.front().device_seconds = whole.device_seconds;
  return results;
}

CallResult WorkerSession::Prepare(const std::string& launcher, std::span<const std::vector<Argument>> calls,
                                  const Limits& limits, CudaServer& server) {
  CallResult result;
  uint16_t flags = 0;
  for (const std::vector<Argument>& arguments : calls) {
    if (auto failure = CanNotCall(launcher, arguments)) return std::move(*failure);
    result = Exchange(Frame(MessageType::kPrepare, flags, EncodeCall(launcher, arguments)), limits, server);
    if (result.outcome != Outcome::kReturned) break;
    flags = kContinued;
  }
  return result;
}

CallResult WorkerSession::RunBatch(uint32_t calls, const Limits& limits, CudaServer& server) {
  if (!alive_) return Failure(Outcome::kCouldNotStart, "the worker is not running");
  return Exchange(Frame(MessageType::kRun, 0, Encoder().Put(calls).bytes()), limits, server);
}

}  // namespace lockstep::worker
