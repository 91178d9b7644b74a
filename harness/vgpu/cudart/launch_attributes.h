// Attributes of launches, streams and kernel nodes: which owner has which, the valid values, and their sizes.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep::vgpu::cudart {

enum class AttributeOwner { kLaunch, kStream, kNode };

// CanSet and CanGet: whether the owner's attribute can be set or read.
bool CanSet(AttributeOwner owner, cudaLaunchAttributeID attribute);
bool CanGet(AttributeOwner owner, cudaLaunchAttributeID attribute);
// Throws ApiError for an invalid value. captured: of a launch that becomes a graph's node.
void CheckAttribute(AttributeOwner owner, cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& value,
                    bool captured = false);
// A launch's preferred larger cluster is a hint, but must be valid: a multiple of its own cluster, and a divisor of the
// grid.
void CheckPreferred(const dim3& own, const dim3& grid, const dim3& wished);
// The stored value: priorities are clamped to the valid range.
cudaLaunchAttributeValue Kept(cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& value);
// The value of an attribute that was not set.
cudaLaunchAttributeValue InitialAttribute(cudaLaunchAttributeID attribute);
// Only the attribute's own bytes are written.
void WriteAttribute(cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& from,
                    cudaLaunchAttributeValue* to);

}  // namespace lockstep::vgpu::cudart
