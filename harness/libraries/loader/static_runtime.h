// Programs and libraries that hold a copy of the CUDA runtime, as nvcc links it unless told -cudart shared.
#pragma once

#include <link.h>

namespace lockstep::libraries {

// An object was mapped. Nothing of it has run yet.
void NoteObject(const link_map* object);

// All objects that belong together are mapped. In those that hold a copy of the runtime, of CUDA 13 and with its symbol
// table, each function of the copy now begins with a jump to that of libcudart.so.13 in this folder.
void RedirectCopies();

}  // namespace lockstep::libraries
