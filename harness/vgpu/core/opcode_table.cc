#include "vgpu/core/opcode_table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

namespace lockstep::vgpu {
namespace {

// Filled by static constructors, read-only afterwards.
struct Registry {
  std::vector<const Opcode*> sorted;
  std::unordered_map<std::string_view, const Opcode*> by_name;
  std::unordered_map<std::string_view, size_t> most_words;  // by first word: the most words of a name
};

Registry& registry() {
  static Registry instance;  // function-local static: families register in unspecified order of translation units
  return instance;
}

}  // namespace

Modifiers::Modifiers(const ptx::Instruction& instruction, std::string_view row_name) {
  const auto skip = std::count(row_name.begin(), row_name.end(), '.');
  for (auto it = instruction.modifiers.begin() + skip; it != instruction.modifiers.end(); ++it) {
    const std::string& word = *it;
    text_.append(".").append(word);
    if (const auto type = ptx::TypeFromName(word)) {
      types_.push_back(*type);
    } else {
      words_.push_back(word);
    }
  }
}

bool Modifiers::Take(std::string_view word) {
  if (asked_ != nullptr) asked_->emplace_back(word);
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

std::string Modifiers::TakeAll() {
  words_.clear();
  types_read_ = types_.size();
  return text_;
}

std::string Modifiers::Left() const {
  std::string text;
  for (const std::string& word : words_) text += "." + word;
  for (size_t k = types_read_; k < types_.size(); ++k) text.append(".").append(ptx::NameOf(types_[k]));
  for (const std::string& part : parts_) {
    if (!part.empty()) text += (text.empty() ? "" : " ") + ("of an operand, " + part);
  }
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
    const std::string_view name = row->name;
    size_t& words = table.most_words[name.substr(0, name.find('.'))];
    words = std::max(words, static_cast<size_t>(std::count(name.begin(), name.end(), '.')));
    const auto place = std::lower_bound(table.sorted.begin(), table.sorted.end(), row,
                                        [](const Opcode* a, const Opcode* b) { return a->name < b->name; });
    table.sorted.insert(place, row);
  }
}

const Opcode* FindOpcode(const ptx::Instruction& instruction) {
  const Registry& table = registry();
  const auto words = table.most_words.find(instruction.opcode);
  if (words == table.most_words.end()) return nullptr;
  const auto find = [&](std::string_view name) {
    const auto found = table.by_name.find(name);
    return found == table.by_name.end() ? nullptr : found->second;
  };
  const Opcode* best = find(instruction.opcode);
  std::string name = instruction.opcode;
  for (size_t k = 0; k < std::min(words->second, instruction.modifiers.size()); ++k) {
    name += "." + instruction.modifiers[k];
    if (const Opcode* longer = find(name)) best = longer;
  }
  return best;
}

FunctionOpcodes::FunctionOpcodes(const ptx::Function& function) : function_(function) {
  static constexpr Opcode kUnknown = {.name = "", .form = "", .select = nullptr};
  rows_.reserve(function.body.size());
  for (const ptx::Instruction& instruction : function.body) {
    const Opcode* row = FindOpcode(instruction);
    rows_.push_back(row == nullptr ? &kUnknown : row);
  }
}

const std::vector<const Opcode*>& AllOpcodes() { return registry().sorted; }

}  // namespace lockstep::vgpu
