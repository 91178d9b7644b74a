// Explains wrong results, faults or calls of assignment 12.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/input/oracle.h"
#include "judge/model/stream_timeline.h"
#include "judge/model/text.h"
#include "judge/run/call.h"
#include "judge/suite/buffer_check.h"
#include "judge/suite/host_call.h"
#include "vgpu/model/profile.h"

namespace lockstep::suites {

// Functions that messages list although they make no request to the device.
inline const std::vector<std::string> kShownFunctions = {
    "cudaMallocHost",        "cudaFreeHost",         "cudaStreamCreate",   "cudaStreamSynchronize",
    "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaStreamWaitEvent"};

inline constexpr const char* kHeldHint =
    "memory is freed when nothing refers to it any more: keep no array in a global variable, nor in an object that "
    "outlives the call";

inline int NumberOf(const std::string& rung) { return rung.at(std::string("python").size()) - '0'; }

inline bool IsGiven(std::string_view kernel) {
  return kernel == "circular_shift" || kernel == "block_sums" || kernel == "subtract";
}

// Whether the device was not used at all.
inline bool DidNothing(const judge::CallReport& report) {
  return report.outcome == worker::Outcome::kReturned &&
         std::all_of(report.trace.begin(), report.trace.end(),
                     [](const worker::ApiCall& call) { return call.kind == worker::ApiKind::kOther; });
}

// Hints for faults that are more specific than the fault's own.
inline void ExplainFaults(std::vector<judge::Problem>& problems) {
  for (judge::Problem& problem : problems) {
    if (!problem.finding) continue;
    const bool shared = problem.finding->memory && problem.finding->memory->space == vgpu::MemorySpace::kShared;
    if (problem.finding->kind == vgpu::FindingKind::kTimeout) {
      problem.hint = "the kernels are right: how many blocks does a launch have, and how often is it made?";
    } else if (shared) {
      problem.hint =
          "the kernel's shared memory is as large as the launch says: shared_size counts bytes, and there is "
          "an int of 4 bytes for each thread of a block";
    } else if (problem.finding->kind == vgpu::FindingKind::kRace) {
      problem.hint = !problem.finding->first.operation.empty()
                         ? "nothing orders these two streams: put both operations into one, or record an event after "
                           "the first, and let the other stream wait_for_event()"
                         : "blocks run in any order: the array that a launch writes is not the one that it reads";
    } else if (problem.finding->kernel == "circular_shift" &&
               problem.finding->kind == vgpu::FindingKind::kOutOfBounds) {
      problem.hint =
          "circular_shift takes the places from 0 to n - 1, so shift % n, and then reads d_in[i + places] or "
          "d_in[i + places - n]: are n and the places those of this array?";
    } else if (problem.finding->kernel == "block_sums" && problem.finding->kind == vgpu::FindingKind::kOutOfBounds &&
               problem.finding->first.access == vgpu::AccessKind::kStore) {
      problem.hint =
          "each block stores a sum of its own: those of several blocks go to an array with an element for each, "
          "which the next launch adds up; d_sum takes the last one's";
    } else if (problem.finding->kernel == "subtract" && problem.finding->kind == vgpu::FindingKind::kOutOfBounds) {
      problem.hint = "the launch is given more elements than the chunk has: the last chunk is what is left";
    } else {
      problem.hint =
          "the kernels are right: look at the arrays and the numbers that this launch is given, and at their order";
    }
  }
}

inline judge::HintText ExplainCopy(const std::vector<int32_t>& out, const judge::CallReport& report) {
  const int32_t poison = judge::DeviceArray<int32_t>::FillValue();
  if (!report.observed) return "";
  if (report.api.copies_to_host == 0) {
    return {"nothing was copied to h_out: memcpy_dtoh(h_out, …), or get(h_out)", {"function", {"memcpy_dtoh"}}};
  }
  if (out.back() == poison) return "a part of h_out was not written: a copy to the host has the size of its array";
  if (report.api.copies_to_device == 0) return "what came back was never copied to the device: copy h_in there first";
  if (report.api.copies_on_device == 0) return "h_in went to one array, and another one came back";
  return "look at the calls in order: which array does each copy read, and which does it write?";
}

// The shift modulo n, from 0 to n - 1.
inline uint64_t PlacesOf(uint64_t n, int64_t shift) {
  const auto length = static_cast<int64_t>(n);
  return n == 0 ? 0 : static_cast<uint64_t>((shift % length + length) % length);
}

inline std::optional<judge::Problem> CheckShift(const judge::CallContext& context, const judge::CallReport& report,
                                                std::span<const int32_t> in, std::span<const int32_t> out,
                                                int64_t shift) {
  const uint64_t n = in.size(), places = PlacesOf(n, shift);
  const auto is_shifted_by = [&](uint64_t by) {
    for (uint64_t i = 0; i < n; ++i) {
      if (out[i] != in[(i + by) % n]) return false;
    }
    return true;
  };
  const bool launched = !report.observed || !report.launches.empty();
  if (is_shifted_by(places)) {
    // A shift by nothing is a copy.
    return launched || places == 0 ? std::nullopt : std::optional(judge::NoKernelProblem(context));
  }
  const int32_t poison = judge::DeviceArray<int32_t>::FillValue();
  const auto written =
      static_cast<uint64_t>(std::count_if(out.begin(), out.end(), [&](int32_t v) { return v != poison; }));
  if (written == 0 && !launched) return judge::UnfinishedProblem(context);
  uint64_t at = 0;
  while (out[at] == in[(at + places) % n]) ++at;
  judge::HintText hint = "look at what places and n the kernel is given, and at the order of the arguments";
  if (written == 0) {
    hint = "no thread stored anything: is n given where the kernel takes n?";
  } else if (out[at] == poison && at + 1 < n) {
    hint = {"the elements from " + judge::Grouped(at) + " on were not written: round the number of blocks up",
            {"blocks"}};
  } else if (is_shifted_by((n - places) % n)) {
    hint = "that is the shift to the other side: a positive shift goes toward the beginning";
  } else if (is_shifted_by(0)) {
    hint = "that is d_in unchanged: is places the shift modulo n?";
  } else if (shift < 0) {
    hint = "the shift is negative: in Python, shift % n is never negative, and in C it would be";
  }
  return judge::MakeProblem(
      judge::Verdict::kWrong, context,
      {"element " + judge::Grouped(at) + " of " + judge::Grouped(n) + " of d_out is not element " +
           judge::Grouped((at + places) % n) + " of d_in",
       {"expect", std::to_string(in[(at + places) % n])},
       {"found", (out[at] == poison ? "the old contents (nothing was written)" : std::to_string(out[at]))}},
      hint);
}

inline judge::HintText ExplainSum(std::span<const int32_t> values, int32_t found) {
  const uint64_t n = values.size();
  if (n > 1 && found == values[0]) return "that is the first element: how many threads has a block?";
  for (const uint64_t block : {32, 64, 128, 256, 512, 1024}) {
    const uint64_t whole = n / block * block;
    if (n > block && found == judge::WrappingSum(values.first(block))) {
      return "that is the sum of the first " + judge::Grouped(block) +
             " elements: does a launch have a thread for each element, and does another launch add its blocks' sums?";
    }
    if (whole < n && whole > 0 && found == judge::WrappingSum(values.first(whole))) {
      return {"the elements from " + judge::Grouped(whole) + " on are missing: round the number of blocks up",
              {"blocks"}};
    }
    const uint64_t results = (n + block - 1) / block;
    if (results > 1 && found == judge::WrappingSum(values.first(results))) {
      return "that is the sum of the first " + judge::Grouped(results) +
             " elements: the next launch has to read the blocks' sums, and not d_in again";
    }
  }
  return "each launch adds up the sums that the one before stored, one for each of its blocks; block_sums needs blocks "
         "of a power of two";
}

inline std::optional<judge::Problem> CheckSum(const judge::CallContext& context, const judge::CallReport& report,
                                              std::span<const int32_t> values, int32_t expected, int32_t found) {
  const bool launched = !report.observed || !report.launches.empty();
  const bool untouched = found == judge::DeviceArray<int32_t>::FillValue() && found != expected;
  if (found == expected) {
    return launched || values.size() < 2 ? std::nullopt : std::optional(judge::NoKernelProblem(context));
  }
  if (untouched && !launched && !values.empty()) return judge::UnfinishedProblem(context);
  judge::HintText hint = ExplainSum(values, found);
  if (untouched) {
    hint = values.empty() ? "the sum of no elements is 0: memset_d8(d_sum.gpudata, 0, d_sum.nbytes)"
                          : "nothing wrote d_sum: the last launch, of one block, has to";
  }
  return judge::MakeProblem(judge::Verdict::kWrong, context,
                            {{"expect", std::to_string(expected)},
                             {"found", (untouched ? "the old contents (nothing was written)" : std::to_string(found))}},
                            hint);
}

inline judge::HintText ExplainDifference(std::span<const int32_t> values, std::span<const int32_t> background,
                                         const std::vector<int32_t>& out, const judge::CallReport& report) {
  const int32_t poison = judge::DeviceArray<int32_t>::FillValue();
  const auto difference = [&](uint64_t i, uint64_t j) {
    return static_cast<int32_t>(static_cast<uint32_t>(values[i]) - static_cast<uint32_t>(background[j]));
  };
  uint64_t at = 0;
  while (at + 1 < out.size() && out[at] == difference(at, at)) ++at;
  if (out[at] == poison) {
    return at == 0 ? "nothing was copied to h_out: h_out[:] = … fills it, and h_out = … only gives its name to another "
                     "array"
                   : "the elements from " + judge::Grouped(at) +
                         " on were not written: "
                         "the last chunk takes all that is left";
  }
  if (judge::HasBytes(out[at], judge::kNotArrived)) {
    return {"the copy had not arrived when the host read it: synchronize each stream first", {"copied element"}};
  }
  if (out[at] == values[at]) return "these are the elements of h_in: does the kernel run on this chunk?";
  if (report.observed && report.launches.empty()) return "no kernel was launched: subtract has to";
  for (uint64_t j = 0; j < std::min<uint64_t>(background.size(), at + 1); ++j) {
    if (j != at && out[at] == difference(at, j)) {
      return "element " + judge::Grouped(at) + " had element " + judge::Grouped(j) +
             " of the background subtracted: a chunk has a part of d_background of its own";
    }
  }
  return "look at what each chunk copies, launches and copies back, and to where";
}

inline bool IsHostWait(const worker::ApiCall& call) {
  return call.function == "cudaStreamSynchronize" || call.function == "cudaDeviceSynchronize" ||
         call.function == "cudaEventSynchronize";
}

// Whether the call allocates memory, makes a stream or an event, or records one: such calls do not order chunks.
inline bool IsTaken(const worker::ApiCall& call) {
  return call.kind == worker::ApiKind::kAllocate || call.function.find("Create") != std::string::npos ||
         call.function == "cudaMallocHost" || call.function == "cudaEventRecord";
}

// Checks the chunks, the streams and the waits of rung 4.
inline std::optional<judge::Problem> CheckOverlap(const judge::CallContext& context, const judge::CallReport& report,
                                                  uint64_t bytes) {
  constexpr uint64_t kFewest = 4, kMost = 64;
  uint64_t chunks = 0, largest = 0;
  bool blocking = false, waits_for_first = false, orders = false, ordered_so_far = false, waited = false;
  std::map<std::string, uint64_t> streams;  // bytes copied in each
  std::string beside;                       // operations outside streams made by the program
  for (const worker::ApiCall& call : report.trace) {
    if (call.failed) continue;
    waits_for_first |= IsHostWait(call) && chunks == 1;
    waited |= IsHostWait(call);
    const bool is_copy = call.kind == worker::ApiKind::kHostToDevice || call.kind == worker::ApiKind::kDeviceToHost;
    ordered_so_far |= chunks > 0 && !is_copy && call.kind != worker::ApiKind::kLaunch && !IsTaken(call);
    if (call.kind == worker::ApiKind::kHostToDevice) {
      ++chunks;
      largest = std::max(largest, call.bytes);
    }
    orders |= waited && call.kind == worker::ApiKind::kDeviceToHost;
    if (!is_copy && call.kind != worker::ApiKind::kLaunch) continue;
    orders |= ordered_so_far;
    blocking |= is_copy && call.function != "cudaMemcpyAsync";
    if (call.stream.substr(0, 7) == "stream ") {
      streams[call.stream] += is_copy ? call.bytes : 0;
    } else if (beside.empty()) {
      beside = is_copy ? "a copy" : "a launch";
    }
  }
  const auto rejected = [&](const std::string& what, const judge::HintText& hint) {
    return judge::MakeProblem(judge::Verdict::kRejected, context, {"h_out is right, but " + what}, hint);
  };
  if (report.api.pinned_allocations == 0) {
    return rejected("no page-locked memory was allocated",
                    {"a copy from ordinary memory makes the host wait: pagelocked_empty(n, numpy.int32)",
                     {"function", {"pagelocked_empty"}}});
  }
  if (chunks < kFewest || chunks > kMost || 5 * largest > 2 * bytes) {
    return rejected("h_in went to the device in " + judge::Counted(chunks, "copy", "copies") + ", the largest of " +
                        judge::Counted(largest, "byte"),
                    "between 4 and 64 chunks of about the same size: while one is copied, another is computed");
  }
  if (blocking) {
    return rejected("a copy made the host wait", {"memcpy_htod_async and memcpy_dtoh_async, with the chunk's stream",
                                                  {"function", {"memcpy_htod_async", "memcpy_dtoh_async"}}});
  }
  if (!beside.empty()) {
    return rejected(beside + " is in the default stream, which waits for all others and they for it",
                    "give each copy and each launch of a chunk the chunk's stream");
  }
  constexpr const char* kTwoStreams =
      "work in one stream runs in order: use two streams, which the chunks take in turn";
  if (streams.size() < 2) {
    return rejected("everything is in one stream", kTwoStreams);
  }
  if (waits_for_first) {
    return rejected("the host waited for the first chunk before it copied the second",
                    "put all chunks into their streams, and wait at the end");
  }
  const auto busiest = std::ranges::max_element(streams, {}, [](const auto& stream) { return stream.second; });
  if (2 * busiest->second > 3 * bytes) {  // of both ways
    return rejected(
        judge::Counted(busiest->second, "byte") + " of " + judge::Grouped(2 * bytes) + " were copied in one stream",
        kTwoStreams);
  }
  if (!orders) return std::nullopt;
  // However they wait for each other, some have to overlap. Overlap is computed as for a timeline, on the course's
  // device.
  const vgpu::DeviceProfile* const device = vgpu::FindProfile("t4");
  const judge::StreamTimeline timeline = judge::MakeTimeline(report.operations, report.launches, *device);
  constexpr double kMostOfSerial = 0.9;
  const bool overlaps = timeline.timeline_us <= kMostOfSerial * timeline.serial_us;
  if (!overlaps) {
    return rejected(
        "the copies and kernels take " + std::to_string(std::lround(100 * timeline.timeline_us / timeline.serial_us)) +
            " % of what they would one after another, and at most 90 % counts",
        "a chunk's copy, launch and copy back follow one another in its stream, and wait for no other chunk");
  }
  return std::nullopt;
}

}  // namespace lockstep::suites
