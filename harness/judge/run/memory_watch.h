// The memory use of this process, the judge. If a submission's requests drive it too high, the submission fails before
// the system kills the judge.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace lockstep::judge {

// 0 if the system doesn't say.
inline uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Returns free memory to the system.
inline void ReturnFreeMemory() { malloc_trim(0); }

}  // namespace lockstep::judge
