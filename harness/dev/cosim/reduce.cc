#include "dev/cosim/reduce.h"

#include <algorithm>

namespace lockstep::cosim {
namespace {

class Reducer {
 public:
  Reducer(Kernel kernel, const std::function<bool(const Kernel&)>& differs, int tries)
      : kernel_(std::move(kernel)), differs_(differs), tries_(tries) {}

  Kernel Run() {
    size_t before = 0;
    do {
      before = Size(kernel_.body);
      Shrink(&kernel_.body);
      Unwrap();
    } while (Size(kernel_.body) < before && tries_ > 0);
    return std::move(kernel_);
  }

 private:
  static size_t Size(const std::vector<Node>& nodes) {
    size_t size = 0;
    for (const Node& node : nodes) size += 1 + Size(node.body) + Size(node.other);
    return size;
  }
  bool Differs() { return tries_-- > 0 && differs_(kernel_); }

  // Removes halves, quarters, … single nodes of a list in the tree, then of nested lists.
  void Shrink(std::vector<Node>* nodes) {
    for (size_t part = std::max<size_t>(1, nodes->size() / 2);; part /= 2) {
      for (size_t end = nodes->size(); end > 0 && tries_ > 0;) {
        const size_t begin = end > part ? end - part : 0;
        const std::vector<Node> kept = *nodes;
        nodes->erase(nodes->begin() + static_cast<std::ptrdiff_t>(begin),
                     nodes->begin() + static_cast<std::ptrdiff_t>(end));
        if (!Differs()) *nodes = kept;
        end = std::min(begin, nodes->size());
      }
      if (part <= 1) break;
    }
    for (Node& node : *nodes) {
      if (!node.body.empty()) Shrink(&node.body);
      if (!node.other.empty()) Shrink(&node.other);
    }
  }

  // At the top level, where all lanes are active, a branch's or a loop's body may replace it.
  void Unwrap() {
    for (size_t k = 0; k < kernel_.body.size() && tries_ > 0; ++k) {
      if (kernel_.body[k].body.empty() && kernel_.body[k].other.empty()) continue;
      const std::vector<Node> kept = kernel_.body;
      Node node = std::move(kernel_.body[k]);
      kernel_.body.erase(kernel_.body.begin() + static_cast<std::ptrdiff_t>(k));
      auto at = kernel_.body.begin() + static_cast<std::ptrdiff_t>(k);
      at = kernel_.body.insert(at, node.other.begin(), node.other.end());
      kernel_.body.insert(at, node.body.begin(), node.body.end());
      if (!Differs()) kernel_.body = kept;
    }
  }

  Kernel kernel_;
  const std::function<bool(const Kernel&)>& differs_;
  int tries_;
};

}  // namespace

Kernel Reduce(Kernel kernel, const std::function<bool(const Kernel&)>& differs, int tries) {
  return Reducer(std::move(kernel), differs, tries).Run();
}

}  // namespace lockstep::cosim
