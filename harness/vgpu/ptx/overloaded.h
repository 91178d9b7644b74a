// A visitor of a std::variant made from one lambda for each type.
#pragma once

namespace lockstep::vgpu {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
// Clang before 17 does not deduce the arguments of an aggregate by itself.
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace lockstep::vgpu
