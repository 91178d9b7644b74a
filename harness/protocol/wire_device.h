// The wire format of a CUDA backend's requests and answers: a struct for everything more than a number.
#pragma once

#include <string>
#include <vector>

#include "protocol/wire.h"
#include "vgpu/device/device.h"
#include "vgpu/device/library_operation.h"

namespace lockstep::worker {

void Put(Encoder& encoder, const vgpu::KernelInfo& kernel);
vgpu::KernelInfo GetKernelInfo(Decoder& decoder);

void Put(Encoder& encoder, const vgpu::VariableInfo& variable);
vgpu::VariableInfo GetVariableInfo(Decoder& decoder);

// LaunchSpec's parameters view the payload that was decoded.
void Put(Encoder& encoder, const vgpu::LaunchSpec& launch);
vgpu::LaunchSpec GetLaunchSpec(Decoder& decoder);

void Put(Encoder& encoder, const vgpu::LaunchResult& result);
vgpu::LaunchResult GetLaunchResult(Decoder& decoder);

// An invalid enumerator is a WireError; sizes and addresses are not checked here.
void Put(Encoder& encoder, const vgpu::LibraryOperation& operation);
vgpu::LibraryOperation GetLibraryOperation(Decoder& decoder);

void Put(Encoder& encoder, const vgpu::StreamPoint& point);
vgpu::StreamPoint GetStreamPoint(Decoder& decoder);

void Put(Encoder& encoder, const vgpu::HostRace& race);
vgpu::HostRace GetHostRace(Decoder& decoder);

// The API call that a request comes from.
struct WireOrigin {
  std::string function, call_site;
};
void PutOrigin(Encoder& encoder, std::string_view function, std::string_view call_site);
WireOrigin GetOrigin(Decoder& decoder);

}  // namespace lockstep::worker
