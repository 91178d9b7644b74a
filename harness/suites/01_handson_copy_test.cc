// Assignment 01, copying: the tests that students have.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "judge/run/failure.h"
#include "judge/run/kernel_work.h"
#include "judge/suite/buffer_check.h"
#include "judge/suite/host_call.h"
#include "judge/suite/main.h"
#include "suites/01_handson_copy_fixture.h"

namespace lockstep::suites {
namespace {

using worker::ApiCall;
using worker::ApiKind;
using worker::StreamedKind;

// The values of cudaError_t that the tests cause.
constexpr int64_t kSuccess = 0, kInvalidValue = 1, kMemoryAllocation = 2;

using judge::ErrorText;

// The functions that allocate and free page-locked memory.
const std::vector<std::string> kPinnedFunctions = {"cudaMallocHost", "cudaHostAlloc", "cudaHostRegister",
                                                   "cudaFreeHost", "cudaHostUnregister"};

std::vector<Problem> WithCalls(std::vector<Problem> problems, const CallReport& report) {
  if (report.observed) judge::AddCalls(problems, report.trace, kPinnedFunctions);
  return problems;
}

const ApiCall* FindCall(const CallReport& report, ApiKind kind) {
  const auto found = std::find_if(report.trace.begin(), report.trace.end(),
                                  [&](const ApiCall& call) { return call.kind == kind && !call.failed; });
  return found == report.trace.end() ? nullptr : &*found;
}

// A copy whose number of bytes is not the array's.
const ApiCall* FindCopyOfOtherSize(const CallReport& report, uint64_t bytes) {
  const auto found = std::find_if(report.trace.begin(), report.trace.end(), [&](const ApiCall& call) {
    const bool copies = call.kind == ApiKind::kHostToDevice || call.kind == ApiKind::kDeviceToDevice ||
                        call.kind == ApiKind::kDeviceToHost;
    return copies && !call.failed && call.bytes != bytes;
  });
  return found == report.trace.end() ? nullptr : &*found;
}

std::string ExplainSize(uint64_t bytes, uint64_t n) {
  const std::string moved = "a copy moved " + Grouped(bytes) + " bytes";
  if (bytes == n) return moved + ": cudaMemcpy counts bytes, and n ints are n * sizeof(int) bytes";
  if (bytes == sizeof(void*) || bytes == n * sizeof(void*)) {
    return moved + ": sizeof of a pointer is the size of the pointer, not of what it points to";
  }
  return moved + ", and n ints are " + Grouped(n * sizeof(int32_t)) + ": do the copies move them all?";
}

// Explains wrong contents of h_out.
std::string Explain(const std::vector<int32_t>& values, const std::vector<int32_t>& found, const CallReport& report) {
  const int32_t poison = judge::DeviceArray<int32_t>::FillValue();
  const uint64_t n = values.size();
  const auto right = static_cast<uint64_t>(
      std::mismatch(values.begin(), values.end(), found.begin(), found.end()).first - values.begin());
  const bool rest_untouched =
      std::all_of(found.begin() + static_cast<int64_t>(right), found.end(), [&](int32_t v) { return v == poison; });
  if (right == 0 && rest_untouched)
    return "nothing was copied to h_out: cudaMemcpy(h_out, …, bytes, cudaMemcpyDeviceToHost)";
  if (const ApiCall* copy = FindCopyOfOtherSize(report, n * sizeof(int32_t))) return ExplainSize(copy->bytes, n);
  if (right > 0 && rest_untouched)
    return "the first " + Grouped(right) + " of " + Grouped(n) +
           " ints arrived: is n * sizeof(int) the size of each copy?";
  const ApiCall* to_device = FindCall(report, ApiKind::kHostToDevice);
  const ApiCall* on_device = FindCall(report, ApiKind::kDeviceToDevice);
  const ApiCall* to_host = FindCall(report, ApiKind::kDeviceToHost);
  if (!report.observed) return "";
  if (to_host == nullptr)
    return "this call copied nothing from the device to the host: what it wrote to h_out came from another call";
  if (to_device == nullptr) return "what came back was never copied to the device: copy h_in there first";
  if (to_host < to_device) return "the copy to the host was made before the copy to the device";
  if (on_device != nullptr && on_device < to_device) return "a_d was copied to b_d before h_in was copied to a_d";
  if (on_device == nullptr && to_host->address != to_device->address) {
    return "h_in was copied to one buffer, and another one was copied to the host: nothing was copied between the two";
  }
  if (on_device != nullptr && on_device->from != to_device->address) {
    return "the copy at " + judge::SiteText(on_device->call_site) +
           " reads another buffer than the one that h_in was copied to: " + on_device->function +
           " takes the destination first, then the source";
  }
  if (on_device != nullptr && to_host->address != on_device->address) {
    return "the copy at " + judge::SiteText(to_host->call_site) + " reads another buffer than the one that " +
           judge::SiteText(on_device->call_site) + " has written";
  }
  return "look at the calls in order: which buffer does each copy read, and which does it write?";
}

judge::HintText ApiHint(const CallReport& report, const CallContext& context, int64_t error = kSuccess) {
  const judge::HintText hint = judge::FirstFailure(report, context).hint;
  return hint.empty() ? judge::HintOfReturned(error) : hint;
}

// Checks that h_out is right, and that the ints went through the device.
void CheckCopy(const CallContext& context, const CallReport& report, const std::vector<int32_t>& values,
               const std::vector<int32_t>& found, std::vector<Problem>& problems) {
  if (const auto mismatch = judge::CompareExact<int32_t>(values, found)) {
    problems.push_back(MakeProblem(Verdict::kWrong, context,
                                   {"h_out: " + judge::MismatchText(*mismatch, values.size())},
                                   Explain(values, found, report)));
    return;
  }
  const uint64_t bytes = values.size() * sizeof(int32_t);
  if (!report.observed) return;
  if (report.api.bytes_to_device >= bytes && report.api.bytes_to_host >= bytes) {
    judge::CheckCameFromDevice(report, context, report.arrays.at(1), "h_out", false, problems);
    return;
  }
  problems.push_back(
      MakeProblem(Verdict::kRejected, context,
                  {"h_out is right, but its " + Grouped(bytes) + " bytes did not go to the device and back"},
                  "a memcpy on the host does not count: the ints must go through a buffer from cudaMalloc"));
}

// Whether all copies to the device went to buffers that the call itself allocated.
bool CopiesToAllocation(const CallReport& report) {
  return std::none_of(report.trace.begin(), report.trace.end(), [&](const ApiCall& copy) {
    if (copy.kind != ApiKind::kHostToDevice || copy.failed || copy.bytes == 0) return false;
    return std::none_of(report.trace.begin(), report.trace.end(), [&](const ApiCall& call) {
      return call.kind == ApiKind::kAllocate && !call.failed && call.address <= copy.address &&
             copy.address + copy.bytes <= call.address + call.bytes;
    });
  });
}

bool DidNothing(const CallReport& report, const std::vector<int32_t>& out, const std::vector<int32_t>& before) {
  return report.outcome == worker::Outcome::kReturned && out == before && !before.empty() &&
         (!report.observed || report.trace.empty());
}

}  // namespace

std::vector<std::string> RungsFrom(uint64_t number) {
  const std::vector<judge::Rung>& all = judge::Suite::Get().assignment().rungs;
  return judge::Suite::Get().SelectedRungs([&](const std::string& rung) {
    const auto place = std::find_if(all.begin(), all.end(), [&](const judge::Rung& r) { return r.id == rung; });
    return static_cast<uint64_t>(place - all.begin()) + 1 >= number;
  });
}

judge::EvidenceRun CopyOnce(judge::Runner& runner, const std::string& rung, const std::vector<int32_t>& values,
                            const std::string& what, Fault fault) {
  CallContext context{rung, "n = " + Grouped(values.size()) + ", " + what, judge::Suite::Get().assignment().submission};
  context.host_bytes = UINT64_MAX;  // the evidence limits copies to the host
  const std::vector<int32_t> poisoned(values.size(), judge::DeviceArray<int32_t>::FillValue());
  if (fault.kind == Fault::Kind::kAllocation) runner.FailAllocation(fault.nth);
  if (fault.kind == Fault::Kind::kCopy) runner.FailCopy(fault.nth);
  const std::vector<uint8_t> in = judge::BytesOf(values);
  judge::EvidenceRun run{
      runner.Call(rung, {{worker::Argument::HostArray(in), worker::Argument::HostArray(judge::BytesOf(poisoned)),
                          worker::Argument::Integer(uint64_t{values.size()})}}),
      {}};
  CallReport& report = run.report;
  const bool returned = report.outcome == worker::Outcome::kReturned && report.arrays.size() == 2;
  if (!returned) {
    run.problems = WithCalls(judge::ProblemsOf(report, context), report);
    const ApiCall* const copy = FindCopyOfOtherSize(report, values.size() * sizeof(int32_t));
    for (Problem& problem : run.problems) {
      if (problem.verdict != Verdict::kCrash || copy == nullptr || copy->bytes < values.size() * sizeof(int32_t))
        continue;
      problem.hint = ExplainSize(copy->bytes, values.size());  // it went past the end of an array on the host
      problem.evidence.push_back(judge::LineAt("at", copy->call_site, copy->function));
    }
    return run;
  }
  const std::vector<int32_t> out = judge::ValuesOf<int32_t>(report.arrays[1]);
  if (DidNothing(report, out, poisoned)) {
    run.problems = {judge::UnfinishedProblem(context, "copied nothing")};
    return run;
  }
  const int64_t error = report.value.AsInteger();
  // A call that reported its error need not also clear it with cudaGetLastError(); for one made to fail on purpose the
  // caller checks the report.
  if (error != kSuccess || fault.kind != Fault::Kind::kNone) report.cuda_error.clear();
  run.problems = judge::ProblemsOf(report, context);
  for (Problem& problem : run.problems) {
    if (problem.verdict == Verdict::kApi && !report.cuda_error.empty()) problem.hint = ApiHint(report, context);
  }
  if (run.problems.empty() && fault.kind == Fault::Kind::kNone) {
    if (error != kSuccess) {
      run.problems.push_back(MakeProblem(
          Verdict::kApi, context,
          {"it returned " + ErrorText(error) + "; expected cudaSuccess", judge::FirstFailure(report, context).evidence},
          ApiHint(report, context, error)));
    } else {
      CheckCopy(context, report, values, out, run.problems);
    }
  }
  if (report.arrays[0] != in) {
    run.problems.push_back(MakeProblem(Verdict::kWrong, context, {"h_in was changed"}, "h_in is read-only"));
  }
  // What another rung keeps could be freed in place of rung 4's.
  const bool may_hold = rung.starts_with("copy4") || fault.kind != Fault::Kind::kNone || !report.observed;
  if (run.problems.empty() && !may_hold) judge::CheckNoPageLockedHeld(context, report, run.problems);
  // Page-locked memory counts only if copies use it: in at least one direction all ints come from it, or go to it.
  const auto has_pageable = [&](worker::StreamedKind way) {
    return std::ranges::any_of(report.operations, [&](const worker::StreamedOperation& copy) {
      return copy.kind == way && !copy.page_locked && copy.bytes > 0;
    });
  };
  if (has_pageable(worker::StreamedKind::kToDevice) && has_pageable(worker::StreamedKind::kToHost)) {
    report.api.pinned_allocations = 0;
  }
  run.problems = WithCalls(std::move(run.problems), report);
  return run;
}

judge::EvidenceRun CopyTest::Run(uint64_t n, Pattern pattern, Role role, Fault fault) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return {};
  std::string what(judge::NameOf(pattern));
  if (fault.kind == Fault::Kind::kAllocation)
    what += "; allocation " + std::to_string(fault.nth) + " runs out of memory";
  if (fault.kind == Fault::Kind::kCopy) what += "; copy " + std::to_string(fault.nth) + " fails";
  judge::EvidenceRun run =
      CopyOnce(judge::Suite::Get().runner(role), rung(), judge::MakeInts(pattern, n, seed), what, fault);
  Keep(run.report);
  Add(run.problems);
  return run;
}

void CopyTest::Expect(uint64_t n, Pattern pattern, Role role) { Run(n, pattern, role); }

void CopyTest::ExpectNothingHeld(const judge::EvidenceRun& run, uint64_t n) {
  if (!ok() || !run.report.observed) return;
  const CallContext context{rung(), "n = " + Grouped(n), judge::Suite::Get().assignment().submission};
  std::vector<Problem> problems;
  judge::CheckNothingHeld(context, run.report, problems);
  if (problems.empty()) judge::CheckNoPageLockedHeld(context, run.report, problems);
  if (problems.empty() && !CopiesToAllocation(run.report)) {
    problems.push_back(MakeProblem(Verdict::kRejected, context,
                                   {"the ints went to device memory that this call did not allocate"},
                                   "allocate a_d with cudaMalloc and free it, in each call: no __device__ array, and "
                                   "no buffer from an earlier call"));
  }
  Add(WithCalls(std::move(problems), run.report));
}

void CopyTest::ExpectError(uint64_t n, Fault fault) {
  const judge::EvidenceRun run = Run(n, Pattern::kSmall, Role::kChecked, fault);
  // A real device has room, and its copies do not fail.
  if (!ok() || !run.report.observed) return;
  const bool failed = run.report.api.failed_calls > 0;
  const std::string call = fault.kind == Fault::Kind::kAllocation ? "cudaMalloc" : "cudaMemcpy";
  const CallContext context{rung(),
                            "n = " + Grouped(n) + "; " + call + " " + std::to_string(fault.nth) + " of the call fails",
                            judge::Suite::Get().assignment().submission};
  const int64_t expected = fault.kind == Fault::Kind::kAllocation ? kMemoryAllocation : kInvalidValue;
  const int64_t found = run.report.value.AsInteger();
  std::vector<Problem> problems;
  if (!failed) {
    problems.push_back(MakeProblem(Verdict::kRejected, context, {"the launcher makes no such call"},
                                   "the task has two buffers and three copies"));
  } else if (found != expected) {
    problems.push_back(MakeProblem(Verdict::kApi, context,
                                   {"it returned " + ErrorText(found) + "; expected " + ErrorText(expected)},
                                   "return the error of a failed call as soon as it fails"));
  } else if (judge::ValuesOf<int32_t>(run.report.arrays[1]) !=
             std::vector<int32_t>(n, judge::DeviceArray<int32_t>::FillValue())) {
    problems.push_back(MakeProblem(Verdict::kWrong, context, {"h_out was written although a call failed"},
                                   "leave h_out unchanged when you return an error"));
  }
  Add(WithCalls(std::move(problems), run.report));
  ExpectNothingHeld(run, n);
}

void CopyPathTest::ExpectPath(uint64_t n) {
  const judge::EvidenceRun run = Run(n, Pattern::kSmall);
  if (!ok() || !run.report.observed) return;
  const CallContext context{rung(), "n = " + Grouped(n), judge::Suite::Get().assignment().submission};
  const ApiCall* to_device = FindCall(run.report, ApiKind::kHostToDevice);
  const ApiCall* on_device = FindCall(run.report, ApiKind::kDeviceToDevice);
  const ApiCall* to_host = FindCall(run.report, ApiKind::kDeviceToHost);
  std::vector<Problem> problems;
  if (on_device == nullptr || run.report.api.bytes_on_device < n * sizeof(int32_t)) {
    problems.push_back(
        MakeProblem(Verdict::kRejected, context,
                    {"h_out is right, but " +
                     (on_device == nullptr ? std::string("nothing")
                                           : "only " + Grouped(run.report.api.bytes_on_device) + " bytes") +
                     " went from a_d to b_d"},
                    "cudaMemcpy(b_d, a_d, bytes, cudaMemcpyDeviceToDevice): the data does not pass through the host"));
  } else if (on_device->address == to_device->address || on_device->address != to_host->address ||
             !judge::WasCopiedOnTheDevice(run.report, *to_host)) {
    problems.push_back(MakeProblem(Verdict::kRejected, context,
                                   {"h_out is right, but it was not copied from b_d, the copy of a_d"},
                                   "h_in goes to a_d, a_d to b_d, and b_d to h_out"));
  }
  Add(WithCalls(std::move(problems), run.report));
}

void PinnedCopyTest::ExpectPinned(uint64_t n) {
  const judge::EvidenceRun run = Run(n, Pattern::kSmall);
  ExpectNothingHeld(run, n);
  if (!ok() || !run.report.observed) return;
  const auto& operations = run.report.operations;
  const auto ordinary = std::ranges::find_if(operations, [](const worker::StreamedOperation& one) {
    return !one.page_locked && (one.kind == StreamedKind::kToDevice || one.kind == StreamedKind::kToHost);
  });
  if (ordinary == operations.end()) return;
  const CallContext context{rung(), "n = " + Grouped(n), judge::Suite::Get().assignment().submission};
  std::string what = "no copy was from or to page-locked memory";
  if (run.report.api.pinned_allocations != 0) {
    what = ordinary->kind == StreamedKind::kToDevice ? "the copy to the device was not from page-locked memory"
                                                     : "the copy to the host was not to page-locked memory";
  }
  Add(WithCalls({MakeProblem(Verdict::kRejected, context, {"h_out is right, but " + what},
                             "allocate page-locked host memory with cudaMallocHost, and copy from there and to there")},
                run.report));
}

TEST_P(CopyTest, CopiesAnyLength) {
  // The first input, which most messages will show, should not be the smallest.
  Expect(1000, Pattern::kSmall);
  for (const uint64_t n : judge::Around({2, 32, 256, 1024, 4096, 65536})) Expect(n, Pattern::kSmall);
}

TEST_P(CopyTest, CopiesAllKindsOfValues) {
  for (const Pattern pattern : {Pattern::kRamp, Pattern::kExtremes, Pattern::kSpikeFirst, Pattern::kSpikeLast}) {
    Expect(1009, pattern);
  }
}

TEST_P(CopyTest, CopiesLargeArrays) {
  Expect(1000, Pattern::kSmall, Role::kPlain);
  Expect(1'000'003, Pattern::kSmall, Role::kPlain);
}

TEST_P(CopyTest, CopiesNothing) {
  Expect(1, Pattern::kOnes);
  Expect(0, Pattern::kOnes);
}

TEST_P(CopyTest, FreesWhatItAllocates) {
  for (const uint64_t n : {1000, 1, 100003, 0, 1048576}) ExpectNothingHeld(Run(n, Pattern::kSmall), n);
}

TEST_P(CopyPathTest, GoesFromBufferToBuffer) {
  for (const uint64_t n : {1000, 1, 4099}) ExpectPath(n);
}

TEST_P(CopyErrorTest, ReportsAFailedAllocation) {
  // If the rung does not copy yet, report that first.
  Expect(1000, Pattern::kSmall);
  for (const uint64_t nth : {1, 2}) ExpectError(1000, {Fault::Kind::kAllocation, nth});
}

TEST_P(CopyErrorTest, ReportsAFailedCopy) {
  // If the rung does not copy yet, report that first.
  const judge::ApiCounts made = Run(1000, Pattern::kSmall).report.api;
  const uint64_t copies = made.copies_to_device + made.copies_on_device + made.copies_to_host;
  for (uint64_t nth = 1; nth <= std::clamp<uint64_t>(copies, 3, 16); ++nth) {
    ExpectError(1000, {Fault::Kind::kCopy, nth});
  }
  if (copies > 16) ExpectError(1000, {Fault::Kind::kCopy, copies});
}

TEST_P(PinnedCopyTest, FreesPageLockedMemory) { ExpectPinned(1000); }

INSTANTIATE_TEST_SUITE_P(, CopyTest, testing::ValuesIn(RungsFrom(1)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, CopyPathTest, testing::ValuesIn(RungsFrom(2)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, CopyErrorTest, testing::ValuesIn(RungsFrom(3)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, PinnedCopyTest, testing::ValuesIn(RungsFrom(4)), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  return suites::CopyOnce(runner, rung, MakeInts(Pattern::kSmall, one.elements, one.seed),
                          std::string(NameOf(Pattern::kSmall)));
}

}  // namespace lockstep::judge
