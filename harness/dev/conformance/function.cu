// What kernels are: attributes as compiled, those that can be set, occupancy.
#define CONFORMANCE_CLASS "func"
#include "ask.h"

__constant__ float table[256];

__global__ void Empty() {}
__global__ void Add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void StaticShared(float* out) {
  __shared__ float tile[1000];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[999 - threadIdx.x];
}
__global__ void AlignedShared(float4* out) {
  __shared__ char one;
  __shared__ float4 four[3];
  if (threadIdx.x == 0) one = 1;
  __syncthreads();
  four[threadIdx.x % 3] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x + one] = four[2];
}
__global__ void LargeShared(int* out) {
  __shared__ int all[12288];
  all[threadIdx.x * 12] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = all[(threadIdx.x * 12 + 24) % 12288];
}
__global__ void DynamicShared(float* out) {
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}
__global__ void Constant(float* out) { out[threadIdx.x] = table[threadIdx.x]; }
__global__ void LiteralDouble(double* out) {
  out[threadIdx.x] = out[threadIdx.x] * 3.14159265358979 + 2.71828182845904;
}
__global__ void Local(int* out, int n) {
  int local[100];
  for (int i = 0; i < 100; ++i) local[i] = out[i] * n;
  out[threadIdx.x] = local[n % 100];
}
__global__ void Printing(int n) { printf("%d\n", n); }
__device__ __noinline__ int Recursive(int n) { return n <= 1 ? 1 : n * Recursive(n - 1); }
__global__ void Recursion(int* out) { out[threadIdx.x] = Recursive(threadIdx.x); }
template <int kThreads, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks) Bounded(float* out) {
  out[threadIdx.x] *= 2;
}
template <int kRegisters>
__global__ void __launch_bounds__(1024) ManyValues(float* out) {
  float values[kRegisters];
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) values[i] = out[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) out[i * 1024 + threadIdx.x] = values[i] * values[kRegisters - 1 - i];
}
__global__ void __cluster_dims__(2, 1, 1) Cluster2(int* out) { out[threadIdx.x] = blockIdx.x; }
__global__ void __cluster_dims__(1, 4, 2) Cluster142(int* out) { out[threadIdx.x] = blockIdx.x; }
__global__ void __launch_bounds__(128, 1, 4) BoundedCluster(int* out) { out[threadIdx.x] = blockIdx.x; }
__global__ void __maxnreg__(32) Capped(float* out) { out[threadIdx.x] += 1; }
struct Large {
  int values[500];
};
__global__ void LargeParameter(Large large, int* out, char tail) {
  out[threadIdx.x] = large.values[threadIdx.x] + tail;
}
__global__ void MixedParameters(char a, double b, short c, float3 d, float4 e, void* f) {
  if (f != nullptr) *static_cast<double*>(f) = a + b + c + d.x + e.w;
}
extern "C" __global__ void plain_name(int) {}
namespace {
__global__ void Internal(int) {}

const std::vector<std::pair<const char*, const void*>> kKernels = {
#define KERNEL(...) {#__VA_ARGS__, reinterpret_cast<const void*>(&__VA_ARGS__)},
    KERNEL(Empty) KERNEL(Add) KERNEL(StaticShared) KERNEL(AlignedShared) KERNEL(LargeShared) KERNEL(DynamicShared)
        KERNEL(Constant) KERNEL(LiteralDouble) KERNEL(Local) KERNEL(Printing) KERNEL(Recursion)
            KERNEL(Capped){"Bounded32_1", reinterpret_cast<const void*>(&Bounded<32, 1>)},
    {"Bounded100_0", reinterpret_cast<const void*>(&Bounded<100, 0>)},
    {"Bounded256_8", reinterpret_cast<const void*>(&Bounded<256, 8>)},
    {"Bounded1024_2", reinterpret_cast<const void*>(&Bounded<1024, 2>)},
    {"Many16", reinterpret_cast<const void*>(&ManyValues<16>)},
    {"Many40", reinterpret_cast<const void*>(&ManyValues<40>)},
    KERNEL(Cluster2) KERNEL(Cluster142) KERNEL(BoundedCluster) KERNEL(LargeParameter) KERNEL(MixedParameters)
        KERNEL(plain_name) KERNEL(Internal)
#undef KERNEL
};

CUfunction FunctionOf(const void* kernel) {
  cudaFunction_t function = nullptr;
  cudaGetFuncBySymbol(&function, kernel);
  return function;
}
CUkernel KernelOf(const void* kernel) {
  cudaKernel_t handle = nullptr;
  cudaGetKernel(&handle, kernel);
  return handle;
}

void Compiled(const void* kernel) {
  cudaFuncAttributes a;
  std::memset(&a, 0x77, sizeof a);
  Say("get", cudaFuncGetAttributes(&a, kernel));
  // clang-format off
#define FIELD(name) Say(#name, static_cast<long long>(a.name));
  FIELD(sharedSizeBytes)
  FIELD(constSizeBytes)
  FIELD(localSizeBytes) FIELD(maxThreadsPerBlock) FIELD(numRegs) FIELD(ptxVersion) FIELD(binaryVersion)
      FIELD(cacheModeCA) FIELD(maxDynamicSharedSizeBytes) FIELD(preferredShmemCarveout) FIELD(clusterDimMustBeSet)
          FIELD(requiredClusterWidth) FIELD(requiredClusterHeight) FIELD(requiredClusterDepth)
              FIELD(clusterSchedulingPolicyPreference) FIELD(nonPortableClusterSizeAllowed)
// clang-format on
#undef FIELD
                  for (int attribute = -1; attribute <= 18; ++attribute) {
    int value = -77;
    CUresult result = cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(attribute), FunctionOf(kernel));
    Say(F("drv%d", attribute), F("%d %d", result, value));
    value = -77;
    result = cuKernelGetAttribute(&value, static_cast<CUfunction_attribute>(attribute), KernelOf(kernel), 0);
    Say(F("kernel%d", attribute), F("%d %d", result, value));
  }
  for (size_t i = 0; i < 7; ++i) {
    size_t offset = 777, bytes = 777;
    Say(F("param%zu", i), cudaFuncGetParamInfo(kernel, i, &offset, &bytes));
    Say(F("param%zu_at", i), F("%zu %zu", offset, bytes));
    offset = bytes = 777;
    Say(F("drvparam%zu", i), cuFuncGetParamInfo(FunctionOf(kernel), i, &offset, &bytes));
    Say(F("drvparam%zu_at", i), F("%zu %zu", offset, bytes));
    Say(F("kernelparam%zu", i), cuKernelGetParamInfo(KernelOf(kernel), i, &offset, &bytes));
  }
  const char* name = nullptr;
  Say("name", cudaFuncGetName(&name, kernel));
  const std::string text = name == nullptr ? "null" : name;
  Say("name_is", text.find("_GLOBAL__N_") == std::string::npos ? text : "of an unnamed namespace");
  Say("drvname", cuFuncGetName(&name, FunctionOf(kernel)));
  Say("kernelname", cuKernelGetName(&name, KernelOf(kernel)));
  CUfunctionLoadingState state{};
  Say("loaded", cuFuncIsLoaded(&state, FunctionOf(kernel)));
  Say("loaded_is", static_cast<int>(state));
  Say("load", cuFuncLoad(FunctionOf(kernel)));
  CUmodule module = nullptr;
  Say("module", cuFuncGetModule(&module, FunctionOf(kernel)));
  Say("module_is", IsSet(module));
  CUlibrary library = nullptr;
  Say("library", cuKernelGetLibrary(&library, KernelOf(kernel)));
  for (int threads : {1, 32, 33, 96, 128, 256, 512, 1000, 1024, 1025}) {
    for (size_t shared : {size_t{0}, size_t{1}, size_t{1024}, size_t{16384}, size_t{49152}, size_t{49153}}) {
      int blocks = -77;
      const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
      Say(F("occ_b%d_s%zu", threads, shared), F("%d %d", error, blocks));
    }
    int blocks = -77;
    CUresult result = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, FunctionOf(kernel), threads, 0);
    Say(F("drvocc_b%d", threads), F("%d %d", result, blocks));
  }
  for (int blocks : {0, 1, 2, 4, 8, 16, 32, 33}) {
    for (int threads : {32, 64, 256, 1024}) {
      size_t bytes = 777;
      const cudaError_t error = cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, blocks, threads);
      Say(F("available_%dx%d", blocks, threads), F("%d %zu", error, bytes));
    }
  }
  for (size_t shared : {size_t{0}, size_t{1000}, size_t{49152}}) {
    for (int limit : {0, 1, 100, 512, 2000}) {
      int grid = -77, block = -77;
      const CUresult result =
          cuOccupancyMaxPotentialBlockSize(&grid, &block, FunctionOf(kernel), nullptr, shared, limit);
      Say(F("potential_s%zu_l%d", shared, limit), F("%d %d %d", result, grid, block));
    }
  }
}

void SetAttributes(const void* kernel, int attribute) {
  for (int value :
       {-2,   -1,    0,     1,     2,     3,      4,      8,      9,      16,     50,     100,    101,
        1000, 49151, 49152, 49153, 65536, 101376, 166912, 228352, 232447, 232448, 232449, 233472, 1 << 20}) {
    if (attribute > 9 && (value > 101 || value < -1)) continue;
    Say(F("set%d", value), cudaFuncSetAttribute(kernel, static_cast<cudaFuncAttribute>(attribute), value));
    int read = -77;
    CUresult result = cuFuncGetAttribute(&read, static_cast<CUfunction_attribute>(attribute), FunctionOf(kernel));
    Say(F("set%d_is", value), F("%d %d", result, read));
    cudaFuncAttributes a{};
    cudaFuncGetAttributes(&a, kernel);
    Say(F("set%d_fields", value),
        F("%d %d %d %d %d %d", a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout, a.clusterDimMustBeSet,
          a.requiredClusterWidth, a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed));
    Say(F("drvset%d", value),
        cuFuncSetAttribute(FunctionOf(kernel), static_cast<CUfunction_attribute>(attribute), value));
    Say(F("kernelset%d", value), cudaKernelSetAttributeForDevice(reinterpret_cast<cudaKernel_t>(KernelOf(kernel)),
                                                                 static_cast<cudaFuncAttribute>(attribute), value, 0));
    for (int threads : {32, 256, 1024}) {
      for (size_t shared : {size_t{0}, size_t{100}, size_t{1000}, size_t{60000}, size_t{200000}}) {
        int blocks = -77;
        const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
        if (attribute < 10) Say(F("set%d_occ_b%d_s%zu", value, threads, shared), F("%d %d", error, blocks));
      }
    }
    size_t bytes = 777;
    const cudaError_t error = cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 1, 32);
    Say(F("set%d_available", value), F("%d %zu", error, bytes));
  }
}

int not_a_kernel;

void Arguments() {
  const auto empty = reinterpret_cast<const void*>(Empty);
  cudaFuncAttributes a;
  int blocks = 0;
  size_t bytes = 0, offset = 0;
  const char* name = nullptr;
  Say("attributes_null", cudaFuncGetAttributes(nullptr, empty));
  Say("attributes_of_null", cudaFuncGetAttributes(&a, nullptr));
  Say("attributes_of_data", cudaFuncGetAttributes(&a, &not_a_kernel));
  Say("set_of_data", cudaFuncSetAttribute(&not_a_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  Say("occ_null", cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, empty, 32, 0));
  Say("occ_of_null", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nullptr, 32, 0));
  Say("occ_of_data", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &not_a_kernel, 32, 0));
  for (int threads : {-1, 0, 1, 2000}) {
    blocks = -77;
    Say(F("occ_b%d", threads), cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, threads, 0));
    Say(F("occ_b%d_is", threads), blocks);
    Say(F("available_b%d", threads), cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 1, threads));
  }
  for (unsigned flags : {0u, 1u, 2u, 3u}) {
    Say(F("occ_flags%u", flags), cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, empty, 32, 0, flags));
    int grid = 0, block = 0;
    Say(F("potential_flags%u", flags),
        cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, FunctionOf(empty), nullptr, 0, 0, flags));
  }
  for (unsigned shift : {20u, 31u, 32u, 33u, 40u, 63u}) {
    blocks = -77;
    Say(F("occ_s2^%u", shift), cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, size_t{1} << shift));
    Say(F("occ_s2^%u_is", shift), blocks);
  }
  Say("param_null", cudaFuncGetParamInfo(empty, 0, nullptr, nullptr));
  const auto add = reinterpret_cast<const void*>(Add);
  Say("param_nullbytes", cudaFuncGetParamInfo(add, 0, &offset, nullptr));
  Say("param_nulloffset", cudaFuncGetParamInfo(add, 0, nullptr, &bytes));
  Say("name_null", cudaFuncGetName(nullptr, empty));
  Say("name_of_data", cudaFuncGetName(&name, &not_a_kernel));
  for (int config : {-1, 0, 1, 2, 3, 4}) {
    Say(F("cache%d", config), cudaFuncSetCacheConfig(empty, static_cast<cudaFuncCache>(config)));
    Say(F("drvcache%d", config), cuFuncSetCacheConfig(FunctionOf(empty), static_cast<CUfunc_cache>(config)));
    Say(F("banks%d", config), cudaFuncSetSharedMemConfig(empty, static_cast<cudaSharedMemConfig>(config)));
  }
  for (int attribute : {0, 1, 4, 7, 16, 17}) {
    Say(F("setread%d", attribute), cudaFuncSetAttribute(empty, static_cast<cudaFuncAttribute>(attribute), 1));
    Say(F("drvsetread%d", attribute),
        cuFuncSetAttribute(FunctionOf(empty), static_cast<CUfunction_attribute>(attribute), 1));
  }
  cudaKernel_t kernel = nullptr;
  cudaFunction_t function = nullptr;
  Say("kernel_null", cudaGetKernel(nullptr, empty));
  Say("kernel_of_data", cudaGetKernel(&kernel, &not_a_kernel));
  Say("bysymbol_null", cudaGetFuncBySymbol(nullptr, empty));
  Say("bysymbol_of_data", cudaGetFuncBySymbol(&function, &not_a_kernel));
  int value = 0;
  Say("drv_null", cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, FunctionOf(empty)));
  Say("drv_of_null", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr));
  Say("kernel_device1", cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, KernelOf(empty), 1));
  Say("kernelset_device1", cudaKernelSetAttributeForDevice(reinterpret_cast<cudaKernel_t>(KernelOf(empty)),
                                                           cudaFuncAttributeMaxDynamicSharedMemorySize, 1, 1));
  CUfunction of_kernel = nullptr;
  Say("kernelfunction", cuKernelGetFunction(&of_kernel, KernelOf(empty)));
  Say("kernelfunction_same", of_kernel == FunctionOf(empty));
  Say("kernel_attributes", cudaFuncGetAttributes(&a, KernelOf(empty)));
  Say("function_attributes", cudaFuncGetAttributes(&a, FunctionOf(empty)));
  Say("kernel_launch",
      cuLaunchKernel(reinterpret_cast<CUfunction>(KernelOf(empty)), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

}  // namespace

void AddCases(Cases& cases) {
  for (const auto& [name, kernel] : kKernels) {
    cases(name, [kernel = kernel] { Start(), Compiled(kernel); });
  }
  for (int attribute = 8; attribute <= 15; ++attribute) {
    cases(F("Empty_set%d", attribute),
          [=] { Start(), SetAttributes(reinterpret_cast<const void*>(Empty), attribute); });
    cases(F("StaticShared_set%d", attribute),
          [=] { Start(), SetAttributes(reinterpret_cast<const void*>(StaticShared), attribute); });
    if (attribute > 9) {
      cases(F("Cluster2_set%d", attribute),
            [=] { Start(), SetAttributes(reinterpret_cast<const void*>(Cluster2), attribute); });
    }
  }
  cases("arguments", [] { Start(), Arguments(); });
}
