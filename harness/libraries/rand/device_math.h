// Functions as CUDA's compiler generates them for the device, with the same constants: cuRAND's kernels call these, so
// their last bits affect its results.
#pragma once

namespace lockstep::libraries {

float DeviceLog(float x);    // for normal (not subnormal) numbers
double DeviceLog(double x);  // the same
float DeviceExp(float x);
double DeviceExp(double x);

// sin(pi x) and cos(pi x), |x| < 2^50.
void DeviceSinCosPi(double x, double* sine, double* cosine);

// The y with erfc(y) = x, 0 < x < 2.
float DeviceInverseErfc(float x);
double DeviceInverseErfc(double x);

}  // namespace lockstep::libraries
