// Functions as CUDA's compiler makes them for the device, with the constants that a compiled function holds: cuRAND's
// kernels call these, and their last bits are in its results.
#pragma once

#include <cstdint>

namespace lockstep::libraries {

float DeviceLog(float x);    // of normal numbers
double DeviceLog(double x);  // the same
float DeviceExp(float x);
double DeviceExp(double x);

// sin(pi x) and cos(pi x), |x| < 2^50.
void DeviceSinCosPi(double x, double* sine, double* cosine);

// The y with erfc(y) = x, 0 < x < 2.
float DeviceInverseErfc(float x);
double DeviceInverseErfc(double x);

}  // namespace lockstep::libraries
