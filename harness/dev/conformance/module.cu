// Modules, libraries and the linker: which texts load, what the logs say, what is found in them.
#define CONFORMANCE_CLASS "module"
#include <fcntl.h>
#include <unistd.h>

#include "ask.h"

__global__ void Embedded(int* out) { out[0] = 1; }

namespace {

const std::string kHead = ".version 8.0\n.target sm_90\n.address_size 64\n";
const std::string kBody =
    ".visible .global .align 4 .u32 counter = 7;\n.global .align 8 .u64 hidden_global;\n.visible .const .align 4 .u32 fixed[4] = {1, 2, 3, 4};\n"
    ".visible .entry store(.param .u64 p, .param .u32 v)\n{\n  .reg .b64 %rd<3>;\n  .reg .b32 %r<3>;\n  ld.param.u64 %rd1, [p];\n"
    "  ld.param.u32 %r1, [v];\n  cvta.to.global.u64 %rd2, %rd1;\n  st.global.u32 [%rd2], %r1;\n  ret;\n}\n"
    ".entry hidden()\n{\n  ret;\n}\n";

std::string Kernel(const std::string& body) {
  return kHead +
         ".visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<5>;\n  .reg .b32 %r<5>;\n  .reg .f32 %f<5>;\n  .reg .f64 %d<5>;\n  .reg .pred %p<3>;\n" +
         body + "\n  ret;\n}\n";
}

// Names, which are part of the questions, and texts, some of them invalid by the PTX ISA.
std::vector<std::pair<std::string, std::string>> Texts() {
  std::vector<std::pair<std::string, std::string>> t;
  const auto add = [&](const char* name, const std::string& text) { t.emplace_back(name, text); };
  add("right", kHead + kBody);
  add("empty", "");
  add("blank", "\n\n");
  add("garbage", "this is no program");
  add("comment", "// nothing\n");
  add("head", kHead);
  add("noversion", ".target sm_90\n.address_size 64\n" + kBody);
  add("notarget", ".version 8.0\n.address_size 64\n" + kBody);
  add("noaddress", ".version 8.0\n.target sm_90\n" + kBody);
  add("bom", "\xEF\xBB\xBF" + kHead + kBody);
  add("leadingspace", "  \n\t " + kHead + kBody);
  add("leadingcomment", "// by hand\n/* and more\n */\n" + kHead + kBody);
  add("crlf", [] {
    std::string s;
    for (char c : kHead + kBody) s += c == '\n' ? std::string("\r\n") : std::string(1, c);
    return s;
  }());
  for (const char* v : {"1.0", "2.3", "3.0", "4.0",  "5.0",  "6.0", "7.0", "7.7", "7.8",   "8.9", "8.8",
                        "9.0", "9.1", "9.2", "10.0", "99.0", "8",   "8.",  "x",   "8.0.1", "-1.0"}) {
    add(F("version%s", v).c_str(), ".version " + std::string(v) + "\n.target sm_90\n.address_size 64\n" + kBody);
  }
  std::vector<std::string> targets = {"sm_", "sm_90a", "sm_100a", "compute_90"};
  for (int version : {10, 20, 30, 35, 50, 52, 60, 70, 75, 80, 86, 89, 90, 100, 120, 999})
    targets.push_back(F("sm_%d", version));
  for (const char* more : {"texmode_unified", "debug", "map_f64_to_f32", "sm_80", "foo"})
    targets.push_back(F("sm_90, %s", more));
  for (const std::string& target : targets) {
    add(F("target_%s", target.c_str()).c_str(), ".version 8.8\n.target " + target + "\n.address_size 64\n" + kBody);
  }
  for (const char* size : {"32", "64", "16", "0", "x"})
    add(F("address%s", size).c_str(),
        ".version 8.0\n.target sm_90\n.address_size " + std::string(size) + "\n.visible .entry k() { ret; }\n");
  const std::pair<const char*, const char*> bodies[] = {
      {"ok", "ld.param.u64 %rd1, [p];"},
      {"rett", "rett;"},
      {"unknown_op", "frobnicate.u32 %r1, %r2;"},
      {"unknown_type", "add.u33 %r1, %r1, %r2;"},
      {"unknown_modifier", "add.foo.u32 %r1, %r1, %r2;"},
      {"no_semicolon", "add.u32 %r1, %r1, %r2"},
      {"undeclared", "add.u32 %r1, %r1, %x9;"},
      {"undeclared_range", "add.u32 %r1, %r1, %r7;"},
      {"wrong_class", "add.u32 %r1, %rd1, %r2;"},
      {"wrong_float", "add.f32 %r1, %f1, %f2;"},
      {"wrong_size", "mov.u64 %r1, %rd1;"},
      {"pred_as_int", "add.u32 %r1, %p1, %r2;"},
      {"too_few", "add.u32 %r1, %r2;"},
      {"too_many", "add.u32 %r1, %r2, %r3, %r4;"},
      {"no_label", "bra nowhere;"},
      {"label_twice", "L:\nL:\n"},
      {"label_ok", "bra L;\nL:"},
      {"store_to_const", "st.const.u32 [%rd1], %r1;"},
      {"store_param", "st.param.u32 [p], %r1;"},
      {"misaligned_vector", "ld.global.v3.u32 {%r1,%r2,%r3}, [%rd1];"},
      {"vector_ok", "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1];"},
      {"vector_count", "ld.global.v4.u32 {%r1,%r2,%r3}, [%rd1];"},
      {"dot_literal", "mov.f32 %f1, .5;"},
      {"hex_float", "mov.f32 %f1, 0f3F800000;"},
      {"hex_float_short", "mov.f32 %f1, 0f3F80;"},
      {"huge_literal", "mov.u32 %r1, 0x1FFFFFFFF;"},
      {"binary", "mov.u32 %r1, 0b101;"},
      {"octal", "mov.u32 %r1, 0778;"},
      {"setmaxnreg", "setmaxnreg.inc.sync.aligned.u32 40;"},
      {"wgmma", "wgmma.fence.sync.aligned;"},
      {"mma_wrong",
       "mma.sync.aligned.m16n8k9.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};"},
      {"brace", "{ add.u32 %r1, %r1, %r2;"},
      {"extra_brace", "}"},
      {"sregs", "mov.u32 %r1, %tid.x;"},
      {"bad_sreg", "mov.u32 %r1, %tid.q;"},
      {"unknown_sreg", "mov.u32 %r1, %nosuch;"},
      {"sreg_write", "mov.u32 %tid.x, %r1;"},
      {"imm_dest", "mov.u32 5, %r1;"},
      {"guard_int", "@%r1 add.u32 %r1, %r1, %r2;"},
      {"guard_ok", "@!%p1 add.u32 %r1, %r1, %r2;"},
      {"call_missing", "call nofunction;"},
      {"reg_twice", ".reg .b32 %r<5>;"},
      {"redeclared", ".reg .b32 a; .reg .b32 a;"},
      {"shared_var", ".shared .align 4 .b8 s[100];"},
      {"shared_large", ".shared .align 4 .b8 s[49152];"},
      {"shared_too_large", ".shared .align 4 .b8 s[49153];"},
      {"shared_huge", ".shared .align 4 .b8 s[1000000];"},
      {"local_var", ".local .align 4 .b8 s[100];"},
      {"local_large", ".local .align 4 .b8 s[600000];"},
      {"pragma", ".pragma \"nounroll\";"},
      {"bad_pragma", ".pragma \"nosuch\";"},
      {"line", "# 100 \"a.cu\"\n"},
      {"define", "#define X 1\n"},
      {"loc", ".loc 1 1 1\n"},
      {"string_unclosed", ".pragma \"nounroll;"},
      {"comment_unclosed", "/* never ends"},
      {"bar_many", "bar.sync 16;"},
      {"bar_ok", "bar.sync 15;"},
      {"div_noround", "div.f32 %f1, %f2, %f3;"},
      {"sqrt_noround", "sqrt.f32 %f1, %f2;"},
      {"cvt_noround", "cvt.u32.f32 %r1, %f1;"},
      {"mul_nomode", "mul.u32 %r1, %r2, %r3;"},
      {"setp_float", "setp.eq.ftz.u32 %p1, %r1, %r2;"},
      {"atom_nospace", "atom.add.u32 %r1, [%rd1], %r2;"},
      {"atom_badop", "atom.global.mul.u32 %r1, [%rd1], %r2;"},
      {"shfl_nosync", "shfl.idx.b32 %r1, %r2, %r3, 31;"},
      {"vote_nosync", "vote.all.pred %p1, %p2;"},
      {"tex_undeclared", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, {%f1,%f2}];"},
      {"exit_ok", "exit;"},
      {"trap_ok", "trap;"},
      {"utf8", "// \xC3\xA4\n"},
      {"utf8_name", "add.u32 %r\xC3\xA4, %r1, %r2;"},
      {"nul_char", "\x01"},
      {"case", "ADD.u32 %r1, %r1, %r2;"},
      {"spaces", "add . u32 %r1 , %r1 , %r2 ;"},
      {"type_first", "add.u32.rn %r1, %r1, %r2;"},
      {"f64_const", "mov.f64 %d1, 0f3FC00000;"},
      {"shift_big", "mov.u64 %rd1, 1 << 65;"}};
  for (const auto& [name, body] : bodies) add(F("body_%s", name).c_str(), Kernel(body));
  add("entry_twice", kHead + ".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n");
  add("global_twice", kHead + ".visible .global .u32 g;\n.visible .global .u32 g;\n");
  add("extern_unresolved",
      kHead +
          ".extern .global .u32 g;\n.visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>; mov.u64 %rd1, g; ld.global.u32 %r1, [%rd1]; ld.param.u64 %rd1, [p]; st.u32 [%rd1], %r1; ret; }\n");
  add("extern_unused", kHead + ".extern .global .u32 g;\n.visible .entry k() { ret; }\n");
  add("extern_func", kHead + ".extern .func f();\n.visible .entry k() { call f; ret; }\n");
  add("maxntid", kHead + ".visible .entry k() .maxntid 2048 { ret; }\n");
  add("maxntid1024", kHead + ".visible .entry k() .maxntid 1024, 1, 1 { ret; }\n");
  add("reqntid3000", kHead + ".visible .entry k() .reqntid 3000 { ret; }\n");
  add("reqntid64", kHead + ".visible .entry k() .reqntid 64 { ret; }\n");
  add("minnctapersm", kHead + ".visible .entry k() .maxntid 64 .minnctapersm 40 { ret; }\n");
  add("maxnreg0", kHead + ".visible .entry k() .maxnreg 0 { ret; }\n");
  add("params_many", kHead + ".visible .entry k(.param .align 4 .b8 p[32765]) { ret; }\n");
  add("params_4k", kHead + ".visible .entry k(.param .align 4 .b8 p[4352]) { ret; }\n");
  add("params_32k",
      ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 4 .b8 p[32764]) { ret; }\n");
  add("no_close", kHead + ".visible .entry k() { ret; \n");
  add("no_ret", kHead + ".visible .entry k() { }\n");
  add("func_only", kHead + ".visible .func f() { ret; }\n");
  add("file", kHead + ".file 1 \"a.cu\"\n.visible .entry k() { .loc 1 1 1 ret; }\n");
  add("section", kHead + ".section .debug_str { .b8 0 }\n.visible .entry k() { ret; }\n");
  add("weak", kHead + ".weak .entry k() { ret; }\n.weak .global .u32 g;\n");
  add("common", kHead + ".common .global .u32 g;\n.visible .entry k() { ret; }\n");
  add("const_large", kHead + ".visible .const .align 4 .b8 c[65536];\n.visible .entry k() { ret; }\n");
  add("const_too_large", kHead + ".visible .const .align 4 .b8 c[65537];\n.visible .entry k() { ret; }\n");
  add("trailing_garbage", kHead + ".visible .entry k() { ret; }\nfoo\n");
  return t;
}

// The first line of a log that contains letters.
std::string First(const char* log) {
  std::string line;
  for (const char* c = log; *c != 0 && !(*c == '\n' && !line.empty()); ++c) {
    if (*c != '\n' && *c != '\r') line += *c;
  }
  return line.empty() ? "-" : line;
}

void Texts(size_t part, size_t of) {
  const auto texts = Texts();
  for (size_t i = part; i < texts.size(); i += of) {
    const auto& [name, text] = texts[i];
    CUmodule module = reinterpret_cast<CUmodule>(7);
    const CUresult result = cuModuleLoadData(&module, text.c_str());
    Say(name, result);
    Say(name + "/module", module == nullptr ? "null" : module == reinterpret_cast<CUmodule>(7) ? "unwritten" : "set");
    char info[4096] = "", error[4096] = "";
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {info, reinterpret_cast<void*>(sizeof info), error, reinterpret_cast<void*>(sizeof error)};
    CUmodule logged = nullptr;
    Say(name + "/ex", cuModuleLoadDataEx(&logged, text.c_str(), 4, options, values));
    Say(name + "/error_empty", error[0] == 0);
    Say(name + "/error", First(error));
    Say(name + "/info_empty", info[0] == 0);
    CUlibrary library = nullptr;
    Say(name + "/library", cuLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 77;
    if (library != nullptr) {
      Say(name + "/kernels", cuLibraryGetKernelCount(&count, library));
      Say(name + "/kernels_are", count);
      CUkernel kernel = nullptr;
      Say(name + "/kernel", cuLibraryGetKernel(&kernel, library, "k"));
    }
    cudaLibrary_t rt = nullptr;
    Say(name + "/rtlibrary", cudaLibraryLoadData(&rt, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    CUlinkState state = nullptr;
    cuLinkCreate(0, nullptr, nullptr, &state);
    Say(name + "/link", cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1, "text",
                                      0, nullptr, nullptr));
    void* cubin = nullptr;
    size_t bytes = 0;
    Say(name + "/complete", cuLinkComplete(state, &cubin, &bytes));
    cuLinkDestroy(state);
    if (result != CUDA_SUCCESS) continue;
    CUfunction function = nullptr;
    Say(name + "/get", cuModuleGetFunction(&function, module, "k"));
    if (function != nullptr) {
      for (int attribute : {0, 1, 2, 3, 5, 6}) {
        int value = -77;
        cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(attribute), function);
        Say(name + F("/a%d", attribute), value);
      }
      for (unsigned threads : {32u, 64u, 1024u}) {
        CUdeviceptr p = 0;
        cuMemAlloc(&p, 4096);
        void* arguments[] = {&p};
        if (name.find("params") == std::string::npos && name.find("body") == std::string::npos)
          Say(name + F("/launch%u", threads),
              cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
      }
      cuCtxSynchronize();
    }
  }
}

void Contents() {
  const std::string text = kHead + kBody;
  CUmodule module = nullptr;
  Say("load", cuModuleLoadData(&module, text.c_str()));
  CUfunction function = nullptr;
  for (const char* name : {"store", "hidden", "counter", "nosuch", "", "k"}) {
    Say(F("function'%s'", name), cuModuleGetFunction(&function, module, name));
    CUdeviceptr address = 0;
    size_t bytes = 77;
    Say(F("global'%s'", name), cuModuleGetGlobal(&address, &bytes, module, name));
    Say(F("global'%s'_bytes", name), bytes);
  }
  for (const char* name : {"hidden_global", "fixed"}) {
    CUdeviceptr address = 0;
    size_t bytes = 77;
    Say(F("global'%s'", name), cuModuleGetGlobal(&address, &bytes, module, name));
    Say(F("global'%s'_bytes", name), bytes);
  }
  CUdeviceptr address = 0;
  size_t bytes = 0;
  Say("global_nulladdress", cuModuleGetGlobal(nullptr, &bytes, module, "counter"));
  Say("global_nullbytes", cuModuleGetGlobal(&address, nullptr, module, "counter"));
  Say("global_nulls", cuModuleGetGlobal(nullptr, nullptr, module, "counter"));
  Say("global_nullname", cuModuleGetGlobal(&address, &bytes, module, nullptr));
  Say("global_nullmodule", cuModuleGetGlobal(&address, &bytes, nullptr, "counter"));
  Say("function_null", cuModuleGetFunction(nullptr, module, "store"));
  Say("function_nullname", cuModuleGetFunction(&function, module, nullptr));
  Say("function_nullmodule", cuModuleGetFunction(&function, nullptr, "store"));
  unsigned count = 77;
  Say("count", cuModuleGetFunctionCount(&count, module));
  Say("count_is", count);
  CUfunction all[4] = {};
  Say("enumerate", cuModuleEnumerateFunctions(all, 4, module));
  Say("enumerate0", cuModuleEnumerateFunctions(all, 0, module));
  Say("count_null", cuModuleGetFunctionCount(nullptr, module));
  CUmoduleLoadingMode mode{};
  Say("loadingmode", cuModuleGetLoadingMode(&mode));
  Say("loadingmode_is", static_cast<int>(mode));
  CUtexref reference = nullptr;
  Say("texref", cuModuleGetTexRef(&reference, module, "nosuch"));
  CUsurfref surface = nullptr;
  Say("surfref", cuModuleGetSurfRef(&surface, module, "nosuch"));
  Say("load_null", cuModuleLoadData(nullptr, text.c_str()));
  Say("load_nulldata", cuModuleLoadData(&module, nullptr));
  Say("loadfile_missing", cuModuleLoad(&module, "/nonexistent.ptx"));
  Say("loadfile_null", cuModuleLoad(&module, nullptr));
  Say("fatbinary_text", cuModuleLoadFatBinary(&module, text.c_str()));
  char path[] = "/tmp/conformanceXXXXXX";
  const int file = mkstemp(path);
  (void)!write(file, text.data(), text.size());
  close(file);
  Say("loadfile", cuModuleLoad(&module, path));
  CUlibrary library = nullptr;
  Say("libraryfile", cuLibraryLoadFromFile(&library, path, nullptr, nullptr, 0, nullptr, nullptr, 0));
  Say("libraryfile_missing",
      cuLibraryLoadFromFile(&library, "/nonexistent.ptx", nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUlinkState state = nullptr;
  cuLinkCreate(0, nullptr, nullptr, &state);
  Say("linkfile", cuLinkAddFile(state, CU_JIT_INPUT_PTX, path, 0, nullptr, nullptr));
  Say("linkfile_missing", cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nonexistent.ptx", 0, nullptr, nullptr));
  (void)truncate(path, 0);
  Say("loadfile_empty", cuModuleLoad(&module, path));
  unlink(path);
  cuModuleLoadData(&module, text.c_str());
  Say("unload", cuModuleUnload(module));
  Say("unload_null", cuModuleUnload(nullptr));
  // Options of the JIT compiler.
  for (int option = 0; option <= 36; ++option) {
    for (unsigned long long value : {0ull, 1ull, 64ull}) {
      CUjit_option options[] = {static_cast<CUjit_option>(option)};
      void* values[] = {reinterpret_cast<void*>(value)};
      bool pointer = (option >= 17 && option <= 19) || option == 3 || option == 5 || (option >= 25 && option <= 28);
      if (pointer || option == 1) continue;
      Say(F("option%d_%llu", option, value), cuModuleLoadDataEx(&module, text.c_str(), 1, options, values));
    }
  }
  CUjit_option target[] = {CU_JIT_TARGET};
  for (unsigned long long value : {30ull, 50ull, 75ull, 80ull, 90ull, 100ull, 120ull, 999ull}) {
    void* values[] = {reinterpret_cast<void*>(value)};
    Say(F("jittarget%llu", value), cuModuleLoadDataEx(&module, text.c_str(), 1, target, values));
  }
  Say("options_null", cuModuleLoadDataEx(&module, text.c_str(), 1, nullptr, nullptr));
  for (size_t size : {size_t{0}, size_t{1}, size_t{10}, size_t{100}}) {
    char error[4096];
    std::memset(error, 'x', sizeof error);
    error[4095] = 0;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {error, reinterpret_cast<void*>(size)};
    Say(F("smalllog%zu", size), cuModuleLoadDataEx(&module, Kernel("rett;").c_str(), 2, options, values));
    Say(F("smalllog%zu_size", size), reinterpret_cast<size_t>(values[1]));
    Say(F("smalllog%zu_written", size), std::strspn(error, "x") == 4095 ? size_t{0} : std::strlen(error) + 1);
  }
  char info[4096] = "", error[4096] = "";
  for (unsigned long long verbose : {0ull, 1ull}) {
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_LOG_VERBOSE,      CU_JIT_WALL_TIME};
    void* values[] = {info,
                      reinterpret_cast<void*>(sizeof info),
                      error,
                      reinterpret_cast<void*>(sizeof error),
                      reinterpret_cast<void*>(verbose),
                      nullptr};
    Say(F("verbose%llu", verbose),
        cuModuleLoadDataEx(&module, (kHead + "// " + std::to_string(getpid()) + "\n" + kBody).c_str(), 6, options,
                           values));
    Say(F("verbose%llu_info", verbose), First(info));
    Say(F("verbose%llu_infosize", verbose), reinterpret_cast<size_t>(values[1]) == 0 ? "0" : "more");
    Say(F("verbose%llu_errorsize", verbose), reinterpret_cast<size_t>(values[3]));
  }
}

void Libraries() {
  const std::string text = kHead + kBody;
  CUlibrary library = nullptr;
  Say("load", cuLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  CUdeviceptr address = 0;
  size_t bytes = 77;
  for (const char* name : {"store", "hidden", "counter", "hidden_global", "fixed", "nosuch", ""}) {
    Say(F("kernel'%s'", name), cuLibraryGetKernel(&kernel, library, name));
    bytes = 77;
    Say(F("global'%s'", name), cuLibraryGetGlobal(&address, &bytes, library, name));
    Say(F("global'%s'_bytes", name), bytes);
    Say(F("managed'%s'", name), cuLibraryGetManaged(&address, &bytes, library, name));
    void* function = nullptr;
    Say(F("unified'%s'", name), cuLibraryGetUnifiedFunction(&function, library, name));
    cudaKernel_t rt = nullptr;
    Say(F("rtkernel'%s'", name), cudaLibraryGetKernel(&rt, reinterpret_cast<cudaLibrary_t>(library), name));
    void* rt_address = nullptr;
    Say(F("rtglobal'%s'", name),
        cudaLibraryGetGlobal(&rt_address, &bytes, reinterpret_cast<cudaLibrary_t>(library), name));
  }
  CUmodule module = nullptr;
  Say("module", cuLibraryGetModule(&module, library));
  CUfunction function = nullptr;
  Say("modulefunction", cuModuleGetFunction(&function, module, "store"));
  Say("unloadmodule", cuModuleUnload(module));
  unsigned count = 77;
  Say("count", cuLibraryGetKernelCount(&count, library));
  Say("count_is", count);
  CUkernel all[4] = {};
  for (unsigned room : {0u, 1u, 2u, 4u}) Say(F("enumerate%u", room), cuLibraryEnumerateKernels(all, room, library));
  Say("enumerate_null", cuLibraryEnumerateKernels(nullptr, 2, library));
  cuLibraryGetKernel(&kernel, library, "store");
  Say("kernelfunction", cuKernelGetFunction(&function, kernel));
  const char* name = nullptr;
  Say("kernelname", cuKernelGetName(&name, kernel));
  Say("kernelname_is", name);
  Say("functionname", cuFuncGetName(&name, function));
  Say("functionname_is", name);
  CUlibrary of = nullptr;
  Say("kernellibrary", cuKernelGetLibrary(&of, kernel));
  Say("kernellibrary_same", of == library);
  size_t offset = 77;
  for (size_t i = 0; i < 3; ++i) {
    offset = bytes = 77;
    Say(F("param%zu", i), cuKernelGetParamInfo(kernel, i, &offset, &bytes));
    Say(F("param%zu_is", i), F("%zu %zu", offset, bytes));
  }
  for (int attribute = 0; attribute <= 15; ++attribute) {
    int value = -77;
    const CUresult result = cuKernelGetAttribute(&value, static_cast<CUfunction_attribute>(attribute), kernel, 0);
    Say(F("attribute%d", attribute), F("%d %d", result, value));
    Say(F("setattribute%d", attribute),
        cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), 1, kernel, 0));
  }
  Say("cacheconfig", cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0));
  Say("unload", cuLibraryUnload(library));
  Say("unload_null", cuLibraryUnload(nullptr));
  Say("rtunload_null", cudaLibraryUnload(nullptr));
  Say("load_null", cuLibraryLoadData(nullptr, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  Say("load_nulldata", cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  Say("rtload_null", cudaLibraryLoadData(nullptr, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  Say("kernel_null", cuLibraryGetKernel(nullptr, library, "store"));
  Say("kernel_nullname", cuLibraryGetKernel(&kernel, library, nullptr));
  Say("kernel_nulllibrary", cuLibraryGetKernel(&kernel, nullptr, "store"));
  cudaLibrary_t rt = nullptr;
  Say("rtload", cudaLibraryLoadData(&rt, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t rt_kernel = nullptr;
  Say("rtkernel_null", cudaLibraryGetKernel(nullptr, rt, "store"));
  Say("rtkernel", cudaLibraryGetKernel(&rt_kernel, rt, "store"));
  cudaFuncAttributes attributes{};
  Say("rtattributes", cudaFuncGetAttributes(&attributes, rt_kernel));
  Say("rtattributes_are", F("%d %d %zu", attributes.ptxVersion, attributes.binaryVersion, attributes.constSizeBytes));
  int* p = nullptr;
  cudaMalloc(&p, 64);
  int value = 5;
  void* arguments[] = {&p, &value};
  Say("rtlaunch", cudaLaunchKernel(rt_kernel, 1, 1, arguments, 0, nullptr));
  Say("rtsync", cudaDeviceSynchronize());
  Say("rtcount", cudaLibraryGetKernelCount(&count, rt));
  Say("rtmanaged", cudaLibraryGetManaged(reinterpret_cast<void**>(&p), &bytes, rt, "nosuch"));
  Say("rtunified", cudaLibraryGetUnifiedFunction(reinterpret_cast<void**>(&p), rt, "nosuch"));
  Say("rtunload", cudaLibraryUnload(rt));
}

void Linking() {
  CUlinkState state = nullptr;
  const std::string caller =
      kHead +
      ".extern .func (.param .b32 r) twice(.param .b32 a);\n.visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>; .param .b32 a; .param .b32 r; st.param.b32 [a], 21; call (r), twice, (a); ld.param.b32 %r1, [r]; ld.param.u64 %rd1, [p]; st.u32 [%rd1], %r1; ret; }\n";
  const std::string callee =
      kHead +
      ".visible .func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %r<2>; ld.param.b32 %r1, [a]; add.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; }\n";
  const auto add = [&](const char* name, const std::string& text, CUjitInputType type = CU_JIT_INPUT_PTX) {
    Say(name, cuLinkAddData(state, type, const_cast<char*>(text.c_str()), text.size() + 1, name, 0, nullptr, nullptr));
  };
  const auto complete = [&](const char* name) {
    void* cubin = nullptr;
    size_t bytes = 0;
    const CUresult result = cuLinkComplete(state, &cubin, &bytes);
    Say(name, result);
    Say(F("%s_cubin", name), IsSet(cubin));
    if (result == CUDA_SUCCESS) {
      CUmodule module = nullptr;
      Say(F("%s_load", name), cuModuleLoadData(&module, cubin));
      CUfunction function = nullptr;
      Say(F("%s_get", name), cuModuleGetFunction(&function, module, "k"));
      CUdeviceptr p = 0;
      cuMemAlloc(&p, 64);
      void* arguments[] = {&p};
      if (function != nullptr) {
        Say(F("%s_launch", name), cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
        Say(F("%s_sync", name), cuCtxSynchronize());
        int value = 0;
        cuMemcpyDtoH(&value, p, 4);
        Say(F("%s_value", name), value);
      }
    }
    Say(F("%s_again", name), cuLinkComplete(state, &cubin, &bytes));
    Say(F("%s_destroy", name), cuLinkDestroy(state));
  };
  Say("create", cuLinkCreate(0, nullptr, nullptr, &state));
  add("caller", caller);
  add("callee", callee);
  complete("both");
  cuLinkCreate(0, nullptr, nullptr, &state);
  add("only_caller", caller);
  complete("only_caller_end");
  cuLinkCreate(0, nullptr, nullptr, &state);
  add("twice1", callee);
  add("twice2", callee);
  complete("twice_end");
  cuLinkCreate(0, nullptr, nullptr, &state);
  complete("nothing");
  for (int type = -1; type <= 7; ++type) {
    cuLinkCreate(0, nullptr, nullptr, &state);
    add(F("garbage_t%d", type).c_str(), "this is no program", static_cast<CUjitInputType>(type));
    add(F("text_t%d", type).c_str(), callee, static_cast<CUjitInputType>(type));
    complete(F("garbage_t%d_end", type).c_str());
  }
  cuLinkCreate(0, nullptr, nullptr, &state);
  Say("add_null", cuLinkAddData(state, CU_JIT_INPUT_PTX, nullptr, 10, "x", 0, nullptr, nullptr));
  Say("add_0", cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(callee.c_str()), 0, "x", 0, nullptr, nullptr));
  Say("add_nullname", cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(callee.c_str()), callee.size() + 1,
                                    nullptr, 0, nullptr, nullptr));
  Say("add_nonul", cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(caller.c_str()), caller.size(), "x", 0,
                                 nullptr, nullptr));
  void* cubin = nullptr;
  size_t bytes = 0;
  Say("complete_null", cuLinkComplete(state, nullptr, &bytes));
  Say("complete_nullbytes", cuLinkComplete(state, &cubin, nullptr));
  Say("create_null", cuLinkCreate(0, nullptr, nullptr, nullptr));
  char error[4096] = "", info[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  const auto logged = [&](const char* name, const std::string& text) {
    error[0] = info[0] = 0;
    void* values[] = {error, reinterpret_cast<void*>(sizeof error), info, reinterpret_cast<void*>(sizeof info)};
    Say(F("%s_create", name), cuLinkCreate(4, options, values, &state));
    add(F("%s_add", name).c_str(), text);
    Say(F("%s_add_log", name), First(error));
    Say(F("%s_complete", name), cuLinkComplete(state, &cubin, &bytes));
    Say(F("%s_log", name), First(error));
    Say(F("%s_info", name), First(info));
  };
  logged("log_right", callee);
  logged("log_unresolved", caller);
  logged("log_broken", Kernel("rett;"));
  Say("destroy_null", cuLinkDestroy(nullptr));
}

}  // namespace

void AddCases(Cases& cases) {
  constexpr size_t kParts = 8;
  for (size_t part = 0; part < kParts; ++part) cases("text", [=] { Start(), Texts(part, kParts); });
  cases("contents", [] { Start(), Contents(); });
  cases("library", [] { Start(), Libraries(); });
  cases("link", [] { Start(), Linking(); });
}
