#include "vgpu/core/counters.h"

namespace lockstep::vgpu {

Counters& Counters::operator+=(const Counters& other) {
#define LOCKSTEP_COUNTER_ADD(name, unit, metric, text, sum) name += other.name;
  LOCKSTEP_COUNTERS(LOCKSTEP_COUNTER_ADD)
#undef LOCKSTEP_COUNTER_ADD
  return *this;
}

Counters& Counters::operator+=(const PcSums& pc) {
#define LOCKSTEP_COUNTER_SUM(name, unit, metric, text, sum) name += sum;
  LOCKSTEP_COUNTERS(LOCKSTEP_COUNTER_SUM)
#undef LOCKSTEP_COUNTER_SUM
  return *this;
}

const std::vector<CounterInfo>& AllCounters() {
#define LOCKSTEP_COUNTER_INFO(name, unit, metric, text, sum) {#name, unit, metric, text, &Counters::name},
  static const std::vector<CounterInfo> counters = {LOCKSTEP_COUNTERS(LOCKSTEP_COUNTER_INFO)};
#undef LOCKSTEP_COUNTER_INFO
  return counters;
}

}  // namespace lockstep::vgpu
