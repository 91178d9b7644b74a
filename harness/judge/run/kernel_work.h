// Checks that a right result was computed by kernels: they read all of the input and stored all of the result.
//
// Every rung requires this: the host may launch work but not compute. It may access the data only as [device_calls] in
// assignment.toml allows. Kernels are judged by the distinct 32-byte sectors that they load and store, so reading the
// same few elements repeatedly does not count as reading all of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/model/assignment.h"
#include "judge/run/call.h"

namespace lockstep::judge {

// The bytes of a buffer that belong to a task.
struct TaskBytes {
  uint64_t address = 0, bytes = 0;
  std::string name;  // "d_in"
  // This many bytes may stay untouched: an exclusive scan does not need the last element.
  uint64_t spare = 0;
};

// The first n elements.
template <class T>
TaskBytes FirstOf(const DeviceArray<T>& array, uint64_t n) {
  return {array.address(), n * sizeof(T), array.label()};
}

// How many 32-bit words of a result, except the known ones, are among the words that copies moved, in any pieces and
// order. An estimate if there are many.
uint64_t WordsCome(std::span<const uint8_t> copied, std::span<const uint8_t> result,
                   std::span<const uint8_t> known = {});
// Chooses the words of that estimate: who knew them could move them alone.
void SetWordSample(uint32_t secret);

// For a call whose result is right. Adds at most one problem; none on a real GPU, whose kernels are not observed.
void CheckKernelsDidIt(const CallReport& report, const CallContext& context, const DeviceCalls& allowed,
                       std::span<const TaskBytes> inputs, std::span<const TaskBytes> results,
                       std::vector<Problem>& problems);

// For a task whose result goes to the host: whether all of it was copied from the device, and with `by_kernels` whether
// kernels stored it there.
void CheckCameFromDevice(const CallReport& report, const CallContext& context, std::span<const uint8_t> result,
                         const std::string& name, bool by_kernels, std::vector<Problem>& problems);

// For a task whose input comes from the host: whether copies in the call brought each word of it to the device. Data
// packed into parameters, or already there, does not count.
void CheckWentToDevice(const CallReport& report, const CallContext& context, std::span<const uint8_t> input,
                       const std::string& name, std::vector<Problem>& problems);

}  // namespace lockstep::judge
