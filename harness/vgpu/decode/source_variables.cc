// DWARF 2 in PTX (PTX ISA, "Debugging Directives"): sections of .b8 to .b64 whose addresses are labels of functions. What
// is NVIDIA's own: a register is DW_OP_regx of its name's characters, "%r1" as 0x257231; parameters and the array of a
// function's local variables are DW_OP_addr of their symbols.
#include "vgpu/decode/source_variables.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace lockstep::vgpu {
namespace {

constexpr int kDeepest = 64;  // types within types, blocks within blocks

enum Tag : uint64_t {
  kArrayType = 0x01,
  kClassType = 0x02,
  kEnumeration = 0x04,
  kFormalParameter = 0x05,
  kLexicalBlock = 0x0b,
  kMember = 0x0d,
  kPointerType = 0x0f,
  kReferenceType = 0x10,
  kStructType = 0x13,
  kTypedef = 0x16,
  kUnionType = 0x17,
  kInheritance = 0x1c,
  kInlinedSubroutine = 0x1d,
  kSubrange = 0x21,
  kBaseType = 0x24,
  kConstType = 0x26,
  kSubprogram = 0x2e,
  kVariable = 0x34,
  kVolatileType = 0x35,
  kRvalueReference = 0x42,
};
enum Attribute : uint64_t {
  kLocation = 0x02,
  kName = 0x03,
  kByteSize = 0x0b,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kUpperBound = 0x2f,
  kAbstractOrigin = 0x31,
  kCount = 0x37,
  kMemberLocation = 0x38,
  kEncoding = 0x3e,
  kType = 0x49,
  kLinkageName = 0x2007,
};
enum Operation : uint8_t { kAddr = 0x03, kPlusUconst = 0x23, kRegx = 0x90 };

// A section's bytes, and the symbols that stand at some of them.
struct Bytes {
  std::string data;
  std::unordered_map<size_t, std::string> symbols;
};

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r;"), last = text.find_last_not_of(" \t\r;");
  return first == std::string_view::npos ? "" : text.substr(first, last - first + 1);
}

// The section's directives: `.b8 1, 2`, `.b64 $L__tmp1`, `.b32 .debug_loc+133`.
Bytes Assembled(std::string_view text) {
  Bytes bytes;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = Trimmed(line.substr(0, line.find("//")));
    if (!line.starts_with(".b")) continue;
    const size_t blank = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view bits = line.substr(2, blank - 2);
    const size_t width = bits == "8" ? 1 : bits == "16" ? 2 : bits == "32" ? 4 : 8;
    for (std::string_view values = line.substr(blank); !values.empty();) {
      std::string_view value = values.substr(0, values.find(','));
      values.remove_prefix(std::min(values.size(), value.size() + 1));
      value = Trimmed(value);
      if (value.starts_with(".debug_")) value = value.find('+') < value.size() ? value.substr(value.find('+') + 1) : "0";
      const bool minus = value.starts_with('-'), hex = value.starts_with("0x");
      uint64_t number = 0;
      const char* const first = value.data() + (minus ? 1 : hex ? 2 : 0);
      const auto [end, error] = std::from_chars(first, value.data() + value.size(), number, hex ? 16 : 10);
      if (error != std::errc() || end != value.data() + value.size()) bytes.symbols.emplace(bytes.data.size(), value);
      if (minus) number = -number;
      for (size_t k = 0; k < width; ++k) bytes.data += static_cast<char>(number >> (8 * k) & 0xff);
    }
  }
  return bytes;
}

class Reader {
 public:
  Reader(const Bytes& bytes, size_t at) : bytes_(bytes), at_(at) {}
  size_t at() const { return at_; }
  bool AtEnd() const { return at_ >= bytes_.data.size(); }
  uint64_t Fixed(size_t width) {
    uint64_t value = 0;
    for (size_t k = 0; k < width; ++k) value |= uint64_t{Byte()} << (8 * k);
    return value;
  }
  uint64_t Uleb() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = Byte();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::string String() {
    std::string text;
    while (const uint8_t byte = Byte()) text += static_cast<char>(byte);
    return text;
  }
  void Skip(uint64_t count) {
    if (count > bytes_.data.size() - at_) throw std::out_of_range("DWARF");
    at_ += count;
  }
  // What a fixed-width value stands for, where it is a symbol.
  std::string Symbol() const {
    const auto found = bytes_.symbols.find(at_);
    return found == bytes_.symbols.end() ? "" : found->second;
  }

 private:
  uint8_t Byte() {
    if (AtEnd()) throw std::out_of_range("DWARF");
    return static_cast<uint8_t>(bytes_.data[at_++]);
  }
  const Bytes& bytes_;
  size_t at_;
};

struct Value {
  uint64_t number = 0;
  std::string text;              // a string's, or a symbol
  size_t block = 0, length = 0;  // a block's place in .debug_info
  bool is_block = false;
};

struct Entry {
  uint64_t tag = 0;
  int depth = 0;  // an entry's children are those behind it with a larger depth
  std::unordered_map<uint64_t, Value> attributes;
  const Value* Find(uint64_t attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? nullptr : &found->second;
  }
  std::string Text(uint64_t attribute) const {
    const Value* value = Find(attribute);
    return value == nullptr ? "" : value->text;
  }
};

struct Form {
  uint64_t attribute, form;
};
struct Abbreviation {
  uint64_t tag = 0;
  bool has_children = false;
  std::vector<Form> forms;
};

}  // namespace

struct DwarfUnit {
  Bytes info, locations;
  std::vector<Entry> entries;
  std::unordered_map<uint64_t, size_t> index;  // by offset in .debug_info
  std::unordered_map<uint64_t, size_t> types;  // of SourceVariables, by the entry's offset

  explicit DwarfUnit(const ptx::DebugSections& sections);
  const Entry* At(uint64_t offset) const {
    const auto found = index.find(offset);
    return found == index.end() ? nullptr : &entries[found->second];
  }
};

namespace {

Value ReadValue(Reader& reader, uint64_t form, const Bytes& strings, uint64_t unit) {
  Value value;
  const auto block = [&](uint64_t length) {
    value.is_block = true;
    value.block = reader.at();
    value.length = length;
    reader.Skip(length);
  };
  switch (form) {
    case 0x01:  // addr
      value.text = reader.Symbol();
      value.number = reader.Fixed(8);
      break;
    case 0x03:
      block(reader.Fixed(2));
      break;
    case 0x04:
      block(reader.Fixed(4));
      break;
    case 0x09:
    case 0x18:
      block(reader.Uleb());
      break;
    case 0x0a:
      block(reader.Fixed(1));
      break;
    case 0x0b:  // data1, flag
    case 0x0c:
      value.number = reader.Fixed(1);
      break;
    case 0x05:
      value.number = reader.Fixed(2);
      break;
    case 0x06:
    case 0x17:
    case 0x10:
      value.number = reader.Fixed(4);
      break;
    case 0x07:
      value.number = reader.Fixed(8);
      break;
    case 0x08:
      value.text = reader.String();
      break;
    case 0x0e:
      value.text = Reader(strings, reader.Fixed(4)).String();
      break;
    case 0x0d:
    case 0x0f:
      value.number = reader.Uleb();
      break;
    case 0x11:  // references within the unit
    case 0x12:
    case 0x13:
    case 0x14:
      value.number = unit + reader.Fixed(size_t{1} << (form - 0x11));
      break;
    case 0x15:
      value.number = unit + reader.Uleb();
      break;
    case 0x19:  // flag_present
      value.number = 1;
      break;
    default:
      throw std::out_of_range("a form of DWARF that nvcc does not write");
  }
  return value;
}

std::unordered_map<uint64_t, Abbreviation> ReadAbbreviations(const Bytes& bytes, uint64_t at) {
  std::unordered_map<uint64_t, Abbreviation> abbreviations;
  Reader reader(bytes, at);
  while (const uint64_t code = reader.Uleb()) {
    Abbreviation& abbreviation = abbreviations[code];
    abbreviation.tag = reader.Uleb();
    abbreviation.has_children = reader.Fixed(1) != 0;
    for (;;) {
      const uint64_t attribute = reader.Uleb(), form = reader.Uleb();
      if (attribute == 0 && form == 0) break;
      abbreviation.forms.push_back({attribute, form});
    }
  }
  return abbreviations;
}

std::string_view SectionText(const ptx::DebugSections& sections, std::string_view name) {
  const auto found = sections.find(name);
  return found == sections.end() ? std::string_view() : found->second;
}

}  // namespace

DwarfUnit::DwarfUnit(const ptx::DebugSections& sections)
    : info(Assembled(SectionText(sections, "debug_info"))), locations(Assembled(SectionText(sections, "debug_loc"))) {
  const Bytes abbreviation_bytes = Assembled(SectionText(sections, "debug_abbrev"));
  const Bytes strings = Assembled(SectionText(sections, "debug_str"));
  for (Reader reader(info, 0); !reader.AtEnd();) {
    const uint64_t unit = reader.at();
    const uint64_t end = unit + 4 + reader.Fixed(4);
    const uint64_t version = reader.Fixed(2);
    const auto abbreviations = ReadAbbreviations(abbreviation_bytes, reader.Fixed(4));
    if (version < 2 || version > 4 || reader.Fixed(1) != 8) throw std::out_of_range("another DWARF");
    for (int depth = 0; reader.at() < end && !reader.AtEnd();) {
      const uint64_t offset = reader.at(), code = reader.Uleb();
      if (code == 0) {
        --depth;
        continue;
      }
      const Abbreviation& abbreviation = abbreviations.at(code);
      Entry entry;
      entry.tag = abbreviation.tag;
      entry.depth = depth;
      for (const Form& form : abbreviation.forms) {
        entry.attributes[form.attribute] = ReadValue(reader, form.form, strings, unit);
      }
      index[offset] = entries.size();
      entries.push_back(std::move(entry));
      depth += abbreviation.has_children ? 1 : 0;
    }
  }
}

namespace {

using Kind = SourceType::Kind;

// Types of one unit, added to the source's as variables need them.
class Types {
 public:
  Types(DwarfUnit& unit, std::vector<SourceType>& types) : unit_(unit), types_(types) {}

  // The type that an entry names: 0, which is unknown, where there is none.
  size_t Of(const Entry& entry, int depth = 0) {
    const Value* type = entry.Find(kType);
    if (type == nullptr || depth > kDeepest) return 0;
    const auto known = unit_.types.find(type->number);
    if (known != unit_.types.end()) return known->second;
    const Entry* described = unit_.At(type->number);
    if (described == nullptr) return 0;
    const uint64_t tag = described->tag;
    if (tag == kTypedef || tag == kConstType || tag == kVolatileType) {
      const size_t meant = Of(*described, depth + 1);
      return unit_.types[type->number] = meant;
    }
    const size_t own = types_.size();
    unit_.types[type->number] = own;  // before its parts, which may point to it
    types_.emplace_back();
    SourceType made = Made(*described, depth);
    types_[own] = std::move(made);
    return own;
  }

 private:
  SourceType Made(const Entry& entry, int depth) {
    SourceType type;
    const Value* bytes = entry.Find(kByteSize);
    type.bytes = bytes == nullptr ? 0 : bytes->number;
    switch (entry.tag) {
      case kBaseType:
      case kEnumeration: {
        const Value* encoding = entry.Find(kEncoding);
        const uint64_t code = encoding == nullptr ? 5 : encoding->number;
        // DW_ATE_boolean, float, signed, signed_char, unsigned, unsigned_char
        type.kind = code == 4               ? Kind::kFloat
                    : code == 5 || code == 6 ? Kind::kSigned
                    : code == 2 || code == 7 || code == 8 ? Kind::kUnsigned
                                                          : Kind::kOther;
        break;
      }
      case kPointerType:
      case kReferenceType:
      case kRvalueReference:
        type.kind = Kind::kPointer;
        type.bytes = 8;
        type.element = Of(entry, depth + 1);
        break;
      case kArrayType:
        MakeArray(entry, depth, type);
        break;
      case kStructType:
      case kClassType:
      case kUnionType:
        type.kind = Kind::kStruct;
        ForChildren(entry, [&](const Entry& child) {
          const Value* place = child.Find(kMemberLocation);
          if ((child.tag != kMember && child.tag != kInheritance) || (place == nullptr && entry.tag != kUnionType)) return;
          SourceType::Member member;
          member.name = child.Text(kName);
          if (place != nullptr) member.offset = place->is_block ? Reader(unit_.info, place->block + 1).Uleb() : place->number;
          member.type = Of(child, depth + 1);
          type.members.push_back(std::move(member));
        });
        break;
      default:
        break;
    }
    return type;
  }

  // Of several dimensions the last one is innermost.
  void MakeArray(const Entry& entry, int depth, SourceType& type) {
    std::vector<uint64_t> counts;
    ForChildren(entry, [&](const Entry& child) {
      if (child.tag != kSubrange) return;
      const Value *count = child.Find(kCount), *bound = child.Find(kUpperBound);
      counts.push_back(count != nullptr ? count->number : bound != nullptr ? bound->number + 1 : 0);
    });
    size_t element = Of(entry, depth + 1);
    for (size_t k = counts.size(); k-- > 0;) {
      SourceType array;
      array.kind = Kind::kArray;
      array.element = element;
      array.count = counts[k];
      const uint64_t each = types_[element].bytes;
      if (each != 0 && counts[k] > std::numeric_limits<uint32_t>::max() / each) throw std::out_of_range("an array's size");
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

  DwarfUnit& unit_;
  std::vector<SourceType>& types_;
};

using Place = SourceVariable::Place;

class FunctionVariables {
 public:
  FunctionVariables(const ListedFunction& listed, DwarfUnit& unit, SourceVariables& source)
      : listed_(listed), unit_(unit), source_(source), types_(unit, source.types) {
    for (const ptx::Label& label : listed.function.labels) {
      pc_[label.name] = listed.pc_of[std::min(label.instruction, listed.pc_of.size() - 1)];
    }
  }

  void Add() {
    for (size_t k = 0; k < unit_.entries.size(); ++k) {
      const Entry& entry = unit_.entries[k];
      if (entry.tag != kSubprogram) continue;
      const std::string linkage = entry.Text(kLinkageName);
      if ((linkage.empty() ? entry.Text(kName) : linkage) != listed_.function.name) continue;
      if (!Pc(entry.Find(kLowPc))) continue;  // a declaration
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
      if (entry.tag == kLexicalBlock || entry.tag == kInlinedSubroutine) {
        const std::optional<uint32_t> begin = Pc(entry.Find(kLowPc)), end = Pc(entry.Find(kHighPc));
        if (blocks.size() > kDeepest) throw std::out_of_range("blocks");
        blocks.push_back({entry.depth, begin.value_or(blocks.back().begin), end.value_or(blocks.back().end)});
      } else if (entry.tag == kVariable || entry.tag == kFormalParameter) {
        AddVariable(entry, blocks);
      }
    }
  }

  void AddVariable(const Entry& entry, const std::vector<Block>& blocks) {
    const Value *origin = entry.Find(kAbstractOrigin), *location = entry.Find(kLocation);
    const Entry* named = origin == nullptr ? &entry : unit_.At(origin->number);
    if (named == nullptr) return;
    SourceVariable variable;
    variable.name = named->Text(kName);
    variable.depth = static_cast<int>(blocks.size());
    variable.begin = blocks.back().begin;
    variable.end = blocks.back().end;
    if (variable.name.empty() || location == nullptr) return;
    if (location->is_block) {
      AddPlace(unit_.info, location->block, location->length, variable.begin, variable.end, variable);
    } else {
      AddPlaces(location->number, variable);
    }
    // In shared or global memory, or a register that the text does not use: others know it, or nobody.
    if (variable.places.empty()) return;
    variable.type = types_.Of(*named);
    source_.variables.push_back(std::move(variable));
  }

  // A list of .debug_loc: from label to label, an expression.
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
    if (operation == kRegx) {
      std::string name;
      for (uint64_t code = reader.Uleb(); code != 0; code >>= 8) name.insert(name.begin(), static_cast<char>(code & 0xff));
      if (listed_.find_register == nullptr) return;
      const std::optional<ListedRegister> found = listed_.find_register(name);
      if (!found || found->type == ptx::Type::kPred) return;
      place.offset = found->row;
      place.row_bytes = std::max(2u, static_cast<uint32_t>(ptx::SizeOf(found->type)));
    } else if (operation == kAddr) {
      const std::string symbol = reader.Symbol();
      reader.Skip(8);
      uint64_t offset = 0;
      while (reader.at() < at + length) {
        if (reader.Fixed(1) != kPlusUconst) return;
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
        return std::pair(SourceVariable::Space::kParameter, static_cast<uint32_t>(listed_.kernel->parameters[k].offset));
      }
    }
    return std::nullopt;
  }

  std::optional<uint32_t> Pc(const Value* label) const {
    const auto found = label == nullptr ? pc_.end() : pc_.find(label->text);
    return found == pc_.end() ? std::nullopt : std::optional(found->second);
  }

  const ListedFunction& listed_;
  DwarfUnit& unit_;
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
    std::unique_ptr<DwarfUnit>& unit = units_[sections.get()];
    if (unit == nullptr) unit = std::make_unique<DwarfUnit>(*sections);
    FunctionVariables(listed, *unit, source_).Add();
  } catch (const std::out_of_range&) {
    source_.variables.resize(before);
  }
}

}  // namespace lockstep::vgpu
