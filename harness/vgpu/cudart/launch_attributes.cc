#include "vgpu/cudart/launch_attributes.h"

#include <algorithm>
#include <cstring>

#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/runtime.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

namespace {

// Which owner can set and read which attribute, as recorded on a Hopper (harness/dev/conformance).
struct Attribute {
  int id;
  bool of_launch, of_stream, of_node;
  size_t bytes;
};
constexpr int kNvlinkScheduling = 16;
constexpr Attribute kAttributes[] = {
    {cudaLaunchAttributeIgnore, true, false, false, 0},
    {cudaLaunchAttributeAccessPolicyWindow, true, true, true, sizeof(cudaAccessPolicyWindow)},
    {cudaLaunchAttributeCooperative, true, false, true, sizeof(int)},
    {cudaLaunchAttributeSynchronizationPolicy, false, true, false, sizeof(int)},
    {cudaLaunchAttributeClusterDimension, true, false, true, 3 * sizeof(unsigned)},
    {cudaLaunchAttributeClusterSchedulingPolicyPreference, true, false, true, sizeof(int)},
    {cudaLaunchAttributeProgrammaticStreamSerialization, true, false, false, sizeof(int)},
    {cudaLaunchAttributeProgrammaticEvent, true, false, false, 0},
    {cudaLaunchAttributePriority, true, true, true, sizeof(int)},
    {cudaLaunchAttributeMemSyncDomainMap, true, true, true, sizeof(cudaLaunchMemSyncDomainMap)},
    {cudaLaunchAttributeMemSyncDomain, true, true, true, sizeof(int)},
    {cudaLaunchAttributePreferredClusterDimension, true, false, false, 0},
    {cudaLaunchAttributeLaunchCompletionEvent, true, false, false, 0},
    {cudaLaunchAttributeDeviceUpdatableKernelNode, true, false, true,
     sizeof(cudaLaunchAttributeValue::deviceUpdatableKernelNode)},
    {cudaLaunchAttributePreferredSharedMemoryCarveout, true, false, true, sizeof(int)},
    {kNvlinkScheduling, true, false, true, 0},
};

const Attribute* Find(cudaLaunchAttributeID id) {
  const auto* const found = std::find_if(std::begin(kAttributes), std::end(kAttributes),
                                         [id](const Attribute& each) { return each.id == static_cast<int>(id); });
  return found == std::end(kAttributes) ? nullptr : found;
}

bool Has(const Attribute& attribute, AttributeOwner owner) {
  return owner == AttributeOwner::kLaunch   ? attribute.of_launch
         : owner == AttributeOwner::kStream ? attribute.of_stream
                                            : attribute.of_node;
}

constexpr int kMostUrgent = -5, kLeastUrgent = 0;
constexpr int kLastDomain = 3;  // there are four memory synchronisation domains

// An event recorded by a launch must have no timing.
void CheckEvent(cudaEvent_t event, int flags, bool captured) {
  Runtime& r = runtime();
  const Event& known = r.timeline().EventOf(event);
  Require(flags == cudaEventRecordDefault || flags == cudaEventRecordExternal, cudaErrorInvalidValue);
  Require(flags == cudaEventRecordDefault, captured ? cudaErrorNotSupported : cudaErrorIllegalState);
  Require((known.flags & cudaEventDisableTiming) != 0, cudaErrorNotSupported);
}

}  // namespace

bool CanSet(AttributeOwner owner, cudaLaunchAttributeID id) {
  const Attribute* const attribute = Find(id);
  return attribute != nullptr && Has(*attribute, owner);
}

bool CanGet(AttributeOwner owner, cudaLaunchAttributeID id) {
  return CanSet(owner, id) && static_cast<int>(id) != kNvlinkScheduling;
}

void CheckAttribute(AttributeOwner owner, cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value,
                    bool captured) {
  Require(CanSet(owner, id), cudaErrorInvalidValue);
  switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow: {
      const cudaAccessPolicyWindow& window = value.accessPolicyWindow;
      const auto most = static_cast<size_t>(AttributeOf(runtime(), cudaDevAttrMaxAccessPolicyWindowSize));
      Require(window.hitRatio >= 0 && window.hitRatio <= 1 && window.num_bytes <= most &&
                  window.missProp != cudaAccessPropertyPersisting,
              cudaErrorInvalidValue);
      break;
    }
    case cudaLaunchAttributeSynchronizationPolicy:
      Require(value.syncPolicy >= cudaSyncPolicyAuto && value.syncPolicy <= cudaSyncPolicyBlockingSync,
              cudaErrorInvalidValue);
      break;
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      Require(owner == AttributeOwner::kNode || static_cast<unsigned>(value.clusterSchedulingPolicyPreference) <=
                                                    cudaClusterSchedulingPolicyLoadBalancing,
              cudaErrorInvalidValue);
      break;
    case cudaLaunchAttributeProgrammaticEvent:
      CheckEvent(value.programmaticEvent.event, value.programmaticEvent.flags, captured);
      break;
    case cudaLaunchAttributeLaunchCompletionEvent:
      CheckEvent(value.launchCompletionEvent.event, value.launchCompletionEvent.flags, captured);
      break;
    case cudaLaunchAttributeMemSyncDomainMap:
      Require(value.memSyncDomainMap.default_ <= kLastDomain && value.memSyncDomainMap.remote <= kLastDomain,
              cudaErrorInvalidValue);
      break;
    case cudaLaunchAttributeMemSyncDomain:
      Require(
          value.memSyncDomain == cudaLaunchMemSyncDomainDefault || value.memSyncDomain == cudaLaunchMemSyncDomainRemote,
          cudaErrorInvalidValue);
      break;
    case cudaLaunchAttributePreferredClusterDimension:
      if (const auto& dim = value.preferredClusterDim; dim.x != 0 || dim.y != 0 || dim.z != 0) {
        Require(dim.x != 0 && dim.y != 0 && dim.z != 0, cudaErrorInvalidClusterSize);
      }
      break;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
      // A captured launch may say that its node is not; that it is, is left to nodes.
      Require(owner == AttributeOwner::kNode || (captured && value.deviceUpdatableKernelNode.deviceUpdatable == 0),
              cudaErrorNotSupported);
      Require(value.deviceUpdatableKernelNode.deviceUpdatable >> 1 == 0, cudaErrorInvalidValue);
      break;
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      Require(value.sharedMemCarveout <= 100, cudaErrorInvalidValue);
      break;
    default:
      Require(static_cast<int>(id) != kNvlinkScheduling || value.cooperative == 0 || value.cooperative == 1,
              cudaErrorInvalidValue);
      break;
  }
}

void CheckPreferred(const dim3& own, const dim3& grid, const dim3& wished) {
  const auto fits = [](unsigned larger, unsigned has, unsigned of) {
    return has != 0 && larger % has == 0 && of % larger == 0;
  };
  const bool is_set = wished.x > 0 || wished.y > 0 || wished.z > 0;
  Require(!is_set || (fits(wished.x, own.x, grid.x) && fits(wished.y, own.y, grid.y) && fits(wished.z, own.z, grid.z)),
          cudaErrorInvalidClusterSize);
}

cudaLaunchAttributeValue Kept(cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) {
  cudaLaunchAttributeValue kept = value;
  if (id == cudaLaunchAttributePriority) kept.priority = std::clamp(value.priority, kMostUrgent, kLeastUrgent);
  return kept;
}

cudaLaunchAttributeValue InitialAttribute(cudaLaunchAttributeID id) {
  cudaLaunchAttributeValue value;
  std::memset(&value, 0, sizeof value);
  if (id == cudaLaunchAttributeSynchronizationPolicy) value.syncPolicy = static_cast<cudaSynchronizationPolicy>(-1);
  if (id == cudaLaunchAttributeMemSyncDomainMap) value.memSyncDomainMap = {0, 1};
  return value;
}

void WriteAttribute(cudaLaunchAttributeID id, const cudaLaunchAttributeValue& from, cudaLaunchAttributeValue* to) {
  std::memcpy(to, &from, Find(id)->bytes);
}

}  // namespace lockstep::vgpu::cudart
