// virtual: REJECTED libraries4_transpose
// Writes an operation to the judge's socket itself, so that the library does not check it: many sums of matrices, each
// far from the one before.
#include <unistd.h>

#include <string>

#include "libraries.h"

namespace {

class Text {
 public:
  template <typename T>
  Text& Put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

constexpr unsigned short kLibrary = 71;
constexpr unsigned char kGeam = 11;

}  // namespace

void libraries4_transpose(const float*, float* d_out, unsigned, unsigned) {
  Text operation;
  operation.Put(0ull).Put(0ull);  // no function, no place
  operation.Put(kGeam).Put(false);
  for (int operand = 0; operand < 3; ++operand) {
    operation.Put(reinterpret_cast<unsigned long long>(d_out)).Put(1ll).Put(1ll << 30).Put(false);
  }
  operation.Put(1.0).Put(0ull).Put(0.0).Put(0ull).Put(0ull);  // alpha, beta, no result
  operation.Put(1ll).Put(1ll).Put(0ll).Put(1ll << 20);        // m, n, k, and how often
  operation.Put('\0').Put('\0').Put(false);
  Text message;
  message.Put(static_cast<unsigned>(operation.bytes().size())).Put(kLibrary).Put(static_cast<unsigned short>(0));
  const std::string all = message.bytes() + operation.bytes();
  if (write(3, all.data(), all.size()) > 0) usleep(100000);
}

int libraries1_sum(const int*, unsigned) { return 0; }
float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
