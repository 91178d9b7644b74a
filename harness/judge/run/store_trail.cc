#include "judge/run/store_trail.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "judge/model/text.h"
#include "vgpu/core/source_place.h"
#include "vgpu/device/device.h"
#include "vgpu/observers/observer.h"

namespace lockstep::judge {
namespace {

// The element to trace, and the text so far. The observer's copies on other threads have their own.
struct Trail {
  NamedBuffer input, result;
  uint64_t address = 0, bytes = 0;  // 0 bytes: nothing to trace
  std::string text;
};

// A thread's last reads: an input element, or a word of shared memory together with the input element that the word's
// writer had read.
struct Reads {
  uint64_t address = 0, bytes = 0;  // 0 bytes: not in the input
  uint32_t pc = 0;
  bool from_shared = false;  // then a word of shared memory was read, which the thread `writer` had stored
  uint32_t writer = 0, writer_pc = 0;
};

struct Store {
  uint32_t pc = 0, block = 0, thread = 0;
  Reads reads;
};

class TrailObserver : public vgpu::Observer {
 public:
  explicit TrailObserver(std::shared_ptr<Trail> trail) : trail_(std::move(trail)) {}

  std::unique_ptr<Observer> Fork() const override { return std::make_unique<TrailObserver>(trail_); }
  void Absorb(Observer& forked) override {
    if (auto& store = static_cast<TrailObserver&>(forked).store_) store_ = store;
  }
  bool WatchesMemory() const override { return trail_->bytes > 0; }
  bool TakesSharedNotes() const override { return trail_->bytes == 0; }

  void OnLaunchBegin(const vgpu::LaunchInfo& info) override {
    info_ = info;
    store_.reset();
    reads_.clear();
    shared_.clear();
  }
  void OnMemory(const vgpu::MemoryAccess& access) override {
    const bool shared = access.space == vgpu::MemorySpace::kShared;
    if (!shared && access.space != vgpu::MemorySpace::kGlobal) return;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if ((access.mask >> lane & 1) == 0) continue;
      const uint64_t at = access.address[lane], block = uint64_t{access.block_index} << 32;
      const uint32_t thread = access.thread_base + lane;
      Reads& reads = reads_[block | thread];
      if (shared) {
        Shared(access, block | at / 4, thread, reads);
      } else if (access.kind == vgpu::AccessKind::kLoad) {
        if (at - trail_->input.address >= trail_->input.bytes) continue;
        reads = {at, access.bytes, access.pc, false, 0, 0};
      } else if (at <= trail_->address && trail_->address < at + access.bytes) {
        store_ = {access.pc, access.block_index, thread, reads};
      }
    }
  }
  void OnLaunchEnd() override {
    if (!store_) return;
    const vgpu::SourcePlaces places(*info_.program);
    const std::string site = places.Text(store_->pc);
    if (site.empty()) return;
    const auto point = [](uint32_t index, const vgpu::Dim3& all) {
      return vgpu::PointText({index % all.x, index / all.x % all.y, index / (all.x * all.y)});
    };
    const auto at = [&](uint32_t pc, const std::string& before) {
      const std::string text = places.Text(pc);
      return text == before ? std::string(" there") : " at " + text;
    };
    trail_->text = trail_->result.Element(trail_->address, trail_->bytes) + " was stored by block " +
                   point(store_->block, info_.grid) + " thread " + point(store_->thread, info_.block) + " at " + site;
    const Reads& reads = store_->reads;
    std::string last = site;
    if (reads.from_shared) {
      trail_->text += ", from shared memory, which " +
                      (reads.writer == store_->thread ? "it" : "thread " + point(reads.writer, info_.block)) +
                      " had stored" + at(reads.writer_pc, site);
      last = places.Text(reads.writer_pc);
    }
    if (reads.bytes == 0) return;
    trail_->text += (reads.from_shared ? " after it read " : ", which had read ") +
                    trail_->input.Element(reads.address, reads.bytes) + at(reads.pc, last);
  }

 private:
  // word: its index in shared memory, combined with the block.
  void Shared(const vgpu::MemoryAccess& access, uint64_t word, uint32_t thread, Reads& reads) {
    if (access.kind == vgpu::AccessKind::kLoad) {
      const auto stored = shared_.find(word);
      reads.from_shared = stored != shared_.end();
      if (!reads.from_shared) return;
      const Store& store = stored->second;
      reads = {store.reads.address, store.reads.bytes, store.reads.pc, true, store.thread, store.pc};
      return;
    }
    for (uint64_t k = 0; k < std::max<uint64_t>(1, access.bytes / 4); ++k) {
      shared_[word + k] = {access.pc, access.block_index, thread, reads};
    }
  }

  std::shared_ptr<Trail> trail_;
  vgpu::LaunchInfo info_;
  std::optional<Store> store_;
  std::unordered_map<uint64_t, Reads> reads_;   // by block and thread
  std::unordered_map<uint64_t, Store> shared_;  // by block and word: the last thread to store there
};

}  // namespace

std::string NamedBuffer::Element(uint64_t at, uint64_t length) const {
  const uint64_t first = (at - address) / element_bytes, count = length / element_bytes;
  return name + "[" + std::to_string(first) + (count > 1 ? " to " + std::to_string(first + count - 1) : "") + "]";
}

std::string TrailOf(Runner& runner, const std::string& launcher, std::span<const worker::Argument> arguments,
                    const NamedBuffer& input, const NamedBuffer& result, uint64_t element,
                    std::span<const uint8_t> found) {
  vgpu::Device* const device = runner.device().virtual_device();
  if (device == nullptr) return "";
  // Observers stay with their device: this one is inactive after the call.
  const auto trail = std::make_shared<Trail>();
  *trail = {input, result, result.address + element * result.element_bytes, result.element_bytes, ""};
  device->AddObserver(std::make_unique<TrailObserver>(trail));
  const CallReport report = runner.Call(launcher, arguments);
  std::vector<uint8_t> again(trail->bytes);
  const bool same = report.outcome == worker::Outcome::kReturned &&
                    runner.device().Read(again.data(), trail->address, trail->bytes) &&
                    std::ranges::equal(again, found);
  trail->bytes = 0;
  return same ? Printable(trail->text) : "";
}

}  // namespace lockstep::judge
