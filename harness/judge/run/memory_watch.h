// How much memory this process, the judge, uses. If a submission's requests make it use too much, the submission fails
// before the system kills the judge.
#pragma once

#include <cstdint>

namespace lockstep::judge {

// 0 where the system doesn't say.
uint64_t ResidentBytes();
// Gives back to the system what is free.
void ReturnFreeMemory();

}  // namespace lockstep::judge
