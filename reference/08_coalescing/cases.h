// What the tests of assignment 08 ask, and the answers: sectors as the virtual GPU's counters have them, transactions
// by the rules of compute capability 1.0. Students get the public suite's table instead.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "judge/input/inputs.h"
#include "suites/08_coalescing_case.h"
#include "vgpu/memory/coalescing.h"

namespace lockstep::suites {

inline constexpr unsigned kAll = ~0u;

inline uint64_t AddressOf(const WarpRequest& request, int thread) {
  return static_cast<uint64_t>(request.first + static_cast<long long>(request.stride) * (thread ^ request.swap));
}

// Threads begin to begin + 15: one transaction if each active one has its own word of an aligned segment of 16.
inline int TransactionsOfHalf(const WarpRequest& request, int begin) {
  int active = 0;
  bool obeys = true;
  uint64_t segment = 0;
  for (int k = 0; k < 16; ++k) {
    if ((request.active >> (begin + k) & 1) == 0) continue;
    const uint64_t own = AddressOf(request, begin + k) - static_cast<uint64_t>(k * request.bytes);
    if (active++ == 0) segment = own;
    obeys = obeys && own == segment && own % static_cast<uint64_t>(16 * request.bytes) == 0;
  }
  return obeys ? std::min(active, 1) : active;
}

inline PredictionCase Answered(const WarpRequest& request) {
  uint64_t address[vgpu::kWarpSize];
  for (int t = 0; t < vgpu::kWarpSize; ++t) address[t] = AddressOf(request, t);
  return {request, static_cast<int>(vgpu::CountSectors(address, request.active, request.bytes)),
          TransactionsOfHalf(request, 0) + TransactionsOfHalf(request, 16)};
}

// The questions of a test that are always the same.
inline std::vector<WarpRequest> FixedRequests(const std::string& test) {
  std::vector<WarpRequest> requests;
  const auto ask = [&](long long first, int stride, int bytes, int swap = 0, unsigned active = kAll) {
    requests.push_back({first, stride, bytes, swap, active});
  };
  // Every test begins with the plainest request of all.
  ask(0, 4, 4);
  if (test == "PredictsThePatterns") {
    ask(4 * kOffset, 4, 4);
    ask(0, 4 * kStride, 4);
    ask(0, 4, 4, 1);
    for (const int component : {0, 4, 8}) ask(component, 12, 4);
    ask(128, 4, 4);
    ask(0, 8, 8);
    ask(0, 16, 16);
  } else if (test == "PredictsAnyOffset") {
    for (int words = 1; words <= 33; ++words) ask(4 * words, 4, 4);
    for (const int words : {1, 2, 3, 4, 5, 16, 17}) ask(8 * words, 8, 8);
    for (const int words : {1, 2, 3, 8, 16}) ask(16 * words, 16, 16);
  } else if (test == "PredictsAnyStride") {
    for (const int words : {0, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 33, 1024}) ask(0, 4 * words, 4);
    for (const int words : {2, 3, 5}) ask(20, 4 * words, 4);
    for (const int words : {0, 2, 3, 4, 7}) ask(64, 8 * words, 8);
    for (const int words : {0, 2, 3, 16}) ask(256, 16 * words, 16);
    for (const int words : {-1, -2, -3, -8, -33}) ask(8192, 4 * words, 4);
  } else if (test == "PredictsIdleThreads") {
    for (const unsigned active : {0x1u, 0x80000000u, 0xffffu, 0xffff0000u, 0x55555555u, 0xaaaaaaaau, 0x11111111u,
                                  0x80000001u, 0x00018000u, 0x0000ff00u, 0x7fffffffu, 0xfffffffeu}) {
      ask(0, 4, 4, 0, active);
      ask(12, 4, 4, 0, active);
      ask(0, 12, 4, 0, active);
    }
    ask(4, 4, 4, 0, 0xfffe0000u);
  } else if (test == "PredictsAnyOrder") {
    for (const int swap : {1, 2, 7, 8, 15, 16, 17, 31}) {
      ask(0, 4, 4, swap);
      ask(8, 4, 4, swap);
      ask(0, 12, 4, swap);
      ask(0, 8, 8, swap);
    }
    ask(64, 4, 4, 16);
    ask(0, 4, 4, 1, 0x00010001u);
    ask(0, 4, 4, 16, 0x0000ffffu);
    // Idle threads: which places are left out depends on the order.
    ask(28, 4, 4, 2, 0x3u);
    ask(56, 8, 8, 6, 0x30003u);
    ask(0, 20, 4, 5, 0x01010101u);
  } else {
    ask(64, 4, 4, 0, 0xffffu);
    ask(32, 4, 4, 0, 0xffff0000u);
    ask(96, 8, 8, 3, 0x0ff00ff0u);
    ask((1ll << 33) + 4, 4, 4);  // past 32 bits
    ask((1ll << 33), 1 << 28, 4);
    ask(0, 0, 4, 0, 0x00010001u);
    ask(0, 0, 8);
  }
  return requests;
}

// A random question of the test's kind, which nobody can know beforehand.
inline WarpRequest RandomRequest(const std::string& test, judge::Random& random) {
  const auto between = [&](int low, int high) { return static_cast<int>(random.Between(low, high)); };
  WarpRequest request{0, 4, 4, 0, kAll};
  if (test == "PredictsThePatterns") {
    request.first = 128ll * between(0, 1000);
    const int kind = between(0, 4);
    if (kind == 1) request.first += 4;
    if (kind == 2) request.stride = 4 * static_cast<int>(kStride);
    if (kind == 3) request.swap = 1;
    if (kind == 4) request.stride = 12, request.first += 4ll * between(0, 2);
    return request;
  }
  request.bytes = 4 << between(0, 2);
  request.stride = request.bytes;
  request.first = static_cast<long long>(request.bytes) * between(0, 5000);
  const bool anything = test == "PredictsAnyRequest";
  if (test == "PredictsAnyStride" || (anything && between(0, 2) > 0)) {
    request.stride = request.bytes * between(-9, 40);
    request.first += 1 << 20;
  }
  if (test == "PredictsIdleThreads" || anything) {
    request.active = static_cast<unsigned>(random.Between(1, kAll));
    if (between(0, 1) == 0) request.active |= static_cast<unsigned>(random.Between(1, kAll));
    if (between(0, 3) == 0) request.active &= between(0, 1) == 0 ? 0x0000ffffu : 0xffff0000u;
    if (request.active == 0) request.active = 1;
    if (between(0, 2) == 0) request.first = request.first / 256 * 256;
  }
  if (test == "PredictsAnyOrder" || (anything && between(0, 1) == 0)) {
    request.swap = between(0, 31);
    if (!anything && between(0, 1) == 0) request.active = static_cast<unsigned>(random.Between(1, kAll));
    if (between(0, 2) == 0) request.first = request.first / 256 * 256;
  }
  return request;
}

inline std::vector<PredictionCase> MakeCases(const std::string& test, const judge::SeedKey& seed, int random_ones) {
  std::vector<PredictionCase> cases;
  for (const WarpRequest& request : FixedRequests(test)) cases.push_back(Answered(request));
  judge::Random random(seed);
  for (int k = 0; k < random_ones; ++k) cases.push_back(Answered(RandomRequest(test, random)));
  return cases;
}

}  // namespace lockstep::suites
