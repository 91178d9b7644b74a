// Finds who stored the first wrong element of a result, and what that thread had read, by repeating the call.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "judge/run/runner.h"

namespace lockstep::judge {

// A buffer whose elements messages name like d_in[7].
struct NamedBuffer {
  std::string name;
  uint64_t address = 0, bytes = 0, element_bytes = 1;
  std::string Element(uint64_t at, uint64_t length) const;
};

// Repeats a call that gave a wrong result at this element of `result`, and traces its stores: "d_out[7] was stored by
// block (0,0,0) thread (7,0,0) at shift.cu:47, which had read d_in[6] at shift.cu:46". "" on a real GPU, if no thread
// stored it, or if the second call does not give `found` there too. The caller must restore the buffers first.
std::string TrailOf(Runner& runner, const std::string& launcher, std::span<const worker::Argument> arguments,
                    const NamedBuffer& input, const NamedBuffer& result, uint64_t element,
                    std::span<const uint8_t> found);

}  // namespace lockstep::judge
