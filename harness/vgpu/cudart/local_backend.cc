// A virtual GPU in this process, for programs that run on their own: see vgpu/run for the variables' front end.
//
//   LOCKSTEP_PROFILE=h200         the modelled device
//   LOCKSTEP_THREADS=4            CPU threads that run blocks, by default one per processor; does not affect results
//   LOCKSTEP_DEVICES=2            the number of such devices (cudart/runtime.cc)
//   LOCKSTEP_MEMORY_GIB=16        the most memory of each device
//   LOCKSTEP_CHECK=races,leaks    checks to make (report/checks.h), or "all"
//   LOCKSTEP_SCHEDULES=8          how many orders of warps and blocks the check of races tries for each launch
//   LOCKSTEP_ERROR_EXITCODE=1     the exit status of a program with findings
//   LOCKSTEP_PROFILE_REPORT=kernels|lines  prints counters at exit, by kernel or also by line
//   LOCKSTEP_METRICS=LIST         prints these metrics (Nsight Compute's names) at exit; LOCKSTEP_METRICS_CSV=1: as CSV
//   LOCKSTEP_COUNTERS_FILE=PATH   where to write each launch's counters as CSV
//   LOCKSTEP_PAGE_FILE=PATH       where to write a page about the run; LOCKSTEP_SARIF_FILE: its findings in SARIF;
//                                 LOCKSTEP_TIMELINE_FILE: its operations on the modelled clock (timeline_file.cc)
//   LOCKSTEP_REPLAY=BLOCK         which block of each kernel is recorded for the page, 0 by default
//   LOCKSTEP_INSTRUCTION_BUDGET=N warp instructions that one launch may execute
//   LOCKSTEP_TRACE=BLOCK,WARP,FROM,TO  prints the instructions FROM to TO of this warp as they run
//   LOCKSTEP_TRACE_KERNEL=NAME    ... only in this kernel
//   LOCKSTEP_DEBUG=1              a debugger on standard input and standard error
//   LOCKSTEP_COLOR=always|never   colours in reports; by default on a terminal
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "vgpu/cudart/backend.h"
#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/report/call_site.h"
#include "vgpu/cudart/report/checks.h"
#include "vgpu/cudart/report/report.h"
#include "vgpu/cudart/runtime.h"
#include "vgpu/cudart/unwritten_copies.h"
#include "vgpu/decode/assert_text.h"
#include "vgpu/exec/block_replay.h"
#include "vgpu/exec/debugger.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr int kAttemptsToStop = 2000;  // a millisecond apart
constexpr char kDefaultProfile[] = "h200";
// Less than a large GPU's memory, so that a program that allocates nearly all of it doesn't use up this machine's.
constexpr uint64_t kDefaultMemoryGib = 16;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

uint64_t NumberIn(const char* name, uint64_t otherwise) {
  const std::string text = Variable(name);
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  if (*end != '\0') throw std::runtime_error(std::string(name) + "=" + text + ": not a number");
  return number;
}

const DeviceProfile& ChosenProfile() {
  const std::string id = Variable("LOCKSTEP_PROFILE");
  const DeviceProfile* profile = FindProfile(id.empty() ? kDefaultProfile : id);
  if (profile != nullptr) return *profile;
  std::string known;
  for (const DeviceProfile* candidate : AllProfiles())
    known += (known.empty() ? "" : ", ") + std::string(candidate->id);
  throw std::runtime_error("there is no device " + id + "; there are: " + known);
}

std::optional<TraceRequest> ChosenTrace() {
  const std::string text = Variable("LOCKSTEP_TRACE");
  if (text.empty()) return std::nullopt;
  std::string why;
  std::optional<TraceRequest> request = ParseTrace(text, &why);
  if (!request) throw std::runtime_error("LOCKSTEP_TRACE=" + text + ": " + why);
  request->kernel = Variable("LOCKSTEP_TRACE_KERNEL");
  return request;
}

// An allocation failed that would have succeeded on a GPU: says how to get more memory.
void SayHowToGetMore(uint64_t bytes) {
  Say(std::string(runtime().function()) + AtCallSite() + ": " + std::to_string(bytes) +
      " bytes are more than is left of the memory that programs can have here; vgpu-run --memory=GIB gives more");
}

// Whether counters or a modelled time are shown or stored at the end.
bool ShowsLaunches() {
  constexpr const char* kSeen[] = {"LOCKSTEP_PROFILE_REPORT", "LOCKSTEP_METRICS", "LOCKSTEP_COUNTERS_FILE",
                                   "LOCKSTEP_TIMELINE_FILE", "LOCKSTEP_PAGE_FILE"};
  return std::any_of(std::begin(kSeen), std::end(kSeen), [](const char* name) { return !Variable(name).empty(); });
}

// Whether launches have counters: from an event's time on too.
bool& Counts() {
  static bool counts = ShowsLaunches();
  return counts;
}

DeviceOptions ChosenOptions(const DeviceProfile& profile, const Checks& checks, int ordinal) {
  DeviceOptions options;
  options.threads =
      static_cast<int>(std::clamp<uint64_t>(NumberIn("LOCKSTEP_THREADS", std::thread::hardware_concurrency()), 1, 256));
  options.counters = Counts();
  options.checkers = checks.launches;
  options.orders = static_cast<int>(std::clamp<uint64_t>(NumberIn("LOCKSTEP_SCHEDULES", 1), 1, 1000));
  options.trace = ChosenTrace();
  if (!Variable("LOCKSTEP_PAGE_FILE").empty()) {
    options.replay = std::make_shared<ReplayLog>();
    options.replay->block = NumberIn("LOCKSTEP_REPLAY", 0);
  }
  if (!Variable("LOCKSTEP_DEBUG").empty()) options.debugger = Debugger::OfProcess();
  options.instruction_budget = NumberIn("LOCKSTEP_INSTRUCTION_BUDGET", 0);
  const uint64_t gib = std::clamp<uint64_t>(NumberIn("LOCKSTEP_MEMORY_GIB", kDefaultMemoryGib), 1, 1 << 20);
  options.memory_bytes = std::min<uint64_t>(static_cast<uint64_t>(profile.memory_bytes), gib << 30);
  options.answers = std::make_shared<RuntimeAnswers>(AnswersFor(ordinal));
  return options;
}

class LocalBackend;
// By device ordinal.
std::map<int, LocalBackend*>& LocalBackends() {
  static auto* const backends = new std::map<int, LocalBackend*>;
  return *backends;
}

class LocalBackend : public Backend {
 public:
  explicit LocalBackend(int ordinal)
      : ordinal_(ordinal),
        checks_(ParseChecks(Variable("LOCKSTEP_CHECK"))),
        device_(ChosenProfile(), ChosenOptions(ChosenProfile(), checks_, ordinal)),
        report_(Variable("LOCKSTEP_PROFILE_REPORT")),
        metrics_(Variable("LOCKSTEP_METRICS")),
        counters_file_(Variable("LOCKSTEP_COUNTERS_FILE")),
        page_file_(Variable("LOCKSTEP_PAGE_FILE")),
        sarif_file_(Variable("LOCKSTEP_SARIF_FILE")) {
    AssertsAsCudaToo() = true;
    device_.set_records(ShowsLaunches() || device_.options().trace);  // a record takes 600 bytes
  }

  ModuleHandle LoadModule(std::span<const Image> images) override { return LoadImages(device_, images); }
  void UnloadModule(ModuleHandle module) override { device_.UnloadModule(module); }
  std::optional<KernelInfo> FindKernel(ModuleHandle module, const std::string& mangled) override {
    const KernelInfo* kernel = device_.FindKernel(module, mangled);
    return kernel != nullptr ? std::optional(*kernel) : std::nullopt;
  }
  std::optional<VariableInfo> FindVariable(ModuleHandle module, const std::string& name) override {
    return device_.FindVariable(module, name);
  }
  uint64_t Allocate(uint64_t bytes, const Origin& origin) override {
    const uint64_t address =
        device_.Allocate(bytes, std::string(origin.function) + " #" + std::to_string(++allocations_), origin.call_site);
    if (address == 0 && bytes <= static_cast<uint64_t>(device_.profile().memory_bytes)) SayHowToGetMore(bytes);
    return address;
  }
  bool Free(uint64_t address, const Origin&) override { return device_.Free(address); }
  bool Write(uint64_t to, const void* from, uint64_t bytes, const Origin&) override {
    return device_.Write(to, from, bytes);
  }
  bool Read(void* to, uint64_t from, uint64_t bytes, const Origin& copy) override {
    if (!device_.Read(to, from, bytes)) return false;
    if (checks_.copies) CheckUnwritten(device_, from, bytes, copy);
    return true;
  }
  bool Copy(uint64_t to, uint64_t from, uint64_t bytes, const Origin&) override {
    return device_.Copy(to, from, bytes);
  }
  bool Fill(uint64_t to, uint8_t value, uint64_t bytes, const Origin&) override {
    return device_.Fill(to, value, bytes);
  }
  bool Contains(uint64_t address, uint64_t bytes) override { return device_.Contains(address, bytes); }
  std::optional<std::pair<uint64_t, uint64_t>> RangeHolding(uint64_t address) override {
    return device_.RangeHolding(address);
  }
  bool ResizeKernelHeap(uint64_t bytes) override { return device_.ResizeKernelHeap(bytes); }
  uint64_t AddTexture(const Texture& texture) override { return device_.AddTexture(texture); }
  bool RemoveTexture(uint64_t handle) override { return device_.RemoveTexture(handle); }
  uint64_t FreeBytes() override { return device_.FreeBytes(); }
  Device* LocalDevice() override { return &device_; }
  void Count() { device_.set_counters(true); }
  int MaxBlocksPerSm(const KernelInfo& kernel, int block_threads, uint64_t dynamic_shared) override {
    return device_.MaxBlocksPerSm(kernel, block_threads, dynamic_shared);
  }
  const DeviceProfile& profile() override { return device_.profile(); }
  void NoteLeak(uint64_t address) override {
    if (const auto leak = device_.FindAllocation(address)) lost_at_reset_.push_back(*leak);
  }
  void Reset() override {
    for (Device::AllocationInfo& leak : device_.Allocations()) lost_at_reset_.push_back(std::move(leak));
    device_.Reset();
    fault_shown_ = false;
  }
  bool HostSeesDeviceMemory() const override { return true; }
  void BeginOperation(const StreamPoint& point) override { device_.BeginStreamOperation(point); }
  void EndOperation() override { device_.EndStreamOperation(); }
  void Report(const HostRace& race) override { device_.Report(race); }
  void LeaveOut(Gap gap) override {
    if (WatchesStreams()) device_.Report(gap);
  }
  bool WatchesStreams() const override { return checks_.launches.Has("races"); }
  void Note(const Origin&, int) override {}

  LaunchResult Launch(const LaunchSpec& launch, const Origin&) override {
    return Printing([&] { return device_.Launch(launch); });
  }
  LaunchResult LaunchAsync(const LaunchSpec& launch, const Origin&) override {
    return Printing([&] { return device_.LaunchAsync(launch); });
  }
  bool Resume(SuspendedLaunch& launch) override {
    const bool has_ended = launch.Resume();
    ShowFault();
    return has_ended;
  }
  LaunchError Check(const LaunchSpec& launch) override { return device_.Check(launch); }

  LaunchResult CallLibrary(const LibraryFunction& function, const std::function<void(LibraryLaunch&)>& body) override {
    LibraryLaunch launch(device_, function);
    body(launch);
    const LaunchResult result = launch.End();
    ShowFault();
    return result;
  }

  LaunchResult DoOperation(const LibraryOperation& operation, const Origin& origin) override {
    const LaunchResult result = vgpu::DoOperation(device_, origin.call_site, operation);
    ShowFault();
    return result;
  }

  bool reports() const {
    return checks_.any() || !report_.empty() || !counters_file_.empty() || !page_file_.empty() || !metrics_.empty() ||
           !sarif_file_.empty();
  }
  // At the end of the process; ended_by: see ReportOptions. Returns the number of findings.
  uint64_t Report(const char* ended_by) {
    ReportOptions options;
    options.kernels = report_ == "kernels" || report_ == "lines";
    options.lines = report_ == "lines";
    options.findings = checks_.any();
    // Python's packages keep memory until the process ends; after a fault cudaFree fails.
    options.leaks = checks_.leaks && !InPython() && !device_.faulted() && ended_by == nullptr;
    options.ended_by = ended_by;
    options.api = checks_.api && ordinal_ == 0;
    if (LocalBackends().size() > 1) options.ordinal = ordinal_;
    options.lost_at_reset = lost_at_reset_;
    options.faults_were_shown = fault_shown_;
    const uint64_t findings = PrintReport(device_, options);
    WarnIfUntraced();
    if (!metrics_.empty()) PrintMetrics(device_, metrics_, !Variable("LOCKSTEP_METRICS_CSV").empty());
    WriteTo(counters_file_, WriteCountersFile);
    WriteTo(page_file_, [this](const std::string& path, const Device& device) {
      return WritePage(path, device, OperationsJson(ordinal_));
    });
    WriteTo(sarif_file_, [](const std::string& path, const Device& device) {
      return WriteSarifFile(path, device.findings().findings());
    });
    return findings;
  }

 private:
  template <typename F>
  void WriteTo(const std::string& path, F write) {
    if (path.empty()) return;
    const std::string file = path + (ordinal_ > 0 ? "." + std::to_string(ordinal_) : "");
    if (!write(file, device_)) Say(file + ": can't be written");
  }

  template <typename F>
  LaunchResult Printing(F launch) {
    // The program's earlier output must appear before a kernel's output or a fault's message.
    std::fflush(stdout);
    LaunchResult result = launch();
    std::fflush(stdout);
    ShowFault();
    return result;
  }

  // A fault is reported at once, because the program may end before its report.
  void ShowFault() {
    if (device_.faulted() && !fault_shown_) {
      for (const Finding& finding : device_.findings().findings()) {
        if (finding.fatal) PrintFinding(finding);
      }
      fault_shown_ = true;
    }
    EndIfInterrupted();
  }

  // Warns if no launched kernel matched --trace-kernel.
  void WarnIfUntraced() const {
    const std::optional<TraceRequest>& trace = device_.options().trace;
    if (!trace || trace->kernel.empty()) return;
    std::set<std::string> names;
    for (const LaunchRecord& launch : device_.launches()) {
      if (IsNameOf(trace->kernel, launch.mangled, launch.kernel)) return;
      names.insert(launch.kernel);
    }
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    Say("there was no launch of " + trace->kernel + " to trace; kernels launched: " + (list.empty() ? "none" : list));
  }

  const int ordinal_;
  const Checks checks_;
  Device device_;
  const std::string report_, metrics_, counters_file_, page_file_, sarif_file_;
  uint64_t allocations_ = 0;
  std::vector<Device::AllocationInfo> lost_at_reset_;  // found by cudaDeviceReset
  bool fault_shown_ = false;
};

// Stops concurrent launches. Gives up after a short wait for the lock: a thread that holds it all the time has a launch
// that doesn't end.
void StopConcurrentWork() {
  Runtime& r = runtime();
  for (int attempt = 0; attempt < kAttemptsToStop; ++attempt) {
    const std::unique_lock lock(r.mutex(), std::try_to_lock);
    if (lock.owns_lock()) {
      r.host_calls().Stop();
      return r.beside().Stop();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

uint64_t FindingsReported(const char* ended_by) {
  uint64_t findings = 0;
  for (const auto& [ordinal, backend] : LocalBackends()) findings += backend->Report(ended_by);
  LogSuppressedCount();
  return findings;
}
void ReportAll(const char* ended_by) { FindingsReported(ended_by); }

__attribute__((destructor)) void ReportAtExit() {
  if (LocalBackends().empty()) return;
  ReportAtDeath(nullptr);
  StopConcurrentWork();
  const char* status = std::getenv("LOCKSTEP_ERROR_EXITCODE");
  if (FindingsReported(nullptr) == 0 || status == nullptr) return;
  std::fflush(nullptr);
  std::_Exit(std::atoi(status));
}

}  // namespace

bool CountFromNow() {
  if (std::exchange(Counts(), true)) return false;
  for (const auto& [ordinal, backend] : LocalBackends()) backend->Count();
  return !LocalBackends().empty();
}

std::unique_ptr<Backend> MakeLocalBackend(int device) {
  try {
    auto backend = std::make_unique<LocalBackend>(device);
    if (LocalBackends().empty()) backend->reports() ? ReportAtDeath(ReportAll) : InterruptKernels();
    LocalBackends()[device] = backend.get();
    return backend;
  } catch (const std::runtime_error& error) {
    // The requested device or check is unavailable: running without it would mislead.
    Say(error.what());
    std::_Exit(2);
  }
}

}  // namespace lockstep::vgpu::cudart
