#include "vgpu/memory/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "vgpu/memory/address_space.h"
#include "vgpu/memory/freed.h"
#include "vgpu/memory/owner.h"

namespace lockstep::vgpu {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kGap = 512;
constexpr uint64_t kNearby = 64 << 10;
constexpr uint64_t kPastEndIsLikelier = 4;  // distances before a buffer's start count this many times
constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = 2 << 20;
constexpr size_t kMostFreed = 8192;
constexpr uint64_t kLargestArena = uint64_t{1} << kWindowShift;
constexpr uint64_t kReservable = uint64_t{256} << 30;

std::mutex arena_mutex;
std::bitset<kMaxArenas> arena_used;
// The most recently freed allocations of each arena, oldest first; for messages.
std::array<std::vector<Allocation>, kMaxArenas> freed_of_arena;
struct Owned {
  uint64_t bytes;
  int device;
};
std::map<uint64_t, Owned> owners;  // by base, of allocations that were given to a device
int running_on = -1;               // the device whose kernels run; -1: any
void ForgetOwners(uint64_t begin, uint64_t end) { owners.erase(owners.lower_bound(begin), owners.lower_bound(end)); }

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

GlobalMemory::GlobalMemory(uint64_t capacity) : capacity_(std::min(capacity, kLargestArena / 8)) {
  // Four times the capacity, so that freed ranges are not reused for a long time.
  const uint64_t own = std::min(kLargestArena - kReservable, RoundUp(capacity_ * 4 + (uint64_t{1} << 32), kPage));
  const uint64_t bytes = own + kReservable;
  std::lock_guard lock(arena_mutex);
  for (int slot = 0; slot < kMaxArenas && slot_ < 0; ++slot) {
    if (arena_used[slot]) continue;
    const uint64_t base = kArenaWindow + (static_cast<uint64_t>(slot) << kWindowShift);
    void* p = mmap(reinterpret_cast<void*>(base), bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == MAP_FAILED) continue;
    if (reinterpret_cast<uint64_t>(p) != base) {  // an old kernel treats the address as a hint
      munmap(p, bytes);
      continue;
    }
    slot_ = slot;
    begin_ = base;
    end_ = base + bytes;
  }
  if (slot_ < 0) {
    throw std::runtime_error(
        "no address space for the virtual GPU's memory, which begins at 2^45: type ulimit -v unlimited; arm64 needs a "
        "kernel with 48 bits of addresses");
  }
  arena_used.set(slot_);
  // A quarter for kernels' malloc().
  const uint64_t heap = begin_ + RoundUp(own / 4 * 3, kPage), reservable = begin_ + own;
  own_ = {begin_ + kPage, heap, begin_ + kPage};
  heap_ = {heap + kPage, reservable, heap + kPage};
  reservable_ = {RoundUp(reservable + kPage, kHugePage), end_, 0};
}

GlobalMemory::~GlobalMemory() {
  ForgetOwners(begin_, end_);
  munmap(reinterpret_cast<void*>(begin_), end_ - begin_);
  std::lock_guard lock(arena_mutex);
  freed_of_arena[static_cast<size_t>(slot_)].clear();
  arena_used.reset(slot_);
}

std::optional<uint64_t> GlobalMemory::FindGap(Region& region, uint64_t footprint) const {
  if (footprint <= region.end - region.next) return std::exchange(region.next, region.next + footprint);
  uint64_t at = region.begin;
  steps_ += live_.size();
  for (auto it = live_.lower_bound(region.begin); it != live_.end() && it->first < region.end; ++it) {
    const Allocation& a = it->second;
    if (a.base >= at && a.base - at >= footprint) return at;
    at = RoundUp(a.base + a.bytes + kGap, kAlignment);
  }
  if (at < region.end && region.end - at >= footprint) return at;
  return std::nullopt;
}

uint64_t GlobalMemory::AllocateIn(Region& region, Allocation allocation) {
  const uint64_t bytes = allocation.bytes;
  if (bytes == 0 || bytes > capacity_ - region.used) return 0;
  const std::optional<uint64_t> base = FindGap(region, RoundUp(bytes + kGap, kAlignment));
  if (!base) return 0;
  region.used += bytes;
  allocation.base = *base;
  if (running_on > 0) GiveTo(*base, bytes, running_on);
  live_.emplace(*base, std::move(allocation));
  // Scattered accesses to a large buffer would otherwise miss the TLB. The system may ignore this.
  const uint64_t first = RoundUp(*base, kHugePage), last = (*base + bytes) / kHugePage * kHugePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
  return *base;
}

uint64_t GlobalMemory::Allocate(uint64_t bytes, std::string label, std::string allocated_at, bool hidden,
                                bool read_only) {
  return AllocateIn(own_, {0, bytes, std::move(label), std::move(allocated_at), hidden, read_only});
}

uint64_t GlobalMemory::AllocateHeap(uint64_t bytes) {
  heap_was_used_ = true;
  const uint64_t address =
      AllocateIn(heap_, {0, std::max<uint64_t>(bytes, 1), std::string(kKernelHeapName), "", true, false});
  if (address != 0 && !heap_plan_.Take(address, bytes)) return Free(address), 0;
  heap_most_ = std::max(heap_most_, heap_.used);
  return address;
}

bool GlobalMemory::ResizeHeap(uint64_t bytes) {
  if (heap_was_used_) return false;
  heap_plan_ = HeapPlan(bytes);
  return true;
}

bool GlobalMemory::Free(uint64_t address) {
  heap_plan_.Give(address);
  const auto found = live_.find(address);
  if (found == live_.end()) return false;
  Allocation* const at = &found->second;
  const auto end_of = [](const auto& entry) { return entry.first + entry.second.bytes; };
  // Returns pages to the system; memory that is reused later is zero.
  static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t from = address / page * page, to = RoundUp(address + at->bytes, page);
  const uint64_t low = found == live_.begin() ? begin_ : RoundUp(end_of(*std::prev(found)), page);
  const uint64_t high = std::next(found) == live_.end() ? end_ : std::next(found)->first / page * page;
  const uint64_t first = std::max(from, low), last = std::min(to, high);
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  (address < own_.end ? own_ : heap_).used -= at->bytes;
  if (!at->hidden || at->label == kKernelHeapName) {
    std::vector<Allocation>& freed = freed_of_arena[static_cast<size_t>(slot_)];
    if (freed.size() >= kMostFreed) freed.erase(freed.begin(), freed.begin() + kMostFreed / 2);
    freed.push_back(std::move(*at));
    // An unnamed buffer is identified by its size and line.
    std::string& name = freed.back().label;
    name = (name.empty() ? "a buffer of " + std::to_string(freed.back().bytes) + " bytes" : name) +
           std::string(kFreedName);
  }
  owners.erase(address);
  live_.erase(found);
  return true;
}

uint64_t GlobalMemory::Reserve(uint64_t bytes, uint64_t alignment) {
  const uint64_t unit = std::max(alignment, kHugePage);
  uint64_t at = RoundUp(reservable_.begin, unit);
  for (const auto& [address, taken] : reserved_) {
    if (address >= at && address - at >= bytes) break;
    at = RoundUp(address + taken, unit);
  }
  if (at >= reservable_.end || bytes > reservable_.end - at) return 0;
  reserved_[at] = bytes;
  return at;
}

bool GlobalMemory::Unreserve(uint64_t address, uint64_t bytes) {
  const auto found = reserved_.find(address);
  if (found == reserved_.end() || found->second != bytes) return false;
  const auto first = live_.lower_bound(address);
  if (first != live_.end() && first->first < address + bytes) return false;
  reserved_.erase(found);
  return true;
}

bool GlobalMemory::Take(uint64_t bytes) {
  if (bytes > free_bytes()) return false;
  own_.used += bytes;
  return true;
}

bool GlobalMemory::IsReserved(uint64_t address, uint64_t bytes) const {
  auto range = reserved_.upper_bound(address);
  if (range == reserved_.begin()) return false;
  --range;
  return address - range->first < range->second && bytes <= range->first + range->second - address;
}

bool GlobalMemory::MapAt(Allocation allocation, int file) {
  const uint64_t base = allocation.base, bytes = allocation.bytes;
  if (!IsReserved(base, bytes)) return false;
  const auto above = live_.upper_bound(base);
  if (above != live_.end() && above->first < base + bytes) return false;
  if (above != live_.begin() && std::prev(above)->first + std::prev(above)->second.bytes > base) return false;
  void* const place = reinterpret_cast<void*>(base);
  if (mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) return false;
  allocation.mapped = true;
  live_.emplace(base, std::move(allocation));
  return true;
}

bool GlobalMemory::Unmap(uint64_t address) {
  const auto at = live_.find(address);
  if (at == live_.end() || !at->second.mapped) return false;
  void* const place = reinterpret_cast<void*>(address);
  const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(place, at->second.bytes, PROT_READ | PROT_WRITE, kind, -1, 0) == MAP_FAILED) return false;
  live_.erase(at);
  return true;
}

void GlobalMemory::FreeAll() {
  std::vector<uint64_t> mapped;
  for (const auto& [base, a] : live_) {
    if (a.mapped) mapped.push_back(base);
  }
  for (const uint64_t address : mapped) Unmap(address);
  reserved_.clear();
  madvise(reinterpret_cast<void*>(begin_), end_ - begin_, MADV_DONTNEED);
  live_.clear();
  ForgetOwners(begin_, end_);
  heap_plan_ = HeapPlan(kUsualHeap);
  heap_was_used_ = false;
  freed_of_arena[static_cast<size_t>(slot_)].clear();
  for (Region* region : {&own_, &heap_}) {
    region->next = region->begin;
    region->used = 0;
  }
}

const Allocation* GlobalMemory::Find(uint64_t address) const {
  const auto above = live_.upper_bound(address);
  if (above == live_.begin()) return nullptr;
  const Allocation& a = std::prev(above)->second;
  if (running_on >= 0 && OwnerOf(a.base) != running_on) return nullptr;
  return address - a.base < a.bytes ? &a : nullptr;
}

int OwnerOf(uint64_t address) {
  const auto above = owners.upper_bound(address);
  if (above == owners.begin()) return 0;
  const auto& [base, owned] = *std::prev(above);
  return address - base < owned.bytes ? owned.device : 0;
}

void GiveTo(uint64_t base, uint64_t bytes, int device) {
  if (device > 0) owners[base] = {bytes, device};
}

RunningOn::RunningOn(int device) { running_on = device; }
RunningOn::~RunningOn() { running_on = -1; }

const Allocation* GlobalMemory::Nearest(uint64_t address) const {
  const auto above = live_.upper_bound(address);
  const Allocation* best = nullptr;
  uint64_t distance = kNearby;  // distance to the end of the buffer below
  if (above != live_.begin()) {
    const Allocation& below = std::prev(above)->second;
    if (address - below.base < below.bytes) return &below;  // even if it belongs to another device
    const uint64_t d = address - (below.base + below.bytes);
    if (d < distance) {
      distance = d;
      best = &below;
    }
  }
  // Threads run past an array's end far more often, and farther, than before its start.
  const uint64_t handicap = best != nullptr ? kPastEndIsLikelier : 1;
  if (above != live_.end() && handicap * (above->first - address) < distance) best = &above->second;
  return best;
}

const Allocation* FindFreed(uint64_t address) {
  const uint64_t slot = (address - kArenaWindow) >> kWindowShift;
  if (address < kArenaWindow || slot >= kMaxArenas) return nullptr;
  const std::vector<Allocation>& freed = freed_of_arena[slot];
  const auto found = std::find_if(freed.rbegin(), freed.rend(),
                                  [&](const Allocation& a) { return address >= a.base && address - a.base < a.bytes; });
  return found == freed.rend() ? nullptr : &*found;
}

}  // namespace lockstep::vgpu
