// Converts a generator's words to a distribution, with the operations documented in cuRAND's headers.
#pragma once

#include <cstdint>

namespace lockstep::libraries {

template <typename T>
struct Pair {
  T first, second;
};

// From random bits, the words of XORWOW and Philox.
float UniformOf(uint32_t word);
double UniformOf(uint32_t low, uint32_t high);
Pair<float> NormalsOf(uint32_t radius, uint32_t angle);
Pair<double> NormalsOf(uint32_t radius_low, uint32_t radius_high, uint32_t angle_low, uint32_t angle_high);

// From MRG32k3a's words, 1 to its first modulus.
uint32_t BitsOfMrg(uint32_t value);
float UniformOfMrg(uint32_t value);
double UniformDoubleOfMrg(uint32_t value);
Pair<float> NormalsOfMrg(uint32_t radius, uint32_t angle);
Pair<double> NormalDoublesOfMrg(uint32_t radius, uint32_t angle);

// From one word of a Mersenne twister or one coordinate of a Sobol' point: normals by the inverse cumulative
// distribution function.
double UniformDoubleOfWord(uint32_t word);
double UniformDoubleOfWord(uint64_t word);
double UniformDoubleOfMersenne(uint32_t word);  // MT19937's, from which floats are rounded
float NormalOfWord(uint32_t word);
double NormalDoubleOfWord(uint32_t word);
double NormalDoubleOfWord(uint64_t word);

// normal * deviation + mean; for the lognormal distribution its exponential.
template <typename T>
T Scaled(T normal, T mean, T deviation, bool is_log);

}  // namespace lockstep::libraries
