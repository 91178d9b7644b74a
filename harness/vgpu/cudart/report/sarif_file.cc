#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "vgpu/cudart/report/report.h"

namespace lockstep::vgpu::cudart {
namespace {

using SarifJson = nlohmann::ordered_json;

// A path as a URI: relative if the file is inside the current folder.
std::string SarifUri(const std::string& file) {
  std::error_code error;
  const std::filesystem::path near = std::filesystem::proximate(file, error);
  const bool is_near = !error && !near.empty() && *near.begin() != ".." && near.is_relative();
  const std::string path = is_near ? near.generic_string() : file;
  std::string uri = path.starts_with('/') ? "file://" : "";
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~/+").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri;
}

SarifJson SarifLocation(const ThreadPlace& at) {
  return {
      {"physicalLocation", {{"artifactLocation", {{"uri", SarifUri(at.file)}}}, {"region", {{"startLine", at.line}}}}}};
}

}  // namespace

bool WriteSarifFile(const std::string& path, const std::vector<Finding>& findings) {
  std::set<std::string> kinds;
  SarifJson results = SarifJson::array();
  for (const Finding& finding : findings) {
    const std::string kind(InfoOf(finding.kind).heading);
    kinds.insert(kind);
    SarifJson result = {{"ruleId", kind}, {"level", "error"}, {"message", {{"text", Format(finding)}}}};
    result["locations"] = SarifJson::array();
    if (finding.first.line > 0) result["locations"].push_back(SarifLocation(finding.first));
    if (finding.second && finding.second->line > 0) {
      result["relatedLocations"] = SarifJson::array({SarifLocation(*finding.second)});
    }
    result["occurrenceCount"] = finding.count;
    results.push_back(std::move(result));
  }
  SarifJson rules = SarifJson::array();
  for (const std::string& kind : kinds) rules.push_back({{"id", kind}});
  const SarifJson tool = {{"driver", {{"name", "vgpu-run"}, {"rules", rules}}}};
  SarifJson run = {{"tool", tool}, {"columnKind", "unicodeCodePoints"}, {"results", std::move(results)}};
  const SarifJson document = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                              {"version", "2.1.0"},
                              {"runs", SarifJson::array({std::move(run)})}};
  std::ofstream file(path);
  file << document.dump(1, ' ', false, SarifJson::error_handler_t::replace) << '\n';
  file.flush();
  return file.good();
}

}  // namespace lockstep::vgpu::cudart
