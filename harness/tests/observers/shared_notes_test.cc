// The checkers' findings do not depend on when they are notified of accesses to shared memory: in random programs they
// are the same whether the engine notes the accesses down (observers/shared_notes.h) or reports each at once.
#include "vgpu/observers/shared_notes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace shared_notes_test {

constexpr uint32_t kWarps = 3;

// All threads do the same, except under guards: %p0 the first half of each warp's lanes, %p1 the first warp, %p2 the
// first two warps, %p3 the odd lanes.
const char* const kHead = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k() {
  .shared .align 16 .b8 memory[8192];
  .reg .b16 %h<2>; .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .pred %p<8>;
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  shr.u32 %r3, %r1, 5;
  mov.u32 %r4, memory;
  setp.lt.u32 %p0, %r2, 16;
  setp.lt.u32 %p1, %r1, 32;
  setp.lt.u32 %p2, %r1, 64;
  and.b32 %r5, %r2, 1;
  setp.eq.u32 %p3, %r5, 1;
  mov.u32 %r8, 0;
  mov.u32 %r9, 0;
)";

class Program {
 public:
  explicit Program(uint32_t seed) : random_(seed), careful_(Pick(2) != 0), text_(kHead) {
    if (careful_ || Pick(2)) {  // so that not everything is an uninitialised read
      for (uint32_t k = 0; k < 14; ++k)
        Add("mad.lo.u32 %r6, %r1, 4, %r4; st.shared.u32 [%r6+" + Number(384 * k) + "], %r1;");
      Add("bar.sync 0;");
    }
    for (uint32_t k = 0; k < 40; ++k) Step();
    // What is loaded counts as read because it reaches a branch.
    text_ += "  setp.eq.u32 %p4, %r9, 1;\n  @%p4 bra done;\ndone:\n  ret;\n}\n";
  }
  const std::string& text() const { return text_; }

 private:
  uint32_t Pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  static std::string Number(uint32_t n) { return std::to_string(n); }
  void Add(const std::string& line) { text_ += "  " + line + "\n"; }

  void Step() {
    switch (Pick(14)) {
      case 0:
      case 1:
        return Add("bar.sync 0;");
      case 2:
        return Add("bar.warp.sync 0xffffffff;");
      case 3:
        if (Pick(2)) return Add("@%p2 bar.sync 1, 64;");
        // The first warp does not wait, so it must not come here again too soon.
        barrier_ = 2 + barrier_ % 14;
        Add("@%p1 bar.arrive " + Number(barrier_) + ", 96;");
        return Add("@!%p1 bar.sync " + Number(barrier_) + ", 96;");
      case 4:
        return Add("membar.cta;");
      default:
        return Access();
    }
  }
  void Access() {
    const uint32_t what = Pick(16);
    const bool stores = what < 4 || (what >= 6 && what <= 9);
    if (careful_ && stores && Pick(40)) Add("bar.sync 0;");
    Access(what, careful_ && stores ? 0 : Pick(8));
    if (careful_ && stores && Pick(40)) Add("bar.sync 0;");
  }
  void Access(uint32_t what, uint32_t form) {
    const char* const kForms[] = {
        "mad.lo.u32 %r6, %r1, 4, %r4;",                                                       // all side by side
        "mad.lo.u32 %r6, %r2, 4, %r4; mad.lo.u32 %r6, %r3, 132, %r6;",                        // a row a warp
        "mad.lo.u32 %r6, %r2, 4, %r4;",                                                       // all warps in one place
        "mad.lo.u32 %r6, %r2, 132, %r4; mad.lo.u32 %r6, %r3, 4, %r6; and.b32 %r6, %r6, -4;",  // a column a warp
        "and.b32 %r7, %r1, 15; mad.lo.u32 %r6, %r7, 4, %r4;",                                 // halves
        "shr.u32 %r7, %r1, 4; mad.lo.u32 %r6, %r7, 64, %r4;",                                 // halves, one word each
        "xor.b32 %r7, %r1, 5; mad.lo.u32 %r6, %r7, 4, %r4;",                                  // scattered
        "mov.u32 %r6, %r4;",                                                                  // one word
    };
    Add(kForms[form]);
    const char* const kGuards[] = {"", "", "", "", "@%p0 ", "@!%p0 ", "@%p1 ", "@!%p2 ", "@%p3 "};
    const std::string guard = kGuards[Pick(9)];
    const std::string place = "[%r6+" + Number(Pick(3) ? 16 * Pick(32) : 1024 * Pick(2)) + "]";
    switch (what) {
      case 0:
        return Add(guard + "atom.shared.add.u32 %r8, " + place + ", 1;");
      case 1:
        return AddLoad(guard + "ld.volatile.shared.u32 %r8, " + place + ";");
      case 2:
        return Add(guard + "st.volatile.shared.u32 " + place + ", %r1;");
      case 3:
        return Add(guard + "st.shared.u8 " + place + ", %h0;");
      case 4:
        Add(guard + "ld.shared.u8 %h1, " + place + ";");
        return Add("cvt.u32.u16 %r8, %h1; add.u32 %r9, %r9, %r8;");
      case 5:
        Add("cvt.u64.u32 %rd1, %r6; cvta.shared.u64 %rd1, %rd1;");
        return AddLoad(guard + "ld.u32 %r8, [%rd1];");
      case 6:
      case 7:
        return Add(guard + "st.shared.u32 " + place + ", %r1;");
      case 8:
        return Add(guard + "st.shared.u32 " + place + ", 7;");
      case 9:
        return Add(guard + "st.shared.u32 " + place + ", %r3;");
      default:
        return AddLoad(guard + "ld.shared.u32 %r8, " + place + ";");
    }
  }
  void AddLoad(const std::string& line) { Add(line + " add.u32 %r9, %r9, %r8;"); }

  std::mt19937 random_;
  // Stores go side by side, with barriers around them: few races.
  const bool careful_;
  uint32_t barrier_ = 0;
  std::string text_;
};

class Watcher : public Observer {
 public:
  explicit Watcher(bool takes_notes) : takes_notes_(takes_notes) {}
  std::unique_ptr<Observer> Fork() const override { return std::make_unique<Watcher>(takes_notes_); }
  void OnMemory(const MemoryAccess& event) override { accesses += event.space == MemorySpace::kShared; }
  bool TakesSharedNotes() const override { return takes_notes_; }
  void OnSharedNotes(const SharedNotes& notes) override {
    for (const SharedNote& note : notes) ++(note.store() ? noted_stores : noted_loads);
  }
  uint64_t accesses = 0, noted_loads = 0, noted_stores = 0;

 private:
  const bool takes_notes_;
};

struct Outcome {
  std::vector<std::string> findings;
  uint64_t accesses, noted_loads, noted_stores;
};

Outcome RunProgram(const std::string& text, bool takes_notes) {
  DeviceOptions options;
  options.checkers = CheckerSet::All();
  TestDevice device(text, options);
  auto owned = std::make_unique<Watcher>(takes_notes);
  const Watcher& watcher = *owned;
  device->AddObserver(std::move(owned));
  const LaunchResult result = device.Launch("k", {{2}, {kWarps * 32}});
  EXPECT_EQ(result.error, LaunchError::kNone) << Format(device->findings().findings().back());
  Outcome outcome{{}, watcher.accesses, watcher.noted_loads, watcher.noted_stores};
  for (const Finding& finding : device->findings().findings()) {
    std::string line = Format(finding);
    for (const auto& place : {std::optional(finding.first), finding.second}) {
      if (place) line += " " + place->instruction + ":" + std::to_string(place->ptx_line);
    }
    outcome.findings.push_back(line + " x" + std::to_string(finding.count));
  }
  return outcome;
}

TEST(SharedNotesTest, FindTheSame) {
  uint64_t loads = 0, stores = 0, told = 0;
  int clean = 0, faulty = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    const Program program(seed);
    const Outcome noted = RunProgram(program.text(), true), at_once = RunProgram(program.text(), false);
    ASSERT_EQ(noted.findings, at_once.findings) << "seed " << seed << "\n" << program.text();
    EXPECT_EQ(at_once.noted_loads + at_once.noted_stores, 0u);
    EXPECT_EQ(noted.accesses + noted.noted_loads + noted.noted_stores, at_once.accesses) << "seed " << seed;
    loads += noted.noted_loads;
    stores += noted.noted_stores;
    told += noted.accesses;
    ++(noted.findings.empty() ? clean : faulty);
  }
  EXPECT_GT(loads, 400u);
  EXPECT_GT(stores, 400u);
  EXPECT_GT(told, 400u);
  EXPECT_GT(clean, 10);
  EXPECT_GT(faulty, 100);
}

}  // namespace shared_notes_test
}  // namespace lockstep::vgpu
