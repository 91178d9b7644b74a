#include "dev/cosim/structure.h"

namespace lockstep::cosim {

Structure::Structure(uint64_t seed, std::string name) : builder_(seed), name_(std::move(name)), seed_(seed) {
  static constexpr int kThreads[] = {32, 32, 64, 64, 96, 128, 40, 17};
  threads_ = kThreads[b().Pick(8)];
  blocks_ = 1 + b().Pick(2);
  budget_ = 15 + b().Pick(b().OneIn(6) ? 200 : 60);
}

std::vector<Node> Structure::Steps(const Region& region, int count) {
  std::vector<Node> steps;
  for (int k = 0; k < count && budget_ > 0; ++k) steps.push_back(Step(region));
  return steps;
}

Node Structure::Step(const Region& region) {
  --budget_;
  const int choice = b().Pick(100);
  const bool deeper = region.depth < 3;
  if (choice < 4) return Carry();
  if (choice < 7) return Vector();
  if (choice < 13) return Memory();
  if (choice < 15) return AtomicOfOwn();
  if (choice < 16) return FloatAtomic();
  if (choice < 18) return Reduction();
  if (choice < 24 && !region.mask.empty()) return WarpStep(region);
  if (choice < 26 && region.whole) return BlockStep(region);
  if (choice < 30 && deeper) return If(region);
  if (choice < 32 && deeper) return Loop(region);
  if (choice < 33 && deeper) return FreeLoop(region);
  if (choice < 35 && deeper) return Skip(region);
  if (choice < 36 && deeper) return Switch(region);
  if (choice < 37) return Call();
  if (choice < 38) return SpecialRegister();
  return {b().Instruction(), {}, {}, {}, {}};
}

// Multi-word sums, differences and products. A difference may be followed by a sum: addc reads the carry of a + ~b + 1.
Node Structure::Carry() {
  Node node;
  const bool wide = b().OneIn(3), products = b().OneIn(3);
  const char letter = wide ? 'd' : 'r';
  const std::string type = wide ? (b().OneIn(2) ? ".u64" : ".s64") : (b().OneIn(2) ? ".u32" : ".s32");
  const int length = 2 + b().Pick(3);
  bool difference = b().OneIn(2);
  for (int k = 0; k < length; ++k) {
    if (b().OneIn(5)) difference = !difference;
    const bool last = k == length - 1, first = k == 0;
    const bool product = products && b().OneIn(2);
    const std::string part = b().OneIn(2) ? ".lo" : ".hi";
    std::string text =
        product ? (first ? "mad" : "madc") + part : std::string(difference ? "sub" : "add") + (first ? "" : "c");
    if (!last || b().OneIn(4)) text += ".cc";
    text += type + " " + b().Register(letter);
    for (int s = 0; s < (product ? 3 : 2); ++s) text += ", " + b().Source(letter, &node.head);
    node.tail.push_back(text);
  }
  // Code for the sources comes first: nothing may change the carry in between.
  node.head.insert(node.head.end(), node.tail.begin(), node.tail.end());
  node.tail.clear();
  return node;
}

Node Structure::Vector() {
  const auto r = [&](char letter) { return b().Register(letter); };
  Node node;
  // Destinations of one instruction must differ.
  const auto two = [&](char letter) {
    const std::string first = r(letter);
    std::string second = r(letter);
    while (second == first) second = r(letter);
    return "{" + first + ", " + second + "}";
  };
  switch (b().Pick(6)) {
    case 0:
      node.head = {"mov.b64 " + two('r') + ", " + r('d')};
      break;
    case 1:
      node.head = {"mov.b64 " + r('d') + ", {" + r('r') + ", " + r('r') + "}"};
      break;
    case 2:
      node.head = {"mov.b32 " + two('h') + ", " + r('r')};
      break;
    case 3:
      node.head = {"mov.b32 " + r('r') + ", {" + r('h') + ", " + r('h') + "}"};
      break;
    case 4:
      if (b().OneIn(2)) {
        node.head = {"mov.b32 " + two('g') + ", " + r('x'), "mov.b32 " + r('y') + ", {" + r('b') + ", " + r('b') + "}"};
      } else {
        node.head = {"mov.b32 " + two('b') + ", " + r('y'), "mov.b32 " + r('x') + ", {" + r('g') + ", " + r('g') + "}"};
      }
      break;
    default:
      node.head = {"mov.b64 " + r('d') + ", {" + r('h') + ", " + r('h') + ", " + r('h') + ", " + r('h') + "}"};
  }
  return node;
}

Node Structure::SpecialRegister() {
  static constexpr const char* kNames[] = {"tid.x",       "ctaid.x",     "ntid.x",      "nctaid.x",    "laneid",
                                           "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"};
  return {{"mov.u32 " + b().Register('r') + ", %" + kNames[b().Pick(10)]}, {}, {}, {}, {}};
}

Node Structure::If(const Region& region) {
  Node node;
  const std::string p = b().Temporary('p');
  node.head = {(b().OneIn(2) ? "mov.pred " : "not.pred ") + p + ", " + b().Register('p')};
  Region then = region, otherwise = region;
  ++then.depth, ++otherwise.depth;
  if (region.whole && b().OneIn(3)) {
    node.head.push_back("bar.warp.sync %m0");
    node.head.push_back(std::string("bar.red") + (b().OneIn(2) ? ".and" : ".or") + ".pred " + p + ", 0, " + p);
  } else if (!region.mask.empty() && b().OneIn(3)) {
    node.head.push_back(std::string("vote.sync") + (b().OneIn(2) ? ".all" : ".any") + ".pred " + p + ", " + p + ", " +
                        region.mask);
    then.whole = otherwise.whole = false;
  } else {
    then.whole = otherwise.whole = then.full = otherwise.full = false;
    if (!region.mask.empty()) {
      then.mask = Mask(), otherwise.mask = Mask();
      node.head.push_back("vote.sync.ballot.b32 " + then.mask + ", " + p + ", " + region.mask);
      node.head.push_back("xor.b32 " + otherwise.mask + ", " + then.mask + ", " + region.mask);
    }
  }
  const std::string other = b().Label(), end = b().Label();
  node.head.push_back("@!" + p + " bra " + other);
  node.body = Steps(then, 1 + b().Pick(6));
  node.middle = {"bra " + end, other + ":"};
  if (b().OneIn(2)) node.other = Steps(otherwise, 1 + b().Pick(5));
  node.tail = {end + ":"};
  return node;
}

// A loop whose lanes leave one by one; a vote at its top finds the remaining ones.
Node Structure::Loop(const Region& region) {
  Node node;
  const std::string counter = Name("c", counters_++), p = b().Temporary('p'), top = b().Label(), end = b().Label();
  Region inside = region;
  ++inside.depth;
  const bool uniform = b().OneIn(3);
  node.head = {uniform ? "mov.b32 " + counter + ", " + std::to_string(b().Pick(6))
                       : "and.b32 " + counter + ", " + b().Register('r') + ", " + std::to_string(b().OneIn(2) ? 3 : 7)};
  if (!uniform) {
    inside.whole = inside.full = false;
    if (!region.mask.empty()) {
      inside.mask = Mask();
      node.head.push_back("mov.b32 " + inside.mask + ", " + region.mask);
    }
  }
  node.head.push_back(top + ":");
  node.head.push_back("setp.ne.u32 " + p + ", " + counter + ", 0");
  if (!uniform && !region.mask.empty()) {
    const std::string next = b().Temporary('r');
    node.head.push_back("vote.sync.ballot.b32 " + next + ", " + p + ", " + inside.mask);
    node.head.push_back("@!" + p + " bra " + end);
    node.head.push_back("mov.b32 " + inside.mask + ", " + next);
  } else {
    node.head.push_back("@!" + p + " bra " + end);
  }
  node.head.push_back("sub.u32 " + counter + ", " + counter + ", 1");
  node.body = Steps(inside, 1 + b().Pick(7));
  node.tail = {"bra " + top, end + ":"};
  return node;
}

// A loop with breaks and continues.
Node Structure::FreeLoop(const Region& region) {
  Node node;
  const std::string counter = Name("c", counters_++), p = b().Temporary('p');
  const std::string top = b().Label(), next = b().Label(), end = b().Label();
  Region inside;
  inside.depth = region.depth + 1;
  node.head = {"and.b32 " + counter + ", " + b().Register('r') + ", 7", top + ":"};
  for (int k = 0; k < 3; ++k) {
    for (Node& step : Steps(inside, 1 + b().Pick(3))) node.body.push_back(std::move(step));
    const std::string guard = (b().OneIn(2) ? "@" : "@!") + b().Register('p') + " bra ";
    if (k < 2) node.body.push_back({{guard + (b().OneIn(2) ? next : end)}, {}, {}, {}, {}});
  }
  node.tail = {next + ":", "setp.eq.u32 " + p + ", " + counter + ", 0", "sub.u32 " + counter + ", " + counter + ", 1",
               "@!" + p + " bra " + top, end + ":"};
  return node;
}

// Branches forward that cross each other.
Node Structure::Skip(const Region& region) {
  Node node;
  Region inside;
  inside.depth = region.depth + 1;
  const std::string first = b().Label(), second = b().Label();
  const auto branch = [&](const std::string& to) {
    return Node{{(b().OneIn(2) ? "@" : "@!") + b().Register('p') + " bra " + to}, {}, {}, {}, {}};
  };
  const auto steps = [&](std::vector<Node>* nodes) {
    for (Node& step : Steps(inside, 1 + b().Pick(3))) nodes->push_back(std::move(step));
  };
  node.body.push_back(branch(first));
  steps(&node.body);
  node.body.push_back(branch(second));
  steps(&node.body);
  node.middle = {first + ":"};
  steps(&node.other);
  node.tail = {second + ":"};
  return node;
}

Node Structure::Switch(const Region& region) {
  Node node;
  Region inside;
  inside.depth = region.depth + 1;
  const std::string index = b().Temporary('r'), table = "T" + b().Label(), end = b().Label();
  std::string targets;
  for (int k = 0; k < 4; ++k) {
    const std::string label = b().Label();
    targets += (k == 0 ? "" : ", ") + label;
    Node part;
    part.head = {label + ":"};
    part.body = Steps(inside, 1 + b().Pick(3));
    if (!b().OneIn(3)) part.tail = {"bra " + end};
    node.body.push_back(std::move(part));
  }
  node.head = {"and.b32 " + index + ", " + b().Register('r') + ", 3", table + ": .branchtargets " + targets,
               "brx.idx " + index + ", " + table};
  node.tail = {end + ":"};
  return node;
}

Node Structure::WarpStep(const Region& region) {
  Node node;
  Lines& lines = node.head;
  const std::string& mask = region.mask;
  const auto r = [&](char letter) { return b().Register(letter); };
  switch (b().Pick(8)) {
    case 0: {
      static constexpr const char* kOps[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                             "max.s32", "and.b32", "or.b32",  "xor.b32"};
      lines = {std::string("redux.sync.") + kOps[b().Pick(9)] + " " + r('r') + ", " + r('r') + ", " + mask};
      break;
    }
    case 1: {
      static constexpr const char* kOps[] = {"all", "any", "uni"};
      lines = {std::string("vote.sync.") + kOps[b().Pick(3)] + ".pred " + r('p') + ", " + (b().OneIn(2) ? "!" : "") +
               r('p') + ", " + mask};
      break;
    }
    case 2:
      lines = {"vote.sync.ballot.b32 " + r('r') + ", " + r('p') + ", " + mask};
      break;
    case 3:
      lines = {b().OneIn(2) ? "match.any.sync.b32 " + r('r') + ", " + r('r') + ", " + mask
                            : "match.any.sync.b64 " + r('r') + ", " + r('d') + ", " + mask};
      break;
    case 4:
      lines = {b().OneIn(2) ? "match.all.sync.b32 " + r('r') + "|" + r('p') + ", " + r('r') + ", " + mask
                            : "match.all.sync.b64 " + r('r') + "|" + r('p') + ", " + r('d') + ", " + mask};
      break;
    case 5: {
      const std::string small = b().Temporary('r');
      lines = {"and.b32 " + small + ", " + r('r') + ", 3", "match.any.sync.b32 " + r('r') + ", " + small + ", " + mask};
      break;
    }
    default: {
      static constexpr const char* kModes[] = {"idx", "up", "down", "bfly"};
      const int mode = b().Pick(4);
      std::string text = std::string("shfl.sync.") + (region.full ? kModes[mode] : "idx") + ".b32 " + r('r');
      if (b().OneIn(2)) text += "|" + r('p');
      text += ", " + r('r') + ", ";
      if (region.full) {
        const int segment = 32 - (1 << b().Pick(6));
        const int clamp = b().OneIn(4) ? b().Pick(32) : mode == 1 ? 0 : 31;
        lines = {text + (b().OneIn(2) ? std::to_string(b().Pick(32)) : r('r')) + ", " +
                 std::to_string(segment << 8 | clamp) + ", " + mask};
      } else {
        // From one of the active lanes: the lowest or the highest.
        const std::string from = b().Temporary('r');
        if (b().OneIn(2)) {
          lines = {"bfind.u32 " + from + ", " + mask};
        } else {
          lines = {"brev.b32 " + from + ", " + mask, "clz.b32 " + from + ", " + from};
        }
        lines.push_back(text + from + ", 31, " + mask);
      }
    }
  }
  return node;
}

}  // namespace lockstep::cosim
