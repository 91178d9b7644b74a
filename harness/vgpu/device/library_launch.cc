#include "vgpu/device/library_launch.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "vgpu/core/hint.h"
#include "vgpu/memory/freed.h"
#include "vgpu/model/time_model.h"

namespace lockstep::vgpu {

namespace {

// Sets file and line from "solve.cu:40".
void SetSource(const std::string& call_site, ThreadPlace& place) {
  const size_t colon = call_site.find_last_of(':');
  if (colon == std::string::npos) return;
  place.file = call_site.substr(0, colon);
  place.line = std::atoi(call_site.c_str() + colon + 1);
}

}  // namespace

Finding LibraryLaunch::FindingOf(FindingKind kind, const MemoryRows& rows, uint64_t row, uint64_t address,
                                 uint64_t bytes) const {
  Finding finding;
  finding.kind = kind;
  finding.first.access = rows.reads ? AccessKind::kLoad : AccessKind::kStore;
  SetSource(function_.call_site, finding.first);
  MemoryPlace place = device_.PlaceOf(address);
  place.bytes = static_cast<uint32_t>(std::min<uint64_t>(bytes, ~uint32_t{0}));
  finding.memory = std::move(place);
  finding.detail = function_.name + (rows.reads ? " reads " : " writes ") + rows.what;
  if (rows.rows > 1) {
    finding.detail += ", which has " + std::to_string(rows.rows) + " parts of " + std::to_string(rows.width) +
                      " bytes, " + std::to_string(rows.pitch) + " bytes apart: this is in part " + std::to_string(row);
  }
  return finding;
}

bool LibraryLaunch::TouchRow(const MemoryRows& rows, uint64_t address, uint64_t row) {
  if (!device_.Contains(address, rows.width)) {
    const bool nowhere = !device_.PlaceOf(address).in_buffer || address < kNullPage;
    Finding finding =
        FindingOf(nowhere ? FindingKind::kInvalidAddress : FindingKind::kOutOfBounds, rows, row, address, rows.width);
    finding.fatal = true;
    finding.hint = nowhere ? Hint::kLibraryNeedsDeviceMemory : Hint::kLibrarySizes;
    device_.Report(std::move(finding));
    return false;
  }
  if (address % rows.alignment != 0) {
    Finding finding = FindingOf(FindingKind::kMisaligned, rows, row, address, rows.alignment);
    finding.fatal = true;
    finding.hint = Hint::kLibraryMisaligned;
    device_.Report(std::move(finding));
    is_misaligned_ = true;
    return false;
  }
  if (rows.reads) {
    const uint64_t unwritten = device_.FirstUnwritten(address, rows.width, rows.element);
    if (unwritten < rows.width) {
      Finding finding = FindingOf(FindingKind::kUninitialized, rows, row, address + unwritten, rows.element);
      finding.hint = Hint::kLibraryReadsUnset;
      device_.Report(std::move(finding));
    }
    device_.Look(address, rows.width);
  }
  if (rows.writes) device_.Wrote(address, rows.width);
  device_.MarkWatched(address, rows.width, rows.reads, rows.writes);
  return true;
}

bool LibraryLaunch::Touch(const MemoryRows& rows) {
  if (device_.faulted()) return false;
  if (rows.width == 0 || rows.rows == 0) return true;
  MemoryRows joined = rows;
  if (rows.pitch == rows.width) {
    joined.width *= rows.rows;
    joined.rows = 1;
  }
  const double bytes = static_cast<double>(joined.width) * static_cast<double>(joined.rows);
  bytes_ += bytes * ((rows.reads ? 1 : 0) + (rows.writes ? 1 : 0));
  for (uint64_t row = 0; row < joined.rows; ++row) {
    if (!TouchRow(joined, joined.address + row * joined.pitch, row)) return false;
  }
  return true;
}

LaunchResult LibraryLaunch::End() {
  LaunchRecord record;
  record.kernel = record.mangled = function_.name;
  record.grid = record.block = {0, 0, 0};
  record.library = {bytes_, function_.operations, function_.arithmetic};
  const DeviceProfile* const timed_as = device_.options().timed_as;
  const TimeEstimate time = EstimateTime(record, timed_as != nullptr ? *timed_as : device_.profile());
  record.microseconds = time.microseconds;
  record.bound_by = time.bound_by;
  device_.Record(std::move(record));
  const LaunchError error = is_misaligned_      ? LaunchError::kMisalignedAddress
                            : device_.faulted() ? LaunchError::kIllegalAddress
                                                : LaunchError::kNone;
  return {error, time.microseconds};
}

}  // namespace lockstep::vgpu
