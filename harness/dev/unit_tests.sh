#!/usr/bin/env bash
# Runs the C++ tests:  harness/dev/unit_tests.sh BUILD TURN/TURNS     TURN 1 to TURNS; or "all"
# A turn runs one in TURNS of the costly tests: those whose line ends with "// in turn" (in a file that is one test, its
# SetUpTestSuite's line), and all of a file in which a line begins with "// In turn". "// daily": only with "all".
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 turn=${2%/*} turns=${2#*/}

marked() {  # WORD: a regular expression for the names of the tests that are marked so
  awk -v word="$1" '
    FNR == 1 { whole = 0 }
    tolower($0) ~ "^// " word "[ .:]" { whole = 1 }
    $0 ~ "SetUpTestSuite.*// " word "$" { sub(/.*\//, "", FILENAME); sub(/[.]cc$/, "", FILENAME); print "^" FILENAME "$" }
    /^TEST/ && (whole || $0 ~ "// " word "$") { split($0, part, /[(,) ]+/); print part[2] "." part[3] }
  ' harness/tests/*/*_test.cc | paste -sd '|'
}

left_out=()
if [ "$2" != all ]; then
  daily="$(marked daily)|gpu_(counting|time)_page"  # the pages' kernels take half a minute to compile
  others=$(ctest --test-dir "$build" -N -R "$(marked 'in turn')" -E "$daily" |
    awk -v turn="$turn" -v turns="$turns" '$1 == "Test" && $2 ~ /^#/ && ++n % turns != turn % turns { print $3 }')
  echo "C++ tests, turn $2: $(wc -w <<< "$others") costly ones are left to other commits; make check-all runs all"
  left_out=(-E "^($(paste -sd '|' <<< "$others"))( |$)|$daily")
else
  harness/build.sh --build "$build" benchmarks
fi
# Some tests only wait for a time limit, so more run at once than there are processors.
ctest --test-dir "$build" --output-on-failure -j$(($(nproc) + 2)) "${left_out[@]}"
