// One call of a launcher that computes one array from another: common code of such tasks' suites.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/run/kernel_work.h"
#include "judge/run/runner.h"
#include "judge/run/store_trail.h"
#include "judge/suite/buffer_check.h"
#include "judge/suite/evidence.h"
#include "judge/suite/suite.h"
#include "vgpu/core/hint.h"

namespace lockstep::judge {

// Replaces each problem's hint by the one from hint_of, unless that is "".
template <class HintOf>
void ExplainEach(std::vector<Problem>& problems, HintOf hint_of) {
  for (Problem& problem : problems) {
    if (problem.finding && problem.finding->hint == vgpu::Hint::kCountsBytes) continue;  // no suite knows better
    if (HintText hint = hint_of(problem); !hint.empty()) problem.hint = std::move(hint);
  }
}

template <class T>
struct ArrayCall {
  DeviceArray<T>& in;
  DeviceArray<T>& out;                                 // the same as `in` if the launcher works in place
  std::span<const T> values;                           // initial contents of `in`
  std::optional<uint64_t> result_size = std::nullopt;  // elements of `out`; default: as many as values
  std::vector<worker::Argument> arguments;
  std::optional<uint64_t> work = std::nullopt;  // elements for the instruction limit; default: as many as values
  HintText unchanged_hint;                      // for a launcher that writes to its input
  bool frees = false;                           // it has to free everything it allocates
  bool is_work = true;                          // kernels must have computed the result; false for a shift by 0
  uint64_t spare_input = 0;                     // input bytes that need not be read
  uint64_t spare_result = 0;                    // result bytes that need not be stored
  // Formats an input element for messages.
  std::function<std::string(T)> text_of = ValueText<T>;
  // Adds problems with the call itself. May be empty.
  std::function<void(const CallReport&, std::vector<Problem>&)> explain;
  // The task's own check of the result.
  std::function<std::optional<Problem>(const CallReport&, std::span<const T> found)> check;
};

// Who stored the wrong element; "" for long arrays, for which the call is not repeated.
template <class T>
std::string TrailOfArrayCall(Runner& runner, const CallContext& context, const ArrayCall<T>& call, T found,
                             uint64_t element) {
  constexpr uint64_t kMost = uint64_t{1} << 16;
  if (call.values.size() > kMost) return "";
  call.in.Fill(call.values);
  if (&call.in != &call.out) call.out.Poison();
  const auto named = [](const DeviceArray<T>& array) {
    return NamedBuffer{array.label(), array.address(), array.size() * sizeof(T), sizeof(T)};
  };
  uint8_t bytes[sizeof(T)];
  std::memcpy(bytes, &found, sizeof found);
  return TrailOf(runner, context.launcher, call.arguments, named(call.in), named(call.out), element, bytes);
}

// Calls call(input, repeats) in sequence, up to the first problem. If there are several inputs, the last one has the
// size of an earlier one (`repeats`), so that call must keep no further memory.
template <class Input, class Call>
EvidenceRun CallInTurn(const std::vector<Input>& inputs, Call call) {
  EvidenceRun run;
  for (size_t i = 0; i < inputs.size() && run.problems.empty(); ++i) {
    run = call(inputs[i], i > 0 && i + 1 == inputs.size());
  }
  return run;
}

// Fills `in`, poisons `out`, calls the launcher, and collects all problems: with the call, the result, the memory past
// it, the input, and the guard zones of these and other buffers.
template <class T, class... Others>
EvidenceRun RunArrayCall(Runner& runner, const CallContext& context, const ArrayCall<T>& call,
                         const Others&... others) {
  const bool in_place = &call.in == &call.out;
  const uint64_t n = call.result_size.value_or(call.values.size());
  const auto before = call.in.Fill(call.values);
  if (!in_place) call.out.Poison();
  runner.LimitInstructions(call.work.value_or(call.values.size()));
  EvidenceRun run{runner.Call(context.launcher, call.arguments), {}};
  run.problems = ProblemsOf(run.report, context);
  if (call.explain) call.explain(run.report, run.problems);
  const auto result_now = call.out.Look();
  const std::span<const T> found = result_now.values();
  if (!run.problems.empty() || found.size() < n) return run;
  // The buffer past the result must stay poisoned. Compared as bytes: the poison may be NaN.
  const T poison = DeviceArray<T>::FillValue();
  const auto past = std::find_if(found.begin() + static_cast<std::ptrdiff_t>(n), found.end(),
                                 [&](const T& value) { return std::memcmp(&value, &poison, sizeof poison) != 0; });
  if (past != found.end()) {
    run.problems.push_back(MakeProblem(Verdict::kBounds, context,
                                       {"element " + Grouped(static_cast<uint64_t>(past - found.begin())) +
                                        " of the output was written, but the result has only " + Counted(n, "element")},
                                       "check each index against the result's length before the store"));
  }
  const auto problem = call.check(run.report, found.first(n));
  if (problem) run.problems.push_back(*problem);
  if (!in_place) CheckUnchanged<T>(call.in, before.values(), context, call.unchanged_hint, run.problems, call.text_of);
  CheckGuards(context, run.problems, call.in, call.out, others...);
  if (call.is_work && run.problems.empty()) {
    TaskBytes input = FirstOf(call.in, call.values.size()), result = FirstOf(call.out, n);
    input.spare = call.spare_input;
    result.spare = call.spare_result;
    CheckKernelsDidIt(run.report, context, Suite::Get().assignment().device_calls, std::span(&input, 1),
                      std::span(&result, 1), run.problems);
  }
  if (call.frees) CheckNothingHeld(context, run.report, run.problems);
  if (problem && problem->element && run.problems.size() == 1) {
    run.problems[0].trail = TrailOfArrayCall(runner, context, call, found[*problem->element], *problem->element);
  }
  return run;
}

// For an input besides `in`, after RunArrayCall: adds a problem if it was changed, or if kernels have not read all of its
// first `read` elements. `before`: its contents at the call.
template <class T>
void CheckFurtherInput(EvidenceRun& run, const CallContext& context, const DeviceArray<T>& input,
                       std::span<const T> before, uint64_t read, const HintText& unchanged_hint) {
  CheckUnchanged<T>(input, before, context, unchanged_hint, run.problems);
  if (!run.problems.empty()) return;
  const TaskBytes bytes = FirstOf(input, read);
  CheckKernelsDidIt(run.report, context, Suite::Get().assignment().device_calls, std::span(&bytes, 1), {},
                    run.problems);
}

}  // namespace lockstep::judge
