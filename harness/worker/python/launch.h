// For the glue of an assignment whose submission is a Python file. A launcher is a C++ function with the suite's
// signature as usual, and builds the arguments of the Python function of the same name:
//
//   void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
//     Launch("shift1_gather", {Array(d_in, {n}), Array(d_out, {n}), shift});
//   }
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace lockstep::worker::python {

// Numba's name of a C++ type.
template <typename T>
constexpr const char* TypeName() {
  using Plain = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<Plain, float>) {
    return "float32";
  } else if constexpr (std::is_same_v<Plain, double>) {
    return "float64";
  } else {
    static_assert(std::is_integral_v<Plain> && !std::is_same_v<Plain, bool>, "arrays of numbers only");
    constexpr const char* kSigned[] = {"int8", "int16", "int32", "int64"};
    constexpr const char* kUnsigned[] = {"uint8", "uint16", "uint32", "uint64"};
    constexpr int kPlace = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<Plain> ? kSigned[kPlace] : kUnsigned[kPlace];
  }
}

// Device memory as an array whose last dimension is contiguous.
struct Array {
  template <typename T>
  Array(T* at, std::initializer_list<uint64_t> lengths)
      : address(reinterpret_cast<uintptr_t>(at)), type(TypeName<T>()), shape(lengths) {}

  uint64_t address;
  const char* type;
  std::vector<uint64_t> shape;
};

// The caller's host memory, for launchers that move data themselves (assignments with given kernels): Python sees a
// one-dimensional array, read-only if T is const.
struct HostArray {
  template <typename T>
  HostArray(T* at, uint64_t length)
      : address(reinterpret_cast<uintptr_t>(at)),
        bytes(length * sizeof(T)),
        type(TypeName<T>()),
        writable(!std::is_const_v<T>) {}

  uint64_t address, bytes;
  const char* type;
  bool writable;
};

// A Python int, a float, or an array.
class Value {
 public:
  using Kinds = std::variant<int64_t, uint64_t, double, Array, HostArray>;

  template <typename T>
    requires std::is_arithmetic_v<T>
  Value(T value) : value_(Widened(value)) {}
  Value(Array array) : value_(std::move(array)) {}
  Value(HostArray array) : value_(array) {}

  const Kinds& get() const { return value_; }

 private:
  template <typename T>
  static Kinds Widened(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(value);
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<int64_t>(value);
    } else {
      return static_cast<uint64_t>(value);
    }
  }

  Kinds value_;
};

// Calls the submission's function. If it raises an exception, that is printed, and the process exits; after a CUDA
// error it returns and leaves the error in place as a C++ launcher does.
void Launch(std::string_view launcher, std::initializer_list<Value> arguments);

}  // namespace lockstep::worker::python
