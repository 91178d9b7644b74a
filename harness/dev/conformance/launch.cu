// Launches: shapes, attributes, parameters, cooperative ones; which attributes streams and nodes keep.
#define CONFORMANCE_CLASS "launch"
#include "ask.h"

__global__ void Empty() {}
__global__ void Count(unsigned* threads) { atomicAdd(threads, 1u); }
__global__ void Parameters(unsigned* out, unsigned a, double b, char c) {
  out[0] = a;
  out[1] = static_cast<unsigned>(b);
  out[2] = static_cast<unsigned>(c);
}
__global__ void StaticShared(unsigned* out) {
  __shared__ unsigned all[1024];
  all[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = all[0];
}
__global__ void __launch_bounds__(128) Bounded(unsigned* out) { atomicAdd(out, 1u); }
__global__ void __cluster_dims__(2, 1, 1) Cluster2(unsigned* out) { atomicAdd(out, 1u); }
__global__ void Spin(unsigned* out) { out[0] = 1; }

namespace {

const void* Of(void (*kernel)()) { return reinterpret_cast<const void*>(kernel); }
const void* Of(void (*kernel)(unsigned*)) { return reinterpret_cast<const void*>(kernel); }
CUfunction FunctionOf(const void* kernel) {
  cudaFunction_t function = nullptr;
  cudaGetFuncBySymbol(&function, kernel);
  return function;
}

unsigned* Memory() {
  static unsigned* memory = [] {
    unsigned* p = nullptr;
    cudaMalloc(&p, 65536);
    cudaMemset(p, 0, 65536);
    return p;
  }();
  return memory;
}

// The number of threads that ran since the last query.
unsigned Counted() {
  unsigned count = 0;
  cudaMemcpy(&count, Memory(), 4, cudaMemcpyDeviceToHost);
  cudaMemset(Memory(), 0, 4);
  return count;
}

std::string Shape(dim3 d) { return F("%u.%u.%u", d.x, d.y, d.z); }

void Shapes(const void* kernel) {
  const dim3 grids[] = {{1, 1, 1},     {0, 1, 1},           {1, 0, 1},          {1, 1, 0},
                        {3, 2, 1},     {1, 65535, 1},       {1, 65536, 1},      {1, 1, 65535},
                        {1, 1, 65536}, {2147483648u, 1, 1}, {4294967295u, 1, 1}};
  const dim3 blocks[] = {{1, 1, 1},   {0, 1, 1},    {1, 0, 1},    {1, 1, 0},    {128, 1, 1},
                         {129, 1, 1}, {1024, 1, 1}, {1025, 1, 1}, {1, 1024, 1}, {1, 1025, 1},
                         {1, 1, 64},  {1, 1, 65},   {16, 16, 4},  {32, 32, 2},  {2048, 1, 1}};
  const size_t sizes[] = {0, 1, 49152, 49153, 232448, size_t{1} << 32, size_t{1} << 33};
  unsigned* out = Memory();
  void* arguments[] = {&out};
  for (const dim3& grid : grids) {
    for (const dim3& block : blocks) {
      for (size_t shared : sizes) {
        if (shared > 1 && (grid.x != 1 || grid.y * grid.z > 1 || block.y > 1 || block.x > 1025)) continue;
        // Leaves out launches with many threads that would all run.
        if (uint64_t{grid.x} * grid.y * grid.z > 1000 && uint64_t{block.x} * block.y * block.z > 1 && block.x < 1025)
          continue;
        const std::string name = F("g%s_b%s_s%zu", Shape(grid).c_str(), Shape(block).c_str(), shared);
        Say(name, cudaLaunchKernel(kernel, grid, block, arguments, shared, nullptr));
        Say(name + "/ran", Counted());
        if (shared > 4294967295u) continue;
        Say(name + "/drv", cuLaunchKernel(FunctionOf(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                          static_cast<unsigned>(shared), nullptr, arguments, nullptr));
        Say(name + "/drvran", Counted());
      }
    }
  }
}

void Cooperative() {
  unsigned* out = Memory();
  void* arguments[] = {&out};
  for (unsigned grid : {0u, 1u, 132u, 1056u, 1057u, 2112u, 2113u, 4224u, 4225u, 100000u}) {
    for (unsigned block : {32u, 128u, 256u, 1024u, 1025u}) {
      Say(F("g%u_b%u", grid, block), cudaLaunchCooperativeKernel(Of(Count), grid, block, arguments, 0, nullptr));
      Say(F("g%u_b%u_ran", grid, block), Counted());
      Say(F("g%u_b%u_drv", grid, block),
          cuLaunchCooperativeKernel(FunctionOf(Of(Count)), grid, 1, 1, block, 1, 1, 0, nullptr, arguments));
    }
  }
}

struct Setting {
  const char* name;
  cudaLaunchAttribute attribute;
};
Setting Make(const char* name, int id) {
  Setting setting{name, {}};
  setting.attribute.id = static_cast<cudaLaunchAttributeID>(id);
  return setting;
}

std::vector<Setting> Settings() {
  std::vector<Setting> all;
  const auto add = [&](const char* name, int id, auto set) {
    all.push_back(Make(name, id));
    set(all.back().attribute.val);
  };
  const auto nothing = [](cudaLaunchAttributeValue&) {};
  add("ignore", 0, nothing);
  static const std::string names[] = {"a0",  "a1",  "a2",  "a3",  "a4",  "a5",  "a6",  "a7",  "a8",  "a9", "a10",
                                      "a11", "a12", "a13", "a14", "a15", "a16", "a17", "a18", "a19", "a20"};
  for (int id = 0; id <= 20; ++id) add(names[id].c_str(), id, nothing);
  add("window", 1, [](auto& v) {
    v.accessPolicyWindow = {Memory(), 4096, 0.5f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
  });
  add("window_ratio2", 1, [](auto& v) {
    v.accessPolicyWindow = {Memory(), 4096, 2.f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
  });
  add("window_ratio-1", 1, [](auto& v) {
    v.accessPolicyWindow = {Memory(), 4096, -1.f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
  });
  add("window_large", 1, [](auto& v) {
    v.accessPolicyWindow = {Memory(), size_t{1} << 30, 1.f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
  });
  add("window_misspersist", 1, [](auto& v) {
    v.accessPolicyWindow = {Memory(), 4096, 1.f, cudaAccessPropertyPersisting, cudaAccessPropertyPersisting};
  });
  add("window_badhit", 1, [](auto& v) {
    v.accessPolicyWindow = {Memory(), 4096, 1.f, static_cast<cudaAccessProperty>(7), cudaAccessPropertyNormal};
  });
  for (int on : {0, 1, 2}) {
    static const char* const coop[] = {"cooperative0", "cooperative1", "cooperative2"};
    static const char* const serial[] = {"programmatic0", "programmatic1", "programmatic2"};
    add(coop[on], 2, [=](auto& v) { v.cooperative = on; });
    add(serial[on], 6, [=](auto& v) { v.programmaticStreamSerializationAllowed = on; });
  }
  static const char* const sync[] = {"sync0", "sync1", "sync2", "sync3", "sync4", "sync5", "sync6"};
  for (int policy = 0; policy < 7; ++policy)
    add(sync[policy], 3, [=](auto& v) { v.syncPolicy = static_cast<cudaSynchronizationPolicy>(policy); });
  static const char* const policies[] = {"scheduling0", "scheduling1", "scheduling2", "scheduling3"};
  for (int policy = 0; policy < 4; ++policy)
    add(policies[policy], 5,
        [=](auto& v) { v.clusterSchedulingPolicyPreference = static_cast<cudaClusterSchedulingPolicy>(policy); });
  for (int priority : {-100, -6, -5, -1, 0, 1, 100}) {
    static std::vector<std::string>* kept = new std::vector<std::string>(0);
    kept->reserve(100);
    kept->push_back(F("priority%d", priority));
    add(kept->back().c_str(), 8, [=](auto& v) { v.priority = priority; });
  }
  static const char* const domains[] = {"domain0", "domain1", "domain2"};
  for (int domain = 0; domain < 3; ++domain)
    add(domains[domain], 10, [=](auto& v) { v.memSyncDomain = static_cast<cudaLaunchMemSyncDomain>(domain); });
  add("map0.1", 9, [](auto& v) { v.memSyncDomainMap = {0, 1}; });
  add("map3.3", 9, [](auto& v) { v.memSyncDomainMap = {3, 3}; });
  add("map4.0", 9, [](auto& v) { v.memSyncDomainMap = {4, 0}; });
  add("map0.200", 9, [](auto& v) { v.memSyncDomainMap = {0, 200}; });
  for (int percent : {-2, -1, 0, 1, 50, 100, 101}) {
    static std::vector<std::string>* kept = new std::vector<std::string>(0);
    kept->reserve(100);
    kept->push_back(F("carveout%d", percent));
    add(kept->back().c_str(), 14, [=](auto& v) { v.sharedMemCarveout = percent; });
  }
  static const struct {
    const char* name;
    unsigned x, y, z;
  } clusters[] = {{"cluster1", 1, 1, 1},     {"cluster2", 2, 1, 1}, {"cluster3", 3, 1, 1},
                  {"cluster8", 8, 1, 1},     {"cluster9", 9, 1, 1}, {"cluster16", 16, 1, 1},
                  {"cluster2.2.2", 2, 2, 2}, {"cluster0", 0, 0, 0}, {"cluster2.0.0", 2, 0, 0}};
  for (const auto& c : clusters) {
    add(c.name, 4, [&](auto& v) { v.clusterDim = {c.x, c.y, c.z}; });
  }
  cudaEvent_t plain = nullptr, untimed = nullptr;
  cudaEventCreate(&plain);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  for (unsigned flags : {0u, 1u, 2u}) {
    for (int trigger : {0, 1, 2}) {
      static std::vector<std::string>* kept = new std::vector<std::string>(0);
      kept->reserve(100);
      kept->push_back(F("event_f%u_t%d", flags, trigger));
      add(kept->back().c_str(), 7, [=](auto& v) { v.programmaticEvent = {untimed, static_cast<int>(flags), trigger}; });
      kept->push_back(F("event_timed_f%u_t%d", flags, trigger));
      add(kept->back().c_str(), 7, [=](auto& v) { v.programmaticEvent = {plain, static_cast<int>(flags), trigger}; });
    }
    static std::vector<std::string>* kept = new std::vector<std::string>(0);
    kept->reserve(100);
    kept->push_back(F("complete_f%u", flags));
    add(kept->back().c_str(), 12, [=](auto& v) { v.launchCompletionEvent = {untimed, static_cast<int>(flags)}; });
    kept->push_back(F("complete_timed_f%u", flags));
    add(kept->back().c_str(), 12, [=](auto& v) { v.launchCompletionEvent = {plain, static_cast<int>(flags)}; });
  }
  add("updatable1", 13, [](auto& v) { v.deviceUpdatableKernelNode.deviceUpdatable = 1; });
  return all;
}

void Attributes() {
  unsigned* out = Memory();
  void* arguments[] = {&out};
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaKernelNodeParams params{};
  params.func = const_cast<void*>(Of(Count));
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr, other = nullptr;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params);
  cudaGraphAddKernelNode(&other, graph, nullptr, 0, &params);
  for (Setting& setting : Settings()) {
    cudaLaunchConfig_t config{};
    config.gridDim = 16;
    config.blockDim = 32;
    config.attrs = &setting.attribute;
    config.numAttrs = 1;
    for (cudaStream_t in : {cudaStream_t{nullptr}, stream}) {
      config.stream = in;
      const std::string name = F("%s_%s", setting.name, in == nullptr ? "null" : "stream");
      Say(name, cudaLaunchKernelExC(&config, Of(Count), arguments));
      Say(name + "_sync", cudaDeviceSynchronize());
      Say(name + "_ran", Counted());
    }
    Say(F("%s_cluster2", setting.name), cudaLaunchKernelExC(&config, Of(Cluster2), arguments));
    CUlaunchConfig drv{};
    drv.gridDimX = 16;
    drv.gridDimY = drv.gridDimZ = drv.blockDimY = drv.blockDimZ = 1;
    drv.blockDimX = 32;
    CUlaunchAttribute same;
    std::memcpy(&same, &setting.attribute, sizeof same);
    drv.attrs = &same;
    drv.numAttrs = 1;
    Say(F("%s_drv", setting.name), cuLaunchKernelEx(&drv, FunctionOf(Of(Count)), arguments, nullptr));
    cudaDeviceSynchronize();
    Counted();
    const auto id = setting.attribute.id;
    cudaLaunchAttributeValue read;
    const auto bytes = [&] {
      std::string text;
      for (int i = 0; i < 8; ++i) text += F("%02x", static_cast<unsigned char>(read.pad[i]));
      return id == 1 || id == 7 || id == 12 || id == 13 ? F("%08x", reinterpret_cast<unsigned*>(read.pad)[4]) : text;
    };
    const auto ask = [&](const char* what, auto set, auto get) {
      std::memset(&read, 0x77, sizeof read);
      Say(F("%s_%s_before", setting.name, what), get());
      Say(F("%s_%s_before_is", setting.name, what), bytes());
      Say(F("%s_%s_set", setting.name, what), set());
      std::memset(&read, 0x77, sizeof read);
      Say(F("%s_%s_get", setting.name, what), get());
      Say(F("%s_%s_is", setting.name, what), bytes());
    };
    ask(
        "stream", [&] { return cudaStreamSetAttribute(stream, id, &setting.attribute.val); },
        [&] { return cudaStreamGetAttribute(stream, id, &read); });
    ask(
        "nullstream", [&] { return cudaStreamSetAttribute(nullptr, id, &setting.attribute.val); },
        [&] { return cudaStreamGetAttribute(nullptr, id, &read); });
    ask(
        "node", [&] { return cudaGraphKernelNodeSetAttribute(node, id, &setting.attribute.val); },
        [&] { return cudaGraphKernelNodeGetAttribute(node, id, &read); });
    Say(F("%s_copy", setting.name), cudaGraphKernelNodeCopyAttributes(other, node));
    std::memset(&read, 0x77, sizeof read);
    Say(F("%s_copied", setting.name), cudaGraphKernelNodeGetAttribute(other, id, &read));
    Say(F("%s_copied_is", setting.name), bytes());
  }
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 1;
  config.numAttrs = 1;
  Say("nullattrs", cudaLaunchKernelExC(&config, Of(Count), arguments));
  cudaStream_t second = nullptr;
  cudaStreamCreate(&second);
  Say("streamcopy", cudaStreamCopyAttributes(second, stream));
  Say("streamcopy_self", cudaStreamCopyAttributes(stream, stream));
  Say("streamcopy_null", cudaStreamCopyAttributes(second, nullptr));
  cudaLaunchAttributeValue value{};
  Say("priority_get", cudaStreamGetAttribute(second, cudaLaunchAttributePriority, &value));
}

void ParameterForms() {
  unsigned* out = Memory();
  unsigned a = 7;
  double b = 9;
  char c = 11;
  void* arguments[] = {&out, &a, &b, &c};
  const CUfunction kernel = FunctionOf(reinterpret_cast<const void*>(Parameters));
  const auto shown = [&](const char* name) {
    unsigned values[3] = {};
    Say(F("%s_sync", name), cudaDeviceSynchronize());
    cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
    Say(F("%s_values", name), F("%u %u %u", values[0], values[1], values[2]));
    cudaMemset(out, 0, sizeof values);
  };
  Say("rt", cudaLaunchKernel(reinterpret_cast<const void*>(Parameters), 1, 1, arguments, 0, nullptr));
  shown("rt");
  Say("drv", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  shown("drv");
  struct {
    unsigned* out;
    unsigned a;
    double b;
    char c;
  } packed{out, 7, 9, 11};
  for (size_t bytes : {size_t{8}, size_t{16}, size_t{24}, size_t{25}, size_t{32}}) {
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    Say(F("extra%zu", bytes), cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
    if (bytes >= 25) shown(F("extra%zu", bytes).c_str());
    cudaDeviceSynchronize();
  }
  size_t bytes = 25;
  void* unordered[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_BUFFER_POINTER, &packed,
                       CU_LAUNCH_PARAM_END};
  Say("extra_unordered", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, unordered));
  shown("extra_unordered");
  void* nosize[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_END};
  Say("extra_nosize", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nosize));
  void* nobuffer[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  Say("extra_nobuffer", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nobuffer));
  void* empty[] = {CU_LAUNCH_PARAM_END};
  Say("extra_empty", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, empty));
  void* unknown[] = {reinterpret_cast<void*>(9), &packed, CU_LAUNCH_PARAM_END};
  Say("extra_unknown", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, unknown));
  void* both[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  Say("extra_both", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, both));
  Say("none", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  Say("none_empty", cuLaunchKernel(FunctionOf(Of(Empty)), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  Say("rt_none", cudaLaunchKernel(reinterpret_cast<const void*>(Parameters), 1, 1, nullptr, 0, nullptr));
  Say("null_function", cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  Say("rt_null_function", cudaLaunchKernel(nullptr, 1, 1, arguments, 0, nullptr));
  Say("rt_data", cudaLaunchKernel(&a, 1, 1, arguments, 0, nullptr));
  Say("sync", cudaDeviceSynchronize());
  Say("hostfunc_null", cudaLaunchHostFunc(nullptr, nullptr, nullptr));
  Say("drvhostfunc_null", cuLaunchHostFunc(nullptr, nullptr, nullptr));
  Say("push_pop", static_cast<cudaError_t>(__cudaPushCallConfiguration(1, 1, 0, nullptr)));
}

}  // namespace

void AddCases(Cases& cases) {
  cases("shape", [] { Start(), Shapes(Of(Count)); });
  cases("shape_bounded", [] { Start(), Shapes(Of(Bounded)); });
  cases("shape_cluster2", [] { Start(), Shapes(Of(Cluster2)); });
  cases("shape_shared", [] {
    Start();
    unsigned* out = Memory();
    void* arguments[] = {&out};
    for (size_t bytes : {size_t{0}, size_t{45056}, size_t{45057}, size_t{49152}, size_t{228352}, size_t{228353}}) {
      Say(F("s%zu", bytes), cudaLaunchKernel(Of(StaticShared), 1, 1, arguments, bytes, nullptr));
      Say(F("s%zu_sync", bytes), cudaDeviceSynchronize());
    }
    for (int allowed : {0, 1, 45056, 60000, 228352}) {
      Say(F("allow%d", allowed),
          cudaFuncSetAttribute(Of(StaticShared), cudaFuncAttributeMaxDynamicSharedMemorySize, allowed));
      for (size_t bytes : {size_t{0}, size_t{1}, size_t{2}, size_t{45056}, size_t{45057}, size_t{60000}, size_t{60001},
                           size_t{228352}}) {
        Say(F("allow%d_s%zu", allowed, bytes), cudaLaunchKernel(Of(StaticShared), 1, 1, arguments, bytes, nullptr));
      }
    }
  });
  cases("cooperative", [] { Start(), Cooperative(); });
  cases("attribute", [] { Start(), Attributes(); });
  cases("parameter", [] { Start(), ParameterForms(); });
}
