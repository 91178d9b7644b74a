// The usual mistake in a tiled matrix product: a loop over tiles in shared memory without its second barrier. Random
// kernels of this kind, which are known by construction to race or not. Between two barriers a warp makes from one to
// thousands of loads, whose values are added up in sums that only some lanes may need.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace tile_race_random_test {

struct Tiles {
  uint32_t threads = 0;  // of the block
  uint32_t loads = 0;    // of each thread, between two barriers
  uint32_t words = 1;    // of a load and of a thread's store
  uint32_t sums = 1;     // that the loads go to, in turn
  uint32_t tiles = 2;
  bool first_barrier = true, second_barrier = true;
  bool is_loop = true;                                         // or unrolled over the tiles too
  enum class Use { kAll, kFirstLane, kNone } use = Use::kAll;  // which threads store their sums

  std::string Name() const {
    return std::to_string(threads) + " threads, " + std::to_string(loads) + " loads of " + std::to_string(words) +
           " words to " + std::to_string(sums) + " sums, " + std::to_string(tiles) +
           (is_loop ? " tiles in a loop" : " tiles") + (first_barrier ? "" : ", no first barrier") +
           (second_barrier ? "" : ", no second barrier") + ", used by " +
           (use == Use::kAll         ? "all"
            : use == Use::kFirstLane ? "one"
                                     : "none");
  }
  // Each thread reads what the first `loads` threads have written: thread 0 reads another thread's word if there are
  // two loads or more, thread 1 even if there is one.
  bool Races() const {
    if (use == Use::kNone || threads == 1 || (use == Use::kFirstLane && loads == 1)) return false;
    return !first_barrier || (!second_barrier && tiles > 1);
  }
};

std::string Register(const char* kind, uint32_t number) { return std::string("%") + kind + std::to_string(number); }

std::string Ptx(const Tiles& t) {
  const std::string vector = t.words == 1 ? "" : ".v" + std::to_string(t.words);
  const auto list = [&](uint32_t first) {
    std::string text;
    for (uint32_t w = 0; w < t.words; ++w) text += (w == 0 ? "" : ", ") + Register("f", first + w);
    return t.words == 1 ? text : "{" + text + "}";
  };
  std::string tile;
  for (uint32_t w = 0; w < t.words; ++w) {
    tile += "cvt.rn.f32.u32 " + Register("f", w) + ", %round; add.f32 " + Register("f", w) + ", " + Register("f", w) +
            ", %mine;\n";
  }
  tile += "st.shared" + vector + ".f32 [%own], " + list(0) + ";\n";
  if (t.first_barrier) tile += "bar.sync 0;\n";
  for (uint32_t k = 0; k < t.loads; ++k) {
    const uint32_t at = k % t.threads * t.words * 4;
    tile += "ld.shared" + vector + ".f32 " + list(4) + ", [s+" + std::to_string(at) + "];\n";
    for (uint32_t w = 0; w < t.words; ++w) {
      const std::string sum = Register("s", (k + w) % t.sums);
      tile += "fma.rn.f32 " + sum + ", " + Register("f", 4 + w) + ", %mine, " + sum + ";\n";
    }
  }
  if (t.second_barrier) tile += "bar.sync 0;\n";
  tile += "add.u32 %round, %round, 1;\n";
  std::string body;
  if (t.is_loop) {
    body = "L: " + tile + "setp.lt.u32 %p, %round, " + std::to_string(t.tiles) + "; @%p bra L;\n";
  } else {
    for (uint32_t round = 0; round < t.tiles; ++round) body += tile;
  }
  std::string end = "mov.f32 %f0, 0f00000000;\n";
  for (uint32_t k = 0; k < t.sums && t.use != Tiles::Use::kNone; ++k) {
    end += "add.f32 %f0, %f0, " + Register("s", k) + ";\n";
  }
  end += t.use == Tiles::Use::kAll ? "st.global.f32 [%out], %f0;\n"
         : t.use == Tiles::Use::kNone
             ? "st.global.f32 [%out], %mine;\n"
             : "setp.eq.u32 %p, %t, 0; selp.f32 %f0, %f0, %mine, %p; st.global.f32 [%out], %f0;\n";
  std::string start;
  for (uint32_t k = 0; k < t.sums; ++k) start += "mov.f32 " + Register("s", k) + ", 0f00000000;\n";
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 out) {\n.reg .f32 %f<9>, %s<16>, %mine;\n.reg .u32 %t, %round, %own, %base;\n"
         ".reg .u64 %out, %d;\n.reg .pred %p;\n.shared .align 16 .b8 s[" +
         std::to_string(t.threads * t.words * 4) +
         "];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %d, %t, 4;\nadd.u64 %out, %out, %d;\n"
         "cvt.rn.f32.u32 %mine, %t;\nmov.u32 %base, s;\nmad.lo.u32 %own, %t, " +
         std::to_string(t.words * 4) + ", %base;\nmov.u32 %round, 0;\n" + start + body + end + "ret;\n}\n";
}

size_t Races(const Tiles& tiles, int threads) {
  DeviceOptions options;
  options.checkers = CheckerSet{"races"};
  options.threads = threads;
  TestDevice device(Ptx(tiles), options);
  const auto out = device.Make(std::vector<float>(tiles.threads), "out");
  EXPECT_EQ(device.Launch("k", {{1}, {tiles.threads}}, out).error, LaunchError::kNone) << tiles.Name();
  EXPECT_TRUE(device->left_out().empty()) << tiles.Name();
  size_t races = 0;
  for (const Finding& finding : device->findings().findings()) races += finding.kind == FindingKind::kRace ? 1 : 0;
  return races;
}

TEST(TileRaceRandomTest, AMissingBarrierIsFoundHoweverManyLoadsStandBetween) {  // in turn
  std::mt19937_64 random(41);
  const auto one_of = [&](std::vector<uint32_t> list) { return list[random() % list.size()]; };
  size_t racing = 0, clean = 0;
  for (int round = 0; round < 120; ++round) {
    Tiles t;
    t.threads = one_of({1, 2, 31, 32, 33, 64, 100, 128, 256});
    t.loads = one_of({1, 2, 3, 16, 63, 126, 127, 128, 129, 200, 255, 256, 500, 1000, 5000});
    if (t.threads > 64) t.loads = std::min(t.loads, 1000u);
    t.words = one_of({1, 2, 4});
    t.sums = one_of({1, 2, 3, 8, 16});
    t.tiles = one_of({1, 2, 3});
    t.first_barrier = random() % 4 != 0;
    t.second_barrier = random() % 3 == 0;
    t.is_loop = random() % 2 == 0;
    t.use = static_cast<Tiles::Use>(one_of({0, 0, 0, 1, 1, 2}));
    // A sum used after its loop counts as read by all lanes (value_use.cc).
    if (t.use == Tiles::Use::kFirstLane) t.loads = std::max(t.loads, 2u);
    const bool races = t.Races();
    EXPECT_EQ(Races(t, 1) > 0, races) << t.Name();
    (races ? racing : clean) += 1;
  }
  EXPECT_GT(racing, 30u);
  EXPECT_GT(clean, 30u);
}

}  // namespace tile_race_random_test
}  // namespace lockstep::vgpu
