// API functions of the toolkit that the virtual GPU lacks. The build lists them: what the toolkit's header declares and
// no source here defines (refused.cmake). A program that references one links, and runs as long as it does not call it;
// a call prints the function's name and the missing feature, and fails with cudaErrorNotSupported.
//
// Their parameters do not matter. The header, which would contradict the declarations here, is not included.
#include "vgpu/cudart/report/refused.h"

#define LOCKSTEP_REFUSE(function) \
  extern "C" int function() { return lockstep::vgpu::cudart::RefuseCall(#function); }
#include "refused_functions.inc"
