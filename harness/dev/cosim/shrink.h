// Shrinks kernels that destroy the GPU's context.
#pragma once

#include "dev/cosim/campaign.h"

namespace lockstep::cosim {

// For the campaign's first seed, with its first GPU options. Writes the kernel and its machine code to out/kSEED.ptx
// and .cubin. 0: shrunk; 1: the kernel works.
int Shrink(const Campaign& campaign);

}  // namespace lockstep::cosim
