// The bulk copy engine: tensor maps, loads and stores of tiles, bulk copies, asynchronous stores.
#define CONFORMANCE_CLASS "tma"
#include "ask.h"

constexpr unsigned kWide = 64, kHigh = 48, kDeep = 6;

struct Map {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  unsigned rank = 2;
  cuuint64_t sizes[5] = {kWide, kHigh, kDeep, 4, 4};
  cuuint64_t strides[4] = {kWide * 4, kWide * kHigh * 4, kWide * kHigh * kDeep * 4, kWide * kHigh * kDeep * 16};
  cuuint32_t box[5] = {16, 8, 2, 1, 1};
  cuuint32_t steps[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult Encode(CUtensorMap* map, void* base) const {
    return cuTensorMapEncodeTiled(map, type, rank, base, sizes, strides, box, steps, interleave, swizzle, promotion,
                                  fill);
  }
};

unsigned Hash(const unsigned* words, size_t count) {
  unsigned h = 2166136261u;
  for (size_t k = 0; k < count; ++k) h = (h ^ words[k]) * 16777619u;
  return h;
}

void Encodings() {
  Start();
  float* base = nullptr;
  cudaMalloc(&base, 1 << 22);
  alignas(64) CUtensorMap map;
  const auto ask = [&](const std::string& name, auto change, void* at = nullptr) {
    Map m;
    change(m);
    Say(name, m.Encode(&map, at == nullptr ? base : at));
  };
  ask("default", [](Map&) {});
  for (int type = 0; type < 17; ++type) {
    ask(F("type%d", type), [&](Map& m) { m.type = static_cast<CUtensorMapDataType>(type); });
    ask(F("type%d_box32", type), [&](Map& m) { m.type = static_cast<CUtensorMapDataType>(type), m.box[0] = 32; });
    ask(F("type%d_box128", type),
        [&](Map& m) { m.type = static_cast<CUtensorMapDataType>(type), m.box[0] = 128, m.sizes[0] = 256; });
  }
  for (unsigned rank = 0; rank <= 6; ++rank) ask(F("rank%u", rank), [&](Map& m) { m.rank = rank; });
  for (const unsigned box : {0u, 1u, 2u, 3u, 4u, 5u, 8u, 12u, 64u, 128u, 255u, 256u, 257u}) {
    ask(F("box0_%u", box), [&](Map& m) { m.box[0] = box; });
    ask(F("box1_%u", box), [&](Map& m) { m.box[1] = box; });
  }
  for (const unsigned step : {0u, 1u, 2u, 7u, 8u, 9u, 16u}) {
    ask(F("step0_%u", step), [&](Map& m) { m.steps[0] = step; });
    ask(F("step1_%u", step), [&](Map& m) { m.steps[1] = step; });
  }
  for (const cuuint64_t size : {0ul, 1ul, 15ul, 0xfffffffful, 0x100000000ul, 0x100000001ul}) {
    ask(F("size0_%lu", size), [&](Map& m) { m.sizes[0] = size; });
    ask(F("size1_%lu", size), [&](Map& m) { m.sizes[1] = size; });
  }
  for (const cuuint64_t stride : {0ul, 1ul, 4ul, 8ul, 16ul, 32ul, 240ul, 255ul, 256ul, 1ul << 39, (1ul << 40) - 16,
                                  1ul << 40, (1ul << 40) + 16}) {
    ask(F("stride_%lu", stride), [&](Map& m) { m.strides[0] = stride; });
  }
  for (int interleave = 0; interleave < 4; ++interleave) {
    for (int swizzle = 0; swizzle < 8; ++swizzle) {
      for (const unsigned box : {4u, 8u, 16u, 32u, 64u}) {
        for (const unsigned rank : {2u, 3u}) {
          ask(F("interleave%d_swizzle%d_box%u_rank%u", interleave, swizzle, box, rank), [&](Map& m) {
            m.interleave = static_cast<CUtensorMapInterleave>(interleave),
            m.swizzle = static_cast<CUtensorMapSwizzle>(swizzle), m.box[0] = box, m.rank = rank;
          });
        }
      }
    }
  }
  for (int promotion = 0; promotion < 5; ++promotion)
    ask(F("promotion%d", promotion), [&](Map& m) { m.promotion = static_cast<CUtensorMapL2promotion>(promotion); });
  for (int fill = 0; fill < 3; ++fill) {
    ask(F("fill%d", fill), [&](Map& m) { m.fill = static_cast<CUtensorMapFloatOOBfill>(fill); });
    ask(F("fill%d_int", fill),
        [&](Map& m) { m.fill = static_cast<CUtensorMapFloatOOBfill>(fill), m.type = CU_TENSOR_MAP_DATA_TYPE_INT32; });
  }
  for (const int offset : {1, 4, 8, 16, 32})
    ask(F("base_plus%d", offset), [](Map&) {}, reinterpret_cast<char*>(base) + offset);
  for (const int offset : {16, 32}) {
    ask(
        F("interleave32_base_plus%d", offset),
        [](Map& m) {
          m.interleave = CU_TENSOR_MAP_INTERLEAVE_32B, m.swizzle = CU_TENSOR_MAP_SWIZZLE_32B, m.rank = 3, m.box[0] = 8;
        },
        reinterpret_cast<char*>(base) + offset);
  }
  Map m;
  Say("null_map", m.Encode(nullptr, base));
  Say("unaligned_map", m.Encode(reinterpret_cast<CUtensorMap*>(reinterpret_cast<char*>(&map) + 8), base));
  Say("null_base", m.Encode(&map, nullptr));
  Say("null_sizes", cuTensorMapEncodeTiled(&map, m.type, 2, base, nullptr, m.strides, m.box, m.steps, m.interleave,
                                           m.swizzle, m.promotion, m.fill));
  Say("null_strides", cuTensorMapEncodeTiled(&map, m.type, 2, base, m.sizes, nullptr, m.box, m.steps, m.interleave,
                                             m.swizzle, m.promotion, m.fill));
  Say("null_strides_rank1", cuTensorMapEncodeTiled(&map, m.type, 1, base, m.sizes, nullptr, m.box, m.steps,
                                                   m.interleave, m.swizzle, m.promotion, m.fill));
  Say("null_box", cuTensorMapEncodeTiled(&map, m.type, 2, base, m.sizes, m.strides, nullptr, m.steps, m.interleave,
                                         m.swizzle, m.promotion, m.fill));
  Say("null_steps", cuTensorMapEncodeTiled(&map, m.type, 2, base, m.sizes, m.strides, m.box, nullptr, m.interleave,
                                           m.swizzle, m.promotion, m.fill));
  Say("encode", m.Encode(&map, base));
  Say("replace", cuTensorMapReplaceAddress(&map, base + 64));
  Say("replace_unaligned", cuTensorMapReplaceAddress(&map, base + 1));
  Say("replace_null", cuTensorMapReplaceAddress(&map, nullptr));
  const cuuint64_t sizes[] = {kWide, 16, 12, 4};
  const cuuint64_t strides[] = {kWide * 4, kWide * 64, kWide * 64 * 12};
  for (const unsigned rank : {2u, 3u, 4u, 5u}) {
    const int lower[] = {-1, -1, -1}, upper[] = {-1, -1, -1};
    const cuuint32_t steps[] = {1, 1, 1, 1, 1};
    for (const unsigned channels : {0u, 4u, 16u, 64u, 256u, 257u}) {
      for (const unsigned pixels : {0u, 1u, 32u, 1024u, 1025u}) {
        if (rank == 5) continue;
        Say(F("im2col_rank%u_c%u_p%u", rank, channels, pixels),
            cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, base, sizes, strides, lower, upper,
                                    channels, pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
      }
    }
  }
  for (const int corner : {-129, -128, -1, 0, 127, 128}) {
    const int lower[] = {corner, 0}, upper[] = {0, corner};
    const cuuint32_t steps[] = {1, 1, 1, 1};
    Say(F("im2col_corner%d", corner),
        cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, base, sizes, strides, lower, upper, 16, 32,
                                steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  }
}

struct Where {
  int x, y, z;
};

enum Task { kLoad2, kLoad3, kStore2, kReduce2, kPrefetch2 };

__device__ unsigned Shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
// Whether the barrier's first phase ends; a copy that doesn't signal the barrier leaves it open.
__device__ bool Wait(unsigned barrier) {
  for (int k = 0; k < 200000; ++k) {
    unsigned ended;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended)
                 : "r"(barrier)
                 : "memory");
    if (ended != 0) return true;
  }
  return false;
}

__global__ void Tile(const __grid_constant__ CUtensorMap map, int task, Where at, unsigned bytes, unsigned* out,
                     unsigned shift) {
  extern __shared__ __align__(1024) char tile_memory[];
  __shared__ alignas(8) unsigned long long barrier;
  char* const tile = tile_memory + shift;
  for (unsigned k = threadIdx.x; k < bytes / 4; k += blockDim.x)
    reinterpret_cast<unsigned*>(tile)[k] = task >= kStore2 ? k + 1 : 0xabababab;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(Shared(&barrier))
                 : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    if (task == kLoad2 || task == kLoad3)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(Shared(&barrier)), "r"(bytes)
                   : "memory");
    if (task == kLoad2) {
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
              "r"(Shared(tile)),
          "l"(&map), "r"(at.x), "r"(at.y), "r"(Shared(&barrier))
          : "memory");
    } else if (task == kLoad3) {
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
              "r"(Shared(tile)),
          "l"(&map), "r"(at.x), "r"(at.y), "r"(at.z), "r"(Shared(&barrier))
          : "memory");
    } else if (task == kStore2) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                   "r"(at.x), "r"(at.y), "r"(Shared(tile))
                   : "memory");
    } else if (task == kReduce2) {
      asm volatile(
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
          "r"(at.x), "r"(at.y), "r"(Shared(tile))
          : "memory");
    } else {
      asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(at.x), "r"(at.y)
                   : "memory");
    }
    if (task == kStore2 || task == kReduce2)
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
  if ((task == kLoad2 || task == kLoad3) && !Wait(Shared(&barrier))) out[bytes / 4] = 1;
  __syncthreads();
  for (unsigned k = threadIdx.x; k < bytes / 4; k += blockDim.x) out[k] = reinterpret_cast<unsigned*>(tile)[k];
}

void Move(const Map& m, int task, Where at, unsigned bytes, unsigned shift = 0) {
  Start();
  unsigned *base = nullptr, *out = nullptr;
  const size_t words = kWide * kHigh * kDeep;
  cudaMallocManaged(&base, 4 * words);
  cudaMallocManaged(&out, bytes + 4);
  out[bytes / 4] = 0;
  for (size_t k = 0; k < words; ++k) base[k] = 0x10000 + k;
  alignas(64) CUtensorMap map;
  Say("encode", m.Encode(&map, base));
  cudaFuncSetAttribute(reinterpret_cast<const void*>(Tile), cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  Tile<<<1, 128, 65536>>>(map, task, at, bytes, out, shift);
  Say("launch", cudaGetLastError());
  const cudaError_t error = cudaDeviceSynchronize();
  Say("sync", error);
  if (error != cudaSuccess) return;
  Say("hangs", out[bytes / 4] != 0);
  Say("tile", F("%08x", Hash(out, bytes / 4)));
  Say("first", F("%x %x %x %x", out[0], out[1], out[4], out[bytes / 4 - 1]));
  Say("memory", F("%08x", Hash(base, words)));
}

// Bulk copies without a map, and asynchronous stores.
__global__ void Bulk(int task, char* global, unsigned bytes, unsigned from, unsigned to, unsigned* out) {
  __shared__ alignas(128) char memory[4096];
  __shared__ alignas(8) unsigned long long barrier;
  for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x) reinterpret_cast<unsigned*>(memory)[k] = k;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(Shared(&barrier))
                 : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned s = Shared(memory), b = Shared(&barrier);
  if (threadIdx.x == 0) {
    if (task == 0 || task == 3 || task == 4)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(task == 4 ? 4 : bytes)
                   : "memory");
    if (task == 0)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s + to),
          "l"(global + from), "r"(bytes), "r"(b)
          : "memory");
    if (task == 1)
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global + to), "r"(s + from),
                   "r"(bytes)
                   : "memory");
    if (task == 2)
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(global + to),
                   "r"(s + from), "r"(bytes)
                   : "memory");
    if (task == 3)
      asm volatile(
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s + to),
          "r"(s + from), "r"(bytes), "r"(b)
          : "memory");
    if (task == 4)
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(s + to), "r"(77),
                   "r"(b)
                   : "memory");
    if (task == 5)
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global + from), "r"(bytes) : "memory");
    if (task == 1 || task == 2) asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
  if ((task == 0 || task == 3 || task == 4) && !Wait(b)) out[1024] = 1;
  __syncthreads();
  for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x) out[k] = reinterpret_cast<unsigned*>(memory)[k];
}
void MoveBulk(int task, unsigned bytes, unsigned from, unsigned to, unsigned cluster) {
  Start();
  unsigned *global = nullptr, *out = nullptr;
  cudaMallocManaged(&global, 65536);
  cudaMallocManaged(&out, 4100);
  out[1024] = 0;
  for (unsigned k = 0; k < 16384; ++k) global[k] = 7 * k;
  cudaLaunchConfig_t config = {};
  config.gridDim = cluster == 0 ? 1 : cluster;
  config.blockDim = 64;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = cluster == 0 ? 0 : 1;
  Say("launch", cudaLaunchKernelEx(&config, Bulk, task, reinterpret_cast<char*>(global), bytes, from, to, out));
  const cudaError_t error = cudaDeviceSynchronize();
  Say("sync", error);
  if (error != cudaSuccess) return;
  Say("hangs", out[1024] != 0);
  Say("shared", F("%08x", Hash(out, 1024)));
  Say("global", F("%08x", Hash(global, 16384)));
}

void AddCases(Cases& cases) {
  cases("encode", Encodings);
  const unsigned tile = 16 * 8 * 4;
  static const Where places[] = {{0, 0, 0},  {4, 1, 0},     {8, 3, 1},    {16, 40, 0},  {1, 1, 0},
                                 {2, 0, 0},  {3, 5, 0},     {6, 2, 0},    {-4, -2, 0},  {-8, 0, 0},
                                 {-1, 0, 0}, {0, -3, 0},    {56, 44, 0},  {60, 0, 0},   {64, 0, 0},
                                 {0, 48, 0}, {100, 100, 0}, {-16, -8, 0}, {-100, 0, 0}, {52, 0, 0}};
  static const char* const tasks[] = {"load2", "load3", "store2", "reduce2", "prefetch2"};
  for (const Where& at : places) {
    for (int task = 0; task < 5; ++task) {
      cases(F("%s_at%d.%d", tasks[task], at.x, at.y), [=] {
        Map m;
        if (task == kLoad3) m.rank = 3;
        if (task == kReduce2) m.type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
        Move(m, task, at, task == kLoad3 ? 2 * tile : tile);
      });
    }
  }
  static const CUtensorMapSwizzle swizzles[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                                CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
  for (int s = 0; s < 4; ++s) {
    for (const unsigned shift : {0u, 128u, 256u, 512u, 16u, 64u}) {
      cases(F("swizzle%d_shift%u", s, shift), [=] {
        Map m;
        m.swizzle = swizzles[s];
        m.box[0] = s == 0 ? 16 : 4u << s, m.box[1] = 16;
        Move(m, kLoad2, {8, 4, 0}, m.box[0] * 16 * 4, shift);
      });
    }
    cases(F("swizzle%d_store", s), [=] {
      Map m;
      m.swizzle = swizzles[s];
      m.box[0] = s == 0 ? 16 : 4u << s, m.box[1] = 16;
      Move(m, kStore2, {8, 4, 0}, m.box[0] * 16 * 4);
    });
  }
  for (const bool nan : {false, true}) {
    static const struct {
      const char* name;
      CUtensorMapDataType type;
      unsigned bytes;
    } types[] = {{"f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4},
                 {"f16", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2},
                 {"bf16", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2},
                 {"f64", CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8},
                 {"tf32", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4},
                 {"f32_ftz", CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4},
                 {"tf32_ftz", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4},
                 {"u8", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1},
                 {"u16", CU_TENSOR_MAP_DATA_TYPE_UINT16, 2},
                 {"u64", CU_TENSOR_MAP_DATA_TYPE_UINT64, 8}};
    for (const auto& type : types) {
      if (nan && type.name[0] == 'u') continue;
      cases(F("fill%d_%s", nan, type.name), [=] {
        Map m;
        m.type = type.type;
        m.sizes[0] = kWide * 4 / type.bytes;
        m.box[0] = 64 / type.bytes;
        m.fill = nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
        Move(m, kLoad2, {static_cast<int>(kWide * 4 / type.bytes - 32 / type.bytes), 44, 0}, 64 * 8);
      });
    }
  }
  for (const unsigned step : {2u, 3u, 8u}) {
    cases(F("step%u", step), [=] {
      Map m;
      m.steps[1] = step;
      m.box[1] = 8 * step;
      Move(m, kLoad2, {8, 1, 0}, 16 * 4 * 8);
    });
  }
  static const char* const bulks[] = {"load", "store", "reduce", "shared_to_shared", "store_async", "prefetch"};
  for (int task = 0; task < 6; ++task) {
    static const struct {
      unsigned bytes, from, to;
    } forms[] = {{16, 0, 0}, {256, 16, 32}, {512, 2048, 1024}, {8, 0, 0},
                 {24, 0, 0}, {16, 8, 0},    {16, 0, 8},        {0, 0, 0}};
    for (const auto& form : forms) {
      for (const unsigned cluster : {0u, 1u}) {
        cases(F("%s_b%u_f%u_t%u_c%u", bulks[task], form.bytes, form.from, form.to, cluster),
              [=] { MoveBulk(task, form.bytes, form.from, form.to, cluster); });
      }
    }
  }
}
