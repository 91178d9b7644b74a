#include <cstring>

#include "dev/cosim/target.h"
#include "vgpu/device/device.h"
#include "vgpu/ptx/parser.h"

namespace lockstep::cosim {
namespace {

constexpr uint64_t kBudget = 20'000'000;  // warp instructions

class VirtualTarget : public Target {
 public:
  explicit VirtualTarget(bool checked) : checked_(checked) { Begin(); }

  std::string Load(const std::string& ptx) override {
    if (device_->faulted()) Begin();
    if (module_ != 0) device_->UnloadModule(module_);
    module_ = 0;
    try {
      module_ = device_->LoadModule(ptx);
    } catch (const vgpu::ptx::PtxError& error) {
      return error.what();
    }
    text_ = ptx;
    return "";
  }

  Outcome Run(const Kernel& kernel) override {
    if (device_->faulted()) {
      Begin();
      Load(std::string(text_));
    }
    Outcome outcome;
    if (module_ == 0) return {"no module", false, {}};
    device_->ClearRecords();
    device_->Fill(output_, 0, kOutputBytes);
    const uint64_t parameters[] = {input_, output_};
    uint8_t bytes[sizeof parameters];
    std::memcpy(bytes, parameters, sizeof bytes);
    vgpu::LaunchSpec spec;
    spec.module = module_;
    spec.kernel = kernel.name;
    spec.grid = {static_cast<uint32_t>(kernel.blocks)};
    spec.block = {static_cast<uint32_t>(kernel.threads)};
    spec.parameters = bytes;
    const bool launched = device_->Launch(spec).error == vgpu::LaunchError::kNone;
    if (!launched || !device_->findings().findings().empty()) {
      outcome.error = launched ? "findings" : "the launch failed";
      for (const vgpu::Finding& finding : device_->findings().findings()) outcome.error += "\n" + Format(finding);
      return outcome;
    }
    const size_t threads = static_cast<size_t>(kernel.threads * kernel.blocks), slots = kernel.slots.size();
    outcome.words.resize(threads * (slots + kScratchWords));
    for (size_t t = 0; t < threads; ++t) {
      uint32_t* row = &outcome.words[t * (slots + kScratchWords)];
      device_->Read(row, output_ + t * kSlots * 4, slots * 4);
      device_->Read(row + slots, output_ + uint64_t{kMostThreads} * kSlots * 4 + t * kScratch, kScratch);
    }
    return outcome;
  }

 private:
  void Begin() {
    vgpu::DeviceOptions options;
    options.counters = false;
    if (checked_) options.checkers = vgpu::CheckerSet::All();
    options.instruction_budget = kBudget;
    device_ = std::make_unique<vgpu::Device>(*vgpu::FindProfile("h200"), options);
    module_ = 0;
    const std::vector<uint64_t> table = InputTable();
    input_ = device_->Allocate(table.size() * 8, "in");
    output_ = device_->Allocate(kOutputBytes, "out");
    device_->Write(input_, table.data(), table.size() * 8);
  }

  bool checked_;
  std::unique_ptr<vgpu::Device> device_;
  vgpu::ModuleHandle module_ = 0;
  std::string text_;
  uint64_t input_ = 0, output_ = 0;
};

}  // namespace

std::unique_ptr<Target> MakeVirtualTarget(bool checked) { return std::make_unique<VirtualTarget>(checked); }

uint64_t Hash(const std::vector<uint32_t>& words) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint32_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15 ^ hash >> 29;
  return hash;
}

}  // namespace lockstep::cosim
