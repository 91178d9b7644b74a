// Links several PTX modules into one, for separate compilation (nvcc -rdc=true).
//
// A program built from several objects contains one PTX text for each. Parse each, link the trees, and load the result
// like any module; Device::LoadModule for several texts does this.
//
// Names across modules (PTX ISA 5.1 and 11.6):
//   - .visible, .weak and .common names are shared by all modules; .extern declarations refer to them;
//   - every other name (a static variable, a string, an internal function) is local to its module; if several modules
//     have it, it is renamed in all but the first: "name#2";
//   - two definitions of a .visible name are an error; it overrides .weak and .common ones; of several weak definitions
//     the first wins, of several .common ones the largest;
//   - .extern .shared arrays are all the same array, the dynamic shared memory, with the strictest alignment;
//   - an .extern that no module defines remains: the runtime's own functions are such, and for all others the first use
//     reports what is missing.
#pragma once

#include <vector>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

// Throws PtxError, which names the symbol, for duplicate definitions or conflicting declarations. Needs at least one
// module.
Module LinkModules(std::vector<Module> modules);

}  // namespace lockstep::vgpu::ptx
