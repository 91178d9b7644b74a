// The debugger's input and output: standard input and standard error, or the socket of a debug adapter, whose file
// descriptor is in LOCKSTEP_DEBUG_FD. An adapter gets one line of JSON per command:
//   {"stopped": true, "text": "…"}   the program has stopped; the answer to a command that let it continue
//   {"stopped": false, "text": "…"}  the output of any other command; "state" instead of "text": see Debugger::State
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep::vgpu {

class DebugChannel {
 public:
  static DebugChannel& Get();

  // Prints one or several lines, without the last newline.
  void Say(const std::string& text);
  // Answers with a JSON value instead of text, for an adapter.
  void Answer(const std::string& json) { state_ = json; }
  bool has_adapter() const { return adapter_; }
  // Sends the output so far, and waits for a command. No value: end of input. stopped: for the first command after a
  // stop.
  std::optional<std::string> Next(bool stopped);

 private:
  DebugChannel();
  int from_;
  bool adapter_ = false, asks_ = false;
  std::string said_, state_;
};

inline void Show(const std::string& text) { DebugChannel::Get().Say(text); }

// Quoted for JSON.
std::string JsonText(const std::string& text);

}  // namespace lockstep::vgpu
