// A device with a test's kernels on it, and typed buffers.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "vgpu/device/device.h"

namespace lockstep::vgpu {

inline std::string ReadPtx(const std::string& name) {
  std::ifstream file(LOCKSTEP_BUILD_DIR "/ptx/" + name + ".ptx");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<int> RandomInts(size_t n, int low, int high, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<int> values(n);
  for (int& v : values) v = low + static_cast<int>(random() % static_cast<uint64_t>(high - low + 1));
  return values;
}

template <typename T>
struct Buffer {
  uint64_t address = 0;
  size_t count = 0;
};

class TestDevice {
 public:
  explicit TestDevice(const std::string& ptx_text, DeviceOptions options = {}, const char* profile = "h200") {
    options.print = [this](std::string_view text) { printed_ += text; };
    device_ = std::make_unique<Device>(*FindProfile(profile), options);
    module_ = device_->LoadModule(ptx_text);
  }

  Device& operator*() { return *device_; }
  Device* operator->() { return device_.get(); }
  ModuleHandle module() const { return module_; }
  const std::string& printed() const { return printed_; }

  template <typename T>
  Buffer<T> Make(const std::vector<T>& values, const std::string& label = "buffer") {
    const Buffer<T> buffer{device_->Allocate(values.size() * sizeof(T), label), values.size()};
    EXPECT_TRUE(device_->Write(buffer.address, values.data(), values.size() * sizeof(T)));
    return buffer;
  }
  template <typename T>
  std::vector<T> Get(const Buffer<T>& buffer) {
    std::vector<T> values(buffer.count);
    EXPECT_TRUE(device_->Read(values.data(), buffer.address, buffer.count * sizeof(T)));
    return values;
  }

  struct Shape {
    Dim3 grid, block;
    uint32_t shared = 0;
    bool cooperative = false;
  };

  // Arguments are buffers, or values of the parameters' exact sizes.
  template <typename... Arguments>
  LaunchResult Launch(const std::string& kernel, const Shape& shape, const Arguments&... arguments) {
    const KernelInfo* info = device_->FindKernel(module_, kernel);
    if (info == nullptr) {
      ADD_FAILURE() << "no kernel " << kernel;
      return {LaunchError::kInvalidConfiguration, 0};
    }
    std::vector<uint8_t> block(info->parameter_bytes);
    size_t k = 0;
    [[maybe_unused]] const auto put = [&](const auto& value) {
      ASSERT_LT(k, info->parameters.size());
      ASSERT_EQ(sizeof value, info->parameters[k].bytes) << "parameter " << k;
      std::memcpy(&block[info->parameters[k++].offset], &value, sizeof value);
    };
    (Put(put, arguments), ...);
    EXPECT_EQ(k, info->parameters.size());
    LaunchSpec spec;
    spec.module = module_;
    spec.kernel = kernel;
    spec.grid = shape.grid;
    spec.block = shape.block;
    spec.dynamic_shared = shape.shared;
    spec.cooperative = shape.cooperative;
    spec.parameters = block;
    return device_->Launch(spec);
  }

  // Fails the test unless the launch went through without a finding.
  template <typename... Arguments>
  const LaunchRecord& Run(const std::string& kernel, const Shape& shape, const Arguments&... arguments) {
    const LaunchResult result = Launch(kernel, shape, arguments...);
    EXPECT_EQ(result.error, LaunchError::kNone) << kernel;
    for (const Finding& finding : device_->findings().findings()) ADD_FAILURE() << Format(finding);
    static const LaunchRecord none;
    return device_->launches().empty() ? none : device_->launches().back();
  }

 private:
  template <typename F, typename T>
  static void Put(const F& put, const Buffer<T>& buffer) {
    put(buffer.address);
  }
  template <typename F, typename T>
  static void Put(const F& put, const T& value) {
    put(value);
  }

  std::unique_ptr<Device> device_;
  ModuleHandle module_ = 0;
  std::string printed_;
};

}  // namespace lockstep::vgpu
