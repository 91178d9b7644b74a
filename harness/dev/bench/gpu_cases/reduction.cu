// The reduction assignment's reference solution, rung by rung: its first passes, and all its passes on the G80's size.
#include <iterator>

#include "../../../../reference/04_reduction/reduction.cu"
#include "cases.h"

namespace gpu_cases {
namespace {

struct Rung {
  const char* name;
  Kernel kernel;
  unsigned per_block;  // elements; 0: the grid's size is bounded instead
};

const Rung kRungs[] = {
    {"1 interleaved", reduce1_interleaved_kernel, kBlock},
    {"2 strided", reduce2_strided_kernel, kBlock},
    {"3 sequential", reduce3_sequential_kernel, kBlock},
    {"4 first add", reduce4_first_add_kernel, 2 * kBlock},
    {"5 warp unrolled", reduce5_warp_unrolled_kernel, 2 * kBlock},
    {"6 unrolled", reduce6_unrolled_kernel<kBlock>, 2 * kBlock},
    {"7 many", reduce7_many_kernel<kBlock>, 0},
    {"8 shuffle", reduce8_shuffle_kernel<Sum, kBlock>, 0},
};

// Rungs from `first` on.
void AddPass(const std::string& when, unsigned sets, unsigned n, unsigned bounded_blocks, size_t first = 0) {
  for (size_t k = first; k < std::size(kRungs); ++k) {
    const Rung& rung = kRungs[k];
    const unsigned blocks = rung.per_block == 0 ? bounded_blocks : (n - 1) / rung.per_block + 1;
    Add("reduction " + when + ": " + rung.name, sets,
        [&rung, blocks, n](const Memory& m) { rung.kernel<<<blocks, kBlock>>>(m.In<int>(), m.Out<int>(), n); });
  }
}

const Registration registration([] {
  AddPass("of 2100", kCounting, 2100, 3);
  AddPass("of 2^22", kTiming, 1u << 22, 64);
  AddPass("of 2^25", kTiming, 1u << 25, 2112, 5);
  const struct {
    const char* name;
    void (*launcher)(const int*, int*, unsigned, int*);
  } ladder[] = {{"1 interleaved", reduce1_interleaved},
                {"2 strided", reduce2_strided},
                {"3 sequential", reduce3_sequential},
                {"4 first add", reduce4_first_add},
                {"5 warp unrolled", reduce5_warp_unrolled},
                {"6 unrolled", reduce6_unrolled},
                {"7 many", reduce7_many}};
  for (const auto& [name, launcher] : ladder) {
    Add(std::string("reduction ladder: ") + name, kCourse,
        [launcher = launcher](const Memory& m) { launcher(m.In<int>(), m.Out<int>(), 1u << 22, m.Out<int>() + 1024); });
  }
});

}  // namespace
}  // namespace gpu_cases
