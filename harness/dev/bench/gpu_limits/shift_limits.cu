#include "at_limit.h"
#include "shift.h"

namespace limits {

void Shift() {
  constexpr size_t kN = size_t{1} << 27;
  const double bytes = 2.0 * static_cast<double>(kN) * sizeof(int);
  Rotation<int> buffers(kN);
  std::vector<int> values(kN);
  for (size_t i = 0; i < kN; ++i) values[i] = static_cast<int>(i * 2654435761u);
  buffers.Fill(values);
  for (const int shift : {0, 1, 2, 3, 4, 31, 1000003, -5}) {
    const auto reference = [&](size_t call) {
      shift4_vectors(buffers.in(call), buffers.out(call), static_cast<unsigned>(kN), shift);
    };
    const auto copy = [&](size_t call) {
      CHECK(cudaMemcpyAsync(buffers.out(call), buffers.in(call), kN * sizeof(int), cudaMemcpyDeviceToDevice));
    };
    const auto right = [&](const char* what) {
      const std::vector<int> out = buffers.Output(0);
      const size_t from = shift >= 0 ? static_cast<size_t>(shift) : kN - static_cast<size_t>(-shift);
      bool is_right = true;
      for (size_t i = 0; i < kN; ++i) is_right &= out[i] == values[(i + from) % kN];
      Require(is_right, what);
    };
    Compare("circular shift", "2^27 by " + std::to_string(shift), bytes,
            {{"reference", reference, right}, {"copy", copy}});
  }
}

}  // namespace limits
