// A library's plans by their handles, which are numbers.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace lockstep::libraries {

template <typename Plan>
class PlanTable {
 public:
  // nullptr: there is no such plan.
  static std::shared_ptr<Plan> Find(int handle) {
    const std::lock_guard<std::mutex> lock(All().mutex);
    const auto found = All().by_handle.find(handle);
    return found == All().by_handle.end() ? nullptr : found->second;
  }
  static int Add() {
    const std::lock_guard<std::mutex> lock(All().mutex);
    int handle = 1;  // the lowest that is free
    while (All().by_handle.count(handle) != 0) ++handle;
    All().by_handle[handle] = std::make_shared<Plan>();
    return handle;
  }
  // The removed plan, or nullptr.
  static std::shared_ptr<Plan> Remove(int handle) {
    const std::lock_guard<std::mutex> lock(All().mutex);
    const auto removed = All().by_handle.extract(handle);
    return removed.empty() ? nullptr : removed.mapped();
  }

 private:
  struct Table {
    std::mutex mutex;
    std::map<int, std::shared_ptr<Plan>> by_handle;
  };
  static Table& All() {
    static auto* const table = new Table;  // a program's destructors may still destroy plans
    return *table;
  }
};

}  // namespace lockstep::libraries
