#include "vgpu/cudart/host_transfers.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "vgpu/cudart/report/call_site.h"
#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

namespace {

using Row = HostTransfers::Row;

bool Meet(const Row& a, const Row& b) { return a.at < b.at + b.bytes && b.at < a.at + a.bytes; }

bool Meet(const std::vector<Row>& a, const std::vector<Row>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Row& x) {
    return std::any_of(b.begin(), b.end(), [&](const Row& y) { return Meet(x, y); });
  });
}

uint64_t BytesOf(const std::vector<Row>& rows) {
  uint64_t bytes = 0;
  for (const Row& row : rows) bytes += row.bytes;
  return bytes;
}

std::vector<uint8_t> Contents(const std::vector<Row>& rows) {
  std::vector<uint8_t> bytes;
  bytes.reserve(BytesOf(rows));
  for (const Row& row : rows) bytes.insert(bytes.end(), row.at, row.at + row.bytes);
  return bytes;
}

bool Same(const std::vector<Row>& rows, const std::vector<uint8_t>& bytes) {
  const uint8_t* at = bytes.data();
  for (const Row& row : rows) {
    if (std::memcmp(row.at, at, row.bytes) != 0) return false;
    at += row.bytes;
  }
  return true;
}

HostRace RaceOf(HostRace::What what, const StreamPoint& copy) {
  HostRace race;
  race.what = what;
  race.stream = copy.stream;
  race.function = copy.function;
  race.call_site = copy.call_site;
  race.found_function = runtime().function();
  race.found_call_site = CallSite();
  return race;
}

}  // namespace

void HostTransfers::Compare(Runtime& r, const Transfer& source) {
  if (Same(source.rows, source.bytes)) return;
  HostRace race = RaceOf(HostRace::What::kChangedSource, source.copy);
  const std::vector<uint8_t> now = Contents(source.rows);
  bool found = false;
  for (size_t k = 0; k < now.size(); ++k) {
    if (now[k] == source.bytes[k]) continue;
    if (!found) race.offset = k;
    found = true;
    race.bytes = k + 1 - race.offset;
  }
  r.backend().Report(race);
}

void HostTransfers::Drop(size_t source) {
  watched_ -= sources_[source].bytes.size();
  sources_.erase(sources_.begin() + static_cast<std::ptrdiff_t>(source));
}

void HostTransfers::Deliver(Runtime& r, const StreamPoint& copy, std::vector<Row> rows, std::vector<uint8_t> bytes) {
  // Earlier snapshots of the destination are obsolete.
  for (size_t k = sources_.size(); k-- > 0;) {
    if (!Meet(sources_[k].rows, rows)) continue;
    Compare(r, sources_[k]);
    Drop(k);
  }
  for (const Row& row : rows) std::memset(row.at, kNotArrived, row.bytes);
  deliveries_.push_back({copy, std::move(rows), std::move(bytes)});
}

void HostTransfers::DeliverResults(const StreamPoint& work, std::vector<Row> rows, std::vector<uint8_t> bytes) {
  deliveries_.push_back({work, std::move(rows), std::move(bytes), true});
}

void HostTransfers::Watch(Runtime& r, const StreamPoint& copy, std::vector<Row> rows) {
  const uint64_t bytes = BytesOf(rows);
  if (bytes == 0) return;
  if (bytes > kMostWatched - watched_) return r.backend().LeaveOut(Gap::kHostSources);
  watched_ += bytes;
  std::vector<uint8_t> contents = Contents(rows);
  sources_.push_back({copy, std::move(rows), std::move(contents)});
}

template <typename Covered>
void HostTransfers::DeliverWhere(Runtime& r, Covered covered) {
  for (size_t k = 0; k < deliveries_.size();) {
    if (!covered(deliveries_[k].copy)) {
      ++k;
      continue;
    }
    const Transfer arrived = std::move(deliveries_[k]);
    deliveries_.erase(deliveries_.begin() + static_cast<std::ptrdiff_t>(k));
    const uint8_t* from = arrived.bytes.data();
    for (const Row& row : arrived.rows) {
      std::memcpy(row.at, from, row.bytes);
      from += row.bytes;
      if (arrived.results) r.mapped().Arrived(row.at, row.bytes);
    }
    // A source that still overlaps belongs to an unordered operation, and that race is reported anyway: drop it.
    for (size_t source = sources_.size(); source-- > 0;) {
      if (Meet(sources_[source].rows, arrived.rows)) Drop(source);
    }
  }
}

template <typename Covered>
void HostTransfers::CompareWhere(Runtime& r, Covered covered) {
  for (size_t k = 0; k < sources_.size();) {
    if (covered(sources_[k].copy)) {
      Compare(r, sources_[k]);
      Drop(k);
    } else {
      ++k;
    }
  }
}

void HostTransfers::Arrive(Runtime& r) {
  const auto covered = [&clocks = r.timeline().clocks()](const StreamPoint& copy) {
    return clocks.HostHasWaited(copy.slot, copy.sequence);
  };
  // Sources first: results may overwrite them.
  CompareWhere(r, covered);
  DeliverWhere(r, covered);
}

namespace {

auto Before(const StreamClocks::Clock& clock) {
  return [&clock](const StreamPoint& copy) { return copy.slot < clock.size() && copy.sequence <= clock[copy.slot]; };
}

}  // namespace

void HostTransfers::ArriveBefore(Runtime& r, const StreamClocks::Clock& before) { DeliverWhere(r, Before(before)); }

void HostTransfers::BeforeHostFunction(Runtime& r, const StreamClocks::Clock& before) {
  CompareWhere(r, Before(before));
  DeliverWhere(r, Before(before));
}

void HostTransfers::Free(Runtime& r, const void* begin, uint64_t bytes) {
  const std::vector<Row> freed = {{static_cast<uint8_t*>(const_cast<void*>(begin)), bytes}};
  std::erase_if(deliveries_, [&](const Transfer& transfer) {
    if (!Meet(transfer.rows, freed)) return false;
    if (transfer.results) return true;
    r.backend().Report(RaceOf(HostRace::What::kFreedDestination, transfer.copy));
    return true;
  });
  // Most drivers wait for pending copies before they free their source, but that is undocumented: report it.
  for (size_t k = sources_.size(); k-- > 0;) {
    if (!Meet(sources_[k].rows, freed)) continue;
    Compare(r, sources_[k]);
    if (!r.timeline().clocks().HostHasWaited(sources_[k].copy.slot, sources_[k].copy.sequence)) {
      r.backend().Report(RaceOf(HostRace::What::kFreedSource, sources_[k].copy));
    }
    Drop(k);
  }
}

namespace {

// This thread's stack.
std::pair<uintptr_t, uintptr_t> StackBounds() {
  thread_local const std::pair<uintptr_t, uintptr_t> bounds = [] {
    pthread_attr_t attributes;
    void* begin = nullptr;
    size_t bytes = 0;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return std::pair<uintptr_t, uintptr_t>{0, 0};
    ::pthread_attr_getstack(&attributes, &begin, &bytes);
    ::pthread_attr_destroy(&attributes);
    const auto low = reinterpret_cast<uintptr_t>(begin);
    return std::pair{low, low + bytes};
  }();
  return bounds;
}

}  // namespace

void HostTransfers::WatchArgument(Runtime& r, const StreamPoint& call, const void* argument) {
  const auto at = reinterpret_cast<uintptr_t>(argument);
  const auto [low, high] = StackBounds();
  uint32_t word = 0;
  if (at < low || at + sizeof word > high) return;
  std::memcpy(&word, argument, sizeof word);
  std::erase_if(arguments_, [&](const Argument& earlier) {
    if (earlier.at != at || ::pthread_equal(earlier.thread, ::pthread_self()) == 0) return false;
    if (r.timeline().clocks().HostHasWaited(earlier.call.slot, earlier.call.sequence)) return true;
    if (earlier.first_word == word) return false;
    r.backend().Report(RaceOf(HostRace::What::kArgumentGone, earlier.call));
    return true;
  });
  arguments_.push_back({call, at, ::pthread_self(), word});
}

void HostTransfers::HasRun(const void* argument) {
  for (Argument& watched : arguments_) {
    if (watched.at == reinterpret_cast<uintptr_t>(argument))
      std::memcpy(&watched.first_word, argument, sizeof(uint32_t));
  }
}

void HostTransfers::LookAtArguments(Runtime& r, const void* frame) {
  const auto here = reinterpret_cast<uintptr_t>(frame);
  const auto [low, high] = StackBounds();
  if (here < low || here >= high) return;
  std::erase_if(arguments_, [&](const Argument& argument) {
    if (::pthread_equal(argument.thread, ::pthread_self()) == 0) return false;
    if (r.timeline().clocks().HostHasWaited(argument.call.slot, argument.call.sequence)) return true;
    if (argument.at >= here) return false;
    r.backend().Report(RaceOf(HostRace::What::kArgumentGone, argument.call));
    r.host_calls().Drop(reinterpret_cast<const void*>(argument.at));
    return true;
  });
}

void HostTransfers::BeforeDeviceWrites(Runtime& r) {
  // A source that has changed until now was changed by the host, although its copy still had to read it.
  for (size_t k = 0; k < sources_.size();) {
    if (Same(sources_[k].rows, sources_[k].bytes)) {
      ++k;
      continue;
    }
    Compare(r, sources_[k]);
    Drop(k);
  }
}

void HostTransfers::AfterDeviceWrites() {
  for (Transfer& source : sources_) {
    if (!Same(source.rows, source.bytes)) source.bytes = Contents(source.rows);
  }
}

StreamOperation::StreamOperation(Runtime& r, const Stream& stream, bool is_kernel, std::vector<StreamPoint::Span> spans)
    : r_(r), point_(r.timeline().Begin(stream)), is_kernel_(is_kernel) {
  point_.function = r.function();
  point_.spans = std::move(spans);
  r.host_calls().CallBefore(r, point_.before);
  if (r.backend().WatchesStreams() && (!is_kernel || r.timeline().clocks().several())) point_.call_site = CallSite();
}

void StreamOperation::Begin() {
  told_ = r_.backend().WatchesStreams() && (!is_kernel_ || r_.timeline().clocks().several());
  if (!told_) return;
  if (r_.backend().HoldsAllDevices()) return r_.backend().BeginOperation(point_);
  r_.ForEachBackend([this](Backend& backend) { backend.BeginOperation(point_); });
}

void StreamOperation::End() {
  if (!std::exchange(told_, false)) return;
  if (r_.backend().HoldsAllDevices()) return r_.backend().EndOperation();
  r_.ForEachBackend([](Backend& backend) { backend.EndOperation(); });
}

HostMemoryInUse::HostMemoryInUse(Runtime& r, const StreamPoint& point) : r_(r), point_(point) {
  reaches_ = r.backend().HostSeesDeviceMemory() || !r.mapped().empty();
  if (!reaches_) return;
  r.transfers().ArriveBefore(r, point.before);
  r.mapped().ToDevice(r);
  r.transfers().BeforeDeviceWrites(r);
}

void HostMemoryInUse::Suspend() { r_.mapped().Exchange(r_); }

HostMemoryInUse::~HostMemoryInUse() {
  if (!reaches_) return;
  r_.transfers().AfterDeviceWrites();
  r_.mapped().FromDevice(r_, point_);
}

}  // namespace lockstep::vgpu::cudart
