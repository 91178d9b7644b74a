// A program may crash while it holds the allocator's lock, or with a corrupted heap, and a report allocates memory. So
// a report that takes more than a few seconds, or crashes itself, is abandoned.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>

#include "vgpu/cudart/report/report.h"
#include "vgpu/exec/interruption.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr struct {
  int number;
  const char* name;
} kDeadlySignals[] = {{SIGABRT, "SIGABRT"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},
                      {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGINT, "SIGINT"},
                      {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"},   {SIGQUIT, "SIGQUIT"}};
constexpr unsigned kMostSecondsToReport = 5;
constexpr size_t kReportStackBytes = size_t{1} << 20;  // of the handler's own stack

std::atomic<void (*)(const char* how)> to_call{nullptr};
std::atomic<pid_t> owner{0};
volatile std::sig_atomic_t dying_of = 0;

void ReportOnce(const char* how) {
  if (owner.load() != ::getpid()) return;
  if (const auto report = to_call.exchange(nullptr)) report(how);
}

void Die(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void OnReportAlarm(int) { Die(dying_of); }

void ReportAndDie() {
  ::alarm(kMostSecondsToReport);
  for (const auto& [number, name] : kDeadlySignals) {
    if (number == dying_of) ReportOnce(name);
  }
  ::alarm(0);
  Die(dying_of);
}

bool IsFromOutside(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

void OnDeadlySignal(int signal) {
  if (dying_of != 0) return Die(signal);  // the report itself failed, or the user is impatient
  dying_of = signal;
  std::signal(SIGALRM, OnReportAlarm);
  ::alarm(kMostSecondsToReport);
  if (IsFromOutside(signal) && owner.load() == ::getpid() && Interruption::Ask()) return;
  ReportAndDie();
}

void Handle(int signal) {
  struct sigaction now{};
  if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction action{};
  action.sa_handler = OnDeadlySignal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

void OnQuickExit() { ReportOnce("quick_exit()"); }

}  // namespace

void ReportAtDeath(void (*report)(const char* how)) {
  owner = ::getpid();
  to_call = report;
  if (report == nullptr) return;
  // The handler needs its own stack, because the program's may have overflowed.
  void* const memory = ::mmap(nullptr, kReportStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t known{};
  if (memory != MAP_FAILED && ::sigaltstack(nullptr, &known) == 0 && (known.ss_flags & SS_DISABLE) != 0) {
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = kReportStackBytes;
    ::sigaltstack(&stack, nullptr);
  }
  for (const auto& [number, name] : kDeadlySignals) Handle(number);
  static_cast<void>(std::at_quick_exit(OnQuickExit));  // where that fails, quick_exit() goes unreported
}

void InterruptKernels() {
  owner = ::getpid();
  for (const auto& [number, name] : kDeadlySignals) {
    if (IsFromOutside(number)) Handle(number);
  }
}

void EndIfInterrupted() {
  if (Interruption::IsAsked() && owner.load() == ::getpid()) ReportAndDie();
}

}  // namespace lockstep::vgpu::cudart

// Replace libc's functions, which would end the process without a report. Programs request them by libc's symbol
// version. The single @ keeps programs from being linked against these, so that they also run with NVIDIA's runtime.
extern "C" {

[[noreturn]] void lockstep_exit(int status) {
  lockstep::vgpu::cudart::ReportOnce("_exit()");
  for (;;) ::syscall(SYS_exit_group, status);
}
[[noreturn]] void lockstep_exit_c(int status) { lockstep_exit(status); }

__asm__(".symver lockstep_exit, _exit@GLIBC_2.2.5");
__asm__(".symver lockstep_exit_c, _Exit@GLIBC_2.2.5");

}  // extern "C"
