// Who stored the first wrong element of a result, and what that thread had read: found by making the call once more.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "judge/run/runner.h"

namespace lockstep::judge {

// Elements of one buffer, as messages name them: d_in[7].
struct NamedBuffer {
  std::string name;
  uint64_t address = 0, bytes = 0, element_bytes = 1;
  std::string Element(uint64_t at, uint64_t length) const;
};

// Makes the call again, which has just given a wrong result at this element of `result`, and follows the stores to it:
// "d_out[7] was stored by block (0,0,0) thread (7,0,0) at shift.cu:47, which had read d_in[6] at shift.cu:46". "" on a
// real GPU, where no thread stored it, and where the second call does not give `found` there too. The buffers have to
// hold again what they held before the call.
std::string TrailOf(Runner& runner, const std::string& launcher, std::span<const worker::Argument> arguments,
                    const NamedBuffer& input, const NamedBuffer& result, uint64_t element,
                    std::span<const uint8_t> found);

}  // namespace lockstep::judge
