// Which executable graphs take over other parameters, by cudaGraphExecUpdate and by the setters: each pair of copies, of
// fills and of child graphs. Graphs that kernels launch. cudaGraphInstantiateWithFlags makes some of them.
// nvcc: -rdc=true -lcudadevrt
#define CONFORMANCE_CLASS "graph_changes"
#include "ask.h"
// Several definitions per line; the formatter would make four lines of one.
// clang-format off
using N = cudaGraphNode_t; using G = cudaGraph_t; using X = cudaGraphExec_t;
struct Variant { std::string name; std::function<int(N*, G)> add; std::function<int(X, N)> set; };
std::vector<Variant> variants; char *d, *e, *m, *h, *g2, pageable[8192];
G New() { G g; cudaGraphCreate(&g, 0); return g; }
X Made(G g) { X x = nullptr; cudaGraphInstantiateWithFlags(&x, g, 0); return x; }
void Flat(const char* name, void* to, void* from, int kind) { const auto k = (cudaMemcpyKind)kind; variants.push_back({name, [=](N* n, G g) { return cudaGraphAddMemcpyNode1D(n, g, 0, 0, to, from, 64, k); }, [=](X x, N n) { return cudaGraphExecMemcpyNodeSetParams1D(x, n, to, from, 64, k); }}); }
void Box(const char* name, void* to, void* from, size_t pitch, size_t w, size_t rows, size_t slices, int kind) { cudaMemcpy3DParms p{}; p.srcPtr = {from, 64, 16, 4}; p.dstPtr = {to, pitch, 16, 4}; p.extent = {w, rows, slices}; p.kind = (cudaMemcpyKind)kind; variants.push_back({name, [=](N* n, G g) { return cudaGraphAddMemcpyNode(n, g, 0, 0, &p); }, [=](X x, N n) { return cudaGraphExecMemcpyNodeSetParams(x, n, &p); }}); }
void Fill(const char* name, void* to, unsigned value, unsigned size, size_t w, size_t rows, size_t pitch) { cudaMemsetParams p{to, pitch, value, size, w, rows}; variants.push_back({name, [=](N* n, G g) { return cudaGraphAddMemsetNode(n, g, 0, 0, &p); }, [=](X x, N n) { return cudaGraphExecMemsetNodeSetParams(x, n, &p); }}); }
__global__ void Nothing() {}
G Child(int shape) { G g = New(); N a, b; cudaKernelNodeParams k{}; k.func = (void*)Nothing; k.gridDim = k.blockDim = 1; if (shape == 0 || shape == 2 || shape == 3) cudaGraphAddKernelNode(&a, g, 0, 0, &k); if (shape == 1) cudaGraphAddEmptyNode(&a, g, 0, 0); if (shape == 2) cudaGraphAddEmptyNode(&b, g, &a, 1); if (shape == 3) cudaGraphAddEmptyNode(&b, g, 0, 0); if (shape == 4) cudaGraphAddChildGraphNode(&a, g, 0, 0, Child(0)); return g; }
void Pairs() {
  cudaMalloc(&d, 8192), cudaMalloc(&e, 8192), cudaMallocManaged(&m, 8192), cudaMallocHost(&h, 8192), cudaMallocHost(&g2, 8192);
  Flat("HD", d, h, 1), Flat("HDpage", e, pageable, 1), Flat("DH", h, d, 2), Flat("DD", e, d, 3), Flat("DDmanaged", m, d, 3), Flat("HH", g2, h, 0), Flat("xHD", d, h, 4), Flat("xDD", e, d, 4), Flat("xHH", g2, h, 4);
  Box("row", e, d, 64, 64, 1, 1, 3), Box("box", e, d, 64, 16, 4, 1, 3), Box("pointer", d, e, 64, 16, 4, 1, 3), Box("pitch", e, d, 128, 16, 4, 1, 3), Box("wide", e, d, 64, 20, 4, 1, 3), Box("deep", e, d, 64, 16, 4, 2, 3), Box("boxHD", d, h, 64, 16, 4, 1, 1);
  Fill("fill", d, 1, 4, 16, 1, 0), Fill("bytes", e, 2, 1, 33, 1, 0), Fill("rows", d, 1, 4, 4, 4, 64), Fill("value", e, 9, 4, 4, 4, 64), Fill("fillpitch", d, 1, 4, 4, 4, 128), Fill("fillwide", d, 1, 4, 5, 4, 64), Fill("more", d, 1, 4, 4, 5, 64), Fill("size", d, 1, 1, 16, 4, 64);
  for (int shape = 0; shape < 5; ++shape) variants.push_back({F("child%d", shape), [=](N* n, G g) { return cudaGraphAddChildGraphNode(n, g, 0, 0, Child(shape)); }, [=](X x, N n) { return cudaGraphExecChildGraphNodeSetParams(x, n, Child(shape)); }});
  for (auto& a : variants) for (auto& b : variants) { G g = New(), k = New(); N n, o; a.add(&n, g), b.add(&o, k); X x = Made(g), y = Made(g); cudaGraphExecUpdateResultInfo i{}; const int u = cudaGraphExecUpdate(x, k, &i); Say(a.name + "_" + b.name, F("%d %d %s %d", u, i.result, i.errorNode == o ? "new" : IsSet(i.errorNode).c_str(), b.set(y, n))); cudaGetLastError(); }
}
__global__ void Note(int* p, int i) { p[16 + atomicAdd(p + 15, 1)] = i; }
__device__ cudaStream_t Way(int way) { return way == 0 ? cudaStreamGraphTailLaunch : way == 1 ? cudaStreamGraphFireAndForget : way == 2 ? cudaStreamGraphFireAndForgetAsSibling : (cudaStream_t)0; }
__global__ void Launch(X x, int* p, int way, int times) { for (int k = 0; k < times; ++k) p[k] = cudaGraphLaunch(x, Way(way)); p[3] = cudaGetCurrentGraphExec() != nullptr; }
__global__ void Again(int* p, int way) { if (atomicAdd(p + 5, 1) < 4) p[6] = cudaGraphLaunch(cudaGetCurrentGraphExec(), Way(way)); }
template <typename... A> N Kernel(G g, std::vector<N> after, void* f, A... a) { cudaKernelNodeParams k{}; k.func = f; k.gridDim = k.blockDim = 1; void* v[] = {&a...}; k.kernelParams = v; N n; cudaGraphAddKernelNode(&n, g, after.data(), after.size(), &k); return n; }
// What: 0 plainly, 1 not uploaded, 2 null, 3 twice, 4 from a graph that is not for device launch, 5 itself.
void InKernel(int what, int way) {
  int* p; cudaMallocManaged(&p, 4096); std::memset(p, 0, 4096); G g = New(), o = New(); X x = nullptr, y = nullptr; Kernel(g, {}, (void*)Note, p, 7); Say("inner", cudaGraphInstantiate(&x, g, 4)); if (what != 1) Say("upload", cudaGraphUpload(x, 0));
  if (what == 5) Kernel(o, {}, (void*)Again, p, way); else { N a = Kernel(o, {}, (void*)Launch, what == 2 ? nullptr : x, p, way, what == 3 ? 2 : 1); Kernel(o, {a}, (void*)Note, p, 1); }
  Say("outer", cudaGraphInstantiate(&y, o, what == 4 ? 0 : 4)); Say("upload2", cudaGraphUpload(y, 0));
  for (int k = 0; k < 2; ++k) { Say(F("launch%d", k), cudaGraphLaunch(y, 0)); Say(F("sync%d", k), cudaDeviceSynchronize()); std::string t; for (int i = 0; i < 22; ++i) t += F("%d ", p[i]); Say(F("is%d", k), t); }
}
void AddCases(Cases& cases) {
  cases("pair", [] { Start(), Pairs(); }); for (int what = 0; what < 6; ++what) for (int way = 0; way < 4; ++way) cases(F("kernel%d_%d", what, way), [=] { Start(), InKernel(what, way); });
}
