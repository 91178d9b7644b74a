// What the runtime answers kernels that ask the device runtime: cudaDeviceGetAttribute, cudaGetErrorString, …
#pragma once

#include "vgpu/exec/runtime_answers.h"

namespace lockstep::vgpu::cudart {

// For kernels of the device with this ordinal. They ask while the runtime waits for them.
RuntimeAnswers AnswersFor(int device);

}  // namespace lockstep::vgpu::cudart
