#include "judge/suite/suite.h"

#include <algorithm>
#include <utility>

#include "vgpu/device/page_data.h"
#include "vgpu/model/record_json.h"

namespace lockstep::judge {
namespace {

std::unique_ptr<Suite>& Current() {
  static std::unique_ptr<Suite> suite;
  return suite;
}

}  // namespace

Suite::Suite(Options options, Assignment assignment, std::string name, SeedNumber seed, RunnerFactory factory)
    : options_(std::move(options)), assignment_(std::move(assignment)), factory_(std::move(factory)) {
  results_.assignment = assignment_.id;
  results_.suite = std::move(name);
  results_.seed = seed;
}

Suite& Suite::Get() { return *Current(); }

void Suite::Set(std::unique_ptr<Suite> suite) { Current() = std::move(suite); }

Role Suite::Shared(Role role) const {
  const bool cuda = options_.device == DeviceKind::kCuda;
  if (role == Role::kPlain && cuda) return Role::kChecked;
  const bool plain = options_.evidence_profile == options_.profile && !options_.checks;
  if (role == Role::kMeasured && !cuda && plain) return Role::kPlain;
  return role;
}

bool Suite::has_runner(Role role) {
  role = Shared(role);
  auto& runner = runners_[role];
  if (runner == nullptr) runner = factory_(role);
  return runner != nullptr;
}

Runner& Suite::runner(Role role) {
  if (!has_runner(role)) throw HarnessError("no worker was given: --worker=PATH");
  return *runners_.at(Shared(role));
}

std::unique_ptr<Runner> Suite::MakeRunnerElsewhere(const std::string& profile, const vgpu::DeviceProfile& clock) {
  if (!elsewhere_) throw HarnessError("this suite has no other devices");
  return elsewhere_(profile, clock);
}

std::vector<std::string> Suite::SelectedRungs() const {
  std::vector<std::string> rungs;
  for (const Rung& rung : assignment_.rungs) {
    if (RungMatches(rung.id, options_.rung)) rungs.push_back(rung.id);
  }
  return rungs;
}

std::vector<std::string> Suite::SelectedRungs(const std::function<bool(const std::string&)>& keep) const {
  std::vector<std::string> rungs = SelectedRungs();
  std::erase_if(rungs, std::not_fn(keep));
  return rungs;
}

bool Suite::IsSettled(const std::string& rung) const {
  return options_.one_failure && std::any_of(results_.tests.begin(), results_.tests.end(), [&](const TestResult& test) {
           return test.rung == rung && test.verdict != Verdict::kPass && !test.unfinished;
         });
}

std::string Suite::ReproduceLine(const std::string& test) const {
  const std::string seed_text = SeedText(results_.seed);
  if (results_.suite == "public") return "make test TEST=" + test + " SEED=" + seed_text;
  return assignment_.id + "_full_suite --assignment=assignments/" + assignment_.id +
         " --worker=WORKER --seed=" + seed_text + " --gtest_filter=" + test;
}

bool Suite::IsBonus(const std::string& rung) const {
  const Rung* found = assignment_.FindRung(rung);
  return found != nullptr && found->bonus;
}

void Suite::AddPage(const std::string& name, const vgpu::PageData& page) {
  const vgpu::Json added = {{name, {{"data", page.data}, {"replays", page.replays}}}};
  const std::string text = added.dump(-1, ' ', false, vgpu::Json::error_handler_t::replace);
  pages_ += (pages_.empty() ? "{" : ",") + text.substr(1, text.size() - 2);
  WriteAtomically(options_.page, pages_ + "}");
}

void Suite::Save() const {
  if (!options_.result.empty()) WriteAtomically(options_.result, ResultJson(results_));
  if (!options_.record.empty() && results_.finished) WriteAtomically(options_.record, FiguresJson(results_));
}

}  // namespace lockstep::judge
