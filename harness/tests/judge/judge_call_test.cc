#include <gtest/gtest.h>

#include <csignal>

#include "judge/device/buffer.h"
#include "judge/run/call.h"
#include "tests/judge/fake_runner.h"
#include "tests/support/golden.h"

namespace lockstep::judge {
namespace judge_call_test {

using worker::Outcome;

const CallContext kContext{"reduce1_interleaved", "n = 129, all ones", "reduction.cu"};

std::string Message(const CallReport& report) {
  const std::vector<Problem> problems = ProblemsOf(report, kContext);
  const Problem* worst = Worst(problems);
  return worst == nullptr ? "PASS" : FormatProblem(*worst, "ReductionTest.SumsAnyLength/reduce1_interleaved");
}

Verdict VerdictOfCall(const CallReport& report) {
  const std::vector<Problem> problems = ProblemsOf(report, kContext);
  const Problem* worst = Worst(problems);
  return worst == nullptr ? Verdict::kPass : worst->verdict;
}

CallReport Ended(Outcome outcome, int code = 0) {
  CallReport report;
  report.outcome = outcome;
  report.code = code;
  report.limit_seconds = 10;
  return report;
}

TEST(CallTest, OutcomesBecomeVerdicts) {
  EXPECT_EQ(VerdictOfCall(Ended(Outcome::kReturned)), Verdict::kPass);
  EXPECT_EQ(VerdictOfCall(Ended(Outcome::kExited, 0)), Verdict::kCrash);
  EXPECT_EQ(VerdictOfCall(Ended(Outcome::kCrashed, SIGSEGV)), Verdict::kCrash);
  EXPECT_EQ(VerdictOfCall(Ended(Outcome::kTimeout)), Verdict::kTimeout);
  EXPECT_EQ(VerdictOfCall(Ended(Outcome::kDeviceTimeout)), Verdict::kTimeout);
  EXPECT_EQ(VerdictOfCall(Ended(Outcome::kClosedSocket)), Verdict::kCrash);
  EXPECT_EQ(VerdictOfCall(Ended(Outcome::kFlooded)), Verdict::kCrash);
  EXPECT_EQ(VerdictOfCall(Ended(Outcome::kProtocolError)), Verdict::kRejected);
  for (const Outcome outcome : {Outcome::kNoSuchLauncher, Outcome::kBadSignature, Outcome::kCouldNotStart}) {
    EXPECT_EQ(VerdictOfCall(Ended(outcome)), Verdict::kHarness);
  }
}

TEST(CallTest, StartUpThatNeverEndsIsATimeoutAndOneThatEndsACrash) {
  CallReport report = Ended(Outcome::kTimeout);
  report.at_start = true;
  EXPECT_EQ(VerdictOfCall(report), Verdict::kTimeout);
  report.outcome = Outcome::kExited;
  EXPECT_EQ(VerdictOfCall(report), Verdict::kCrash);
  report.outcome = Outcome::kCouldNotStart;
  EXPECT_EQ(VerdictOfCall(report), Verdict::kHarness);
}

TEST(CallTest, SaysWhereTheHostCodeWas) {
  CallReport crash = Ended(Outcome::kCrashed, SIGSEGV);
  crash.stopped = {worker::FaultAddress::kDevice, "/home/ada l/reduction.cu:17", ""};
  EXPECT_NE(Message(crash).find("\n  at      reduction.cu:17\n"), std::string::npos);
  EXPECT_NE(Message(crash).find("cudaMemcpy"), std::string::npos);
  crash.stopped.address = worker::FaultAddress::kNull;
  EXPECT_NE(Message(crash).find("null pointer"), std::string::npos);
  crash.stopped.address = worker::FaultAddress::kStack;
  EXPECT_NE(Message(crash).find("recursion"), std::string::npos);
  crash.stopped.site = "";  // without lines
  EXPECT_EQ(Message(crash).find("  at  "), std::string::npos);
  CallReport endless = Ended(Outcome::kTimeout);
  endless.stopped.site = "/home/ada l/reduction.cu:21";
  EXPECT_NE(Message(endless).find("\n  at      reduction.cu:21\n"), std::string::npos);
  CallReport exited = Ended(Outcome::kExited, 1);
  exited.stopped.site = "reduction.cu:3";
  EXPECT_NE(Message(exited).find("\n  at      reduction.cu:3\n"), std::string::npos);
}

TEST(CallTest, SaysWhichExceptionALauncherInPythonRaised) {
  CallReport raised = Ended(Outcome::kExited, 1);
  raised.stopped.site = "/home/ada l/shift.py:17";
  raised.stopped.exception = "ZeroDivisionError: division by zero";
  const std::string text = Message(raised);
  EXPECT_NE(text.find("\n  the launcher raised ZeroDivisionError: division by zero\n  at      shift.py:17\n"),
            std::string::npos)
      << text;
  raised.stopped = {.exception = "TypeError: shift1() takes 2 arguments"};
  EXPECT_NE(Message(raised).find("raised TypeError: shift1() takes 2 arguments"), std::string::npos);
  EXPECT_EQ(Message(raised).find("  at  "), std::string::npos);
}

TEST(CallTest, ManyCallsAreSlowCalls) {
  CallReport endless = Ended(Outcome::kTimeout);
  worker::ApiCall copy;
  copy.kind = worker::ApiKind::kHostToDevice;
  copy.function = "cudaMemcpy";
  copy.call_site = "/home/ada/reduction.cu:15";
  endless.trace.assign(62'402, copy);
  const std::string text = Message(endless);
  EXPECT_NE(text.find("62,402 CUDA calls"), std::string::npos);
  EXPECT_NE(text.find("reduction.cu:15  cudaMemcpy"), std::string::npos);
}

TEST(CallTest, AProgramThatCannotBeLoadedIsACrash) {
  for (const auto& [outcome, verdict] :
       {std::pair(Outcome::kExited, Verdict::kCrash), std::pair(Outcome::kCrashed, Verdict::kCrash),
        std::pair(Outcome::kFlooded, Verdict::kCrash), std::pair(Outcome::kTimeout, Verdict::kTimeout)}) {
    CallReport report = Ended(outcome);
    report.at_start = true;
    report.loaded = false;
    EXPECT_EQ(VerdictOfCall(report), verdict);
    EXPECT_NE(Message(report).find("could not be loaded"), std::string::npos);
  }
}

TEST(CallTest, SpentTimeIsSaidWithItsBudget) {
  CallReport report = Ended(Outcome::kTimeout);
  report.not_called = "not called: the calls before it took 61 of the 60 seconds that the calls of one test may take";
  EXPECT_EQ(VerdictOfCall(report), Verdict::kTimeout);
  EXPECT_NE(Message(report).find("61 of the 60 seconds"), std::string::npos);
}

TEST(CallTest, AnUnsupportedInstructionIsTheProgramsChoice) {
  CallReport report = Ended(Outcome::kReturned);
  report.cuda_error = "cudaErrorNotSupported";
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::kUnsupported;
  finding.fatal = true;
  finding.kernel = "k";
  finding.first.file = "reduction.cu";
  finding.first.line = 12;
  finding.first.instruction = "wgmma.fence";
  finding.detail = "wgmma.fence: it is not supported";
  report.findings = {finding};
  EXPECT_EQ(VerdictOfCall(report), Verdict::kApi);
  for (const char* part : {"wgmma.fence", "reduction.cu:12", "isa.md"}) {
    EXPECT_NE(Message(report).find(part), std::string::npos) << Message(report);
  }
}

TEST(CallTest, WhatFollowsFromAFaultIsNoProblemOfItsOwn) {
  CallReport report = Ended(Outcome::kExited, 1);
  report.cuda_error = "cudaErrorIllegalAddress";
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::kOutOfBounds;
  finding.fatal = true;
  report.findings = {finding};
  EXPECT_EQ(VerdictOfCall(report), Verdict::kBounds);
  // A finding that stopped nothing explains no exit.
  report.findings[0].fatal = false;
  EXPECT_EQ(VerdictOfCall(report), Verdict::kApi);
}

// The virtual GPU knows when a kernel does not end; of a real one only the missing answer is known.
TEST(CallTest, OnARealGpuATimeoutMayBeTheKernels) {
  CallReport report = Ended(Outcome::kTimeout);
  report.limit_seconds = 10;
  const std::vector<Problem> known = ProblemsOf(report, {"f", "", "a.cu"});
  report.observed = false;
  const std::vector<Problem> unknown = ProblemsOf(report, {"f", "", "a.cu"});
  ASSERT_EQ(known.size(), 1u);
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(known[0].evidence.at(0).text, "the host code did not return within 10 seconds, not counting its kernels");
  EXPECT_EQ(unknown[0].evidence.at(0).text, "the call, its kernels included, did not end within 10 seconds");
}

TEST(CallTest, OnARealGpuAFaultIsKnownByItsError) {
  CallReport report = Ended(Outcome::kReturned);
  report.cuda_error = "cudaErrorIllegalAddress";
  EXPECT_EQ(VerdictOfCall(report), Verdict::kApi);
  report.observed = false;
  EXPECT_EQ(VerdictOfCall(report), Verdict::kBounds);
  report.cuda_error = "cudaErrorLaunchTimeout";
  EXPECT_EQ(VerdictOfCall(report), Verdict::kTimeout);
  report.cuda_error = "cudaErrorAssert";
  EXPECT_EQ(VerdictOfCall(report), Verdict::kCrash);
  report.cuda_error = "cudaErrorInvalidConfiguration";
  EXPECT_EQ(VerdictOfCall(report), Verdict::kApi);
}

TEST(CallTest, UninitialisedReadThatARaceExplainsIsTheRace) {
  CallReport report = Ended(Outcome::kReturned);
  vgpu::Finding uninitialized, race;
  uninitialized.kind = vgpu::FindingKind::kUninitialized;
  uninitialized.kernel = "k";
  uninitialized.first.line = 41;
  report.findings = {uninitialized};
  EXPECT_EQ(VerdictOfCall(report), Verdict::kUninit);
  race.kind = vgpu::FindingKind::kRace;
  race.kernel = "k";
  race.first.line = 39;
  race.second = uninitialized.first;
  report.findings.push_back(race);
  EXPECT_EQ(VerdictOfCall(report), Verdict::kRace);
  report.findings[1].second->line = 47;
  EXPECT_EQ(VerdictOfCall(report), Verdict::kUninit);
}

TEST(CallTest, CopiesToTheHostAreAllowedForAResultOnly) {
  CallReport report = Ended(Outcome::kReturned);
  report.api.bytes_to_host = kMaxBytesToHost;
  EXPECT_EQ(VerdictOfCall(report), Verdict::kPass);
  report.api.bytes_to_host = 4096;
  EXPECT_EQ(VerdictOfCall(report), Verdict::kRejected);
}

TEST(CallTest, RefusedRequestsAreRejected) {
  CallReport report = Ended(Outcome::kReturned);
  report.refusals = {"cudaMemcpy on 4 bytes of device memory that do not belong to this call"};
  EXPECT_EQ(VerdictOfCall(report), Verdict::kRejected);
}

TEST(CallTest, Messages) {
  CallReport flood = Ended(Outcome::kFlooded);
  CallReport api = Ended(Outcome::kReturned);
  api.cuda_error = "cudaErrorInvalidConfiguration";
  CallReport copied = Ended(Outcome::kReturned);
  copied.api.bytes_to_host = 40000;
  copied.trace.resize(1);
  copied.trace[0].kind = worker::ApiKind::kDeviceToHost;
  copied.trace[0].function = "cudaMemcpyAsync";
  copied.trace[0].bytes = 40000;
  CallReport start = Ended(Outcome::kExited, 0);
  start.at_start = true;
  start.detail = "the program exited with status 0";
  CallReport start_failure = Ended(Outcome::kCouldNotStart);
  start_failure.detail = "bwrap: setting up uid map: Permission denied";
  const auto failed_launch = [&](const vgpu::Dim3& grid, const vgpu::Dim3& block) {
    CallReport report = api;
    worker::ApiCall call;
    call.kind = worker::ApiKind::kLaunch;
    call.kernel_name = "reduce1_interleaved_kernel";
    call.failed = true;
    call.grid = grid;
    call.block = block;
    report.trace = {call};
    return report;
  };
  CallReport registers = failed_launch({1, 1, 1}, {512, 1, 1});
  registers.trace[0].error = static_cast<int>(vgpu::LaunchError::kTooManyResources);
  CallReport no_room = Ended(Outcome::kReturned);
  no_room.cuda_error = "cudaErrorMemoryAllocation";
  no_room.trace.resize(2);
  no_room.trace[1].kind = worker::ApiKind::kAllocate;
  no_room.trace[1].function = "cudaMalloc";
  no_room.trace[1].bytes = 1'000'000'000'000;
  no_room.trace[1].failed = true;
  CallReport prints = Ended(Outcome::kDeviceTimeout);
  prints.output = "thread 0";
  std::string text;
  for (const CallReport& report :
       {Ended(Outcome::kCrashed, SIGFPE), Ended(Outcome::kCrashed, SIGABRT), Ended(Outcome::kDeviceTimeout), prints,
        failed_launch({0, 1, 1}, {128, 1, 1}), failed_launch({1, 1, 1}, {2048, 1, 1}),
        failed_launch({1, 70000, 1}, {32, 8, 1}), failed_launch({1, 1, 1}, {128, 1, 1}), registers, no_room}) {
    text += Message(report) + "\n\n";
  }
  ExpectGolden("call_messages_of_failures.txt", text);
  text.clear();
  for (const CallReport& report :
       {Ended(Outcome::kExited, 0), Ended(Outcome::kCrashed, SIGSEGV), Ended(Outcome::kTimeout),
        Ended(Outcome::kClosedSocket), flood, api, copied, start, start_failure}) {
    text += (text.empty() ? "" : "\n\n") + Message(report);
  }
  Problem unfinished = UnfinishedProblem(kContext);
  text += "\n\n" + FormatProblem(unfinished, "ReductionTest.SumsAnyLength/reduce1_interleaved");
  ExpectGolden("call_messages.txt", text);
}

TEST(CallTest, ALauncherThatDidSomethingBeforeIsNotUnfinished) {
  CallContext context = kContext;
  context.launcher = "reduce2_strided";
  EXPECT_TRUE(UnfinishedProblem(context).unfinished);
  NoteBegun("reduce2_strided");
  const Problem problem = UnfinishedProblem(context);
  EXPECT_FALSE(problem.unfinished);
  EXPECT_EQ(problem.evidence.front().text,
            "reduce2_strided launched no kernel for this input, unlike for other inputs");
  context.launcher = "reduce3_sequential";
  EXPECT_TRUE(UnfinishedProblem(context).unfinished);
}

TEST(CallTest, CopiesWhoseEndsOverlapAreFound) {
  CallReport report = Ended(Outcome::kReturned);
  report.trace.resize(1);
  report.trace[0].kind = worker::ApiKind::kDeviceToDevice;
  report.trace[0].function = "cudaMemcpy";
  report.trace[0].bytes = 4000;
  report.trace[0].address = 0x10000;
  for (const auto& [from, overlaps] : {std::pair{0x10004, true},
                                       {0x10000 - 3999, true},
                                       {0x10000, true},
                                       {0x10000 + 4000, false},
                                       {0x10000 - 4000, false}}) {
    report.trace[0].from = static_cast<uint64_t>(from);
    EXPECT_EQ(VerdictOfCall(report), overlaps ? Verdict::kApi : Verdict::kPass) << from;
  }
}

TEST(BufferTest, IsPoisonedAndFindsWritesBesideIt) {
  FakeDevice device;
  device.checks_bounds = false;
  {
    DeviceArray<int32_t> array(device, 10, "a", 1);
    EXPECT_EQ(array.Get(), std::vector<int32_t>(10, DeviceArray<int32_t>::FillValue()));
    EXPECT_TRUE(array.GuardsIntact());
    EXPECT_TRUE(array.Set(std::vector<int32_t>(10, 3)));
    EXPECT_FALSE(array.Set(std::vector<int32_t>(11, 3)));
    EXPECT_TRUE(array.GuardsIntact());
    const int32_t value = 3;
    ASSERT_TRUE(device.Write(array.address() + 40, &value, 4));
    EXPECT_FALSE(array.GuardsIntact());
    array.Poison();
    EXPECT_EQ(array.Get()[0], DeviceArray<int32_t>::FillValue());
  }
  EXPECT_EQ(device.allocations(), 0u);
}

TEST(BufferTest, ElementsBeforeAnOffsetAreGuarded) {
  FakeDevice device;
  DeviceArray<int32_t> array(device, 10, "a", 3);
  EXPECT_EQ(array.address() % 8, 4u);
  const int32_t value = 3;
  ASSERT_TRUE(device.Write(array.address() - 4, &value, 4));
  EXPECT_FALSE(array.GuardsIntact());
}

TEST(BufferTest, IsGoneAfterAReset) {
  FakeDevice device;
  DeviceArray<int32_t> array(device, 10, "a");
  device.Reset();
  EXPECT_TRUE(array.Get().empty());
  EXPECT_FALSE(array.Set(std::vector<int32_t>(10, 3)));
  EXPECT_FALSE(array.Poison());
}

}  // namespace judge_call_test
}  // namespace lockstep::judge
