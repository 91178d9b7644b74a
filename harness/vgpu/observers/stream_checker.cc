#include "vgpu/observers/stream_checker.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "vgpu/core/hint.h"
#include "vgpu/core/program.h"
#include "vgpu/core/source_place.h"

namespace lockstep::vgpu {
namespace {

uint32_t At(const std::vector<uint32_t>& clock, uint32_t slot) { return slot < clock.size() ? clock[slot] : 0; }

bool Stores(StreamAccess access) {
  return access == StreamAccess::kStore || access == StreamAccess::kKeep || access == StreamAccess::kStrongStore;
}

AccessKind KindOf(StreamAccess access) { return Stores(access) ? AccessKind::kStore : AccessKind::kLoad; }

std::string Order(StreamAccess first, StreamAccess second) {
  return std::string(Stores(second) ? "write" : "read") + " after " + (Stores(first) ? "write" : "read");
}

// Sets file and line from "shift.cu:17"; a function name has neither.
void SetCallSite(const std::string& site, ThreadPlace& place) {
  const size_t colon = site.find_last_of(':');
  if (colon == std::string::npos || colon + 1 == site.size()) return;
  char* end = nullptr;
  const long line = std::strtol(site.c_str() + colon + 1, &end, 10);
  if (*end != '\0' || line <= 0) return;
  place.file = site.substr(0, colon);
  place.line = static_cast<int>(line);
}

std::string BaseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// ", called at shift.cu:17", or ", called in main()" without line information.
std::string Called(const std::string& site, const std::string& how = "called") {
  if (site.empty()) return "";
  return ", " + how + (site.ends_with("()") ? " in " : " at ") + BaseName(site);
}

// Sets the source line, if all these instructions share one.
void SetLine(const Program& program, const std::vector<uint32_t>& pcs, ThreadPlace& place) {
  if (pcs.empty()) return;
  const SourcePlaces places(program);
  const ptx::SourceLocation shown = places.Shown(pcs[0]);
  for (const uint32_t pc : pcs) {
    const ptx::SourceLocation other = places.Shown(pc);
    if (other.file != shown.file || other.line != shown.line) return;
  }
  if (shown.line == 0 || shown.file < 0 || shown.file >= static_cast<int>(program.files.size())) return;
  place.file = program.files[static_cast<size_t>(shown.file)];
  place.line = shown.line;
}

Hint HintOf(const StreamPoint& first_point, const StreamPoint& second_point, bool frees) {
  const StreamKind first = first_point.kind, second = second_point.kind;
  if (first_point.stream == second_point.stream && first_point.slot != second_point.slot) return Hint::kNoEdge;
  if (frees) return Hint::kFreedInOtherStream;
  const bool with_default = first == StreamKind::kDefault || second == StreamKind::kDefault;
  if (with_default) return Hint::kNonBlockingAndDefault;
  return Hint::kStreamsUnordered;
}

}  // namespace

void StreamChecker::Begin(StreamPoint point) {
  current_ = Operation{};
  current_->point = std::move(point);
  for (const StreamPoint::Span& span : current_->point.spans) {
    Access(span.writes ? StreamAccess::kStore : StreamAccess::kLoad, span.address, span.bytes);
  }
  std::erase_if(earlier_, [&](const Operation& operation) {
    const bool waited = operation.point.sequence <= At(current_->point.waited, operation.point.slot);
    if (waited) spans_ -= operation.footprint.spans();
    return waited;
  });
}

void StreamChecker::Launched(std::shared_ptr<const Program> program, const LaunchInfo& info,
                             std::optional<Footprint> footprint) {
  if (!current_ || !footprint) return;
  current_->footprint = std::move(*footprint);
  current_->program = std::move(program);
  current_->kernel = info.kernel;
  current_->grid = info.grid;
  current_->block = info.block;
  current_->launch = info.ordinal;
}

std::vector<Finding> StreamChecker::Compare(const Operation& operation) {
  std::vector<Finding> findings;
  for (const Operation& earlier : earlier_) {
    if (earlier.point.sequence <= At(operation.point.before, earlier.point.slot)) continue;
    if (const auto conflict = earlier.footprint.ConflictsWith(operation.footprint)) {
      findings.push_back(FindingOf(earlier, operation, *conflict));
    }
  }
  return findings;
}

std::vector<Finding> StreamChecker::End() {
  if (!current_) return {};
  std::vector<Finding> findings = Compare(*current_);
  if (const size_t spans = current_->footprint.spans()) {
    spans_ += spans;
    earlier_.push_back(std::move(*current_));
    while (earlier_.size() > kMostOperations || (spans_ > kMostSpans && earlier_.size() > 1)) {
      gaps_.Add(Gap::kOperations);
      spans_ -= earlier_.front().footprint.spans();
      earlier_.pop_front();
    }
  }
  current_.reset();
  return findings;
}

std::vector<Finding> StreamChecker::GoOn() {
  if (!current_) return {};
  StreamPoint next = current_->point;
  next.spans.clear();
  next.before.resize(std::max<size_t>(next.before.size(), next.slot + size_t{1}));
  next.before[next.slot] = std::max(next.before[next.slot], next.sequence);
  std::vector<Finding> findings = End();
  Begin(std::move(next));
  return findings;
}

std::vector<Finding> StreamChecker::Free(uint64_t address, uint64_t bytes) {
  std::vector<Finding> findings;
  if (current_) {
    Operation freeing;
    freeing.point = current_->point;
    freeing.frees = true;
    freeing.footprint.Add(StreamAccess::kStore, address, address + bytes);
    findings = Compare(freeing);
    current_->footprint.Forget(address, address + bytes);
  }
  for (Operation& operation : earlier_) {
    spans_ -= operation.footprint.spans();
    operation.footprint.Forget(address, address + bytes);
    spans_ += operation.footprint.spans();
  }
  return findings;
}

void StreamChecker::Clear() {
  current_.reset();
  earlier_.clear();
  spans_ = 0;
}

Finding StreamChecker::FindingOf(const Operation& first, const Operation& second, const Footprint::Conflict& conflict) {
  Finding finding;
  finding.kind = FindingKind::kRace;
  const Operation& named = !second.kernel.empty() ? second : first;
  finding.kernel = named.kernel;
  finding.grid = named.grid;
  finding.block_dim = named.block;
  finding.launch = named.launch;
  const auto place = [&](const Operation& operation, StreamAccess access) {
    ThreadPlace party;
    party.access = KindOf(access);
    const std::string& site = operation.point.call_site;
    if (operation.program == nullptr) {
      party.operation = operation.point.function + " in " + operation.point.stream;
      SetCallSite(site, party);
      if (party.line == 0) party.operation += Called(site);
      return party;
    }
    party.operation = operation.kernel + " in " + operation.point.stream;
    party.operation += Called(site, "launched");
    const uint64_t address = conflict.bytes.begin;
    SetLine(*operation.program,
            Stores(access) ? operation.footprint.WritersAt(address) : operation.footprint.ReadersAt(address), party);
    if (party.line == 0) SetCallSite(site, party);
    return party;
  };
  finding.first = place(first, conflict.first);
  finding.second = place(second, conflict.second);
  finding.detail = second.frees ? "freed while it may still be in use" : Order(conflict.first, conflict.second);
  const uint64_t bytes = conflict.bytes.end - conflict.bytes.begin;
  if ((conflict.bytes.begin & StreamPoint::kHostSpace) != 0) {
    finding.detail = "page-locked host memory, " + finding.detail + ", " + std::to_string(bytes) + " bytes";
  } else {
    MemoryPlace memory;
    memory.space = MemorySpace::kGlobal;
    memory.address = conflict.bytes.begin;
    memory.bytes = static_cast<uint32_t>(std::min<uint64_t>(bytes, ~uint32_t{0}));
    describe_(memory);
    finding.memory = std::move(memory);
  }
  finding.hint = HintOf(first.point, second.point, second.frees);
  return finding;
}

Finding StreamChecker::FindingOf(const HostRace& race) {
  Finding finding;
  finding.kind = FindingKind::kRace;
  finding.first.operation = race.function + " in " + race.stream;
  SetCallSite(race.call_site, finding.first);
  if (finding.first.line == 0) finding.first.operation += Called(race.call_site);
  ThreadPlace second;
  SetCallSite(race.found_call_site, second);
  const std::string site = second.line == 0 ? Called(race.found_call_site) : "";
  switch (race.what) {
    case HostRace::What::kChangedSource:
      second.operation = "the host, before " + race.found_function + site;
      second.access = AccessKind::kStore;
      finding.detail = "page-locked host memory was changed before a copy had read it, " + std::to_string(race.bytes) +
                       " bytes from offset " + std::to_string(race.offset);
      finding.hint = Hint::kChangedBeforeCopy;
      break;
    case HostRace::What::kFreedDestination:
      second.operation = race.found_function + site;
      finding.detail = "page-locked host memory was freed before anything waited for the copy or fill into it";
      finding.hint = Hint::kFreedBeforeCopyInto;
      break;
    case HostRace::What::kFreedSource:
      second.operation = race.found_function + site;
      finding.detail = "page-locked host memory was freed before anything waited for the copy that reads it";
      finding.hint = Hint::kFreedBeforeCopyFrom;
      break;
    case HostRace::What::kArgumentGone:
      second.operation = "the host, in " + race.found_function + site;
      finding.detail =
          "the argument of a host function was a variable that went out of scope, or got its next value, before "
          "anything waited for the host function";
      finding.hint = Hint::kHostFunctionsArgument;
      break;
  }
  finding.second = std::move(second);
  return finding;
}

}  // namespace lockstep::vgpu
