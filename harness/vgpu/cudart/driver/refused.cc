// The driver's functions that the virtual GPU does not have, as refused.cc of the runtime API does it: a program that
// names one links, and a call says so and fails with CUDA_ERROR_NOT_SUPPORTED.
namespace lockstep::vgpu::cudart::driver {
int RefuseDriverCall(const char* symbol);
}

#define LOCKSTEP_REFUSE(function) \
  extern "C" int function() { return lockstep::vgpu::cudart::driver::RefuseDriverCall(#function); }
#include "refused_driver_functions.inc"
