// The modelled times on docs/records/transfers.md are what the model gives, and close to those measured on an H100.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "judge/model/stream_timeline.h"
#include "tests/model/profile_named.h"

namespace lockstep::judge {
namespace transfers_page_test {

using worker::StreamedKind;
using worker::StreamedOperation;

// The arrays and chunks of the program that measured docs/records/transfers.md.
constexpr uint64_t kBytes = uint64_t{4} << 24;
constexpr uint32_t kChunks = 32;

// The program's operations. A kernel's time is its share of the measured one, as only copies are tested here.
double Modelled(double kernel_us, uint32_t chunks, uint32_t streams, bool page_locked, bool depth_first) {
  std::vector<StreamedOperation> operations;
  std::vector<vgpu::LaunchRecord> launches(chunks);
  std::vector<std::vector<uint32_t>> in_stream(streams);  // what the stream's next operation waits for
  std::vector<uint32_t> host;                             // what the host has waited for
  const auto add = [&](StreamedKind kind, uint32_t chunk) {
    StreamedOperation operation;
    operation.kind = kind;
    operation.bytes = kBytes / chunks;
    operation.page_locked = page_locked;
    operation.first_launch = chunk;
    operation.stream = "stream " + std::to_string(1 + chunk % streams);
    operation.launches = 1;
    operation.after = in_stream[chunk % streams];
    operation.after.insert(operation.after.end(), host.begin(), host.end());
    const auto place = static_cast<uint32_t>(operations.size());
    in_stream[chunk % streams] = {place};
    if (!page_locked && kind != StreamedKind::kLaunch) host = {place};
    operations.push_back(std::move(operation));
  };
  const StreamedKind kinds[] = {StreamedKind::kToDevice, StreamedKind::kLaunch, StreamedKind::kToHost};
  for (vgpu::LaunchRecord& launch : launches) launch.microseconds = kernel_us / chunks;
  if (depth_first) {
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
      for (const StreamedKind kind : kinds) add(kind, chunk);
    }
  } else {
    for (const StreamedKind kind : kinds) {
      for (uint32_t chunk = 0; chunk < chunks; ++chunk) add(kind, chunk);
    }
  }
  return MakeTimeline(operations, launches, vgpu::Profile("h100")).timeline_us;
}

TEST(TransfersPageTest, TheModelIsNearTheMeasuredTimes) {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/docs/records/transfers.md");
  const std::regex row(
      R"(\| (whole|page-locked|pageable), (pageable|page-locked|depth-first|breadth-first)(?:, (\d) streams?)? )"
      R"(\| (\d+) \| (\d+) \| [\d.]+ \|)");
  double kernel = 0;
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_search(line, match, std::regex("through a kernel of ([\\d.]+) µs"))) kernel = std::stod(match[1]);
    if (!std::regex_match(line, match, row)) continue;
    ++rows;
    const bool whole = match[1] == "whole", page_locked = match[whole ? 2 : 1] == "page-locked";
    const uint32_t streams = whole ? 1 : static_cast<uint32_t>(std::stoul(match[3]));
    const double modelled = Modelled(kernel, whole ? 1 : kChunks, streams, page_locked, match[2] != "breadth-first");
    EXPECT_NEAR(modelled, std::stod(match[5]), 1) << line;
    // Every budget is farther than this from the time without its technique.
    EXPECT_NEAR(modelled / std::stod(match[4]), 1, page_locked ? 0.25 : 0.3) << line;
  }
  EXPECT_EQ(rows, 12);
}

}  // namespace transfers_page_test
}  // namespace lockstep::judge
