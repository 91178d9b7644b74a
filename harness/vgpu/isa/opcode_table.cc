#include "vgpu/isa/opcode_table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

namespace lockstep::vgpu {
namespace {

// Filled by static constructors, read only afterwards.
struct Registry {
  std::vector<const Opcode*> sorted;
  std::unordered_map<std::string_view, const Opcode*> by_name;
};

Registry& registry() {
  static Registry instance;  // a function's static: families register in any order of translation units
  return instance;
}

}  // namespace

Modifiers::Modifiers(const ptx::Instruction& instruction) {
  for (const std::string& word : instruction.modifiers) {
    if (const auto type = ptx::TypeFromName(word)) {
      types_.push_back(*type);
    } else {
      words_.push_back(word);
    }
  }
}

bool Modifiers::Take(std::string_view word) {
  const auto found = std::find(words_.begin(), words_.end(), word);
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

std::string Modifiers::TakeAny(std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (Take(word)) return std::string(word);
  }
  return "";
}

std::string Modifiers::Left() const {
  std::string text;
  for (const std::string& word : words_) text += "." + word;
  return text;
}

OpcodeFamily::OpcodeFamily(const Opcode* rows, size_t count) {
  Registry& table = registry();
  for (const Opcode* row = rows; row != rows + count; ++row) {
    if (!table.by_name.emplace(row->name, row).second) {
      std::fprintf(stderr, "opcode table: two rows are named %.*s\n", static_cast<int>(row->name.size()),
                   row->name.data());
      std::abort();
    }
    const auto place = std::lower_bound(table.sorted.begin(), table.sorted.end(), row,
                                        [](const Opcode* a, const Opcode* b) { return a->name < b->name; });
    table.sorted.insert(place, row);
  }
}

const Opcode* FindOpcode(std::string_view name) {
  const auto& by_name = registry().by_name;
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

const std::vector<const Opcode*>& AllOpcodes() { return registry().sorted; }

}  // namespace lockstep::vgpu
