// The functions of NVRTC that are passed on unchanged. None has more than six parameters, each a pointer or an integer,
// so all are passed on as six words.
#include "libraries/compilers/nvrtc_forwards.h"

namespace {

using Word = long;
constexpr Word kInternalError = 11;  // NVRTC_ERROR_INTERNAL_ERROR

}  // namespace

#define LOCKSTEP_FORWARD(function)                                                                                 \
  extern "C" Word function(Word a, Word b, Word c, Word d, Word e, Word f) {                                       \
    const auto real =                                                                                              \
        reinterpret_cast<Word (*)(Word, Word, Word, Word, Word, Word)>(lockstep::libraries::RealNvrtc(#function)); \
    return real == nullptr ? kInternalError : real(a, b, c, d, e, f);                                              \
  }
#include "nvrtc_forwards.inc"
