// One call of an exported function, for libraries whose functions all take a handle and return a status. Kind describes
// the library: its types Handle and Status, the statuses kSuccess, kInvalid, kNoHandle, kNotSupported and kFailed,
// kTitle, and kOnDevice if its handle has a pointer mode.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "libraries/library.h"

namespace lockstep::libraries {

// Raises a fault for work with an invalid index or pivot: `what` describes it. Returns false.
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

  // Scalars and results are in device memory.
  bool on_device() const { return handle->pointers == Kind::kOnDevice; }
  Status Invalid(const char* why) const {
    lockstep_say(name, why);
    return Kind::kInvalid;
  }
  // Reports that this form of the function is missing.
  Status Missing(const char* what) const {
    lockstep_refuse(Kind::kTitle, name, what);
    return Kind::kNotSupported;
  }
  // Checks conditions in order, and reports the first violated one, or a null handle.
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

  // A call in the handle's stream, to be completed by the caller.
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

// Returns from the function if the status is an error. Success is 0 in all libraries.
#define LOCKSTEP_RETURN_UNLESS_OK(status)               \
  do {                                                  \
    const auto checked = (status);                      \
    if (static_cast<int>(checked) != 0) return checked; \
  } while (false)
