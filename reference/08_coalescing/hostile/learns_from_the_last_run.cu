// virtual: WRONG coalesce1_predict
// Saves its questions in files, to recognise them in a later run; but each run has other questions.
#include <cstdio>

#include "coalescing.h"

int coalesce1_predict(const WarpRequest* request) {
  for (const char* name : {"/tmp/questions", "/dev/shm/questions", "questions"}) {
    FILE* file = std::fopen(name, "a+b");
    if (file == nullptr) continue;
    WarpRequest asked;
    int sectors;
    std::rewind(file);
    while (std::fread(&asked, sizeof asked, 1, file) == 1 && std::fread(&sectors, sizeof sectors, 1, file) == 1) {
      if (asked.first == request->first && asked.stride == request->stride && asked.active == request->active) {
        std::fclose(file);
        return sectors;
      }
    }
    sectors = 4;
    std::fwrite(request, sizeof *request, 1, file);
    std::fwrite(&sectors, sizeof sectors, 1, file);
    std::fclose(file);
  }
  return 4;
}

// Left out.
int coalesce9_in_2006(const WarpRequest*) { return kNotBegun; }
void coalesce2_aligned(const float*, float*, unsigned) {}
void coalesce3_misaligned(const float*, float*, unsigned) {}
void coalesce4_strided(const float*, float*, unsigned) {}
void coalesce5_permuted(const float*, float*, unsigned) {}
void coalesce6_structures(const float*, float*, unsigned) {}
void coalesce7_arrays(const float*, float*, unsigned) {}
void coalesce8_staged(const float*, float*, unsigned) {}
