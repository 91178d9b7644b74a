#include "judge/model/results.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "judge/model/text.h"
#include "vgpu/core/symbol_name.h"
#include "vgpu/model/record_json.h"

namespace lockstep::judge {
namespace {

using vgpu::Json;

constexpr int kResultFormat = 2, kFiguresFormat = 2;

// Texts that a submission can make long are truncated, so that no file is too large to be read:
// docs/reference/result-json.md.
constexpr size_t kMostOutput = 64 * 1024;
constexpr size_t kMostMessage = 16 * 1024;
constexpr size_t kMostLinesSaid = 40;
constexpr size_t kMostFindings = 20;
constexpr size_t kMostFindingText = 2000;
constexpr size_t kMostName = 200;      // of a kernel or a file
constexpr size_t kMostShortName = 60;  // of launches beyond the detailed ones
constexpr size_t kDetailedLaunches = 200;
constexpr size_t kMostLines = 1000;
constexpr size_t kMostDrawn = 200;                     // of these lines, those stored with their worst accesses
constexpr size_t kMostStreamed = 2000;                 // operations of a timeline
constexpr size_t kMostResultBytes = size_t{32} << 20;  // of a file with details

std::string Shown(std::string_view bytes, size_t most_bytes) {
  // Each byte is printed as at least one, so twice the limit is enough.
  return Cut(Printable(bytes.substr(0, 2 * most_bytes)), most_bytes);
}

Json DimJson(const vgpu::Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); }

void AddMessage(const Message& message, Json& json) {
  json["message"] = Shown(message.headline, kMostMessage);
  json["lines"] = Json::array();
  for (const vgpu::MessageLine& line : std::span(message.lines).first(std::min(message.lines.size(), kMostLinesSaid))) {
    Json said = {{"label", line.label}, {"text", Shown(line.text, kMostFindingText)}};
    if (line.line > 0) said.update({{"file", Shown(line.file, kMostName)}, {"line", line.line}});
    json["lines"].push_back(std::move(said));
  }
  json["hint"] = Shown(message.hint, kMostMessage);
  if (!message.sight.part.empty()) json["sight"] = {{"part", message.sight.part}, {"names", message.sight.names}};
}

Json PlaceJson(const vgpu::ThreadPlace& place) {
  return {{"file", Shown(std::filesystem::path(place.file).filename().string(), kMostName)},
          {"line", place.line},
          {"block", DimJson(place.block)},
          {"thread", DimJson(place.thread)},
          {"access", vgpu::NameOf(place.access)},
          {"instruction", Shown(place.instruction, kMostName)}};
}

Json FindingJson(const vgpu::Finding& finding) {
  const vgpu::FindingText text = vgpu::Describe(finding);
  Json json = {{"kind", vgpu::NameOf(finding.kind)},
               {"verdict", text.heading},
               {"launch", Shown(text.launch, kMostName)},
               {"kernel", Shown(finding.kernel, kMostName)},
               {"places", Json::array({PlaceJson(finding.first)})},
               {"memory", nullptr},
               {"text", Shown(vgpu::Format(finding), kMostFindingText)},
               {"count", finding.count}};
  if (finding.kind == vgpu::FindingKind::kRace) json["missing"] = vgpu::MissingOrder(finding);
  if (finding.second) json["places"].push_back(PlaceJson(*finding.second));
  if (const auto& memory = finding.memory) {
    const uint64_t offset = memory->in_buffer ? memory->address - memory->buffer_base : memory->address;
    json["memory"] = {
        {"buffer", memory->in_buffer ? Json(Shown(vgpu::VariableName(memory->buffer_name), kMostName)) : Json(nullptr)},
        {"space", vgpu::NameOf(memory->space)},
        {"buffer_bytes", memory->in_buffer ? Json(memory->buffer_bytes) : Json(nullptr)},
        {"offset", static_cast<int64_t>(offset)},
        {"bytes", memory->bytes}};
  }
  return json;
}

Json TestJson(const TestResult& test) {
  Json findings = Json::array();
  for (const vgpu::Finding& finding : std::span(test.findings).first(std::min(test.findings.size(), kMostFindings))) {
    findings.push_back(FindingJson(finding));
  }
  Json launches = Json::array(), kernels = Json::array();
  for (const std::string& launch : test.launches) launches.push_back(Shown(launch, kMostName));
  for (const std::string& kernel : test.kernels) kernels.push_back(Shown(kernel, kMostName));
  Json json = {{"name", test.name},
               {"rung", test.rung},
               {"verdict", NameOf(test.verdict)},
               {"unfinished", test.unfinished},
               {"seconds", test.seconds}};
  AddMessage(test.message, json);
  json.update({{"output", Shown(test.output, kMostOutput)},
               {"reproduce", test.reproduce},
               {"launches", std::move(launches)},
               {"kernels", std::move(kernels)},
               {"findings", std::move(findings)}});
  if (test.launches_before > 0) json["launches_before"] = test.launches_before;
  return json;
}

Json NumberOrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json EvidenceJson(const EvidenceResult& evidence) {
  Json json = {{"criterion", evidence.criterion},
               {"rung", evidence.rung},
               {"metric", evidence.metric},
               {"value", NumberOrNull(evidence.value)},
               {"verdict", NameOf(evidence.verdict)}};
  AddMessage(evidence.message, json);
  if (!evidence.unmet.empty()) json["unmet"] = evidence.unmet;
  return json;
}

Json TimingJson(const TimingResult& timing) {
  Json gpu = Json::object();
  for (const auto& [name, value] : timing.gpu) gpu[name] = value;
  Json figure = nullptr;
  if (timing.figure) {
    figure = {{"value", timing.figure->value}, {"low", timing.figure->low}, {"high", timing.figure->high}};
  }
  Json json = {{"criterion", timing.criterion},
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
               {"throttled", timing.throttled},
               {"gpu", std::move(gpu)}};
  AddMessage(timing.message, json);
  return json;
}

// The lines to store, in source order: the most expensive ones if there are too many.
std::vector<vgpu::LineCounters> LinesToStore(const RungProfile& profile) {
  if (profile.lines.size() <= kMostLines) return profile.lines;
  std::vector<vgpu::LineCounters> lines = CostliestLines(profile, "warp_instructions", kMostLines);
  std::sort(lines.begin(), lines.end(), [](const vgpu::LineCounters& a, const vgpu::LineCounters& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
  return lines;
}

Json TimelineJson(const StreamTimeline& timeline, bool detailed) {
  constexpr const char* kLaneNames[] = {"to_device", "compute", "to_host", "to_peer"};
  Json json = Json::object();
  for (const TimelineFigureInfo& info : AllTimelineFigures()) {
    json[info.name] = timeline.*info.field;
    if (info.field == &StreamTimeline::streams && timeline.peer_bytes == 0) break;  // the rest needs several devices
  }
  if (!detailed) return json;
  json["operations"] = Json::array();
  for (const StreamTimeline::Operation& operation :
       std::span(timeline.operations).first(std::min(timeline.operations.size(), kMostStreamed))) {
    json["operations"].push_back({{"engine", kLaneNames[static_cast<int>(operation.lane)]},
                                  {"name", Shown(operation.name, kMostShortName)},
                                  {"stream", Shown(operation.stream, kMostShortName)},
                                  {"bytes", operation.bytes},
                                  {"page_locked", operation.page_locked},
                                  {"begin", operation.begin},
                                  {"end", operation.end}});
    if (operation.device > 0) json["operations"].back()["device"] = operation.device;
  }
  return json;
}

Json ProfileJson(const RungProfile& profile, size_t detailed_launches, bool with_zeros) {
  Json launches = Json::array();
  for (const vgpu::LaunchRecord& launch : profile.launches) {
    const bool detailed = launches.size() < detailed_launches;
    Json json = {{"kernel", Shown(launch.kernel, detailed ? kMostName : kMostShortName)},
                 {"grid", DimJson(launch.grid)},
                 {"block", DimJson(launch.block)},
                 {"microseconds", launch.microseconds},
                 {"bound_by", launch.bound_by}};
    if (!launch.is_own) json["from_headers"] = true;
    if (detailed) json["counters"] = vgpu::JsonOf(launch.counters);
    launches.push_back(std::move(json));
  }
  Json counters = vgpu::JsonOf(profile.counters, with_zeros);
  for (const ApiCountInfo& info : AllApiCounts()) {
    if (with_zeros || profile.api.*info.field != 0) counters[info.name] = profile.api.*info.field;
  }
  return {{"rung", profile.rung},
          {"source", profile.source},
          {"n", profile.elements},
          {"microseconds", profile.microseconds},
          {"counters", std::move(counters)},
          {"launches", std::move(launches)}};
}

Json DerivedJson(const RungProfile& profile) {
  Json figures = Json::object();
  for (const DerivedFigure& figure : DerivedFigures(profile)) figures[std::string(figure.name)] = figure.value;
  return figures;
}

Json AdviceJson(vgpu::KernelAdvice advice) {
  advice.kernel = Shown(advice.kernel, kMostName);
  for (vgpu::Advice& change : advice.changes) {
    for (auto& [file, line] : change.lines) file = Shown(std::filesystem::path(file).filename().string(), kMostName);
  }
  return vgpu::JsonOf(advice);
}

Json LinesJson(const RungProfile& profile) {
  Json lines = Json::array();
  for (const vgpu::LineCounters& line : LinesToStore(profile)) {
    lines.push_back(
        {{"file", Shown(line.file, kMostName)}, {"line", line.line}, {"counters", vgpu::JsonOf(line.counters)}});
    for (const vgpu::KeptSample& sample : {line.global, line.shared, line.branch}) {
      if (sample != nullptr && lines.size() <= kMostDrawn) lines.back()["accesses"].push_back(vgpu::JsonOf(*sample));
    }
  }
  return lines;
}

Json HeadJson(const Results& results) {
  return {{"format", kResultFormat},
          {"assignment", results.assignment},
          {"suite", results.suite},
          {"seed", SeedText(results.seed)},
          {"finished", results.finished},
          {"device",
           {{"kind", results.device.kind},
            {"profile", results.device.profile},
            {"name", results.device.name},
            {"threads", results.device.threads}}}};
}

std::string Dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

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

const RungProfile* Results::FindProfile(std::string_view rung, std::string_view source) const {
  const auto found = std::find_if(profiles.begin(), profiles.end(), [&](const RungProfile& profile) {
    return profile.rung == rung && profile.source == source;
  });
  return found == profiles.end() ? nullptr : &*found;
}

namespace {

std::string ResultJson(const Results& results, bool detailed) {
  Json json = HeadJson(results);
  json["tests"] = Json::array();
  for (const TestResult& test : results.tests) json["tests"].push_back(TestJson(test));
  json["evidence"] = Json::array();
  for (const EvidenceResult& evidence : results.evidence) json["evidence"].push_back(EvidenceJson(evidence));
  json["timings"] = Json::array();
  for (const TimingResult& timing : results.timings) json["timings"].push_back(TimingJson(timing));
  json["profiles"] = Json::array();
  for (const RungProfile& profile : results.profiles) {
    Json element = ProfileJson(profile, detailed ? kDetailedLaunches : 0, true);
    element["figures"] = DerivedJson(profile);
    if (profile.timeline) element["timeline"] = TimelineJson(*profile.timeline, detailed);
    if (detailed) {
      element["lines"] = LinesJson(profile);
      element["advice"] = Json::array();
      for (const vgpu::KernelAdvice& advice : profile.advice) element["advice"].push_back(AdviceJson(advice));
    }
    json["profiles"].push_back(std::move(element));
  }
  if (results.ranking) {
    json["leaderboard"] = {{"rung", results.ranking->rung},
                           {"metric", results.ranking->metric},
                           {"profile", results.ranking->profile},
                           {"value", NumberOrNull(results.ranking->value)},
                           {"reference", NumberOrNull(results.ranking->reference)}};
  }
  return Dump(json, 1) + "\n";
}

}  // namespace

std::string ResultJson(const Results& results) {
  std::string text = ResultJson(results, true);
  return text.size() <= kMostResultBytes ? text : ResultJson(results, false);
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

namespace {

// Equal launches in a row are one entry with their `count`.
std::string ProfileFigures(const RungProfile& profile) {
  Json json = ProfileJson(profile, profile.launches.size(), false);
  if (profile.device_microseconds) json["device_microseconds"] = *profile.device_microseconds;
  if (profile.timeline) json["timeline"] = TimelineJson(*profile.timeline, false);
  const Json launches = std::move(json["launches"]);
  json.erase("launches");  // added again below, at the end
  for (auto launch = launches.begin(), next = launch; launch != launches.end(); launch = next) {
    next = std::find_if(launch, launches.end(), [&](const Json& other) { return other != *launch; });
    json["launches"].push_back(*launch);
    if (next - launch > 1) json["launches"].back()["count"] = next - launch;
  }
  return Dump(json, -1);
}

}  // namespace

std::string FiguresJson(const Results& results) {
  const Json json = {{"format", kFiguresFormat},
                     {"assignment", results.assignment},
                     {"device", {{"kind", results.device.kind}, {"profile", results.device.profile}}}};
  // One rung per line.
  std::string text = Dump(json, -1);
  text.back() = ',';
  text += "\"profiles\":[";
  const char* separator = "\n ";
  for (const RungProfile& profile : results.profiles) {
    if (profile.source == "submission") text += std::exchange(separator, ",\n ") + ProfileFigures(profile);
  }
  return text + "]}\n";
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
      if (element.contains("device_microseconds")) profile.device_microseconds = element["device_microseconds"];
      profile.counters = CountersFrom(element.at("counters"));
      for (const ApiCountInfo& info : AllApiCounts()) {
        profile.api.*info.field = element.at("counters").value(info.name, uint64_t{0});
      }
      if (element.contains("timeline")) {
        profile.timeline.emplace();
        for (const TimelineFigureInfo& info : AllTimelineFigures()) {
          (*profile.timeline).*info.field = element["timeline"].value(info.name, 0.0);
        }
      }
      for (const Json& part : element.value("launches", Json::array())) {
        vgpu::LaunchRecord launch;
        launch.kernel = part.at("kernel").get<std::string>();
        launch.grid = DimFrom(part.at("grid"));
        launch.block = DimFrom(part.at("block"));
        launch.microseconds = part.at("microseconds").get<double>();
        launch.bound_by = part.at("bound_by").get<std::string>();
        launch.counters = CountersFrom(part.at("counters"));
        launch.is_own = !part.value("from_headers", false);
        profile.launches.insert(profile.launches.end(), part.value("count", size_t{1}), launch);
      }
      profiles.push_back(std::move(profile));
    }
  } catch (const Json::exception& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
  return profiles;
}

}  // namespace lockstep::judge
