// Direction vectors for programs whose kernels make Sobol' sequences of their own. NVIDIA's tables have 20000
// dimensions and programs know that, ours have fewer: the rest of a table is memory that can't be read, and a read of
// it says what is missing before it ends the program.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string_view>

#include "libraries/rand/kept.h"

namespace lockstep::libraries {

namespace {

constexpr size_t kNvidiasDimensions = 20000;

std::array<const char*, 2> tables = {};  // of 32 and 64 bits
constexpr size_t BytesOfTable(size_t table) { return kNvidiasDimensions * (table == 0 ? 32 * 4 : 64 * 8); }

struct sigaction handler_before;

void OnFault(int, siginfo_t* info, void*) {
  const auto* const address = static_cast<const char*>(info->si_addr);
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i] == nullptr || address < tables[i] || address >= tables[i] + BytesOfTable(i)) continue;
    constexpr std::string_view kMessage =
        "lockstep: the virtual GPU does not support direction vectors of more than 1024 dimensions of cuRAND's host "
        "API, and the program reads those of more\n";
    static_cast<void>(!::write(STDERR_FILENO, kMessage.data(), kMessage.size()));
  }
  // The access is made again, and ends the program as other faults do.
  ::sigaction(SIGSEGV, &handler_before, nullptr);
}

void WatchFaults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGSEGV, &action, &handler_before);
  });
}

// The table that starts at the first of its elements, nullptr where there is no memory for it.
template <typename Element, uint32_t kBits>
Element* MakeTable() {
  constexpr size_t kTable = kBits == 32 ? 0 : 1;
  static_assert(BytesOfTable(kTable) == kNvidiasDimensions * kBits * sizeof(Element));
  void* const memory = ::mmap(nullptr, BytesOfTable(kTable), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const size_t readable = SobolDimensions() * kBits * sizeof(Element);  // whole pages
  if (memory == MAP_FAILED || ::mprotect(memory, readable, PROT_READ | PROT_WRITE) != 0) return nullptr;
  auto* next = static_cast<Element*>(memory);
  for (uint32_t dimension = 0; dimension < SobolDimensions(); ++dimension) {
    for (const uint64_t direction : SobolDirections(dimension, kBits)) *next++ = static_cast<Element>(direction);
  }
  tables[kTable] = static_cast<const char*>(memory);
  WatchFaults();
  return static_cast<Element*>(memory);
}

template <typename Element, uint32_t kBits>
curandStatus_t GetVectors(const char* function, Element (**vectors)[kBits], curandDirectionVectorSet_t set,
                          curandDirectionVectorSet_t plain, curandDirectionVectorSet_t scrambled) {
  if (set == scrambled) {
    using Get = curandStatus_t (*)(Element(**)[kBits], curandDirectionVectorSet_t);
    const auto kept = reinterpret_cast<Get>(KeptFunction(function));
    return kept != nullptr ? kept(vectors, set) : Refuse(function, "scrambled direction vectors");
  }
  if (set != plain) return CURAND_STATUS_OUT_OF_RANGE;
  static Element* const table = MakeTable<Element, kBits>();
  if (table == nullptr) return CURAND_STATUS_ALLOCATION_FAILED;
  *vectors = reinterpret_cast<Element(*)[kBits]>(table);
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

}  // namespace lockstep::libraries

using namespace lockstep::libraries;

extern "C" {

curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t** vectors, curandDirectionVectorSet_t set) {
  return GetVectors<unsigned int, 32>("curandGetDirectionVectors32", vectors, set, CURAND_DIRECTION_VECTORS_32_JOEKUO6,
                                      CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6);
}
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t** vectors, curandDirectionVectorSet_t set) {
  return GetVectors<unsigned long long, 64>("curandGetDirectionVectors64", vectors, set,
                                            CURAND_DIRECTION_VECTORS_64_JOEKUO6,
                                            CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6);
}
curandStatus_t curandGetScrambleConstants32(unsigned int** constants) {
  const auto kept = reinterpret_cast<decltype(&curandGetScrambleConstants32)>(KeptFunction(__func__));
  return kept != nullptr ? kept(constants) : Refuse(__func__, "scramble constants");
}
curandStatus_t curandGetScrambleConstants64(unsigned long long** constants) {
  const auto kept = reinterpret_cast<decltype(&curandGetScrambleConstants64)>(KeptFunction(__func__));
  return kept != nullptr ? kept(constants) : Refuse(__func__, "scramble constants");
}

}  // extern "C"
