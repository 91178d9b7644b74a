// Runs the blocks of a checked launch on several CPU threads, detects whether blocks interact, and falls back to one
// thread if they do.
//
// Theory of operation. Races on global memory and uninitialised reads concern all blocks together, and a block that
// sees another block's store may behave differently than on one thread. But in most launches blocks do not interact.
// Call a launch isolated if no block touches a word of global memory that another block stores to. The exception is
// reductions of one kind, which may meet. (Kernels with other interactions between blocks, with fences or with strong
// accesses never get here: Program::order_sensitive.) In an isolated launch
//
//   * every block reads either what was there before the launch or what it has stored itself. So it behaves as it does
//     when the blocks run one after the other. Proof: suppose the two runs differ, and take the first read that
//     differs, in the order of the single-threaded run. It found another block's store, with a value other than the one
//     before the launch. Both runs are identical up to that read, so both blocks would touch that word in the parallel
//     run too, and the launch would not be isolated;
//   * every finding is within one block. Between blocks, only loads meet loads and reductions meet reductions, and
//     neither is a race.
//
// So the blocks run in parallel. Each thread has its own checkers, which forget global memory from block to block
// (Observer::ForkIsolated). At its end each block records in one table which words it has stored to, reduced or only
// loaded, one bit per word. A block sets its bits before it looks at the others', so of two blocks that conflict, at
// least one finds the other, whatever their order. If no conflict was found, the launch stands: findings, counters and
// memory are those of a single-threaded run.
//
// Otherwise the isolation is broken: the engines stop, and memory is restored, since each page was copied before the
// first store to it. Then the launch runs again on one thread. The same happens after a fault, when the instruction
// budget is exceeded, and when one of the memory bounds below is too small; these cases are rare and need not be fast.
//
// If there is no room for another page copy, the store must not happen; the exception IsolationBroken abandons the
// engine's work.
//
// No deadlocks. A thread never waits for another, except while the other copies the same page. A block that loops
// forever because of another block's store would never reach its end, and so never the table. So a block that has run
// for long is compared while it runs, with the table and with other long-running blocks. A block that never ends
// despite these comparisons does not end on one thread either.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {

// What a block has done to the 4-byte words of a page, one bit per word. Each word is in at most one set; a word that
// was both reduced and loaded counts as stored to.
struct PageUse {
  static constexpr int kPageShift = 12;
  static constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;
  static constexpr size_t kWords = kPageBytes / 4 / 64;
  using Mask = std::array<uint64_t, kWords>;
  Mask stored{}, reduced{}, loaded{};
  size_t begin = 0, end = kWords;  // the masks are 0 outside this range

  bool Meets(const PageUse& other) const;
};

struct IsolationBroken {};

class BlockIsolation {
 public:
  // [begin, end): the range of global memory. maximum_copies: limit in bytes for the copies of pages that are stored
  // to.
  BlockIsolation(uint64_t begin, uint64_t end, uint64_t maximum_copies = uint64_t{512} << 20);
  ~BlockIsolation();
  BlockIsolation(const BlockIsolation&) = delete;
  BlockIsolation& operator=(const BlockIsolation&) = delete;

  // For one launch at a time; called on the device's thread.
  void Begin(size_t threads);
  size_t threads() const { return threads_; }
  void Restore();  // resets global memory to its state at Begin; no engine may be running
  void End();
  // Whether some observer adds what blocks do.
  bool watched() const { return watched_; }
  void set_watched() { watched_ = true; }

  // Thread-safe.
  bool broken() const { return broken_.load(std::memory_order_relaxed); }
  void Break() { broken_.store(true, std::memory_order_relaxed); }
  // A block has ended. shadow_bytes: bound on what a single-threaded checker needs for the page.
  void Add(uint64_t page, const PageUse& use, size_t shadow_bytes);
  // A block has run for long. A second call replaces what the first one recorded.
  using Uses = std::unordered_map<uint64_t, PageUse>;
  void Compare(uint32_t block_index, Uses&& uses);

  // Belongs to one thread: copies pages before the first store to them.
  class PageSaver {
   public:
    explicit PageSaver(BlockIsolation& isolation) : isolation_(isolation) { known_.fill(~uint64_t{0}); }
    void BeforeStore(const MemoryAccess& event);  // throws IsolationBroken

   private:
    static constexpr size_t kKnown = 64;
    void Keep(uint64_t page) {
      if (known_[page % kKnown] == page) return;
      isolation_.Keep(page, *this);
      known_[page % kKnown] = page;
    }
    void KeepSpan(uint64_t low, uint64_t high);

    friend class BlockIsolation;
    BlockIsolation& isolation_;
    std::array<uint64_t, kKnown> known_;  // pages already copied
    uint8_t* room_ = nullptr;             // memory for further copies
    size_t pages_left_ = 0;
  };

 private:
  // The state of a page of global memory.
  enum class Copy : uint32_t { kNone, kUnderway, kUniform, kWhole };
  struct Page {
    std::array<std::atomic<uint64_t>, PageUse::kWords> stored, reduced, loaded;
    std::atomic<Copy> copy;
    std::atomic<uint32_t> shadow_bytes;
    uint64_t pattern;  // kUniform: the page consists of this value, repeated
    uint8_t* whole;    // kWhole: a copy of the page
  };
  // Adjacent pages.
  static constexpr uint64_t kChapterPages = 64;
  struct Chapter {
    uint64_t number;
    Page pages[kChapterPages];
  };
  static constexpr size_t kSlabPages = 64;  // pages that a thread allocates at once
  // Limit on shadow memory; lower than a single-threaded checker's, so that such a checker would have watched
  // everything.
  static constexpr uint64_t kMaximumShadow = uint64_t{9} << 28;
  // Kept allocated for the next launch.
  static constexpr size_t kSpareChapters = 1024, kSpareSlabs = 64;

  Page& PageAt(uint64_t page);
  const Page* FindPage(uint64_t page) const;
  [[gnu::noinline]] Chapter* MakeChapter(uint64_t index);
  void Keep(uint64_t page, PageSaver& keeper);
  bool MakeRoom(PageSaver& keeper);
  void CopyPage(uint64_t number, Page& page, PageSaver& keeper);

  const uint64_t first_page_, pages_, maximum_slabs_;
  std::unique_ptr<std::atomic<Chapter*>[]> chapters_;
  std::atomic<bool> broken_{false};
  bool watched_ = false;
  size_t threads_ = 1;
  std::atomic<uint64_t> shadow_bytes_{0};
  std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<Chapter>> used_chapters_, spare_chapters_;
  using Slab = std::unique_ptr<uint8_t[]>;
  std::vector<Slab> used_slabs_, spare_slabs_;
  std::unordered_map<uint32_t, Uses> long_blocks_;
};

}  // namespace lockstep::vgpu
