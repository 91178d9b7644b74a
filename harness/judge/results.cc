#include "judge/results.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "judge/text.h"

namespace lockstep::judge {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxStoredOutput = 64 * 1024;

Json CountersJson(const vgpu::Counters& counters, bool with_zeros) {
  Json json = Json::object();
  for (const vgpu::CounterInfo& info : vgpu::AllCounters()) {
    if (with_zeros || counters.*info.field != 0) json[info.name] = counters.*info.field;
  }
  return json;
}

Json DimJson(const vgpu::Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); }

Json TestJson(const TestResult& test) {
  Json findings = Json::array();
  for (const vgpu::Finding& finding : test.findings) {
    findings.push_back({{"kind", vgpu::NameOf(finding.kind)},
                        {"kernel", Printable(finding.kernel)},
                        {"file", Printable(std::filesystem::path(finding.first.file).filename().string())},
                        {"line", finding.first.line},
                        {"text", Printable(vgpu::Format(finding))},
                        {"count", finding.count}});
  }
  return {{"name", test.name},
          {"rung", test.rung},
          {"verdict", NameOf(test.verdict)},
          {"unfinished", test.unfinished},
          {"seconds", test.seconds},
          {"message", Printable(test.message)},
          {"output", Printable(std::string_view(test.output).substr(0, kMaxStoredOutput))},
          {"reproduce", test.reproduce},
          {"findings", std::move(findings)}};
}

Json EvidenceJson(const EvidenceResult& evidence) {
  return {{"criterion", evidence.criterion},     {"rung", evidence.rung},
          {"metric", evidence.metric},           {"value", evidence.value ? Json(*evidence.value) : Json(nullptr)},
          {"verdict", NameOf(evidence.verdict)}, {"message", Printable(evidence.message)}};
}

Json TimingJson(const TimingResult& timing) {
  Json gpu = Json::object();
  for (const auto& [name, value] : timing.gpu) gpu[name] = value;
  Json figure = nullptr;
  if (timing.figure) {
    figure = {{"value", timing.figure->value}, {"low", timing.figure->low}, {"high", timing.figure->high}};
  }
  return {{"criterion", timing.criterion},
          {"rung", timing.rung},
          {"n", timing.elements},
          {"bytes", timing.least_bytes},
          {"calls", timing.calls},
          {"repeats", timing.repeats},
          {"microseconds", timing.microseconds},
          {"reference_microseconds", timing.reference_microseconds},
          {"copy_microseconds", timing.copy_microseconds},
          {"figure", std::move(figure)},
          {"verdict", NameOf(timing.verdict)},
          {"message", Printable(timing.message)},
          {"throttled", timing.throttled},
          {"gpu", std::move(gpu)}};
}

Json ProfileJson(const RungProfile& profile, bool with_lines) {
  Json launches = Json::array();
  for (const vgpu::LaunchRecord& launch : profile.launches) {
    launches.push_back({{"kernel", Printable(launch.kernel)},
                        {"grid", DimJson(launch.grid)},
                        {"block", DimJson(launch.block)},
                        {"microseconds", launch.microseconds},
                        {"bound_by", launch.bound_by},
                        {"counters", CountersJson(launch.counters, false)}});
  }
  Json counters = CountersJson(profile.counters, true);
  for (const ApiCountInfo& info : AllApiCounts()) counters[info.name] = profile.api.*info.field;
  Json json = {{"rung", profile.rung},
               {"source", profile.source},
               {"n", profile.elements},
               {"microseconds", profile.microseconds},
               {"counters", std::move(counters)},
               {"launches", std::move(launches)}};
  if (!with_lines) return json;
  Json lines = Json::array();
  for (const vgpu::LineCounters& line : profile.lines) {
    lines.push_back(
        {{"file", Printable(line.file)}, {"line", line.line}, {"counters", CountersJson(line.counters, false)}});
  }
  json["lines"] = std::move(lines);
  return json;
}

Json HeadJson(const Results& results) {
  return {{"format", 1},
          {"assignment", results.assignment},
          {"suite", results.suite},
          {"seed", results.seed},
          {"finished", results.finished},
          {"device",
           {{"kind", results.device.kind},
            {"profile", results.device.profile},
            {"name", results.device.name},
            {"threads", results.device.threads}}}};
}

std::string Dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

vgpu::Counters CountersFrom(const Json& json) {
  vgpu::Counters counters;
  for (const vgpu::CounterInfo& info : vgpu::AllCounters()) {
    if (json.contains(info.name)) counters.*info.field = json.at(info.name).get<uint64_t>();
  }
  return counters;
}

vgpu::Dim3 DimFrom(const Json& json) {
  return {json.at(0).get<uint32_t>(), json.at(1).get<uint32_t>(), json.at(2).get<uint32_t>()};
}

}  // namespace

bool Results::HarnessFailed() const {
  return std::any_of(tests.begin(), tests.end(), [](const TestResult& t) { return t.verdict == Verdict::kHarness; }) ||
         std::any_of(evidence.begin(), evidence.end(),
                     [](const EvidenceResult& e) { return e.verdict == Verdict::kHarness; }) ||
         std::any_of(timings.begin(), timings.end(),
                     [](const TimingResult& t) { return t.verdict == Verdict::kHarness; });
}

std::string ResultJson(const Results& results) {
  Json json = HeadJson(results);
  json["tests"] = Json::array();
  for (const TestResult& test : results.tests) json["tests"].push_back(TestJson(test));
  json["evidence"] = Json::array();
  for (const EvidenceResult& evidence : results.evidence) json["evidence"].push_back(EvidenceJson(evidence));
  json["timings"] = Json::array();
  for (const TimingResult& timing : results.timings) json["timings"].push_back(TimingJson(timing));
  json["profiles"] = Json::array();
  for (const RungProfile& profile : results.profiles) json["profiles"].push_back(ProfileJson(profile, true));
  return Dump(json);
}

void WriteAtomically(const std::filesystem::path& path, const std::string& text) {
  const std::string temporary = path.string() + ".tmp" + std::to_string(getpid());
  const auto fail = [&](const char* what) {
    const std::string reason = std::strerror(errno);
    unlink(temporary.c_str());
    throw std::runtime_error(std::string(what) + " " + path.string() + ": " + reason);
  };
  // A leftover or a planted link is not followed.
  unlink(temporary.c_str());
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) fail("can't write");
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      close(file);
      fail("can't write");
    }
    done += static_cast<size_t>(count);
  }
  if (close(file) != 0) fail("can't write");
  if (rename(temporary.c_str(), path.c_str()) != 0) fail("can't replace");
}

std::string FiguresJson(const Results& results) {
  Json json = {{"format", 1},
               {"assignment", results.assignment},
               {"device", {{"kind", results.device.kind}, {"profile", results.device.profile}}}};
  json["profiles"] = Json::array();
  for (const RungProfile& profile : results.profiles) {
    if (profile.source == "submission") json["profiles"].push_back(ProfileJson(profile, false));
  }
  return Dump(json);
}

std::vector<RungProfile> ReadFigures(const std::filesystem::path& path, const std::string& device_profile) {
  std::vector<RungProfile> profiles;
  std::ifstream file(path);
  if (!file) return profiles;
  try {
    const Json json = Json::parse(file);
    if (json.at("device").at("profile").get<std::string>() != device_profile) return profiles;
    for (const Json& element : json.at("profiles")) {
      RungProfile profile;
      profile.rung = element.at("rung").get<std::string>();
      profile.source = "reference";
      profile.elements = element.at("n").get<uint64_t>();
      profile.microseconds = element.at("microseconds").get<double>();
      profile.counters = CountersFrom(element.at("counters"));
      for (const ApiCountInfo& info : AllApiCounts()) {
        profile.api.*info.field = element.at("counters").value(info.name, uint64_t{0});
      }
      for (const Json& part : element.at("launches")) {
        vgpu::LaunchRecord launch;
        launch.kernel = part.at("kernel").get<std::string>();
        launch.grid = DimFrom(part.at("grid"));
        launch.block = DimFrom(part.at("block"));
        launch.microseconds = part.at("microseconds").get<double>();
        launch.counters = CountersFrom(part.at("counters"));
        profile.launches.push_back(std::move(launch));
      }
      profiles.push_back(std::move(profile));
    }
  } catch (const Json::exception& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
  return profiles;
}

}  // namespace lockstep::judge
