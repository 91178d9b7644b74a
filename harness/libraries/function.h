// One call of an exported function, of the libraries whose functions all have a handle and return a status. Kind says
// which: its types Handle and Status, the statuses kSuccess, kInvalid, kNoHandle, kNotSupported and kFailed,
// kTitle, and where its handle has a mode of pointers, kOnDevice.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "libraries/library.h"

namespace lockstep::libraries {

// A fault, of work that would go by an index or pivot to anywhere: `what` is what it leads to. False.
inline bool LeadsNowhere(Memory& memory, const char* what) {
  constexpr uintptr_t kNowhere = ~uintptr_t{0xfff};
  memory.Touch({Access::kRead, what, reinterpret_cast<const void*>(kNowhere), 1, 1, 1, 1});
  return false;
}

template <typename Kind>
struct FunctionOf {
  using Status = typename Kind::Status;

  const char* name;  // the symbol
  typename Kind::Handle handle;

  // Factors and results are in device memory.
  bool on_device() const { return handle->pointers == Kind::kOnDevice; }
  Status Invalid(const char* why) const {
    lockstep_say(name, why);
    return Kind::kInvalid;
  }
  // A form of the function that is missing here.
  Status Missing(const char* what) const {
    lockstep_refuse(Kind::kTitle, name, what);
    return Kind::kNotSupported;
  }
  // The first condition that does not hold, said; or that there is no handle.
  struct Condition {
    bool holds;
    const char* otherwise;
  };
  Status Check(std::initializer_list<Condition> conditions) const {
    if (handle == nullptr) return Kind::kNoHandle;
    for (const Condition& condition : conditions) {
      if (!condition.holds) return Invalid(condition.otherwise);
    }
    return Kind::kSuccess;
  }

  // A call in the handle's stream, to be filled in.
  Call Begin(double operations = 0, Arithmetic arithmetic = Arithmetic::kNone) const {
    Call call;
    call.function = name;
    call.stream = handle->stream;
    call.operations = operations;
    call.arithmetic = arithmetic;
    return call;
  }
  static Status Do(Call call) { return Perform(std::move(call)) == cudaSuccess ? Kind::kSuccess : Kind::kFailed; }
};

}  // namespace lockstep::libraries

// Leaves the function with a status that is no success. All libraries' success is 0.
#define LOCKSTEP_RETURN_UNLESS_OK(status)               \
  do {                                                  \
    const auto checked = (status);                      \
    if (static_cast<int>(checked) != 0) return checked; \
  } while (false)
