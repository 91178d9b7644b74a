// Declarations of variables, registers and parameters, with their initialisers (PTX ISA 5).
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/ptx/cursor.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

// "global" → kGlobal; nullopt for a word that is no space for variables.
std::optional<Space> SpaceFromName(std::string_view word);

// Names a declared variable, once its type, dimensions and count are known.
using NameGiver = std::function<void(std::string_view text_name, Variable* variable)>;

// Parses what follows a state space's word, up to and including the ';': ".align 4 .b8 table[16] = {…}" or ".b32
// %r<24>, %q". `start` holds the space and the linkage.
std::vector<Variable> ParseVariables(Cursor& cursor, const Variable& start, const NameGiver& give_name);

// Parses a parameter or return list, from its opening parenthesis: "(.param .b64 a, .param .align 8 .b8 b[24])". In a
// prototype the names are "_".
std::vector<Variable> ParseParameters(Cursor& cursor);

}  // namespace lockstep::vgpu::ptx
