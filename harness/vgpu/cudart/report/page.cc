// page.html draws the JSON data embedded in it. make profile PAGE=1 and make test PAGE=1 write such a page from what
// the judge recorded (grader/src/grader/student/page.py).
#include <fstream>
#include <utility>

#include "vgpu/cudart/report/report.h"
#include "vgpu/device/page_data.h"

namespace lockstep::vgpu::cudart {
namespace {

constexpr char kTemplate[] =
#include "page_html.inc"
    ;

// The text of the data element: a "</script>" in a string would end it.
std::string ForScript(const nlohmann::ordered_json& json) {
  std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace

bool WritePage(const std::string& path, const Device& device, nlohmann::ordered_json operations) {
  std::string text = kTemplate;
  PageData page = PageDataOf(device);
  page.data["streams"] = std::move(operations);
  page.data["replayed_by"] = "vgpu-run --check --page=FILE --replay=";
  const auto put = [&](const std::string& mark, const std::string& json) {
    text.replace(text.find(mark), mark.size(), json);
  };
  put("[\"replays\"]", ForScript(page.replays));
  put("{\"data\": \"here\"}", ForScript(page.data));
  std::ofstream file(path);
  file << text;
  file.flush();
  return file.good();
}

}  // namespace lockstep::vgpu::cudart
