// The frame of a random kernel: initial and final values of its registers, and the functions that it calls.
#include <cctype>

#include "dev/cosim/structure.h"

namespace lockstep::cosim {
namespace {

const char* PlainType(char letter) {
  switch (letter) {
    case 'h':
    case 'g':
    case 'b':
      return ".b16";
    case 'f':
      return ".f32";
    case 'e':
      return ".f64";
    case 'd':
      return ".b64";
    default:
      return ".b32";
  }
}

void Append(const Lines& lines, std::string* text) {
  for (const std::string& line : lines)
    *text += (line.ends_with(':') || line.starts_with("  {") ? line : "  " + line + ";") + "\n";
}
void Append(const std::vector<Node>& nodes, std::string* text) {
  for (const Node& node : nodes) {
    Append(node.head, text);
    Append(node.body, text);
    Append(node.middle, text);
    Append(node.other, text);
    Append(node.tail, text);
  }
}

// Whether the text contains the name as a whole word.
bool Names(const std::string& text, const std::string& name) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const char next = at + name.size() < text.size() ? text[at + name.size()] : ' ';
    if (std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_') return true;
  }
  return false;
}

std::string PoolDeclarations(const std::array<Pool, 10>& pools) {
  std::string text;
  for (const Pool& pool : pools)
    text += std::string("  .reg ") + pool.type + " %" + pool.letter + "<" + std::to_string(pool.count) + ">;\n";
  return text;
}

}  // namespace

std::string Kernel::Text() const {
  std::string inside;
  Append(body, &inside);
  std::string text;
  for (const Callee& function : functions)
    if (Names(inside, function.name)) text += function.text;
  text += ".visible .entry " + name + "(.param .u64 in, .param .u64 out)\n{\n";
  Append(opening, &text);
  text += inside;
  Append(closing, &text);
  return text + "  ret;\n}\n";
}

// Passes a struct by value and returns another, with eight bytes per register. Sometimes each lane chooses one
// of two variants of the function.
Node Structure::Call() {
  std::vector<std::string> passed, back;
  for (const Pool& pool : b().pools()) {
    if (pool.letter == 'p') continue;
    for (int k = 0; k < pool.count; ++k) {
      const std::string name = Name(std::string(1, pool.letter), k);
      if (b().OneIn(4)) passed.push_back(name);
      if (b().OneIn(6)) back.push_back(name);
    }
  }
  if (passed.empty()) passed.push_back("%r0");
  if (back.empty()) back.push_back("%r1");
  const std::string name = name_ + "_f" + std::to_string(function_count_++);
  const bool indirect = b().OneIn(3);
  Function(name, passed, back);
  if (indirect) Function(name + "x", passed, back);

  Node node;
  Lines& lines = node.head;
  const std::string in = "[" + std::to_string(8 * passed.size()) + "]",
                    out = "[" + std::to_string(8 * back.size()) + "]";
  std::string block = "{ .param .align 16 .b8 pi" + in + "; .param .b32 pn; .param .align 16 .b8 po" + out + ";";
  const auto put = [&](const std::string& text) { block += " " + text + ";"; };
  for (size_t k = 0; k < passed.size(); ++k)
    put("st.param" + std::string(PlainType(passed[k][1])) + " [pi+" + std::to_string(8 * k) + "], " + passed[k]);
  put("st.param.b32 [pn], " + b().Register('r'));
  if (indirect) {
    const std::string at = b().Temporary('d'), other = b().Temporary('d');
    lines.push_back("mov.u64 " + at + ", " + name);
    lines.push_back("mov.u64 " + other + ", " + name + "x");
    lines.push_back("selp.b64 " + at + ", " + at + ", " + other + ", " + b().Register('p'));
    put("call (po), " + at + ", (pi, pn), " + name + "_p");
    lines.push_back(name + "_p: .callprototype (.param .align 16 .b8 _" + out + ") _ (.param .align 16 .b8 _" + in +
                    ", .param .b32 _)");
  } else {
    put("call (po), " + name + ", (pi, pn)");
  }
  for (size_t k = 0; k < back.size(); ++k)
    put("ld.param" + std::string(PlainType(back[k][1])) + " " + back[k] + ", [po+" + std::to_string(8 * k) + "]");
  lines.push_back("  " + block + " }");
  return node;
}

void Structure::Function(const std::string& name, const std::vector<std::string>& passed,
                         const std::vector<std::string>& back) {
  Builder inner(b().random().Bits());
  // The same registers as in the kernel, so that the names fit.
  inner.Resize(b().pools());
  Lines body;
  for (const Pool& pool : b().pools()) {
    for (int k = 0; k < pool.count; ++k) {
      const std::string reg = Name(std::string(1, pool.letter), k);
      size_t at = 0;
      while (at < passed.size() && passed[at] != reg) ++at;
      if (at < passed.size()) {
        body.push_back("ld.param" + std::string(PlainType(pool.letter)) + " " + reg + ", [pi+" +
                       std::to_string(8 * at) + "]");
      } else if (pool.letter == 'p') {
        body.push_back("setp.gt.s32 " + reg + ", %n, " + std::to_string(k));
      } else if (pool.letter == 'f' || pool.letter == 'e') {
        body.push_back("mov" + std::string(PlainType(pool.letter)) + " " + reg + ", " + inner.Immediate(pool.letter));
      } else if (pool.letter == 'd') {
        body.push_back("cvt.s64.s32 " + reg + ", %n");
      } else if (std::string(PlainType(pool.letter)) == ".b16") {
        body.push_back("cvt.u16.u32 " + reg + ", %n");
      } else {
        body.push_back("add.u32 " + reg + ", %n, " + std::to_string(k));
      }
    }
  }
  for (int k = 2 + b().Pick(8); k > 0; --k)
    for (std::string& line : inner.Instruction()) body.push_back(std::move(line));
  for (size_t k = 0; k < back.size(); ++k)
    body.push_back("st.param" + std::string(PlainType(back[k][1])) + " [po+" + std::to_string(8 * k) + "], " + back[k]);
  std::string text = ".func (.param .align 16 .b8 po[" + std::to_string(8 * back.size()) + "]) " + name +
                     "(.param .align 16 .b8 pi[" + std::to_string(8 * passed.size()) + "], .param .b32 pn)" + "\n{\n" +
                     PoolDeclarations(inner.pools()) + inner.TemporaryDeclarations() +
                     "  .reg .b32 %n;\n  ld.param.b32 %n, [pn];\n";
  Append(body, &text);
  functions_.push_back({name, text + "  ret;\n}\n"});
}

void Structure::Opening(Kernel* kernel) {
  Lines& lines = kernel->opening;
  std::string declared = PoolDeclarations(b().pools()) + b().TemporaryDeclarations();
  declared += "  .reg .b32 %m<" + std::to_string(masks_) + ">;\n";
  if (counters_ > 0) declared += "  .reg .b32 %c<" + std::to_string(counters_) + ">;\n";
  declared += "  .reg .b32 %sa, %i<8>;\n  .reg .b64 %in, %out, %og, %sb, %sg, %la, %lg, %at;\n  .reg .pred %z, %zz;\n";
  declared +=
      "  .shared .align 16 .b8 sm[" + std::to_string(threads_ * kScratch) + "];\n  .shared .align 8 .b8 acc[32];\n";
  declared += "  .local .align 16 .b8 lm[" + std::to_string(kScratch) + "]";
  lines.push_back(declared);
  for (const char* line :
       {"ld.param.u64 %in, [in]", "ld.param.u64 %out, [out]", "cvta.to.global.u64 %in, %in",
        "cvta.to.global.u64 %out, %out", "mov.u32 %i0, %tid.x", "mov.u32 %i1, %ctaid.x", "mov.u32 %i2, %ntid.x",
        "mad.lo.u32 %i3, %i1, %i2, %i0",
        // The lanes of this warp that exist.
        "and.b32 %i4, %i0, -32", "sub.u32 %i4, %i2, %i4", "mov.b32 %m0, 1", "shl.b32 %m0, %m0, %i4",
        "sub.u32 %m0, %m0, 1", "mov.u32 %sa, sm", "mad.lo.u32 %sa, %i0, 64, %sa", "cvt.u64.u32 %sb, %sa",
        "cvta.shared.u64 %sg, %sb", "mov.u64 %la, lm", "cvta.local.u64 %lg, %la"})
    lines.push_back(line);
  lines.push_back("mad.wide.u32 %og, %i3, " + std::to_string(kScratch) + ", %out");
  lines.push_back("add.u64 %og, %og, " + std::to_string(kMostThreads * kSlots * 4));
  lines.push_back("mad.wide.u32 %out, %i3, " + std::to_string(kSlots * 4) + ", %out");
  for (int k = 1; k < masks_; ++k) lines.push_back("mov.b32 " + Name("m", k) + ", %m0");
  lines.push_back("mov.b32 %i5, 0");
  for (int k = 0; k < kScratch; k += 16) {
    lines.push_back("st.local.v4.b32 [%la+" + std::to_string(k) + "], {%i5, %i5, %i5, %i5}");
    lines.push_back("st.shared.v4.b32 [%sa+" + std::to_string(k) + "], {%i5, %i5, %i5, %i5}");
  }
  // All threads write the same values.
  lines.push_back("mov.b32 %i6, -1");
  for (int k = 0; k < 8; ++k)
    lines.push_back("st.shared.b32 [acc+" + std::to_string(4 * k) + "], " + (k == 1 || k == 5 ? "%i6" : "%i5"));
  lines.push_back("bar.sync 0");
  // A thread's initial values come from its position in the tables.
  lines.push_back("mad.lo.u32 %i4, %i3, " + std::to_string(2 * b().Pick(512) + 1) + ", " +
                  std::to_string(b().Pick(1024)));
  lines.push_back("and.b32 %i4, %i4, 1023");
  lines.push_back("mad.wide.u32 %at, %i4, 8, %in");
  for (const Pool& pool : b().pools()) {
    for (int k = 0; k < pool.count; ++k) {
      const std::string reg = Name(std::string(1, pool.letter), k),
                        at = "[%at+" + std::to_string((pool.table * kEntries + b().Pick(1024)) * 8) + "]";
      if (pool.letter == 'p') {
        lines.push_back("ld.global.b32 %i7, " + at);
        lines.push_back("setp.gt.s32 " + reg + ", %i7, " + std::to_string(b().OneIn(2) ? 0 : b().Pick(1000)));
      } else {
        lines.push_back("ld.global" + std::string(PlainType(pool.letter)) + " " + reg + ", " + at);
      }
    }
  }
}

void Structure::Closing(Kernel* kernel) {
  Lines& lines = kernel->closing;
  const auto put = [&](const char* type, const std::string& value, const std::string& what) {
    lines.push_back("st.global" + std::string(type) + " [%out+" + std::to_string(4 * kernel->slots.size()) + "], " +
                    value);
    kernel->slots.push_back(what);
    if (std::string(type).ends_with("64")) kernel->slots.push_back(what + ".high");
  };
  // Eight bytes first, for their alignment.
  for (const char letter : std::string("derfxyhgbp")) {
    for (const Pool& pool : b().pools()) {
      if (pool.letter != letter) continue;
      for (int k = 0; k < pool.count; ++k) {
        const std::string reg = Name(std::string(1, letter), k);
        if (letter == 'p') {
          lines.push_back("selp.b32 %i7, 1, 0, " + reg);
          put(".b32", "%i7", reg);
        } else if (letter == 'r' || letter == 'd') {
          put(PlainType(letter), reg, reg);
        } else if (letter == 'h') {
          lines.push_back("cvt.u32.u16 %i7, " + reg);
          put(".b32", "%i7", reg);
        } else {
          const std::string canonical = b().Canonical(letter, reg, &lines);
          if (letter == 'g' || letter == 'b') {
            lines.push_back("cvt.u32.u16 %i7, " + canonical);
            put(".b32", "%i7", reg);
          } else {
            put(PlainType(letter), canonical, reg);
          }
        }
      }
    }
  }
  lines.push_back("bar.warp.sync %m0");
  lines.push_back("bar.sync 0");
  for (int k = 0; k < 8; ++k) {
    lines.push_back("ld.shared.b32 %i7, [acc+" + std::to_string(4 * k) + "]");
    put(".b32", "%i7", "acc+" + std::to_string(4 * k));
  }
  for (int k = 0; k < kScratch; k += 16) {
    lines.push_back("ld.local.b32 %i7, [%la+" + std::to_string(k) + "]");
    put(".b32", "%i7", "local+" + std::to_string(k));
    lines.push_back("ld.shared.b32 %i7, [%sa+" + std::to_string(k + 8) + "]");
    put(".b32", "%i7", "shared+" + std::to_string(k + 8));
  }
}

Kernel Structure::Make(const std::vector<Form>* forms) {
  Kernel kernel;
  kernel.name = name_;
  kernel.threads = threads_;
  kernel.blocks = blocks_;
  const Region top{"%m0", threads_ % 32 == 0, true, 0};
  if (forms == nullptr) {
    kernel.body = Steps(top, 1000);
  } else {
    for (const Form& form : *forms) kernel.body.push_back({b().Instruction(form), {}, {}, {}, {}});
  }
  Closing(&kernel);
  Opening(&kernel);
  kernel.functions = functions_;
  return kernel;
}

Kernel MakeKernel(uint64_t seed) {
  return Structure(seed, "k" + std::to_string(seed)).Make(seed < Forms().size() ? &Forms()[seed] : nullptr);
}

}  // namespace lockstep::cosim
