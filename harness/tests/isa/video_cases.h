// Video instructions and operands, the same on every machine: all operations with all signs, a choice of the selectors,
// second operations and masks. The H100's results for them are in isa_video.h100.txt.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace lockstep::vgpu {

inline constexpr uint32_t kVideoCases = 1024;  // sets of operands a form
inline constexpr size_t kVideoFormsAKernel = 32;

// splitmix64
class VideoRandom {
 public:
  explicit VideoRandom(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  size_t Below(size_t n) { return static_cast<size_t>((Next() >> 33) % n); }
  std::string Of(const std::vector<std::string>& words) { return words[Below(words.size())]; }

 private:
  uint64_t state_;
};

// a, b and c of a case: edge values of words, halves and bytes, shift counts and random bits.
inline std::vector<uint32_t> VideoOperands() {
  const std::vector<uint32_t> edges = {
      0,          1,          2,          7,          15,         31,         32,         33,
      63,         64,         0x7f,       0x80,       0xff,       0x100,      0x7fff,     0x8000,
      0xffff,     0x10000,    0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x7f80ff01,
      0x80007fff, 0x00ff8001, 0xffff0000, 0x7f7f7f7f, 0x80808080, 0x01010101, 0xffff8000, 0x7fff8000};
  VideoRandom random(7);
  std::vector<uint32_t> operands;
  for (uint32_t k = 0; k < 3 * kVideoCases; ++k) {
    const uint32_t bits = static_cast<uint32_t>(random.Next() >> 32);
    const size_t edge = random.Below(edges.size());
    operands.push_back(random.Below(2) == 0 ? bits : edges[edge]);
  }
  return operands;
}

// "vadd.s32.u32.s32.sat %d, %a.b0, %b.h1, %c;"
inline std::vector<std::string> VideoForms() {
  VideoRandom random(1);
  std::vector<std::string> forms;
  const std::vector<std::string> signs = {".u32", ".s32"};
  const std::vector<std::string> pieces = {"", "", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
  const std::vector<std::string> comparisons = {".eq", ".ne", ".lt", ".le", ".gt", ".ge"};
  const std::vector<std::string> seconds = {"", ".add", ".min", ".max", "merge"};
  const auto add_scalar = [&](const std::string& name, const std::string& second) {
    const bool merges = second == "merge";
    const std::string d = merges ? random.Of({".b0", ".b1", ".b2", ".b3", ".h0", ".h1"}) : "";
    const std::string a = random.Of(pieces), b = random.Of(pieces);
    forms.push_back(name + (merges ? "" : second) + " %d" + d + ", %a" + a + ", %b" + b +
                    (second.empty() ? ";" : ", %c;"));
  };
  const auto for_types = [&](const auto& f) {
    for (const std::string& d : signs) {
      for (const std::string& a : signs) {
        for (const std::string& b : signs) f(d + a + b);
      }
    }
  };
  for (const char* op : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"}) {
    for_types([&](const std::string& types) {
      for (const char* sat : {"", ".sat"}) {
        for (const std::string& second : seconds) add_scalar(op + types + sat, second);
      }
    });
  }
  for (const std::string& a : signs) {
    for (const std::string& b : signs) {
      for (const std::string& comparison : comparisons) {
        for (const std::string& second : seconds) add_scalar("vset" + a + b + comparison, second);
      }
    }
  }
  for (const char* op : {"vshl", "vshr"}) {
    for (const std::string& d : signs) {
      for (const std::string& a : signs) {
        for (const char* sat : {"", ".sat"}) {
          for (const char* mode : {".clamp", ".wrap"}) {
            for (const std::string& second : seconds) add_scalar(op + d + a + ".u32" + sat + mode, second);
          }
        }
      }
    }
  }
  for (const std::string& a : signs) {
    for (const std::string& b : signs) {
      for (const char* sat : {"", ".sat"}) {
        for (const char* scale : {"", ".shr7", ".shr15"}) {
          for (int kind = 0; kind < 5; ++kind) {
            const bool is_signed = a == ".s32" || b == ".s32" || (kind >= 1 && kind <= 3);
            const std::string name =
                std::string("vmad") + (is_signed ? ".s32" : ".u32") + a + b + (kind == 4 ? ".po" : "");
            const std::string of_b = random.Of(pieces), of_a = random.Of(pieces);
            forms.push_back(name + sat + scale + " %d, " + (kind == 1 ? "-" : "") + "%a" + of_a + ", " +
                            (kind == 2 ? "-" : "") + "%b" + of_b + ", " + (kind == 3 ? "-" : "") + "%c;");
          }
        }
      }
    }
  }
  const auto selector = [&](int parts) -> std::string {
    if (random.Below(4) == 0) return "";
    std::string text = parts == 2 ? ".h" : ".b";
    for (int k = 0; k < parts; ++k) text += static_cast<char>('0' + random.Below(2 * static_cast<size_t>(parts)));
    return text;
  };
  const auto add_simd = [&](const std::string& name, int parts) {
    const std::string mask = parts == 2 ? random.Of({"", ".h0", ".h1", ".h10"})
                                        : random.Of({"", ".b0", ".b1", ".b10", ".b2", ".b20", ".b21", ".b210", ".b3",
                                                     ".b30", ".b31", ".b310", ".b32", ".b320", ".b321", ".b3210"});
    const std::string of_b = selector(parts), of_a = selector(parts);
    forms.push_back(name + " %d" + mask + ", %a" + of_a + ", %b" + of_b + ", %c;");
  };
  for (const int parts : {2, 4}) {
    const std::string width = std::to_string(parts);
    for (const char* op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"}) {
      for_types([&](const std::string& types) {
        for (const char* second : {"", ".sat", ".add"}) {
          add_simd(op + width + types + second, parts);
          add_simd(op + width + types + second, parts);
        }
      });
    }
    for (const std::string& a : signs) {
      for (const std::string& b : signs) {
        for (const std::string& comparison : comparisons) {
          add_simd("vset" + width + a + b + comparison, parts);
          add_simd("vset" + width + a + b + comparison + ".add", parts);
        }
      }
    }
  }
  return forms;
}

// A module with a kernel for every kVideoFormsAKernel forms: k0, k1 … Each takes the operands and the results, a form
// after the other.
inline std::string VideoModule(const std::vector<std::string>& forms) {
  std::string ptx = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (size_t first = 0; first < forms.size(); first += kVideoFormsAKernel) {
    ptx += ".visible .entry k" + std::to_string(first / kVideoFormsAKernel) +
           "(.param .u64 operands, .param .u64 results)\n{\n"
           ".reg .u32 %a, %b, %c, %d, %t, %n;\n.reg .u64 %from, %to, %at;\n"
           "mov.u32 %t, %tid.x;\nmov.u32 %n, %ctaid.x;\nmad.lo.u32 %t, %n, 128, %t;\n"
           "ld.param.u64 %from, [operands];\nld.param.u64 %to, [results];\n"
           "mul.wide.u32 %at, %t, 12;\nadd.u64 %from, %from, %at;\n"
           "ld.global.u32 %a, [%from];\nld.global.u32 %b, [%from+4];\nld.global.u32 %c, [%from+8];\n"
           "mul.wide.u32 %at, %t, 4;\nadd.u64 %to, %to, %at;\n";
    for (size_t k = first; k < std::min(first + kVideoFormsAKernel, forms.size()); ++k) {
      ptx += forms[k] + "\nst.global.u32 [%to+" + std::to_string((k - first) * 4 * kVideoCases) + "], %d;\n";
    }
    ptx += "ret;\n}\n";
  }
  return ptx;
}

// FNV of a form's results.
inline uint64_t VideoHash(const uint32_t* results) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint32_t k = 0; k < kVideoCases; ++k) hash = (hash ^ results[k]) * 0x100000001b3;
  return hash;
}

}  // namespace lockstep::vgpu
