// The checks of vgpu-run --check: fault checkers of launches, and checks of a whole program.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "vgpu/observers/checker_registry.h"

namespace lockstep::vgpu::cudart {

struct ProgramCheck {
  std::string_view id, help;
};
inline constexpr ProgramCheck kLeaks = {"leaks", "memory that is never freed"};
inline constexpr ProgramCheck kApi = {"api", "failed calls whose error was never checked"};
inline constexpr ProgramCheck kCopies = {"copies", "copies to the host of memory that nothing has written"};
inline constexpr ProgramCheck kProgramChecks[] = {kLeaks, kApi, kCopies};

struct Checks {
  CheckerSet launches;
  bool leaks = false, api = false;
  bool copies = false;  // turns on the launches' check "init", which tracks written memory
  bool any() const { return !launches.empty() || leaks || api; }
};

// "races, init, …"; with `indentation`, one line each with its meaning.
inline std::string CheckNames() {
  std::string names;
  for (const CheckerInfo& checker : AllCheckers()) names += std::string(checker.id) + ", ";
  for (const ProgramCheck& check : kProgramChecks) names += std::string(check.id) + ", ";
  return names + "all";
}
inline std::string CheckHelp(const std::string& indentation) {
  constexpr size_t kColumn = 8;
  std::string text;
  const auto add = [&](std::string_view id, std::string_view help) {
    std::string name(id);
    name.resize(kColumn, ' ');
    text += indentation + name + std::string(help) + "\n";
  };
  for (const CheckerInfo& checker : AllCheckers()) add(checker.id, checker.help);
  for (const ProgramCheck& check : kProgramChecks) add(check.id, check.help);
  return text;
}

// Parses "races,leaks" or "all". Throws std::runtime_error listing the known names.
inline Checks ParseChecks(std::string_view list) {
  Checks checks;
  for (size_t at = 0; at < list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const std::string_view name = list.substr(at, comma - at);
    at = comma + 1;
    const bool all = name == "all";
    if (all) checks.launches = CheckerSet::All();
    checks.leaks |= all || name == kLeaks.id;
    checks.api |= all || name == kApi.id;
    if (all || name == kCopies.id) checks.copies = checks.launches.Add("init");
    if (all || name == kLeaks.id || name == kApi.id || name == kCopies.id || checks.launches.Add(name)) continue;
    throw std::runtime_error("there is no check " + std::string(name) + "; there are: " + CheckNames());
  }
  return checks;
}

}  // namespace lockstep::vgpu::cudart
