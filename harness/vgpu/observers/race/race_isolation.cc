#include "vgpu/observers/race/race_isolation.h"

#include <utility>

namespace lockstep::vgpu {

static_assert(PageUse::kPageBytes == ShadowPages::kPageBytes);
namespace {

PageUse UseOf(const ShadowRegion& page, Record floor) {
  PageUse use;
  const auto [first, last] = page.TouchedBytes();
  use.begin = first / 4 / 64;
  use.end = (last + 4 * 64 - 1) / 4 / 64;
  page.WordsSince(kLastWrite, floor, use.stored.data());
  page.WordsSince(kStrongWrite, floor, use.reduced.data());
  page.WordsSince(kRead, floor, use.loaded.data());
  page.WordsSince(kOtherRead, floor, use.loaded.data());
  for (size_t w = use.begin; w < use.end; ++w) {
    use.stored[w] |= use.reduced[w] & use.loaded[w];
    use.reduced[w] &= ~use.stored[w];
    use.loaded[w] &= ~use.stored[w];
  }
  return use;
}

}  // namespace

void ShadowRegion::WordsSince(Trace trace, Record floor, uint64_t* words) const {
  if (touched_[trace] == 0) return;
  for (size_t line = 0; line < this->granules() / kLineGranules; ++line) {
    if (!Meets(trace, line * kLineGranules, kLineGranules)) continue;
    uint32_t granules = 0;
    if (const Record whole = OfLine(trace, line)) {
      granules = (whole & kRecordBits) < floor ? 0 : 0xffff;
    } else if (data_[trace]) {
      const Record* record = &data_[trace][line * kLineGranules];
      for (size_t k = 0; k < kLineGranules; ++k) granules |= uint32_t{record[k] >= floor} << k;
    }
    if (shift_ == 0) {
      for (size_t word = line * 4; granules != 0; ++word, granules >>= 4) {
        words[word / 64] |= uint64_t{(granules & 0xf) != 0} << (word % 64);
      }
    } else {
      words[line / 4] |= uint64_t{granules} << (line % 4 * kLineGranules);
    }
  }
}

void AddUses(ShadowPages& pages, Record floor, BlockIsolation& isolation) {
  pages.ForTouched([&](uint64_t number, const ShadowRegion& page, size_t shadow_bytes) {
    isolation.Add(number, UseOf(page, floor), shadow_bytes);
  });
}

void CompareUses(ShadowPages& pages, Record floor, uint32_t block_index, BlockIsolation& isolation) {
  BlockIsolation::Uses uses;
  pages.ForTouched([&](uint64_t number, const ShadowRegion& page, size_t) { uses[number] = UseOf(page, floor); });
  isolation.Compare(block_index, std::move(uses));
}

}  // namespace lockstep::vgpu
