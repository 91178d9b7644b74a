// docs/records/transfers.md: what a GPU's link to the host does, the course's figures, measured and modelled ones.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "judge/model/stream_timeline.h"
#include "tests/model/profile_named.h"
#include "tests/support/golden.h"
#include "vgpu/cudart/report/table.h"

namespace lockstep::judge {
namespace {

using vgpu::WithDecimals;
using worker::StreamedKind;
using worker::StreamedOperation;

// The program's arrays and its chunks: harness/dev/bench/gpu_transfers.cu.
constexpr uint64_t kBytes = uint64_t{4} << 24;
constexpr uint32_t kChunks = 32;
constexpr double kBytesPerMicrosecond = 1e3;  // of a gigabyte a second

struct Recorded {
  std::string gpu;
  std::map<std::string, double> values;
};

Recorded ReadRecorded() {
  Recorded recorded;
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/harness/dev/bench/recorded/transfers-h100.csv");
  std::getline(file, recorded.gpu);
  recorded.gpu.erase(0, 2);
  for (std::string line; std::getline(file, line);) {
    const size_t comma = line.find(',');
    if (comma != std::string::npos) recorded.values[line.substr(0, comma)] = std::stod(line.substr(comma + 1));
  }
  return recorded;
}

// The same operations as the program's. A kernel's time is the measured one's share: kernels are not the matter here.
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

std::string Rate(double microseconds, double bytes) {
  return WithDecimals(bytes / microseconds / kBytesPerMicrosecond, 1);
}

std::string Row(const std::string& what, double measured, double modelled) {
  return "| " + what + " | " + WithDecimals(measured, 0) + " | " + WithDecimals(modelled, 0) + " | " +
         WithDecimals(modelled / measured, 2) + " |\n";
}

std::string Page() {
  const Recorded recorded = ReadRecorded();
  const auto value = [&](const std::string& name) { return recorded.values.at(name); };
  const vgpu::DeviceProfile& h100 = vgpu::Profile("h100");
  const vgpu::DeviceProfile& g80 = vgpu::Profile("g80");
  constexpr double kLarge = double{256 << 20};
  std::ostringstream page;
  page << "# Transfers\n\n"
          "Copies between host and device, and what streams gain: the course's figures beside measured and modelled "
          "ones. "
          "[Streams](../concepts/streams.md#the-timeline)\n"
          "says how the timeline is modelled, and [assignment 09](../../assignments/09_streams/README.md) rests on "
          "it.\n\n"
          "`harness/dev/bench/gpu_transfers.cu` measures, and `LOCKSTEP_UPDATE_GOLDEN=1 transfers_page_test` writes "
          "this "
          "page anew from\n"
          "`harness/dev/bench/recorded/transfers-h100.csv`. A test checks that it is up to date.\n\n"
          "## The link to the host\n\n"
          "| GB/s | the course, GeForce 8800 (2006) | profile `g80` | measured: "
       << recorded.gpu
       << " | profile `h100` |\n|---|---:|---:|---:|---:|\n"
          "| to the device, page-locked | 3.2 (typical) | "
       << WithDecimals(g80.host_pinned_gb_per_s, 1) << " | " << Rate(value("pinned_to_device_262144k_us"), kLarge)
       << " | " << WithDecimals(h100.host_pinned_gb_per_s, 1) << " |\n| to the host, page-locked | 3.2 (typical) | "
       << WithDecimals(g80.host_pinned_gb_per_s, 1) << " | " << Rate(value("pinned_to_host_262144k_us"), kLarge)
       << " | " << WithDecimals(h100.host_pinned_gb_per_s, 1) << " |\n| to the device, pageable | – | "
       << WithDecimals(g80.host_gb_per_s, 1) << " | " << Rate(value("pageable_to_device_262144k_us"), kLarge) << " | "
       << WithDecimals(h100.host_gb_per_s, 1) << " |\n| to the host, pageable | – | "
       << WithDecimals(g80.host_gb_per_s, 1) << " | " << Rate(value("pageable_to_host_262144k_us"), kLarge) << " | "
       << WithDecimals(h100.host_gb_per_s, 1) << " |\n| the bus, at most | 4 | | 64 | |\n| on the device | 80 | "
       << WithDecimals(g80.dram_gb_per_s * g80.dram_efficiency, 1) << " | "
       << Rate(value("on_device_262144k_us"), 2 * kLarge) << " | "
       << WithDecimals(h100.dram_gb_per_s * h100.dram_efficiency, 0)
       << " |\n\nOf copies of 256 MiB; on the device each byte counts twice, as it is read and written. The bus of an "
          "H100 is "
          "PCIe 5.0 with 16 lanes.\n\n"
          "| µs | measured | profile `h100` |\n|---|---:|---:|\n| 4 KiB to the device, and the wait for it | "
       << WithDecimals(value("pinned_to_device_4k_us"), 1) << " | "
       << WithDecimals(h100.copy_overhead_us + 4096 / (h100.host_pinned_gb_per_s * kBytesPerMicrosecond), 1)
       << " |\n| of a copy behind another one in its stream, beside its bytes: 64 KiB | "
       << WithDecimals(value("queued_copy_64k_us"), 2) << " | " << WithDecimals(h100.queued_copy_us, 2)
       << " |\n| the same, 256 KiB | " << WithDecimals(value("queued_copy_256k_us"), 2) << " | "
       << WithDecimals(h100.queued_copy_us, 2) << " |\n\n"
       << "## What streams gain\n\n"
          "2^24 floats go to the device, through a kernel of "
       << WithDecimals(value("kernel_us"), 0)
       << " µs, and back: whole, or in 32 chunks that take turns in streams. Modelled with the measured\nkernel's "
          "time, on the "
          "profile `h100`. Depth-first: a chunk's three operations are issued in one go; breadth-first: all copies "
          "to\nthe "
          "device, then all kernels, then all copies to the host.\n\n"
          "| | measured, µs | modelled, µs | modelled ÷ measured |\n|---|---:|---:|---:|\n";
  const double kernel = value("kernel_us");
  page << Row("whole, pageable", value("whole_pageable_us"), Modelled(kernel, 1, 1, false, true))
       << Row("whole, page-locked", value("whole_pinned_us"), Modelled(kernel, 1, 1, true, true));
  for (const char* order : {"depth", "breadth"}) {
    for (const uint32_t streams : {1u, 2u, 4u, 8u}) {
      const std::string name = std::string(order) + "_first_" + std::to_string(streams) + "_us";
      const std::string count = std::to_string(streams) + (streams == 1 ? " stream" : " streams");
      const bool depth_first = std::string(order) == "depth";
      page << Row("page-locked, " + std::string(order) + "-first, " + count, value("pinned_" + name),
                  Modelled(kernel, kChunks, streams, true, depth_first));
    }
  }
  for (const uint32_t streams : {1u, 4u}) {
    page << Row("pageable, depth-first, " + std::to_string(streams) + (streams == 1 ? " stream" : " streams"),
                value("pageable_depth_first_" + std::to_string(streams) + "_us"),
                Modelled(kernel, kChunks, streams, false, true));
  }
  page << "\nWhere both directions are busy each is some 15 % slower on the H100 ("
       << WithDecimals(value("both_ways_us"), 0) << " µs for 256 MiB each way, and "
       << WithDecimals(value("pinned_to_device_262144k_us"), 0)
       << " µs for one way alone), and chunks of pageable memory lose\nmore than their staging. The model has neither, "
          "and no "
          "criterion rests on them.\n";
  return page.str();
}

TEST(TransfersPageTest, IsUpToDate) {
  std::string page = Page();
  page.pop_back();
  ExpectFile("docs/records/transfers.md", page);
}

// No budget is nearer to what the technique's absence gives than this.
TEST(TransfersPageTest, TheModelIsNearTheMeasuredTimes) {
  const Recorded recorded = ReadRecorded();
  const double kernel = recorded.values.at("kernel_us");
  for (const uint32_t streams : {1u, 2u, 4u, 8u}) {
    const double measured = recorded.values.at("pinned_depth_first_" + std::to_string(streams) + "_us");
    EXPECT_NEAR(Modelled(kernel, kChunks, streams, true, true) / measured, 1, 0.25) << streams;
  }
}

}  // namespace
}  // namespace lockstep::judge
