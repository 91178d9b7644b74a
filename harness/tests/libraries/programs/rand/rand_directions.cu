// Sobol's direction vectors: rand_directions.h100.txt is what an H100 printed.
#include "rand_values.h"

int main() {
  constexpr size_t kDimensions = 1024;
  curandDirectionVectors32_t* vectors = nullptr;
  curandDirectionVectors64_t* wide = nullptr;
  std::printf("sets 32");
  for (const int set : {0, 100, 103, 104, 105, 101}) {
    std::printf(" %d", curandGetDirectionVectors32(&vectors, static_cast<curandDirectionVectorSet_t>(set)));
  }
  std::printf("\nsets 64");
  for (const int set : {0, 100, 101, 102, 105, 103}) {
    std::printf(" %d", curandGetDirectionVectors64(&wide, static_cast<curandDirectionVectorSet_t>(set)));
  }
  std::printf("\n%016llx %016llx\n", Hash(vectors, kDimensions * sizeof(*vectors)),
              Hash(wide, kDimensions * sizeof(*wide)));
  for (const size_t dimension : {0, 1, 2, 1023}) {
    std::printf("%zu: %08x %08x %016llx %016llx\n", dimension, vectors[dimension][1], vectors[dimension][31],
                wide[dimension][1], wide[dimension][63]);
  }
}
