#include "vgpu/observers/checker_registry.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "tests/support/source_files.h"
#include "vgpu/cudart/report/checks.h"

namespace lockstep::vgpu {
namespace {

TEST(CheckerRegistryTest, EveryCheckerHasARow) {
  const std::string sources = tests::SourcesBelow("harness/vgpu/observers");
  const std::string registry = tests::SourcesBelow("harness/vgpu/observers", {"checkers.h", "_checker.", "race"});
  const std::regex declaration(R"(class (\w+) (final )?: public Checker\b)");
  size_t checkers = 0;
  for (std::sregex_iterator it(sources.begin(), sources.end(), declaration), end; it != end; ++it, ++checkers) {
    EXPECT_NE(registry.find("Make" + it->str(1)), std::string::npos)
        << "the checker " << it->str(1) << " has no row in observers/checker_registry.cc, so that nothing turns it on";
  }
  EXPECT_EQ(checkers, AllCheckers().size()) << "observers/checker_registry.cc has rows for the same checker";
}

TEST(CheckerRegistryTest, EveryRowIsWhole) {
  std::set<std::string_view> ids = {"all", cudart::kLeaks.id, cudart::kApi.id};
  for (const CheckerInfo& checker : AllCheckers()) {
    EXPECT_TRUE(ids.insert(checker.id).second) << "two checks are called " << checker.id;
    EXPECT_FALSE(checker.help.empty()) << "the checker " << checker.id << " does not say what it finds";
    ASSERT_NE(checker.make, nullptr) << "the checker " << checker.id << " has no factory";
    EXPECT_NE(checker.make(), nullptr) << "the factory of the checker " << checker.id << " makes nothing";
    EXPECT_NE(("\n" + cudart::CheckHelp("  ")).find("\n  " + std::string(checker.id)), std::string::npos)
        << "vgpu-run --help does not name the checker " << checker.id;
  }
}

TEST(CheckerRegistryTest, SetsHoldWhatIsAdded) {
  CheckerSet set = {"races", "sync"};
  EXPECT_TRUE(set.Has("races"));
  EXPECT_FALSE(set.Has("init"));
  EXPECT_FALSE(set.Has("no such"));
  EXPECT_FALSE(set.Add("no such"));
  EXPECT_FALSE(set == CheckerSet::All());
  EXPECT_TRUE(set.Add("init"));
  EXPECT_TRUE(set == CheckerSet::All());
  EXPECT_THROW((CheckerSet{"no such"}), std::logic_error);
}

TEST(CheckerRegistryTest, ListsOfChecks) {
  const cudart::Checks some = cudart::ParseChecks("sync,leaks");
  EXPECT_TRUE(some.launches.Has("sync") && some.leaks);
  EXPECT_FALSE(some.launches.Has("races") || some.api);
  EXPECT_TRUE(cudart::ParseChecks("all").launches == CheckerSet::All());
  EXPECT_FALSE(cudart::ParseChecks("").any());
  try {
    cudart::ParseChecks("races,barriers");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "there is no check barriers; there are: races, init, sync, leaks, api, all");
  }
}

}  // namespace
}  // namespace lockstep::vgpu
