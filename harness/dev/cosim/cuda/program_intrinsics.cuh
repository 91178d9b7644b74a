// Intrinsics of the GPU with a plain definition for the host.
#pragma once

#include "program_arithmetic.cuh"

namespace cosim {

HD inline i32 Popc(u32 a) { return COSIM_BOTH(__popc(a), __builtin_popcount(a)); }
HD inline i32 Popcll(u64 a) { return COSIM_BOTH(__popcll(a), __builtin_popcountll(a)); }
HD inline i32 Clz(u32 a) { return COSIM_BOTH(__clz(a), a == 0 ? 32 : __builtin_clz(a)); }
HD inline i32 Clzll(u64 a) { return COSIM_BOTH(__clzll(a), a == 0 ? 64 : __builtin_clzll(a)); }
HD inline i32 Ffs(u32 a) { return COSIM_BOTH(__ffs(a), __builtin_ffs(a)); }
HD inline i32 Ffsll(u64 a) { return COSIM_BOTH(__ffsll(a), __builtin_ffsll(a)); }

inline u64 ReversedOnHost(u64 value, int bits) {
  u64 reversed = 0;
  for (int bit = 0; bit < bits; ++bit) reversed = reversed << 1 | (value >> bit & 1);
  return reversed;
}
HD inline u32 Brev(u32 a) { return COSIM_BOTH(__brev(a), u32(ReversedOnHost(a, 32))); }
HD inline u64 Brevll(u64 a) { return COSIM_BOTH(__brevll(a), ReversedOnHost(a, 64)); }

inline u32 BytesOnHost(u32 a, u32 b, u32 selector) {
  const u64 both = u64(b) << 32 | a;
  u32 result = 0;
  for (int k = 0; k < 4; ++k) result |= u32(both >> 8 * (selector >> 4 * k & 7) & 0xff) << 8 * k;
  return result;
}
// The selector's fourth bits would replicate a sign, which __byte_perm leaves out.
HD inline u32 BytePerm(u32 a, u32 b, u32 s) {
  return COSIM_BOTH(__byte_perm(a, b, s & 0x7777), BytesOnHost(a, b, s & 0x7777));
}
HD inline u32 FunnelL(u32 low, u32 high, u32 by) {
  return COSIM_BOTH(__funnelshift_l(low, high, by), u32((u64(high) << 32 | low) << (by & 31) >> 32));
}
HD inline u32 FunnelR(u32 low, u32 high, u32 by) {
  return COSIM_BOTH(__funnelshift_r(low, high, by), u32((u64(high) << 32 | low) >> (by & 31)));
}
HD inline u32 FunnelLc(u32 low, u32 high, u32 by) {
  return COSIM_BOTH(__funnelshift_lc(low, high, by), by >= 32 ? low : u32((u64(high) << 32 | low) << by >> 32));
}
HD inline u32 FunnelRc(u32 low, u32 high, u32 by) {
  return COSIM_BOTH(__funnelshift_rc(low, high, by), by >= 32 ? high : u32((u64(high) << 32 | low) >> by));
}
HD inline i32 Mulhi(i32 a, i32 b) { return COSIM_BOTH(__mulhi(a, b), i32(i64(a) * b >> 32)); }
HD inline u32 Umulhi(u32 a, u32 b) { return COSIM_BOTH(__umulhi(a, b), u32(u64(a) * b >> 32)); }
HD inline i64 Mul64hi(i64 a, i64 b) { return COSIM_BOTH(__mul64hi(a, b), i64(i128(a) * b >> 64)); }
HD inline u64 Umul64hi(u64 a, u64 b) { return COSIM_BOTH(__umul64hi(a, b), u64(u128(a) * b >> 64)); }
HD inline u32 Umul24(u32 a, u32 b) { return COSIM_BOTH(__umul24(a, b), u32(u64(a & 0xffffff) * (b & 0xffffff))); }
// nvcc 13.0 assumes that the product of two 24-bit numbers fits in 32 bits (docs/records/cosim.md). Here it does: b has
// 8 bits.
HD inline i32 Mul24(i32 a, i32 b) { return COSIM_BOTH(__mul24(a, i8(b)), i32(u32(a) << 8) / 256 * i8(b)); }
HD inline u32 Usad(u32 a, u32 b, u32 c) { return COSIM_BOTH(__usad(a, b, c), (a > b ? a - b : b - a) + c); }
HD inline u32 Uhadd(u32 a, u32 b) { return COSIM_BOTH(__uhadd(a, b), u32((u64(a) + b) >> 1)); }
HD inline i32 Hadd(i32 a, i32 b) { return COSIM_BOTH(__hadd(a, b), i32((i64(a) + b) >> 1)); }
HD inline u32 Urhadd(u32 a, u32 b) { return COSIM_BOTH(__urhadd(a, b), u32((u64(a) + b + 1) >> 1)); }
HD inline i32 Rhadd(i32 a, i32 b) { return COSIM_BOTH(__rhadd(a, b), i32((i64(a) + b + 1) >> 1)); }

template <typename T>
HD T Smaller(T a, T b) {
  return COSIM_BOTH(min(a, b), a < b ? a : b);
}
template <typename T>
HD T Larger(T a, T b) {
  return COSIM_BOTH(max(a, b), a > b ? a : b);
}
HD inline u32 Distance(i32 a, i32 b) { return COSIM_BOTH(__sad(a, b, 0u), a > b ? u32(a) - u32(b) : u32(b) - u32(a)); }

// Words as vectors of narrower numbers.
template <typename Lane, typename Operation>
u32 LanesOnHost(u32 a, u32 b, Operation operation) {
  constexpr int bits = kBits<Lane>;
  u32 result = 0;
  for (int at = 0; at < 32; at += bits)
    result |= (u32(operation(i32(Lane(a >> at)), i32(Lane(b >> at)))) & (1u << bits) - 1) << at;
  return result;
}
inline i32 Within(i32 value, i32 least, i32 greatest) {
  return value < least ? least : value > greatest ? greatest : value;
}
#define COSIM_LANES(name, intrinsic, Lane, expression)                                                      \
  HD inline u32 name(u32 a, u32 b) {                                                                        \
    return COSIM_BOTH(intrinsic(a, b), (LanesOnHost<Lane>(a, b, [](i32 x, i32 y) { return expression; }))); \
  }
COSIM_LANES(Vadd4, __vadd4, u8, x + y)
COSIM_LANES(Vsub4, __vsub4, u8, x - y)
COSIM_LANES(Vaddus4, __vaddus4, u8, Within(x + y, 0, 255))
COSIM_LANES(Vaddss4, __vaddss4, i8, Within(x + y, -128, 127))
COSIM_LANES(Vsubus4, __vsubus4, u8, Within(x - y, 0, 255))
COSIM_LANES(Vsubss4, __vsubss4, i8, Within(x - y, -128, 127))
COSIM_LANES(Vabsdiffu4, __vabsdiffu4, u8, x > y ? x - y : y - x)
COSIM_LANES(Vabsdiffs4, __vabsdiffs4, i8, x > y ? x - y : y - x)
COSIM_LANES(Vmaxu4, __vmaxu4, u8, x > y ? x : y)
COSIM_LANES(Vmins4, __vmins4, i8, x < y ? x : y)
COSIM_LANES(Vavgu4, __vavgu4, u8, (x + y + 1) >> 1)
COSIM_LANES(Vhaddu4, __vhaddu4, u8, (x + y) >> 1)
COSIM_LANES(Vcmpeq4, __vcmpeq4, u8, x == y ? -1 : 0)
COSIM_LANES(Vcmpgts4, __vcmpgts4, i8, x > y ? -1 : 0)
COSIM_LANES(Vsetleu4, __vsetleu4, u8, x <= y ? 1 : 0)
COSIM_LANES(Vadd2, __vadd2, u16, x + y)
COSIM_LANES(Vsub2, __vsub2, u16, x - y)
COSIM_LANES(Vaddss2, __vaddss2, i16, Within(x + y, -32768, 32767))
COSIM_LANES(Vsubus2, __vsubus2, u16, Within(x - y, 0, 65535))
COSIM_LANES(Vmaxs2, __vmaxs2, i16, x > y ? x : y)
COSIM_LANES(Vminu2, __vminu2, u16, x < y ? x : y)
COSIM_LANES(Vabsdiffs2, __vabsdiffs2, i16, x > y ? x - y : y - x)
COSIM_LANES(Vcmplts2, __vcmplts2, i16, x < y ? -1 : 0)
COSIM_LANES(Vsetgeu2, __vsetgeu2, u16, x >= y ? 1 : 0)
#undef COSIM_LANES

template <typename A, typename B>
i32 ProductsOnHost(u32 a, u32 b) {
  i32 sum = 0;
  for (int at = 0; at < 32; at += 8) sum += i32(A(a >> at)) * i32(B(b >> at));
  return sum;
}
HD inline i32 Dp4a(i32 a, i32 b, i32 c) {
  return COSIM_BOTH(__dp4a(a, b, c), i32(u32(c) + u32(ProductsOnHost<i8, i8>(u32(a), u32(b)))));
}
HD inline u32 Udp4a(u32 a, u32 b, u32 c) { return COSIM_BOTH(__dp4a(a, b, c), c + u32(ProductsOnHost<u8, u8>(a, b))); }
HD inline i32 Dp2aLo(i32 a, i32 b, i32 c) {
  return COSIM_BOTH(__dp2a_lo(a, b, c), i32(u32(c) + u32(i32(i16(a)) * i8(b) + i32(i16(a >> 16)) * i8(b >> 8))));
}
HD inline u32 Sad4(u32 a, u32 b) {
  u32 sum = 0;
  for (int at = 0; at < 32; at += 8) {
    const u32 x = a >> at & 0xff, y = b >> at & 0xff;
    sum += x > y ? x - y : y - x;
  }
  return COSIM_BOTH(__vsadu4(a, b), sum);
}

// Rounding other than to nearest: the host computes the result in double, where it is exact or nearly so, and then
// rounds up or down to float.
inline f32 DownOnHost(f64 exact) {
  const f32 near = f32(exact);
  return f64(near) > exact ? nextafterf(near, -INFINITY) : near;
}
inline f32 UpOnHost(f64 exact) {
  const f32 near = f32(exact);
  return f64(near) < exact ? nextafterf(near, INFINITY) : near;
}
HD inline f32 MulDown(f32 a, f32 b) { return COSIM_BOTH(__fmul_rd(a, b), DownOnHost(f64(a) * f64(b))); }
HD inline f32 MulUp(f32 a, f32 b) { return COSIM_BOTH(__fmul_ru(a, b), UpOnHost(f64(a) * f64(b))); }
HD inline f32 NarrowDown(f64 a) { return COSIM_BOTH(__double2float_rd(a), DownOnHost(a)); }
HD inline f32 NarrowUp(f64 a) { return COSIM_BOTH(__double2float_ru(a), UpOnHost(a)); }

}  // namespace cosim
