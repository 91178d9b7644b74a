// A block's asynchronous copies that have been issued but not waited for: which words of shared memory each may write
// at any moment. Another thread's access to such a word races with the copy, even after a barrier, since barriers wait
// for threads and not for their copies. Until the next barrier, the records in race_shadow.h cover the copy: it is
// entered there when it is issued, and again when it has been waited for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/observers/access_extent.h"
#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {

class CopiesUnderWay {
 public:
  struct Copy {
    uint32_t pc = 0;
    uint32_t thread = kNobody;  // in its block: warp * 32 + lane
    uint32_t time = 0;          // when it was issued, by the warp's clock
  };
  static constexpr uint32_t kNobody = ~uint32_t{0};

  void Begin() {
    if (words_ != 0) std::fill(copies_.begin(), copies_.end(), Copy{});
    words_ = 0;
  }
  bool any() const { return words_ != 0; }
  // Whether an access to these bytes may overlap a copy.
  bool Meets(const Extent& bytes) const { return words_ != 0 && extent_.Meets(bytes); }

  // These threads have issued a copy to these bytes.
  void Issue(const MemoryAccess& event, const Extent& bytes, uint32_t time) {
    if (words_ == 0) extent_ = {};
    extent_.Join(bytes);
    if (copies_.size() * kWordBytes < bytes.high) copies_.resize((bytes.high + kWordBytes - 1) / kWordBytes);
    ForWords(event, [&](Copy& copy, uint32_t thread) {
      words_ += copy.thread == kNobody;
      copy = {event.pc, thread, time};
      return true;
    });
  }
  // These copies have been waited for.
  void Complete(const MemoryAccess& event) {
    ForWords(event, [&](Copy& copy, uint32_t thread) {
      if (copy.thread == thread && copy.pc == event.pc) {
        copy = {};
        --words_;
      }
      return true;
    });
  }
  // Calls f(lane, copy) for lanes that access another thread's copy, until it returns true for that lane. (For a
  // thread's own copy nothing is reported here: it is performed as late as possible, so the thread reads the old
  // value.)
  template <typename F>
  void ForMet(const MemoryAccess& event, const F& f) {
    ForWords(event, [&](const Copy& copy, uint32_t thread) {
      if (copy.thread == kNobody || copy.thread == thread) return true;
      return !f(thread % uint32_t{kWarpSize}, copy);
    });
  }

 private:
  static constexpr uint64_t kWordBytes = 4;  // copies consist of whole words

  // Calls f(copy, thread) for each lane's words, until it returns false.
  template <typename F>
  void ForWords(const MemoryAccess& event, const F& f) {
    for (const uint32_t lane : EachLane(event.mask)) {
      const uint64_t end =
          std::min<uint64_t>((event.address[lane] + event.bytes + kWordBytes - 1) / kWordBytes, copies_.size());
      for (uint64_t word = event.address[lane] / kWordBytes; word < end; ++word) {
        if (!f(copies_[word], event.thread_base + lane)) break;
      }
    }
  }

  std::vector<Copy> copies_;  // by word of shared memory
  size_t words_ = 0;          // number of words with a copy
  Extent extent_{};           // the range that contains them
};

}  // namespace lockstep::vgpu
