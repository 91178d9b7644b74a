#include "judge/run/memory_watch.h"

#include <malloc.h>
#include <unistd.h>

#include <fstream>

namespace lockstep::judge {

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void ReturnFreeMemory() { malloc_trim(0); }

}  // namespace lockstep::judge
