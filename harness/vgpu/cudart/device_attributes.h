// What a device can do: attributes and properties, from its profile.
#pragma once

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

// Of any device, as all are alike. Throws ApiError for an attribute that does not exist; what the virtual GPU lacks is
// 0.
int AttributeOf(Runtime& r, cudaDeviceAttr attribute);
void FillProperties(Runtime& r, int device, cudaDeviceProp* properties);

}  // namespace lockstep::vgpu::cudart
