// The functions of the CUDA runtime for our replacements of numba.cuda and PyCUDA, as the module _lockstep_cuda.
#pragma once

struct _object;  // CPython's PyObject

namespace lockstep::worker::python {

_object* MakeCudaModule();

}  // namespace lockstep::worker::python
