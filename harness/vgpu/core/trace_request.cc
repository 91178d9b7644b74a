#include "vgpu/core/trace_request.h"

#include <algorithm>
#include <vector>

namespace lockstep::vgpu {
namespace {

constexpr char kForm[] = "--trace=BLOCK,WARP or --trace=BLOCK,WARP,FROM,TO, as in --trace=0,3,1,200";
constexpr uint64_t kMostWarps = 32;  // per block

std::optional<uint64_t> Number(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  uint64_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(digit - '0');
  }
  return number;
}

}  // namespace

std::optional<TraceRequest> ParseTrace(std::string_view text, std::string* why) {
  const auto refuse = [&](const std::string& sentence) {
    *why = sentence;
    return std::nullopt;
  };
  std::vector<uint64_t> numbers;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string word(text.substr(at, comma - at));
    const std::optional<uint64_t> number = Number(word);
    if (!number) return refuse("\"" + word + "\" is not a number: type " + kForm);
    numbers.push_back(*number);
    at = comma + 1;
  }
  if (numbers.size() < 2 || numbers.size() > 4) {
    return refuse("it takes two to four numbers, not " + std::to_string(numbers.size()) + ": type " + kForm);
  }
  if (numbers[1] >= kMostWarps) {
    return refuse("there is no warp " + std::to_string(numbers[1]) + ": a block has 32 at most, from 0 to 31");
  }
  TraceRequest request;
  request.block = numbers[0];
  request.warp = static_cast<uint32_t>(numbers[1]);
  if (numbers.size() > 2) {
    if (numbers[2] == 0) return refuse("FROM is 0: a warp's instructions count from 1");
    request.from = numbers[2];
    request.to = request.from + TraceRequest::kDefaultLimit - 1;
  }
  if (numbers.size() > 3) {
    if (numbers[3] < request.from) {
      return refuse("TO is " + std::to_string(numbers[3]) + ", less than FROM, which is " +
                    std::to_string(request.from));
    }
    request.to = numbers[3];
  }
  return request;
}

bool IsNameOf(std::string_view name, std::string_view mangled, std::string_view demangled) {
  const std::string_view plain = demangled.substr(0, demangled.find('<'));
  const size_t colons = plain.rfind("::");
  const size_t last = colons == std::string_view::npos ? 0 : colons + 2;
  return name == mangled || name == demangled || name == plain || name == plain.substr(last) ||
         name == demangled.substr(last);
}

}  // namespace lockstep::vgpu
