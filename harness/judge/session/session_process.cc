#include "judge/session/session_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "protocol/wire.h"

namespace lockstep::worker {

namespace {

// A descriptor that is closed if a constructor throws.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void Reset(int fd) {
    Close();
    fd_ = fd;
  }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

[[noreturn]] void Fail(const char* what) { throw StartError(std::string(what) + ": " + std::strerror(errno)); }

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Data for the child, created before fork: afterwards only async-signal-safe calls are allowed.
struct ChildPlan {
  char* const* argv;
  char* const* environment;
  int socket, output, null, report;
  rlim_t file_bytes, open_files;
  pid_t parent;
};

constexpr int kFirstFreeDescriptor = kSocketDescriptor + 2;
constexpr int kReportDescriptor = kSocketDescriptor + 1;

void Limit(__rlimit_resource resource, rlim_t value) {
  rlimit limit;
  if (::getrlimit(resource, &limit) == 0 && limit.rlim_max < value) value = limit.rlim_max;
  limit = {value, value};
  ::setrlimit(resource, &limit);
}

[[noreturn]] void RunChild(const ChildPlan& plan) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  // Duplicates with high numbers: a descriptor may have a number that dup2 overwrites below.
  const int socket = ::fcntl(plan.socket, F_DUPFD, 64);
  const int output = ::fcntl(plan.output, F_DUPFD, 64);
  const int null = ::fcntl(plan.null, F_DUPFD, 64);
  const int report = ::fcntl(plan.report, F_DUPFD, 64);
  ::dup2(null, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::dup2(socket, kSocketDescriptor);
  ::dup3(report, kReportDescriptor, O_CLOEXEC);
  ::close_range(kFirstFreeDescriptor, ~0U, 0);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_FSIZE, plan.file_bytes);
  Limit(RLIMIT_NOFILE, plan.open_files);
  ::execvpe(plan.argv[0], plan.argv, plan.environment);
  const int error = errno;
  (void)!::write(kReportDescriptor, &error, sizeof error);
  ::_exit(127);
}

// How long killed processes may take to end: freeing much memory takes a while.
constexpr std::chrono::seconds kEndSeconds(10);

// Waits until killed processes have ended: until then they count in the sandbox's control group, and the next worker
// may not fit into it.
class Ending {
 public:
  explicit Ending(const std::vector<pid_t>& processes) {
    for (const pid_t process : processes) {
      const int fd = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
      if (fd >= 0) ends_.emplace_back(std::make_unique<Descriptor>(fd));
    }
  }

  void Wait() const {
    const auto until = std::chrono::steady_clock::now() + kEndSeconds;
    for (const auto& end : ends_) {
      pollfd polled{end->get(), POLLIN, 0};
      for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        if (::poll(&polled, 1, std::max(static_cast<int>(left.count()), 0)) >= 0 || errno != EINTR) break;
      }
    }
  }

 private:
  std::vector<std::unique_ptr<Descriptor>> ends_;
};

// The children of all threads of a process.
std::vector<pid_t> ChildrenOf(pid_t process) {
  namespace fs = std::filesystem;
  std::vector<pid_t> children;
  std::error_code gone;
  for (const fs::directory_entry& thread : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerCommand& command) : has_prefix_(!command.prefix.empty()) {
  std::vector<std::string> arguments = command.prefix;
  if (!command.prefix.empty() && !command.environment.empty()) {
    // A sandbox clears the environment: the worker's own variables have to be set inside.
    arguments.push_back("/usr/bin/env");
    arguments.insert(arguments.end(), command.environment.begin(), command.environment.end());
  }
  arguments.push_back(command.worker);
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
  environment.insert(environment.end(), command.environment.begin(), command.environment.end());
  const std::vector<char*> argv = Pointers(arguments), envp = Pointers(environment);

  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) Fail("socketpair");
  Descriptor judge_socket(ends[0]), worker_socket(ends[1]);
  if (::pipe2(ends, O_CLOEXEC) != 0) Fail("pipe2");
  Descriptor output_read(ends[0]), output_write(ends[1]);
  if (::pipe2(ends, O_CLOEXEC) != 0) Fail("pipe2");
  Descriptor report_read(ends[0]), report_write(ends[1]);
  Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (null.get() < 0) Fail("/dev/null");
  ::fcntl(output_read.get(), F_SETFL, O_NONBLOCK);

  const ChildPlan plan{argv.data(),        envp.data(),        worker_socket.get(), output_write.get(), null.get(),
                       report_write.get(), command.file_bytes, command.open_files,  ::getpid()};
  pid_ = ::fork();
  if (pid_ < 0) Fail("fork");
  if (pid_ == 0) RunChild(plan);
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (pidfd_ < 0) {
    const int error = errno;
    Kill();
    errno = error;
    Fail("pidfd_open");
  }

  // The report pipe is closed by a successful exec.
  report_write.Close();
  int error = 0;
  ssize_t got;
  do {
    got = ::read(report_read.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    Kill();
    ::close(pidfd_);
    throw StartError("can't run " + arguments[0] + ": " + std::strerror(error));
  }
  socket_ = judge_socket.release();
  output_ = output_read.release();
}

WorkerProcess::~WorkerProcess() {
  Kill();
  for (const int fd : {socket_, output_, pidfd_}) {
    if (fd >= 0) ::close(fd);
  }
}

std::optional<ExitStatus> WorkerProcess::Status() {
  if (status_ || pid_ <= 0) return status_;
  // The process is not reaped, so that its id and its group's id can't be reused before Kill.
  siginfo_t info{};
  if (::waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) {
    status_ = ExitStatus{info.si_code != CLD_EXITED, info.si_status};
  }
  return status_;
}

double WorkerProcess::ProcessorSeconds() const {
  clockid_t clock;
  timespec now{};
  if (pid_ < 0 || ::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void WorkerProcess::Hold() {
  if (!StopAll()) Fail("stopping the worker");
}

bool WorkerProcess::StopAll() {
  if (pid_ <= 0 || !held_.empty()) return true;
  held_ = {pid_};
  // Parents before children: a stopped process creates no more.
  for (size_t next = 0; next < held_.size(); ++next) {
    const pid_t process = held_[next];
    // Children of a process continue after it has ended.
    if (::kill(process, SIGSTOP) != 0 && errno != ESRCH) return false;
    for (const pid_t child : ChildrenOf(process)) held_.push_back(child);
  }
  return true;
}

void WorkerProcess::Release() {
  for (auto process = held_.rbegin(); process != held_.rend(); ++process) ::kill(*process, SIGCONT);
  held_.clear();
}

void WorkerProcess::RequestLocation() {
  if (pid_ <= 0) return;
  pid_t process = pid_;
  // In a sandbox the worker is the end of a short chain.
  constexpr int kLongest = 8;
  for (int link = 0; has_prefix_ && link < kLongest; ++link) {
    const std::vector<pid_t> children = ChildrenOf(process);
    if (children.empty()) break;
    process = children.front();
  }
  ::kill(process, kWhereSignal);
}

void WorkerProcess::Kill() {
  if (pid_ <= 0) return;
  Status();
  // Without a sandbox, nothing else ends processes in separate sessions. They are stopped first: then none creates
  // another, and none that has ended is reaped, so no id can have been reused.
  StopAll();
  const Ending ending(held_);
  for (const pid_t process : held_) ::kill(process, SIGKILL);
  held_.clear();
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  ending.Wait();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace lockstep::worker
