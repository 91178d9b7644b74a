// Clusters: which launches are accepted, attributes, occupancy, and shared memory of other blocks.
#define CONFORMANCE_CLASS "cluster"
#include <cooperative_groups.h>

#include "ask.h"
namespace cg = cooperative_groups;

__global__ void Plain(int* out) { atomicAdd(out, 1); }
__global__ void Dynamic(int* out) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = 1;
  __syncthreads();
  atomicAdd(out, shared[threadIdx.x]);
}
__global__ void __cluster_dims__(2, 1, 1) Fixed2(int* out) { atomicAdd(out, 1); }
__global__ void __cluster_dims__(1, 2, 2) Fixed122(int* out) { atomicAdd(out, 1); }
__global__ void __cluster_dims__(8, 1, 1) Fixed8(int* out) { atomicAdd(out, 1); }
__global__ void __launch_bounds__(1024, 1) Bounds(int* out) { atomicAdd(out, 1); }

using Kernel = void (*)(int*);
const void* Of(Kernel kernel) { return reinterpret_cast<const void*>(kernel); }

cudaError_t Launch(Kernel kernel, dim3 grid, dim3 block, dim3 cluster, size_t shared, int* out, bool with = true) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  config.attrs = &attribute;
  config.numAttrs = with ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, out);
}

void Sizes(Kernel kernel, bool non_portable) {
  Start();
  if (non_portable)
    Say("attribute", cudaFuncSetAttribute(Of(kernel), cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  int* out = nullptr;
  cudaMallocManaged(&out, 4);
  static const dim3 clusters[] = {{0, 0, 0},  {1, 1, 1},  {2, 1, 1},  {3, 1, 1},  {4, 1, 1},  {5, 1, 1},
                                  {8, 1, 1},  {9, 1, 1},  {10, 1, 1}, {12, 1, 1}, {16, 1, 1}, {17, 1, 1},
                                  {32, 1, 1}, {1, 2, 1},  {1, 1, 2},  {2, 2, 1},  {2, 2, 2},  {4, 2, 2},
                                  {1, 8, 1},  {1, 16, 1}, {1, 1, 8},  {2, 0, 0},  {0, 2, 1},  {3, 3, 1}};
  static const dim3 grids[] = {{1, 1, 1}, {8, 1, 1}, {16, 1, 1}, {48, 8, 8}};
  for (const dim3& cluster : clusters) {
    for (const dim3& grid : grids) {
      *out = 0;
      const std::string name = F("c%u.%u.%u_g%u.%u.%u", cluster.x, cluster.y, cluster.z, grid.x, grid.y, grid.z);
      const cudaError_t error = Launch(kernel, grid, 32, cluster, 0, out);
      Say(name, error);
      if (error != cudaSuccess) continue;
      Say(name + "_sync", cudaDeviceSynchronize());
      Say(name + "_threads", *out);
    }
  }
  *out = 0;
  for (const unsigned x : {1u, 2u, 3u, 8u, 10u}) {
    Say(F("without_g%u", x), Launch(kernel, x, 32, 1, 0, out, false));
    cudaDeviceSynchronize();
  }
}

void Occupancy(Kernel kernel, bool non_portable) {
  Start();
  if (non_portable)
    Say("attribute", cudaFuncSetAttribute(Of(kernel), cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  Say("shared", cudaFuncSetAttribute(Of(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  for (const unsigned threads : {32u, 256u, 1024u}) {
    for (const size_t shared : {0ul, 20000ul, 100000ul, 200000ul}) {
      cudaLaunchConfig_t config = {};
      config.gridDim = 16;
      config.blockDim = threads;
      config.dynamicSmemBytes = shared;
      int size = -1;
      const std::string name = F("t%u_s%zu", threads, shared);
      Say(name + "_potential", cudaOccupancyMaxPotentialClusterSize(&size, kernel, &config));
      Say(name + "_potential_is", size);
      for (const unsigned cluster : {1u, 2u, 4u, 8u, 16u, 3u}) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {cluster, 1, 1};
        config.attrs = &attribute;
        config.numAttrs = 1;
        config.gridDim = cluster * 4;
        int clusters = -1;
        Say(F("%s_c%u", name.c_str(), cluster), cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
        // Larger ones depend on which multiprocessors of the chip are switched off.
        if (cluster <= 2) Say(F("%s_c%u_is", name.c_str(), cluster), clusters);
      }
    }
  }
}

void Attributes(Kernel kernel) {
  Start();
  cudaFuncAttributes a;
  Say("get", cudaFuncGetAttributes(&a, kernel));
  Say("must", a.clusterDimMustBeSet);
  Say("width", a.requiredClusterWidth);
  Say("height", a.requiredClusterHeight);
  Say("depth", a.requiredClusterDepth);
  Say("policy", a.clusterSchedulingPolicyPreference);
  Say("nonportable", a.nonPortableClusterSizeAllowed);
  static const struct {
    const char* name;
    cudaFuncAttribute attribute;
  } attributes[] = {{"must", cudaFuncAttributeClusterDimMustBeSet},
                    {"width", cudaFuncAttributeRequiredClusterWidth},
                    {"height", cudaFuncAttributeRequiredClusterHeight},
                    {"depth", cudaFuncAttributeRequiredClusterDepth},
                    {"nonportable", cudaFuncAttributeNonPortableClusterSizeAllowed},
                    {"policy", cudaFuncAttributeClusterSchedulingPolicyPreference}};
  for (const auto& each : attributes) {
    for (const int value : {-1, 0, 1, 2, 3, 8, 16}) {
      Say(F("set_%s_%d", each.name, value), cudaFuncSetAttribute(Of(kernel), each.attribute, value));
      cudaFuncGetAttributes(&a, kernel);
      Say(F("after_%s_%d", each.name, value),
          F("%d %d %d %d %d %d", a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight,
            a.requiredClusterDepth, a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed));
    }
  }
}

// Each block adds its rank into all others' shared memory.
__global__ void Exchange(int* out) {
  __shared__ int mine[4];
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 4) mine[threadIdx.x] = 100 * cluster.block_rank() + threadIdx.x;
  cluster.sync();
  for (unsigned other = threadIdx.x; other < cluster.num_blocks(); other += blockDim.x) {
    int* const theirs = cluster.map_shared_rank(mine, other);
    out[(blockIdx.x * cluster.num_blocks() + other) * 2] = theirs[2];
    out[(blockIdx.x * cluster.num_blocks() + other) * 2 + 1] = cluster.query_shared_rank(theirs);
    atomicAdd(&theirs[3], 1000);
  }
  cluster.sync();
  if (threadIdx.x == 0) out[1200 + blockIdx.x] = mine[3];
}
__global__ void Groups(int* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  if (blockIdx.x == 5 && threadIdx.x == 40) {
    int k = 0;
    out[k++] = cluster.num_threads();
    out[k++] = cluster.thread_rank();
    out[k++] = cluster.num_blocks();
    out[k++] = cluster.block_rank();
    out[k++] = cluster.dim_blocks().x;
    out[k++] = cluster.block_index().x;
    out[k++] = cluster.dim_threads().x;
    out[k++] = cg::this_grid().num_clusters();
    out[k++] = cg::this_grid().cluster_rank();
    out[k++] = __clusterDimIsSpecified();
    out[k++] = __clusterGridDimInClusters().x;
    out[k++] = __clusterIdx().x;
    out[k++] = __clusterSizeInBlocks();
  }
}

void AddCases(Cases& cases) {
  static const struct {
    const char* name;
    Kernel kernel;
  } kernels[] = {{"plain", Plain}, {"fixed2", Fixed2}, {"fixed122", Fixed122}, {"fixed8", Fixed8}, {"bounds", Bounds}};
  for (const auto& k : kernels) {
    cases(F("size_%s", k.name), [&k] { Sizes(k.kernel, false); });
    cases(F("attributes_%s", k.name), [&k] { Attributes(k.kernel); });
  }
  cases("size_plain_nonportable", [] { Sizes(Plain, true); });
  cases("size_fixed8_nonportable", [] { Sizes(Fixed8, true); });
  cases("occupancy", [] { Occupancy(Dynamic, false); });
  cases("occupancy_nonportable", [] { Occupancy(Dynamic, true); });
  cases("occupancy_fixed2", [] { Occupancy(Fixed2, false); });
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u}) {
    cases(F("exchange%u", size), [size] {
      Start();
      if (size > 8) cudaFuncSetAttribute(Of(Exchange), cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
      int* out = nullptr;
      cudaMallocManaged(&out, 8192);
      std::memset(out, 0, 8192);
      Say("launch", Launch(Exchange, size * 2, 64, size, 0, out));
      Say("sync", cudaDeviceSynchronize());
      long sum = 0, mixed = 0;
      for (unsigned k = 0; k < 2 * size * size * 2; ++k) sum += out[k], mixed += static_cast<long>(out[k]) * (k + 1);
      Say("sum", sum);
      Say("mixed", mixed);
      for (unsigned block = 0; block < 2 * size; ++block) Say(F("added%u", block), out[1200 + block]);
    });
  }
  for (const unsigned size : {0u, 1u, 2u, 4u}) {
    cases(F("groups%u", size), [size] {
      Start();
      int* out = nullptr;
      cudaMallocManaged(&out, 256);
      std::memset(out, 0xff, 256);
      Say("launch", Launch(Groups, 8, 64, size, 0, out, size != 0));
      Say("sync", cudaDeviceSynchronize());
      for (int k = 0; k < 13; ++k) Say(F("value%d", k), out[k]);
    });
  }
}
