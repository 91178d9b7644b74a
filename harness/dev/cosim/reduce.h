// Shrinks a kernel for which two targets disagree.
#pragma once

#include <functional>

#include "dev/cosim/kernel.h"

namespace lockstep::cosim {

// Removes nodes while `differs` holds, with at most `tries` attempts. An invalid variant does not differ.
Kernel Reduce(Kernel kernel, const std::function<bool(const Kernel&)>& differs, int tries);

}  // namespace lockstep::cosim
