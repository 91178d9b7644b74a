#include "judge/suite/edit_search.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "judge/session/processor_time.h"
#include "judge/suite/suite.h"

namespace lockstep::judge {
namespace {

constexpr double kPatience = 2;                     // limit of wall time, relative to that of processor time
constexpr size_t kMostPlaces = 2;                   // if more locations are found, none is reported
constexpr uint64_t kMostInstructions = 20'000'000;  // per launch: takes a second or two
constexpr size_t kMostText = 4 << 20;               // of PTX per module: CUB's and Thrust's are longer

}  // namespace

EditSearch::EditSearch(std::shared_ptr<SubmissionMemory> memory, std::string source, double seconds)
    : memory_(std::move(memory)), source_(std::move(source)), seconds_(seconds) {}

void EditSearch::OnTestIterationStart(const testing::UnitTest&, int) {
  Suite::Get().results().tests.clear();
  // A hang or crash in one round does not affect the next.
  memory_->timed_out.clear();
  memory_->failed_start.reset();
  loaded_ = {};
}

void EditSearch::OnTestIterationEnd(const testing::UnitTest&, int iteration) {
  const auto& tests = Suite::Get().results().tests;
  const bool passes = !tests.empty() &&
                      std::ranges::all_of(tests, [](const TestResult& test) { return test.verdict == Verdict::kPass; });
  if (iteration == 0) {
    if (tests.empty() || passes) return Finish();
    failing_ = tests.back().name;
    lines_of_failure_ = lines_;
    std::ranges::stable_sort(edits_, {}, &Edit::rank);
    begin_ = worker::WallSeconds();
    processor_begin_ = worker::ProcessorSeconds();
  } else if (confirming_) {
    confirming_ = false;
    if (passes) found_.try_emplace(edits_[next_ - 1].place, edits_[next_ - 1].sentence);
  } else if (passes && std::ranges::includes(lines_, lines_of_failure_)) {
    // An edit that skips the faulty code proves nothing.
    confirming_ = true;
    return;
  }
  // A second edit of the same line adds no information.
  while (next_ < edits_.size() && found_.contains(edits_[next_].place)) ++next_;
  if (found_.size() > kMostPlaces || IsOver() || next_ == edits_.size()) return Finish();
  memory_->forgets = edits_[next_++].forgets;
}

bool EditSearch::IsOver() const {
  const double most = (confirming_ ? 2 : 1) * seconds_;  // if the failing test passes, running the others is worth it
  return worker::WallSeconds() - begin_ > kPatience * most || worker::ProcessorSeconds() - processor_begin_ > most;
}

void EditSearch::Finish() {
  auto& tests = Suite::Get().results().tests;
  tests.resize(1);
  tests[0].message = {};
  const bool is_one = found_.size() == 1;
  if (!found_.empty() && found_.size() <= kMostPlaces) {
    for (const auto& [place, sentence] : found_) {
      const size_t colon = place.rfind(':');
      tests[0].message.lines.emplace_back("see", place + (is_one ? "" : ", " + sentence), place.substr(0, colon),
                                          std::atoi(place.c_str() + colon + 1));
    }
    tests[0].message.hint = is_one
                                ? "one change that makes the public tests of this rung pass: " + found_.begin()->second
                                : "either of these changes makes the public tests of this rung pass";
  }
  Suite::Get().results().finished = true;
  Suite::Get().Save();
  Suite::Set(nullptr);
  std::_Exit(0);
}

void EditSearch::Look(const vgpu::Device& device, const vgpu::LaunchSpec& launch, std::span<const std::string> texts,
                      const std::string& call_site) {
  if (seen_[{launch.kernel, ""}]++ == 0 && texts.size() == 1 && texts[0].size() <= kMostText &&
      device.Variables(launch.module).empty()) {
    for (PtxEdit& edit : EditsOf(texts[0], launch.kernel, source_)) {
      edits_.push_back({edit.rank, launch.kernel, "", edit.place, edit.sentence, std::move(edit.text), nullptr});
    }
  }
  if (!call_site.starts_with(source_ + ":")) return;
  const uint64_t before = seen_[{launch.kernel, call_site}]++;
  if (before == 0) AddLaunchEdits(device, launch, call_site);
  // Variables keep values only from an earlier call, so this edit needs a failing call that is not the first.
  if (before == 1 && std::ranges::none_of(edits_, &Edit::forgets)) {
    constexpr const char* kAnew = "a static, __device__ or __constant__ variable is reset in each call";
    edits_.push_back({1, "", "", call_site, kAnew, "", nullptr, true});
  }
}

void EditSearch::AddLaunchEdits(const vgpu::Device& device, const vgpu::LaunchSpec& launch,
                                const std::string& call_site) {
  using Bytes = std::vector<uint8_t>;
  using vgpu::LaunchSpec;
  const auto add = [&](int rank, const std::string& sentence, std::function<void(LaunchSpec&, Bytes&)> change) {
    edits_.push_back({rank, launch.kernel, call_site, call_site, sentence, "", std::move(change)});
  };
  add(3, "the launch has one block too few", [](LaunchSpec& l, Bytes&) { ++l.grid.x; });
  add(4, "the launch has half as many blocks as it takes", [](LaunchSpec& l, Bytes&) { l.grid.x *= 2; });
  add(4, "the launch has half as many threads a block as it takes", [](LaunchSpec& l, Bytes&) { l.block.x *= 2; });
  add(0, "grid and block are exchanged: <<<blocks, threads>>>",
      [](LaunchSpec& l, Bytes&) { std::swap(l.grid, l.block); });
  add(2, "x and y of the grid are exchanged", [](LaunchSpec& l, Bytes&) { std::swap(l.grid.x, l.grid.y); });
  add(2, "x and y of the block are exchanged", [](LaunchSpec& l, Bytes&) { std::swap(l.block.x, l.block.y); });
  add(2, "the launch's shared memory is too small: bytes", [](LaunchSpec& l, Bytes&) { l.dynamic_shared *= 4; });
  const vgpu::KernelInfo* const kernel = device.FindKernel(launch.module, launch.kernel);
  const size_t count = kernel == nullptr ? 0 : kernel->parameters.size();
  for (size_t k = 0; k < count; ++k) {
    const auto [offset, bytes] = kernel->parameters[k];
    const std::string name = "argument " + std::to_string(k + 1) + " of this launch";
    const auto plus = [&, at = offset, size = bytes](int64_t step) {
      return [at, size, step](LaunchSpec&, Bytes& p) {
        int64_t value = 0;
        std::memcpy(&value, p.data() + at, size);
        value += step;
        std::memcpy(p.data() + at, &value, size);
      };
    };
    if (bytes == 4) {
      add(4, name + " is too small by 1", plus(1));
      add(4, name + " is too large by 1", plus(-1));
    }
    for (size_t i = 0; i < count; ++i) {
      const auto [other, other_bytes] = kernel->parameters[i];
      if (other_bytes != bytes || i == k) continue;
      const std::string others = std::to_string(i + 1);
      const auto swap = [from = other, to = offset, size = bytes](LaunchSpec&, Bytes& p) {
        std::swap_ranges(p.begin() + from, p.begin() + from + size, p.begin() + to);
      };
      if (i > k)
        add(2, "arguments " + std::to_string(k + 1) + " and " + others + " of this launch are exchanged", swap);
      // Not for pointers: an in-place kernel hides a copy from the wrong buffer.
      if (bytes == 4) {
        add(6, name + " has to be what argument " + others + " is",
            [from = other, to = offset](LaunchSpec&, Bytes& p) { std::copy_n(p.begin() + from, 4, p.begin() + to); });
      }
    }
  }
}

vgpu::LaunchResult EditSearch::Launch(vgpu::Device& device, const vgpu::LaunchSpec& launch,
                                      std::span<const std::string> texts, const std::string& call_site) {
  const bool first = failing_.empty();
  const std::string site = call_site.substr(call_site.rfind('/') + 1);
  if (first) Look(device, launch, texts, site);
  const Edit* const edit = next_ == 0 ? nullptr : &edits_[next_ - 1];
  vgpu::LaunchSpec edited = launch;
  std::vector<uint8_t> parameters(launch.parameters.begin(), launch.parameters.end());
  if (edit != nullptr && edit->kernel == launch.kernel && (edit->call_site.empty() || edit->call_site == site)) {
    if (edit->change) {
      edit->change(edited, parameters);
      edited.parameters = parameters;
    } else {
      if (loaded_.first != &device || device.FindKernel(loaded_.second, launch.kernel) == nullptr) {
        try {
          loaded_ = {&device, device.LoadModule(edit->text)};
        } catch (const std::runtime_error&) {
          loaded_ = {&device, launch.module};
        }
      }
      edited.module = loaded_.second;
    }
  }
  if (!first && IsOver()) Finish();
  if (!first) device.set_instruction_budget(confirming_ ? kMostInstructions : 20'000 + 4 * most_instructions_);
  const size_t before = device.launches().size();
  const vgpu::LaunchResult result = device.Launch(edited);
  for (size_t k = before; k < device.launches().size(); ++k) {
    for (const vgpu::LineCounters& line : device.launches()[k].lines) lines_.emplace(line.file, line.line);
  }
  if (first && device.launches().size() > before) {
    most_instructions_ = std::max(most_instructions_, device.launches().back().counters.warp_instructions);
  }
  return result;
}

}  // namespace lockstep::judge
