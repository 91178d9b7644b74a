// A release contains several builds of the virtual GPU: in lib for every x86-64 processor, in its folders x86-64-v3 and
// -v4 (the levels of the x86-64 psABI) with wider vectors. All give the same results and counts.
#pragma once

namespace lockstep {

// The folder for this processor, with a trailing slash; "" for lib itself. Only vector extensions are tested: a
// processor with these has the rest of its level.
inline const char* ProcessorFolder() {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2")) return "";
  const bool has_512_bits = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has_512_bits ? "x86-64-v4/" : "x86-64-v3/";
#else
  return "";
#endif
}

}  // namespace lockstep
