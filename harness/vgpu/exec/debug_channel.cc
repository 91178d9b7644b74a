#include "vgpu/exec/debug_channel.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

namespace lockstep::vgpu {

DebugChannel& DebugChannel::Get() {
  static DebugChannel channel;
  return channel;
}

DebugChannel::DebugChannel() : from_(STDIN_FILENO) {
  const char* number = std::getenv("LOCKSTEP_DEBUG_FD");
  adapter_ = number != nullptr;
  if (adapter_) from_ = std::atoi(number);
  asks_ = !adapter_ && ::isatty(STDIN_FILENO) != 0;
}

void DebugChannel::Say(const std::string& text) {
  if (adapter_) {
    said_ += text + "\n";
    return;
  }
  std::fputs((text + "\n").c_str(), stderr);
  std::fflush(stderr);
}

std::optional<std::string> DebugChannel::Next(bool stopped) {
  if (adapter_) {
    const std::string answer = std::string("{\"stopped\": ") + (stopped ? "true" : "false") +
                               (state_.empty() ? ", \"text\": " + JsonText(said_) : ", \"state\": " + state_) + "}\n";
    for (size_t sent = 0; sent < answer.size();) {
      const ssize_t now = ::write(from_, answer.data() + sent, answer.size() - sent);
      if (now <= 0) return std::nullopt;
      sent += static_cast<size_t>(now);
    }
    said_.clear();
    state_.clear();
  } else if (asks_) {
    std::fputs("(vgpu) ", stderr);
  }
  // One byte at a time: input after the line is for the program, or for the process that replaces this one.
  std::string line;
  char c = 0;
  ssize_t got = 0;
  while ((got = ::read(from_, &c, 1)) == 1 && c != '\n') line += c;
  if (got != 1 && line.empty()) return std::nullopt;
  if (!adapter_ && !asks_) Say("(vgpu) " + line);
  return line;
}

std::string JsonText(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace lockstep::vgpu
