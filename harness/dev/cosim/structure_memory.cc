// Memory of a random kernel: each thread's own 64 bytes in local, shared and global memory, exchange between threads
// around barriers, and words that all threads reduce to.
#include <cctype>

#include "dev/cosim/structure.h"

namespace lockstep::cosim {
namespace {

struct Width {
  const char* type;
  int bytes;
  const char* letters;  // of registers that it may load into
};
constexpr Width kWidths[] = {{".u8", 1, "hrd"},  {".s8", 1, "hrd"},  {".b8", 1, "hrd"}, {".u16", 2, "hrd"},
                             {".s16", 2, "hrd"}, {".b16", 2, "hgb"}, {".u32", 4, "rd"}, {".s32", 4, "rd"},
                             {".b32", 4, "rxy"}, {".f32", 4, "f"},   {".u64", 8, "d"},  {".b64", 8, "d"},
                             {".f64", 8, "e"}};

// The stored value: floating-point registers with canonical NaNs.
std::string Stored(Builder& b, char letter, Lines* lines) {
  if (std::string("fegbxy").find(letter) == std::string::npos) return b.Register(letter);
  return b.Source(static_cast<char>(std::toupper(letter)), lines);
}

}  // namespace

std::string Structure::Own(const char* space, int bytes, Lines* lines) {
  const std::string where(space);
  const bool generic = where.empty(), narrow = where == ".shared" && b().OneIn(2);
  const char* const kGeneric[] = {"%og", "%sg", "%lg"};
  const std::string base = generic              ? kGeneric[b().Pick(3)]
                           : where == ".global" ? "%og"
                           : where == ".shared" ? (narrow ? "%sa" : "%sb")
                                                : "%la";
  const int places = kScratch / bytes;
  if (b().OneIn(2)) return "[" + base + "+" + std::to_string(b().Pick(places) * bytes) + "]";
  const std::string t = b().Temporary('r');
  lines->push_back("and.b32 " + t + ", " + b().Register('r') + ", " + std::to_string((places - 1) * bytes));
  if (narrow) {
    lines->push_back("add.u32 " + t + ", " + t + ", %sa");
    return "[" + t + "]";
  }
  const std::string d = b().Temporary('d');
  lines->push_back("cvt.u64.u32 " + d + ", " + t);
  lines->push_back("add.u64 " + d + ", " + d + ", " + base);
  return "[" + d + "]";
}

Node Structure::Memory() {
  Node node;
  Lines& lines = node.head;
  static constexpr const char* kSpaces[] = {".global", ".shared", ".local", ""};
  const std::string space = kSpaces[b().Pick(4)];
  const Width& width = kWidths[b().Pick(static_cast<int>(std::size(kWidths)))];
  const std::string letters = width.letters;
  const bool load = b().OneIn(2);
  if (load && b().OneIn(5)) {
    // The input table, read-only.
    static constexpr const char* kLoads[] = {".global",          ".global.nc",          "",
                                             ".volatile.global", ".relaxed.gpu.global", ".global.ca"};
    const std::string t = b().Temporary('r'), d = b().Temporary('d');
    const bool pair = b().OneIn(2);
    lines = {"and.b32 " + t + ", " + b().Register('r') + ", " + std::to_string((kEntries - 1) * 8 & ~15),
             "mad.wide.u32 " + d + ", " + t + ", 1, %in"};
    std::string first = b().Register('r'), second = b().Register('r');
    while (second == first) second = b().Register('r');
    const std::string at = "[" + d + "+" + std::to_string((1 + b().Pick(2)) * kEntries * 8) + "]";
    lines.push_back(std::string("ld") + kLoads[b().Pick(6)] + (pair ? ".v2" : "") + ".b32 " +
                    (pair ? "{" + first + ", " + second + "}" : first) + ", " + at);
    return node;
  }
  // All registers of a vector have one type, and destination registers are distinct.
  int count = 1 << b().Pick(3);
  while (count * width.bytes > 16) count /= 2;
  const char letter = letters[static_cast<size_t>(b().Pick(static_cast<int>(letters.size())))];
  std::vector<std::string> registers;
  for (int k = 0; k < count; ++k) registers.push_back(load ? b().Temporary(letter) : Stored(b(), letter, &lines));
  std::string list = registers[0];
  for (int k = 1; k < count; ++k) list += ", " + registers[static_cast<size_t>(k)];
  if (count > 1) list = "{" + list + "}";
  const std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
  const std::string volatile_or =
      count == 1 && b().OneIn(8) && (space == ".global" || space == ".shared") ? ".volatile" : "";
  const std::string address = Own(space.c_str(), count * width.bytes, &lines);
  if (load) {
    lines.push_back("ld" + volatile_or + space + vector + width.type + " " + list + ", " + address);
    for (const std::string& from : registers) {
      const char* type = std::string("hgb").find(letter) != std::string::npos ? ".b16 "
                         : letter == 'f'                                      ? ".f32 "
                         : letter == 'e'                                      ? ".f64 "
                         : letter == 'd'                                      ? ".b64 "
                                                                              : ".b32 ";
      lines.push_back("mov" + std::string(type) + b().Register(letter) + ", " + from);
    }
  } else {
    lines.push_back("st" + volatile_or + space + vector + width.type + " " + address + ", " + list);
  }
  return node;
}

Node Structure::AtomicOfOwn() {
  Node node;
  Lines& lines = node.head;
  static constexpr const char* kSpaces[] = {".global", ".shared", ""};
  const std::string space = kSpaces[b().Pick(3)];
  static constexpr const char* kNarrow[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                            "max.s32", "and.b32", "or.b32",  "xor.b32", "exch.b32",
                                            "inc.u32", "dec.u32", "cas.b32"};
  static constexpr const char* kWide[] = {"add.u64", "min.u64", "min.s64", "max.u64",  "max.s64",
                                          "and.b64", "or.b64",  "xor.b64", "exch.b64", "cas.b64"};
  const bool wide = b().OneIn(3);
  const std::string op = wide ? kWide[b().Pick(10)] : kNarrow[b().Pick(13)];
  const char letter = wide ? 'd' : 'r';
  // No atomics on local memory, to which a generic address may point.
  const std::string address = Own(space.empty() ? ".global" : space.c_str(), wide ? 8 : 4, &lines);
  static constexpr const char* kOrders[] = {"", ".relaxed.cta", ".acq_rel.gpu", ".release.gpu", ".acquire.sys"};
  const std::string order = kOrders[b().Pick(5)];
  std::string values = b().Register(letter);
  if (op.starts_with("cas")) values += ", " + b().Register(letter);
  const bool returns = op.starts_with("exch") || op.starts_with("cas") || b().OneIn(2);
  if (returns) {
    lines.push_back("atom" + order + space + "." + op + " " + b().Register(letter) + ", " + address + ", " + values);
  } else {
    const bool plain = order.starts_with(".acq");
    lines.push_back("red" + (plain ? "" : order) + space + "." + op + " " + address + ", " + values);
  }
  return node;
}

// One atomic sum in the thread's own word, which is cleared afterwards so that a NaN's bits are not read.
Node Structure::FloatAtomic() {
  struct Kind {
    char letter;
    const char* type;
    int bytes;
    const char* op;
    const char* zero;
  };
  static constexpr Kind kKinds[] = {
      {'f', ".f32", 4, "add.f32", "0f00000000"}, {'e', ".f64", 8, "add.f64", "0d0000000000000000"},
      {'x', ".b32", 4, "add.noftz.f16x2", "0"},  {'y', ".b32", 4, "add.noftz.bf16x2", "0"},
      {'g', ".b16", 2, "add.noftz.f16", "0"},    {'b', ".b16", 2, "add.noftz.bf16", "0"}};
  const Kind& kind = kKinds[b().Pick(6)];
  Node node;
  Lines& lines = node.head;
  const bool global = b().OneIn(2);
  const std::string space = global ? ".global" : ".shared",
                    address = std::string(global ? "[%og+" : "[%sa+") + std::to_string(8 * b().Pick(8)) + "]";
  const std::string start = Stored(b(), kind.letter, &lines), added = Stored(b(), kind.letter, &lines);
  lines.push_back("st" + space + kind.type + " " + address + ", " + start);
  lines.push_back("atom" + space + "." + kind.op + " " + b().Register(kind.letter) + ", " + address + ", " + added);
  lines.push_back("ld" + space + kind.type + " " + b().Register(kind.letter) + ", " + address);
  const std::string zero = b().Temporary(kind.letter);
  lines.push_back("mov" + std::string(kind.type) + " " + zero + ", " + kind.zero);
  lines.push_back("st" + space + kind.type + " " + address + ", " + zero);
  return node;
}

// All threads of a block, in any order: each word has a single commutative operation.
Node Structure::Reduction() {
  static constexpr const char* kOps[] = {"add.u32", "min.u32", "max.s32", "xor.b32", "or.b32", "and.b32"};
  const int k = b().Pick(7);
  if (k == 6) return {{"red.shared.add.u64 [acc+24], " + b().Register('d')}, {}, {}, {}, {}};
  return {{std::string("red.shared.") + kOps[k] + " [acc+" + std::to_string(4 * k) + "], " + b().Register('r')},
          {},
          {},
          {},
          {}};
}

// A barrier with a reduction; or each thread writes a word, and after a barrier reads another thread's.
Node Structure::BlockStep(const Region&) {
  Node node;
  Lines& lines = node.head;
  if (b().OneIn(3)) {
    const std::string p = b().Register('p');
    // Not barrier.cta.red: for lanes that arrive separately the assembler generates a different sequence
    // (WARPSYNC.COLLECTIVE, then BAR.RED with its number and count in a register), which stopped one kernel of 12,000
    // with error 715.
    lines = {"bar.warp.sync %m0"};
    if (b().OneIn(2)) {
      lines.push_back("bar.red.popc.u32 " + b().Register('r') + ", 0, " + p);
    } else {
      lines.push_back(std::string("bar.red.") + (b().OneIn(2) ? "and" : "or") + ".pred " + b().Register('p') + ", 0, " +
                      p);
    }
    return node;
  }
  const std::string t = b().Temporary('r');
  const int at = 8 * b().Pick(8);
  lines = {"st.shared.b32 [%sa+" + std::to_string(at) + "], " + b().Register('r'), "bar.warp.sync %m0", "bar.sync 0"};
  lines.push_back("mov.u32 " + t + ", %tid.x");
  lines.push_back("add.u32 " + t + ", " + t + ", " + std::to_string(1 + b().Pick(threads_ - 1)));
  lines.push_back("rem.u32 " + t + ", " + t + ", " + std::to_string(threads_));
  const std::string base = b().Temporary('r');
  lines.push_back("mov.u32 " + base + ", sm");
  lines.push_back("mad.lo.u32 " + t + ", " + t + ", " + std::to_string(kScratch) + ", " + base);
  lines.push_back("ld.shared.b32 " + b().Register('r') + ", [" + t + "+" + std::to_string(at) + "]");
  lines.push_back("bar.sync 0");
  return node;
}

}  // namespace lockstep::cosim
