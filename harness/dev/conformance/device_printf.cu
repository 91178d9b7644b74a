// What a kernel's printf prints, conversion by conversion. Without %hhd and the like: an H100's output for them varies.
#define CONFORMANCE_CLASS "printf"
#include "ask.h"

#define P(name, ...) printf("printf/forms/" name " [" __VA_ARGS__)
#define END "]\n"

__global__ void Integers() {
  P("h_signed", "%hd|%hi" END, 70000, -70000);
  P("h_unsigned", "%hu|%hx|%ho" END, 70000, 70000, 70000);
  P("d", "%d|%i|%5d|%-5d|%05d|%+d|% d" END, 42, -42, 42, 42, 42, 42, 42);
  P("u", "%u|%x|%X|%o|%#x|%#o" END, 4000000000u, 255u, 255u, 8u, 255u, 8u);
  P("precision", "%.3d|%8.3d|%-8.3d|%.0d" END, 5, 5, 5, 0);
  P("l", "%ld|%lu|%lx" END, 1234567890123l, 1234567890123ul, 0xabcdefabcdul);
  P("ll", "%lld|%llu|%llx|%llo" END, -1234567890123ll, 1234567890123ull, 0xabcdefabcdull, 8ull);
  P("z", "%zu|%zd|%zx" END, (size_t)12345678901, (size_t)5, (size_t)255);
  P("j", "%jd|%ju" END, 12345678901ll, 5ull);
  P("t", "%td|%tu" END, 12345678901ll, 5ll);
  P("q", "%qd" END, 12345678901ll);
  P("c", "%c|%5c|%-5c" END, 'x', 'y', 'z');
  P("flags", "%+5d|%-+5d|%+-5d|% 05d|%0-5d" END, 3, 3, 3, 3, 3);
  P("quote", "%'d" END, 1234567);
  P("I", "%Id" END, 5);
}
__global__ void Floats() {
  P("f", "%f|%.2f|%10.3f|%-10.3f|%+f|%010.3f|%.0f|%#.0f" END, 3.14159, 2.71828, 1.5, 1.5, 1.5, -1.5, 2.5, 2.0);
  P("e", "%e|%E|%.3e" END, 12345.678, 0.00012345, 1e300);
  P("g", "%g|%G|%.3g|%#g" END, 12345.678, 1e-10, 3.14159, 1.0);
  P("a", "%a|%A|%.2a" END, 1.0, 255.5, 3.14159);
  P("special", "%f|%f|%f|%e|%g|%a|%F" END, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0, 1.0 / 0.0, -1.0 / 0.0, 1.0 / 0.0,
    1.0 / 0.0);
  P("float", "%f|%g" END, 0.1f, 1e-45f);
  P("lf", "%lf|%le|%lg|%la" END, 0.1, 0.1, 0.1, 1.0);
  P("Lf", "%Lf|%Le" END, 0.1, 0.1);
  P("star_width", "%*d" END, 6, 42);
  P("star_left", "%*d" END, -6, 42);
  P("star_precision", "%.*f" END, 2, 3.14159);
  P("star_both", "%*.*f" END, 8, 2, 3.14159);
}
__global__ void Strings() {
  P("s", "%s|%5s|%-5s|%.2s|%5.1s" END, "abc", "abc", "abc", "abc", "abc");
  P("s_null", "%s" END, (const char*)nullptr);
  P("s_empty", "%s" END, "");
  P("p", "%p|%20p" END, (void*)0x1234, (void*)0x1234);
  P("p_null", "%p" END, (void*)nullptr);
  P("percent", "100%%|%5%" END);
  P("unknown", "%y|%k|%m|%!" END, 1, 2, 3, 4);
  P("n", "%n" END, (int*)nullptr);
  P("lone", "%" END);
  P("missing_d", "%d|%d" END, 1);
  P("missing_f", "%f|%f" END, 1.0);
  P("missing_ll", "%lld|%lld" END, 1ll);
  P("missing_all", "%d %u %x" END);
  P("extra", "%d" END, 1, 2, 3);
  P("wrong_fd", "%d" END, 1.0);
  P("wrong_df", "%f" END, 1);
  P("wrong_lld_d", "%lld" END, 1);
  P("wrong_d_lld", "%d|%d" END, 0x100000002ll, 7);
  P("utf8", "\xc3\xa4|%s" END, "\xe2\x82\xac");
  P("tab", "\t|\\|\"" END);
}
__global__ void Returns(int* out) {
  out[0] = printf("printf/returns/none \n");
  out[1] = printf("printf/returns/one %d\n", 1);
  out[2] = printf("printf/returns/three %d %s %f\n", 1, "two", 3.0);
  out[3] = printf("");
  out[4] = printf(nullptr);
  out[5] =
      printf("printf/returns/thirtytwo %d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d\n", 1, 2, 3, 4,
             5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
  out[6] = printf("printf/returns/extra %d\n", 1, 2, 3);
}
__global__ void ByThread() {
  if (threadIdx.x % 8 == 3) printf("printf/threads/line%u %d\n", threadIdx.x, threadIdx.x * 2);
}
__global__ void Nothing() {}
__global__ void Many(int lines) {
  for (int k = 0; k < lines; ++k) printf("%d ", k);
}

void AddCases(Cases& cases) {
  cases("integers", [] { Start(), Integers<<<1, 1>>>(), Say("sync", cudaDeviceSynchronize()); });
  cases("floats", [] { Start(), Floats<<<1, 1>>>(), Say("sync", cudaDeviceSynchronize()); });
  cases("strings", [] { Start(), Strings<<<1, 1>>>(), Say("sync", cudaDeviceSynchronize()); });
  cases("threads", [] { Start(), ByThread<<<1, 32>>>(), Say("sync", cudaDeviceSynchronize()); });
  cases("returns", [] {
    Start();
    int* out = nullptr;
    cudaMallocManaged(&out, 64);
    Returns<<<1, 1>>>(out);
    Say("sync", cudaDeviceSynchronize());
    for (int k = 0; k < 7; ++k) Say(F("value%d", k), out[k]);
  });
}
