// Registers an assignment's launchers with the worker: LOCKSTEP_LAUNCHERS(reduce1_interleaved, reduce2_strided) in a
// glue file that includes the assignment's header. Parameters and results are unpacked according to the C++ signatures:
// pointers (to device memory, or host arrays and C strings if the judge passes them), integers, enumerations, bool,
// float and double.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/wire_call.h"

namespace lockstep::worker {

struct Launcher {
  LauncherInfo info;
  // Arguments must fit info.parameters; a pointer's address is in bits.
  Value (*invoke)(std::span<const Argument> arguments);
};

// In order of registration.
inline std::vector<Launcher>& Launchers() {
  static std::vector<Launcher> launchers;
  return launchers;
}

template <typename T>
constexpr Parameter ParameterOf() {
  if constexpr (std::is_pointer_v<T>) {
    static_assert(!std::is_function_v<std::remove_pointer_t<T>>, "a launcher can't take a pointer to a function");
    return {std::is_same_v<T, const char*> ? ParameterKind::kConstCharPointer : ParameterKind::kPointer, 8, false};
  } else if constexpr (std::is_enum_v<T>) {
    return ParameterOf<std::underlying_type_t<T>>();
  } else if constexpr (std::is_integral_v<T>) {
    static_assert(sizeof(T) <= 8);
    return {ParameterKind::kInteger, sizeof(T), std::is_signed_v<T>};
  } else if constexpr (std::is_same_v<T, float>) {
    return {ParameterKind::kFloat32, 4, true};
  } else {
    static_assert(std::is_same_v<T, double>, "a launcher takes pointers, integers, enumerations, float and double");
    return {ParameterKind::kFloat64, 8, true};
  }
}

template <typename T>
T Unpack(const Argument& argument) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(static_cast<uintptr_t>(argument.bits));
  } else if constexpr (std::is_same_v<T, bool>) {
    return argument.bits != 0;
  } else {
    T value;
    std::memcpy(&value, &argument.bits, sizeof value);
    return value;
  }
}

template <typename T>
constexpr ValueKind ValueKindOf() {
  if constexpr (std::is_void_v<T>) {
    return ValueKind::kNone;
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return ValueKind::kInteger;
  } else if constexpr (std::is_same_v<T, float>) {
    return ValueKind::kFloat32;
  } else {
    static_assert(std::is_same_v<T, double>, "a launcher returns nothing, an integer, an enumeration, float or double");
    return ValueKind::kFloat64;
  }
}

template <typename T>
Value Pack(T value) {
  Value packed{ValueKindOf<T>(), 0};
  if constexpr (std::is_floating_point_v<T>) {
    std::memcpy(&packed.bits, &value, sizeof value);
  } else {
    packed.bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  return packed;
}

template <auto Function, typename Result, typename... Parameters>
struct LauncherThunk {
  static Value Invoke(std::span<const Argument> arguments) {
    return InvokeWith(arguments, std::index_sequence_for<Parameters...>());
  }
  static Launcher Make(const char* name) {
    return {LauncherInfo{name, ValueKindOf<Result>(), {ParameterOf<std::remove_cv_t<Parameters>>()...}}, &Invoke};
  }

 private:
  template <size_t... I>
  static Value InvokeWith([[maybe_unused]] std::span<const Argument> arguments, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<Result>) {
      Function(Unpack<std::remove_cv_t<Parameters>>(arguments[I])...);
      return {};
    } else {
      return Pack<Result>(Function(Unpack<std::remove_cv_t<Parameters>>(arguments[I])...));
    }
  }
};

template <auto Function, typename Result, typename... Parameters>
Launcher MakeLauncher(const char* name, Result (*)(Parameters...)) {
  return LauncherThunk<Function, Result, Parameters...>::Make(name);
}
template <auto Function, typename Result, typename... Parameters>
Launcher MakeLauncher(const char* name, Result (*)(Parameters...) noexcept) {
  return LauncherThunk<Function, Result, Parameters...>::Make(name);
}

struct LauncherRegistration {
  explicit LauncherRegistration(std::vector<Launcher> launchers) {
    for (Launcher& launcher : launchers) Launchers().push_back(std::move(launcher));
  }
};

}  // namespace lockstep::worker

#define LOCKSTEP_LAUNCHER(function) ::lockstep::worker::MakeLauncher<&function>(#function, &function)

// Applies LOCKSTEP_LAUNCHER to each of up to 256 names.
#define LOCKSTEP_PARENS ()
#define LOCKSTEP_EXPAND(...) LOCKSTEP_EXPAND3(LOCKSTEP_EXPAND3(LOCKSTEP_EXPAND3(LOCKSTEP_EXPAND3(__VA_ARGS__))))
#define LOCKSTEP_EXPAND3(...) LOCKSTEP_EXPAND2(LOCKSTEP_EXPAND2(LOCKSTEP_EXPAND2(LOCKSTEP_EXPAND2(__VA_ARGS__))))
#define LOCKSTEP_EXPAND2(...) LOCKSTEP_EXPAND1(LOCKSTEP_EXPAND1(LOCKSTEP_EXPAND1(LOCKSTEP_EXPAND1(__VA_ARGS__))))
#define LOCKSTEP_EXPAND1(...) __VA_ARGS__
#define LOCKSTEP_LAUNCHER_LIST(function, ...) \
  LOCKSTEP_LAUNCHER(function), __VA_OPT__(LOCKSTEP_LAUNCHER_AGAIN LOCKSTEP_PARENS(__VA_ARGS__))
#define LOCKSTEP_LAUNCHER_AGAIN() LOCKSTEP_LAUNCHER_LIST

#define LOCKSTEP_LAUNCHERS(...)                                                         \
  static const ::lockstep::worker::LauncherRegistration lockstep_launcher_registration( \
      {LOCKSTEP_EXPAND(LOCKSTEP_LAUNCHER_LIST(__VA_ARGS__))})
