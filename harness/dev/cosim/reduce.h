// Shrinks a kernel that two targets disagree on.
#pragma once

#include <functional>

#include "dev/cosim/kernel.h"

namespace lockstep::cosim {

// Takes nodes out while `differs` holds, at most `tries` questions. A variant that is no longer valid does not differ.
Kernel Reduce(Kernel kernel, const std::function<bool(const Kernel&)>& differs, int tries);

}  // namespace lockstep::cosim
