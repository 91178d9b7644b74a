// The common part of the corpus's programs. A program is a list of cases; each runs in a separate process, so that a
// lost context or a changed mode affects no other. A case makes queries, and prints "class/case/question answer": an
// error as its number, a pointer by what it points to. CONFORMANCE_JOBS is the number of concurrent cases.
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

// Formats like printf.
inline std::string F(const char* format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

inline void Say(const std::string& name, const std::string& value) {
  std::string key = name;  // without blanks, which would end it
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
// Clears the runtime's last error, so that it does not affect the next question.
inline void Say(const std::string& name, cudaError_t error) {
  Say(name, static_cast<int>(error));
  cudaGetLastError();
}

// "null", "p", "p+4" within a megabyte; else "other".
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
        std::fflush(nullptr);  // or the child would print it again
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

void AddCases(Cases& cases);  // a program's

int main(int argc, char** argv) {
  Cases cases;
  AddCases(cases);
  return cases.Run(argc, argv);
}

// Random choices of a program: numbers, and named values. `said` collects the choices for the question's name.
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

// A call that writes to `out`, a variable of this type.
#define OUT(type, ...)    \
  [&] {                   \
    type out{};           \
    return (__VA_ARGS__); \
  }()

// A call of a random program in its World, and its answer.
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
// An error, and a value that a call wrote.
#define VALUE(name, type, shown, call)     \
  {name, [](World& w) -> std::string {     \
     (void)w;                              \
     type v{};                             \
     const int e = static_cast<int>(call); \
     return F("%d " shown, e, v);          \
   }}

// Makes random calls, and prints each answer.
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

// The seeds of random programs: the first ones, or those in CONFORMANCE_SEEDS, "100-131".
inline std::vector<unsigned> Seeds(unsigned count) {
  const char* const wanted = std::getenv("CONFORMANCE_SEEDS");
  unsigned first = 0, last = count - 1;
  if (wanted != nullptr) std::sscanf(wanted, "%u-%u", &first, &last);
  std::vector<unsigned> seeds;
  for (unsigned seed = first; seed <= last; ++seed) seeds.push_back(seed);
  return seeds;
}

// Whether work has ended depends on timing: "not ready" counts as no error.
template <typename Error>
int Untimed(Error error) {
  return static_cast<int>(error) == CUDA_ERROR_NOT_READY ? 0 : static_cast<int>(error);
}

// Initialises the driver and makes the primary context current.
inline void Start() {
  cudaFree(nullptr);
  cudaGetLastError();
}
