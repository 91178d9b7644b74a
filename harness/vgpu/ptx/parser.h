// PTX text → syntax tree.
#pragma once

#include <string_view>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

// The text is for a newer PTX ISA than any known; a driver has a separate error code for that.
class PtxVersionError : public PtxError {
 public:
  using PtxError::PtxError;
};

// Parses one PTX module. Registers, variables and labels declared in inner { } scopes get names that are unique in
// their function, and every use refers to them. Throws PtxError on invalid text; hostile text costs at most time and
// memory linear in its length.
Module Parse(std::string_view text);

}  // namespace lockstep::vgpu::ptx
