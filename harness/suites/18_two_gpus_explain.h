// The right result of a call on several devices, and explanations of wrong ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "judge/model/text.h"
#include "judge/model/verdict.h"
#include "judge/suite/host_call.h"
#include "suites/18_two_gpus_fixture.h"

namespace lockstep::suites {

using Words = std::vector<uint32_t>;

inline bool IsStages(const std::string& rung) { return rung.starts_with("gpus1"); }
inline bool IsRing(const std::string& rung) { return rung.starts_with("gpus3"); }
inline bool IsField(const std::string& rung) { return !IsStages(rung) && !IsRing(rung); }

inline uint32_t Staged(uint32_t word, int stages) {
  for (int stage = 0; stage < stages; ++stage) word = word * 2654435761u + static_cast<uint32_t>(stage) + 1;
  return word;
}

// The field after a step. cuts: between the rows cut - 1 and cut nothing is exchanged; each counts the other as zeros.
inline Words Stepped(const Words& field, int width, int height, std::span<const int> cuts = {}) {
  Words next(field.size());
  const auto row = static_cast<size_t>(width);
  for (int y = 0; y < height; ++y) {
    const auto is_cut = [&](int at) { return std::ranges::find(cuts, at) != cuts.end(); };
    const bool above = y > 0 && !is_cut(y), below = y + 1 < height && !is_cut(y + 1);
    for (int x = 0; x < width; ++x) {
      const size_t at = static_cast<size_t>(y) * row + static_cast<size_t>(x);
      next[at] = field[at] + (above ? field[at - row] : 0) + (below ? field[at + row] : 0) +
                 (x > 0 ? field[at - 1] : 0) + (x + 1 < width ? field[at + 1] : 0);
    }
  }
  return next;
}

// The sum of all devices' rows at one place, with device d's row times[d] times.
inline uint32_t SumAt(const Task& task, const Words& words, uint64_t at, std::span<const uint32_t> times) {
  uint32_t sum = 0;
  for (size_t d = 0; d < times.size(); ++d) sum += times[d] * words[d * task.n + at];
  return sum;
}

inline Words Expected(const std::string& rung, const Task& task, const Words& words) {
  Words expected(words.size());
  if (IsStages(rung)) {
    std::ranges::transform(words, expected.begin(), [&](uint32_t word) { return Staged(word, task.devices); });
  } else if (IsRing(rung)) {
    const std::vector<uint32_t> once(static_cast<size_t>(task.devices), 1);
    for (uint64_t i = 0; i < words.size(); ++i) expected[i] = SumAt(task, words, i % task.n, once);
  } else {
    expected = words;
    for (int k = 0; k < task.steps; ++k) expected = Stepped(expected, task.width, task.height);
  }
  return expected;
}

// A hint for a kernel's fault; else "".
inline std::string HintOfFault(const judge::Problem& problem) {
  if (!problem.finding || !problem.finding->memory) return "";
  const auto& memory = *problem.finding->memory;
  const bool inside = memory.in_buffer && memory.address >= memory.buffer_base &&
                      memory.address - memory.buffer_base < memory.buffer_bytes;
  switch (problem.finding->kind) {
    case vgpu::FindingKind::kOutOfBounds:
    case vgpu::FindingKind::kInvalidAddress:
      return inside
                 ? "a kernel reaches the memory of the device that it runs on, and no other: copy to it what it needs "
                   "(cudaMemcpyPeerAsync), and launch with that device current"
                 : "";
    case vgpu::FindingKind::kRace:
      if (problem.finding->first.operation.starts_with("cudaMemcpy") && problem.finding->second &&
          problem.finding->second->operation.starts_with("cudaMemcpy")) {
        return "one copy takes what another brings: a device sends its own rows or sums, and not its copies of others'. "
               "Where it passes on what has arrived, its stream waits for that copy's event (cudaStreamWaitEvent)";
      }
      return "streams of different devices wait for nothing by themselves: record an event after the one "
             "(cudaEventRecord), and let the other's stream wait for it (cudaStreamWaitEvent)";
    case vgpu::FindingKind::kUninitialized:
      return "nothing was stored there: has the neighbour's row arrived, and do the rows outside of the field hold zeros?";
    default:
      return "";
  }
}

inline std::string HintOfField(const Task& task, const Words& words, const Words& found) {
  std::vector<int> cuts;
  for (int d = 1; d < task.devices; ++d) cuts.push_back(static_cast<int>(int64_t{task.height} * d / task.devices));
  Words whole = words, apart = words;
  for (int k = 0; k <= task.steps + 1; ++k) {
    if (found == whole) return "this is the field after " + judge::Counted(static_cast<uint64_t>(k), "step");
    if (k > 0 && found == apart) return "each device computes as if it were alone: no row went to a neighbour";
    whole = Stepped(whole, task.width, task.height);
    apart = Stepped(apart, task.width, task.height, cuts);
  }
  return "do the rows at a part's ends go to both neighbours in every step, and do all rows belong to a part?";
}

inline std::string HintOfRing(const Task& task, const Words& words, const Words& found, uint64_t wrong) {
  for (int times = 0; times <= 2; times += 2) {
    for (int row = 0; row < task.devices; ++row) {
      std::vector<uint32_t> each(static_cast<size_t>(task.devices), 1);
      each[static_cast<size_t>(row)] = static_cast<uint32_t>(times);
      if (SumAt(task, words, wrong % task.n, each) != found[wrong]) continue;
      return "in this sum row " + std::to_string(row) + (times == 0 ? " is missing" : " is added twice") +
             ": a segment goes round devices - 1 times to be added up, and as often to be copied";
    }
  }
  return "do all devices agree where a segment begins and ends, and which one is sent in which round?";
}

// A hint for a result whose first wrong place is this one.
inline std::string HintOfResult(const std::string& rung, const Task& task, const Words& words, const Words& found,
                                uint64_t wrong) {
  if (judge::HasBytes(found[wrong], judge::kPoisonByte)) {
    return wrong == 0 ? "nothing was copied to h_out" : "nothing was copied there: do the parts cover all of h_out?";
  }
  if (judge::HasBytes(found[wrong], judge::kNotArrived)) {
    return "bytes 0xd7 mean that a copy has not arrived: wait for its stream before you read the page-locked buffer";
  }
  if (IsField(rung)) return HintOfField(task, words, found);
  if (IsRing(rung)) return HintOfRing(task, words, found, wrong);
  for (int stages = 0; stages < task.devices; ++stages) {
    if (found[wrong] == Staged(words[wrong], stages)) {
      return "this is the word after " + judge::Counted(static_cast<uint64_t>(stages), "stage");
    }
  }
  return "device s makes stage s, counted from 0, with the results of the stage before";
}

}  // namespace lockstep::suites
