// The operations on the modelled clock, for the page of a run (vgpu-run --page).
#pragma once

#include <nlohmann/json.hpp>

namespace lockstep::vgpu::cudart {

// The first of the device's operations: stream, category, name, when it begins and how long it takes, in microseconds.
nlohmann::ordered_json OperationsJson(int device);

}  // namespace lockstep::vgpu::cudart
