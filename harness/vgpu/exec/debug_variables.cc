// The debugger's view of the source's variables: nvcc -G says where they are (core/source_variables.h).
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/core/symbol_name.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/debugger.h"
#include "vgpu/exec/row_text.h"
#include "vgpu/memory/memory.h"

namespace lockstep::vgpu {
namespace {

using Kind = SourceType::Kind;
using Place = SourceVariable::Place;

constexpr size_t kMostLines = 16;

const Place* PlaceAt(const SourceVariable& variable, uint32_t pc) {
  for (const Place& place : variable.places) {
    if (pc >= place.begin && pc < place.end) return &place;
  }
  return nullptr;
}

bool IsSigned(ptx::Type type) {
  return type == ptx::Type::kS8 || type == ptx::Type::kS16 || type == ptx::Type::kS32 || type == ptx::Type::kS64;
}

// A value per lane: lane 0's is at `first`, each other one `step` bytes after that of the lane before.
LaneValue Strided(std::vector<SourceType>& types, const void* first, uint64_t step, const SourceType& type) {
  LaneValue value;
  value.type = IndexOf(types, type);
  for (uint64_t lane = 0; lane < kWarpSize; ++lane) value.at[lane] = static_cast<const uint8_t*>(first) + lane * step;
  return value;
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

}  // namespace

const SourceVariable* Debugger::FindVariable(const std::string& name, const At& at) {
  const SourceVariable* found = nullptr;
  for (const SourceVariable& variable : at.launch->listing.source.variables) {
    if (variable.name != name || variable.places.empty() || at.pc < variable.begin || at.pc >= variable.end) continue;
    if (found == nullptr || variable.depth >= found->depth) found = &variable;
  }
  return found;
}

std::optional<LaneValue> Debugger::LaneValueOf(const SourceVariable& variable, const At& at) {
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

LaneMask Debugger::LanesOf(const At& at) { return at.mask != 0 ? at.mask : at.warp->alive; }

std::optional<LaneValue> Debugger::Evaluated(const std::string& expression, const At& at, std::string* why) {
  const ExpressionScope scope{
      at.launch->listing.source.types, LanesOf(at),
      [&](const std::string& name, std::string* reason) { return Find(name, at, reason); },
      [&](uint32_t lane, uint64_t address, uint64_t bytes) { return MemoryAt(*at.warp, lane, address, bytes); }};
  return Evaluate(expression, scope, why);
}

// Looks up, in this order: a variable by -G, a CUDA built-in or register, a shared array, a parameter, a buffer.
std::optional<LaneValue> Debugger::Find(const std::string& name, const At& at, std::string* why) {
  if (const SourceVariable* variable = FindVariable(name, at)) {
    std::optional<LaneValue> value = LaneValueOf(*variable, at);
    if (!value) *why = name + " has no value here: it is not set yet, or no longer needed";
    return value;
  }
  std::vector<SourceType>& types = at.launch->listing.source.types;
  const Program& program = at.engine->program();
  const GlobalMemory& memory = *at.engine->launch().memory;
  const auto everywhere = [&](const void* bytes, const SourceType& type) { return Strided(types, bytes, 0, type); };
  const auto array = [&](const uint8_t* bytes, uint64_t size) {
    const SourceType each = DeclaredType(SourceOf(at), name);
    return everywhere(
        bytes, size == each.bytes ? each : SourceType{Kind::kArray, size, IndexOf(types, each), size / each.bytes, {}});
  };
  if (std::optional<LaneValue> known = FindBuiltIn(name, at)) return known;
  for (const NamedRange& range : program.shared_variables) {
    if (VariableName(range.name) != name) continue;
    const uint8_t* const bytes = at.warp->block->shared + range.offset;
    for (const SourceVariable& variable : at.launch->listing.source.variables) {
      if (variable.name == name && variable.places.empty() && types[variable.type].bytes == range.bytes)
        return everywhere(bytes, types[variable.type]);
    }
    return array(bytes, range.bytes != 0 ? range.bytes : at.warp->block->shared_bytes - range.offset);
  }
  if (const std::optional<KernelParameter> parameter = FindParameter(name, at)) {
    const uint8_t* const bytes = at.engine->launch().parameters + parameter->offset;
    SourceType type = DeclaredType(SourceOf(at), name);
    if (parameter->bytes == 8 && memory.Find(NumberAt(bytes, 8, false)) != nullptr) {
      type = {Kind::kPointer, 8, IndexOf(types, type), 0, {}};
    } else if (parameter->bytes != type.bytes) {
      type = {parameter->bytes <= 8 ? Kind::kSigned : Kind::kOther, parameter->bytes, 0, 0, {}};
    }
    return everywhere(bytes, type);
  }
  std::string known;
  for (const std::string& here : NamesHere(at)) known += " " + here;
  for (const auto& [base, allocation] : memory.allocations()) {
    const std::string label = VariableName(allocation.label);
    if (label == name) return array(reinterpret_cast<const uint8_t*>(allocation.base), allocation.bytes);
    if (!allocation.hidden && (known + " ").find(" " + label + " ") == std::string::npos) known += " " + label;
  }
  *why = "there is no " + name + " here; there are:" + (known.empty() ? " none" : known) +
         ". info locals and info registers show more";
  return std::nullopt;
}

// threadIdx, blockIdx, blockDim, gridDim, warpSize, and registers ("%r5").
std::optional<LaneValue> Debugger::FindBuiltIn(const std::string& name, const At& at) {
  static constexpr int kLanes = kWarpSize;
  constexpr uint64_t kWord = sizeof(uint32_t);
  std::vector<SourceType>& types = at.launch->listing.source.types;
  const auto point = [&](uint64_t step) {  // bytes from x to y and from y to z
    const size_t number = IndexOf(types, BasicType("unsigned"));
    return SourceType{Kind::kStruct, 3 * step, 0, 0, {{"x", 0, number}, {"y", step, number}, {"z", 2 * step, number}}};
  };
  if (name == "blockIdx") return Strided(types, &at.warp->block->id, 0, point(kWord));
  if (name == "blockDim") return Strided(types, &at.launch->info.block, 0, point(kWord));
  if (name == "gridDim") return Strided(types, &at.launch->info.grid, 0, point(kWord));
  if (name == "warpSize") return Strided(types, &kLanes, 0, BasicType("int"));
  const auto& x = at.warp->state->thread_x;
  if (name == "threadIdx") return Strided(types, x, kWord, point(sizeof x));
  const std::optional<ListedRegister> found = FindRegister(name, at);
  if (!found || found->type == ptx::Type::kPred) return std::nullopt;
  const bool is_real = found->type == ptx::Type::kF32 || found->type == ptx::Type::kF64;
  const Kind kind = is_real ? Kind::kFloat : IsSigned(found->type) ? Kind::kSigned : Kind::kUnsigned;
  const uint64_t bytes = ptx::SizeOf(found->type);
  return Strided(types, at.warp->base[0] + found->row, std::max<uint64_t>(2, bytes), {kind, bytes, 0, 0, {}});
}

// The range of this many bytes that starts at the value; nothing if lanes have different addresses, or the range is not
// in shared or global memory.
std::optional<Debugger::Range> Debugger::RangeOf(const LaneValue& value, uint64_t bytes, const At& at) {
  const uint8_t* place = nullptr;
  for (LaneMask left = LanesOf(at); left != 0; left &= left - 1) {
    const uint8_t* const here = value.at[std::countr_zero(left)];
    if (here == nullptr || (place != nullptr && place != here)) return std::nullopt;
    place = here;
  }
  if (place == nullptr || value.own != nullptr) return std::nullopt;
  const auto address = reinterpret_cast<uint64_t>(place);
  const uint64_t offset = address - reinterpret_cast<uint64_t>(at.warp->block->shared);
  const uint64_t shared = at.warp->block->shared_bytes;
  if (offset < shared) return bytes <= shared - offset ? std::optional(Range{offset, bytes, true}) : std::nullopt;
  if (!at.engine->launch().memory->Contains(address, bytes)) return std::nullopt;
  return Range{address, bytes, false};
}

// Adds a line for each number in the value, or for each array that all lanes share: its path and its values.
void Debugger::AddValues(const std::string& path, const LaneValue& value, const At& at, const ShownAs& as,
                         std::vector<NamedText>& lines) {
  const std::vector<SourceType>& types = at.launch->listing.source.types;
  const SourceType& type = types[value.type];
  const auto part = [&](const std::string& name, uint64_t offset, size_t of) {
    LaneValue inner = value;
    inner.type = of;
    for (const uint8_t*& bytes : inner.at) bytes += bytes == nullptr ? 0 : offset;
    AddValues(name, inner, at, {as.is_hex, as.most, as.depth + 1}, lines);
  };
  if (lines.size() >= kMostLines || as.depth > kMostLines) return;
  const Kind of = type.kind == Kind::kArray ? types[type.element].kind : Kind::kOther;
  if (type.kind == Kind::kArray && of != Kind::kArray && of != Kind::kStruct && RangeOf(value, type.bytes, at)) {
    const uint64_t shown = std::min(type.count, as.most);
    std::string text;
    for (uint64_t k = 0; k < shown; ++k) {
      part("", k * types[type.element].bytes, type.element);
      text += (k == 0 ? "" : ", ") + lines.back().text;
      lines.pop_back();
    }
    lines.push_back({path, text + (shown < type.count ? ", …" : "")});
    return;
  }
  if (type.kind == Kind::kArray) {
    for (uint64_t k = 0; k < std::min(type.count, as.most); ++k) {
      part(path + "[" + std::to_string(k) + "]", k * types[type.element].bytes, type.element);
    }
    if (type.count > as.most) lines.push_back({path + "[…]", std::to_string(type.count) + " elements"});
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
  for (const int lane : EachLane(LanesOf(at))) {
    if (value.at[lane] == nullptr || (value.is_local && AreAll(value.at[lane], type.bytes, kUnwritten))) continue;
    mask |= LaneMask{1} << lane;
    const uint64_t number = NumberAt(value.at[lane], type.bytes, type.kind == Kind::kSigned && !as.is_hex);
    numbers.push_back(number);
    integers.push_back(static_cast<int64_t>(number));
    std::memcpy(row + static_cast<uint64_t>(lane) * type.bytes % sizeof row, value.at[lane],
                std::min<uint64_t>(type.bytes, 8));
  }
  const bool is_large =
      type.kind == Kind::kUnsigned && std::any_of(integers.begin(), integers.end(), [](int64_t n) { return n < 0; });
  const bool is_float = type.kind == Kind::kFloat && (type.bytes == 4 || type.bytes == 8);
  const int asked = std::popcount(LanesOf(at)), have = std::popcount(mask);
  std::string text;
  if (have == 0) {
    text = asked == 0 ? "no thread runs it now" : "not set yet";
  } else if (type.kind == Kind::kOther || type.bytes > 8) {
    text = std::to_string(type.bytes) + " bytes";
  } else if (as.is_hex) {
    for (const uint64_t number : numbers) text += (text.empty() ? "0x" : ", 0x") + Hex(number);
    if (std::ranges::count(numbers, numbers[0]) == have) text = "0x" + Hex(numbers[0]);
  } else if (is_float) {
    text = RowText(type.bytes == 4 ? ptx::Type::kF32 : ptx::Type::kF64, row, mask);
  } else {  // large ones, and so addresses, are shown in hexadecimal digits
    text = type.kind == Kind::kPointer || is_large ? SequenceText(numbers) : SequenceText(integers);
  }
  if (have != 0 && have < asked) text += "  (in " + std::to_string(have) + " of " + std::to_string(asked) + " threads)";
  lines.push_back({path, std::move(text)});
}

std::vector<Debugger::NamedText> Debugger::ValuesOf(const std::string& path, const At& at, std::string* why) {
  std::vector<NamedText> lines;
  if (const std::optional<LaneValue> value = Evaluated(path, at, why)) AddValues(path, *value, at, {}, lines);
  return lines;
}

std::vector<Debugger::NamedText> Debugger::Locals(const At& at) {
  std::vector<NamedText> lines;
  for (const SourceVariable& variable : at.launch->listing.source.variables) {
    const Place* place = PlaceAt(variable, at.pc);
    if (place == nullptr || FindVariable(variable.name, at) != &variable) continue;
    if (place->space == SourceVariable::Space::kParameter) continue;  // of the kernel: shown already
    std::vector<NamedText> values;                                    // kMostLines is the limit for each variable
    if (const std::optional<LaneValue> value = LaneValueOf(variable, at)) {
      AddValues(variable.name, *value, at, {}, values);
    }
    lines.insert(lines.end(), values.begin(), values.end());
  }
  return lines;
}

}  // namespace lockstep::vgpu
