// Attributes of launches, streams and kernel nodes: which owner has which, the valid values, and their sizes.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep::vgpu::cudart {

enum class AttributeOwner { kLaunch, kStream, kNode };

// CanSet and CanGet: whether the owner's attribute can be set or read.
bool CanSet(AttributeOwner owner, cudaLaunchAttributeID attribute);
bool CanGet(AttributeOwner owner, cudaLaunchAttributeID attribute);
// Throws ApiError for an invalid value.
void CheckAttribute(AttributeOwner owner, cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& value);
// Larger clusters that a launch would rather have are a hint, which must be right: whole numbers of its own, and the grid
// of them.
void CheckPreferred(const dim3& own, const dim3& grid, const dim3& wished);
// The stored value: priorities are clamped to the valid range.
cudaLaunchAttributeValue Kept(cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& value);
// The value before it was set.
cudaLaunchAttributeValue InitialAttribute(cudaLaunchAttributeID attribute);
// Only the attribute's own bytes are written.
void WriteAttribute(cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& from,
                    cudaLaunchAttributeValue* to);

}  // namespace lockstep::vgpu::cudart
