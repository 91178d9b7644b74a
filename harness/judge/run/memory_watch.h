// How much memory this process, the judge, has at work: what a submission's requests made it take is the submission's
// to answer for, before the system ends the judge.
#pragma once

#include <cstdint>

namespace lockstep::judge {

// 0 where the system doesn't say.
uint64_t ResidentBytes();
// Gives back to the system what is free.
void ReturnFreeMemory();

}  // namespace lockstep::judge
