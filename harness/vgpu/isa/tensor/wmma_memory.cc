// wmma.load and wmma.store. A fragment consists of tiles (isa/tensor/tile.h), for every layout in memory, as on an
// H100: a program that accesses a fragment's elements finds the same ones in each lane.
//
//   m16n16   b and c are two tiles side by side          a of f16 has each register twice
//   m32n8    a and c are two tiles, one below the other  b of f16 has each register four times
//   m8n32    a, b and c as of the transposed product: b is two tiles, a one, c two; a of f16 four times
//
// Accesses are those of ptxas's code: 4 bytes a lane where neighbours in a register are neighbours in memory, or can be
// swapped by a transposition of 16-bit elements afterwards; single bytes otherwise; and two 32-bit or 64-bit elements
// of c at once where they are neighbours.
#include <cstring>
#include <utility>

#include "vgpu/core/opcode_table.h"
#include "vgpu/isa/tensor/matrix_access.h"
#include "vgpu/isa/tensor/tile.h"
#include "vgpu/isa/tensor/whole_warp.h"

namespace lockstep::vgpu::tensor {
namespace {

enum class Role : uint8_t { kA, kB, kC };

struct Fragment {
  std::string name;  // ".row.m16n16k16.f16"
  char matrix = 'a';
  Element element = Element::kF16;
  Role role = Role::kA;     // role in the tiles
  bool transposed = false;  // its tiles are of the transposed matrix
  int registers = 0;        // registers of the instruction
  int different = 0;        // of these, those with other contents; the rest are copies of them, in order
  int of_tile = 0;          // registers per tile
  int tile_rows = 16;       // m of a tile
  int step = 8;             // from tile to tile: rows of a, columns of b; of c rows if `down`, else columns
  bool down = false;        // c: tiles are one below the other
  bool row_major = true;
  int rows = 0, columns = 0;

  int bits() const { return BitsOf(element); }
  int each() const { return bits() >= 32 ? 1 : 32 / bits(); }

  // Row and column of an element in the matrix.
  std::pair<int, int> Place(int r, int lane, int part) const {
    const int tile = r / of_tile, in_tile = r % of_tile, g = lane / 4, t = lane % 4, e = each();
    int row = 0, column = 0;
    if (role == Role::kA) {
      const bool pairs = tile_rows == 16;
      row = g + (pairs ? 8 * (in_tile & 1) : 0) + tile * step;
      column = (pairs ? in_tile >> 1 : in_tile) * 4 * e + t * e + part;
    } else if (role == Role::kB) {
      row = in_tile * 4 * e + t * e + part;
      column = g + tile * step;
    } else {
      row = e == 2 ? g + 8 * in_tile : g + 8 * (in_tile >> 1);
      column = 2 * t + (e == 2 ? part : in_tile & 1);
      (down ? row : column) += tile * step;
    }
    return transposed ? std::pair(column, row) : std::pair(row, column);
  }
  // Whether elements of a register, or a pair of registers of c, are neighbours in memory.
  bool Along() const {
    const bool by_row = (role != Role::kB) != transposed;
    return by_row == row_major;
  }
  uint64_t Offset(std::pair<int, int> place, uint64_t stride) const {
    const auto row = static_cast<uint64_t>(place.first), column = static_cast<uint64_t>(place.second);
    return (row_major ? row * stride + column : column * stride + row) * static_cast<uint64_t>(bits()) / 8;
  }
};

class Builder {
 public:
  std::vector<Fragment> Build() {
    using enum Element;
    for (const char shape : {'q', 'm', 'n'}) {
      for (const Element element : {kF16, kBf16, kS8, kU8}) {
        AddFactors(shape, element, 16);
      }
      for (const Element element : {kF16, kF32, kS32}) AddC(shape, element);
    }
    Factor('a', "m16n16k8", kTf32, Role::kA, false, 4, 1, 16, 16, 8);
    Factor('b', "m16n16k8", kTf32, Role::kB, false, 2, 2, 8, 8, 16);
    Accumulator("m16n16k8", kF32, false, false, 16, 8, 2, 16, 16);
    Factor('a', "m8n8k4", kF64, Role::kA, false, 1, 1, 8, 8, 4);
    Factor('b', "m8n8k4", kF64, Role::kB, false, 1, 1, 8, 4, 8);
    Accumulator("m8n8k4", kF64, false, false, 8, 8, 1, 8, 8);
    for (const Element element : {kS4, kU4}) Small("m8n8k32", element, 32);
    Small("m8n8k128", kB1, 128);
    for (const char* shape : {"m8n8k32", "m8n8k128"}) Accumulator(shape, kS32, false, false, 8, 8, 1, 8, 8);
    return std::move(fragments_);
  }

 private:
  static std::string_view NameOf(Element element) {
    constexpr std::string_view kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "f32", "f64",
                                           "s8",  "u8",   "s4",   "u4",   "b1",   "s32"};
    return kNames[static_cast<size_t>(element)];
  }
  void Add(Fragment fragment, const std::string& shape, bool row_major) {
    fragment.row_major = row_major;
    fragment.name = std::string(row_major ? ".row." : ".col.") + shape + "." + std::string(NameOf(fragment.element));
    fragments_.push_back(std::move(fragment));
  }
  // NOLINTNEXTLINE(readability-function-size): a row of the table of fragments
  void Factor(char matrix, const std::string& shape, Element element, Role role, bool transposed, int of_tile,
              int tiles, int step, int rows, int columns, int registers = 0) {
    Fragment f;
    f.matrix = matrix, f.element = element, f.role = role, f.transposed = transposed;
    f.of_tile = of_tile, f.different = of_tile * tiles, f.step = step;
    f.registers = registers == 0 ? f.different : registers;
    f.tile_rows = shape.starts_with("m8n8") ? 8 : 16;
    f.rows = rows, f.columns = columns;
    const bool whole = BitsOf(element) >= 8;
    if (whole || matrix == 'a') Add(f, shape, true);
    if (whole || matrix == 'b') Add(f, shape, false);
  }
  // NOLINTNEXTLINE(readability-function-size): as above
  void Accumulator(const std::string& shape, Element element, bool transposed, bool down, int tile_rows, int step,
                   int tiles, int rows, int columns) {
    Fragment f;
    f.matrix = 'c', f.element = element, f.role = Role::kC, f.transposed = transposed, f.down = down;
    f.tile_rows = tile_rows, f.of_tile = tile_rows / 8 * (BitsOf(element) == 16 ? 1 : 2);
    f.registers = f.different = f.of_tile * tiles;
    f.step = step, f.rows = rows, f.columns = columns;
    Add(f, shape, true);
    Add(f, shape, false);
  }
  void Small(const std::string& shape, Element element, int k) {
    Factor('a', shape, element, Role::kA, false, 1, 1, 8, 8, k);
    Factor('b', shape, element, Role::kB, false, 1, 1, 8, k, 8);
  }
  void AddFactors(char shape, Element element, int k) {
    const int a = BitsOf(element) == 16 ? 4 : 2, b = a / 2;
    const int all = element == Element::kF16 ? kMostRegisters : 0;
    if (shape == 'q') {
      Factor('a', "m16n16k16", element, Role::kA, false, a, 1, 16, 16, k, all);
      Factor('b', "m16n16k16", element, Role::kB, false, b, 2, 8, k, 16, all);
    } else if (shape == 'm') {
      Factor('a', "m32n8k16", element, Role::kA, false, a, 2, 16, 32, k, all);
      Factor('b', "m32n8k16", element, Role::kB, false, b, 1, 8, k, 8, all);
    } else {
      Factor('a', "m8n32k16", element, Role::kB, true, b, 1, 8, 8, k, all);
      Factor('b', "m8n32k16", element, Role::kA, true, a, 2, 16, k, 32, all);
    }
  }
  void AddC(char shape, Element element) {
    if (shape == 'q') Accumulator("m16n16k16", element, false, false, 16, 8, 2, 16, 16);
    if (shape == 'm') Accumulator("m32n8k16", element, false, true, 16, 16, 2, 32, 8);
    if (shape == 'n') Accumulator("m8n32k16", element, true, true, 16, 16, 2, 8, 32);
  }
  std::vector<Fragment> fragments_;
};

const std::vector<Fragment>& AllFragments() {
  static const std::vector<Fragment> fragments = Builder().Build();
  return fragments;
}

const Fragment* FindFragment(char matrix, const std::string& name) {
  for (const Fragment& fragment : AllFragments()) {
    if (fragment.matrix == matrix && fragment.name == name) return &fragment;
  }
  return nullptr;
}

// If a transposition follows, a lane accesses other lanes' elements: SwapOf finds the owner of its element p.
struct Swapped {
  int lane, half;
};
Swapped SwapOf(int lane, int p) {
  const int g = lane / 4, t = lane % 4;
  return {(2 * t + p) * 4 + g / 2, g & 1};
}

// Calls move(register, lane, byte in the register's element, bytes, host) for each piece that a lane moves.
template <typename F>
bool ForPieces(Warp& warp, const Insn& insn, const Fragment& f, AccessKind access, RowRef base, RowRef stride_row,
               const F& move) {
  uint64_t bases[kWarpSize], address[kWarpSize];
  uint8_t* host[kWarpSize] = {};
  ReadMatrixAddresses(warp, insn, base, bases);
  const auto stride = [&](int lane) -> uint64_t {
    if (stride_row != kNoRow) return Source<uint32_t>(warp, stride_row)[lane];
    return static_cast<uint64_t>(f.row_major ? f.columns : f.rows);
  };
  const auto go = [&](uint32_t bytes, const auto& place) {
    for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = bases[lane] + f.Offset(place(lane), stride(lane));
    if (MatrixAddress::Unpack(insn.extra).narrow) {
      for (uint64_t& a : address) a = static_cast<uint32_t>(a);
    }
    return AccessMatrix(warp, insn, access, address, kFullMask, bytes, host);
  };
  const int size = f.bits() == 64 ? 8 : 4;
  for (int r = 0; r < f.different; ++r) {
    if (f.bits() == 16 && !f.Along()) {
      if (!go(4, [&](int lane) { return f.Place(r, SwapOf(lane, 0).lane, SwapOf(lane, 0).half); })) return false;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        for (const int p : {0, 1}) move(r, SwapOf(lane, p).lane, 2 * SwapOf(lane, p).half, 2, host[lane] + 2 * p);
      }
    } else if (f.bits() == 8 && !f.Along()) {
      for (int part = 0; part < 4; ++part) {
        if (!go(1, [&](int lane) { return f.Place(r, lane, part); })) return false;
        for (int lane = 0; lane < kWarpSize; ++lane) move(r, lane, part, 1, host[lane]);
      }
    } else {
      const bool both = f.role == Role::kC && f.bits() >= 32 && f.Along();
      const auto bytes = static_cast<uint32_t>(both ? 2 * size : size);
      if (!go(bytes, [&](int lane) { return f.Place(r, lane, 0); })) return false;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        move(r, lane, 0, size, host[lane]);
        if (both) move(r + 1, lane, 0, size, host[lane] + size);
      }
      r += both ? 1 : 0;
    }
  }
  return true;
}

// Rows: d…, base, stride.
void LoadFragment(Warp& warp, const Insn& insn, LaneMask mask) {
  if (!IsWhole(warp, mask)) return;
  const Fragment& f = AllFragments()[MatrixAddress::Unpack(insn.extra).kind];
  const RowRef* rows = OperandRows(warp, insn);
  const int size = f.bits() == 64 ? 8 : 4;
  // Written after all addresses have been used: a result may share the address's register.
  uint8_t loaded[kMostRegisters][kWarpSize * sizeof(uint64_t)];
  const bool done = ForPieces(warp, insn, f, AccessKind::kLoad, rows[f.registers], rows[f.registers + 1],
                              [&](int r, int lane, int byte, int bytes, const uint8_t* host) {
                                std::memcpy(&loaded[r][lane * size + byte], host, static_cast<size_t>(bytes));
                              });
  if (!done) return;
  for (int r = 0; r < f.registers; ++r) {
    std::memcpy(Destination<uint8_t>(warp, rows[r]), loaded[r % f.different], static_cast<size_t>(size) * kWarpSize);
  }
}

// Rows: base, a…, stride.
void StoreFragment(Warp& warp, const Insn& insn, LaneMask mask) {
  if (!IsWhole(warp, mask)) return;
  const Fragment& f = AllFragments()[MatrixAddress::Unpack(insn.extra).kind];
  const RowRef* rows = OperandRows(warp, insn);
  const int size = f.bits() == 64 ? 8 : 4;
  ForPieces(warp, insn, f, AccessKind::kStore, rows[0], rows[f.registers + 1],
            [&](int r, int lane, int byte, int bytes, uint8_t* host) {
              std::memcpy(host, Row(warp, rows[1 + r]) + lane * size + byte, static_cast<size_t>(bytes));
            });
}

Selection Select(Modifiers& modifiers, char matrix, bool stores) {
  std::string text = modifiers.TakeAll();
  MatrixAddress address;
  address.space = TakeSpaceFrom(text);
  const Fragment* f = FindFragment(matrix, text);
  if (f == nullptr) return {};
  address.kind = static_cast<uint32_t>(f - AllFragments().data());
  address.narrow = modifiers.operand_bytes(stores ? 0 : f->registers) == 4;
  const bool wide = f->bits() == 64;
  Selection selection;
  selection.handler = stores ? StoreFragment : LoadFragment;
  selection.flags = kWarpSynchronous | kRowsInTable;
  selection.extra = address.Pack();
  selection.form = stores ? (wide ? "a svb64 su32?" : "a svb32 su32?") : (wide ? "dvb64 a su32?" : "dvb32 a su32?");
  selection.elements[stores ? 1 : 0] = static_cast<uint8_t>(f->registers);
  return selection;
}

template <char kMatrix, bool kStores>
Selection SelectFragment(Modifiers& modifiers) {
  return Select(modifiers, kMatrix, kStores);
}

template <char kMatrix>
std::vector<std::string> Variants() {
  std::vector<std::string> variants;
  for (const Fragment& fragment : AllFragments()) {
    if (fragment.matrix == kMatrix) variants.push_back(fragment.name);
  }
  return variants;
}

template <char kMatrix>
constexpr Opcode LoadRow(const char* name) {
  return {.name = name,
          .form = "dvb32 a su32?",
          .select = SelectFragment<kMatrix, false>,
          .insn_class = InsnClass::kLoad,
          .traits = kAnyOrder | kLoads | kExchangesLanes | kWholeWarp,
          .variants = Variants<kMatrix>};
}

LOCKSTEP_OPCODES(wmma_memory, {LoadRow<'a'>("wmma.load.a.sync.aligned"), LoadRow<'b'>("wmma.load.b.sync.aligned"),
                               LoadRow<'c'>("wmma.load.c.sync.aligned"),
                               Opcode{.name = "wmma.store.d.sync.aligned",
                                      .form = "a svb32 su32?",
                                      .select = SelectFragment<'c', true>,
                                      .insn_class = InsnClass::kStore,
                                      .traits = kAnyOrder | kStores | kExchangesLanes | kWholeWarp,
                                      .variants = Variants<'c'>}});

}  // namespace
}  // namespace lockstep::vgpu::tensor
