#include "dev/cosim/cuda/check.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "dev/cosim/cuda/kernel_maker.h"

namespace lockstep::cosim::cuda {
namespace {

// With contraction, one side would round a product and a sum once, and the other twice.
constexpr char kDeviceFlags[] = " -std=c++17 -cudart shared -w -lineinfo -fmad=false -Xcompiler -O1,-ffp-contract=off";
constexpr char kSanitizerFlags[] =
    " -x c++ -std=c++17 -O1 -ffp-contract=off -w -fsanitize=undefined,float-cast-overflow -fno-sanitize-recover=all";

int Shell(const std::string& command, const std::string& output) {
  return std::system((command + " > " + output + " 2>&1").c_str());
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A program's output line: its name, the hash of the host's results, and a verdict.
struct Line {
  std::string name, hash, verdict;
};
std::vector<Line> Lines(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    Line found;
    if (words >> found.name >> found.hash >> found.verdict && found.name[0] == 'p' && found.hash.size() == 16)
      lines.push_back(found);
  }
  return lines;
}

class Runner {
 public:
  explicit Runner(const Check& check) : check_(check) {}

  Tally Run() {
    std::filesystem::create_directories(check_.out);
    std::vector<std::thread> workers;
    for (int k = 0; k < std::max(1, check_.jobs); ++k) workers.emplace_back([this] { Work(); });
    for (std::thread& worker : workers) worker.join();
    std::sort(tally_.troubles.begin(), tally_.troubles.end());
    return tally_;
  }

 private:
  void Work() {
    const auto per_file = static_cast<uint64_t>(check_.per_file);
    for (uint64_t file = next_++; file * per_file < check_.count; file = next_++) {
      const uint64_t first = check_.first + file * per_file, left = check_.count - file * per_file;
      const bool sanitize = check_.sanitize > 0 && file % static_cast<uint64_t>(check_.sanitize) == 0;
      One(first, static_cast<int>(std::min(left, per_file)), sanitize);
    }
  }

  void One(uint64_t first, int count, bool sanitize) {
    const std::string stem = check_.out + "/s" + std::to_string(first);
    int functions = 0;
    std::ofstream(stem + ".cu") << MakeFile(first, count, &functions);
    std::string trouble = Compiled(stem) ? "" : "was not compiled";
    std::vector<Line> lines;
    const bool compiled = trouble.empty();
    if (compiled && check_.gpu) {
      trouble = Ran("", stem, ".gpu.out", count, &lines);
      if (!trouble.empty()) trouble += " on the GPU";
    }
    if (compiled) {
      std::vector<Line> virtual_lines;
      const std::string launcher = check_.launcher + " --check=" + check_.checks + " --color=never ";
      const std::string more = Ran(launcher, stem, ".out", count, &virtual_lines);
      if (!more.empty()) trouble += (trouble.empty() ? "" : ", ") + more + " on the virtual GPU";
      if (!check_.gpu) lines = virtual_lines;
    }
    if (trouble.empty() && sanitize && !Defined(stem, lines)) trouble = "is not well-defined, or g++ alone differs";
    std::filesystem::remove(stem + ".exe");
    if (trouble.empty())
      for (const char* const ending : {".cu", ".log", ".out", ".gpu.out"}) std::filesystem::remove(stem + ending);
    const std::scoped_lock lock(mutex_);
    tally_.programs += count, tally_.functions += functions;
    for (const Line& line : lines) line.verdict == "same" ? ++tally_.same : ++tally_.differing;
    if (sanitize) tally_.sanitized += count;
    if (!trouble.empty()) tally_.troubles.push_back(stem + ".cu " + trouble);
  }

  // The problem with a run of the file's programs, "" if there is none. launcher: empty for the GPU.
  static std::string Ran(const std::string& launcher, const std::string& stem, const std::string& ending, int count,
                         std::vector<Line>* lines) {
    const int status = Shell("timeout 600 " + launcher + stem + ".exe", stem + ending);
    const std::string output = Read(stem + ending);
    *lines = Lines(output);
    if (static_cast<int>(lines->size()) != count) return "ended early";
    const bool clean = launcher.empty() || output.find("\nFindings\n  none\n") != std::string::npos;
    if (!clean) return "has findings";
    return status == 0 ? "" : "differs";
  }

  bool Compiled(const std::string& stem) const {
    return Shell(CompileCommand(check_, stem + ".cu", stem + ".exe"), stem + ".log") == 0;
  }

  bool Defined(const std::string& stem, const std::vector<Line>& lines) const {
    const std::string program = stem + ".host";
    bool same = Shell("g++" + std::string(kSanitizerFlags) + " -I" + check_.include + " -isystem " +
                          check_.cuda_include + " " + stem + ".cu -o " + program,
                      stem + ".log") == 0 &&
                Shell(program, stem + ".sanitized") == 0;
    const std::vector<Line> host = Lines(Read(stem + ".sanitized"));
    same &= host.size() == lines.size();
    for (size_t k = 0; same && k < lines.size(); ++k) same = host[k].hash == lines[k].hash;
    std::filesystem::remove(program);
    if (same) std::filesystem::remove(stem + ".sanitized");
    return same;
  }

  const Check& check_;
  std::atomic<uint64_t> next_ = 0;
  std::mutex mutex_;
  Tally tally_;
};

}  // namespace

std::string CompileCommand(const Check& check, const std::string& source, const std::string& program) {
  // PTX for the virtual GPU; for the GPU also machine code from the same PTX.
  const std::string number = check.architecture.substr(check.architecture.find('_') + 1);
  return check.nvcc + kDeviceFlags + " -gencode arch=compute_" + number + ",code=compute_" + number +
         (check.gpu ? " -gencode arch=compute_" + number + ",code=sm_" + number : "") + " " + check.flags + " -I" +
         check.include + " " + source + " -o " + program;
}

Tally Run(const Check& check) { return Runner(check).Run(); }

}  // namespace lockstep::cosim::cuda
