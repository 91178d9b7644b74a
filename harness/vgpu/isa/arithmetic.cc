// Opcodes that exist for several families of types: dispatches each to the family of its type.
#include "vgpu/isa/arithmetic.h"

namespace lockstep::vgpu {
namespace {

template <Selector kInteger, Selector kFloat, Selector kHalf>
Selection ByDomain(Modifiers& modifiers) {
  if (modifiers.type_count() != 1) return {};
  Selector select = nullptr;
  switch (DomainOf(modifiers.type(0))) {
    case Domain::kInteger:
      select = kInteger;
      break;
    case Domain::kFloat:
      select = kFloat;
      break;
    case Domain::kHalf:
      select = kHalf;
      break;
    case Domain::kPredicate:
    case Domain::kNone:
      break;
  }
  return select == nullptr ? Selection{} : select(modifiers);
}

LOCKSTEP_OPCODES(
    arithmetic,
    {
        {"add",
         "d0 s0 s0",
         ByDomain<SelectIntegerAdd, SelectFloatAdd, SelectHalfAdd>,
         InsnClass::kInteger,
         {},
         Meaning::kAdd},
        {"sub",
         "d0 s0 s0",
         ByDomain<SelectIntegerSub, SelectFloatSub, SelectHalfSub>,
         InsnClass::kInteger,
         {},
         Meaning::kSubtract},
        {"mul",
         "d0 s0 s0",
         ByDomain<SelectIntegerMul, SelectFloatMul, SelectHalfMul>,
         InsnClass::kInteger,
         {},
         Meaning::kMultiply},
        {"mad",
         "d0 s0 s0 s0",
         ByDomain<SelectIntegerMad, SelectFloatFma, nullptr>,
         InsnClass::kInteger,
         {},
         Meaning::kMultiplyAdd},
        {"fma", "d0 s0 s0 s0", ByDomain<nullptr, SelectFloatFma, SelectHalfFma>, InsnClass::kFloat32},
        {"div",
         "d0 s0 s0",
         ByDomain<SelectIntegerDiv, SelectFloatDiv, nullptr>,
         InsnClass::kInteger,
         {},
         Meaning::kDivide},
        {"abs", "d0 s0", ByDomain<SelectIntegerAbs, SelectFloatAbs, SelectHalfAbs>, InsnClass::kInteger},
        {"neg", "d0 s0", ByDomain<SelectIntegerNeg, SelectFloatNeg, SelectHalfNeg>, InsnClass::kInteger},
        {"min", "d0 s0 s0 s0?", ByDomain<SelectIntegerMin, SelectFloatMin, SelectHalfMin>, InsnClass::kInteger},
        {"max", "d0 s0 s0 s0?", ByDomain<SelectIntegerMax, SelectFloatMax, SelectHalfMax>, InsnClass::kInteger},
        {"ex2", "d0 s0", ByDomain<nullptr, SelectFloatEx2, SelectHalfEx2>, InsnClass::kSpecialFunction},
        {"tanh", "d0 s0", ByDomain<nullptr, SelectFloatTanh, SelectHalfTanh>, InsnClass::kSpecialFunction},
    });

}  // namespace
}  // namespace lockstep::vgpu
