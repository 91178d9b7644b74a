// Shrinks kernels that destroy the GPU's context or never end on it.
#pragma once

#include "dev/cosim/campaign.h"

namespace lockstep::cosim {

// Shrinks the kernel of the campaign's first seed, compiled with its first GPU options, to out/kSEED.ptx and .cubin.
// Returns 0 if the result still fails so but ends on the virtual GPU; 1 if it doesn't, or the given kernel did not.
int Shrink(const Campaign& campaign);

}  // namespace lockstep::cosim
