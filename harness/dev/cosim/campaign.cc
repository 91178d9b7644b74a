// Theory of operation. The seeds are divided into modules; each worker process takes every jobs-th one. A GPU context
// does not survive a failed launch, nor a process a hanging kernel. So the parent watches each worker's progress in
// shared memory, ends one that stalls, and starts another: at the same module without the kernel that was running, or
// after the module if it has ended a worker before.
#include "dev/cosim/campaign.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "dev/cosim/reduce.h"
#include "dev/cosim/target.h"

namespace lockstep::cosim {
namespace {

constexpr int kSecondsWithoutProgress = 60;

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr uint64_t kNoSeed = ~uint64_t{0};

struct Progress {
  std::atomic<uint64_t> module;   // the current one
  std::atomic<uint64_t> running;  // seed of the kernel running on the other device, else kNoSeed
  std::atomic<uint64_t> without;  // a seed to skip: it ended a worker
  std::atomic<uint64_t> beats;
  std::atomic<int> kernels, differences, refused, failures, reductions;
};

void ReplaceAll(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size()))
    text->replace(at, from.size(), to);
}

class Worker {
 public:
  Worker(const Campaign& campaign, int index, Progress& progress, uint64_t* hashes, double reduce_until)
      : campaign_(campaign),
        reduce_until_(reduce_until),
        progress_(progress),
        hashes_(hashes),
        files_(campaign.out + "/worker" + std::to_string(index)),
        report_(files_ + ".txt", std::ios::app) {
    mine_ = MakeVirtualTarget();
    for (const std::string& options : campaign.gpu) {
      others_.push_back(MakeGpuTarget(options, files_));
      names_.push_back("GPU, ptxas " + options);
    }
    if (others_.empty()) {
      others_.push_back(MakeVirtualTarget(campaign.swap_from.empty()));
      names_.push_back(campaign.swap_from.empty()
                           ? "the virtual GPU's checkers"
                           : "virtual GPU with " + campaign.swap_to + " for " + campaign.swap_from);
    }
  }

  void Module(uint64_t first, uint64_t count) {
    std::vector<Kernel> kernels;
    seeds_.clear();
    for (uint64_t seed = campaign_.first + first; seed < campaign_.first + first + count; ++seed) {
      if (seed == progress_.without) continue;
      seeds_.push_back(seed);
      kernels.push_back(MakeKernel(seed));
    }
    const std::vector<Outcome> mine = RunAll(*mine_, kernels, false);
    for (size_t t = 0; t < others_.size(); ++t) {
      const std::vector<Outcome> theirs = RunAll(*others_[t], kernels, true);
      progress_.running = kNoSeed;
      for (size_t k = 0; k < kernels.size(); ++k) {
        if (t == 0) ++progress_.kernels;
        if (t == 0 && theirs[k].error.empty()) hashes_[seeds_[k] - campaign_.first] = Hash(theirs[k].words);
        Compare(kernels[k], seeds_[k], t, mine[k], theirs[k]);
      }
    }
  }

 private:
  std::string Text(const std::vector<Kernel>& kernels, bool other) const {
    std::string text = kModuleHeader;
    for (const Kernel& kernel : kernels) text += kernel.Text();
    if (other && !campaign_.swap_from.empty()) ReplaceAll(&text, campaign_.swap_from, campaign_.swap_to);
    return text;
  }

  // If a module is refused, its kernels are tried one by one.
  std::vector<Outcome> RunAll(Target& target, const std::vector<Kernel>& kernels, bool other) {
    std::vector<Outcome> outcomes;
    const std::string wrong = target.Load(Text(kernels, other));
    ++progress_.beats;
    for (const Kernel& kernel : kernels) {
      if (other && kernels.size() == seeds_.size()) progress_.running = seeds_[outcomes.size()];
      if (!wrong.empty()) {
        const std::string why = kernels.size() == 1 ? wrong : target.Load(Text({kernel}, other));
        ++progress_.beats;
        if (!why.empty()) {
          outcomes.push_back({"refused: " + why, false, {}});
          continue;
        }
      }
      outcomes.push_back(target.Run(kernel));
      if (outcomes.back().lost) {
        report_ << "LOST " << kernel.name << ": " << outcomes.back().error << "\n" << std::flush;
        std::_Exit(3);
      }
      ++progress_.beats;
    }
    return outcomes;
  }

  void Compare(const Kernel& kernel, uint64_t seed, size_t t, const Outcome& mine, const Outcome& theirs) {
    if (!theirs.error.empty()) {
      ++progress_.refused;
      report_ << "REFUSED seed " << seed << " by " << names_[t] << ": " << theirs.error.substr(0, 600) << "\n"
              << std::flush;
      return;
    }
    if (mine.error.empty() && mine.words == theirs.words) return;
    ++progress_.differences;
    report_ << "DIFFERENCE seed " << seed << " beside " << names_[t] << ", " << kernel.blocks << " x " << kernel.threads
            << "\n";
    Describe(kernel, mine, theirs, nullptr, 4);
    if (progress_.reductions < campaign_.reductions && Now() < reduce_until_) {
      ++progress_.reductions;
      ShowReduced(kernel, t, mine.error);
    }
    report_ << std::flush;
  }

  // threads: their number; start: the initial register values.
  void Describe(const Kernel& kernel, const Outcome& mine, const Outcome& theirs, const Outcome* start, int threads) {
    if (!mine.error.empty()) {
      report_ << "  virtual GPU: " << mine.error << "\n";
      return;
    }
    const size_t stride = kernel.slots.size() + kScratchWords;
    for (size_t at = 0, shown = 0; at < mine.words.size() && shown < static_cast<size_t>(threads); at += stride) {
      std::string text;
      for (size_t k = 0; k < stride; ++k) {
        if (mine.words[at + k] == theirs.words[at + k]) continue;
        char line[160];
        std::snprintf(
            line, sizeof line, " %s %08x/%08x",
            (k < kernel.slots.size() ? kernel.slots[k] : "global+" + std::to_string(4 * (k - kernel.slots.size())))
                .c_str(),
            mine.words[at + k], theirs.words[at + k]);
        text += line;
      }
      if (text.empty()) continue;
      ++shown;
      report_ << "  thread " << at / stride << " virtual/other:" << text.substr(0, 400) << "\n";
      if (start == nullptr || !start->error.empty()) continue;
      report_ << "    started with:";
      for (size_t k = 0; k < kernel.slots.size(); ++k) {
        if (kernel.slots[k][0] != '%') break;
        char line[80];
        std::snprintf(line, sizeof line, " %s %08x", kernel.slots[k].c_str(), start->words[at + k]);
        report_ << line;
      }
      report_ << "\n";
    }
  }

  void ShowReduced(const Kernel& kernel, size_t t, const std::string& error) {
    Outcome mine, theirs;
    const auto differs = [&](const Kernel& variant) {
      mine = RunAll(*mine_, {variant}, false)[0];
      if (mine.error.starts_with("refused") && !error.starts_with("refused")) return false;
      theirs = RunAll(*others_[t], {variant}, true)[0];
      return theirs.error.empty() && mine.error.empty() == error.empty() &&
             (!mine.error.empty() || mine.words != theirs.words);
    };
    const Kernel small = Reduce(kernel, differs, campaign_.tries);
    Kernel empty = small;
    empty.body.clear();
    const Outcome start = RunAll(*mine_, {empty}, false)[0];
    if (!differs(small)) {
      report_ << "  reduced: no longer differs when run again\n";
      return;
    }
    Kernel shown = small;
    shown.opening.clear(), shown.closing.clear();
    report_ << "  reduced:\n" << shown.Text();
    Describe(small, mine, theirs, &start, 2);
    if (!campaign_.gpu.empty()) {
      others_[t]->Load(Text({small}, true));
      const std::string command =
          "cuobjdump -sass " + files_ +
          ".cubin 2>/dev/null | grep -E '^ +/[*][0-9a-f]{4}' | sed 's,/[*] 0x[0-9a-f]* [*]/,,; s/  */ /g'";
      report_ << "  machine code:\n";
      if (FILE* pipe = popen(command.c_str(), "r")) {
        char line[300];
        while (std::fgets(line, sizeof line, pipe) != nullptr) report_ << line;
        pclose(pipe);
      }
    }
  }

  const Campaign& campaign_;
  double reduce_until_;  // kernels that differ after this time are only reported
  Progress& progress_;
  std::vector<uint64_t> seeds_;  // of the current module
  uint64_t* hashes_;
  std::string files_;
  std::ofstream report_;
  std::unique_ptr<Target> mine_;
  std::vector<std::unique_ptr<Target>> others_;
  std::vector<std::string> names_;
};

template <typename T>
T* Shared(size_t count) {
  return static_cast<T*>(mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

// The module at which to go on after a worker that ended with this status. report: the ended worker's.
uint64_t TakeUp(Progress* progress, size_t worker, int status, uint64_t jobs, const std::string& report) {
  const uint64_t seed = progress->running;
  if (WIFSIGNALED(status) && seed != kNoSeed)
    std::ofstream(report, std::ios::app) << "LOST k" << seed << ": ended by signal " << WTERMSIG(status) << "\n";
  std::fprintf(stderr, "cosim: worker %zu ended with status %d in module %llu, seed %lld\n", worker, status,
               static_cast<unsigned long long>(progress->module.load()), static_cast<long long>(seed));
  ++progress->failures;
  const bool again = seed != kNoSeed && progress->without == kNoSeed;
  progress->without = again ? seed : kNoSeed;
  progress->running = kNoSeed;
  return again ? progress->module.load() : progress->module += jobs;
}

}  // namespace

int CompareRecorded(uint64_t first, const std::vector<uint64_t>& recorded, const std::string& text) {
  const std::unique_ptr<Target> target = MakeVirtualTarget();
  int same = 0, differences = 0;
  for (size_t k = 0; k < recorded.size(); ++k) {
    if (recorded[k] == 0) continue;
    const Kernel kernel = MakeKernel(first + k);
    const std::string wrong = target->Load(text.empty() ? kModuleHeader + kernel.Text() : text);
    const Outcome outcome = wrong.empty() ? target->Run(kernel) : Outcome{wrong, false, {}};
    if (outcome.error.empty() && Hash(outcome.words) == recorded[k]) {
      ++same;
      continue;
    }
    ++differences;
    std::printf("seed %llu differs %s\n", static_cast<unsigned long long>(first + k), outcome.error.c_str());
  }
  std::printf("%d agree, %d differ\n", same, differences);
  return same == 0 ? 1 : differences;
}

int Run(const Campaign& campaign) {
  std::error_code made;
  std::filesystem::create_directories(campaign.out, made);
  if (made || access(campaign.out.c_str(), W_OK) != 0) {
    std::fprintf(stderr, "cosim: can't write to --out %s: %s\n", campaign.out.c_str(),
                 made ? made.message().c_str() : std::strerror(errno));
    return 1;
  }
  const double begin = Now();
  const uint64_t per = static_cast<uint64_t>(campaign.per_module), jobs = static_cast<uint64_t>(campaign.jobs);
  const uint64_t modules = (campaign.count + per - 1) / per;
  Progress* progress = Shared<Progress>(jobs);
  uint64_t* hashes = Shared<uint64_t>(campaign.count);
  struct Child {
    pid_t pid = 0;
    uint64_t beats = 0;
    double at = 0;
  };
  std::vector<Child> children(jobs);
  const auto start = [&](size_t index) {
    children[index] = {fork(), progress[index].beats, Now()};
    if (children[index].pid != 0) return;
    try {
      Worker worker(campaign, static_cast<int>(index), progress[index], hashes,
                    campaign.seconds > 0 ? begin + 0.8 * campaign.seconds : 1e300);
      for (uint64_t m = progress[index].module; m < modules; m = progress[index].module += jobs) {
        if (campaign.seconds > 0 && Now() - begin > campaign.seconds) break;
        worker.Module(m * per, std::min(per, campaign.count - m * per));
        progress[index].without = kNoSeed;
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "cosim: %s\n", error.what());
      std::_Exit(2);
    }
    std::_Exit(0);
  };
  const auto part = [&](size_t worker) { return campaign.out + "/worker" + std::to_string(worker); };
  for (size_t k = 0; k < jobs; ++k) {
    std::remove((part(k) + ".txt").c_str());
    progress[k].module = k;
    progress[k].running = progress[k].without = kNoSeed;
    start(k);
  }
  size_t running = jobs;
  while (running > 0) {
    usleep(50'000);
    for (size_t k = 0; k < jobs; ++k) {
      Child& child = children[k];
      if (child.pid == 0) continue;
      int status = 0;
      if (waitpid(child.pid, &status, WNOHANG) == child.pid) {
        child.pid = 0;
        --running;
        const bool done = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
        if (!done && TakeUp(&progress[k], k, status, jobs, part(k) + ".txt") < modules) {
          start(k);
          ++running;
        }
        continue;
      }
      if (progress[k].beats != child.beats) {
        child.beats = progress[k].beats;
        child.at = Now();
      } else if (Now() - child.at > kSecondsWithoutProgress) {
        std::fprintf(stderr, "cosim: worker %zu is killed: no progress for %d s\n", k, kSecondsWithoutProgress);
        kill(child.pid, SIGKILL);
      }
    }
  }

  std::ofstream report(campaign.out + "/report.txt");
  int kernels = 0, differences = 0, refused = 0, failures = 0;
  for (size_t k = 0; k < jobs; ++k) {
    kernels += progress[k].kernels, differences += progress[k].differences;
    refused += progress[k].refused, failures += progress[k].failures;
    std::ostringstream text;
    text << std::ifstream(part(k) + ".txt").rdbuf();
    report << text.str();
    for (const char* end : {".txt", ".ptx", ".cubin", ".log"}) std::remove((part(k) + end).c_str());
  }
  std::ofstream(campaign.out + "/hashes.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(hashes), static_cast<std::streamsize>(campaign.count * sizeof *hashes));
  char line[200];
  std::snprintf(line, sizeof line,
                "%d kernels, %d differences, %d refused by the other side, %d lost, %llu not run, %.0f s\n", kernels,
                differences, refused, failures,
                static_cast<unsigned long long>(campaign.count - static_cast<uint64_t>(kernels)), Now() - begin);
  report << line;
  std::fputs(line, stdout);
  return kernels == 0 ? 1 : differences + refused + failures;
}

}  // namespace lockstep::cosim
