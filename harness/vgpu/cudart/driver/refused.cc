// The driver's functions that the virtual GPU lacks, handled as in refused.cc of the runtime API: a program that
// references one links, and a call prints a message and fails with CUDA_ERROR_NOT_SUPPORTED.
namespace lockstep::vgpu::cudart::driver {
int RefuseDriverCall(const char* symbol);
}

#define LOCKSTEP_REFUSE(function) \
  extern "C" int function() { return lockstep::vgpu::cudart::driver::RefuseDriverCall(#function); }
#include "refused_driver_functions.inc"
