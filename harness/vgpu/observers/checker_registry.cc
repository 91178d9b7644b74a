#include "vgpu/observers/checker_registry.h"

#include <stdexcept>
#include <string>

namespace lockstep::vgpu {
namespace {

constexpr CheckerInfo kCheckers[] = {
    {"races", "accesses to one place that nothing orders", [] { return MakeRaceChecker(true, true); }},
    {"init", "reads of memory that nothing has written", MakeUninitializedChecker},
    {"sync", "barriers that threads disagree about", MakeSyncChecker},
};

}  // namespace

std::span<const CheckerInfo> AllCheckers() { return kCheckers; }

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
