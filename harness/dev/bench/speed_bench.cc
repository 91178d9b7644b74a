// Compares the virtual GPU's speed with targets, in millions of warp instructions per second. Columns: on one core
// without counters, with counters, with all checkers; on two threads with counters, with all checkers. Also a scan
// of 2^24 floats.
//
// speed_bench [--seconds=S] [--cpu-time] [KERNEL [COLUMN]] S seconds per kernel; only this kernel, only this column
//
// Every figure is the best of many launches, and the columns take turns, so that a busy machine disturbs it little. For
// one thread its CPU time counts, for two threads the wall clock. If other work keeps the cores busy, use --cpu-time:
// it takes half of the two threads' CPU time, as if neither ever waited. Ends with 1 if a figure misses its target.
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dev/bench/workload.h"

namespace lockstep::vgpu {
namespace {

struct Column {
  const char* name;
  bool counters, checkers;
  int threads;
  double target;  // million warp instructions a second; 0: none
};
constexpr Column kColumns[] = {
    {"plain", false, false, 1, 0},     {"counters", true, false, 1, 100}, {"checkers", true, true, 1, 40},
    {"counters-2", true, false, 2, 0}, {"checkers-2", true, true, 2, 0},
};
constexpr double kScanSeconds = 1.5;

// The kernels that have targets; the others show what bad access patterns cost.
bool HasTarget(const Work& work) {
  const std::string_view name = work.kernel;
  return name != "reduction_naive" && name != "transpose_naive";
}

double Now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Runs the scan of scan_bench.cu, three kernels, on 2^24 floats.
class ScanWork {
 public:
  explicit ScanWork(int threads) : device_(*FindProfile("h200"), OptionsOf(threads)) {
    module_ = device_.LoadModule(ReadText(LOCKSTEP_BUILD_DIR "/ptx/scan_bench.ptx"));
    std::vector<float> values(kN);
    for (uint32_t k = 0; k < kN; ++k) values[k] = static_cast<float>(k % 2);
    in_ = device_.Allocate(sizeof(float) * kN, "in");
    out_ = device_.Allocate(sizeof(float) * kN, "out");
    sums_ = device_.Allocate(sizeof(float) * kTiles, "sums");
    device_.Write(in_, values.data(), sizeof(float) * kN);
  }

  // False: a launch failed.
  bool Run() {
    return Launch("sum_tiles", kTiles, kN, {in_, sums_}) && Launch("scan_sums", 1, kTiles, {sums_}) &&
           Launch("scan_tiles", kTiles, kN, {in_, sums_, out_});
  }

  bool ResultIsRight() {
    std::vector<float> values(kN);
    device_.Read(values.data(), out_, sizeof(float) * kN);
    for (uint32_t k = 0; k < kN; ++k) {
      if (values[k] != static_cast<float>(k / 2)) return false;
    }
    return true;
  }

 private:
  static constexpr uint32_t kN = 1u << 24, kTile = 2048, kThreads = 256, kTiles = (kN + kTile - 1) / kTile;

  static DeviceOptions OptionsOf(int threads) {
    DeviceOptions options;
    options.threads = threads;
    return options;
  }

  bool Launch(const char* kernel, uint32_t blocks, uint32_t n, const std::vector<uint64_t>& buffers) {
    std::vector<uint8_t> parameters(8 * buffers.size() + 4);
    std::memcpy(parameters.data(), buffers.data(), 8 * buffers.size());
    std::memcpy(&parameters[8 * buffers.size()], &n, 4);
    LaunchSpec spec;
    spec.module = module_;
    spec.kernel = kernel;
    spec.grid = {blocks, 1, 1};
    spec.block = {kThreads, 1, 1};
    spec.parameters = parameters;
    return device_.Launch(spec).error == LaunchError::kNone;
  }

  Device device_;
  ModuleHandle module_;
  uint64_t in_, out_, sums_;
};

DeviceOptions OptionsOf(const Column& column) {
  DeviceOptions options;
  options.counters = column.counters;
  if (column.checkers) options.checkers = CheckerSet::All();
  options.threads = column.threads;
  return options;
}

void Fail(const char* what) {
  std::fprintf(stderr, "speed_bench: %s failed\n", what);
  std::exit(2);
}

struct Timer {
  clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
  double divisor = 1;
  double best = 0;
  template <typename F>
  void Time(const F& f) {
    const double begin = Now(clock);
    f();
    const double seconds = (Now(clock) - begin) / divisor;
    if (best == 0 || seconds < best) best = seconds;
  }
};

// The text beside a figure that has a target: whether the target is met.
std::string Beside(double figure, double target, bool has_target, bool* missed) {
  if (target == 0 || !has_target) return "";
  const bool ok = figure >= target;
  *missed |= !ok;
  char text[32];
  std::snprintf(text, sizeof text, ok ? ">= %.0f" : "< %.0f !", target);
  return text;
}

Timer TimerOf(int threads, bool cpu_time) {
  if (threads == 1) return {};
  if (!cpu_time) return {CLOCK_MONOTONIC};
  return {CLOCK_PROCESS_CPUTIME_ID, static_cast<double>(threads)};
}

bool BenchKernel(const Work& work, std::string_view only_column, double seconds, bool cpu_time) {
  const std::string ptx = ReadText(LOCKSTEP_BUILD_DIR "/ptx/interpreter_bench.ptx");
  struct Run {
    const Column* column;
    std::unique_ptr<Device> device;
    Prepared prepared;
    Timer timer;
  };
  std::vector<Run> runs;
  for (const Column& column : kColumns) {
    if (!only_column.empty() && only_column != column.name) continue;
    Run& run = runs.emplace_back();
    run.column = &column;
    run.device = std::make_unique<Device>(*FindProfile("h200"), OptionsOf(column));
    run.prepared = Prepare(*run.device, run.device->LoadModule(ptx), work);
    run.timer = TimerOf(column.threads, cpu_time);
  }
  // Instructions are the same in every column.
  Device counted(*FindProfile("h200"), DeviceOptions());
  if (counted.Launch(Prepare(counted, counted.LoadModule(ptx), work).spec).error != LaunchError::kNone)
    Fail(work.kernel);
  const double instructions = static_cast<double>(counted.launches()[0].counters.warp_instructions);

  for (const double end = Now(CLOCK_MONOTONIC) + seconds; Now(CLOCK_MONOTONIC) < end;) {
    for (Run& run : runs) {
      run.device->ClearRecords();
      run.timer.Time([&] {
        if (run.device->Launch(run.prepared.spec).error != LaunchError::kNone) Fail(work.kernel);
      });
    }
  }
  bool missed = false;
  std::printf("%-16s", work.kernel);
  for (const Run& run : runs) {
    const double rate = instructions / run.timer.best / 1e6;
    std::printf("  %11.1f %-7s", rate, Beside(rate, run.column->target, HasTarget(work), &missed).c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
  return missed;
}

bool BenchScan(double seconds, bool cpu_time) {
  ScanWork work(2);
  Timer timer = TimerOf(2, cpu_time);
  for (const double end = Now(CLOCK_MONOTONIC) + seconds; Now(CLOCK_MONOTONIC) < end || timer.best == 0;) {
    timer.Time([&] {
      if (!work.Run()) Fail("the scan");
    });
  }
  if (!work.ResultIsRight()) Fail("the scan's result");
  const bool missed = timer.best > kScanSeconds;
  std::printf("\nscan of 2^24 floats, counters, 2 threads: %.2f s, %s %.1f\n", timer.best,
              missed ? "missed:" : "<=", kScanSeconds);
  return missed;
}

int Main(int argc, char** argv) {
  double seconds = 3;
  bool cpu_time = false;
  std::string kernel, column;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    if (argument.starts_with("--seconds=")) {
      seconds = std::atof(argv[k] + 10);
    } else if (argument == "--cpu-time") {
      cpu_time = true;
    } else {
      (kernel.empty() ? kernel : column) = argument;
    }
  }
  std::printf("%-16s", "M instructions/s");
  for (const Column& c : kColumns) {
    if (column.empty() || column == c.name) std::printf("  %11s %-7s", c.name, c.target != 0 ? "target" : "");
  }
  std::printf("\n");
  bool missed = false;
  for (const Work& work : kWork) {
    if (kernel.empty() || kernel == work.kernel) missed |= BenchKernel(work, column, seconds, cpu_time);
  }
  if (kernel.empty() && column.empty()) missed |= BenchScan(seconds, cpu_time);
  return missed ? 1 : 0;
}

}  // namespace
}  // namespace lockstep::vgpu

int main(int argc, char** argv) { return lockstep::vgpu::Main(argc, argv); }
