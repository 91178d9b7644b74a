// The requests of a CUDA backend, and their structs on the wire. Sizes and addresses are not checked here.
#pragma once

#include <array>
#include <string>

#include "protocol/fields.h"
#include "vgpu/device/device.h"
#include "vgpu/device/library_operation.h"

namespace lockstep::worker {

inline constexpr uint64_t kMaxSymbolBytes = uint64_t{256} << 10;  // C++ templates make long names
inline constexpr uint64_t kMaxOriginBytes = 1024;

// The API call that a request comes from.
struct WireOrigin {
  std::string function, call_site;
  std::array<uint64_t, 2> events = {};  // of a Note
};
struct SymbolName {
  std::string name;
};
struct ReadBytes {
  bool done = false;
  std::span<const uint8_t> bytes;
};
// The answer type of requests that get no reply.
struct Unanswered {};

// A request's type: its answer, and what it carries.
template <MessageType type>
struct RequestOf;
#define REQUEST(name, number, most_bytes, answer, ...) \
  template <>                                          \
  struct RequestOf<MessageType::k##name> {             \
    using Signature = answer(__VA_ARGS__);             \
  };
#include "protocol/messages.inc"

template <>
struct Last<vgpu::LaunchError> : std::integral_constant<vgpu::LaunchError, vgpu::LaunchError::kIllegalInstruction> {};
template <>
struct Last<vgpu::LibraryKind> : std::integral_constant<vgpu::LibraryKind, vgpu::LibraryKind::kFft> {};
template <>
struct Last<vgpu::FourierForm> : std::integral_constant<vgpu::FourierForm, vgpu::FourierForm::kHalf> {};
template <>
struct Last<vgpu::StreamKind> : std::integral_constant<vgpu::StreamKind, vgpu::StreamKind::kNonBlocking> {};
template <>
struct Last<vgpu::HostRace::What> : std::integral_constant<vgpu::HostRace::What, vgpu::HostRace::What::kArgumentGone> {
};

template <class Wire>
void Fields(Wire& wire, WireOrigin& origin) {
  wire(CutText{origin.function, kMaxOriginBytes}, CutText{origin.call_site, kMaxOriginBytes}, origin.events[0],
       origin.events[1]);
}

template <class Wire>
void Fields(Wire& wire, SymbolName& symbol) {
  wire(Text{symbol.name, MaxPayloadBytes(MessageType::kFindKernel)});
}

template <class Wire>
void Fields(Wire& wire, ReadBytes& read) {
  wire(read.done, read.bytes);
}

template <class Wire>
void Fields(Wire& wire, vgpu::Dim3& dim) {
  wire(dim.x, dim.y, dim.z);
}

template <class Wire>
void Fields(Wire& wire, vgpu::KernelParameter& parameter) {
  wire(parameter.offset, parameter.bytes);
}

template <class Wire>
void Fields(Wire& wire, vgpu::KernelInfo& kernel) {
  wire(Text{kernel.mangled, kMaxSymbolBytes}, Text{kernel.demangled, kMaxSymbolBytes}, kernel.parameters,
       kernel.parameter_bytes, kernel.registers, kernel.static_shared, kernel.local_bytes, kernel.cluster,
       kernel.constant_bytes, kernel.max_threads, kernel.required_block, kernel.max_cluster, kernel.ptx_version,
       kernel.target_sm);
}

template <class Wire>
void Fields(Wire& wire, vgpu::VariableInfo& variable) {
  wire(variable.address, variable.bytes, variable.constant, variable.managed);
}

template <class Wire>
void Fields(Wire& wire, vgpu::LaunchSpec& launch) {
  wire(launch.module, Text{launch.kernel, kMaxSymbolBytes}, launch.grid, launch.block, launch.cluster,
       launch.dynamic_shared, launch.cooperative, launch.parameters);
}

template <class Wire>
void Fields(Wire& wire, vgpu::LaunchResult& result) {
  wire(result.error, result.microseconds);
}

template <class Wire>
void Fields(Wire& wire, vgpu::LibraryOperation& operation) {
  wire(operation.kind, operation.is_double);
  for (vgpu::LibraryOperand& operand : operation.operands) {
    wire(operand.address, operand.leading, operand.stride, operand.transposed);
  }
  for (vgpu::LibraryFactor* factor : {&operation.alpha, &operation.beta}) wire(factor->value, factor->address);
  wire(operation.result, operation.m, operation.n, operation.k, operation.batch, operation.in, operation.out,
       operation.is_inverse);
}

template <class Wire>
void Fields(Wire& wire, vgpu::StreamPoint::Span& span) {
  wire(span.address, span.bytes, span.writes);
}

template <class Wire>
void Fields(Wire& wire, vgpu::StreamPoint& point) {
  wire(point.slot, point.sequence, point.before, point.waited, point.kind, CutText{point.stream, kMaxOriginBytes},
       CutText{point.function, kMaxOriginBytes}, CutText{point.call_site, kMaxOriginBytes}, point.spans);
}

template <class Wire>
void Fields(Wire& wire, vgpu::HostRace& race) {
  wire(race.what, CutText{race.stream, kMaxOriginBytes}, CutText{race.function, kMaxOriginBytes},
       CutText{race.call_site, kMaxOriginBytes}, CutText{race.found_function, kMaxOriginBytes},
       CutText{race.found_call_site, kMaxOriginBytes}, race.offset, race.bytes);
}

}  // namespace lockstep::worker
