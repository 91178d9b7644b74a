// vgpu-run: runs a CUDA program on the virtual GPU. It points the dynamic linker at the CUDA runtime replacement,
// passes through environment variables what to check and count, and replaces itself by the program. The runtime
// replacement prints the reports when the program ends (cudart/report/report.h).
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "vgpu/core/processor_folder.h"
#include "vgpu/core/trace_request.h"
#include "vgpu/cudart/libraries/host_libraries.h"
#include "vgpu/cudart/report/checks.h"
#include "vgpu/cudart/report/metrics.h"
#include "vgpu/model/profile.h"
#include "vgpu/run/commands.h"
#include "vgpu/run/elf.h"

namespace lockstep::vgpu::run {

namespace {

constexpr int kUsageStatus = 2, kNotFoundStatus = 127, kCantRunStatus = 126;
constexpr char kDefaultProfile[] = "h200";
constexpr char kRuntime[] = "libcudart.so.13";
constexpr char kDriver[] = "libcuda.so.1";  // another name of the runtime replacement
constexpr char kRedirect[] = "liblockstep-redirect.so";
constexpr char kRuntimeStem[] = "libcudart.so.";

constexpr char kHelp[] = R"(usage: vgpu-run [flags] PROGRAM [ARGUMENTS]

Runs a CUDA program on the virtual GPU of this machine's CPU. Build the program with
  nvcc -cudart shared -lineinfo -gencode arch=compute_80,code=compute_80 program.cu -o program

  --check[=LIST]    report mistakes at the end. Accesses out of bounds are always found; in addition, by default all of:
{checks}  --schedules=N     with --check: run each kernel in N orders of its warps and blocks (default 1), for races that
                    only some of them show. It takes N times as long
  --error-exitcode=N
                    with --check: where something was found, the program's exit status is N
  --sarif=FILE      with --check: write what was found in kernels to FILE too, as SARIF 2.1.0
  --tool=NAME       memcheck, racecheck, initcheck or synccheck: what compute-sanitizer's tool of this name looks for.
                    vgpu-run compute-sanitizer --tool NAME PROGRAM does the same
  --profile[=lines] print each kernel's counters and modelled time, what limits it, and which change would bring most;
                    with =lines also counters by source line
  --metrics=LIST    print each launch's metrics, by Nsight Compute's names; an unknown name lists the known ones
  --csv             with --metrics: as ncu --csv --page raw prints them
  --counters=FILE   write every launch's counters and modelled time to FILE, as CSV
  --page=FILE       write a page about the run to FILE, for a browser: kernels by cost, the source with a counter next to
                    each line, its worst accesses drawn, what was found (with --check), and a block to step through
  --replay=BLOCK    with --page: the block to step through, an index in the grid (default 0)
  --timeline=FILE   write what ran when, by stream, to FILE: a trace for ui.perfetto.dev or Chrome's about:tracing
  --device=ID       the GPU that is modelled (default h200); --device=help lists them
  --devices=N       how many of these GPUs there are (default 1)
  --memory=GIB      how much of the device's memory programs can have, in GiB (default 16); this machine's memory
                    is used only for what they touch
  --threads=N       CPU threads that run blocks (default one per processor); results do not depend on it
  --budget=N        end a kernel that takes more warp instructions than this
  --color=WHEN      always, never, or auto (default): on a terminal
  --trace=BLOCK,WARP[,FROM,TO]
                    print what this warp of this block does, instruction by instruction, with the values that it makes:
                    from its FROM-th instruction to its TO-th (default 1 to 1000). BLOCK is an index in the grid
  --trace-kernel=NAME
                    trace launches of this kernel alone
  --debug           stop at the first kernel and ask what to do: step by line, by warp, forwards and back; type help there
  --disassemble[=KERNEL]
                    run nothing: print the kernels in PROGRAM, which may also be an object file or PTX, as the virtual
                    GPU has decoded them
  --version         print the version
  --help            this text

vgpu-run nvidia-smi says what the virtual GPU is: -L, --query-gpu=name,memory.total,compute_cap --format=csv

Example:  vgpu-run --check --profile ./reduction 4194304
)";

[[noreturn]] void Fail(const std::string& sentence, int status) {
  std::fprintf(stderr, "vgpu-run: %s\n", sentence.c_str());
  std::exit(status);
}

[[noreturn]] void ListDevices() {
  for (const DeviceProfile* profile : AllProfiles()) std::printf("%-12s %s\n", profile->id, profile->name);
  std::exit(0);
}

void Set(const char* name, std::string_view value) { ::setenv(name, std::string(value).c_str(), 1); }

std::string CheckedNumber(const std::string& flag, std::string_view value) {
  if (value.empty() || value.size() > 18 ||
      !std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    Fail(flag + " needs a number; type vgpu-run --help", kUsageStatus);
  }
  return std::string(value);
}

// Set by --disassemble: the kernel's name, or "" for all.
std::optional<std::string>& Disassembled() {
  static std::optional<std::string> kernel;
  return kernel;
}

// The check that does what a tool of compute-sanitizer does. Out-of-bounds accesses are always checked.
const char* ToolCheck(std::string_view tool) {
  constexpr std::pair<std::string_view, const char*> kTools[] = {
      {"memcheck", "api"}, {"racecheck", "races"}, {"initcheck", "init"}, {"synccheck", "sync"}};
  for (const auto& [name, check] : kTools) {
    if (name == tool) return check;
  }
  Fail("--tool is memcheck, racecheck, initcheck or synccheck", kUsageStatus);
}

// Flags whose value is a file's name, and the variables that pass it on.
constexpr std::pair<std::string_view, const char*> kFileFlags[] = {{"--sarif", "LOCKSTEP_SARIF_FILE"},
                                                                   {"--counters", "LOCKSTEP_COUNTERS_FILE"},
                                                                   {"--page", "LOCKSTEP_PAGE_FILE"},
                                                                   {"--timeline", "LOCKSTEP_TIMELINE_FILE"}};

// Called before the program, which may run for long.
void CheckWritable(const std::string& flag, const std::string& file) {
  const std::string parent = std::filesystem::path(file).parent_path(), folder = parent.empty() ? "." : parent;
  if (::access(folder.c_str(), F_OK) != 0) {
    Fail(flag + ": there is no folder " + folder + "; type: mkdir -p '" + folder + "'", kUsageStatus);
  }
  const bool is_there = ::access(file.c_str(), F_OK) == 0;
  if (std::filesystem::is_directory(file) || ::access((is_there ? file : folder).c_str(), W_OK) != 0) {
    Fail(flag + ": " + file + " can't be written; name another file", kUsageStatus);
  }
}

// Parses one of vgpu-run's flags; false if the argument is not one.
bool TakeFlag(std::string_view argument) {
  if (argument.substr(0, 2) != "--") return false;
  const size_t equals = std::min(argument.find('='), argument.size());
  const std::string flag(argument.substr(0, equals));
  std::optional<std::string> value;
  if (equals < argument.size()) value = argument.substr(equals + 1);
  const auto* const file =
      std::find_if(std::begin(kFileFlags), std::end(kFileFlags), [&](const auto& one) { return one.first == flag; });
  if (file != std::end(kFileFlags)) {
    if (!value || value->empty()) Fail(flag + " needs a file: " + flag + "=FILE", kUsageStatus);
    CheckWritable(flag, *value);
    Set(file->second, *value);
  } else if (flag == "--help") {
    std::string help = kHelp;
    constexpr std::string_view kPlace = "{checks}";
    help.replace(help.find(kPlace), kPlace.size(), cudart::CheckHelp("                      "));
    std::fputs(help.c_str(), stdout);
    std::exit(0);
  } else if (flag == "--version") {
    std::puts("vgpu-run, version " LOCKSTEP_VERSION);
    std::exit(0);
  } else if (flag == "--check") {
    Set("LOCKSTEP_CHECK", value.value_or("all"));
  } else if (flag == "--tool" && value) {
    Set("LOCKSTEP_CHECK", ToolCheck(*value));
  } else if (flag == "--metrics" && value) {
    try {
      cudart::ParseMetrics(*value);
    } catch (const std::runtime_error& error) {
      Fail(error.what(), kUsageStatus);
    }
    Set("LOCKSTEP_METRICS", *value);
  } else if (flag == "--csv" && !value) {
    Set("LOCKSTEP_METRICS_CSV", "1");
  } else if (flag == "--error-exitcode") {
    const std::string status = CheckedNumber(flag, value.value_or(""));
    if (status.size() > 3 || std::stoi(status) > 255) Fail("--error-exitcode needs a number up to 255", kUsageStatus);
    Set("LOCKSTEP_ERROR_EXITCODE", status);
  } else if (flag == "--profile" && (!value || *value == "kernels" || *value == "lines")) {
    Set("LOCKSTEP_PROFILE_REPORT", value.value_or("kernels"));
  } else if (flag == "--replay" && value) {
    Set("LOCKSTEP_REPLAY", CheckedNumber(flag, *value));
  } else if (flag == "--device" && value) {
    if (*value == "help") ListDevices();
    if (FindProfile(*value) == nullptr) {
      Fail("there is no device " + *value + "; vgpu-run --device=help lists them all", kUsageStatus);
    }
    Set("LOCKSTEP_PROFILE", *value);
  } else if (flag == "--devices") {
    Set("LOCKSTEP_DEVICES", CheckedNumber(flag, value.value_or("")));
  } else if (flag == "--memory") {
    Set("LOCKSTEP_MEMORY_GIB", CheckedNumber(flag, value.value_or("")));
  } else if (flag == "--threads") {
    Set("LOCKSTEP_THREADS", CheckedNumber(flag, value.value_or("")));
  } else if (flag == "--schedules") {
    const std::string orders = CheckedNumber(flag, value.value_or(""));
    if (orders == "0" || orders.size() > 3) Fail("--schedules needs a number from 1 to 999", kUsageStatus);
    Set("LOCKSTEP_SCHEDULES", orders);
  } else if (flag == "--budget") {
    Set("LOCKSTEP_INSTRUCTION_BUDGET", CheckedNumber(flag, value.value_or("")));
  } else if (flag == "--trace") {
    std::string why;
    if (!ParseTrace(value.value_or(""), &why)) Fail("--trace: " + why, kUsageStatus);
    Set("LOCKSTEP_TRACE", *value);
  } else if (flag == "--trace-kernel" && value && !value->empty()) {
    Set("LOCKSTEP_TRACE_KERNEL", *value);
  } else if (flag == "--debug" && !value) {
    Set("LOCKSTEP_DEBUG", "1");
  } else if (flag == "--disassemble") {
    Disassembled() = value.value_or("");
  } else if (flag == "--color" && value && (*value == "always" || *value == "never" || *value == "auto")) {
    Set("LOCKSTEP_COLOR", *value);
  } else if (flag == "--tool" || flag == "--metrics") {
    Fail(flag + " needs a name: " + flag + (flag == "--tool" ? "=racecheck" : "=gpu__time_duration.sum"), kUsageStatus);
  } else {
    Fail("unknown flag " + std::string(argument) + "; type vgpu-run --help", kUsageStatus);
  }
  return true;
}

// The program's path, searched as the shell does; "" if there is none.
std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, colon)) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return "";
}

// lib/ next to this executable's folder.
std::filesystem::path LibraryDirectory() {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  const auto directory = self.parent_path().parent_path() / "lib";
  if (!std::filesystem::exists(directory / kRuntime)) {
    Fail((directory / kRuntime).string() + " is missing; type make build", kNotFoundStatus);
  }
  return directory;
}

// Fails for a source, for a program with a host library that is refused, and for one with CUDA code whose CUDA runtime
// (a shared library, or part of the program) can't be replaced.
void CheckProgram(const std::string& path) {
  const std::filesystem::path file(path);
  if (file.extension() == ".cu") {
    const std::string name = file.stem().string();
    Fail(path + " is a source. Type:  nvcc -o " + name + " " + path + " && vgpu-run ./" + name + "\n" +
             "or, in a checkout:  lockstep run " + path,
         kCantRunStatus);
  }
  const ProgramFacts facts = ReadProgram(path);
  for (const std::string& needed : facts.needed) {
    const HostLibrary* library = FindHostLibrary(needed);
    if (library != nullptr && !std::filesystem::exists(LibraryDirectory() / needed)) {
      Fail(path + " " + RefusalOf(*library, needed), kCantRunStatus);
    }
  }
  if (const HostLibrary* library = FindHostLibraryOfSymbol(facts.host_library)) {
    Fail(path + " " + RefusalOf(*library, facts.host_library), kCantRunStatus);
  }
  if (!facts.is_elf || !facts.has_device_code) return;  // a script, or a program that loads CUDA code later
  bool same_major = false;
  std::string other;
  for (const std::string& library : facts.needed) {
    same_major |= library == kRuntime;
    if (library.rfind(kRuntimeStem, 0) == 0 && library != kRuntime) other = library;
  }
  if (same_major) return;
  if (!other.empty()) {
    Fail(path + " was built for " + other + ", the virtual GPU stands in for " + kRuntime + ": build it with CUDA 13",
         kCantRunStatus);
  }
  if (facts.has_older_runtime) {
    Fail(path +
             " holds a copy of the CUDA runtime of version 12 or before; the virtual GPU stands in for that of CUDA "
             "13: " +
             "build it with CUDA 13",
         kCantRunStatus);
  }
  if (facts.has_static_runtime) return;
  Fail(
      path +
          " holds its own copy of the CUDA runtime, and was stripped, so that its functions can't be found. Build it " +
          "again without -s, or with the flag  -cudart shared",
      kCantRunStatus);
}

// A program that links the runtime itself and has no RPATH. Others are started with kRedirect.
bool FindsRuntimeByPath(const ProgramFacts& facts) {
  return !facts.has_rpath && std::count(facts.needed.begin(), facts.needed.end(), kRuntime) > 0;
}

const DeviceProfile* ChosenProfile() {
  const char* chosen = std::getenv("LOCKSTEP_PROFILE");
  const DeviceProfile* profile = FindProfile(chosen != nullptr ? chosen : kDefaultProfile);
  if (profile == nullptr) Fail("there is no device " + std::string(chosen), kUsageStatus);
  return profile;
}

[[noreturn]] void PrintDisassembly(const std::string& path) {
  try {
    std::fputs(DisassembleFile(path, *Disassembled(), *ChosenProfile()).c_str(), stdout);
  } catch (const std::runtime_error& error) {
    Fail(error.what(), kCantRunStatus);
  }
  std::exit(0);
}

// For programs that compile kernels at run time, such as Python packages. Their caches contain machine code for real
// GPUs, so they get separate caches here.
void CompileToPtx(const std::filesystem::path& compilers) {
  const char* const path = std::getenv("PATH");
  Set("PATH", compilers.string() + ":" + (path != nullptr ? path : "/usr/bin:/bin"));
  ::setenv("NVCC", (compilers / "nvcc").c_str(), 0);  // CuPy looks in the toolkit's folder, not on PATH
  const char* const caches = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (caches == nullptr && home == nullptr) return;
  const std::filesystem::path cache =
      (caches != nullptr ? std::filesystem::path(caches) : std::filesystem::path(home) / ".cache") / "lockstep";
  for (const auto& [variable, folder] :
       {std::pair{"CUPY_CACHE_DIR", "cupy"}, std::pair{"PYCUDA_CACHE_DIR", "pycuda"}}) {
    if (std::getenv(variable) != nullptr) continue;
    std::error_code error;
    std::filesystem::create_directories(cache / folder, error);
    Set(variable, (cache / folder).string());
  }
}

}  // namespace

}  // namespace lockstep::vgpu::run

int main(int argc, char** argv) {
  using namespace lockstep::vgpu::run;
  int at = 1;
  // as_sanitizer: as in compute-sanitizer, a flag's value may be a separate argument: `--tool racecheck`.
  const auto take_flags = [&](bool as_sanitizer) {
    for (; at < argc; ++at) {
      std::string flag = argv[at];
      if (as_sanitizer && (flag == "--tool" || flag == "--error-exitcode") && at + 1 < argc)
        flag += std::string("=") + argv[++at];
      if (!TakeFlag(flag)) break;
    }
  };
  take_flags(false);
  if (at < argc && std::string_view(argv[at]) == "compute-sanitizer") {
    ++at;
    Set("LOCKSTEP_CHECK", ToolCheck("memcheck"));
    take_flags(true);
  } else if (at < argc && std::string_view(argv[at]) == "nvidia-smi") {
    return NvidiaSmi(*ChosenProfile(), {argv + at + 1, argv + argc});
  }
  if (std::getenv("LOCKSTEP_METRICS_CSV") != nullptr && std::getenv("LOCKSTEP_METRICS") == nullptr) {
    Fail("--csv says how --metrics=LIST prints: give both, or --counters=FILE for all counters", kUsageStatus);
  }
  if (std::getenv("LOCKSTEP_REPLAY") != nullptr && std::getenv("LOCKSTEP_PAGE_FILE") == nullptr) {
    Fail("--replay=BLOCK says what is on a page: give --page=FILE too", kUsageStatus);
  }
  if (std::getenv("LOCKSTEP_TRACE_KERNEL") != nullptr && std::getenv("LOCKSTEP_TRACE") == nullptr) {
    Fail("--trace-kernel says where --trace=BLOCK,WARP looks: give both", kUsageStatus);
  }
  if (std::getenv("LOCKSTEP_DEBUG") != nullptr && std::getenv("LOCKSTEP_TRACE") != nullptr) {
    Fail("--debug and --trace each follow the instructions: give one of them", kUsageStatus);
  }
  if (at == argc) {
    std::fputs(kHelp, stderr);
    return kUsageStatus;
  }
  const std::string program = FindProgram(argv[at]);
  if (program.empty() || ::access(program.c_str(), F_OK) != 0) {
    Fail(std::string(argv[at]) + ": no such program", kNotFoundStatus);
  }
  if (Disassembled()) PrintDisassembly(program);
  CheckProgram(program);

  const std::filesystem::path directory = LibraryDirectory();
  const std::filesystem::path widest = directory / lockstep::ProcessorFolder() / kRuntime;
  const std::filesystem::path runtime = std::filesystem::exists(widest) ? widest : directory / kRuntime;
  std::string folders = runtime.parent_path().string();
  if (folders.find_first_of(":;$") != std::string::npos) {
    Fail("the dynamic linker takes no ':', ';' or '$' in a path; move Lockstep elsewhere than " + folders,
         kCantRunStatus);
  }
  if (runtime.parent_path() != directory) folders += ":" + directory.string();
  const char* inherited = std::getenv("LD_LIBRARY_PATH");
  Set("LD_LIBRARY_PATH", folders + (inherited != nullptr && *inherited != '\0' ? ":" + std::string(inherited) : ""));
  // An RPATH, and full paths used by Python packages, take precedence over LD_LIBRARY_PATH; a program may contain a
  // copy of the runtime, which is redirected to this one.
  std::string preload;
  if (!FindsRuntimeByPath(ReadProgram(program))) {
    Set("LD_AUDIT", (directory / kRedirect).string());
    preload = kRuntime;  // a name: LD_PRELOAD splits at blanks, which a path may have; the auditor finds the file
    CompileToPtx(directory.parent_path() / "libexec");
  }
#ifdef LOCKSTEP_SANITIZER_RUNTIME
  preload = LOCKSTEP_SANITIZER_RUNTIME " " + preload;  // it must come first
#endif
  if (!preload.empty()) Set("LD_PRELOAD", preload);
  ::unsetenv("LOCKSTEP_SOCKET");
  ::execv(program.c_str(), argv + at);
  Fail(program + ": " + std::strerror(errno), kCantRunStatus);
}
