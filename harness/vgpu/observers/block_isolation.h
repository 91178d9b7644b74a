// Blocks of a checked launch on several CPU threads: whether they have anything to do with each other, and the way back
// where they do.
//
// Theory of operation. Races on global memory and uninitialised reads are questions about all blocks at once, and a
// block that sees what another has stored may do anything else than in a run on one thread. But most launches' blocks
// have nothing to do with each other. Call a launch isolated when no block touches a word of global memory that another
// one stores to, but for reductions of one kind, which may meet (a kernel with any other kind of meeting, with fences
// or strong accesses, does not get here: Program::order_sensitive). In an isolated launch
//
//   * every block reads what lay there before the launch, or what it has stored itself. So it does the same as in a run
//     of the blocks one after the other: if two runs differed, take the first read that does, in the order of the one
//     on one thread; it found what another block had stored, and had this been another value than before the launch,
//     both blocks would touch that word in the run side by side too, up to there being the same;
//   * all that the checkers can find is found within a block. Between blocks there are only loads that meet loads, and
//     reductions that meet reductions, neither of which is a race.
//
// So the blocks run side by side, each thread with checkers of its own that forget global memory from block to block
// (Observer::ForkIsolated), and each block says at its end which words it has stored to, reduced, only loaded: a bit a
// word in one table, set before the others' bits are looked at, so that of two blocks that meet one finds the other,
// whoever comes first. When all is done and none has met, this was the launch, and the findings, counters and memory
// are those of one thread.
//
// Else the launch is broken: the engines stop, and the memory becomes what it was, since a page is copied before the
// first store to it. Then the launch runs on one thread as if nothing had been. The same happens after a fault, over
// the budget of instructions, and where the bounds on memory below do not suffice: what is rare need not be fast.
//
// Where there is no room for a further copy, the store must not happen: what the engine is doing is thrown away by an
// exception (IsolationBroken).
//
// Nothing hangs. No thread ever waits for another, but for a page that it is just copying. A block whose loop never
// ends because of what another block stored would not come to its end, and so not to the table. A block that has run
// for long is therefore compared while it runs, with the table and with the other such blocks. A block that never ends
// in spite of all comparisons does so on one thread too.
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

// What a block has done to the words (of 4 bytes) of a page, a bit a word; each word is in one set at most. A word that
// it has reduced and loaded counts as stored to.
struct PageUse {
  static constexpr int kPageShift = 12;
  static constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;
  static constexpr size_t kWords = kPageBytes / 4 / 64;
  using Mask = std::array<uint64_t, kWords>;
  Mask stored{}, reduced{}, loaded{};
  size_t begin = 0, end = kWords;  // elsewhere the masks hold nothing

  bool Meets(const PageUse& other) const;
};

struct IsolationBroken {};

class BlockIsolation {
 public:
  // [begin, end): the addresses that global memory may have. maximum_copies: bytes, of pages that have been stored to.
  BlockIsolation(uint64_t begin, uint64_t end, uint64_t maximum_copies = uint64_t{512} << 20);
  ~BlockIsolation();
  BlockIsolation(const BlockIsolation&) = delete;
  BlockIsolation& operator=(const BlockIsolation&) = delete;

  // For one launch at a time, on the device's thread.
  void Begin(size_t threads);
  size_t threads() const { return threads_; }
  void Restore();  // global memory becomes what it was at Begin; no engine runs
  void End();
  // Somebody adds what blocks do.
  bool watched() const { return watched_; }
  void set_watched() { watched_ = true; }

  // For all threads.
  bool broken() const { return broken_.load(std::memory_order_relaxed); }
  void Break() { broken_.store(true, std::memory_order_relaxed); }
  // A block has ended. shadow_bytes: what a checker on one thread may need for the page, which is bounded.
  void Add(uint64_t page, const PageUse& use, size_t shadow_bytes);
  // A block goes on for long; the same again replaces what has been said of it.
  using Uses = std::unordered_map<uint64_t, PageUse>;
  void Compare(uint32_t block_index, Uses&& uses);

  // Of one thread: copies pages before the first store to them.
  class Keeper {
   public:
    explicit Keeper(BlockIsolation& isolation) : isolation_(isolation) { known_.fill(~uint64_t{0}); }
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
    std::array<uint64_t, kKnown> known_;  // pages that are kept
    uint8_t* room_ = nullptr;             // for further copies
    size_t pages_left_ = 0;
  };

 private:
  // What is known of a page of global memory.
  enum class Copy : uint32_t { kNone, kUnderway, kUniform, kWhole };
  struct Page {
    std::array<std::atomic<uint64_t>, PageUse::kWords> stored, reduced, loaded;
    std::atomic<Copy> copy;
    std::atomic<uint32_t> shadow_bytes;
    uint64_t pattern;  // kUniform: all of it is this, over and over
    uint8_t* whole;    // kWhole
  };
  // Pages that lie side by side.
  static constexpr uint64_t kChapterPages = 64;
  struct Chapter {
    uint64_t number;
    Page pages[kChapterPages];
  };
  static constexpr size_t kSlabPages = 64;  // pages that a thread gets room for at once
  // Of shadow memory: less than a checker on one thread has room for, so that this would have watched all.
  static constexpr uint64_t kMaximumShadow = uint64_t{9} << 28;
  // What is kept for the next launch.
  static constexpr size_t kSpareChapters = 1024, kSpareSlabs = 64;

  Page& PageAt(uint64_t page);
  const Page* FindPage(uint64_t page) const;
  [[gnu::noinline]] Chapter* MakeChapter(uint64_t index);
  void Keep(uint64_t page, Keeper& keeper);
  bool MakeRoom(Keeper& keeper);
  void CopyPage(uint64_t number, Page& page, Keeper& keeper);

  const uint64_t first_page_, pages_, maximum_slabs_;
  std::unique_ptr<std::atomic<Chapter*>[]> chapters_;
  std::atomic<bool> broken_{false};
  bool watched_ = false;
  size_t threads_ = 1;
  std::atomic<uint64_t> shadow_bytes_{0};
  std::mutex mutex_;  // over what follows
  std::vector<std::unique_ptr<Chapter>> used_chapters_, spare_chapters_;
  using Slab = std::unique_ptr<uint8_t[]>;
  std::vector<Slab> used_slabs_, spare_slabs_;
  std::unordered_map<uint32_t, Uses> long_blocks_;
};

}  // namespace lockstep::vgpu
