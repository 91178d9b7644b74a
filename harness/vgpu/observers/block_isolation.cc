#include "vgpu/observers/block_isolation.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>
#include <utility>

namespace lockstep::vgpu {

bool PageUse::Meets(const PageUse& other) const {
  uint64_t both = 0;
  for (size_t w = 0; w < kWords; ++w) {
    both |= stored[w] & (other.stored[w] | other.reduced[w] | other.loaded[w]);
    both |= reduced[w] & (other.stored[w] | other.loaded[w]);
    both |= loaded[w] & (other.stored[w] | other.reduced[w]);
  }
  return both != 0;
}

BlockIsolation::BlockIsolation(uint64_t begin, uint64_t end, uint64_t maximum_copies)
    : first_page_(begin >> PageUse::kPageShift),
      pages_((end - begin) >> PageUse::kPageShift),
      maximum_slabs_(maximum_copies / (kSlabPages * PageUse::kPageBytes)),
      chapters_(std::make_unique<std::atomic<Chapter*>[]>(pages_ / kChapterPages + 1)) {}
BlockIsolation::~BlockIsolation() = default;

void BlockIsolation::Begin(size_t threads) {
  threads_ = threads;
  watched_ = false;
  broken_ = false;
  shadow_bytes_ = 0;
}

void BlockIsolation::End() {
  long_blocks_.clear();
  for (std::unique_ptr<Chapter>& chapter : used_chapters_) {
    chapters_[chapter->number] = nullptr;
    if (spare_chapters_.size() < kSpareChapters) spare_chapters_.push_back(std::move(chapter));
  }
  used_chapters_.clear();
  for (Slab& slab : used_slabs_) {
    if (spare_slabs_.size() < kSpareSlabs) spare_slabs_.push_back(std::move(slab));
  }
  used_slabs_.clear();
}

void BlockIsolation::Restore() {
  for (const std::unique_ptr<Chapter>& chapter : used_chapters_) {
    for (uint64_t k = 0; k < kChapterPages; ++k) {
      const Page& page = chapter->pages[k];
      const uint64_t number = first_page_ + chapter->number * kChapterPages + k;
      uint8_t* const at = reinterpret_cast<uint8_t*>(number << PageUse::kPageShift);
      switch (page.copy.load()) {
        case Copy::kNone:
        case Copy::kUnderway:
          break;
        case Copy::kUniform:
          for (uint64_t byte = 0; byte < PageUse::kPageBytes; byte += sizeof page.pattern) {
            std::memcpy(at + byte, &page.pattern, sizeof page.pattern);
          }
          break;
        case Copy::kWhole:
          std::memcpy(at, page.whole, PageUse::kPageBytes);
          break;
      }
    }
  }
}

BlockIsolation::Page& BlockIsolation::PageAt(uint64_t page) {
  const uint64_t index = page - first_page_;
  std::atomic<Chapter*>& entry = chapters_[index / kChapterPages];
  Chapter* chapter = entry.load(std::memory_order_acquire);
  if (chapter == nullptr) chapter = MakeChapter(index / kChapterPages);
  return chapter->pages[index % kChapterPages];
}

const BlockIsolation::Page* BlockIsolation::FindPage(uint64_t page) const {
  const uint64_t index = page - first_page_;
  const Chapter* chapter = chapters_[index / kChapterPages].load(std::memory_order_acquire);
  return chapter == nullptr ? nullptr : &chapter->pages[index % kChapterPages];
}

BlockIsolation::Chapter* BlockIsolation::MakeChapter(uint64_t index) {
  const std::lock_guard lock(mutex_);
  if (Chapter* made = chapters_[index].load(std::memory_order_relaxed)) return made;
  std::unique_ptr<Chapter> chapter;
  if (spare_chapters_.empty()) {
    chapter = std::make_unique<Chapter>();
  } else {
    chapter = std::move(spare_chapters_.back());
    spare_chapters_.pop_back();
    std::destroy_at(chapter.get());
    std::construct_at(chapter.get());
  }
  chapter->number = index;
  used_chapters_.push_back(std::move(chapter));
  chapters_[index].store(used_chapters_.back().get(), std::memory_order_release);
  return used_chapters_.back().get();
}

void BlockIsolation::Add(uint64_t number, const PageUse& use, size_t shadow_bytes) {
  Page& page = PageAt(number);
  uint64_t both = 0;
  // Set the bits before checking the others'. A block whose bits were already set checks too.
  const auto set = [](std::atomic<uint64_t>& word, uint64_t bits) {
    const uint64_t old = word.load();
    return (bits & ~old) == 0 ? old : word.fetch_or(bits);
  };
  for (size_t w = use.begin; w < use.end; ++w) {
    if (const uint64_t bits = use.stored[w]) {
      both |= set(page.stored[w], bits) & bits;
      both |= (page.reduced[w].load() | page.loaded[w].load()) & bits;
    }
    if (const uint64_t bits = use.reduced[w]) {
      set(page.reduced[w], bits);
      both |= (page.stored[w].load() | page.loaded[w].load()) & bits;
    }
    if (const uint64_t bits = use.loaded[w]) {
      set(page.loaded[w], bits);
      both |= (page.stored[w].load() | page.reduced[w].load()) & bits;
    }
  }
  if (both != 0) Break();
  uint32_t known = page.shadow_bytes.load(std::memory_order_relaxed);
  const uint32_t bytes = static_cast<uint32_t>(shadow_bytes);
  while (known < bytes && !page.shadow_bytes.compare_exchange_weak(known, bytes, std::memory_order_relaxed)) {
  }
  if (known < bytes && shadow_bytes_.fetch_add(bytes - known) + bytes - known > kMaximumShadow) Break();
}

void BlockIsolation::Compare(uint32_t block_index, Uses&& uses) {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, use] : uses) {
    if (const Page* page = FindPage(number)) {
      PageUse others;
      for (size_t w = 0; w < PageUse::kWords; ++w) {
        others.stored[w] = page->stored[w].load();
        others.reduced[w] = page->reduced[w].load();
        others.loaded[w] = page->loaded[w].load();
      }
      if (use.Meets(others)) Break();
    }
    for (const auto& [other_index, other_uses] : long_blocks_) {
      if (other_index == block_index) continue;
      const auto other = other_uses.find(number);
      if (other != other_uses.end() && use.Meets(other->second)) Break();
    }
  }
  long_blocks_[block_index] = std::move(uses);
}

void BlockIsolation::PageSaver::KeepSpan(uint64_t low, uint64_t high) {
  for (uint64_t page = low >> PageUse::kPageShift; page <= (high - 1) >> PageUse::kPageShift; ++page) Keep(page);
}

void BlockIsolation::PageSaver::BeforeStore(const MemoryAccess& event) {
  const uint64_t* a = event.address;
  switch (event.form) {
    case AccessForm::kUnit:
      KeepSpan(a[std::countr_zero(event.mask)], a[kWarpSize - 1 - std::countl_zero(event.mask)] + event.bytes);
      return;
    case AccessForm::kHalves:  // of a store, each half contiguous
      for (const int first : {0, kWarpSize / 2}) KeepSpan(a[first], a[first + kWarpSize / 2 - 1] + event.bytes);
      return;
    default:
      for (LaneMask left = event.mask; left != 0; left &= left - 1) {
        // Accesses are aligned, so none crosses a page boundary.
        Keep(a[std::countr_zero(left)] >> PageUse::kPageShift);
      }
  }
}

void BlockIsolation::Keep(uint64_t number, PageSaver& keeper) {
  Page& page = PageAt(number);
  for (;;) {
    Copy state = page.copy.load(std::memory_order_acquire);
    if (state == Copy::kUnderway) {
      std::this_thread::yield();
    } else if (state != Copy::kNone) {
      return;
    } else if (page.copy.compare_exchange_strong(state, Copy::kUnderway, std::memory_order_acquire)) {
      return CopyPage(number, page, keeper);
    }
  }
}

void BlockIsolation::CopyPage(uint64_t number, Page& page, PageSaver& keeper) {
  const uint8_t* const from = reinterpret_cast<const uint8_t*>(number << PageUse::kPageShift);
  // Zeros, or a pattern with which a test fills memory.
  if (std::memcmp(from, from + sizeof page.pattern, PageUse::kPageBytes - sizeof page.pattern) == 0) {
    std::memcpy(&page.pattern, from, sizeof page.pattern);
    page.copy.store(Copy::kUniform, std::memory_order_release);
    return;
  }
  if (keeper.pages_left_ == 0 && !MakeRoom(keeper)) {
    Break();
    page.copy.store(Copy::kNone, std::memory_order_release);
    throw IsolationBroken();
  }
  std::memcpy(keeper.room_, from, PageUse::kPageBytes);
  page.whole = keeper.room_;
  keeper.room_ += PageUse::kPageBytes;
  --keeper.pages_left_;
  page.copy.store(Copy::kWhole, std::memory_order_release);
}

bool BlockIsolation::MakeRoom(PageSaver& keeper) {
  const std::lock_guard lock(mutex_);
  if (used_slabs_.size() >= maximum_slabs_) return false;
  if (spare_slabs_.empty()) {
    used_slabs_.push_back(std::make_unique_for_overwrite<uint8_t[]>(kSlabPages * PageUse::kPageBytes));
  } else {
    used_slabs_.push_back(std::move(spare_slabs_.back()));
    spare_slabs_.pop_back();
  }
  keeper.room_ = used_slabs_.back().get();
  keeper.pages_left_ = kSlabPages;
  return true;
}

}  // namespace lockstep::vgpu
