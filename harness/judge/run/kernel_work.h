// Whether a right result is the kernels' work: they have read all of the input and stored all of the result.
//
// Every rung requires this: the host may launch work but not compute. It does not touch the data, except as
// [device_calls] in assignment.toml allows. Kernels are judged by the sectors of 32 bytes that they load and store, so
// reading the same few elements over and over does not count as reading all of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/model/assignment.h"
#include "judge/run/call.h"

namespace lockstep::judge {

// Bytes of a buffer that a task is about.
struct TaskBytes {
  uint64_t address = 0, bytes = 0;
  std::string name;  // "d_in"
  // So many bytes may stay untouched: an exclusive scan has no use for the last element.
  uint64_t spare = 0;
};

// The first n elements.
template <class T>
TaskBytes FirstOf(const DeviceArray<T>& array, uint64_t n) {
  return {array.address(), n * sizeof(T), array.label()};
}

// For a call whose result is right. Adds at most one problem; nothing where the device was a real one, whose kernels
// nobody watches.
void CheckKernelsDidIt(const CallReport& report, const CallContext& context, const DeviceCalls& allowed,
                       std::span<const TaskBytes> inputs, std::span<const TaskBytes> results,
                       std::vector<Problem>& problems);

// For a task whose result goes to the host: whether all that is there has come from the device, and whether kernels
// have stored it there (where `by_kernels`).
void CheckCameFromDevice(const CallReport& report, const CallContext& context, std::span<const uint8_t> result,
                         const std::string& name, bool by_kernels, std::vector<Problem>& problems);

// For a task whose input comes from the host: whether copies of the call have brought each word of it to the device.
// What is packed, or was there before, did not come that way.
void CheckWentToDevice(const CallReport& report, const CallContext& context, std::span<const uint8_t> input,
                       const std::string& name, std::vector<Problem>& problems);

}  // namespace lockstep::judge
