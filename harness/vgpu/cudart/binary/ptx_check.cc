#include "vgpu/cudart/binary/ptx_check.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <regex>
#include <utility>
#include <vector>

extern char** environ;

namespace lockstep::vgpu::cudart {

namespace {

// The last version of PTX that a driver for CUDA 13.0 knows. It takes numbers before it that no toolkit has too.
constexpr std::pair kLastVersion(9, 0);

// Skips blanks and comments at the start.
std::string_view Begin(std::string_view text) {
  while (true) {
    const size_t at = text.find_first_not_of(" \t\r\n");
    text = at == std::string_view::npos ? "" : text.substr(at);
    const bool line = text.starts_with("//"), block = text.starts_with("/*");
    if (!line && !block) return text;
    const size_t end = text.find(line ? "\n" : "*/", 2);
    text = end == std::string_view::npos ? "" : text.substr(end + (line ? 1 : 2));
  }
}

std::string FindAssembler() {
  std::vector<std::string> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const home = std::getenv(name)) folders.push_back(std::string(home) + "/bin");
  }
  std::string_view path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  while (!path.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    if (end > 0) folders.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders) {
    const std::string file = folder + "/ptxas";
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

// Runs the assembler. Returns whether it accepts the text; *said gets its messages.
bool Assemble(const std::string& assembler, std::string_view text, const std::string& target, bool linked,
              std::string* said) {
  char source[] = "/tmp/lockstep-ptx-XXXXXX";
  const int file = mkstemp(source);
  if (file < 0) return true;
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  int ends[2] = {-1, -1};
  bool taken = true;
  if (written && ::pipe2(ends, O_CLOEXEC) == 0) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string arch = "-arch=" + target, out = "/dev/null", option = "-o", name = assembler, part = "-c";
    char* arguments[] = {name.data(), arch.data(), option.data(), out.data(), source, linked ? part.data() : nullptr,
                         nullptr};
    // The environment without the variables that redirect a program's CUDA calls to the virtual GPU.
    std::vector<char*> environment;
    for (char** one = environ; *one != nullptr; ++one) {
      const std::string_view variable = *one;
      if (!variable.starts_with("LD_PRELOAD=") && !variable.starts_with("LD_AUDIT=")) environment.push_back(*one);
    }
    environment.push_back(nullptr);
    pid_t child = 0;
    if (posix_spawn(&child, assembler.c_str(), &actions, nullptr, arguments, environment.data()) == 0) {
      ::close(std::exchange(ends[1], -1));
      char buffer[4096];
      for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) said->append(buffer, static_cast<size_t>(n));
      int status = 0;
      taken = ::waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  ::unlink(source);
  // A driver has no file name, and prints this instead.
  const std::string_view path = source;
  for (size_t at; (at = said->find(path)) != std::string::npos;)
    said->replace(at, path.size(), "application ptx input");
  return taken;
}

// A driver's assembler lets a kernel have as much static shared memory as one may opt in to, the toolkit's 48 KiB: puts
// the former's size in messages, and takes out those about less. Returns whether no error is left.
bool FitsDriver(std::string* log, uint64_t most) {
  static const auto& sizes =
      *new std::regex(R"(ptxas error .*uses too much shared data \(0x([0-9a-f]+) bytes, 0x([0-9a-f]+) max\)\n)");
  std::smatch found;
  bool is_it = false;
  while (std::regex_search(*log, found, sizes)) {
    if (std::stoull(found[1], nullptr, 16) > most) {
      char limit[32];
      std::snprintf(limit, sizeof limit, "%llx", static_cast<unsigned long long>(most));
      log->replace(static_cast<size_t>(found.position(2)), static_cast<size_t>(found.length(2)), limit);
      return false;
    }
    is_it = true;
    log->erase(static_cast<size_t>(found.position()), static_cast<size_t>(found.length()));
  }
  return is_it && log->find("error ") == std::string::npos && log->find("fatal ") == std::string::npos;
}

PtxVerdict Check(std::string_view text, const DeviceProfile& profile, bool linked) {
  const std::string_view begin = Begin(text);
  if (!begin.starts_with(".version")) {
    return {cudaErrorInvalidKernelImage, "error   : Binary format for key='0', ident='' is not recognized"};
  }
  int major = 0, minor = 0, end = 0;
  const std::string head(begin.substr(0, 64));
  if (std::sscanf(head.c_str(), ".version %d.%d%n", &major, &minor, &end) == 2 &&
      head[static_cast<size_t>(end)] != '.' && (major == 0 || std::pair(major, minor) > kLastVersion)) {
    return {cudaErrorUnsupportedPtxVersion,
            "ptxas application ptx input, line 1; fatal   : Unsupported .version " + std::to_string(major) + "." +
                std::to_string(minor) +
                "; current version is '9.0'\nptxas fatal   : Ptx assembly aborted due to errors"};
  }
  static const auto& assembler = *new std::string(FindAssembler());
  if (assembler.empty()) return {};
  std::string target = "sm_" + std::to_string(profile.cc_major * 10 + profile.cc_minor);
  if (text.find(".target " + target + "a") != std::string_view::npos) target += "a";
  PtxVerdict verdict;
  if (!Assemble(assembler, text, target, linked, &verdict.log) &&
      !FitsDriver(&verdict.log, static_cast<uint64_t>(profile.shared_per_block_optin)))
    verdict.error = cudaErrorInvalidPtx;
  if (verdict.error == cudaSuccess) verdict.log.clear();
  return verdict;
}

}  // namespace

static std::atomic<bool> any_was_invalid = false;
bool AnyPtxWasInvalid() { return any_was_invalid; }

PtxVerdict CheckPtx(std::string_view text, const DeviceProfile& profile, bool linked) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, PtxVerdict, std::less<>>[2];
  const std::lock_guard lock(mutex);
  auto& verdicts = known[linked ? 1 : 0];
  if (const auto found = verdicts.find(text); found != verdicts.end()) return found->second;
  const PtxVerdict& verdict = verdicts.emplace(text, Check(text, profile, linked)).first->second;
  if (verdict.error == cudaErrorInvalidPtx) any_was_invalid = true;
  return verdict;
}

}  // namespace lockstep::vgpu::cudart
