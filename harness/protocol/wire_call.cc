#include "protocol/wire_call.h"

#include "protocol/fields.h"

namespace lockstep::worker {

namespace {

constexpr uint64_t kMaxNameBytes = 256;
constexpr uint32_t kMaxParameters = 64;

void CheckWidth(uint8_t width) {
  if (width > 8) throw WireError("integer of " + std::to_string(width) + " bytes");
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

template <>
struct Last<ArgumentKind> : std::integral_constant<ArgumentKind, ArgumentKind::kCString> {};
template <>
struct Last<ParameterKind> : std::integral_constant<ParameterKind, ParameterKind::kFloat64> {};
template <>
struct Last<ValueKind> : std::integral_constant<ValueKind, ValueKind::kFloat64> {};
template <>
struct Last<FaultAddress> : std::integral_constant<FaultAddress, FaultAddress::kStack> {};

template <class Wire>
void Fields(Wire& wire, Parameter& parameter) {
  wire(parameter.kind, parameter.width, parameter.is_signed);
  CheckWidth(parameter.width);
}

template <class Wire>
void Fields(Wire& wire, LauncherInfo& launcher) {
  wire(Text{launcher.name, kMaxNameBytes}, launcher.result, AtMost<Parameter>{launcher.parameters, kMaxParameters});
}

template <class Wire>
void Fields(Wire& wire, Hello& hello) {
  wire(hello.version);
  if (Wire::kReads && hello.version != kProtocolVersion) {
    throw WireError("the worker speaks version " + std::to_string(hello.version) + " of the protocol, the judge " +
                    std::to_string(kProtocolVersion) + ": build the worker again");
  }
  wire(hello.launchers);
}

template <class Wire>
void Fields(Wire& wire, Argument& argument) {
  wire(argument.kind, argument.width, argument.bits, argument.bytes);
  CheckWidth(argument.width);
  if (argument.kind == ArgumentKind::kIpcPointer && argument.bytes.size() != kIpcHandleBytes) {
    throw WireError("IPC handle of " + std::to_string(argument.bytes.size()) + " bytes");
  }
}

template <class Wire>
void Fields(Wire& wire, Call& call) {
  wire(Text{call.launcher, kMaxNameBytes}, AtMost<Argument>{call.arguments, kMaxParameters});
}

template <class Wire>
void Fields(Wire& wire, Returned& returned) {
  wire(returned.refused, returned.result.kind, returned.result.bits, returned.cuda_error,
       Text{returned.cuda_error_name, kMaxNameBytes}, returned.arrays);
}

template <class Wire>
void Fields(Wire& wire, Stopped& stopped) {
  wire(stopped.address, stopped.site, stopped.exception);
}

std::vector<uint8_t> Encode(const Hello& hello) { return Encoded(hello); }
Hello DecodeHello(std::span<const uint8_t> payload) { return Decoded<Hello>(payload); }

// Encodes a Call's fields without copying the arguments first.
std::vector<uint8_t> EncodeCall(const std::string& launcher, std::span<const Argument> arguments) {
  constexpr size_t kOverhead = 64;  // more than an argument's other fields take
  size_t bytes = launcher.size() + kOverhead;
  for (const Argument& argument : arguments) bytes += argument.bytes.size() + kOverhead;
  Encoder encoder;
  encoder.Reserve(bytes);
  Writer writer(encoder);
  writer(launcher, arguments);
  return encoder.Take();
}
Call DecodeCall(std::span<const uint8_t> payload) { return Decoded<Call>(payload); }

std::vector<uint8_t> EncodeAll(std::span<const std::vector<uint8_t>> parts) { return Encoded(parts); }

std::vector<std::span<const uint8_t>> DecodeAll(std::span<const uint8_t> payload) {
  return Decoded<std::vector<std::span<const uint8_t>>>(payload);
}

std::vector<uint8_t> Encode(const Returned& returned) { return Encoded(returned); }
Returned DecodeReturned(std::span<const uint8_t> payload) { return Decoded<Returned>(payload); }
Stopped DecodeStopped(std::span<const uint8_t> payload) { return Decoded<Stopped>(payload); }

}  // namespace lockstep::worker
