// Several PTX modules → one, as separate compilation (nvcc -rdc=true) needs it.
//
// A program that is built from several objects carries one PTX text for each. Parse every one, link the trees, and load
// the result like any module; Device::LoadModule takes several texts and does just that.
//
// What a name means over modules (PTX ISA 5.1 and 11.6):
//   - .visible, .weak and .common names are one name in all modules; .extern ones refer to them;
//   - every other name (a static variable, a string, an internal function) belongs to its module: where several modules
//     have it, it is renamed in all but the first, "name#2";
//   - two definitions of a .visible name are refused, a .weak or .common one gives way to it; of several weak ones the
//     first counts, of several .common ones the largest;
//   - .extern .shared arrays are one array, the dynamic shared memory, with the strictest alignment;
//   - an .extern that no module defines stays: the runtime's own functions are such, and for all others the first use
//     says what is missing.
#pragma once

#include <vector>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

// Throws PtxError, which names the symbol, for two definitions of one name or declarations that do not fit together.
// At least one module.
Module LinkModules(std::vector<Module> modules);

}  // namespace lockstep::vgpu::ptx
