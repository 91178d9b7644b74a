// Text as a JSON string, which may stand in a script of a page.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace lockstep::vgpu::cudart {

inline std::string JsonText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '<') {  // "</script>" would end the script
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      quoted += escaped;
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace lockstep::vgpu::cudart
