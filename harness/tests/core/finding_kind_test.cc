#include "vgpu/core/finding_kind.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "judge/model/verdict.h"
#include "tests/support/source_files.h"
#include "vgpu/core/finding.h"
#include "vgpu/core/hint.h"

namespace lockstep::vgpu {
namespace finding_kind_test {

// A kind of finding needs only a row in the table; the test reports missing or unused parts of a row.
TEST(FindingKindTest, EveryRowIsWhole) {
  std::set<std::string_view> names;
  for (const FindingKindInfo& info : AllFindingKinds()) {
    const std::string row = "the kind of finding \"" + std::string(info.name) + "\" (core/finding_kind.h) ";
    EXPECT_TRUE(names.insert(info.name).second) << row << "has the name of another kind";
    EXPECT_TRUE(judge::VerdictFromName(info.heading) || info.kind == FindingKind::kUnsupported)
        << row << "has the heading " << info.heading << ", which is no verdict (judge/model/verdict.cc lists them)";
    EXPECT_NE(info.error, LaunchError::kNone) << row << "does not say what error a launch fails with";
    Finding finding;
    finding.kind = info.kind;
    finding.kernel = "kernel";
    finding.second.emplace();
    EXPECT_NE(TextOf(HintOf(finding)), "") << row << "has no hint, neither in its row nor in core/finding_hint.cc";
  }
}

TEST(FindingKindTest, EveryKindHasAProducer) {
  const std::string sources = tests::SourcesBelow("harness/vgpu", {"core/finding_kind", "core/finding_hint"});
#define LOCKSTEP_FINDING_KIND_USED(kind, heading, name, error, hint) \
  EXPECT_NE(sources.find("FindingKind::k" #kind), std::string::npos) \
      << "nothing in harness/vgpu reports findings of the kind k" #kind ": take its row out of core/finding_kind.h";
  LOCKSTEP_FINDING_KINDS(LOCKSTEP_FINDING_KIND_USED)
#undef LOCKSTEP_FINDING_KIND_USED
}

TEST(HintTest, EveryRowIsUsedAndSaysSomethingOfItsOwn) {
  const std::string sources =
      tests::SourcesBelow("harness", {"/tests/"}) + tests::SourcesBelow("grader/src/grader/student");
  std::set<std::string_view> texts;
#define HINT(name, text, ...)                                                                                          \
  EXPECT_TRUE(sources.find("Hint::" #name) != std::string::npos || sources.find("\"" #name "\"") != std::string::npos) \
      << "no source uses the hint " #name ": take its row out of core/hints.inc";                                      \
  EXPECT_TRUE(texts.insert(text).second) << "the hint " #name " has the text of another row";
#include "vgpu/core/hints.inc"
}

}  // namespace finding_kind_test
}  // namespace lockstep::vgpu
