// Writes the lines of a random kernel: register pools, operands, single instructions.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "dev/cosim/forms.h"
#include "dev/cosim/kernel.h"
#include "dev/cosim/random.h"

namespace lockstep::cosim {

using Lines = std::vector<std::string>;

struct Pool {
  char letter;       // as in forms.h; names are "%" + letter + number
  const char* type;  // the declared type
  int table;         // index of its input table
  int most;
  int count = 0;  // number of registers in this kernel
};

class Builder {
 public:
  explicit Builder(uint64_t seed);

  Random& random() { return random_; }
  int Pick(int n) { return random_.Pick(n); }
  bool OneIn(int n) { return random_.OneIn(n); }

  std::string Register(char letter);   // any register of the pool
  std::string Temporary(char letter);  // a new one of that letter's type
  std::string Immediate(char letter);
  std::string Label() { return "L" + std::to_string(labels_++); }
  // A register in which every NaN is the canonical one; adds the lines that compute it.
  std::string Canonical(char letter, const std::string& from, Lines* lines);
  std::string Source(char letter, Lines* lines);
  // A random instruction of the table with its operands' setup, sometimes guarded.
  Lines Instruction();
  Lines Instruction(const Form& form);

  void Resize(const std::array<Pool, 10>& pools) { pools_ = pools; }
  const std::array<Pool, 10>& pools() const { return pools_; }
  std::string TemporaryDeclarations() const;

 private:
  Random random_;
  std::array<Pool, 10> pools_;
  std::array<int, 128> temporaries_ = {};
  int labels_ = 0;
};

inline std::string Name(std::string_view prefix, int number) {
  return "%" + std::string(prefix) + std::to_string(number);
}

}  // namespace lockstep::cosim
