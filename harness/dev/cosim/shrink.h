// Kernels that take the GPU's context with them, made small.
#pragma once

#include "dev/cosim/campaign.h"

namespace lockstep::cosim {

// Of the campaign's first seed, with its first GPU's options. Writes the kernel and its machine code to out/kSEED.ptx
// and .cubin. 0: shrunk; 1: nothing is wrong with the kernel.
int Shrink(const Campaign& campaign);

}  // namespace lockstep::cosim
