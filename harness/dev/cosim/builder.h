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
  char letter;       // as in forms.h; "%" + letter + number
  const char* type;  // declared as
  int table;         // of the inputs
  int most;
  int count = 0;  // in this kernel
};

class Builder {
 public:
  explicit Builder(uint64_t seed);

  Random& random() { return random_; }
  int Pick(int n) { return random_.Pick(n); }
  bool OneIn(int n) { return random_.OneIn(n); }

  std::string Register(char letter);   // any of its pool
  std::string Temporary(char letter);  // a new one of that letter's type
  std::string Immediate(char letter);
  std::string Label() { return "L" + std::to_string(labels_++); }
  // A register with the one canonical NaN for all of letter's NaNs; adds the lines that make it.
  std::string Canonical(char letter, const std::string& from, Lines* lines);
  std::string Source(char letter, Lines* lines);
  // One instruction of the table, with what its operands need, under a guard now and then.
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
