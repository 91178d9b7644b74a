#include "vgpu/core/counters.h"

namespace lockstep::vgpu {

Counters& Counters::operator+=(const Counters& other) {
#define LOCKSTEP_COUNTER_ADD(name, unit, metric, text) name += other.name;
  LOCKSTEP_COUNTERS(LOCKSTEP_COUNTER_ADD)
#undef LOCKSTEP_COUNTER_ADD
  return *this;
}

const std::vector<CounterInfo>& AllCounters() {
#define LOCKSTEP_COUNTER_INFO(name, unit, metric, text) {#name, unit, metric, text, &Counters::name},
  static const std::vector<CounterInfo> counters = {LOCKSTEP_COUNTERS(LOCKSTEP_COUNTER_INFO)};
#undef LOCKSTEP_COUNTER_INFO
  return counters;
}

}  // namespace lockstep::vgpu
