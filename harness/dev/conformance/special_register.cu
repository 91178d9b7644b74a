// Values of special registers, by launch; only registers whose values are the same in each run on a machine.
#define CONFORMANCE_CLASS "sreg"
#include "ask.h"

// clang-format off
#define REGISTERS(R)                                                                                                  \
  R(tid.x)                                                                                                            \
  R(tid.y) R(tid.z) R(ntid.x) R(ntid.y) R(ntid.z) R(laneid) R(warpid) R(nwarpid) R(ctaid.x) R(ctaid.y) R(ctaid.z)     \
      R(nctaid.x) R(nctaid.y) R(nctaid.z) R(nsmid) R(lanemask_eq) R(lanemask_lt) R(lanemask_le) R(lanemask_gt)        \
          R(lanemask_ge) R(clusterid.x) R(clusterid.y) R(clusterid.z) R(nclusterid.x) R(nclusterid.y) R(nclusterid.z) \
              R(cluster_ctaid.x) R(cluster_ctaid.y) R(cluster_ctaid.z) R(cluster_nctaid.x) R(cluster_nctaid.y)        \
                  R(cluster_nctaid.z) R(cluster_ctarank) R(cluster_nctarank) R(total_smem_size) R(aggr_smem_size)     \
                      R(dynamic_smem_size) R(reserved_smem_offset_begin) R(reserved_smem_offset_end)                  \
                          R(reserved_smem_offset_cap) R(reserved_smem_offset_0) R(envreg3) R(envreg4) R(envreg5)      \
                              R(envreg6) R(envreg7) R(envreg8) R(envreg9) R(envreg10) R(envreg11) R(envreg12)         \
                                  R(envreg13) R(envreg14) R(envreg15) R(envreg16) R(envreg17) R(envreg18) R(envreg19) \
                                      R(envreg20) R(envreg21) R(envreg22) R(envreg23) R(envreg24) R(envreg25)         \
                                          R(envreg26) R(envreg27) R(envreg28) R(envreg29) R(envreg30) R(envreg31)     \
                                              R(pm0) R(pm1) R(pm2) R(pm3) R(pm4) R(pm5) R(pm6) R(pm7)
// clang-format on

#define NAME(r) #r,
const char* const kNames[] = {REGISTERS(NAME)};
constexpr int kRegisters = sizeof kNames / sizeof *kNames;

template <int kStatic>
__device__ void ReadAll(unsigned* out, unsigned thread) {
  __shared__ char stay[kStatic == 0 ? 1 : kStatic];
  if (kStatic != 0 && threadIdx.x == 2000) out[0] = stay[out[1]];
  const unsigned linear = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (linear != thread || block != gridDim.x * gridDim.y * gridDim.z - 1) return;
  int k = 0;
#define READ(r)                                          \
  {                                                      \
    unsigned value;                                      \
    asm volatile("mov.u32 %0, %%" #r ";" : "=r"(value)); \
    out[k++] = value;                                    \
  }
  REGISTERS(READ)
  // The registers of 64 bits, and a predicate.
  unsigned long long wide;
  unsigned flag;
  asm volatile("mov.u64 %0, %%current_graph_exec;" : "=l"(wide));
  out[k++] = wide != 0;
  asm volatile("mov.u64 %0, %%pm0_64;" : "=l"(wide));
  out[k++] = wide;
  asm volatile("mov.u64 %0, %%pm7_64;" : "=l"(wide));
  out[k++] = wide;
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(flag));
  out[k++] = flag;
  unsigned sm, sms, low, high;
  asm volatile("mov.u32 %0, %%smid; mov.u32 %1, %%nsmid;" : "=r"(sm), "=r"(sms));
  out[k++] = sm < sms;
  asm volatile("mov.u64 %0, %%globaltimer; mov.u32 %1, %%globaltimer_lo; mov.u32 %2, %%globaltimer_hi;"
               : "=l"(wide), "=r"(low), "=r"(high));
  out[k++] = high - static_cast<unsigned>(wide >> 32) <= 1;
  unsigned long long clock;
  asm volatile("mov.u64 %0, %%clock64; mov.u32 %1, %%clock; mov.u32 %2, %%clock_hi;"
               : "=l"(clock), "=r"(low), "=r"(high));
  out[k++] = low - static_cast<unsigned>(clock) < 10000;
  // The narrow and the wide forms of a move.
  unsigned short narrow;
  asm volatile("cvt.u16.u32 %0, %%ntid.x;" : "=h"(narrow));
  out[k++] = narrow;
  asm volatile("cvt.u64.u32 %0, %%nctaid.x;" : "=l"(wide));
  out[k++] = wide;
  asm volatile("mov.u16 %0, %%tid.x;" : "=h"(narrow));
  out[k++] = narrow;
}
const char* const kMore[] = {
    "current_graph_exec_set", "pm0_64",       "pm7_64",     "is_explicit_cluster", "smid_below_nsmid",
    "globaltimer_halves",     "clock_halves", "cvt_ntid.x", "cvt_nctaid.x",        "mov16_tid.x"};

__global__ void Plain(unsigned* out, unsigned thread) { ReadAll<0>(out, thread); }
__global__ void Static100(unsigned* out, unsigned thread) { ReadAll<100>(out, thread); }
__global__ void Static5000(unsigned* out, unsigned thread) { ReadAll<5000>(out, thread); }
__global__ void __cluster_dims__(2, 1, 1) Cluster2(unsigned* out, unsigned thread) { ReadAll<0>(out, thread); }

struct Shape {
  const char* name;
  void (*kernel)(unsigned*, unsigned);
  dim3 grid, block, cluster;
  unsigned shared, thread;
};

void Ask(const Shape& shape, bool first) {
  Start();
  unsigned* out = nullptr;
  cudaMallocManaged(&out, 4 * (kRegisters + 16));
  std::memset(out, 0xee, 4 * (kRegisters + 16));
  if (shape.shared > 48 * 1024)
    cudaFuncSetAttribute(reinterpret_cast<const void*>(shape.kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                         shape.shared);
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
  config.attrs = &attribute;
  config.numAttrs = shape.cluster.x == 0 ? 0 : 1;
  Say("launch", cudaLaunchKernelEx(&config, shape.kernel, out, shape.thread));
  Say("sync", cudaDeviceSynchronize());
  for (int k = 0; k < kRegisters; ++k) {
    const std::string name = kNames[k];
    // The same for all launches: once is enough.
    if (!first && (name.rfind("envreg", 0) == 0 || name.rfind("pm", 0) == 0 || name.rfind("lanemask", 0) == 0))
      continue;
    Say(name, F("%u", out[k]));
  }
  for (size_t k = 0; k < sizeof kMore / sizeof *kMore; ++k) Say(kMore[k], F("%u", out[kRegisters + k]));
}

void AddCases(Cases& cases) {
  static const Shape shapes[] = {
      {"t1", Plain, 1, 1, 0, 0, 0},
      {"t32_last", Plain, 3, 32, 0, 0, 31},
      {"t128_s400", Plain, {2, 3, 4}, 128, 0, 400, 77},
      {"t4x5x6_s1", Plain, {2, 1, 2}, {4, 5, 6}, 0, 1, 119},
      {"t1024_s49152", Plain, 5, 1024, 0, 49152, 1023},
      {"t256_s100000", Plain, 1, 256, 0, 100000, 200},
      {"static100", Static100, 1, 64, 0, 0, 40},
      {"static100_s24", Static100, 2, 64, 0, 24, 40},
      {"static5000_s129", Static5000, 2, 64, 0, 129, 40},
      {"static5000_s1024", Static5000, 2, 64, 0, 1024, 40},
      {"cluster2", Cluster2, {4, 2, 1}, 64, 0, 0, 33},
      {"cluster2_s512", Cluster2, {4, 2, 1}, 64, 0, 512, 33},
      {"launched2x2x1", Plain, {4, 4, 3}, {8, 8, 1}, {2, 2, 1}, 0, 63},
      {"launched1x1x1", Plain, {4, 4, 3}, {8, 8, 1}, {1, 1, 1}, 0, 63},
      {"launched8", Plain, {16, 1, 1}, 96, {8, 1, 1}, 1000, 95},
  };
  for (const Shape& shape : shapes) cases(shape.name, [&shape] { Ask(shape, &shape == shapes); });
}
