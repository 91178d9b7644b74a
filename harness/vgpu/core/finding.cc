// The text of a finding. Students read it, so tests/core/finding_test.cc compares it with golden files.
#include "vgpu/core/finding.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "vgpu/core/dim3.h"
#include "vgpu/core/hint.h"
#include "vgpu/core/symbol_name.h"

namespace lockstep::vgpu {
namespace {

std::string Clean(std::string_view text) {
  std::string clean(text);
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return clean;
}

std::string BaseName(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return Clean(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string Number(uint64_t value) { return std::to_string(value); }

std::string Bytes(uint64_t count) { return Number(count) + (count == 1 ? " byte" : " bytes"); }

std::string Hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string BufferName(const MemoryPlace& memory) {
  if (!memory.buffer_name.empty()) return Clean(VariableName(memory.buffer_name));
  if (memory.allocated_at.empty()) return "a buffer of " + Bytes(memory.buffer_bytes);
  return "the " + Bytes(memory.buffer_bytes) + " allocated at " + BaseName(memory.allocated_at);
}

// The accessed bytes in source notation: sdata[64] if the access has 1, 2, 4 or 8 bytes and is aligned to its size,
// otherwise sdata + 65 bytes. For a buffer without a name: offset 64 of it.
std::string Element(const MemoryPlace& memory) {
  if (!memory.in_buffer) return "address " + Hex(memory.address);
  const uint64_t offset = memory.address - memory.buffer_base;
  const bool array = !memory.buffer_name.empty() && memory.buffer_name.find(' ') == std::string::npos;
  if (array && std::has_single_bit(memory.bytes) && memory.bytes <= 8 && offset % memory.bytes == 0) {
    return BufferName(memory) + "[" + Number(offset / memory.bytes) + "]";
  }
  if (memory.buffer_name.empty()) return "offset " + Number(offset) + " of " + BufferName(memory);
  return BufferName(memory) + " + " + Bytes(offset);
}

// "8 bytes past the end of d_in (512 bytes, offset 520)".
std::string Relation(const MemoryPlace& memory) {
  const Beside beside = RelationTo(memory);
  if (beside == Beside::kNowhere) return "at address " + Hex(memory.address) + ", which is in no allocation";
  const std::string name = BufferName(memory);
  const std::string size = memory.buffer_name.empty() ? "" : Bytes(memory.buffer_bytes) + ", ";
  if (beside == Beside::kBefore) {
    const uint64_t before = memory.buffer_base - memory.address;
    const std::string text = Bytes(before) + " before the start of " + name + " (" + size + "offset -" + Number(before);
    if (!memory.wrapped) return text + ")";
    const uint64_t index = (uint64_t{1} << 32) - before / memory.bytes;
    return text + "): as an unsigned index " + Number(index);
  }
  const uint64_t offset = memory.address - memory.buffer_base;
  const std::string where = name + " (" + size + "offset " + Number(offset) + ")";
  if (beside == Beside::kWithin) return "in " + where;
  if (beside == Beside::kAcrossTheEnd) {
    return "the last " + Number(memory.bytes - (memory.buffer_bytes - offset)) + " of them past the end of " + where;
  }
  const uint64_t past = offset - memory.buffer_bytes;
  return (past == 0 ? "just" : Bytes(past)) + " past the end of " + where;
}

// What happened, in one line.
std::string Evidence(const Finding& finding) {
  const std::string detail = Clean(finding.detail);
  if (!finding.memory) {
    if (finding.kind == FindingKind::kTrap && detail.empty()) return "the kernel executed a trap";
    return detail.empty() ? std::string(NameOf(finding.kind)) : detail;
  }
  const MemoryPlace& memory = *finding.memory;
  const std::string space(NameOf(memory.space));
  const std::string access = space + " " + std::string(NameOf(finding.first.access)) + " of " + Bytes(memory.bytes);
  std::string text;
  switch (finding.kind) {
    case FindingKind::kRace:
      return space + " memory, " + (detail.empty() ? "" : detail + ", ") + Element(memory) + ", " + Bytes(memory.bytes);
    case FindingKind::kUninitialized:
      text = access + ", " + Element(memory) + ", which nothing has written";
      if (memory.space == MemorySpace::kShared && finding.copies_async) text += " so far";
      break;
    case FindingKind::kMisaligned:
      text = access + " at " + Element(memory) + ": address " + Hex(memory.address) + " is not a multiple of " +
             Number(memory.bytes);
      break;
    case FindingKind::kInvalidAddress:
      text = access + (memory.address < kNullPage ? " at address " + Hex(memory.address) + ": a null pointer"
                                                  : " " + Relation(memory));
      break;
    default:
      text = access + ", " + Relation(memory);
  }
  return detail.empty() ? text : text + "; " + detail;
}

// What the instruction does, in terms of the source ("read", "barrier"); "" for opcodes without such a word.
std::string Deed(const ThreadPlace& place) {
  constexpr std::pair<std::string_view, const char*> kDeeds[] = {{"ld.", "read"},
                                                                 {"ldu.", "read"},
                                                                 {"tex.", "read"},
                                                                 {"st.", "write"},
                                                                 {"atom.", "atomic"},
                                                                 {"red.", "atomic"},
                                                                 {"shfl.", "shuffle"},
                                                                 {"bar.warp.", "__syncwarp()"},
                                                                 {"bar.", "barrier"},
                                                                 {"barrier.", "barrier"},
                                                                 {"cp.async.", "asynchronous copy"}};
  const auto found = std::find_if(std::begin(kDeeds), std::end(kDeeds),
                                  [&](const auto& deed) { return place.instruction.starts_with(deed.first); });
  return found == std::end(kDeeds) ? "" : found->second;
}

std::string Source(const ThreadPlace& place) {
  const bool is_known = !place.file.empty() && place.line > 0, has_code = place.instruction != ".entry";
  if (is_known) {
    const std::string deed = Deed(place);
    std::string text = BaseName(place.file) + ":" + std::to_string(place.line) + (deed.empty() ? "" : "  " + deed);
    if (!deed.empty() || place.in_file.empty()) return text;
    return text + ", in " + BaseName(place.in_file) + ":" + std::to_string(place.in_line);
  }
  std::string text = place.ptx_line > 0 && has_code
                         ? "PTX line " + std::to_string(place.ptx_line) +
                               " (build with -lineinfo for the source line; in Numba, lineinfo=True)"
                         : "";
  if (has_code && !place.instruction.empty()) text += (text.empty() ? "" : "  ") + Clean(place.instruction);
  return text;
}

std::string Where(const ThreadPlace& place) {
  if (!place.operation.empty()) return Clean(place.operation);
  return "block " + PointText(place.block) + " thread " + PointText(place.thread);
}

MessageLine PartyLine(const char* label, const ThreadPlace& place, size_t column) {
  std::string where = Where(place);
  const std::string source = Source(place);
  if (!source.empty()) where.resize(std::max(column, where.size()), ' ');
  return {label, where + (source.empty() ? "" : "  " + source), BaseName(place.file), place.line};
}

// An unrolled loop has several instructions on one source line; for the reader they are one place.
bool SamePlace(const ThreadPlace& a, const ThreadPlace& b) {
  return a.line == b.line && a.instruction == b.instruction && a.file == b.file && a.operation == b.operation &&
         (a.line > 0 || a.ptx_line == b.ptx_line);
}

bool IsOneLine(const ThreadPlace& a, const ThreadPlace& b) {
  return a.line > 0 && a.line == b.line && a.file == b.file;
}

// Whether a single __syncthreads() fixes both races: between all first accesses and all second ones, or at the end of a
// loop in which the second ones come before the first.
bool EndByOneBarrier(const Finding& a, const Finding& b) {
  for (const Finding* race : {&a, &b}) {
    if (race->across_blocks || race->lost_update || !race->memory || race->memory->space != MemorySpace::kShared) {
      return false;
    }
  }
  const auto in_next_round = [](const Finding& race) { return race.second->ptx_line <= race.first.ptx_line; };
  if (in_next_round(a) != in_next_round(b)) return false;
  if (in_next_round(a)) return a.first.in_loop && a.second->in_loop && b.first.in_loop && b.second->in_loop;
  return std::max(a.first.ptx_line, b.first.ptx_line) < std::min(a.second->ptx_line, b.second->ptx_line);
}

// In a race either access may have come first.
bool Folds(const Finding& a, const Finding& b) {
  if (a.kind != b.kind || a.kernel != b.kernel || a.second.has_value() != b.second.has_value()) return false;
  if (!a.second) return SamePlace(a.first, b.first);
  if (a.kind == FindingKind::kRace && a.first.operation.empty() && a.second->operation.empty() &&
      b.first.operation.empty() && b.second->operation.empty()) {
    if (IsOneLine(a.first, *a.second) && IsOneLine(b.first, *b.second) && IsOneLine(a.first, b.first)) return true;
    if (EndByOneBarrier(a, b)) return true;
  }
  return (SamePlace(a.first, b.first) && SamePlace(*a.second, *b.second)) ||
         (a.kind == FindingKind::kRace && SamePlace(a.first, *b.second) && SamePlace(*a.second, b.first));
}

}  // namespace

std::string_view NameOf(MemorySpace space) {
  switch (space) {
    case MemorySpace::kGlobal:
      return "global";
    case MemorySpace::kShared:
      return "shared";
    case MemorySpace::kLocal:
      return "local";
    case MemorySpace::kConst:
      return "constant";
    case MemorySpace::kParam:
      return "parameter";
  }
  return "";
}

std::string_view NameOf(AccessKind access) {
  switch (access) {
    case AccessKind::kLoad:
      return "load";
    case AccessKind::kStore:
      return "store";
    case AccessKind::kAtomic:
      return "atomic operation";
  }
  return "";
}

FindingText Describe(const Finding& finding) {
  FindingText text;
  text.heading = InfoOf(finding.kind).heading;
  if (!finding.kernel.empty()) {
    text.launch = Clean(finding.kernel) + "<<<" + ShapeText(finding.grid) + "," + ShapeText(finding.block_dim) + ">>>";
  }
  text.lines.push_back(Evidence(finding));
  if (finding.second) {
    const size_t column = std::max(Where(finding.first).size(), Where(*finding.second).size());
    text.lines.push_back(PartyLine("first", finding.first, column));
    text.lines.push_back(PartyLine("second", *finding.second, column));
  } else if (!finding.kernel.empty()) {
    text.lines.push_back(PartyLine("at", finding.first, 0));
  } else if (const std::string source = Source(finding.first); !source.empty()) {
    text.lines.emplace_back("at", source, BaseName(finding.first.file), finding.first.line);
  }
  if (finding.memory && !finding.memory->allocated_at.empty() && !finding.memory->buffer_name.empty()) {
    text.lines.emplace_back(
        "buffer", BufferName(*finding.memory) + " was allocated at " + BaseName(finding.memory->allocated_at));
  }
  for (const std::string& line : finding.standing) {
    text.lines.emplace_back(&line == finding.standing.data() ? "threads" : " ", Clean(line));
  }
  if (finding.count > 1) text.lines.emplace_back("times", Number(finding.count));
  if (!finding.launched_by.empty()) text.lines.emplace_back("from", Clean(finding.launched_by) + ", which launched it");
  text.hint = TextOf(HintOf(finding), LanguageOf(finding.first.file));
  return text;
}

std::string MessageLine::Rendered() const {
  constexpr size_t kLabel = 8;
  if (label.empty()) return text;
  std::string padded = label;
  padded.resize(std::max(kLabel, label.size() + 1), ' ');
  return padded + text;
}

std::string Format(const Finding& finding) {
  const FindingText parts = Describe(finding);
  std::string text(parts.heading);
  if (!parts.launch.empty()) text += "  " + parts.launch;
  for (const MessageLine& line : parts.lines) text += "\n  " + line.Rendered();
  if (!parts.hint.empty()) text += "\n  hint    " + std::string(parts.hint);
  return text;
}

namespace {

// Names come from the program and may be megabytes long; messages truncate them.
constexpr size_t kMostText = 4096;

void Clip(std::string& text) {
  if (text.size() > kMostText) text.replace(kMostText, std::string::npos, "…");
}

void Clip(ThreadPlace& place) {
  for (std::string* text : {&place.file, &place.in_file, &place.instruction, &place.operation}) Clip(*text);
}

}  // namespace

void FindingList::Add(Finding finding) {
  for (std::string* text : {&finding.kernel, &finding.launched_by, &finding.detail}) Clip(*text);
  for (std::string& line : finding.standing) Clip(line);
  Clip(finding.first);
  if (finding.second) Clip(*finding.second);
  if (finding.memory) {
    Clip(finding.memory->buffer_name);
    Clip(finding.memory->allocated_at);
  }
  for (Finding& present : findings_) {
    if (!Folds(present, finding)) continue;
    present.count += finding.count;
    present.fatal |= finding.fatal;
    const auto is_written_first = [](const Finding& race) {
      return race.second && race.first.access == AccessKind::kStore && race.second->access == AccessKind::kLoad;
    };
    const bool says_more = present.across_blocks == finding.across_blocks &&
                           IsOneLine(finding.first, finding.second.value_or(finding.first)) &&
                           is_written_first(finding) && !is_written_first(present) && !finding.first.in_loop;
    if ((finding.across_blocks && !present.across_blocks) || says_more) {
      // Findings across blocks show two blocks as an example; those of an unrolled loop show how its iterations
      // conflict.
      present.first = std::move(finding.first);
      present.second = std::move(finding.second);
      present.memory = std::move(finding.memory);
      present.detail = std::move(finding.detail);
      present.clue = finding.clue;
      present.warp_barrier = finding.warp_barrier;
    }
    present.across_blocks |= finding.across_blocks;
    present.several_warps |= finding.several_warps;
    present.lost_update |= finding.lost_update;
    return;
  }
  if (findings_.size() >= kMaximum) {
    dropped_ += finding.count;
    return;
  }
  findings_.push_back(std::move(finding));
}

void FindingList::Clear() {
  findings_.clear();
  dropped_ = 0;
}

}  // namespace lockstep::vgpu
