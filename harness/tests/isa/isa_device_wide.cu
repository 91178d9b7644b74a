// 128-bit integers as nvcc compiles them: carry chains of every kind, and its own division by shifts and
// multiplication, where an addc follows a subtraction.
#include <cstdint>

using Signed = __int128;
using Unsigned = unsigned __int128;

extern "C" __global__ void wide_kernel(const Unsigned* a, const Unsigned* b, Unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Unsigned u = a[i], v = b[i];
  const Signed x = static_cast<Signed>(u), y = static_cast<Signed>(v);
  const Signed divisor = y == 0 || y == -1 ? 7 : y;
  const auto put = [&](int row, Unsigned value) { out[row * n + i] = value; };
  put(0, u + v);
  put(1, u - v);
  put(2, u * v);
  put(3, u / (v == 0 ? 3 : v));
  put(4, u % (v == 0 ? 3 : v));
  put(5, static_cast<Unsigned>(x / divisor));
  put(6, static_cast<Unsigned>(x % divisor));
  put(7, u << static_cast<int>(v & 127));
  put(8, u >> static_cast<int>(v & 127));
  put(9, static_cast<Unsigned>(x >> static_cast<int>(v & 127)));
  put(10, static_cast<Unsigned>(-x));
  put(11, (u < v ? 1u : 0u) | (x < y ? 2u : 0u) | (u == v ? 4u : 0u) | (x <= y ? 8u : 0u));
  put(12, u / 1000000007u);
  put(13, u % 1000000007u);
  put(14, static_cast<Unsigned>(x / 10));
  put(15, u / static_cast<uint64_t>(v | 1));
  put(16, u - v + (u * 3 - v / 5) % 1009);
}
