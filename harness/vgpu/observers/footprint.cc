#include "vgpu/observers/footprint.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lockstep::vgpu {
namespace {

constexpr size_t Index(StreamAccess access) { return static_cast<size_t>(access); }

bool IsRead(StreamAccess access) { return access == StreamAccess::kLoad || access == StreamAccess::kStrongLoad; }

struct Pair {
  StreamAccess first, second;
};
using enum StreamAccess;
constexpr Pair kConflicts[] = {
    {kStore, kLoad},        {kStore, kStore},      {kStore, kStrongLoad}, {kStore, kStrongStore},
    {kLoad, kStore},        {kStrongLoad, kStore}, {kLoad, kStrongStore}, {kStrongStore, kLoad},
    {kStrongStore, kStore}, {kStrongStore, kKeep}, {kKeep, kStore},       {kKeep, kStrongStore},
};

// The lowest bytes common to two sorted lists.
std::optional<Footprint::Span> Common(const std::vector<Footprint::Span>& a, const std::vector<Footprint::Span>& b) {
  if (a.empty() || b.empty() || a.back().end <= b.front().begin || b.back().end <= a.front().begin) return {};
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    const uint64_t begin = std::max(x->begin, y->begin), end = std::min(x->end, y->end);
    if (begin < end) return Footprint::Span{begin, end};
    // Galloping search, for when one list is much denser than the other.
    if (x->end <= y->begin) {
      x = std::partition_point(x + 1, a.end(), [&](const auto& span) { return span.end <= y->begin; });
    } else {
      y = std::partition_point(y + 1, b.end(), [&](const auto& span) { return span.end <= x->begin; });
    }
  }
  return {};
}

}  // namespace

void Footprint::Spans::Add(Span span) {
  if (span.begin >= span.end) return;
  // The first span that the new one touches or precedes; usually the last span or the end.
  auto at = sorted.end();
  if (!sorted.empty() && sorted.back().end >= span.begin) {
    at = std::partition_point(sorted.begin(), sorted.end(), [&](const Span& s) { return s.end < span.begin; });
  }
  auto last = at;
  while (last != sorted.end() && last->begin <= span.end) {
    span.begin = std::min(span.begin, last->begin);
    span.end = std::max(span.end, last->end);
    ++last;
  }
  if (at == last) {
    sorted.insert(at, span);
  } else {
    *at = span;
    sorted.erase(at + 1, last);
  }
}

void Footprint::Add(StreamAccess access, uint64_t begin, uint64_t end) { by_access_[Index(access)].Add({begin, end}); }

void Footprint::Forget(uint64_t begin, uint64_t end) {
  for (Spans& spans : by_access_) {
    if (spans.sorted.empty() || spans.sorted.back().end <= begin || spans.sorted.front().begin >= end) continue;
    std::vector<Span> kept;
    for (const Span& span : spans.sorted) {
      if (span.begin < std::min(span.end, begin)) kept.push_back({span.begin, std::min(span.end, begin)});
      if (std::max(span.begin, end) < span.end) kept.push_back({std::max(span.begin, end), span.end});
    }
    spans.sorted = std::move(kept);
  }
}

std::optional<Footprint::Conflict> Footprint::ConflictsWith(const Footprint& later) const {
  const auto common = [&](StreamAccess first, StreamAccess second) {
    return Common(by_access_[Index(first)].sorted, later.by_access_[Index(second)].sorted);
  };
  std::optional<Conflict> lowest;
  for (const Pair& pair : kConflicts) {
    const auto bytes = common(pair.first, pair.second);
    if (bytes && (!lowest || bytes->begin < lowest->bytes.begin)) lowest = Conflict{*bytes, pair.first, pair.second};
  }
  if (lowest && common(kStrongStore, kStrongLoad)) return std::nullopt;
  return lowest;
}

size_t Footprint::spans() const {
  size_t count = 0;
  for (const Spans& spans : by_access_) count += spans.sorted.size();
  return count;
}

std::vector<uint32_t> Footprint::InstructionsAt(uint64_t address, bool writes) const {
  const auto page = instructions_.find(address >> kPageShift);
  if (page == instructions_.end()) return {};
  const Instructions& found = page->second[writes ? 1 : 0];
  std::vector<uint32_t> pcs;
  if (found.more) return pcs;
  const uint64_t offset = address % kPageBytes;
  for (size_t k = 0; k < found.count; ++k) {
    const Instruction& one = found.list[k];
    if (one.begin <= offset && offset < one.end) pcs.push_back(one.pc);
  }
  std::sort(pcs.begin(), pcs.end());
  return pcs;
}

void Footprint::Instructions::Note(const Instruction& which) {
  // Usually the last one.
  for (size_t k = count; k-- > 0;) {
    Instruction& known = list[k];
    if (known.pc != which.pc) continue;
    known.begin = std::min(known.begin, which.begin);
    known.end = std::max(known.end, which.end);
    return;
  }
  if (count == kInstructions) {
    more = true;
  } else {
    list[count++] = which;
  }
}

void Footprint::Instructions::Join(const Instructions& other) {
  more |= other.more;
  for (size_t k = 0; k < other.count; ++k) Note(other.list[k]);
}

FootprintObserver::Page& FootprintObserver::PageAt(uint64_t address) {
  const uint64_t number = address >> Footprint::kPageShift;
  if (number != last_number_) {
    std::unique_ptr<Page>& page = pages_[number];
    if (page == nullptr) page = std::make_unique<Page>();
    last_number_ = number;
    last_ = page.get();
  }
  return *last_;
}

void FootprintObserver::Touch(StreamAccess access, uint64_t address, uint32_t bytes, uint32_t pc) {
  Page& page = PageAt(address);
  const uint64_t offset = address % Footprint::kPageBytes;
  // An aligned access of at most 32 bytes is within one word of bits.
  page.bits[Index(access)][offset / 64] |= (bytes >= 64 ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1) << (offset % 64);
  page.instructions[IsRead(access) ? 0 : 1].Note(
      {pc, static_cast<uint16_t>(offset), static_cast<uint16_t>(offset + bytes)});
}

void FootprintObserver::OnMemory(const MemoryAccess& event) {
  const bool constant = event.space == MemorySpace::kConst;
  if ((event.space != MemorySpace::kGlobal && !constant) || event.bytes == 0 || overflow_) return;
  const bool weak = event.order == MemoryOrder::kWeak;
  uint64_t last = 0;
  for (const int lane : EachLane(event.mask)) {
    const uint64_t address = event.address[lane];
    switch (event.kind) {
      case AccessKind::kLoad:
        // For constant memory all lanes usually read one address.
        if (std::exchange(last, address) == address) break;
        Touch(weak ? kLoad : kStrongLoad, address, event.bytes, event.pc);
        break;
      case AccessKind::kStore:
        Touch(!weak                                           ? kStrongStore
              : event.KeepsValue(static_cast<uint32_t>(lane)) ? kKeep
                                                              : kStore,
              address, event.bytes, event.pc);
        break;
      case AccessKind::kAtomic:
        Touch(kStrongStore, address, event.bytes, event.pc);
        if (event.returns_value) Touch(kStrongLoad, address, event.bytes, event.pc);
        break;
    }
  }
  overflow_ |= pages_.size() > kMostPages;
}

void FootprintObserver::Absorb(Observer& forked) {
  auto& fork = static_cast<FootprintObserver&>(forked);
  overflow_ |= fork.overflow_;
  for (auto& [number, page] : fork.pages_) {
    std::unique_ptr<Page>& own = pages_[number];
    if (own == nullptr) {
      own = std::move(page);
      continue;
    }
    for (size_t access = 0; access < kStreamAccesses; ++access) {
      for (size_t w = 0; w < kWords; ++w) own->bits[access][w] |= page->bits[access][w];
    }
    for (size_t k = 0; k < 2; ++k) own->instructions[k].Join(page->instructions[k]);
  }
  fork.pages_.clear();
  last_number_ = ~uint64_t{0};
}

std::optional<Footprint> FootprintObserver::Take() {
  std::vector<uint64_t> numbers;
  for (const auto& [number, page] : pages_) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  Footprint footprint;
  size_t spans = 0;
  for (const uint64_t number : numbers) {
    Page& page = *pages_[number];
    for (size_t access = 0; access < kStreamAccesses; ++access) {
      for (size_t w = 0; w < kWords; ++w) {
        const uint64_t base = (number << Footprint::kPageShift) + w * 64;
        // Runs of ones, lowest first.
        for (uint64_t bits = page.bits[access][w]; bits != 0;) {
          const int begin = std::countr_zero(bits);
          const int length = std::countr_one(bits >> begin);
          footprint.by_access_[access].Add(
              {base + static_cast<uint64_t>(begin), base + static_cast<uint64_t>(begin + length)});
          if (begin + length == 64) break;
          bits &= ~uint64_t{0} << (begin + length);
          ++spans;
        }
      }
    }
    footprint.instructions_[number] = page.instructions;
    overflow_ |= spans > kMostSpans;
    if (overflow_) break;
  }
  pages_.clear();
  last_number_ = ~uint64_t{0};
  if (std::exchange(overflow_, false)) return std::nullopt;
  return footprint;
}

}  // namespace lockstep::vgpu
