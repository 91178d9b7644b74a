// A random CUDA C++ program is a namespace; a file holds several. Its kernel has phases in which each thread works
// alone, and cooperative steps in between. Each step is written twice: for the device, and for the host, which simulates
// the threads one after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dev/cosim/cuda/declarations.h"

namespace lockstep::cosim::cuda {

struct ProgramText {
  std::string text;
  std::string entry;  // in the file's table of programs
  int functions = 0;
};

class KernelMaker : private Declarations {
 public:
  explicit KernelMaker(uint64_t seed);
  ProgramText Make();

 private:
  struct Shared {
    std::string name;
    Type type;
  };
  void DeclareState();
  void OpenState();  // opens the names available to a step: the state s and the Env env
  void Steps(int count, bool in_loop);
  void Step(bool in_loop);
  void Phase();
  void Shuffle();
  void Vote();
  void Reduce();
  void AmongSome();
  void Exchange();
  void SharedAtomics();
  void GlobalAtomics();
  void Tree();
  void BlockVote();
  void Emit(const std::string& device, const std::string& host);
  void Each(const std::string& statement);  // the same in every thread
  std::string Kernel();
  std::string Field(Type type);  // a member of the state with this type, created if there is none

  uint64_t seed_;
  std::string space_;  // the program's namespace
  int threads_, blocks_, slots_ = 32;
  bool whole_warps_;
  std::vector<Variable> state_;  // scalars whose addresses may be taken
  std::vector<Array> state_arrays_;
  std::vector<Instance> state_records_;
  std::vector<Shared> shared_;
  std::string device_, host_;
  int depth_ = 1;
};

// A file of the programs of these seeds.
std::string MakeFile(uint64_t first, int count, int* functions = nullptr);

}  // namespace lockstep::cosim::cuda
