// What the programs of the corpus share. A program is a list of cases; each runs in a process of its own, so that a
// context that is lost or a mode that is set touches no other. A case asks, and prints "class/case/question answer":
// an error as its number, a pointer by what it points to. CONFORMANCE_JOBS says how many cases run side by side.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#ifndef CONFORMANCE_CLASS
#error "define CONFORMANCE_CLASS, the first part of each line's name"
#endif

inline std::string& CaseName() {
  static std::string name;
  return name;
}

// A text made as by printf.
inline std::string F(const char* format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

inline void Say(const std::string& name, const std::string& value) {
  std::string key = name;  // without blanks, which end it
  for (char& c : key) c = c == ' ' ? '_' : c;
  std::printf("%s/%s/%s %s\n", CONFORMANCE_CLASS, CaseName().c_str(), key.c_str(), value.c_str());
  std::fflush(stdout);
}
inline void Say(const std::string& name, const char* value) {
  Say(name, std::string(value == nullptr ? "null" : value));
}
inline void Say(const std::string& name, bool value) { Say(name, value ? "yes" : "no"); }
inline void Say(const std::string& name, double value) { Say(name, F("%.9g", value)); }
inline void Say(const std::string& name, long long value) { Say(name, F("%lld", value)); }
inline void Say(const std::string& name, unsigned long long value) { Say(name, F("%llu", value)); }
inline void Say(const std::string& name, int value) { Say(name, static_cast<long long>(value)); }
inline void Say(const std::string& name, unsigned value) { Say(name, static_cast<long long>(value)); }
inline void Say(const std::string& name, long value) { Say(name, static_cast<long long>(value)); }
inline void Say(const std::string& name, unsigned long value) { Say(name, static_cast<unsigned long long>(value)); }
inline void Say(const std::string& name, CUresult result) { Say(name, static_cast<int>(result)); }
// Takes the runtime's last error, so that it is not the next question's.
inline void Say(const std::string& name, cudaError_t error) {
  Say(name, static_cast<int>(error));
  cudaGetLastError();
}

// "null", "p", "p+4" within a megabyte; "other".
inline std::string Relative(const void* value, const void* to) {
  if (value == nullptr) return "null";
  const long long distance = static_cast<const char*>(value) - static_cast<const char*>(to);
  if (distance == 0) return "p";
  return std::llabs(distance) < (1 << 20) ? F("p%+lld", distance) : "other";
}
inline std::string Relative(CUdeviceptr value, const void* to) {
  return Relative(reinterpret_cast<const void*>(value), to);
}
inline CUdeviceptr Dev(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
template <typename T>
std::string IsSet(T handle) {
  return handle == T{} ? "null" : "set";
}

struct Cases {
  std::vector<std::pair<std::string, std::function<void()>>> all;
  void operator()(std::string name, std::function<void()> body) { all.emplace_back(std::move(name), std::move(body)); }

  int Run(int argc, char** argv) {
    const char* const wanted = std::getenv("CONFORMANCE_JOBS");
    const unsigned jobs = wanted != nullptr ? std::atoi(wanted) : 2;
    constexpr unsigned kSeconds = 60;
    std::vector<std::FILE*> outputs(all.size());
    std::map<pid_t, size_t> running;
    size_t next = 0, told = 0;
    std::vector<bool> done(all.size());
    while (told < all.size()) {
      while (next < all.size() && running.size() < jobs) {
        if (argc > 1 && all[next].first.find(argv[1]) == std::string::npos) {
          done[next++] = true;
          continue;
        }
        outputs[next] = std::tmpfile();
        std::fflush(nullptr);  // or the child would write it again
        const pid_t child = fork();
        if (child == 0) {
          dup2(fileno(outputs[next]), STDOUT_FILENO);
          alarm(kSeconds);
          CaseName() = all[next].first;
          all[next].second();
          std::fflush(nullptr);
          _exit(0);
        }
        running[child] = next++;
      }
      if (!running.empty()) {
        int status = 0;
        const pid_t ended = wait(&status);
        const size_t which = running[ended];
        running.erase(ended);
        done[which] = true;
        std::fseek(outputs[which], 0, SEEK_END);
        if (WIFSIGNALED(status)) {
          std::fprintf(outputs[which], "%s/%s/end signal %d\n", CONFORMANCE_CLASS, all[which].first.c_str(),
                       WTERMSIG(status));
        }
      }
      for (; told < all.size() && done[told]; ++told) {
        if (outputs[told] == nullptr) continue;
        std::rewind(outputs[told]);
        char buffer[4096];
        for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, outputs[told])) > 0;)
          std::fwrite(buffer, 1, n, stdout);
        std::fclose(outputs[told]);
      }
    }
    return 0;
  }
};

// What a random program draws: numbers, and values that have a name. `said` keeps what was drawn for the question's name.
struct Draws {
  explicit Draws(unsigned long long start) : state(start) {}
  unsigned Next(unsigned n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<unsigned>(state >> 33) % n;
  }
  template <typename T>
  T Of(const std::vector<std::pair<std::string, T>>& list) {
    const auto& [name, value] = list[Next(static_cast<unsigned>(list.size()))];
    said += "," + name;
    return value;
  }
  long long One(std::initializer_list<long long> list) {
    const long long value = list.begin()[Next(static_cast<unsigned>(list.size()))];
    said += F(",%lld", value);
    return value;
  }
  char* P() { return Of(pointers); }
  CUdeviceptr D() { return Dev(P()); }

  unsigned long long state;
  std::string said;
  std::vector<std::pair<std::string, char*>> pointers;
};

// A call of a random program, made in its World, and what it answers.
#define CALL(name, ...)                             \
  {name, [](World& w) -> std::string {              \
     (void)w;                                       \
     return F("%d", static_cast<int>(__VA_ARGS__)); \
   }}
#define TOLD(name, ...)                \
  {name, [](World& w) -> std::string { \
     (void)w;                          \
     __VA_ARGS__                       \
   }}
// An error and a value that a call wrote.
#define VALUE(name, type, shown, call)     \
  {name, [](World& w) -> std::string {     \
     (void)w;                              \
     type v{};                             \
     const int e = static_cast<int>(call); \
     return F("%d " shown, e, v);          \
   }}

// Makes calls at random, and says what each answers.
template <typename World>
void AskAtRandom(World& w, const std::vector<std::pair<const char*, std::string (*)(World&)>>& calls,
                 const std::string& start) {
  constexpr int kSteps = 40;
  for (int step = 0; step < kSteps; ++step) {
    const auto& [name, call] = calls[w.Next(static_cast<unsigned>(calls.size()))];
    w.said.clear();
    const std::string answer = call(w);
    Say(F("%s%02d_%s%s", start.c_str(), step, name, w.said.c_str()), answer);
  }
}

// The seeds of random programs: the first ones, or those that CONFORMANCE_SEEDS gives, "100-131".
inline std::vector<unsigned> Seeds(unsigned count) {
  const char* const wanted = std::getenv("CONFORMANCE_SEEDS");
  unsigned first = 0, last = count - 1;
  if (wanted != nullptr) std::sscanf(wanted, "%u-%u", &first, &last);
  std::vector<unsigned> seeds;
  for (unsigned seed = first; seed <= last; ++seed) seeds.push_back(seed);
  return seeds;
}

// Whether work has ended by now is a matter of time: an error that says so counts as none.
template <typename Error>
int Untimed(Error error) {
  return static_cast<int>(error) == CUDA_ERROR_NOT_READY ? 0 : static_cast<int>(error);
}

// The driver ready, with the primary context current.
inline void Start() {
  cudaFree(nullptr);
  cudaGetLastError();
}
