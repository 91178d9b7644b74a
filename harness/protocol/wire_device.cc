#include "protocol/wire_device.h"

namespace lockstep::worker {

namespace {

constexpr uint64_t kMaxSymbolBytes = uint64_t{256} << 10;  // C++ templates make long names
constexpr uint64_t kMaxOriginBytes = 1024;

void Put(Encoder& encoder, const vgpu::Dim3& dim) { encoder.Put(dim.x).Put(dim.y).Put(dim.z); }

vgpu::Dim3 GetDim3(Decoder& decoder) {
  vgpu::Dim3 dim;
  dim.x = decoder.Get<uint32_t>();
  dim.y = decoder.Get<uint32_t>();
  dim.z = decoder.Get<uint32_t>();
  return dim;
}

template <typename T>
T GetEnum(Decoder& decoder, T last) {
  const auto value = decoder.Get<uint8_t>();
  if (value > static_cast<uint8_t>(last)) throw WireError("unknown enumerator");
  return static_cast<T>(value);
}

}  // namespace

void Put(Encoder& encoder, const vgpu::KernelInfo& kernel) {
  encoder.PutString(kernel.mangled).PutString(kernel.demangled);
  encoder.Put(static_cast<uint32_t>(kernel.parameters.size()));
  for (const vgpu::KernelParameter& parameter : kernel.parameters) encoder.Put(parameter.offset).Put(parameter.bytes);
  encoder.Put(kernel.parameter_bytes).Put(kernel.registers).Put(kernel.static_shared).Put(kernel.local_bytes);
  Put(encoder, kernel.cluster);
  encoder.Put(kernel.constant_bytes).Put(kernel.max_threads).Put(kernel.ptx_version).Put(kernel.target_sm);
}

vgpu::KernelInfo GetKernelInfo(Decoder& decoder) {
  vgpu::KernelInfo kernel;
  kernel.mangled = decoder.GetString(kMaxSymbolBytes);
  kernel.demangled = decoder.GetString(kMaxSymbolBytes);
  kernel.parameters.resize(decoder.GetCount(8));
  for (vgpu::KernelParameter& parameter : kernel.parameters) {
    parameter.offset = decoder.Get<uint32_t>();
    parameter.bytes = decoder.Get<uint32_t>();
  }
  kernel.parameter_bytes = decoder.Get<uint32_t>();
  kernel.registers = decoder.Get<uint32_t>();
  kernel.static_shared = decoder.Get<uint32_t>();
  kernel.local_bytes = decoder.Get<uint32_t>();
  kernel.cluster = GetDim3(decoder);
  kernel.constant_bytes = decoder.Get<uint32_t>();
  kernel.max_threads = decoder.Get<uint32_t>();
  kernel.ptx_version = decoder.Get<int>();
  kernel.target_sm = decoder.Get<int>();
  return kernel;
}

void Put(Encoder& encoder, const vgpu::LibraryOperation& operation) {
  encoder.Put(operation.kind).Put(operation.is_double);
  for (const vgpu::LibraryOperand& operand : operation.operands) {
    encoder.Put(operand.address).Put(operand.leading).Put(operand.stride).Put(operand.transposed);
  }
  for (const vgpu::LibraryFactor& factor : {operation.alpha, operation.beta}) {
    encoder.PutDouble(factor.value).Put(factor.address);
  }
  encoder.Put(operation.result).Put(operation.m).Put(operation.n).Put(operation.k).Put(operation.batch);
  encoder.Put(operation.in).Put(operation.out).Put(operation.is_inverse);
}

vgpu::LibraryOperation GetLibraryOperation(Decoder& decoder) {
  vgpu::LibraryOperation operation;
  operation.kind = GetEnum(decoder, vgpu::LibraryKind::kFft);
  operation.is_double = decoder.GetBool();
  for (vgpu::LibraryOperand& operand : operation.operands) {
    operand.address = decoder.Get<uint64_t>();
    operand.leading = decoder.Get<int64_t>();
    operand.stride = decoder.Get<int64_t>();
    operand.transposed = decoder.GetBool();
  }
  for (vgpu::LibraryFactor* factor : {&operation.alpha, &operation.beta}) {
    factor->value = decoder.GetDouble();
    factor->address = decoder.Get<uint64_t>();
  }
  operation.result = decoder.Get<uint64_t>();
  for (int64_t* size : {&operation.m, &operation.n, &operation.k, &operation.batch}) *size = decoder.Get<int64_t>();
  operation.in = GetEnum(decoder, vgpu::FourierForm::kHalf);
  operation.out = GetEnum(decoder, vgpu::FourierForm::kHalf);
  operation.is_inverse = decoder.GetBool();
  return operation;
}

void Put(Encoder& encoder, const vgpu::VariableInfo& variable) {
  encoder.Put(variable.address).Put(variable.bytes).Put(variable.constant).Put(variable.managed);
}

vgpu::VariableInfo GetVariableInfo(Decoder& decoder) {
  vgpu::VariableInfo variable;
  variable.address = decoder.Get<uint64_t>();
  variable.bytes = decoder.Get<uint64_t>();
  variable.constant = decoder.GetBool();
  variable.managed = decoder.GetBool();
  return variable;
}

void Put(Encoder& encoder, const vgpu::LaunchSpec& launch) {
  encoder.Put(launch.module).PutString(launch.kernel);
  Put(encoder, launch.grid);
  Put(encoder, launch.block);
  Put(encoder, launch.cluster);
  encoder.Put(launch.dynamic_shared).Put(launch.cooperative).PutBytes(launch.parameters);
}

vgpu::LaunchSpec GetLaunchSpec(Decoder& decoder) {
  vgpu::LaunchSpec launch;
  launch.module = decoder.Get<vgpu::ModuleHandle>();
  launch.kernel = decoder.GetString(kMaxSymbolBytes);
  launch.grid = GetDim3(decoder);
  launch.block = GetDim3(decoder);
  launch.cluster = GetDim3(decoder);
  launch.dynamic_shared = decoder.Get<uint32_t>();
  launch.cooperative = decoder.GetBool();
  launch.parameters = decoder.GetBytes();
  return launch;
}

void Put(Encoder& encoder, const vgpu::LaunchResult& result) {
  encoder.Put(result.error).PutDouble(result.microseconds);
}

vgpu::LaunchResult GetLaunchResult(Decoder& decoder) {
  vgpu::LaunchResult result;
  const auto error = decoder.Get<uint8_t>();
  if (error > static_cast<uint8_t>(vgpu::LaunchError::kIllegalInstruction)) throw WireError("unknown launch error");
  result.error = static_cast<vgpu::LaunchError>(error);
  result.microseconds = decoder.GetDouble();
  return result;
}

namespace {

void Put(Encoder& encoder, const std::vector<uint32_t>& clock) {
  encoder.Put(static_cast<uint32_t>(clock.size()));
  for (const uint32_t count : clock) encoder.Put(count);
}

std::vector<uint32_t> GetClock(Decoder& decoder) {
  std::vector<uint32_t> clock(decoder.GetCount(sizeof(uint32_t)));
  for (uint32_t& count : clock) count = decoder.Get<uint32_t>();
  return clock;
}

}  // namespace

void Put(Encoder& encoder, const vgpu::StreamPoint& point) {
  encoder.Put(point.slot).Put(point.sequence);
  Put(encoder, point.before);
  Put(encoder, point.waited);
  encoder.Put(point.kind).PutString(point.stream.substr(0, kMaxOriginBytes));
  PutOrigin(encoder, point.function, point.call_site);
  encoder.Put(static_cast<uint32_t>(point.spans.size()));
  for (const vgpu::StreamPoint::Span& span : point.spans) {
    encoder.Put(span.address).Put(span.bytes).Put(span.writes);
  }
}

vgpu::StreamPoint GetStreamPoint(Decoder& decoder) {
  vgpu::StreamPoint point;
  point.slot = decoder.Get<uint32_t>();
  point.sequence = decoder.Get<uint32_t>();
  point.before = GetClock(decoder);
  point.waited = GetClock(decoder);
  point.kind = GetEnum(decoder, vgpu::StreamKind::kNonBlocking);
  point.stream = decoder.GetString(kMaxOriginBytes);
  WireOrigin origin = GetOrigin(decoder);
  point.function = std::move(origin.function);
  point.call_site = std::move(origin.call_site);
  point.spans.resize(decoder.GetCount(2 * sizeof(uint64_t) + 1));
  for (vgpu::StreamPoint::Span& span : point.spans) {
    span.address = decoder.Get<uint64_t>();
    span.bytes = decoder.Get<uint64_t>();
    span.writes = decoder.GetBool();
  }
  return point;
}

void Put(Encoder& encoder, const vgpu::HostRace& race) {
  encoder.Put(race.what).PutString(race.stream.substr(0, kMaxOriginBytes));
  PutOrigin(encoder, race.function, race.call_site);
  PutOrigin(encoder, race.found_function, race.found_call_site);
  encoder.Put(race.offset).Put(race.bytes);
}

vgpu::HostRace GetHostRace(Decoder& decoder) {
  vgpu::HostRace race;
  race.what = GetEnum(decoder, vgpu::HostRace::What::kArgumentGone);
  race.stream = decoder.GetString(kMaxOriginBytes);
  WireOrigin copy = GetOrigin(decoder), found = GetOrigin(decoder);
  race.function = std::move(copy.function);
  race.call_site = std::move(copy.call_site);
  race.found_function = std::move(found.function);
  race.found_call_site = std::move(found.call_site);
  race.offset = decoder.Get<uint64_t>();
  race.bytes = decoder.Get<uint64_t>();
  return race;
}

void PutOrigin(Encoder& encoder, std::string_view function, std::string_view call_site) {
  encoder.PutString(function.substr(0, kMaxOriginBytes)).PutString(call_site.substr(0, kMaxOriginBytes));
}

WireOrigin GetOrigin(Decoder& decoder) {
  WireOrigin origin;
  origin.function = decoder.GetString(kMaxOriginBytes);
  origin.call_site = decoder.GetString(kMaxOriginBytes);
  return origin;
}

}  // namespace lockstep::worker
