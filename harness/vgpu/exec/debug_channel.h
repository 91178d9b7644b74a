// Where the debugger's commands come from and its answers go: standard input and standard error, or the socket of a
// debug adapter, whose number LOCKSTEP_DEBUG_FD is. There each command gets one line of JSON:
//   {"stopped": true, "text": "…"}   the program has stopped; a command that goes on is answered by the next of these
//   {"stopped": false, "text": "…"}  what a command shows; "state" in place of "text": see Debugger::State
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
