// NVIDIA's conventions in this DWARF: a register is DW_OP_regx with the characters of its name, "%r1" as 0x257231;
// parameters and the array of a function's local variables are DW_OP_addr of their symbols.
#include "vgpu/decode/source_variables.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "vgpu/decode/dwarf.h"

namespace lockstep::vgpu {

namespace {

using dwarf::Bytes;
using dwarf::Entry;
using dwarf::Reader;
using dwarf::Value;
using KnownTypes = SourceVariableReader::KnownTypes;

constexpr int kDeepest = 64;  // limit of nested types and blocks

using Kind = SourceType::Kind;

// Types of one unit, added to the source's as variables need them.
class Types {
 public:
  Types(const dwarf::Unit& unit, KnownTypes& known, std::vector<SourceType>& types)
      : unit_(unit), known_(known), types_(types) {}

  // The type that an entry refers to, or 0 (unknown) if there is none.
  size_t Of(const Entry& entry, int depth = 0) {
    const Value* type = entry.Find(dwarf::kType);
    if (type == nullptr || depth > kDeepest) return 0;
    const std::pair key(&unit_, type->number);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    const Entry* described = unit_.At(type->number);
    if (described == nullptr) return 0;
    const uint64_t tag = described->tag;
    if (tag == dwarf::kTypedef || tag == dwarf::kConstType || tag == dwarf::kVolatileType) {
      const size_t meant = Of(*described, depth + 1);
      return known_[key] = meant;
    }
    const size_t own = types_.size();
    known_[key] = own;  // before its members, which may refer to it
    types_.emplace_back();
    SourceType made = Made(*described, depth);
    types_[own] = std::move(made);
    return own;
  }

 private:
  SourceType Made(const Entry& entry, int depth) {
    SourceType type;
    const Value* bytes = entry.Find(dwarf::kByteSize);
    type.bytes = bytes == nullptr ? 0 : bytes->number;
    switch (entry.tag) {
      case dwarf::kBaseType:
      case dwarf::kEnumeration: {
        const Value* encoding = entry.Find(dwarf::kEncoding);
        const uint64_t code = encoding == nullptr ? 5 : encoding->number;
        // DW_ATE_boolean, float, signed, signed_char, unsigned, unsigned_char
        type.kind = code == 4                             ? Kind::kFloat
                    : code == 5 || code == 6              ? Kind::kSigned
                    : code == 2 || code == 7 || code == 8 ? Kind::kUnsigned
                                                          : Kind::kOther;
        break;
      }
      case dwarf::kPointerType:
      case dwarf::kReferenceType:
      case dwarf::kRvalueReference:
        type.kind = Kind::kPointer;
        type.bytes = 8;
        type.element = Of(entry, depth + 1);
        break;
      case dwarf::kArrayType:
        MakeArray(entry, depth, type);
        break;
      case dwarf::kStructType:
      case dwarf::kClassType:
      case dwarf::kUnionType:
        type.kind = Kind::kStruct;
        ForChildren(entry, [&](const Entry& child) {
          const Value* place = child.Find(dwarf::kMemberLocation);
          if ((child.tag != dwarf::kMember && child.tag != dwarf::kInheritance) ||
              (place == nullptr && entry.tag != dwarf::kUnionType))
            return;
          SourceType::Member member;
          member.name = child.Text(dwarf::kName);
          if (place != nullptr)
            member.offset = place->is_block ? Reader(unit_.info, place->block + 1).Uleb() : place->number;
          member.type = Of(child, depth + 1);
          type.members.push_back(std::move(member));
        });
        break;
      default:
        break;
    }
    return type;
  }

  // With several dimensions the last one is innermost.
  void MakeArray(const Entry& entry, int depth, SourceType& type) {
    std::vector<uint64_t> counts;
    ForChildren(entry, [&](const Entry& child) {
      if (child.tag != dwarf::kSubrange) return;
      const Value *count = child.Find(dwarf::kCount), *bound = child.Find(dwarf::kUpperBound);
      counts.push_back(count != nullptr ? count->number : bound != nullptr ? bound->number + 1 : 0);
    });
    size_t element = Of(entry, depth + 1);
    for (size_t k = counts.size(); k-- > 0;) {
      SourceType array;
      array.kind = Kind::kArray;
      array.element = element;
      array.count = counts[k];
      const uint64_t each = types_[element].bytes;
      if (each != 0 && counts[k] > std::numeric_limits<uint32_t>::max() / each)
        throw std::out_of_range("an array's size");
      array.bytes = each * counts[k];
      if (k == 0) {
        type = std::move(array);
      } else {
        element = types_.size();
        types_.push_back(std::move(array));
      }
    }
  }

  template <typename F>
  void ForChildren(const Entry& entry, const F& f) {
    for (size_t k = static_cast<size_t>(&entry - unit_.entries.data()) + 1;
         k < unit_.entries.size() && unit_.entries[k].depth > entry.depth; ++k) {
      if (unit_.entries[k].depth == entry.depth + 1) f(unit_.entries[k]);
    }
  }

  const dwarf::Unit& unit_;
  KnownTypes& known_;
  std::vector<SourceType>& types_;
};

using Place = SourceVariable::Place;

class FunctionVariables {
 public:
  FunctionVariables(const ListedFunction& listed, const dwarf::Unit& unit, KnownTypes& known, SourceVariables& source)
      : listed_(listed), unit_(unit), source_(source), types_(unit, known, source.types) {
    for (const ptx::Label& label : listed.function.labels) {
      pc_[label.name] = listed.pc_of[std::min(label.instruction, listed.pc_of.size() - 1)];
    }
  }

  void Add() {
    for (size_t k = 0; k < unit_.entries.size(); ++k) {
      const Entry& entry = unit_.entries[k];
      if (entry.tag != dwarf::kSubprogram) continue;
      const std::string linkage = entry.Text(dwarf::kLinkageName);
      if ((linkage.empty() ? entry.Text(dwarf::kName) : linkage) != listed_.function.name) continue;
      if (!Pc(entry.Find(dwarf::kLowPc))) continue;  // a declaration
      AddBlock(k);
    }
  }

 private:
  struct Block {
    int depth;
    uint32_t begin, end;
  };

  void AddBlock(size_t first) {
    std::vector<Block> blocks{{unit_.entries[first].depth, listed_.info.entry_pc, listed_.info.end_pc}};
    for (size_t k = first + 1; k < unit_.entries.size() && unit_.entries[k].depth > blocks[0].depth; ++k) {
      const Entry& entry = unit_.entries[k];
      while (entry.depth <= blocks.back().depth) blocks.pop_back();
      if (entry.tag == dwarf::kLexicalBlock || entry.tag == dwarf::kInlinedSubroutine) {
        const std::optional<uint32_t> begin = Pc(entry.Find(dwarf::kLowPc)), end = Pc(entry.Find(dwarf::kHighPc));
        if (blocks.size() > kDeepest) throw std::out_of_range("blocks");
        blocks.push_back({entry.depth, begin.value_or(blocks.back().begin), end.value_or(blocks.back().end)});
      } else if (entry.tag == dwarf::kVariable || entry.tag == dwarf::kFormalParameter) {
        AddVariable(entry, blocks);
      }
    }
  }

  void AddVariable(const Entry& entry, const std::vector<Block>& blocks) {
    const Value *origin = entry.Find(dwarf::kAbstractOrigin), *location = entry.Find(dwarf::kLocation);
    const Entry* named = origin == nullptr ? &entry : unit_.At(origin->number);
    if (named == nullptr) return;
    SourceVariable variable;
    variable.name = named->Text(dwarf::kName);
    variable.depth = static_cast<int>(blocks.size());
    variable.begin = blocks.back().begin;
    variable.end = blocks.back().end;
    if (variable.name.empty() || location == nullptr) return;
    if (location->is_block) {
      AddPlace(unit_.info, location->block, location->length, variable.begin, variable.end, variable);
    } else {
      AddPlaces(location->number, variable);
    }
    // Without a place: in shared or global memory, known by its name; or a register that the text does not use.
    variable.type = types_.Of(*named);
    source_.variables.push_back(std::move(variable));
  }

  // A .debug_loc list: label ranges with an expression each.
  void AddPlaces(uint64_t at, SourceVariable& variable) {
    for (Reader reader(unit_.locations, at);;) {
      const std::string from = reader.Symbol();
      const uint64_t low = reader.Fixed(8);
      const std::string to = reader.Symbol();
      if ((low | reader.Fixed(8)) == 0 && from.empty() && to.empty()) return;
      const uint64_t length = reader.Fixed(2);
      const auto begin = pc_.find(from), end = pc_.find(to);
      if (begin != pc_.end() && end != pc_.end()) {
        AddPlace(unit_.locations, reader.at(), length, begin->second, end->second, variable);
      }
      reader.Skip(length);
    }
  }

  void AddPlace(const Bytes& bytes, size_t at, size_t length, uint32_t begin, uint32_t end, SourceVariable& variable) {
    Reader reader(bytes, at);
    if (length == 0) return;
    const uint64_t operation = reader.Fixed(1);
    Place place{begin, end};
    if (operation == dwarf::kRegx) {
      std::string name;
      for (uint64_t code = reader.Uleb(); code != 0; code >>= 8)
        name.insert(name.begin(), static_cast<char>(code & 0xff));
      if (listed_.find_register == nullptr) return;
      const std::optional<ListedRegister> found = listed_.find_register(name);
      if (!found || found->type == ptx::Type::kPred) return;
      place.offset = found->row;
      place.row_bytes = std::max(2u, static_cast<uint32_t>(ptx::SizeOf(found->type)));
    } else if (operation == dwarf::kAddr) {
      const std::string symbol = reader.Symbol();
      reader.Skip(8);
      uint64_t offset = 0;
      while (reader.at() < at + length) {
        if (reader.Fixed(1) != dwarf::kPlusUconst) return;
        offset += reader.Uleb();
      }
      const std::optional<std::pair<SourceVariable::Space, uint32_t>> base = BaseOf(symbol);
      if (!base) return;
      place.space = base->first;
      place.offset = base->second + static_cast<uint32_t>(offset);
    } else {
      return;
    }
    variable.places.push_back(place);
  }

  std::optional<std::pair<SourceVariable::Space, uint32_t>> BaseOf(const std::string& symbol) const {
    for (const NamedRange& range : listed_.info.local_variables) {
      if (range.name == symbol) return std::pair(SourceVariable::Space::kLocal, range.offset);
    }
    const std::vector<ptx::Variable>& parameters = listed_.function.parameters;
    for (size_t k = 0; listed_.kernel != nullptr && k < std::min(parameters.size(), listed_.kernel->parameters.size());
         ++k) {
      if (parameters[k].name == symbol) {
        return std::pair(SourceVariable::Space::kParameter,
                         static_cast<uint32_t>(listed_.kernel->parameters[k].offset));
      }
    }
    return std::nullopt;
  }

  std::optional<uint32_t> Pc(const Value* label) const {
    const auto found = label == nullptr ? pc_.end() : pc_.find(label->text);
    return found == pc_.end() ? std::nullopt : std::optional(found->second);
  }

  const ListedFunction& listed_;
  const dwarf::Unit& unit_;
  SourceVariables& source_;
  Types types_;
  std::unordered_map<std::string, uint32_t> pc_;  // by label
};

}  // namespace

SourceVariableReader::SourceVariableReader(SourceVariables& source) : source_(source) {
  if (source_.types.empty()) source_.types.emplace_back();
}
SourceVariableReader::~SourceVariableReader() = default;

void SourceVariableReader::Add(const ListedFunction& listed) {
  const std::shared_ptr<const ptx::DebugSections>& sections = listed.function.debug;
  if (sections == nullptr) return;
  const size_t before = source_.variables.size();
  try {
    std::unique_ptr<const dwarf::Unit>& unit = units_[sections.get()];
    if (unit == nullptr) unit = std::make_unique<const dwarf::Unit>(*sections);
    FunctionVariables(listed, *unit, known_, source_).Add();
  } catch (const std::out_of_range&) {
    source_.variables.resize(before);
  }
}

}  // namespace lockstep::vgpu
