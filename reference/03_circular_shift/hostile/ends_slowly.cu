// virtual: TIMEOUT shift1_gather
// Before main, starts as many processes as the box allows, each with 800 MiB mapped: when killed they take a while to
// end, and until then nothing else starts in their control group.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "shift.h"

__attribute__((constructor)) void fill_the_box() {
  constexpr std::size_t kBytes = std::size_t{800} << 20, kPage = 4096;
  void* const shared = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return;
  volatile char* const bytes = static_cast<char*>(shared);
  for (std::size_t at = 0; at < kBytes; at += kPage) bytes[at] = 1;
  for (int k = 0; k < 100; ++k) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child > 0) continue;
    setsid();
    for (std::size_t at = 0;; at = (at + kPage) % kBytes) (void)bytes[at];
  }
  for (;;) pause();
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift2_any(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
