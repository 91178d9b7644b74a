// Bulk copies and copies of tiles (TMA), by inline PTX: what a load leaves in shared memory in each swizzle and at
// the tensor's edges, what a store and a reduction leave in global memory, what the encoder of tensor maps refuses.
// With an argument: one fault, by number. With "plan" and a number: one tile. nvcc -arch=sm_90 bulk_copies.cu &&
// ./a.out
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kSharedBytes = 32768;

#define CHECK(call)                                             \
  do {                                                          \
    const cudaError_t error_ = (call);                          \
    if (error_ != cudaSuccess) {                                \
      std::printf("%s: %s\n", #call, cudaGetErrorName(error_)); \
      std::exit(1);                                             \
    }                                                           \
  } while (0)

__device__ uint32_t SharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void InitBarrier(uint64_t* barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SharedAddress(barrier)), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ void ExpectBytes(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SharedAddress(barrier)), "r"(bytes)
               : "memory");
}
__device__ void WaitFor(uint64_t* barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(SharedAddress(barrier)), "r"(parity)
                 : "memory");
  }
}
__device__ void CommitAndWait() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
__device__ void CopyIn(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   SharedAddress(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(SharedAddress(barrier))
               : "memory");
}

// Dynamic shared memory from the first multiple of 1024 on.
__device__ uint8_t* Memory() {
  extern __shared__ __align__(128) uint8_t dynamic[];
  return dynamic + (1024 - SharedAddress(dynamic) % 1024) % 1024;
}

// Copies from global to shared memory in two halves, changes the words, and copies them back.
__global__ void CopyKernel(const uint32_t* in, uint32_t* out, uint32_t bytes) {
  uint8_t* const memory = Memory();
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    InitBarrier(&barrier, 1);
    ExpectBytes(&barrier, bytes);
    CopyIn(memory, in + blockIdx.x * bytes / 4, bytes / 2, &barrier);
    CopyIn(memory + bytes / 2, in + blockIdx.x * bytes / 4 + bytes / 8, bytes / 2, &barrier);
  }
  __syncthreads();
  WaitFor(&barrier, 0);
  uint32_t* words = reinterpret_cast<uint32_t*>(memory);
  for (uint32_t k = threadIdx.x; k < bytes / 4; k += blockDim.x) words[k] = words[k] * 3 + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     __cvta_generic_to_global(out + blockIdx.x * bytes / 4)),
                 "r"(SharedAddress(memory)), "r"(bytes)
                 : "memory");
    CommitAndWait();
  }
}

enum Reduction { kAddU32, kMinS32, kMaxU32, kIncU32, kXorB32, kAddF32, kAddU64, kAddF16, kReductions };

template <int kReduction>
__device__ void ReduceOut(void* to, const void* from, uint32_t bytes) {
#define REDUCE(number, words)                                             \
  if (kReduction == number)                                               \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group" words \
               " [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),    \
               "r"(SharedAddress(from)), "r"(bytes)                       \
               : "memory")
  REDUCE(kAddU32, ".add.u32");
  REDUCE(kMinS32, ".min.s32");
  REDUCE(kMaxU32, ".max.u32");
  REDUCE(kIncU32, ".inc.u32");
  REDUCE(kXorB32, ".xor.b32");
  REDUCE(kAddF32, ".add.f32");
  REDUCE(kAddU64, ".add.u64");
  REDUCE(kAddF16, ".add.noftz.f16");
}

template <int kReduction>
__global__ void ReduceKernel(const uint32_t* in, uint32_t* out, uint32_t bytes) {
  uint8_t* const memory = Memory();
  uint32_t* words = reinterpret_cast<uint32_t*>(memory);
  for (uint32_t k = threadIdx.x; k < bytes / 4; k += blockDim.x) words[k] = in[k];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  ReduceOut<kReduction>(out, memory, bytes);
  CommitAndWait();
}

struct Coordinates {
  int32_t at[5];
};

template <int kRank>
__device__ void LoadTile(void* to, const CUtensorMap* map, const Coordinates& c, uint64_t* barrier) {
#define LOAD(rank, list)                                                                                           \
  if (kRank == rank)                                                                                               \
  asm volatile(                                                                                                    \
      "cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" list \
      "}], [%7];" ::"r"(SharedAddress(to)),                                                                        \
      "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]), "r"(SharedAddress(barrier))  \
      : "memory")
  LOAD(1, "%2");
  LOAD(2, "%2, %3");
  LOAD(3, "%2, %3, %4");
  LOAD(4, "%2, %3, %4, %5");
  LOAD(5, "%2, %3, %4, %5, %6");
}

template <int kRank, bool kAdds>
__device__ void StoreTile(const CUtensorMap* map, const Coordinates& c, const void* from) {
#define STORE(rank, list)                                                                                       \
  if (kRank == rank && !kAdds)                                                                                  \
    asm volatile("cp.async.bulk.tensor." #rank "d.global.shared::cta.tile.bulk_group [%0, {" list               \
                 "}], [%6];" ::"l"(map),                                                                        \
                 "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]), "r"(SharedAddress(from)) \
                 : "memory");                                                                                   \
  if (kRank == rank && kAdds)                                                                                   \
  asm volatile("cp.reduce.async.bulk.tensor." #rank "d.global.shared::cta.add.tile.bulk_group [%0, {" list      \
               "}], [%6];" ::"l"(map),                                                                          \
               "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]), "r"(SharedAddress(from))   \
               : "memory")
  STORE(1, "%1");
  STORE(2, "%1, %2");
  STORE(3, "%1, %2, %3");
  STORE(4, "%1, %2, %3, %4");
  STORE(5, "%1, %2, %3, %4, %5");
}

// Loads a tile at `offset` of shared memory full of 0xee, and copies all of that to `dump`.
template <int kRank>
__global__ void LoadKernel(const __grid_constant__ CUtensorMap map, Coordinates c, uint32_t offset, uint32_t expected,
                           uint8_t* dump, uint32_t dumped) {
  uint8_t* const memory = Memory();
  __shared__ uint64_t barrier;
  for (uint32_t k = threadIdx.x; k < dumped; k += blockDim.x) memory[k] = 0xee;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    InitBarrier(&barrier, 1);
    ExpectBytes(&barrier, expected);
    LoadTile<kRank>(memory + offset, &map, c, &barrier);
  }
  __syncthreads();
  WaitFor(&barrier, 0);
  for (uint32_t k = threadIdx.x; k < dumped; k += blockDim.x) dump[k] = memory[k];
}

// Stores a tile of the 16-bit numbers 1000, 1001 …
template <int kRank, bool kAdds>
__global__ void StoreKernel(const __grid_constant__ CUtensorMap map, Coordinates c, uint32_t offset) {
  uint8_t* const memory = Memory();
  uint16_t* words = reinterpret_cast<uint16_t*>(memory);
  for (uint32_t k = threadIdx.x; k < 8192; k += blockDim.x) words[k] = static_cast<uint16_t>(1000 + k);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  StoreTile<kRank, kAdds>(&map, c, memory + offset);
  CommitAndWait();
}

// Block 0 of a cluster of two sends a tile of its shared memory to block 1, and loads the same bytes into both.
__global__ void __cluster_dims__(2, 1, 1) ClusterKernel(const uint32_t* in, uint32_t* out) {
  __shared__ __align__(128) uint32_t own[64], sent[64], cast[64];
  __shared__ uint64_t barriers[2];
  const uint32_t rank = blockIdx.x % 2;
  own[threadIdx.x] = 100 * rank + threadIdx.x;
  if (threadIdx.x == 0) {
    InitBarrier(&barriers[0], 1);
    InitBarrier(&barriers[1], 1);
    if (rank == 1) ExpectBytes(&barriers[0], sizeof sent);
    ExpectBytes(&barriers[1], sizeof cast);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (rank == 0 && threadIdx.x == 0) {
    uint32_t to, barrier;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(to) : "r"(SharedAddress(sent)));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(barrier) : "r"(SharedAddress(&barriers[0])));
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "r"(SharedAddress(own)), "r"(static_cast<uint32_t>(sizeof sent)), "r"(barrier)
        : "memory");
    asm volatile(
        "{\n.reg .b16 m;\nmov.b16 m, 3;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
        "m;\n}" ::"r"(SharedAddress(cast)),
        "l"(__cvta_generic_to_global(in)), "r"(static_cast<uint32_t>(sizeof cast)), "r"(SharedAddress(&barriers[1]))
        : "memory");
  }
  if (rank == 1) WaitFor(&barriers[0], 0);
  WaitFor(&barriers[1], 0);
  out[rank * 128 + threadIdx.x] = rank == 1 ? sent[threadIdx.x] : 0;
  out[rank * 128 + 64 + threadIdx.x] = cast[threadIdx.x];
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__global__ void FaultKernel(const uint8_t* in, uint32_t size, uint32_t to, uint32_t from, uint8_t* out, bool stores) {
  uint8_t* const memory = Memory();
  __shared__ uint64_t barrier;
  if (stores) {
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(out + to)),
        "r"(SharedAddress(memory + from)), "r"(size)
        : "memory");
    CommitAndWait();
    return;
  }
  InitBarrier(&barrier, 1);
  ExpectBytes(&barrier, size);
  CopyIn(memory + to, in + from, size, &barrier);
  WaitFor(&barrier, 0);
  out[0] = memory[to];
}

uint64_t Hash(const void* data, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t k = 0; k < bytes; ++k) hash = (hash ^ static_cast<const uint8_t*>(data)[k]) * 0x100000001b3;
  return hash;
}

template <typename T>
struct DeviceArray {
  explicit DeviceArray(size_t n) : count(n) {
    CHECK(cudaMalloc(&data, n * sizeof(T)));
    CHECK(cudaMemset(data, 0, n * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    CHECK(cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data); }
  std::vector<T> Get() const {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  T* data = nullptr;
  size_t count;
};

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
Encode encode = nullptr;

struct Plan {
  const char* name;
  CUtensorMapDataType type;
  int rank;
  cuuint64_t extents[5], strides[4];
  cuuint32_t box[5], steps[5];
  CUtensorMapSwizzle swizzle;
  Coordinates at;
  uint32_t offset, bytes;  // in shared memory; of the tile
};

CUresult Make(const Plan& plan, void* address, CUtensorMap* map) {
  return encode(map, plan.type, plan.rank, address, plan.extents, plan.strides, plan.box, plan.steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, plan.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

constexpr auto kU16 = CU_TENSOR_MAP_DATA_TYPE_UINT16;
constexpr auto kF32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
constexpr auto kPlain = CU_TENSOR_MAP_SWIZZLE_NONE;

const Plan kPlans[] = {
    {"2d", kU16, 2, {64, 64}, {128}, {16, 8}, {1, 1}, kPlain, {{8, 4}}, 0, 256},
    {"2d outside", kU16, 2, {60, 60}, {128}, {16, 8}, {1, 1}, kPlain, {{64, 100}}, 0, 256},
    {"2d steps", kU16, 2, {64, 64}, {128}, {16, 8}, {2, 2}, kPlain, {{8, 4}}, 0, 128},
    {"2d steps of 3", kU16, 2, {64, 64}, {128}, {16, 8}, {1, 3}, kPlain, {{8, 57}}, 0, 96},
    {"swizzle 32", kU16, 2, {64, 64}, {128}, {16, 16}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_32B, {{0, 0}}, 0, 512},
    {"swizzle 64", kU16, 2, {64, 64}, {128}, {32, 16}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_64B, {{0, 0}}, 0, 1024},
    {"swizzle 128", kU16, 2, {64, 64}, {128}, {64, 16}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B, {{0, 0}}, 0, 2048},
    {"swizzle 128 at 128", kU16, 2, {64, 64}, {128}, {64, 16}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B, {{0, 0}}, 128, 2048},
    {"swizzle 64 at 384", kU16, 2, {64, 64}, {128}, {32, 16}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_64B, {{8, 9}}, 384, 1024},
    {"swizzle 128 f32", kF32, 2, {32, 32}, {128}, {32, 8}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B, {{0, 3}}, 0, 1024},
    {"4d", kU16, 4, {8, 8, 8, 8}, {16, 128, 1024}, {8, 2, 2, 2}, {1, 1, 1, 1}, kPlain, {{0, 7, 3, 1}}, 0, 128},
    {"5d",
     kU16,
     5,
     {8, 4, 4, 4, 4},
     {16, 64, 256, 1024},
     {8, 2, 2, 2, 2},
     {1, 1, 1, 2, 1},
     kPlain,
     {{0, 1, 2, 3, 3}},
     0,
     128},
};

template <int kRank>
void RunPlan(const Plan& plan, uint16_t* tensor) {
  CUtensorMap map;
  const CUresult made = Make(plan, tensor, &map);
  if (made != CUDA_SUCCESS) {
    std::printf("%s: the map is refused, %d\n", plan.name, made);
    return;
  }
  const uint32_t dumped = plan.offset + plan.bytes + 128;
  DeviceArray<uint8_t> dump(dumped);
  LoadKernel<kRank><<<1, 128, kSharedBytes>>>(map, plan.at, plan.offset, plan.bytes, dump.data, dumped);
  CHECK(cudaDeviceSynchronize());
  const std::vector<uint8_t> bytes = dump.Get();
  std::printf("load %s: %016llx\n", plan.name, static_cast<unsigned long long>(Hash(bytes.data(), bytes.size())));
  for (uint32_t at = plan.offset & ~31u, lines = 0; at < dumped && lines < 12; at += 32, ++lines) {
    for (uint32_t k = 0; k < 16; ++k) {
      uint16_t value;
      std::memcpy(&value, bytes.data() + at + 2 * k, 2);
      std::printf(" %04x", value);
    }
    std::printf("\n");
  }
}

template <int kRank, bool kAdds>
void RunStore(const Plan& plan) {
  std::vector<uint16_t> values(4096);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<uint16_t>(k);
  DeviceArray<uint16_t> tensor(values);
  CUtensorMap map;
  if (Make(plan, tensor.data, &map) != CUDA_SUCCESS) return;
  StoreKernel<kRank, kAdds><<<1, 128, kSharedBytes>>>(map, plan.at, plan.offset);
  CHECK(cudaDeviceSynchronize());
  const std::vector<uint16_t> after = tensor.Get();
  size_t changed = 0, first = 0;
  for (size_t k = after.size(); k-- > 0;) {
    if (after[k] == values[k]) continue;
    ++changed;
    first = k;
  }
  std::printf("%s %s: %016llx, %zu changed from %zu on\n", kAdds ? "add" : "store", plan.name,
              static_cast<unsigned long long>(Hash(after.data(), after.size() * 2)), changed, first);
}

void RunBoth(const Plan& plan, uint16_t* tensor) {
  if (plan.rank == 1) RunPlan<1>(plan, tensor);
  if (plan.rank == 2) RunPlan<2>(plan, tensor);
  if (plan.rank == 3) RunPlan<3>(plan, tensor);
  if (plan.rank == 4) RunPlan<4>(plan, tensor);
  if (plan.rank == 5) RunPlan<5>(plan, tensor);
  if (plan.type != kU16) return;
  if (plan.rank == 1) RunStore<1, false>(plan);
  if (plan.rank == 2) RunStore<2, false>(plan);
  if (plan.rank == 3) RunStore<3, false>(plan);
  if (plan.rank == 4) RunStore<4, false>(plan);
  if (plan.rank == 5) RunStore<5, false>(plan);
}

template <int kReduction>
void RunReduction(const char* name) {
  std::vector<uint32_t> in(256), out(256);
  for (uint32_t k = 0; k < 256; ++k) {
    in[k] = k * 2654435761u;
    out[k] = k * 40503u + (k % 3 == 0 ? 0x80000000u : 0);
    if (kReduction == kAddF32 || kReduction == kAddF16) {
      in[k] = kReduction == kAddF32 ? 0x3f800000u + k * 4097 : 0x3c003c00u + k * 5;
      out[k] = kReduction == kAddF32 ? 0x40000000u + k * 517 + (k % 2 << 31) : 0x40003800u + k * 3;
    }
    if (kReduction == kAddF32 && k % 16 == 0) in[k] = k + 1, out[k] = k % 32;  // subnormal
  }
  DeviceArray<uint32_t> from(in), to(out);
  ReduceKernel<kReduction><<<1, 64, kSharedBytes>>>(from.data, to.data, 1024);
  CHECK(cudaDeviceSynchronize());
  const std::vector<uint32_t> after = to.Get();
  std::printf("reduce %s: %016llx %08x %08x %08x %08x\n", name,
              static_cast<unsigned long long>(Hash(after.data(), 1024)), after[0], after[1], after[16], after[255]);
}

void EncoderResults(void* address) {
  const auto show = [&](const char* what, Plan plan, void* at, CUtensorMapInterleave interleave,
                        CUtensorMapFloatOOBfill fill) {
    alignas(64) CUtensorMap map;
    std::printf("encode %s: %d\n", what,
                encode(&map, plan.type, plan.rank, at, plan.extents, plan.strides, plan.box, plan.steps, interleave,
                       plan.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill));
  };
  const Plan good = kPlans[0];
  const auto with = [&](const char* what, auto change) {
    Plan plan = good;
    void* at = address;
    change(plan, at);
    show(what, plan, at, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  with("good", [](Plan&, void*&) {});
  with("rank 0", [](Plan& p, void*&) { p.rank = 0; });
  with("rank 6", [](Plan& p, void*&) { p.rank = 6; });
  with("address of 8", [](Plan&, void*& at) { at = static_cast<char*>(at) + 8; });
  with("null address", [](Plan&, void*& at) { at = nullptr; });
  with("stride of 8", [](Plan& p, void*&) { p.strides[0] = 136; });
  with("stride 0", [](Plan& p, void*&) { p.strides[0] = 0; });
  with("short stride", [](Plan& p, void*&) { p.strides[0] = 64; });
  with("long stride", [](Plan& p, void*&) { p.strides[0] = cuuint64_t{1} << 40; });
  with("no extent", [](Plan& p, void*&) { p.extents[0] = 0; });
  with("extent 2^32", [](Plan& p, void*&) { p.extents[1] = cuuint64_t{1} << 32; });
  with("extent 2^32 + 1", [](Plan& p, void*&) { p.extents[1] = (cuuint64_t{1} << 32) + 1; });
  with("box 0", [](Plan& p, void*&) { p.box[1] = 0; });
  with("box 257", [](Plan& p, void*&) { p.box[1] = 257; });
  with("box 256", [](Plan& p, void*&) { p.box[1] = 256; });
  with("row of 8 bytes", [](Plan& p, void*&) { p.box[0] = 4; });
  with("box past the tensor", [](Plan& p, void*&) { p.extents[1] = 2; });
  with("step 0", [](Plan& p, void*&) { p.steps[1] = 0; });
  with("step 9", [](Plan& p, void*&) { p.steps[1] = 9; });
  with("first step 2", [](Plan& p, void*&) { p.steps[0] = 2; });
  with("swizzle 32 of 64 bytes", [](Plan& p, void*&) { p.box[0] = 32, p.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; });
  with("swizzle 128 of 32 bytes", [](Plan& p, void*&) { p.swizzle = CU_TENSOR_MAP_SWIZZLE_128B; });
}

int Fault(int number) {
  DeviceArray<uint8_t> in(4096), out(4096);
  static const struct {
    uint32_t size, to, from;
    bool stores;
  } kFaults[] = {{8, 0, 0, false},     {24, 0, 0, false},    {16, 8, 0, false},     {16, 0, 8, false},
                 {16, 0, 4096, false}, {32, 0, 4080, false}, {16, 40000, 0, false}, {8, 0, 0, true},
                 {16, 8, 0, true},     {16, 0, 8, true},     {32, 4080, 0, true}};
  const auto& fault = kFaults[number];
  FaultKernel<<<1, 1, kSharedBytes>>>(in.data, fault.size, fault.to, fault.from, out.data, fault.stores);
  std::printf("fault %d: %s\n", number, cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return Fault(std::atoi(argv[1]));
  CHECK(cudaFree(nullptr));
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  encode = reinterpret_cast<Encode>(function);
  std::vector<uint16_t> values(4096);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<uint16_t>(k);
  DeviceArray<uint16_t> tensor(values);
  if (argc > 2) {  // one plan
    RunBoth(kPlans[std::atoi(argv[2])], tensor.data);
    return 0;
  }
  std::printf("entry point of 12.0: %d %d\n", function != nullptr, found);
  void* other = nullptr;
  std::printf("of 11.0: %d",
              cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &other, 11000, cudaEnableDefault, &found));
  std::printf(" %d %d\n", other != nullptr, found);
  std::printf("of no name: %d",
              cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &other, 12000, cudaEnableDefault, &found));
  std::printf(" %d %d\n", other != nullptr, found);

  std::vector<uint32_t> words(4096);
  for (uint32_t k = 0; k < words.size(); ++k) words[k] = k * k + 7;
  {
    DeviceArray<uint32_t> in(words), out(words.size());
    CopyKernel<<<4, 128, kSharedBytes>>>(in.data, out.data, 4096);
    CHECK(cudaDeviceSynchronize());
    const std::vector<uint32_t> after = out.Get();
    std::printf("copy: %016llx\n", static_cast<unsigned long long>(Hash(after.data(), 16384)));
  }
  RunReduction<kAddU32>("add.u32");
  RunReduction<kMinS32>("min.s32");
  RunReduction<kMaxU32>("max.u32");
  RunReduction<kIncU32>("inc.u32");
  RunReduction<kXorB32>("xor.b32");
  RunReduction<kAddF32>("add.f32");
  RunReduction<kAddU64>("add.u64");
  RunReduction<kAddF16>("add.noftz.f16");
  {
    DeviceArray<uint32_t> in(words), out(256);
    ClusterKernel<<<2, 64>>>(in.data, out.data);
    CHECK(cudaDeviceSynchronize());
    const std::vector<uint32_t> after = out.Get();
    std::printf("cluster: %016llx %u %u %u\n", static_cast<unsigned long long>(Hash(after.data(), 1024)), after[64],
                after[129], after[192]);
  }
  EncoderResults(tensor.data);
  for (const Plan& plan : kPlans) RunBoth(plan, tensor.data);
  return 0;
}
