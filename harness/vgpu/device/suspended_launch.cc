#include "vgpu/device/suspended_launch.h"

#include "vgpu/device/device_impl.h"

namespace lockstep::vgpu {

LaunchResult Device::LaunchAsync(const LaunchSpec& launch) {
  if (!impl_->MayWait(launch)) return impl_->Launch(launch);
  auto suspended = std::make_shared<Impl::Suspended>(*impl_, launch);
  if (suspended->Resume()) return suspended->result();
  LaunchResult result;
  result.suspended = std::move(suspended);
  return result;
}

LaunchError Device::Check(const LaunchSpec& launch) const {
  const KernelInfo* kernel = FindKernel(launch.module, launch.kernel);
  uint32_t blocks_per_sm = 0;
  return kernel == nullptr ? LaunchError::kInvalidConfiguration : impl_->CheckShape(launch, *kernel, &blocks_per_sm);
}

bool Device::Impl::MayWait(const LaunchSpec& spec) {
  LoadedModule* module = FindModule(spec.module);
  const Program* program = module == nullptr ? nullptr : module->FindProgram(spec.kernel);
  // Only a kernel that polls global memory can pause: it runs on one thread, and is never restarted. One that calls the
  // device runtime may launch such a kernel.
  return program != nullptr && ((program->may_wait && program->order_sensitive) || program->calls_runtime);
}

std::vector<std::unique_ptr<Observer>> Device::Impl::PartWithCheckers() {
  std::vector<std::unique_ptr<Observer>> parted;
  for (size_t k = 0; k < checkers.size(); ++k) {
    std::unique_ptr<Checker> beside = checkers[k]->Beside();
    checkers[k] = beside.get();
    observers[k] = beside.get();
    parted.push_back(std::exchange(owned[k], std::move(beside)));
  }
  return parted;
}

double Device::Impl::FreeRoom() const {
  double room = 1;
  for (const Suspended* launch : suspended) room -= launch->room();
  return std::max(room, 0.0);
}

}  // namespace lockstep::vgpu
