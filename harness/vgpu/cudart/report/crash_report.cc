// A program may crash while it holds the memory allocator's lock, or with its heap in pieces: from the signal to the
// line that is written nothing allocates. Where that takes more than a second, it is left out.
#include "vgpu/cudart/report/crash_report.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "vgpu/cudart/report/call_site.h"
#include "vgpu/memory/address_space.h"

namespace lockstep::vgpu::cudart {

namespace {

static_assert(kWhereSignal == SIGXCPU);
constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, kWhereSignal};
constexpr unsigned kMostSeconds = 1;
constexpr uint64_t kNullPageBytes = 4096;
// How far below the stack pointer a function with large arrays may touch the stack first.
constexpr uint64_t kStackReach = uint64_t{64} << 20;
constexpr uint64_t kEndOfArenas = uint64_t{0x30} << kWindowShift;
constexpr size_t kStackBytes = size_t{256} << 10;  // of the handler's own

volatile std::sig_atomic_t in_call = 0;
volatile std::sig_atomic_t ended_by = 0;

class Line {
 public:
  void Add(std::string_view text) {
    text = text.substr(0, text_.size() - 1 - size_);
    std::memcpy(text_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }
  void Write() {
    text_[size_++] = '\n';
    (void)!::write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  std::array<char, 512> text_;
  size_t size_ = 0;
};

void WriteSite(std::string_view about) {
  std::array<char, 400> place;
  const std::string_view site = CrashSite(place);
  if (site.empty() && about.empty()) return;
  Line line;
  line.Add(kStoppedAt);
  line.Add(site);
  line.Add(about);
  line.Write();
}

// Which kind of address it was.
std::string_view About(int signal, const siginfo_t& info, const void* context) {
  if (signal != SIGSEGV && signal != SIGBUS) return "";
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  // Of an address that is no address at all the processor does not tell.
  if (info.si_code == SI_KERNEL) return "";
  if (address < kNullPageBytes) return " null";
  if (address >= kArenaWindow && address < kEndOfArenas) return " device";
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  const auto stack = static_cast<uintptr_t>(registers[REG_RSP]);
  return address < stack + kStackBytes && address + kStackReach > stack ? " stack" : "";
}

void End(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void OnAlarm(int) { End(ended_by); }

void OnSignal(int signal, siginfo_t* info, void* context) {
  if (ended_by != 0) End(signal);  // the report itself failed
  ended_by = signal;
  if (in_call != 0) {
    std::signal(SIGALRM, OnAlarm);
    ::alarm(kMostSeconds);
    WriteSite(About(signal, *info, context));
    ::alarm(0);
  }
  End(signal);
}

void OnExit() {
  if (in_call != 0) WriteSite("");
}

void Install() {
  PrepareCrashSite();
  // A stack that is full has no room for a handler.
  void* const memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kStackBytes;
  ::sigaltstack(&stack, nullptr);
  for (const int signal : kSignals) {
    struct sigaction action{};
    action.sa_sigaction = OnSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ::sigaction(signal, &action, nullptr);
  }
  std::atexit(OnExit);
  static_cast<void>(std::at_quick_exit(OnExit));  // where that fails, quick_exit() goes unreported
}

}  // namespace

}  // namespace lockstep::vgpu::cudart

extern "C" void __cudaLockstepInCall(int is_in_call) {
  using namespace lockstep::vgpu::cudart;
  static const bool installed = (Install(), true);
  in_call = installed && is_in_call != 0;
}
