#include "libraries/library.h"

#include <cstdlib>
#include <utility>

namespace lockstep::libraries {

Range Vector(Access access, const char* what, const void* address, uint32_t element, int64_t count, int64_t increment) {
  const auto rows = static_cast<uint64_t>(count < 0 ? 0 : count);
  const uint64_t pitch = static_cast<uint64_t>(std::abs(increment)) * element;
  // With an increment of 0 all elements are the same one.
  return {access, what, address, element, pitch == 0 && rows > 0 ? 1 : rows, pitch, element};
}

Range Matrix(Access access, const char* what, const void* address, uint32_t element, int64_t rows, int64_t columns,
             int64_t leading) {
  if (rows <= 0 || columns <= 0) return {access, what, address, 0, 0, 0, element};
  return {access,
          what,
          address,
          static_cast<uint64_t>(rows) * element,
          static_cast<uint64_t>(columns),
          static_cast<uint64_t>(leading) * element,
          element};
}

bool Memory::Touch(const Range& range) {
  const auto access = static_cast<uint8_t>(range.access);
  const LockstepRows rows = {range.what,  range.address, range.width,       range.rows,
                             range.pitch, range.element, (access & 1) != 0, (access & 2) != 0};
  return memory_->touch(memory_, &rows);
}

namespace {

bool Touches(void* data, LockstepMemory* memory) {
  const Call& call = *static_cast<const Call*>(data);
  Memory touched(memory);
  for (const Range& range : call.memory) {
    if (!touched.Touch(range)) return false;
  }
  return call.more_memory == nullptr || call.more_memory(touched);
}

}  // namespace

cudaError_t Perform(Call call) {
  auto* const kept = new Call(std::move(call));
  const LockstepLibraryCall request = {kept->function,
                                       kept->stream,
                                       kept->operations,
                                       static_cast<int>(kept->arithmetic),
                                       kept->waits,
                                       kept,
                                       Touches,
                                       [](void* data) { static_cast<Call*>(data)->run(); },
                                       [](void* data) { delete static_cast<Call*>(data); }};
  return lockstep_call_library(&request);
}

}  // namespace lockstep::libraries
