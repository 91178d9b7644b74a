// Refuses a text with an unknown instruction or type, as ptxas does when a module is loaded. An instruction that is
// known but unsupported is a fault only when it is executed.

#include <algorithm>
#include <bit>
#include <string_view>
#include <unordered_set>

#include "vgpu/core/opcode_table.h"
#include "vgpu/device/device_impl.h"
#include "vgpu/ptx/cursor.h"

namespace lockstep::vgpu {
namespace {

// The first words of opcode names: "cp" of "cp.async".
const std::unordered_set<std::string_view>& OpcodeWords() {
  static const std::unordered_set<std::string_view> words = [] {
    std::unordered_set<std::string_view> made;
    for (const Opcode* row : AllOpcodes()) made.insert(row->name.substr(0, row->name.find('.')));
    return made;
  }();
  return words;
}

// "s33", "f31": has the form of a type, but an invalid size.
bool IsWrongType(std::string_view word) {
  constexpr size_t kLongest = 4;
  if (word.size() < 2 || word.size() > kLongest || std::string_view("busf").find(word[0]) == std::string_view::npos) {
    return false;
  }
  unsigned bits = 0;
  for (const char c : word.substr(1)) {
    if (!ptx::IsDigit(c)) return false;
    bits = 10 * bits + static_cast<unsigned>(c - '0');
  }
  return bits > 128 || !std::has_single_bit(bits);
}

}  // namespace

void CheckInstructions(const ptx::Module& module) {
  if (module.version_major > 9 || (module.version_major == 9 && module.version_minor > 0)) return;
  for (const ptx::Function& f : module.functions) {
    for (const ptx::Instruction& i : f.body) {
      if (!OpcodeWords().contains(i.opcode)) {
        throw ptx::PtxError(i.ptx_line, "no instruction is named " + ptx::Quoted(i.opcode));
      }
      const auto wrong = std::find_if(i.modifiers.begin(), i.modifiers.end(), IsWrongType);
      if (wrong != i.modifiers.end()) {
        throw ptx::PtxError(i.ptx_line, "no type is named " + ptx::Quoted("." + *wrong));
      }
    }
  }
}

}  // namespace lockstep::vgpu
