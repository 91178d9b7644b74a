// The available checkers. To add one, write a file that defines its factory and add a row to the table in
// checker_registry.cc; vgpu-run's --check, its help and the judge's suites take it from there.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {

struct CheckerInfo {
  std::string_view id;    // vgpu-run --check=ID
  std::string_view help;  // what it finds
  std::unique_ptr<Checker> (*make)();
};
std::span<const CheckerInfo> AllCheckers();  // in the order in which they receive events

class CheckerSet {
 public:
  CheckerSet() = default;
  CheckerSet(std::initializer_list<std::string_view> ids);  // throws std::logic_error for an unknown name
  static CheckerSet All();

  bool Add(std::string_view id);                                  // false: unknown name
  bool Has(size_t row) const { return (rows_ >> row & 1) != 0; }  // row in AllCheckers()
  bool Has(std::string_view id) const;
  bool empty() const { return rows_ == 0; }
  bool operator==(const CheckerSet&) const = default;

 private:
  uint32_t rows_ = 0;  // one bit per row
};

}  // namespace lockstep::vgpu
