// The structure around single instructions in a random kernel: memory, control flow, warps, calls.
//
// Well-defined by construction: a thread stores only where no other reads before a barrier; reductions that threads
// share commute; a warp's instruction names exactly the lanes that reach it, which a vote before each branch finds; a
// shuffle reads only from those.
#pragma once

#include <string>
#include <vector>

#include "dev/cosim/builder.h"

namespace lockstep::cosim {

// A region of code: which lanes reach it.
struct Region {
  std::string mask;    // register that holds the lanes; empty: unknown
  bool full = false;   // all 32, in every warp
  bool whole = false;  // all threads of the block
  int depth = 0;
};

class Structure {
 public:
  Structure(uint64_t seed, std::string name);
  // forms: a kernel of only these instructions; nullptr: a random one.
  Kernel Make(const std::vector<Form>* forms);

 private:
  Builder& b() { return builder_; }
  std::string Mask() { return Name("m", masks_++); }
  std::vector<Node> Steps(const Region& region, int count);
  Node Step(const Region& region);
  Node Carry();
  Node Vector();
  Node Memory();
  Node AtomicOfOwn();
  Node FloatAtomic();
  Node Reduction();
  Node WarpStep(const Region& region);
  Node BlockStep(const Region& region);
  Node If(const Region& region);
  Node Loop(const Region& region);
  Node FreeLoop(const Region& region);
  Node Skip(const Region& region);
  Node Switch(const Region& region);
  Node Call();
  Node SpecialRegister();
  std::string Own(const char* space, int bytes, Lines* lines);  // address expression of bytes of the thread's own
  void Function(const std::string& name, const std::vector<std::string>& passed, const std::vector<std::string>& back);
  void Opening(Kernel* kernel);
  void Closing(Kernel* kernel);

  Builder builder_;
  std::string name_;
  std::vector<Callee> functions_;
  uint64_t seed_;
  int masks_ = 1, counters_ = 0, function_count_ = 0, budget_ = 0;
  int threads_ = 32, blocks_ = 1;
};

}  // namespace lockstep::cosim
