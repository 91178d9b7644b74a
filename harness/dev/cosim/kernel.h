// A random kernel as a tree, so that it can be shrunk, and as PTX.
//
// Every register of a pool starts with a value from the input table and ends in the output, so whatever instruction is
// taken out of the body, what is left is well-defined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::cosim {

// Lines of PTX. A branch or loop has them as head, body, middle, other (a second body), tail; other nodes only as head.
struct Node {
  std::vector<std::string> head;
  std::vector<Node> body;
  std::vector<std::string> middle;
  std::vector<Node> other;
  std::vector<std::string> tail;
};

struct Callee {
  std::string name, text;
};

struct Kernel {
  std::string name;
  std::vector<Callee> functions;     // functions that it may call
  std::vector<std::string> opening;  // declarations, loads of the registers
  std::vector<Node> body;
  std::vector<std::string> closing;  // stores of the registers
  std::vector<std::string> slots;    // the contents of each word of a thread's output
  int threads = 32, blocks = 1;

  std::string Text() const;  // without the module's header and functions not used in the body
};

inline constexpr const char* kModuleHeader = ".version 8.3\n.target sm_90\n.address_size 64\n";

// Parameters: input table, output. The output: kSlots words for each thread, then kScratch bytes of each thread's own.
inline constexpr int kSlots = 128, kScratch = 64, kMostThreads = 256;
inline constexpr uint64_t kOutputBytes = kMostThreads * (kSlots * 4 + kScratch);

// The same for every kernel: kKinds tables of kEntries values of 8 bytes each, many of them edge values.
inline constexpr int kKinds = 8, kEntries = 2048;  // b16 b32 b64 f32 f64 f16 bf16x2 f16x2
std::vector<uint64_t> InputTable();

// The first seeds give a kernel of all instructions on one line of the table, the others a random one.
Kernel MakeKernel(uint64_t seed);

}  // namespace lockstep::cosim
