// MT19937: M. Matsumoto, T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), seeded as the authors' program of 2002
// is, with the lower half of the seed. 8192 lanes start 2^2048 steps apart in the sequence.
//
// Results are in the order in which an H100 leaves them in memory. They form rows of 65536; each lane fills 8
// neighbouring columns, with 624 words for every 78 rows. Row 0 takes the words with the indices kFirst. The other rows
// form groups of seven; the remaining words, in order, fill each group column by column, seven words per column.
//
// Finding a lane's start costs as much as making about 20000 words. So a lane is made when its first result is needed,
// and generators with the same seed share the lanes' starts.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "libraries/rand/engine.h"
#include "libraries/rand/mersenne_jump.h"

namespace lockstep::libraries {

namespace {

constexpr size_t kLanes = 8192;
constexpr size_t kColumns = 8;  // per lane
constexpr size_t kRowsOfGroup = 7;
constexpr size_t kRows = kMersenneWords / kColumns;
constexpr std::array<size_t, kColumns> kFirst = {0, 113, 170, 283, 340, 397, 510, 567};

MersenneState Seeded(uint32_t seed) {
  MersenneState state = {seed};
  for (uint32_t i = 1; i < state.size(); ++i) state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
  return state;
}

uint32_t Tempered(uint32_t word) {
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680;
  word ^= (word << 15) & 0xefc60000;
  return word ^ (word >> 18);
}

void Twist(MersenneState& state) {
  for (size_t i = 0; i < state.size(); ++i) {
    state[i] = NextMersenneWord(state[i], state[(i + 1) % state.size()], state[(i + kMersenneMiddle) % state.size()]);
  }
}

// The states of one seed's lanes before their first words.
class Starts {
 public:
  // Keeps the states of the seed that was requested last.
  static std::shared_ptr<Starts> Of(uint32_t seed) {
    static std::mutex mutex;
    static auto& latest = *new std::shared_ptr<Starts>;
    const std::lock_guard lock(mutex);
    if (latest == nullptr || latest->seed_ != seed) latest = std::make_shared<Starts>(seed);
    return latest;
  }
  explicit Starts(uint32_t seed) : seed_(seed) { states_.push_back(Seeded(seed)); }

  MersenneState Of(size_t lane) {
    const std::lock_guard lock(mutex_);
    while (states_.size() <= lane) states_.push_back(jump_.NextLane(states_.back()));
    return states_[lane];
  }

 private:
  uint32_t seed_;
  std::mutex mutex_;
  MersenneJump jump_;
  std::vector<MersenneState> states_;
};

// [row][column]: the index, in a lane's 624 words, of the word there.
using Order = std::array<std::array<size_t, kColumns>, kRows>;

Order WordsOfRows() {
  Order words = {kFirst};
  size_t next = 0;
  for (size_t row = 1; row < kRows; row += kRowsOfGroup) {
    if (std::find(kFirst.begin(), kFirst.end(), next) != kFirst.end()) ++next;
    for (size_t column = 0; column < kColumns; ++column) {
      for (size_t i = 0; i < kRowsOfGroup; ++i) words[row + i][column] = next++;
    }
  }
  return words;
}

class Mt19937 : public Engine {
 public:
  explicit Mt19937(const EngineSettings& settings) : starts_(Starts::Of(static_cast<uint32_t>(settings.seed))) {}

  // A draw is one word here.
  void Next(uint32_t* words, uint64_t results, Draw) override {
    static const Order order = WordsOfRows();
    for (uint64_t i = 0; i < results; ++i) {
      const size_t lane = column_ / kColumns, column = column_ % kColumns;
      if (lane == lanes_.size()) lanes_.push_back(starts_->Of(lane));
      if (row_ == 0 && column == 0) Twist(lanes_[lane]);
      words[i] = Tempered(lanes_[lane][order[row_][column]]);
      if (++column_ < kLanes * kColumns) continue;
      column_ = 0;
      if (++row_ == kRows) row_ = 0;
    }
  }

 private:
  std::shared_ptr<Starts> starts_;
  std::vector<MersenneState> lanes_;
  size_t row_ = 0, column_ = 0;
};

}  // namespace

std::unique_ptr<Engine> MakeMt19937(const EngineSettings& settings) { return std::make_unique<Mt19937>(settings); }

}  // namespace lockstep::libraries
