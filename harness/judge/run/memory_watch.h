// The memory use of this process, the judge. If a submission's requests drive it too high, the submission fails before
// the system kills the judge.
#pragma once

#include <cstdint>

namespace lockstep::judge {

// 0 if the system doesn't say.
uint64_t ResidentBytes();
// Returns free memory to the system.
void ReturnFreeMemory();

}  // namespace lockstep::judge
