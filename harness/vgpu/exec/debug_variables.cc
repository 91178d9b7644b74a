// The debugger's view of the source's variables: nvcc -G says where they are (core/source_variables.h).
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/exec/block.h"
#include "vgpu/exec/debugger.h"
#include "vgpu/exec/row_text.h"
#include "vgpu/memory/memory.h"

namespace lockstep::vgpu {
namespace {

using Kind = SourceType::Kind;
using Place = SourceVariable::Place;

constexpr size_t kMostLines = 16;
constexpr uint64_t kShownElements = 8;

const Place* PlaceAt(const SourceVariable& variable, uint32_t pc) {
  for (const Place& place : variable.places) {
    if (pc >= place.begin && pc < place.end) return &place;
  }
  return nullptr;
}

// The fill patterns of uninitialised memory and registers; short values may match by chance.
bool AreAll(const uint8_t* bytes, uint64_t count, uint8_t value) {
  return count >= 2 && std::all_of(bytes, bytes + count, [&](uint8_t byte) { return byte == value; });
}

// Local variables of all the lane's frames, from the outermost on.
const uint8_t* LocalOf(const Warp& warp, uint32_t lane) {
  const WarpState& state = *warp.state;
  return state.local == nullptr ? nullptr : state.local.get() + uint64_t{lane} * warp.engine->program().local_stride;
}

// Memory at a lane's generic address; null if there is none.
const uint8_t* MemoryAt(const Warp& warp, uint32_t lane, uint64_t address, uint64_t bytes) {
  const LaunchState& launch = warp.engine->launch();
  const uint64_t offset = address & ((uint64_t{1} << kWindowShift) - 1);
  const auto within = [&](const uint8_t* memory, uint64_t size) {
    return memory != nullptr && bytes <= size && offset <= size - bytes ? memory + offset : nullptr;
  };
  switch (address - offset) {
    case kSharedWindow:
      return within(warp.block->shared, warp.block->shared_bytes);
    case kLocalWindow:
      return within(LocalOf(warp, lane), warp.engine->program().local_stride);
    case kParamWindow:
      return within(launch.parameters, launch.parameter_bytes);
    default:
      return launch.memory->Contains(address, bytes) ? reinterpret_cast<const uint8_t*>(address) : nullptr;
  }
}

// Up to eight bytes of a lane's value as a number.
uint64_t Number(const uint8_t* bytes, uint64_t width, bool is_signed) {
  uint64_t value = 0;
  std::memcpy(&value, bytes, std::min<uint64_t>(width, sizeof value));
  const int spare = 64 - 8 * static_cast<int>(std::clamp<uint64_t>(width, 1, 8));
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << spare) >> spare) : value;
}

}  // namespace

// A value's location for each lane; null: none or, for a register, not set yet.
struct Debugger::LaneValue {
  size_t type = 0;
  bool is_local = false;    // its bytes may not be set yet
  bool is_pointed = false;  // in memory reached through a pointer
  const uint8_t* at[kWarpSize] = {};
};

const SourceVariable* Debugger::FindVariable(const std::string& name, const At& at) {
  const SourceVariable* found = nullptr;
  for (const SourceVariable& variable : at.launch->listing.source.variables) {
    if (variable.name != name || at.pc < variable.begin || at.pc >= variable.end) continue;
    if (found == nullptr || variable.depth >= found->depth) found = &variable;
  }
  return found;
}

std::optional<Debugger::LaneValue> Debugger::LaneValueOf(const SourceVariable& variable, const At& at) {
  const Place* place = PlaceAt(variable, at.pc);
  const WarpState& state = *at.warp->state;
  if (place == nullptr || state.current < 0) return std::nullopt;
  const Frame& frame = *state.groups[static_cast<size_t>(state.current)].frame;
  LaneValue value;
  value.type = variable.type;
  value.is_local = place->space == SourceVariable::Space::kLocal;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    switch (place->space) {
      case SourceVariable::Space::kRegister: {
        const uint8_t* const bytes = at.warp->base[0] + place->offset + uint64_t{lane} * place->row_bytes;
        if (!AreAll(bytes, place->row_bytes, kUnwrittenRegister)) value.at[lane] = bytes;
        break;
      }
      case SourceVariable::Space::kLocal:
        if (const uint8_t* const local = LocalOf(*at.warp, lane)) {
          value.at[lane] = local + frame.local_base + place->offset;
        }
        break;
      case SourceVariable::Space::kParameter:
        value.at[lane] = at.engine->launch().parameters + place->offset;
        break;
    }
  }
  return value;
}

// Parses `.x`, `->x`, `[3]` and a leading `*`, step by step.
std::optional<Debugger::LaneValue> Debugger::Resolve(std::string path, const At& at, std::string* why) {
  const std::vector<SourceType>& types = at.launch->listing.source.types;
  const std::string whole = path;
  if (path.starts_with('*')) path = path.substr(1) + "[0]";
  const size_t length = std::min(path.find_first_of(".-["), path.size());
  const std::string name = path.substr(0, length);
  const SourceVariable* variable = FindVariable(name, at);
  if (variable == nullptr) return std::nullopt;
  std::optional<LaneValue> value = LaneValueOf(*variable, at);
  if (!value) *why = name + " has no value here: it is not set yet, or no longer needed";
  // Moves to `offset` bytes from the value's start, or from the start of the memory it points to.
  const auto go = [&](bool through, uint64_t offset, size_t type) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const uint8_t*& bytes = value->at[lane];
      if (bytes == nullptr) continue;
      if (!through) {
        bytes += offset;
      } else {
        const uint64_t address = Number(bytes, 8, false) + offset;
        bytes = MemoryAt(*at.warp, lane, address, std::max<uint64_t>(types[type].bytes, 1));
      }
    }
    value->type = type;
    value->is_local &= !through;
    value->is_pointed |= through;
  };
  for (size_t k = length; value && k < path.size();) {
    const SourceType& type = types[value->type];
    if (path[k] == '[') {
      const size_t close = path.find(']', k);
      const std::string number = close == std::string::npos ? "" : path.substr(k + 1, close - k - 1);
      if (!IsNumber(number)) return *why = "an index is a number: " + path.substr(0, k) + "[3]", std::nullopt;
      const uint64_t index = std::stoull(number);
      if (type.kind == Kind::kArray && index >= type.count) {
        return *why = path.substr(0, k) + " has " + std::to_string(type.count) + " elements", std::nullopt;
      }
      if (type.kind != Kind::kArray && type.kind != Kind::kPointer) {
        return *why = path.substr(0, k) + " is no array and no pointer", std::nullopt;
      }
      go(type.kind == Kind::kPointer, index * types[type.element].bytes, type.element);
      k = close + 1;
    } else {
      const bool arrow = path.compare(k, 2, "->") == 0;
      if (arrow && type.kind == Kind::kPointer) go(true, 0, type.element);
      k += arrow ? 2 : 1;
      const std::string member = path.substr(k, path.find_first_of(".-[", k) - k);
      const std::vector<SourceType::Member>& members = types[value->type].members;
      const auto found = std::find_if(members.begin(), members.end(),
                                      [&](const SourceType::Member& one) { return one.name == member; });
      if (found == members.end()) return *why = "there is no member " + member + " in " + whole, std::nullopt;
      go(false, found->offset, found->type);
      k += member.size();
    }
  }
  return value;
}

// One line for each number in it: its path, and its values in the active lanes.
void Debugger::AddValues(const std::string& path, const LaneValue& value, const At& at, int depth,
                         std::vector<NamedText>& lines) {
  const std::vector<SourceType>& types = at.launch->listing.source.types;
  const SourceType& type = types[value.type];
  const auto part = [&](const std::string& name, uint64_t offset, size_t of) {
    LaneValue inner;
    inner.type = of;
    inner.is_local = value.is_local;
    inner.is_pointed = value.is_pointed;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if (value.at[lane] != nullptr) inner.at[lane] = value.at[lane] + offset;
    }
    AddValues(name, inner, at, depth + 1, lines);
  };
  if (lines.size() >= kMostLines || depth > static_cast<int>(kMostLines)) return;
  if (type.kind == Kind::kArray) {
    for (uint64_t k = 0; k < std::min(type.count, kShownElements); ++k) {
      part(path + "[" + std::to_string(k) + "]", k * types[type.element].bytes, type.element);
    }
    if (type.count > kShownElements) lines.push_back({path + "[…]", std::to_string(type.count) + " elements"});
    return;
  }
  if (type.kind == Kind::kStruct) {
    for (const SourceType::Member& member : type.members) {
      part(member.name.empty() ? path : path + "." + member.name, member.offset, member.type);
    }
    return;
  }
  LaneMask mask = 0;
  uint8_t row[kWarpSize * 8] = {};
  std::vector<uint64_t> numbers;
  std::vector<int64_t> integers;
  for (LaneMask left = at.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (value.at[lane] == nullptr || (value.is_local && AreAll(value.at[lane], type.bytes, kUnwritten))) continue;
    mask |= LaneMask{1} << lane;
    const uint64_t number = Number(value.at[lane], type.bytes, type.kind == Kind::kSigned);
    numbers.push_back(number);
    integers.push_back(static_cast<int64_t>(number));
    std::memcpy(row + static_cast<uint64_t>(lane) * type.bytes % sizeof row, value.at[lane],
                std::min<uint64_t>(type.bytes, 8));
  }
  const bool is_large =
      type.kind == Kind::kUnsigned && std::any_of(integers.begin(), integers.end(), [](int64_t n) { return n < 0; });
  const bool is_float = type.kind == Kind::kFloat && (type.bytes == 4 || type.bytes == 8);
  lines.push_back({path, mask == 0                                     ? at.mask == 0       ? "no thread runs it now"
                                                                         : value.is_pointed ? "no memory there"
                                                                                            : "not set yet"
                         : type.kind == Kind::kOther || type.bytes > 8 ? std::to_string(type.bytes) + " bytes"
                         : is_float ? RowText(type.bytes == 4 ? ptx::Type::kF32 : ptx::Type::kF64, row, mask)
                         // Large ones, and so addresses, are shown in hexadecimal digits.
                         : type.kind == Kind::kPointer || is_large ? SequenceText(numbers)
                                                                   : SequenceText(integers)});
}

std::vector<Debugger::NamedText> Debugger::ValuesOf(const std::string& path, const At& at, std::string* why) {
  std::vector<NamedText> lines;
  if (const std::optional<LaneValue> value = Resolve(path, at, why)) AddValues(path, *value, at, 0, lines);
  return lines;
}

std::vector<Debugger::NamedText> Debugger::Locals(const At& at) {
  std::vector<NamedText> lines;
  for (const SourceVariable& variable : at.launch->listing.source.variables) {
    const Place* place = PlaceAt(variable, at.pc);
    if (place == nullptr || FindVariable(variable.name, at) != &variable) continue;
    if (place->space == SourceVariable::Space::kParameter) continue;  // of the kernel: shown already
    std::vector<NamedText> values;                                    // of each at most so many lines
    if (const std::optional<LaneValue> value = LaneValueOf(variable, at)) {
      AddValues(variable.name, *value, at, 0, values);
    }
    lines.insert(lines.end(), values.begin(), values.end());
  }
  return lines;
}

}  // namespace lockstep::vgpu
