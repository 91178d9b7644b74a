#include "vgpu/isa/memory/memory_modifiers.h"

namespace lockstep::vgpu {

AccessSpace TakeSpace(Modifiers& m) {
  const std::string word = m.TakeAny({"global", "const", "shared", "shared::cta", "shared::cluster", "local"});
  return word == "global"            ? AccessSpace::kGlobal
         : word == "const"           ? AccessSpace::kConst
         : word == "local"           ? AccessSpace::kLocal
         : word == "shared::cluster" ? AccessSpace::kCluster
         : word.starts_with("sha")   ? AccessSpace::kShared
                                     : AccessSpace::kGeneric;
}

MemoryScope TakeScope(Modifiers& m) {
  const std::string word = m.TakeAny({"cta", "cluster", "gpu", "sys", "gl"});
  if (word == "cta") return MemoryScope::kCta;
  if (word == "cluster") return MemoryScope::kCluster;
  if (word == "sys") return MemoryScope::kSystem;
  return MemoryScope::kGpu;
}

bool TakeSemantics(Modifiers& m, std::initializer_list<std::string_view> allowed, MemoryFlags* flags) {
  const std::string word = m.TakeAny(allowed);
  if (word == "volatile") {
    flags->order = MemoryOrder::kVolatile;
  } else if (word == "relaxed") {
    flags->order = MemoryOrder::kRelaxed;
  } else if (word == "acquire") {
    flags->order = MemoryOrder::kAcquire;
  } else if (word == "release") {
    flags->order = MemoryOrder::kRelease;
  } else if (word == "acq_rel") {
    flags->order = MemoryOrder::kAcquireRelease;
  }
  if (m.Take("mmio") && word != "relaxed") return false;
  flags->scope = TakeScope(m);
  return true;
}

bool TakeCacheHints(Modifiers& m, bool stores) {
  bool constant = false;
  if (stores) {
    m.TakeAny({"wb", "cg", "cs", "wt"});
  } else {
    m.TakeAny({"ca", "cg", "cs", "lu", "cv"});
    constant = m.Take("nc");
  }
  m.TakeAny({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  m.TakeAny({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  m.TakeAny({"L2::64B", "L2::128B", "L2::256B"});
  return constant;
}

}  // namespace lockstep::vgpu
