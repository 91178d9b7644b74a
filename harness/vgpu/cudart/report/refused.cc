// The functions of the toolkit's API that the virtual GPU does not have. The build lists them: what the toolkit's
// header declares and no source here defines (refused.cmake). A program that names one links, and runs as long as it
// does not call it; a call says the function's name and what is missing, and fails with cudaErrorNotSupported.
//
// Their parameters do not matter. The header, which would contradict the declarations here, is not included.
#include "vgpu/cudart/report/refused.h"

#define LOCKSTEP_REFUSE(function) \
  extern "C" int function() { return lockstep::vgpu::cudart::RefuseCall(#function); }
#include "refused_functions.inc"
