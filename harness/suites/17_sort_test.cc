// Assignment 17, compaction and radix sort: the tests that students have. Each runs on every rung.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "judge/device/compare.h"
#include "judge/input/inputs.h"
#include "judge/model/text.h"
#include "judge/suite/array_call.h"
#include "judge/suite/main.h"
#include "suites/17_sort_explain.h"
#include "suites/17_sort_fixture.h"

namespace lockstep::suites {
namespace {

constexpr const char* kReadOnly = "the keys and values that are given are read-only";
uint64_t MostKeys(const std::string& rung) { return rung == "compact1_block" ? kBlockKeys : uint64_t{1} << 27; }

Input MakeInput(const std::string& rung, uint64_t n, Keys kind, const judge::SeedKey& seed) {
  constexpr const char* kNames[] = {"random keys",
                                    "equal keys",
                                    "four different keys",
                                    "keys that differ in their last eight bits",
                                    "keys that differ in their first eight bits",
                                    "sorted keys",
                                    "keys in descending order"};
  const unsigned bits = IsPairs(rung) ? 64 : 32;
  judge::Random random(judge::SeedFor(seed, "keys"));
  uint64_t some[4];
  for (uint64_t& key : some) key = random.Next() >> (64 - bits);
  const std::vector<uint32_t> low = judge::MakeWords(n, judge::SeedFor(seed, "low")),
                              high = judge::MakeWords(n, judge::SeedFor(seed, "high"));
  Input input{{}, {}, 0, kNames[static_cast<int>(kind)]};
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t key = (uint64_t{high[i]} << 32 | low[i]) >> (64 - bits);
    const uint64_t last = 255, first = last << (bits - 8);
    if (kind == Keys::kOne) key = some[0];
    if (kind == Keys::kFew) key = some[key % 4];
    if (kind == Keys::kLowBits) key = (key & last) | (some[0] & ~last);
    if (kind == Keys::kHighBits) key = (key & first) | (some[0] & ~first);
    input.keys.push_back(key);
  }
  if (kind == Keys::kSorted || kind == Keys::kReversed) std::ranges::sort(input.keys);
  if (kind == Keys::kReversed) std::ranges::reverse(input.keys);
  if (IsPairs(rung)) input.values = judge::MakeWords(n, judge::SeedFor(seed, "values"));
  if (IsCompaction(rung) && n > 0) {
    // The limit is one of the keys, with 3/8 to 5/8 of the others below it; if all are equal, all or none are below.
    std::vector<uint64_t> keys = input.keys;
    const auto middle =
        keys.begin() + static_cast<std::ptrdiff_t>(n * static_cast<uint64_t>(random.Between(24, 40)) / 64);
    std::ranges::nth_element(keys, middle);
    input.parameter = static_cast<uint32_t>(*middle + (kind == Keys::kOne ? random.Next() % 2 : 0));
  }
  if (IsSplit(rung)) {
    const auto eighth = static_cast<uint32_t>(random.Next() % 8);
    input.parameter = kind == Keys::kLowBits ? eighth : kind == Keys::kHighBits ? 24 + eighth : eighth * 4 + 3;
  }
  return input;
}

// A rung's buffers, for up to `most` keys of type T.
template <class T>
struct Buffers {
  Buffers(judge::JudgeDevice& device, const std::string& rung, uint64_t most, Offsets offsets)
      : offsets(offsets),
        in(device, most, IsPairs(rung) ? "d_keys" : "d_in", offsets.in),
        out(device, most, IsPairs(rung) ? "d_keys_out" : "d_out", offsets.out),
        values(device, IsPairs(rung) ? most : 0, "d_values", offsets.in),
        values_out(device, IsPairs(rung) ? most : 0, "d_values_out", offsets.out),
        count(device, IsCompaction(rung) ? 1 : 0, "d_count") {}

  Offsets offsets;
  judge::DeviceArray<T> in, out;
  judge::DeviceArray<uint32_t> values, values_out, count;
};

template <class T>
std::optional<Problem> CheckKeys(const judge::CallContext& context, const judge::CallReport& report, const Input& input,
                                 const Order& order, std::span<const T> found) {
  std::vector<T> expected;
  for (const uint64_t from : order) expected.push_back(static_cast<T>(input.keys[from]));
  const bool launched = !report.observed || !report.launches.empty() || input.keys.empty();
  const auto mismatch = judge::CompareExact<T>(expected, found);
  if (!mismatch) return launched ? std::nullopt : std::optional(judge::NoKernelProblem(context));
  if (!launched) return judge::UnfinishedProblem(context);
  const bool unwritten = mismatch->found.starts_with("the old");
  return judge::WrongAt(mismatch->index, context,
                        {"element " + Grouped(mismatch->index) + " of the result is wrong (" +
                             Grouped(mismatch->count) + " of " + judge::Counted(found.size(), "key") + " in total)",
                         {"expect", mismatch->expected},
                         {"found", mismatch->found}},
                        unwritten ? judge::HintText(IsCompaction(context.launcher)
                                                        ? "no key was stored here: whose place is it? Keys are unsigned"
                                                        : "no key was stored here: whose place is it?")
                                  : HintOfKeys(context.launcher, input, {expected.begin(), expected.end()},
                                               {found.begin(), found.end()}, mismatch->index));
}

// Checks the number of keys that were kept, or the values that belong to the keys.
std::optional<Problem> CheckOthers(const judge::CallContext& context, const Input& input, const Order& order,
                                   std::span<const uint32_t> count, std::span<const uint32_t> values) {
  if (!count.empty() && count[0] != order.size()) {
    return judge::MakeProblem(
        Verdict::kWrong, context,
        {"*d_count is wrong", {"expect", std::to_string(order.size())}, {"found", judge::FoundText(count[0])}},
        order.empty() ? "where nothing is kept, the number is 0: it has to be stored all the same"
                      : "the number of keys kept is the scan's last value plus its flag");
  }
  std::vector<uint32_t> expected;
  for (uint64_t i = 0; i < values.size(); ++i) expected.push_back(input.values[order[i]]);
  const auto mismatch = judge::CompareExact<uint32_t>(expected, values);
  if (!mismatch) return std::nullopt;
  const uint64_t first = mismatch->index, key = input.keys[order[first]];
  const bool is_single = std::ranges::count(input.keys, key) == 1;
  return judge::MakeProblem(Verdict::kWrong, context,
                            {"the keys are right, but not value " + Grouped(first) + " (" + Grouped(mismatch->count) +
                                 " of " + judge::Counted(values.size(), "value") + " in total)",
                             {"expect", mismatch->expected},
                             {"found", mismatch->found}},
                            is_single ? "a value goes wherever its key goes, in every pass"
                                      : "this key is there more than once: pairs with equal keys keep their order");
}

// Makes one call, and collects all its problems.
template <class T>
judge::EvidenceRun CallIn(judge::Runner& runner, const std::string& rung, Buffers<T>& buffers, const Input& input,
                          bool repeats) {
  auto& [offsets, in, out, values, values_out, count] = buffers;
  std::string text = "n = " + Grouped(input.keys.size()) + ", " + input.what;
  if (IsCompaction(rung)) text += ", limit = " + std::to_string(input.parameter);
  if (IsSplit(rung)) text += ", bit = " + std::to_string(input.parameter);
  if (offsets.in + offsets.out > 0) {
    text += "; inputs and results begin " + std::to_string(offsets.in) + " and " + std::to_string(offsets.out) +
            " elements into their allocations";
  }
  const judge::CallContext context{rung, text, judge::Suite::Get().assignment().submission};
  const std::vector<T> keys(input.keys.begin(), input.keys.end());
  const Order order = ExpectedOrder(rung, input);
  const auto values_before = values.Fill(input.values);
  values_out.Poison(), count.Poison();
  std::vector<worker::Argument> arguments = {in.argument(), out.argument()};
  if (IsPairs(rung)) arguments = {in.argument(), values.argument(), out.argument(), values_out.argument()};
  if (IsCompaction(rung)) arguments.push_back(count.argument());
  arguments.push_back(worker::Argument::Integer(static_cast<unsigned>(keys.size())));
  if (IsCompaction(rung) || IsSplit(rung)) arguments.push_back(worker::Argument::Integer(input.parameter));
  judge::EvidenceRun run = judge::RunArrayCall<T>(
      runner, context,
      {.in = in,
       .out = out,
       .values = keys,
       .result_size = order.size(),
       .arguments = std::move(arguments),
       .unchanged_hint = kReadOnly,
       .frees = repeats,
       .is_work = !keys.empty(),
       .check = [&](const judge::CallReport& report, auto found) -> std::optional<Problem> {
         const auto count_now = count.Look(), values_now = values_out.Look();
         // If no key is kept, even a stub's d_out is right.
         if (found.empty() && !keys.empty() && report.observed && report.launches.empty() &&
             count_now.values()[0] != 0) {
           return judge::UnfinishedProblem(context);
         }
         auto problem = CheckKeys<T>(context, report, input, order, found);
         const auto beside = values_now.values().first(std::min(values_now.values().size(), input.values.size()));
         return problem ? problem : CheckOthers(context, input, order, count_now.values(), beside);
       }},
      values, values_out, count);
  const auto keeps_limit = [&] {
    const auto up_to =
        static_cast<uint64_t>(std::ranges::count_if(keys, [&](T key) { return key <= input.parameter; }));
    const auto count_now = count.Look();  // empty after a fault
    return up_to != order.size() && std::ranges::count(count_now.values(), up_to) != 0;
  };
  judge::ExplainEach(run.problems, [&](const Problem& problem) {
    return IsCompaction(rung) && keeps_limit()
               ? "a key that equals limit stays out: smaller ones are kept, and no others"
               : HintOfFault(problem);
  });
  judge::CheckUnchanged<uint32_t>(values, values_before.values(), context, kReadOnly, run.problems);
  if (run.problems.empty() && IsPairs(rung) && !keys.empty()) {
    const judge::TaskBytes read = judge::FirstOf(values, keys.size()), stored = judge::FirstOf(values_out, keys.size());
    judge::CheckKernelsDidIt(run.report, context, judge::Suite::Get().assignment().device_calls, std::span(&read, 1),
                             std::span(&stored, 1), run.problems);
  }
  return run;
}

// Makes all calls in the same buffers.
template <class T>
judge::EvidenceRun CallAs(judge::Runner& runner, const std::string& rung, const std::vector<Input>& inputs,
                          Offsets offsets) {
  uint64_t most = 0;
  for (const Input& input : inputs) most = std::max<uint64_t>(most, input.keys.size());
  Buffers<T> buffers(runner.device(), rung, most, offsets);
  return judge::CallInTurn(
      inputs, [&](const Input& input, bool repeats) { return CallIn(runner, rung, buffers, input, repeats); });
}

judge::EvidenceRun Call(judge::Runner& runner, const std::string& rung, const std::vector<Input>& inputs,
                        Offsets offsets = {}) {
  return IsPairs(rung) ? CallAs<uint64_t>(runner, rung, inputs, offsets)
                       : CallAs<uint32_t>(runner, rung, inputs, offsets);
}

}  // namespace

void SortTest::ExpectAll(const std::vector<Input>& inputs, Offsets offsets, Role role) {
  if (!ok() || inputs.empty()) return;
  judge::EvidenceRun run = Call(judge::Suite::Get().runner(role), rung(), inputs, offsets);
  Keep(run.report);
  Add(std::move(run.problems));
}

void SortTest::Expect(const std::vector<uint64_t>& lengths, Keys keys, Offsets offsets, Role role) {
  std::vector<Input> inputs;
  for (const uint64_t n : lengths) {
    const judge::SeedKey seed = Seed(inputs_++);
    if (!ok() || n > MostKeys(rung())) continue;
    inputs.push_back(MakeInput(rung(), n, keys, seed));
    if (inputs.size() > 1) inputs.back().what += ", at addresses that had other keys before";
  }
  ExpectAll(inputs, offsets, role);
}

void SortTest::ExpectLimit(uint64_t n, uint32_t limit) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok() || !IsCompaction(rung()) || n > MostKeys(rung())) return;
  Input input = MakeInput(rung(), n, Keys::kRandom, seed);
  input.parameter = limit;
  ExpectAll({input}, {}, Role::kChecked);
}

// From the least to the most demanding inputs, so that the first message is the simplest.
TEST_P(SortTest, MovesWholeTiles) {
  for (const uint64_t n : {32, 256, 1024, 4096, 16384}) Expect({n});
}

TEST_P(SortTest, MovesAnyLength) {
  for (const uint64_t n : {100, 1000, 5000}) Expect({n});
  for (const uint64_t n : judge::Around({2, 32, 256, 1024, 4096, 8192})) Expect({n});
}

TEST_P(SortTest, MovesAllKindsOfKeys) {
  for (const uint64_t n : {1000, 5000}) {
    for (const Keys keys : kAllKeys) Expect({n}, keys);
  }
}

TEST_P(SortTest, KeepsAllOrNone) {
  // A quick check that reports a rung not begun.
  Expect({33});
  for (const uint64_t n : {1, 500, 3000}) ExpectLimit(n, 0), ExpectLimit(n, ~0U), ExpectLimit(n, 1U << 31);
}

TEST_P(SortTest, MovesKeysAtAnyAddress) {
  for (const Offsets offsets : {Offsets{1, 0}, {0, 1}, {2, 2}, {3, 1}}) {
    for (const uint64_t n : {1024, 3000}) Expect({n}, Keys::kRandom, offsets);
  }
}

TEST_P(SortTest, HandlesNothing) {
  // If the rung can't sort two keys yet, report that first.
  Expect({2});
  Expect({0});
}

// Many tiles, the last one partly filled. Compaction and split get more tiles than keys per tile (up to 2048).
TEST_P(SortTest, MovesManyKeys) {
  Expect({33}, Keys::kRandom, {}, Role::kPlain);
  const bool sorts = !IsCompaction(rung()) && !IsSplit(rung());
  Expect({(uint64_t{1} << (IsPairs(rung()) ? 17 : sorts ? 19 : 22)) + 4321}, Keys::kRandom, {}, Role::kPlain);
}

TEST_P(SortTest, KeepsNoMemory) {
  for (const uint64_t n : {1000, 3000}) Expect({n, n});
}

INSTANTIATE_TEST_SUITE_P(, SortTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  suites::Input input = suites::MakeInput(rung, one.elements, suites::Keys::kRandom, one.seed);
  // Any bit, so that the bit does not reveal which call is measured.
  if (suites::IsSplit(rung)) input.parameter = static_cast<uint32_t>(Random(SeedFor(one.seed, "bit")).Next() % 32);
  EvidenceRun run = suites::Call(runner, rung, {std::move(input)},
                                 {one.Offset("d_in", kWholeSectors), one.Offset("d_out", kWholeSectors)});
  run.room = one.wide ? kUnalignedRoom : 0;
  return run;
}

}  // namespace lockstep::judge
