// What the stand-in for numba.cuda calls: the functions of the CUDA runtime that it needs, as the module
// _lockstep_cuda.
#pragma once

struct _object;  // CPython's PyObject

namespace lockstep::worker::python {

_object* MakeCudaModule();

}  // namespace lockstep::worker::python
