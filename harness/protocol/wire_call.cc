#include "protocol/wire_call.h"

namespace lockstep::worker {

namespace {

constexpr uint64_t kMaxNameBytes = 256;
constexpr uint32_t kMaxParameters = 64;

template <typename Kind>
Kind GetKind(Decoder& decoder, Kind last) {
  const auto value = decoder.Get<uint8_t>();
  if (value > static_cast<uint8_t>(last)) throw WireError("kind " + std::to_string(value) + " out of range");
  return static_cast<Kind>(value);
}

uint8_t GetWidth(Decoder& decoder) {
  const auto width = decoder.Get<uint8_t>();
  if (width > 8) throw WireError("integer of " + std::to_string(width) + " bytes");
  return width;
}

std::string Describe(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::kPointer:
      return "pointer";
    case ParameterKind::kConstCharPointer:
      return "string";
    case ParameterKind::kInteger:
      return (parameter.is_signed ? "i" : "u") + std::to_string(parameter.width * 8);
    case ParameterKind::kFloat32:
      return "float";
    case ParameterKind::kFloat64:
      return "double";
  }
  return "?";
}

std::string Describe(const Argument& argument) {
  switch (argument.kind) {
    case ArgumentKind::kDevicePointer:
    case ArgumentKind::kIpcPointer:
      return "device pointer";
    case ArgumentKind::kHostArray:
      return "host array";
    case ArgumentKind::kCString:
      return "string";
    case ArgumentKind::kInteger:
      return std::to_string(argument.width * 8) + "-bit integer";
    case ArgumentKind::kFloat32:
      return "float";
    case ArgumentKind::kFloat64:
      return "double";
  }
  return "?";
}

bool Fits(const Parameter& parameter, const Argument& argument) {
  switch (argument.kind) {
    case ArgumentKind::kDevicePointer:
    case ArgumentKind::kIpcPointer:
    case ArgumentKind::kHostArray:
      return parameter.kind == ParameterKind::kPointer || parameter.kind == ParameterKind::kConstCharPointer;
    case ArgumentKind::kCString:
      return parameter.kind == ParameterKind::kConstCharPointer;
    case ArgumentKind::kInteger:
      return parameter.kind == ParameterKind::kInteger && parameter.width == argument.width;
    case ArgumentKind::kFloat32:
      return parameter.kind == ParameterKind::kFloat32;
    case ArgumentKind::kFloat64:
      return parameter.kind == ParameterKind::kFloat64;
  }
  return false;
}

template <typename T>
std::string Join(std::span<const T> things) {
  std::string text;
  for (const T& thing : things) text += (text.empty() ? "" : ", ") + Describe(thing);
  return text.empty() ? "nothing" : text;
}

}  // namespace

double Value::AsDouble() const {
  if (kind == ValueKind::kFloat32) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::string Describe(std::span<const Parameter> parameters) { return Join(parameters); }
std::string Describe(std::span<const Argument> arguments) { return Join(arguments); }

std::string Mismatch(const LauncherInfo& launcher, std::span<const Argument> arguments) {
  bool fits = launcher.parameters.size() == arguments.size();
  for (size_t i = 0; fits && i < arguments.size(); ++i) fits = Fits(launcher.parameters[i], arguments[i]);
  if (fits) return "";
  return launcher.name + " takes (" + Describe(launcher.parameters) + ") but was called with (" + Describe(arguments) +
         ")";
}

std::vector<uint8_t> Encode(const Hello& hello) {
  Encoder encoder;
  encoder.Put(hello.version).Put(static_cast<uint32_t>(hello.launchers.size()));
  for (const LauncherInfo& launcher : hello.launchers) {
    encoder.PutString(launcher.name).Put(launcher.result).Put(static_cast<uint32_t>(launcher.parameters.size()));
    for (const Parameter& parameter : launcher.parameters) {
      encoder.Put(parameter.kind).Put(parameter.width).Put(parameter.is_signed);
    }
  }
  return encoder.Take();
}

Hello DecodeHello(std::span<const uint8_t> payload) {
  Decoder decoder(payload);
  Hello hello;
  hello.version = decoder.Get<uint32_t>();
  if (hello.version != kProtocolVersion) {
    throw WireError("the worker speaks version " + std::to_string(hello.version) + " of the protocol, the judge " +
                    std::to_string(kProtocolVersion) + ": build the worker again");
  }
  hello.launchers.resize(decoder.GetCount(13));
  for (LauncherInfo& launcher : hello.launchers) {
    launcher.name = decoder.GetString(kMaxNameBytes);
    launcher.result = GetKind(decoder, ValueKind::kFloat64);
    const uint32_t count = decoder.GetCount(3);
    if (count > kMaxParameters) throw WireError("launcher with " + std::to_string(count) + " parameters");
    launcher.parameters.resize(count);
    for (Parameter& parameter : launcher.parameters) {
      parameter.kind = GetKind(decoder, ParameterKind::kFloat64);
      parameter.width = GetWidth(decoder);
      parameter.is_signed = decoder.GetBool();
    }
  }
  decoder.Finish();
  return hello;
}

std::vector<uint8_t> EncodeCall(const std::string& launcher, std::span<const Argument> arguments) {
  constexpr size_t kOverhead = 64;  // more than an argument takes beside its bytes
  size_t bytes = launcher.size() + kOverhead;
  for (const Argument& argument : arguments) bytes += argument.bytes.size() + kOverhead;
  Encoder encoder;
  encoder.Reserve(bytes);
  encoder.PutString(launcher).Put(static_cast<uint32_t>(arguments.size()));
  for (const Argument& argument : arguments) {
    encoder.Put(argument.kind).Put(argument.width).Put(argument.bits).PutBytes(argument.bytes);
  }
  return encoder.Take();
}

Call DecodeCall(std::span<const uint8_t> payload) {
  Decoder decoder(payload);
  Call call;
  call.launcher = decoder.GetString(kMaxNameBytes);
  const uint32_t count = decoder.GetCount(18);
  if (count > kMaxParameters) throw WireError("call with " + std::to_string(count) + " arguments");
  call.arguments.resize(count);
  for (Argument& argument : call.arguments) {
    argument.kind = GetKind(decoder, ArgumentKind::kCString);
    argument.width = GetWidth(decoder);
    argument.bits = decoder.Get<uint64_t>();
    const auto bytes = decoder.GetBytes();
    argument.bytes.assign(bytes.begin(), bytes.end());
    if (argument.kind == ArgumentKind::kIpcPointer && argument.bytes.size() != kIpcHandleBytes) {
      throw WireError("IPC handle of " + std::to_string(argument.bytes.size()) + " bytes");
    }
  }
  decoder.Finish();
  return call;
}

std::vector<uint8_t> EncodeAll(std::span<const std::vector<uint8_t>> parts) {
  Encoder encoder;
  encoder.Put(static_cast<uint32_t>(parts.size()));
  for (const std::vector<uint8_t>& part : parts) encoder.PutBytes(part);
  return encoder.Take();
}

std::vector<std::span<const uint8_t>> DecodeAll(std::span<const uint8_t> payload) {
  Decoder decoder(payload);
  std::vector<std::span<const uint8_t>> parts(decoder.GetCount(sizeof(uint64_t)));
  for (std::span<const uint8_t>& part : parts) part = decoder.GetBytes();
  decoder.Finish();
  return parts;
}

std::vector<uint8_t> Encode(const Returned& returned) {
  Encoder encoder;
  encoder.PutString(returned.refused).Put(returned.result.kind).Put(returned.result.bits);
  encoder.Put(returned.cuda_error).PutString(returned.cuda_error_name);
  encoder.Put(static_cast<uint32_t>(returned.arrays.size()));
  for (const auto& array : returned.arrays) encoder.PutBytes(array);
  return encoder.Take();
}

Returned DecodeReturned(std::span<const uint8_t> payload) {
  Decoder decoder(payload);
  Returned returned;
  returned.refused = decoder.GetString();
  returned.result.kind = GetKind(decoder, ValueKind::kFloat64);
  returned.result.bits = decoder.Get<uint64_t>();
  returned.cuda_error = decoder.Get<int32_t>();
  returned.cuda_error_name = decoder.GetString(kMaxNameBytes);
  returned.arrays.resize(decoder.GetCount(8));
  for (auto& array : returned.arrays) {
    const auto bytes = decoder.GetBytes();
    array.assign(bytes.begin(), bytes.end());
  }
  decoder.Finish();
  return returned;
}

Stopped DecodeStopped(std::span<const uint8_t> payload) {
  Decoder decoder(payload);
  Stopped stopped;
  const auto address = decoder.Get<uint8_t>();
  if (address > static_cast<uint8_t>(FaultAddress::kStack)) throw WireError("no kind of address");
  stopped.address = static_cast<FaultAddress>(address);
  stopped.site = decoder.GetString();
  stopped.exception = decoder.GetString();
  decoder.Finish();
  return stopped;
}

}  // namespace lockstep::worker
