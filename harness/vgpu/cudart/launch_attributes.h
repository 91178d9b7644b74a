// Attributes of launches, streams and kernel nodes: which each of them has, which values are right, how many bytes a
// value is.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep::vgpu::cudart {

enum class AttributeOwner { kLaunch, kStream, kNode };

// Whether it can be set, and whether it can be read.
bool CanSet(AttributeOwner owner, cudaLaunchAttributeID attribute);
bool CanGet(AttributeOwner owner, cudaLaunchAttributeID attribute);
// Throws ApiError for a value that this attribute can't have.
void CheckAttribute(AttributeOwner owner, cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& value);
// The value that is kept: priorities are clamped to those that exist.
cudaLaunchAttributeValue Kept(cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& value);
// What is read before anything was set.
cudaLaunchAttributeValue InitialAttribute(cudaLaunchAttributeID attribute);
// Only the attribute's own bytes are written.
void WriteAttribute(cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue& from,
                    cudaLaunchAttributeValue* to);

}  // namespace lockstep::vgpu::cudart
