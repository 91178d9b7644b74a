// Where the addresses of a kernel's memory instructions come from, for messages. Made by analysis/access_origins.cc.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lockstep::vgpu {

struct AccessOrigins {
  // By pc, the kernel parameters, by offset, that the address is computed from and that may be pointers.
  std::unordered_map<uint32_t, std::vector<uint32_t>> parameters;
  // By pc of a load and of a store that have one address and one line, as of `++bins[x]`: the load's pc.
  std::unordered_map<uint32_t, uint32_t> updates;

  // Whether the instructions at both places belong to one such update.
  bool AreOneUpdate(uint32_t a, uint32_t b) const {
    const auto of_a = updates.find(a), of_b = updates.find(b);
    return of_a != updates.end() && of_b != updates.end() && of_a->second == of_b->second;
  }
};

}  // namespace lockstep::vgpu
