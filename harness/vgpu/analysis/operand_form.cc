#include "vgpu/analysis/operand_form.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace lockstep::vgpu {
namespace {

[[noreturn]] void Refuse(std::string_view form, std::string_view word) {
  throw std::logic_error("operand form \"" + std::string(form) + "\": bad word \"" + std::string(word) + "\"");
}

OperandPart ParsePart(std::string_view form, std::string_view text) {
  OperandPart part;
  std::string_view rest = text;
  if (rest == "a" || rest == "ac") {
    part.role = OperandPart::Role::kAddress;
    part.coordinates = rest == "ac";
    return part;
  }
  if (rest.starts_with('d')) {
    part.role = OperandPart::Role::kDestination;
  } else if (!rest.starts_with('s')) {
    Refuse(form, text);
  }
  rest.remove_prefix(1);
  if (rest.starts_with('v')) {
    part.vector = true;
    rest.remove_prefix(1);
  }
  if (rest.size() == 1 && rest[0] >= '0' && rest[0] <= '2') {
    part.typing = OperandPart::Typing::kModifier;
    part.modifier = rest[0] - '0';
  } else if (rest == "w") {
    part.typing = OperandPart::Typing::kDoubled;
  } else if (const auto type = ptx::TypeFromName(rest)) {
    part.typing = OperandPart::Typing::kFixed;
    part.type = *type;
  } else {
    Refuse(form, text);
  }
  return part;
}

std::vector<OperandForm> Parse(std::string_view form) {
  std::vector<OperandForm> operands;
  size_t at = 0;
  while (at < form.size()) {
    if (form[at] == ' ') {
      ++at;
      continue;
    }
    const size_t end = std::min(form.find(' ', at), form.size());
    std::string_view word = form.substr(at, end - at);
    at = end;
    OperandForm operand;
    if (word.ends_with('?')) {
      operand.optional = true;
      word.remove_suffix(1);
    }
    const size_t bar = word.find('|');
    operand.part = ParsePart(form, word.substr(0, bar));
    if (bar != std::string_view::npos) {
      operand.has_second = true;
      operand.second = ParsePart(form, word.substr(bar + 1));
    }
    operands.push_back(operand);
  }
  return operands;
}

}  // namespace

const std::vector<OperandForm>& ParseForm(std::string_view form) {
  // Heap-allocated, so that results and keys keep their addresses while the map grows.
  struct Parsed {
    std::string form;
    std::vector<OperandForm> operands;
  };
  static std::mutex mutex;
  static std::unordered_map<std::string_view, std::unique_ptr<const Parsed>> parsed;
  const std::lock_guard lock(mutex);
  const auto found = parsed.find(form);
  if (found != parsed.end()) return found->second->operands;
  auto box = std::make_unique<const Parsed>(Parsed{std::string(form), Parse(form)});
  const std::string_view key = box->form;
  return parsed.emplace(key, std::move(box)).first->second->operands;
}

ptx::Type ResolveType(const OperandPart& part, const Modifiers& modifiers) {
  switch (part.typing) {
    case OperandPart::Typing::kNone:
      return ptx::Type::kNone;
    case OperandPart::Typing::kModifier:
      return modifiers.type(part.modifier);
    case OperandPart::Typing::kDoubled:
      return Doubled(modifiers.type(0));
    case OperandPart::Typing::kFixed:
      return part.type;
  }
  return ptx::Type::kNone;
}

ptx::Type Doubled(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::kB8:
      return Type::kB16;
    case Type::kB16:
      return Type::kB32;
    case Type::kB32:
      return Type::kB64;
    case Type::kB64:
      return Type::kB128;
    case Type::kU8:
      return Type::kU16;
    case Type::kU16:
      return Type::kU32;
    case Type::kU32:
      return Type::kU64;
    case Type::kS8:
      return Type::kS16;
    case Type::kS16:
      return Type::kS32;
    case Type::kS32:
      return Type::kS64;
    case Type::kF16:
      return Type::kF32;
    case Type::kF32:
      return Type::kF64;
    default:
      return Type::kNone;
  }
}

}  // namespace lockstep::vgpu
