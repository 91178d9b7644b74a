// PTX text → syntax tree.
#pragma once

#include <string_view>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

// A text of a PTX ISA that is newer than all that is known; a driver has an error of its own for that.
class PtxVersionError : public PtxError {
 public:
  using PtxError::PtxError;
};

// Parses one PTX module. Registers, variables and labels declared in inner { } scopes get names that are unique in
// their function, and every use refers to them. Throws PtxError on invalid text; hostile text costs at most time and
// memory linear in its length.
Module Parse(std::string_view text);

}  // namespace lockstep::vgpu::ptx
