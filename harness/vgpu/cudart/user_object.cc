// User objects: the program's memory that graphs hold while they may use it. The destructor function runs when there is
// no reference left.
#include <climits>
#include <map>
#include <memory>

#include "vgpu/cudart/graph.h"

namespace lockstep::vgpu::cudart {

namespace {

struct UserObject {
  std::weak_ptr<void> memory;
  std::shared_ptr<void> own;  // set while the program holds references
  unsigned references = 0;    // held by the program
};

std::map<cudaUserObject_t, UserObject>& UserObjects() {
  static auto* const objects = new std::map<cudaUserObject_t, UserObject>;
  return *objects;
}

UserObject& ObjectOf(cudaUserObject_t handle, unsigned count) {
  const auto found = UserObjects().find(handle);
  Require(found != UserObjects().end() && count > 0 && count <= INT_MAX, cudaErrorInvalidValue);
  return found->second;
}

void Release(UserObject& object, unsigned count) {
  object.references -= std::min(count, object.references);
  if (object.references == 0) object.own.reset();
}

}  // namespace

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaUserObjectCreate(cudaUserObject_t* handle, void* memory, cudaHostFn_t destroy, unsigned count,
                                 unsigned flags) {
  return Api("cudaUserObjectCreate", Faults::kIgnores, [&](Runtime&) {
    Require(handle != nullptr && destroy != nullptr && count > 0 && count <= INT_MAX, cudaErrorInvalidValue);
    Require(flags == cudaUserObjectNoDestructorSync, cudaErrorInvalidValue);
    static uintptr_t made = 0;
    const std::shared_ptr<void> own(memory, destroy);
    *handle = reinterpret_cast<cudaUserObject_t>(++made);
    UserObjects()[*handle] = {own, own, count};
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
  return Api("cudaUserObjectRetain", Faults::kIgnores, [&](Runtime&) {
    UserObject& object = ObjectOf(handle, count);
    object.own = object.memory.lock();
    Require(object.own != nullptr, cudaErrorInvalidValue);
    object.references += count;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
  return Api("cudaUserObjectRelease", Faults::kIgnores, [&](Runtime&) { Release(ObjectOf(handle, count), count); });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t handle, unsigned count, unsigned flags) {
  return Api("cudaGraphRetainUserObject", Faults::kIgnores, [&](Runtime&) {
    UserObject& object = ObjectOf(handle, count);
    Require((flags & ~unsigned{cudaGraphUserObjectMove}) == 0, cudaErrorInvalidValue);
    const std::shared_ptr<void> memory = object.memory.lock();
    Require(memory != nullptr, cudaErrorInvalidValue);
    auto& [held, keeps] = GraphOf(graph)->objects[handle];
    held += count;
    keeps = memory;
    if (flags == cudaGraphUserObjectMove) Release(object, count);
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t handle, unsigned count) {
  return Api("cudaGraphReleaseUserObject", Faults::kIgnores, [&](Runtime&) {
    ObjectOf(handle, count);
    HeldObjects& objects = GraphOf(graph)->objects;
    const auto held = objects.find(handle);
    if (held == objects.end()) return;
    held->second.first -= std::min(count, held->second.first);
    if (held->second.first == 0) objects.erase(held);
  });
}

}  // extern "C"
