#include "vgpu/observers/checker_registry.h"

#include <stdexcept>
#include <string>

namespace lockstep::vgpu {

// All checkers, one per row: X(id, factory, what it finds).
#define LOCKSTEP_CHECKERS(X)                                                    \
  X(races, MakeRaceChecker, "accesses to one place that nothing orders")        \
  X(init, MakeUninitializedChecker, "reads of memory that nothing has written") \
  X(sync, MakeSyncChecker, "barriers that warps reach at different places")

#define LOCKSTEP_DECLARE_CHECKER(id, factory, help) std::unique_ptr<Checker> factory();
LOCKSTEP_CHECKERS(LOCKSTEP_DECLARE_CHECKER)
#undef LOCKSTEP_DECLARE_CHECKER

std::span<const CheckerInfo> AllCheckers() {
#define LOCKSTEP_CHECKER_INFO(id, factory, help) {#id, help, factory},
  static const CheckerInfo kCheckers[] = {LOCKSTEP_CHECKERS(LOCKSTEP_CHECKER_INFO)};
#undef LOCKSTEP_CHECKER_INFO
  return kCheckers;
}

CheckerSet::CheckerSet(std::initializer_list<std::string_view> ids) {
  for (const std::string_view id : ids) {
    if (!Add(id)) throw std::logic_error("there is no checker " + std::string(id));
  }
}

CheckerSet CheckerSet::All() {
  CheckerSet all;
  for (const CheckerInfo& checker : AllCheckers()) all.Add(checker.id);
  return all;
}

bool CheckerSet::Has(std::string_view id) const {
  CheckerSet one;
  return one.Add(id) && (rows_ & one.rows_) != 0;
}

bool CheckerSet::Add(std::string_view id) {
  for (size_t row = 0; row < AllCheckers().size(); ++row) {
    if (AllCheckers()[row].id != id) continue;
    rows_ |= uint32_t{1} << row;
    return true;
  }
  return false;
}

}  // namespace lockstep::vgpu
