// Structs of many shapes that functions take and return by value, the same code for the device and for the host. A
// shape is drawn from a number at compile time: scalars, vectors, arrays, structs within structs, with every alignment.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define LOCKSTEP_BOTH __host__ __device__
#define LOCKSTEP_CALLED __noinline__ __host__ __device__
#define LOCKSTEP_ROLLED _Pragma("unroll 1")
#else
#define LOCKSTEP_BOTH inline
#define LOCKSTEP_CALLED [[gnu::noinline]] inline
#define LOCKSTEP_ROLLED
#endif

namespace lockstep::structs {

constexpr int kShapes = 24;

constexpr uint32_t Draw(uint32_t seed, uint32_t salt) {
  uint32_t x = seed * 2654435761u + salt * 40503u + 12345u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  x *= 3266489917u;
  return x ^ x >> 16;
}

template <typename T, int kCount>
struct Array {
  T at[kCount];
};

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Vector {
  T x, y;
  T rest[kWidth - 2];
};
template <typename T>
struct alignas(sizeof(T) * 2) Vector<T, 2> {
  T x, y;
};

// Fields in a row, like the members of a struct: none overlaps another.
template <typename... Fields>
struct Record;
template <typename A>
struct Record<A> {
  A a;
};
template <typename A, typename B>
struct Record<A, B> {
  A a;
  B b;
};
template <typename A, typename B, typename C>
struct Record<A, B, C> {
  A a;
  B b;
  C c;
};
template <typename A, typename B, typename C, typename D, typename E, typename F>
struct Record<A, B, C, D, E, F> {
  A a;
  B b;
  C c;
  D d;
  E e;
  F f;
};

template <typename T, int kAlignment>
struct alignas(kAlignment) Aligned {
  T value;
};

template <uint32_t kKind>
struct Scalar;
#define LOCKSTEP_SCALAR(kind, name) \
  template <>                       \
  struct Scalar<kind> {             \
    using Type = name;              \
  }
LOCKSTEP_SCALAR(0, signed char);
LOCKSTEP_SCALAR(1, unsigned char);
LOCKSTEP_SCALAR(2, short);
LOCKSTEP_SCALAR(3, unsigned short);
LOCKSTEP_SCALAR(4, int);
LOCKSTEP_SCALAR(5, unsigned);
LOCKSTEP_SCALAR(6, long long);
LOCKSTEP_SCALAR(7, float);
LOCKSTEP_SCALAR(8, double);
LOCKSTEP_SCALAR(9, bool);
LOCKSTEP_SCALAR(10, const int*);
#undef LOCKSTEP_SCALAR

template <uint32_t kSeed, int kDepth>
struct Field;

// A field's type by its kind: 0 a scalar, 1 a vector, 2 an array, else a struct.
template <uint32_t kSeed, int kDepth, uint32_t kKind>
struct FieldOf {
  using Type = typename Scalar<Draw(kSeed, 1) % 11>::Type;
};
template <uint32_t kSeed, int kDepth>
struct FieldOf<kSeed, kDepth, 1> {
  using Type = Vector<typename Scalar<Draw(kSeed, 2) % 7>::Type,
                      sizeof(typename Scalar<Draw(kSeed, 2) % 7>::Type) == 8 ? 2 : 2 << Draw(kSeed, 3) % 2>;
};
template <uint32_t kSeed, int kDepth>
struct FieldOf<kSeed, kDepth, 2> {
  using Type = Array<typename Field<Draw(kSeed, 4), kDepth + 1>::Type, 1 + Draw(kSeed, 5) % 6>;
};
template <uint32_t kSeed, int kDepth>
struct FieldOf<kSeed, kDepth, 3> {
  using Type =
      Record<typename Field<Draw(kSeed, 6), kDepth + 1>::Type, typename Field<Draw(kSeed, 7), kDepth + 1>::Type,
             typename Field<Draw(kSeed, 8), kDepth + 1>::Type>;
};
template <uint32_t kSeed, int kDepth>
struct Field {
  static constexpr uint32_t kDrawn = Draw(kSeed, 9) % 8;
  static constexpr uint32_t kKind = kDrawn < 3 ? 0 : kDrawn < 4 ? 1 : kDepth > 2 ? 0 : kDrawn < 6 ? 2 : 3;
  using Type = typename FieldOf<kSeed, kDepth, kKind>::Type;
};

template <uint32_t kSeed>
struct Shape {
  template <uint32_t kSalt>
  using F = typename Field<Draw(kSeed, 100 + kSalt), 0>::Type;
  template <int kFields, typename = void>
  struct Pick {
    using Type = Record<F<0>, F<1>, F<2>, F<3>, F<4>, F<5>>;
  };
  template <typename Dummy>
  struct Pick<0, Dummy> {
    using Type = Record<F<0>>;
  };
  template <typename Dummy>
  struct Pick<1, Dummy> {
    using Type = Record<F<0>, F<1>>;
  };
  template <typename Dummy>
  struct Pick<2, Dummy> {
    using Type = Aligned<Record<F<0>, F<1>, F<2>>, 16>;
  };
  using Type = typename Pick<static_cast<int>(kSeed % 5)>::Type;
};

// Calls f with each scalar of a value. Elements of arrays come in an order known only at run time, so that compilers
// have to keep them in memory.
template <typename T, typename F>
LOCKSTEP_BOTH void Visit(T& scalar, uint32_t, const F& f) {
  f(scalar);
}
template <typename T, int kCount, typename F>
LOCKSTEP_BOTH void Visit(Array<T, kCount>& array, uint32_t turn, const F& f) {
  LOCKSTEP_ROLLED
  for (uint32_t k = 0; k < kCount; ++k) Visit(array.at[(k + turn) % kCount], turn, f);
}
template <typename T, int kWidth, typename F>
LOCKSTEP_BOTH void Visit(Vector<T, kWidth>& vector, uint32_t, const F& f) {
  f(vector.x);
  f(vector.y);
  if constexpr (kWidth > 2) {
    for (int k = 0; k < kWidth - 2; ++k) f(vector.rest[k]);
  }
}
template <typename T, int kAlignment, typename F>
LOCKSTEP_BOTH void Visit(Aligned<T, kAlignment>& aligned, uint32_t turn, const F& f) {
  Visit(aligned.value, turn, f);
}
template <typename A, typename F>
LOCKSTEP_BOTH void Visit(Record<A>& r, uint32_t turn, const F& f) {
  Visit(r.a, turn, f);
}
template <typename A, typename B, typename F>
LOCKSTEP_BOTH void Visit(Record<A, B>& r, uint32_t turn, const F& f) {
  Visit(r.a, turn, f);
  Visit(r.b, turn, f);
}
template <typename A, typename B, typename C, typename F>
LOCKSTEP_BOTH void Visit(Record<A, B, C>& r, uint32_t turn, const F& f) {
  Visit(r.a, turn, f);
  Visit(r.b, turn, f);
  Visit(r.c, turn, f);
}
template <typename A, typename B, typename C, typename D, typename E, typename G, typename F>
LOCKSTEP_BOTH void Visit(Record<A, B, C, D, E, G>& r, uint32_t turn, const F& f) {
  Visit(r.a, turn, f);
  Visit(r.b, turn, f);
  Visit(r.c, turn, f);
  Visit(r.d, turn, f);
  Visit(r.e, turn, f);
  Visit(r.f, turn, f);
}

// Every scalar holds a whole number below 64 (a bool 0 or 1), which its type represents exactly.
template <typename T>
LOCKSTEP_BOTH uint32_t Number(T value) {
  return static_cast<uint32_t>(value);
}
LOCKSTEP_BOTH uint32_t Number(const int* value) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(value)) / 4;
}
template <typename T>
LOCKSTEP_BOTH void Set(T& scalar, uint32_t number) {
  scalar = static_cast<T>(number % 64);
}
LOCKSTEP_BOTH void Set(bool& scalar, uint32_t number) { scalar = number % 2 != 0; }
LOCKSTEP_BOTH void Set(const int*& scalar, uint32_t number) {
  scalar = reinterpret_cast<const int*>(static_cast<uintptr_t>(number % 64) * 4);
}

template <typename S>
LOCKSTEP_CALLED S Make(uint32_t seed) {
  S s;
  uint32_t x = seed;
  Visit(s, seed, [&](auto& scalar) {
    x = x * 1664525u + 1013904223u;
    Set(scalar, x >> 20);
  });
  return s;
}

template <typename S>
LOCKSTEP_CALLED uint32_t Hash(S s, uint32_t turn) {
  uint32_t hash = 1;
  Visit(s, turn, [&](auto& scalar) { hash = hash * 16777619u ^ Number(scalar); });
  return hash;
}

// The scalars of the result come from both structs and, while depth > 0, from a recursive call.
template <typename S, typename T>
LOCKSTEP_CALLED S Mix(S s, signed char salt, T t, int depth) {
  uint32_t x = static_cast<uint32_t>(salt);
  Visit(t, x, [&](auto& scalar) { x = x * 31 + Number(scalar); });
  S result = s;
  if (depth > 0) result = Mix(s, static_cast<signed char>(salt + 1), t, depth - 1);
  Visit(result, x, [&](auto& scalar) {
    x = x * 1664525u + 1013904223u;
    if (x >> 31 != 0) Set(scalar, Number(scalar) + (x >> 20));
  });
  Visit(s, x, [&](auto& scalar) { x += Number(scalar); });
  Visit(result, x >> 3, [&](auto& scalar) {
    Set(scalar, Number(scalar) ^ x);
    x = 0;
  });
  return result;
}

template <uint32_t kShape>
LOCKSTEP_CALLED void Try(uint32_t seed, uint32_t* out) {
  using S = typename Shape<kShape>::Type;
  using T = typename Shape<(kShape * 7 + 3) % kShapes>::Type;
  const int depth = static_cast<int>(seed % 4);
  const S s = Make<S>(seed);
  out[0] = Hash(Mix(s, 3, Make<T>(seed + 1), depth), seed);
  // Through a pointer, into an array.
  S (*volatile mix)(S, signed char, T, int) = &Mix<S, T>;
  S several[3] = {s, mix(s, 5, Make<T>(seed + 2), depth / 2), s};
  several[seed % 3] = mix(several[(seed + 1) % 3], 7, Make<T>(seed), 0);
  out[1] = Hash(several[0], 0) * 9 + Hash(several[1], 1) * 3 + Hash(several[2], 2);
}

template <uint32_t kFirst>
LOCKSTEP_BOTH void TryAll(uint32_t seed, uint32_t* out) {
  Try<kFirst>(seed, out + 2 * kFirst);
  if constexpr (kFirst + 1 < kShapes) TryAll<kFirst + 1>(seed, out);
}

}  // namespace lockstep::structs
