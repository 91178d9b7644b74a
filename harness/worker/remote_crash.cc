// Reports to the judge the source location of a program that ends within a call: killed by a signal, or by exit().
//
// The program may crash while it holds the allocator's lock, or with a corrupted heap, so nothing allocates from the
// signal until the message is sent. If that takes more than a second, or another message was partly sent, the report is
// skipped.
#include <sys/mman.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "protocol/wire_call.h"
#include "vgpu/cudart/report/call_site.h"
#include "vgpu/memory/address_space.h"

namespace lockstep::worker {

namespace {

static_assert(kWhereSignal == SIGXCPU);
constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, kWhereSignal};
constexpr unsigned kMostSeconds = 1;
constexpr uint64_t kNullPageBytes = 4096;
// How far below the stack pointer a function with large arrays may first touch the stack.
constexpr uint64_t kStackReach = uint64_t{64} << 20;
constexpr uint64_t kEndOfArenas = uint64_t{0x30} << vgpu::kWindowShift;
constexpr size_t kStackBytes = size_t{256} << 10;  // of the handler's own stack

volatile std::sig_atomic_t in_call = 0;
volatile std::sig_atomic_t ended_by = 0;

class StoppedMessage {
 public:
  template <typename T>
  void Put(T value) {
    std::memcpy(bytes_.data() + size_, &value, sizeof value);
    size_ += sizeof value;
  }
  void PutString(std::string_view text) {
    Put<uint64_t>(text.size());
    std::memcpy(bytes_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }
  void Send() {
    const auto payload = static_cast<uint32_t>(size_ - kHeaderBytes);
    std::memcpy(bytes_.data(), &payload, sizeof payload);
    (void)!::send(kSocketDescriptor, bytes_.data(), size_, MSG_NOSIGNAL);
  }

 private:
  std::array<uint8_t, 512> bytes_{0, 0, 0, 0, static_cast<uint8_t>(MessageType::kStopped), 0, 0, 0};
  size_t size_ = kHeaderBytes;
};

void Report(FaultAddress address) {
  std::array<char, 400> place;
  const std::string_view site = vgpu::cudart::CrashSite(place);
  if (IsSending()) return;
  StoppedMessage message;
  message.Put(address);
  message.PutString(site);
  message.PutString("");
  message.Send();
}

FaultAddress AddressOf(int signal, const siginfo_t& info, const void* context) {
  if (signal != SIGSEGV && signal != SIGBUS) return FaultAddress::kUnknown;
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  // For a non-canonical address the processor does not report the value.
  if (info.si_code == SI_KERNEL) return FaultAddress::kUnknown;
  if (address < kNullPageBytes) return FaultAddress::kNull;
  if (address >= vgpu::kArenaWindow && address < kEndOfArenas) return FaultAddress::kDevice;
  const mcontext_t& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#ifdef __aarch64__
  const uintptr_t stack = registers.sp;
#else
  const auto stack = static_cast<uintptr_t>(registers.gregs[REG_RSP]);
#endif
  return address < stack + kStackBytes && address + kStackReach > stack ? FaultAddress::kStack : FaultAddress::kUnknown;
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
    Report(AddressOf(signal, *info, context));
    ::alarm(0);
  }
  End(signal);
}

void OnExit() {
  if (in_call != 0) Report(FaultAddress::kUnknown);
}

void Install() {
  vgpu::cudart::PrepareCrashSite();
  // An overflowed stack has no room for a handler.
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
  static_cast<void>(std::at_quick_exit(OnExit));  // if that fails, quick_exit() goes unreported
}

}  // namespace

}  // namespace lockstep::worker

// Called by the worker's main program when a call begins or has ended.
extern "C" void __cudaLockstepInCall(int is_in_call) {
  using namespace lockstep::worker;
  static const bool installed = (Install(), true);
  in_call = installed && is_in_call != 0;
}
