// Every function that the toolkit's headers declare: called with arguments of its parameters' types, then with one
// after the other replaced by 0 and, if it is a number, by others. Only the return values are compared.
// nvcc: -cudart shared
#define CONFORMANCE_CLASS "signatures"
#include <dlfcn.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "ask.h"

__device__ int variable[64];
__global__ void Empty() {}

namespace {

using Words = unsigned long long;
struct Parameter {
  std::string type, name;
};
struct Function {
  std::string name;
  std::vector<Parameter> parameters;
};

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \n\t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \n\t") - first + 1);
}

// The functions of a header, except those that take or return structures by value.
std::vector<Function> Declared(const char* header, const char* mark) {
  std::stringstream file;
  file << std::ifstream(std::string(CUDA_INCLUDE) + "/" + header).rdbuf();
  const std::string text = std::regex_replace(file.str(), std::regex(R"(__dv\([^)]*\))"), "");
  static const std::regex by_value(
      R"(^(const )?(float|double|dim3|cudaPos|struct (cuda\w+)|cuda(Ipc\w+Handle_t|ExternalMemory_t)|CUipc\w+|CUmemLocation)$)");
  std::vector<Function> functions;
  const std::regex declaration(std::string(mark) + R"(\s+(cu\w+)\s*\(([^()]*)\)\s*;)");
  for (std::sregex_iterator found(text.begin(), text.end(), declaration), end; found != end; ++found) {
    Function function{(*found)[1], {}};
    bool usable = true;
    std::stringstream list((*found)[2]);
    for (std::string one; std::getline(list, one, ',');) {
      one = Trimmed(std::regex_replace(one, std::regex(R"(\s+)"), " "));
      if (one == "void" || one.empty()) continue;
      const size_t at = one.find_last_of(" *");
      Parameter parameter{Trimmed(one.substr(0, at + 1)), one.substr(at + 1)};
      if (parameter.name.find('[') != std::string::npos) parameter.type += "*";
      usable &= !std::regex_match(parameter.type, by_value);
      function.parameters.push_back(parameter);
    }
    // Functions whose arguments can't be made up, or that crash an H100's driver (segmentation fault).
    static const std::regex left_out(
        R"(.*(Checkpoint|ExportTable|Graphics|Coredump|_v\d$|_pt[ds]z$|PtrToDevice|GetError(Name|String)|IpcGetMemHandle|)"
        R"(AsyncNotification|HostAtomicCap|ExternalMem|ExternalSem|ThreadExchange|LaunchKernelExC|LogsUnreg|DriverEntryP|)"
        R"(SMemPerBlock|ClusterSize|ActiveClusters|SymbolAsync|GetSymbol|MemPool(Set|Get)A|AddChildGraph|GraphMemAttr|)"
        R"(ChannelDesc|ExecKernelNode|LibraryLoad|ModuleLoad|DeviceGetName|LoadingMode|cuLink|PointerGetAttribute$|)"
        R"(Memcpy3DPeer|cudaStreamGetDevice|cuOccupancyMaxPotential|ProcAddress).*)");
    bool again = false;
    for (const Function& other : functions) again |= other.name == function.name;
    if (usable && !again && !std::regex_match(function.name, left_out)) functions.push_back(function);
  }
  return functions;
}

void CUDART_CB Callback(void*) {}

// Made anew for each call.
struct World {
  World(bool has_graph, bool has_module) {
    Start();
    cudaMalloc(&device, 65536);
    cudaMemset(device, 0, 65536);
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    cudaEventRecord(event, stream);
    if (has_graph) {
      cudaGraphCreate(&graph, 0);
      cudaGraphAddEmptyNode(&node, graph, nullptr, 0);
      cudaGraphInstantiate(&executable, graph, 0);
    }
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPoolCreate(&pool, &properties);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 16);
    cuCtxGetCurrent(&context);
    cudaGetLastError();
    if (!has_module) return;
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .align 4 .u32 g;\n.visible .entry k() { ret; }\n";
    cuModuleLoadData(&module, text);
    cuModuleGetFunction(&function, module, "k");
    cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
    cuLibraryGetKernel(&kernel, library, "k");
    cudaGetLastError();
  }
  Words Of(const Parameter& p, size_t k) const;
  char* device = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaMemPool_t pool = nullptr;
  cudaArray_t array = nullptr;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  alignas(64) char scratch[12][4096] = {};
};

template <typename T>
Words Word(T handle) {
  return (Words)handle;
}

// The first rule that matches a parameter's type, and its name if the rule has one, gives its argument.
struct Choice {
  std::regex type, name;
  std::function<Words(const World&, size_t)> word;
};
#define WORD(type, name, ...) \
  {std::regex(type), std::regex(name), [](const World& w, size_t k) { return (void)w, (void)k, Word(__VA_ARGS__); }}
const std::vector<Choice>& Choices() {
  static const std::vector<Choice> all = {
      WORD(R"(const.*\bchar ?\*$)", "path|[fF]ile", "/dev/null"),
      WORD(R"(const.*\bchar ?\*$)", "", "k"),
      WORD(R"((CUDA_CB|Fn_t|CUhostFn|[cC]allback)(.*[^*])?$)", "", Callback),
      WORD(R"(^const void ?\*$)", "^(func|entry|hostFn|symbolPtr)", Empty),
      WORD(R"(^const void ?\*$)", "symbol", variable),
      WORD(R"(^(const )?void ?\*$)", "", w.device),
      WORD(R"(\*$|\*const$)", "", w.scratch[k]),
      WORD("tream(_t)?$", "", w.stream),
      WORD("(CUevent|cudaEvent_t)$", "", w.event),
      WORD("(CUgraph|cudaGraph_t)$", "", w.graph),
      WORD("raphNode(_t)?$", "", w.node),
      WORD("raphExec(_t)?$", "", w.executable),
      WORD("(CUmemoryPool|cudaMemPool_t)$", "", w.pool),
      WORD("(CUarray|cudaArray_t|cudaArray_const_t)$", "", w.array),
      WORD("CUdeviceptr$", "", w.device),
      WORD("(CUfunction|cudaFunction_t)$", "", w.function),
      WORD("(CUkernel|cudaKernel_t)$", "", w.kernel),
      WORD("CUmodule$", "", w.module),
      WORD("(CUlibrary|cudaLibrary_t)$", "", w.library),
      WORD("CUcontext$", "", w.context),
      WORD("emcpyKind$", "", cudaMemcpyDefault),
      WORD("size_t$", "", 64),
      WORD("", "^(blockDim|gridDim|count|num|block|priority)", 1),
      WORD("", "", 0),
  };
  return all;
}
Words World::Of(const Parameter& p, size_t k) const {
  for (const Choice& each : Choices()) {
    if (std::regex_search(p.type, each.type) && std::regex_search(p.name, each.name)) return each.word(*this, k);
  }
  return 0;
}

void* Address(const Function& function, bool is_driver) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult found;
  if (!is_driver) return dlsym(RTLD_DEFAULT, function.name.c_str());
  cuGetProcAddress(function.name.c_str(), &address, CUDA_VERSION, 0, &found);
  return address;
}

bool IsPointer(const Parameter& p) { return p.type.back() == '*' || p.type.ends_with("*const"); }

void Ask(const Function& function, bool is_driver) {
  CaseName() = is_driver ? "driver" : "runtime";
  Start();
  void* const address = Address(function, is_driver);
  Say(function.name, address != nullptr);
  if (address == nullptr) return;
  bool has_graph = false, has_module = false;
  for (const Parameter& p : function.parameters) {
    has_graph |= p.type.find("raph") != std::string::npos;
    has_module |= std::regex_search(p.type, std::regex("odule|unction|ibrary|ernel"));
  }
  const auto ask = [&](const std::string& name, size_t changed, Words to) {
    World world(has_graph, has_module);
    Words a[12] = {};
    for (size_t k = 0; k < function.parameters.size() && k < 12; ++k) {
      a[k] = k == changed ? to : world.Of(function.parameters[k], k);
    }
    using Call = int (*)(Words, Words, Words, Words, Words, Words, Words, Words, Words, Words, Words, Words);
    const int answer =
        reinterpret_cast<Call>(address)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    cudaGetLastError();
    Say(function.name + "/" + name, Untimed(answer));
  };
  ask("as_asked", 99, 0);
  for (size_t k = 0; k < function.parameters.size(); ++k) {
    const Parameter& p = function.parameters[k];
    ask(p.name + "=0", k, 0);
    if (IsPointer(p)) continue;
    const bool
        is_size = p.type.ends_with("size_t"),
        is_handle = std::regex_search(
            p.type,
            std::regex(
                "tream(_t)?$|vent(_t)?$|raph\\w*$|ool(_t)?$|rray(_\\w+)?$|unction(_t)?$|ernel(_t)?$|CUmodule|ibrary(_t)?$|CUcontext|"
                "Handle|Object(_t)?$|Link|Ref$|CUdeviceptr|Green|Resource|_t$|Fn$|allback$"));
    if (is_size) {
      ask(p.name + "=3", k, 3), ask(p.name + "=2^40", k, Words{1} << 40);
    } else if (!is_handle) {
      ask(p.name + "=1", k, 1), ask(p.name + "=2", k, 2), ask(p.name + "=77", k, 77),
          ask(p.name + "=-1", k, 0xffffffff);
    }
  }
}

}  // namespace

void AddCases(Cases& cases) {
  static const std::vector<Function> runtime = Declared("cuda_runtime_api.h", "CUDARTAPI"),
                                     driver = Declared("cuda.h", "CUDAAPI");
  for (const Function& each : runtime) cases(each.name, [&each] { Ask(each, false); });
  for (const Function& each : driver) cases(each.name, [&each] { Ask(each, true); });
}
