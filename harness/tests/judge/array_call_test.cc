// RunArrayCall with the test's own launchers: the findings are the same whichever suite calls it.
#include "judge/suite/array_call.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "tests/judge/fake_runner.h"

namespace lockstep::judge {
namespace {

class ArrayCallTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Suite::Set(std::make_unique<Suite>(Options(), Assignment(), "public", SeedNumber(), RunnerFactory()));
  }
  static void TearDownTestSuite() { Suite::Set(nullptr); }

  // The verdict on a launcher that gets 4 of 6 ints and has to double them, and the evidence's first line.
  std::string Judge(const std::function<void(int32_t* in, int32_t* out)>& launcher, bool in_place = false,
                    bool checks_bounds = true) {
    FakeRunner runner([&](const std::string&, std::span<const worker::Argument> arguments) {
      launcher(reinterpret_cast<int32_t*>(arguments[0].bits), reinterpret_cast<int32_t*>(arguments[1].bits));
      CallReport report;
      report.launches.emplace_back();
      return report;
    });
    static_cast<FakeDevice&>(runner.device()).checks_bounds = checks_bounds;
    DeviceArray<int32_t> in(runner.device(), 6, "in"), other(runner.device(), 6, "out"),
        work(runner.device(), 2, "work");
    DeviceArray<int32_t>& out = in_place ? in : other;
    work_ = reinterpret_cast<int32_t*>(work.address());
    const std::vector<int32_t> values = {1, 2, 3, 4}, expected = {2, 4, 6, 8};
    const EvidenceRun run = RunArrayCall<int32_t>(
        runner, {"double_all", "", "a.cu"},
        {.in = in,
         .out = out,
         .values = values,
         .arguments = {in.argument(), out.argument()},
         .unchanged_hint = "read only",
         .explain = {},
         .check = [&](const CallReport&, std::span<const int32_t> found) -> std::optional<Problem> {
           if (std::equal(expected.begin(), expected.end(), found.begin(), found.end())) return std::nullopt;
           return MakeProblem(Verdict::kWrong, {"double_all", "", "a.cu"}, {"wrong"});
         }},
        work);
    const Problem* worst = Worst(run.problems);
    return worst == nullptr ? "PASS" : std::string(NameOf(worst->verdict)) + " " + worst->evidence.at(0).Rendered();
  }

  static void Double(const int32_t* in, int32_t* out) {
    for (int i = 0; i < 4; ++i) out[i] = 2 * in[i];
  }

  int32_t* work_ = nullptr;
};

TEST_F(ArrayCallTest, RightResultHasNoProblem) {
  EXPECT_EQ(Judge(Double), "PASS");
  EXPECT_EQ(Judge(Double, true), "PASS");
  EXPECT_EQ(Judge(Double, false, false), "PASS");
}

TEST_F(ArrayCallTest, ResultIsTheTasksToCheck) {
  EXPECT_EQ(Judge([](int32_t*, int32_t*) {}), "WRONG wrong") << "the output was poisoned";
}

TEST_F(ArrayCallTest, WhatLiesPastTheResultIsNobodys) {
  const auto one_more = [](int32_t* in, int32_t* out) {
    Double(in, out);
    out[5] = 0;
  };
  EXPECT_EQ(Judge(one_more), "BOUNDS element 5 of the output was written, but the result has only 4 elements");
  EXPECT_EQ(Judge(one_more, true), "BOUNDS element 5 of the output was written, but the result has only 4 elements");
}

TEST_F(ArrayCallTest, InputHasToStay) {
  const auto change = [](int32_t* in, int32_t* out) {
    Double(in, out);
    in[1] = 7;
  };
  EXPECT_EQ(Judge(change), "WRONG the input was changed: element 1 of 6 was 2, is 7");
}

TEST_F(ArrayCallTest, MemoryBesideEveryBufferHasToStay) {
  const auto beside_work = [&](int32_t* in, int32_t* out) {
    Double(in, out);
    work_[2] = 0;
  };
  EXPECT_EQ(Judge(beside_work, false, false), "BOUNDS memory next to a buffer was overwritten");
}

}  // namespace
}  // namespace lockstep::judge
