// Programs and libraries that contain a copy of the CUDA runtime, as nvcc links by default (without -cudart shared).
#pragma once

#include <link.h>

namespace lockstep::libraries {

// An object was mapped, but nothing of it has run yet.
void NoteObject(const link_map* object);

// All objects loaded together are mapped. In those with a copy of the runtime, of CUDA 13 and with a symbol table,
// makes each function of the copy jump to that of libcudart.so.13 in this folder.
void RedirectCopies();

}  // namespace lockstep::libraries
