// The payloads of Hello, Call, Returned and Stopped: signatures, arguments, results and crashes of launchers.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "protocol/wire.h"

namespace lockstep::worker {

enum class ArgumentKind : uint8_t {
  kDevicePointer,  // an address in the device's memory
  kIpcPointer,     // the same on a real GPU: a cudaIpcMemHandle_t and an offset; the worker opens the handle
  kInteger,
  kFloat32,
  kFloat64,
  kHostArray,  // bytes that the worker stores for the call; Returned sends them back
  kCString,
};

inline constexpr size_t kIpcHandleBytes = 64;

struct Argument {
  ArgumentKind kind = ArgumentKind::kInteger;
  uint8_t width = 0;           // kInteger: bytes
  uint64_t bits = 0;           // value; address; offset for an IPC handle
  std::vector<uint8_t> bytes;  // host array, string without terminator, IPC handle

  static Argument DevicePointer(uint64_t address) { return {ArgumentKind::kDevicePointer, 0, address, {}}; }
  static Argument IpcPointer(std::span<const uint8_t> handle, uint64_t offset) {
    return {ArgumentKind::kIpcPointer, 0, offset, {handle.begin(), handle.end()}};
  }
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  static Argument Integer(T value) {
    Argument argument{ArgumentKind::kInteger, sizeof value, 0, {}};
    std::memcpy(&argument.bits, &value, sizeof value);
    return argument;
  }
  static Argument Float(float value) {
    Argument argument{ArgumentKind::kFloat32, 0, 0, {}};
    std::memcpy(&argument.bits, &value, sizeof value);
    return argument;
  }
  static Argument Double(double value) {
    Argument argument{ArgumentKind::kFloat64, 0, 0, {}};
    std::memcpy(&argument.bits, &value, sizeof value);
    return argument;
  }
  static Argument HostArray(std::span<const uint8_t> contents) {
    return {ArgumentKind::kHostArray, 0, 0, {contents.begin(), contents.end()}};
  }
  static Argument CString(std::string_view text) { return {ArgumentKind::kCString, 0, 0, {text.begin(), text.end()}}; }
};

enum class ParameterKind : uint8_t { kPointer, kConstCharPointer, kInteger, kFloat32, kFloat64 };

struct Parameter {
  ParameterKind kind = ParameterKind::kInteger;
  uint8_t width = 0;  // kInteger: bytes
  bool is_signed = false;
  bool operator==(const Parameter&) const = default;
};

enum class ValueKind : uint8_t { kNone, kInteger, kFloat32, kFloat64 };

struct Value {
  ValueKind kind = ValueKind::kNone;
  uint64_t bits = 0;  // integers: sign-extended where the type is signed
  int64_t AsInteger() const { return static_cast<int64_t>(bits); }
  double AsDouble() const;
  bool operator==(const Value&) const = default;
};

struct LauncherInfo {
  std::string name;
  ValueKind result = ValueKind::kNone;
  std::vector<Parameter> parameters;
};

// "pointer, pointer, u32"
std::string Describe(std::span<const Parameter> parameters);
std::string Describe(std::span<const Argument> arguments);
// Why these arguments do not fit the launcher; empty if they do.
std::string Mismatch(const LauncherInfo& launcher, std::span<const Argument> arguments);

struct Hello {
  uint32_t version = kProtocolVersion;
  std::vector<LauncherInfo> launchers;
};
std::vector<uint8_t> Encode(const Hello& hello);
Hello DecodeHello(std::span<const uint8_t> payload);

struct Call {
  std::string launcher;
  std::vector<Argument> arguments;
};
std::vector<uint8_t> EncodeCall(const std::string& launcher, std::span<const Argument> arguments);
Call DecodeCall(std::span<const uint8_t> payload);

// Several Calls, or their results, as the payload of one message.
std::vector<uint8_t> EncodeAll(std::span<const std::vector<uint8_t>> parts);
std::vector<std::span<const uint8_t>> DecodeAll(std::span<const uint8_t> payload);

struct Returned {
  std::string refused;  // the reason if it was not called
  Value result;
  int32_t cuda_error = 0;  // the error of cudaDeviceSynchronize or cudaGetLastError after the launcher returned
  std::string cuda_error_name;
  std::vector<std::vector<uint8_t>> arrays;  // the host arrays among the arguments, in order
};
std::vector<uint8_t> Encode(const Returned& returned);
Returned DecodeReturned(std::span<const uint8_t> payload);

// The kind of address that a program could not access.
enum class FaultAddress : uint8_t { kUnknown, kNull, kDevice, kStack };

// Where a program stopped within a call. Its signal handler encodes this itself, because it may not allocate:
// worker/remote_crash.cc; for a launcher in Python: worker/python/stand_in.py.
struct Stopped {
  FaultAddress address = FaultAddress::kUnknown;
  std::string site;       // "/home/ada/copy.cu:17", "" if unknown
  std::string exception;  // raised by a launcher in Python: "ZeroDivisionError: division by zero"
};
Stopped DecodeStopped(std::span<const uint8_t> payload);

}  // namespace lockstep::worker
