// Put before a student's file whose first launcher calls probe(): from inside the worker it tries what no submission
// may do, and prints what it got. PROBE lines with GOT are holes; each attempt prints one line, so that a probe that
// did not run is noticed. It ends in a crash, because what the program printed is shown then.
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void said(const char* what, bool got) {
  std::printf("PROBE %s %s\n", got ? "GOT" : "no", what);
  std::fflush(stdout);
}

void opens(const char* path) {
  const int fd = open(path, O_RDONLY);
  said(path, fd >= 0);
  if (fd >= 0) close(fd);
}

void creates(const char* path) {
  const int fd = open(path, O_WRONLY | O_CREAT, 0644);
  said(path, fd >= 0);
  if (fd >= 0) close(fd);
}

// Whether some process's arguments or environment show a seed, or another file of a process of root's can be read.
void looks_at_processes() {
  bool has_seed = false, has_environment = false, has_memory = false, sees_judge = false;
  DIR* all = opendir("/proc");
  while (dirent* entry = all ? readdir(all) : nullptr) {
    const int process = std::atoi(entry->d_name);
    if (process == 0 || process == getpid()) continue;
    char path[64], text[65536];
    std::snprintf(path, sizeof path, "/proc/%d/cmdline", process);
    const int fd = open(path, O_RDONLY);
    const ssize_t size = fd >= 0 ? read(fd, text, sizeof text) : 0;
    if (fd >= 0) close(fd);
    // Other graders may be at work on this machine: what they show is not the autograder's doing.
    const bool is_own = size > 0 && memmem(text, size, "/opt/lockstep", sizeof("/opt/lockstep") - 1) != nullptr;
    has_seed |= is_own && memmem(text, size, "--seed=", 7) != nullptr;
    sees_judge |= is_own && memmem(text, size, "_suite", 6) != nullptr;
    std::snprintf(path, sizeof path, "/proc/%d", process);
    struct stat status;
    if (stat(path, &status) != 0 || status.st_uid != 0) continue;
    std::snprintf(path, sizeof path, "/proc/%d/environ", process);
    const int environment = open(path, O_RDONLY);
    has_environment |= environment >= 0 && read(environment, text, 1) > 0;
    std::snprintf(path, sizeof path, "/proc/%d/mem", process);
    has_memory |= open(path, O_RDWR) >= 0;
  }
  said("a seed among the arguments of a process", has_seed);
  said("the environment of one of root's processes", has_environment);
  said("the memory of one of root's processes", has_memory);
  std::printf("PROBE note the judge's arguments are %s\n", sees_judge ? "seen" : "not seen");
}

// All files below a folder that can be opened.
void reads_below(const char* folder, int depth, int& read_files) {
  DIR* all = depth > 0 ? opendir(folder) : nullptr;
  while (dirent* entry = all ? readdir(all) : nullptr) {
    if (entry->d_name[0] == '.') continue;
    char path[4096];
    std::snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_type == DT_DIR) {
      reads_below(path, depth - 1, read_files);
    } else if (const int fd = open(path, O_RDONLY); fd >= 0) {
      close(fd);
      ++read_files;
      if (std::strstr(path, "hidden") || std::strstr(path, "secret") || std::strstr(path, "result")) said(path, true);
    }
  }
  if (all) closedir(all);
}

void probe() {
  said("being root", geteuid() == 0 || getegid() == 0);
  for (const char* path :
       {"/autograder/source/setup.sh", "/autograder/submission_metadata.json", "/autograder/results/results.json",
        "/autograder/submission/reduction.cu", "/opt/lockstep/private/seed-secret",
        "/opt/lockstep/private/settings.json", "/opt/lockstep/private/reference.cu",
        "/opt/lockstep/reference/04_reduction/reduction.cu", "/opt/lockstep/reference/04_reduction/hidden_test.cc",
        "/opt/lockstep/build/bin/04_reduction_full_suite", "/etc/shadow", "/root/.bashrc"}) {
    opens(path);
  }
  for (const char* path : {"/autograder/results/results.json", "/autograder/run_autograder", "/opt/lockstep/new",
                           "/opt/lockstep/build/lib/libcudart.so.13", "/usr/bin/new", "/etc/new"}) {
    creates(path);
  }
  int files = 0;
  for (const char* folder : {"/autograder", "/opt/lockstep/private", "/opt/lockstep/work", "/opt/lockstep/build/bin"}) {
    reads_below(folder, 6, files);
  }
  said("a file of the autograder's own", files > 0);
  looks_at_processes();
  said("a signal to the judge", kill(getppid(), 0) == 0 || kill(1, 0) == 0);
  said("a trace of the judge", ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr) == 0);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(80);
  inet_pton(AF_INET, "1.1.1.1", &address.sin_addr);
  said("the network", fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  said("root's rights", setuid(0) == 0);
  // Something that goes on when the worker has ended, and a file for the next one.
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      for (int i = 0; i < 64; ++i) close(i);
      sleep(3000);
    }
    _exit(0);
  }
  creates("/tmp/left-by-the-probe-in-tmp");  // that it may; it must be gone afterwards
  std::abort();
}

}  // namespace
