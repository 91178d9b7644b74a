// The landscape that assignment 10's tuners search: the reference's family in all configurations, on every device
// profile. docs/records/tuning.md shows it; LOCKSTEP_UPDATE_GOLDEN=1 writes the page anew.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../../../assignments/10_tuning/tuning.h"
#include "suites/10_tuning_landscape.h"
#include "tests/support/device_support.h"
#include "tests/support/golden.h"
#include "vgpu/core/grouped.h"

namespace lockstep::suites {
namespace tuning_landscape_test {

constexpr unsigned kElements = 32'001, kMarks = 150;  // as in the public tests

// The kernels' names in the PTX, by unroll and items.
std::map<std::pair<int, int>, std::string> KernelsOf(const std::string& ptx) {
  std::map<std::pair<int, int>, std::string> kernels;
  for (size_t at = ptx.find(".entry "); at != std::string::npos; at = ptx.find(".entry ", at + 1)) {
    const size_t begin = at + std::strlen(".entry ");
    const std::string name = ptx.substr(begin, ptx.find('(', begin) - begin);
    for (const int unroll : kUnrolls) {
      for (const int items : kItems) {
        const std::string instance = "ILi" + std::to_string(unroll) + "ELi" + std::to_string(items) + "E";
        if (name.find("tuning1_family_kernel" + instance) != std::string::npos) kernels[{unroll, items}] = name;
      }
    }
  }
  return kernels;
}

// The kernel's arguments, which all rungs of the reference pass on.
struct Task {
  uint64_t in, out;
  uint32_t n;
  uint64_t marks;
  uint32_t m;
};

Launches Sweep() {
  const std::string ptx = vgpu::ReadPtx("tuning_landscape");
  vgpu::DeviceOptions options;
  options.counters = true;
  vgpu::TestDevice device(ptx, options);
  const auto kernels = KernelsOf(ptx);
  const auto in = device.Make(vgpu::RandomInts(kElements, -1000, 1000));
  const auto marks = device.Make(vgpu::RandomInts(kMarks, -1000, 1000, 2));
  const auto out = device.Make(std::vector<int>(kElements));
  Launches launches;
  for (const Config& config : Configs()) {
    const unsigned each = static_cast<unsigned>(config.block * config.items);
    launches[KeyOf(config)] =
        device.Run(kernels.at({config.unroll, config.items}),
                   {{(kElements + each - 1) / each, 1, 1},
                    {static_cast<unsigned>(config.block), 1, 1},
                    static_cast<uint32_t>(config.tile) * 4},
                   Task{in.address, out.address, kElements, marks.address, kMarks}, static_cast<uint32_t>(config.tile));
  }
  return launches;
}

const Launches& Swept() {
  static const Launches launches = Sweep();
  return launches;
}

std::string Microseconds(double microseconds) {
  char text[32];
  std::snprintf(text, sizeof text, microseconds < 100 ? "%.1f" : "%.0f", microseconds);
  return text;
}

std::string Numbers(const Config& config) {
  return std::to_string(config.block) + ", " + std::to_string(config.tile) + ", " + std::to_string(config.unroll) +
         ", " + std::to_string(config.items);
}

std::string Page() {
  std::string text =
      "# The tuner's landscape\n\n"
      "How long the reference's family of [assignment 10](../../assignments/10_tuning/README.md) takes in its "
      "configurations, on each device\n"
      "profile, by the [time model](../concepts/time-model.md): " +
      vgpu::Grouped(kElements) + " elements, " + std::to_string(kMarks) +
      " marks, as in the public tests. A configuration is written as\n"
      "block, tile, unroll, items. A few are valid and still don't fit an old device: it has not enough registers for "
      "such a block.\n\n"
      "This page is generated: `./dev page tuning` writes it again, and the "
      "test fails where the model\n"
      "or the family has changed. The test also holds what the assignment needs: no configuration is near the best on "
      "all devices, and the\n"
      "median is far from it.\n\n"
      "| profile | fit | best | µs | median | µs | worst | µs | within 5 % | within 15 % |\n"
      "|---|---:|---|---:|---|---:|---|---:|---:|---:|\n";
  for (const vgpu::DeviceProfile* device : vgpu::AllProfiles()) {
    const std::vector<TimedConfig> landscape = LandscapeOf(Swept(), *device, *device);
    const TimedConfig &best = landscape.front(), &median = landscape[landscape.size() / 2], &worst = landscape.back();
    const auto within = [&](double ratio) {
      return std::count_if(landscape.begin(), landscape.end(),
                           [&](const TimedConfig& timed) { return timed.microseconds <= ratio * best.microseconds; });
    };
    text += "| `" + std::string(device->id) + "` | " + std::to_string(landscape.size());
    for (const TimedConfig* timed : {&best, &median, &worst}) {
      text += " | " + Numbers(timed->config) + " | " + Microseconds(timed->microseconds);
    }
    text += " | " + std::to_string(within(1.05)) + " | " + std::to_string(within(1.15)) + " |\n";
  }
  text +=
      "\nWhat is best on one device, on the others: its time there ÷ the best time there. Rows choose, columns "
      "run.\n\n| best of |";
  std::string line = "\n|---|";
  for (const vgpu::DeviceProfile* device : vgpu::AllProfiles()) {
    text += " `" + std::string(device->id) + "` |";
    line += "---:|";
  }
  text += line + "\n";
  for (const vgpu::DeviceProfile* from : vgpu::AllProfiles()) {
    const Config choice = LandscapeOf(Swept(), *from, *from).front().config;
    text += "| `" + std::string(from->id) + "` |";
    for (const vgpu::DeviceProfile* device : vgpu::AllProfiles()) {
      const auto landscape = LandscapeOf(Swept(), *device, *device);
      const auto time = TimeOf(landscape, choice);
      char ratio[32];
      std::snprintf(ratio, sizeof ratio, " %.2f |", time.value_or(0) / landscape.front().microseconds);
      text += time ? ratio : " – |";
    }
    text += "\n";
  }
  text +=
      "\nStudents have tests on the `t4`, the `rtx4090` and the `h200`. They are graded on the `g80`, the `rtx3060` "
      "and the "
      "`h100` too,\nwith other numbers of elements and marks, and on devices that were never built: a clock whose "
      "multiprocessors, "
      "issue rate and\nlatencies are drawn from the run's seed, behind the name of another device. This page knows "
      "nothing of those.";
  return text;
}

TEST(TuningLandscapeTest, ThePageIsUpToDate) { ExpectFile("docs/records/tuning.md", Page()); }

TEST(TuningLandscapeTest, AllConfigurationsAreThere) {
  EXPECT_EQ(Configs().size(), 82u);
  EXPECT_EQ(Configs(/*valid=*/false).size(), 108u - 82u);
  EXPECT_EQ(Swept().size(), 82u);
}

// No fixed choice is good enough: none is as good as the best on old, middle and new devices.
TEST(TuningLandscapeTest, NoConfigurationIsGoodEverywhere) {
  for (const Config& config : Configs()) {
    double worst = 1;
    for (const vgpu::DeviceProfile* device : vgpu::AllProfiles()) {
      const auto landscape = LandscapeOf(Swept(), *device, *device);
      const auto time = TimeOf(landscape, config);
      worst = std::max(worst, time ? *time / landscape.front().microseconds : INFINITY);
    }
    EXPECT_GT(worst, 1.1) << TextOf(config);
  }
}

TEST(TuningLandscapeTest, MostAreFarFromTheBest) {
  for (const vgpu::DeviceProfile* device : vgpu::AllProfiles()) {
    const auto landscape = LandscapeOf(Swept(), *device, *device);
    EXPECT_GT(landscape[landscape.size() / 2].microseconds, 1.25 * landscape.front().microseconds) << device->id;
    EXPECT_GT(landscape.back().microseconds, 2.5 * landscape.front().microseconds) << device->id;
  }
}

}  // namespace tuning_landscape_test
}  // namespace lockstep::suites
