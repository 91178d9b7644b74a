// Every function that the toolkit's headers declare: called with an argument of each parameter's type, then with one
// argument after the other replaced by nothing, or by what is out of range. Only what it returns is asked.
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

// The functions of a header, those that take or give structures by value left out.
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
    // Those that take what can't be made up, or that an H100's driver ends with a segmentation fault.
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
  Words Of(const Parameter& p, size_t k) const {
    const auto is = [&](const char* pattern) { return std::regex_search(p.type, std::regex(pattern)); };
    const auto named = [&](const char* pattern) { return std::regex_search(p.name, std::regex(pattern)); };
    const auto word = [](auto handle) { return (Words)(handle); };
    if (is(R"(\bchar ?\*$)") && is("const")) return word(named("path|[fF]ile") ? "/dev/null" : "k");
    if (is(R"(CUDA_CB|Fn_t|CUhostFn|[cC]allback)") && !is(R"(\*$)")) return word(Callback);
    if (is(R"(^const void ?\*$)") && named("^(func|entry|hostFn|symbolPtr)")) return word(Empty);
    if (is(R"(^const void ?\*$)") && named("symbol")) return word(variable);
    if (is(R"(^(const )?void ?\*$)")) return word(device);
    if (is(R"(\*$|\*const$)")) return word(scratch[k]);
    if (is("tream(_t)?$")) return word(stream);
    if (is("(CUevent|cudaEvent_t)$")) return word(event);
    if (is("(CUgraph|cudaGraph_t)$")) return word(graph);
    if (is("raphNode(_t)?$")) return word(node);
    if (is("raphExec(_t)?$")) return word(executable);
    if (is("(CUmemoryPool|cudaMemPool_t)$")) return word(pool);
    if (is("(CUarray|cudaArray_t|cudaArray_const_t)$")) return word(array);
    if (is("(CUdeviceptr)$")) return word(device);
    if (is("(CUfunction|cudaFunction_t)$")) return word(function);
    if (is("(CUkernel|cudaKernel_t)$")) return word(kernel);
    if (is("(CUmodule)$")) return word(module);
    if (is("(CUlibrary|cudaLibrary_t)$")) return word(library);
    if (is("(CUcontext)$")) return word(context);
    if (is("emcpyKind$")) return cudaMemcpyDefault;
    if (is("size_t$")) return 64;
    if (named("^(blockDim|gridDim|count|num|block|priority)")) return 1;
    return 0;
  }
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
    Say(function.name + "/" + name, answer);
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

int main(int argc, char** argv) {
  Cases cases;
  static const std::vector<Function> runtime = Declared("cuda_runtime_api.h", "CUDARTAPI"),
                                     driver = Declared("cuda.h", "CUDAAPI");
  for (const Function& each : runtime) cases(each.name, [&each] { Ask(each, false); });
  for (const Function& each : driver) cases(each.name, [&each] { Ask(each, true); });
  return cases.Run(argc, argv);
}
