#!/bin/sh
# Compiles a submission and links it with an assignment's glue into a worker executable.
#
#   harness/worker/build.sh --assignment DIR --source FILE.cu --glue FILE.cc --out WORKER
#                           [--build DIR] [--arch 80] [--nvcc PATH] [--python PATH] [--lines -G]
#   harness/worker/build.sh --assignment DIR --source FILE.cu --ptx OUT [--build DIR] [--arch 80] [--nvcc PATH]
#   harness/worker/build.sh … --out WORKER --parts 'NAMESPACE …'
#
#   --assignment DIR  the folder of the header that the submission and the glue include
#   --source FILE.cu  the submission. A FILE.py has kernels for Numba, and launchers in Python; if DIR has a kernels.cu,
#                     FILE.py has only launchers, for PyCUDA, and they launch the kernels of kernels.cu
#   --glue FILE.cc    the file that registers the launchers; default harness/suites/<assignment>_launchers.cc
#   --out WORKER      the executable to make; everything else is written to TMPDIR, or next to it
#   --parts 'A B'     FILE.cu holds several submissions, each in a namespace: makes WORKER.A and WORKER.B, if they link
#   --ptx OUT         instead of a worker, the PTX that nvcc makes of the submission
#   --build DIR       the build tree that has lib/; default build/ in the project's root
#   --arch XX         compute capability for which PTX is made
#   --nvcc PATH       default: what the build tree was set up with, else nvcc on PATH, else /usr/local/cuda
#   --lines FLAG      nvcc's flag for debug information; default -lineinfo, for lines; -G: variables too, for a debugger
#   --python PATH     the Python that has Numba; default .venv/bin/python, else python3
#
# It prints only messages about the submission, and fails with the compiler's status; with 65 if the submission has what
# the assignment does not allow (a library, #line, inline assembly); with 64 for a wrong option or an incomplete build
# tree. It needs no network and no HOME. Only this script knows the flags: make and the grader both call it.
set -u

fail() { echo "build.sh: $*" >&2; exit 64; }

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 64
assignment='' source='' glue='' out='' parts='' ptx='' build=$root/build arch=80 nvcc='' python='' lines=-lineinfo
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || fail "$1 needs a value"
  case $1 in
    --assignment) assignment=$2 ;;
    --source) source=$2 ;;
    --glue) glue=$2 ;;
    --out) out=$2 ;;
    --parts) parts=$2 ;;
    --ptx) ptx=$2 ;;
    --build) build=$2 ;;
    --arch) arch=$2 ;;
    --nvcc) nvcc=$2 ;;
    --python) python=$2 ;;
    --lines) lines=$2 ;;
    *) fail "unknown flag $1; see the head of $0" ;;
  esac
  shift 2
done
[ -d "$assignment" ] || fail "--assignment $assignment is no folder"
[ -f "$source" ] || fail "--source $source is no file"
[ -n "$out$ptx" ] || fail "--out is missing"
[ -n "$glue" ] || glue=$root/harness/suites/$(basename "$assignment")_launchers.cc
[ -f "$glue" ] || fail "--glue $glue is no file"
build=$(cd "$build" 2>/dev/null && pwd) || fail "--build: no such folder; type make build"
[ -f "$build/lib/liblockstep_worker.a" ] || fail "$build/lib has no worker library; type make build"

if [ -z "$nvcc" ] && [ -f "$build/nvcc.txt" ]; then nvcc=$(cat "$build/nvcc.txt"); fi
[ -n "$nvcc" ] || nvcc=$(command -v nvcc) || nvcc=/usr/local/cuda/bin/nvcc
[ -x "$nvcc" ] || fail "nvcc is missing: $nvcc"
include=$(cd "$(dirname "$nvcc")/../include" && pwd) || fail "$nvcc has no include folder next to it"

scratch=$(mktemp -d "${TMPDIR:-$(dirname "$out$ptx")}/worker.XXXXXX") || exit 64
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' HUP INT TERM

submission=$(basename "$source")
# nvcc's output for the submission, if the judge needs it to tell whose a kernel is (harness/judge/run/made_image.h).
image=$scratch/image
case $submission in *.py) is_python=1 ;; *) is_python='' ;; esac
# Messages name the student's lines: in kernels by -lineinfo, in host code by -g1, the lowest level that has lines.
# Without tail calls, which would hide the caller. A function without its return statement traps; otherwise it would run
# on into the next function. Two standards, deliberately: students write C++17, and our glue is C++20.
host_flags=-g1,-fno-optimize-sibling-calls,-fsanitize=return,-fsanitize-undefined-trap-on-error
# Our headers of cuBLAS and cuFFT are searched last: for toolkits without them, such as nvcc's Python packages.
nvcc() {
  CPLUS_INCLUDE_PATH=$build/lib/submission/include TMPDIR=$scratch \
    "$nvcc" -O3 -std=c++17 "$lines" $lambdas -I "$assignment" "$source" "$@"
}
# $lean leaves out parts of headers that students hardly ever use, to save nvcc's time. C++17's special functions
# (std::riemann_zeta …) take a third of its time for a short file; defining their header's include guard skips them,
# except in files with `using` and `std`, which may import clashing names. The types of 16 and fewer bits in libcu++ and
# cooperative groups take a fifth, if one of these headers is included. If compilation fails without these parts, it is
# repeated with them. CUB needs the types: without them its sum of some thousand floats fails an assert().
lean=''
{ grep -qw using "$source" && grep -qw std "$source"; } || lean=-D_GLIBCXX_BITS_SPECFUN_H
grep -qE 'cuda_(bf|fp)[0-9]|(cub|thrust)/' "$source" || lean="$lean -DCCCL_DISABLE_FP16_SUPPORT"
compile() {
  if [ -n "$lean" ] && nvcc $lean "$@" > "$scratch/said" 2>&1; then said; return 0; fi
  nvcc "$@" > "$scratch/said" 2>&1
  status=$?
  said
  [ $status = 0 ] || ! grep -q 'namespace "std.*" has no member' "$scratch/said" ||
    echo 'Solutions are compiled as C++17: a name that came later is unknown.' >&2
  return $status
}
# nvcc passes assembly on as it is: only ptxas says that an instruction is wrong, or for newer GPUs than the PTX is. It also
# refuses static shared memory above 48 KiB, which a driver's assembler takes.
assemble() {  # PTX
  local shared='/^[ \t]*\.shared .*\[[0-9]+\];/ { gsub(/.*\[|\];/, ""); sum += $0 } END { exit sum > 48 * 1024 }'
  grep -q 'begin inline asm' "$1" || ! awk "$shared" "$1" || return 0
  ptxas=$(dirname "$nvcc")/ptxas
  [ -x "$ptxas" ] || fail "ptxas is missing beside $nvcc: it has to check $submission's assembly"
  "$ptxas" -O0 "-arch=sm_$arch" -o "$scratch/machine_code" "$1" > "$scratch/said" 2>&1 || {
    # With the line of the source in place of the text's.
    awk -F '; error *: ' '
      FNR == NR { all = all $0 "\n"; if (NF > 1 && match($1, /line [0-9]+$/)) wrong[substr($1, RSTART + 5)] = $2; next }
      /^[ \t]*\.loc/ { split($0, word, /[ \t]+/); file = word[3]; line = word[4] }
      /^[ \t]*\.file/ { split($0, word, /[ \t]+/); name[word[3]] = word[4]; gsub(/"/, "", name[word[3]]) }
      FNR in wrong && !told[file, line, wrong[FNR]]++ { of[++count] = file; at[count] = line; what[count] = wrong[FNR] }
      END { if (!count) printf "%s", all
        for (k = 1; k <= count; ++k) print name[of[k]] "(" at[k] "): error: " what[k] " (assembly for sm_'"$arch"')" }' "$scratch/said" "$1" >&2
    exit 1
  }
}
# nvcc reads a file twice, for the device and for the host, so it gives most warnings twice, each with the same remark.
said() {
  awk 'BEGIN { RS = ""; ORS = "\n\n" } !/^Remark: The warnings can be suppressed/ && !seen[$0]++' "$scratch/said" >&2
}
compile_cpp() {
  if [ -n "$ptx" ]; then
    compile -ptx "-arch=compute_$arch" -o "$ptx"
    exit
  fi

  # PTX only: the virtual GPU needs no machine code, and a real GPU's driver makes its own.
  mkdir "$scratch/kept"
  compile -c -Xcompiler "-fPIC,$host_flags" -gencode "arch=compute_$arch,code=compute_$arch" \
    --keep --keep-dir "$scratch/kept" -MD -MF "$scratch/includes" -o "$scratch/submission.o" || exit $?
  # Where libraries are given, assembly is theirs: a submission's own is refused below.
  [ -n "$given" ] || for text in "$scratch/kept/"*.ptx; do assemble "$text"; done
  # If the assignment allows libraries, nvcc's output is kept, so that the judge can tell whose a kernel is.
  [ -z "$given" ] || { mv "$scratch/kept/"*.fatbin "$image" && mv "$scratch/kept/"*.cpp1.ii "$scratch/expanded"; } || exit $?
  rm -r "$scratch/kept"
  # One file per line; names may contain blanks.
  sed 's/\\ /\x01/g' "$scratch/includes" | tr -s ' \\' '\n' | tr '\001' ' ' > "$scratch/lines" && mv "$scratch/lines" "$scratch/includes"
  # The submission may have its own main function, for experiments: hide it from the linker.
  objcopy --localize-symbol=main "$scratch/submission.o" || exit $?
  # Assignments require the student's own kernels: NVIDIA's libraries may be neither included nor loaded at run time.
  libraries='cub|thrust|cutlass|cute|cublas\w*|cublasLt|cusparse|cusolver\w*|cufft\w*|curand\w*|cudnn\w*|npp\w*|nccl'
  library=$(grep -vF -e "$source" -e "$assignment/" "$scratch/includes" | grep -oE "/($libraries)(/|\.h)" | tr -d / |
    sed -E 's/\.h$//; s/^(cu(blas|sparse|solver|fft|rand|dnn)|npp).*/\1/' | sort -u | grep -vxF "${given:-none}" |
    sed ':a;N;$!ba;s/\n\([^\n]*\)$/ and \1/;s/\n/, /g')
  # If libraries are allowed, dlopen() is too: CUB's and Thrust's headers load the driver. The judge checks the kernels.
  loader=$([ -n "$given" ] || nm -u "$scratch/submission.o" | grep -aoE '\b(dlopen|dlmopen)\b' | head -n 1)
  if [ -n "$library$loader" ]; then
    what="includes $library"
    [ -n "$library" ] || what="calls $loader(), which loads libraries"
    instead='kernels of your own, without libraries of kernels'
    [ -z "$given" ] || instead="$(list "$given"), and no other library of kernels"
    echo "$submission $what: this assignment asks for $instead" >&2
    exit 65
  fi
  if [ -n "$given" ]; then
    refuse_line_directives
    refuse_assembly
  fi
}

# The libraries that the assignment is about, one a line. Thrust is made of CUB.
given=$(sed -n 's/^libraries = \[\(.*\)\].*/\1/p' "$assignment/assignment.toml" 2>/dev/null | tr -d '" ' | tr , '\n')
case $given in *thrust*) given=$(printf 'cub\n%s' "$given" | sort -u) ;; esac
# Thrust's and CUB's algorithms are often called with a __device__ lambda.
lambdas=''
[ -z "$given" ] || lambdas=--extended-lambda
list() { echo "$1" | sed ':a;N;$!ba;s/\n\([^\n]*\)$/ and \1/;s/\n/, /g'; }

# The judge recognises a library's kernel by its line information, which names the toolkit's headers. So a submission
# must not forge lines by #line: after a # that begins a line, or follows a comment, only other directives are allowed.
refuse_line_directives() {
  directives='include|define|undef|if|ifdef|ifndef|elif|else|endif|pragma|error|warning'
  joined | grep -aE '(^|\*/)[[:space:]]*(#|%:)' > "$scratch/directives"
  refuse_directive "$(grep -avE "^$hash(($directives)([^[:alnum:]_].*)?)?\$" "$scratch/directives")" \
    '#line, or a comment in a directive. Take it out'
  # Nor may it define a macro that a toolkit header uses: its code would get that header's lines.
  refuse_directive "$(grep -aE "^${hash}include" "$scratch/directives" | grep -avE "^${hash}include[[:space:]]*[<\"]" ||
    grep -aE "^${hash}include.*\\.cu[>\"]" "$scratch/directives")" 'headers are included by their names'
  early=$(awk -v "define=^$hash(define|undef)" -v "include=^${hash}include" \
    '$0 ~ define { held = held $0 "\n" } $0 ~ include { printf "%s", held; held = "" }' "$scratch/directives")
  [ -n "$early" ] || return 0
  named="^$hash(define|undef)[[:space:]]+([[:alnum:]_]+).*"
  refuse_directive "$(printf '%s\n' "$early" | grep -avE "$named")" 'a comment in a directive. Take it out'
  printf '%s\n' "$early" | sed -nE "s/$named/\3/p" | sort -u > "$scratch/early"
  used=$(grep /include/ "$scratch/includes" | grep -E 'cuda|nvidia' | tr '\n' '\0' |
    xargs -0 grep -ohwFf "$scratch/early" | sort -u | head -n 1)
  [ -z "$used" ] || refuse_directive "$(printf '%s\n' "$early" | grep -awF -e "$used")" \
    "the toolkit's headers use that name. Define it after the last #include"
}
hash='[[:space:]]*(#|%:)[[:space:]]*'
# The source with continued lines joined.
joined() { sed -E ':a;/\\[[:space:]]*$/{N;s/\\[[:space:]]*\n//;ba}' "$source"; }
refuse_directive() {
  [ -z "$1" ] || {
    echo "$submission: this assignment does not take a line as" \
      "\"$(printf '%s\n' "$1" | head -n 1 | tr -dc '[:print:]' | cut -c 1-60)\": $2." >&2
    exit 65
  }
}

# Nor may it contain inline assembly, which could forge lines by .loc. Searches the preprocessed lines of its own file.
refuse_assembly() {
  word=$(awk -v "own=\"$source\"" '/^# [0-9]+ "/ { mine = index($0, own); next } mine' "$scratch/expanded" |
    sed -E 's/"([^"\\]|\\.)*"//g' | grep -aowE '(__)?asm(__)?' | head -n 1)
  [ -z "$word" ] || {
    echo "$submission: this assignment does not take $word: kernels are those of the libraries. Take it out." >&2
    exit 65
  }
}

# Makes an object file of the packed Python submission.
embed_submission() {
  printf '.section .rodata\n.global lockstep_python_submission\nlockstep_python_submission:\n.incbin "%s"\n.byte 0\n%s\n' \
    "$scratch/submission.json" '.section .note.GNU-stack,"",@progbits' > "$scratch/submission.s"
  g++ -c "$scratch/submission.s" -o "$scratch/submission.o" || exit 1
}

has_python_for_workers() {
  [ -f "$build/lib/liblockstep_python.a" ] ||
    fail "$build/lib has no Python for workers; type: harness/setup.sh --python"
}

# A Python submission with given kernels: nvcc compiles the kernels, and the submission is not run here.
pack_host_code() {
  if [ -n "$ptx" ]; then
    nvcc_of_kernels "$ptx"
    exit
  fi
  has_python_for_workers
  nvcc_of_kernels "$scratch/kernels.ptx" || exit $?
  cp "$scratch/kernels.ptx" "$image" || exit $?
  python3 -I "$root/harness/worker/python/pack_host_code.py" --source "$source" --assignment "$assignment" \
    --kernels "$scratch/kernels.ptx" --out "$scratch/submission.json" >&2 || exit 1
  embed_submission
}
nvcc_of_kernels() {
  TMPDIR=$scratch "$nvcc" -O3 -std=c++17 "$lines" -ptx "-arch=compute_$arch" -o "$1" "$assignment/kernels.cu" >&2
}

# A Python submission with kernels: the real Numba compiles them; the PTX is linked into the worker with an interpreter.
compile_python() {
  [ -z "$ptx" ] || exit 1  # there is no single PTX file: each kernel is a separate module
  has_python_for_workers
  [ -n "$python" ] || python=$root/.venv/bin/python
  [ -x "$python" ] || python=$(command -v python3) || fail "python3 is missing"
  "$python" -I -c 'from importlib.metadata import version; version("numba-cuda"), version("numba")' 2> /dev/null ||
    fail "$python has no Numba, which compiles the kernels; type: harness/setup.sh --python"
  # From here on the submission itself runs, so an exit status means no more than that it was not compiled.
  CUDA_HOME=$(dirname "$include") "$python" -I "$root/harness/worker/python/compile_kernels.py" --source "$source" \
    --assignment "$assignment" --arch "$arch" --out "$scratch/submission.json" >&2 || exit 1
  if [ ! -s "$scratch/submission.json" ]; then
    echo "$submission: error: it exits on import, which the compiler needs" >&2
    exit 1
  fi
  embed_submission
}

if [ -z "$is_python" ]; then
  compile_cpp
elif [ -f "$assignment/kernels.cu" ]; then
  pack_host_code
else
  compile_python
fi

# The build tree has the compiled glue; it is compiled here if a source or header is newer, or the glue is another file.
name=$(basename "$assignment")
compiled=$build/lib/glue/$name.a
[ "$glue" -ef "$root/harness/suites/${name}_launchers.cc" ] && [ "$assignment" -ef "$root/assignments/$name" ] || compiled=''
for file in "$glue" "$assignment"/*.h "$root"/harness/protocol/*.* "$root"/harness/worker/*.h; do [ "$file" -ot "$compiled" ] || compiled=''; done
if [ -z "$compiled" ]; then
  compiled=$scratch/glue.o
  TMPDIR=$scratch g++ -c -O1 -std=c++20 -fPIC -I "$assignment" -I "$root/harness" -isystem "$include" \
    "$glue" -o "$compiled" || exit $?
fi
# link_flags.txt: the flags of a build with sanitizers.
link_flags=$(cat "$build/link_flags.txt" 2>/dev/null)
# The libraries that a submission may call: ours, whose work the judge does (harness/libraries/submission); on a real
# GPU NVIDIA's are loaded instead.
set --
for library in $given; do
  for found in "$build/lib/submission/lib$library".so.*; do
    [ ! -f "$found" ] || set -- "$@" "-l:${found##*/}"
  done
done
[ $# = 0 ] || set -- "-L$build/lib/submission" -Wl,--as-needed "$@" -Wl,--no-as-needed "-Wl,-rpath,$build/lib/submission"
[ -z "$is_python" ] || set -- "$build/lib/liblockstep_python.a" $(cat "$build/lib/python_flags.txt") "$@"
# Rewrites the linker's errors about missing launchers in the assignment's terms.
explain_link() {
  nm -C --defined-only "$scratch/submission.o" | cut -c 20- | sort -u > "$scratch/defined"
  nm -C -u "$compiled" | sed 's/^ *U //' > "$scratch/wanted"
  sed -n "s/.*undefined reference to \`\(.*\)'.*/\1/p" "$scratch/link" | sort -u > "$scratch/missing"
  sed -n "s/.*multiple definition of \`\(.*\)'.*/\1/p" "$scratch/link" | sort -u |
    while read -r symbol; do echo "$submission: error: the test program has a $symbol of its own: choose another name"; done
  while read -r symbol; do
    if ! grep -qxF -e "$symbol" "$scratch/wanted"; then
      case $symbol in
        cublas* | cufft*)
          echo "$submission: error: $symbol is not among the library's functions that submissions have;" \
            "docs/reference/host-libraries.md lists them" ;;
        *) echo "$submission: error: $symbol is used, and nothing defines it" ;;
      esac
      continue
    fi
    name=${symbol%%(*}
    declared=$(cd "$assignment" && grep -HnE "(^|[^[:alnum:]_])$name\(" ./*.h | sed -n '1s/^\.\/\([^:]*:[0-9]*\):.*/; see \1/p')
    echo "$submission: error: $symbol is missing$declared"
    grep -E "(^|::)$name(\(|\$)" "$scratch/defined" | while read -r found; do
      case $found in
        "$name") echo "  it has $name as extern \"C\": leave that out" ;;
        "$name("*) echo "  it has $found: its parameters have to be those above" ;;
        *) echo "  it has $found: take it out of the namespace" ;;
      esac
    done
  done < "$scratch/missing"
  # Other errors are shown as they are, for example if the symbol is in a library that is not linked.
  grep -qE '(undefined reference to|multiple definition of) `' "$scratch/link" || cat "$scratch/link"
}
# The worker's own objects come first, so that its constructors run before the submission's. RUNPATH, not RPATH:
# with a real GPU LD_LIBRARY_PATH names NVIDIA's library.
link() {  # GLUE, and the libraries that a submission may call
  launchers=$1
  shift
  LC_ALL=C TMPDIR=$scratch g++ -o "$scratch/worker" $link_flags \
    -Wl,--whole-archive "$build/lib/liblockstep_worker.a" "$launchers" -Wl,--no-whole-archive \
    "$build/lib/liblockstep_wire.a" "$scratch/submission.o" "$build/lib/liblockstep_wire.a" "$@" \
    -L"$build/lib" -l:libcudart.so.13 -Wl,--enable-new-dtags,-rpath,"$build/lib" -lpthread 2> "$scratch/link"
}
# Copies first, because $scratch may be on another file system, and a rename is atomic only within one.
show() {
  if [ -s "$image" ]; then
    objcopy --remove-section=.lockstep.image "$scratch/worker" &&
      objcopy "--add-section=.lockstep.image=$image" "$scratch/worker" || exit $?
  fi
  cp "$scratch/worker" "$1.new.$$" && mv -f "$1.new.$$" "$1"
}

if [ -n "$parts" ]; then
  # The glue calls launchers outside of any namespace: for each part their names are replaced by those in its namespace.
  symbols() { awk '{ print $NF }' | sort -u > "$scratch/symbols"; c++filt < "$scratch/symbols" | paste "$scratch/symbols" -; }
  nm --defined-only "$scratch/submission.o" | symbols > "$scratch/defined"
  nm -u "$compiled" | symbols > "$scratch/wanted"
  for part in $parts; do
    awk -F '\t' -v "part=$part::" 'NR == FNR { symbol[$2] = $1; next } (part $2) in symbol { print $1, symbol[part $2] }' \
      "$scratch/defined" "$scratch/wanted" > "$scratch/renamed"
    objcopy --redefine-syms="$scratch/renamed" "$compiled" "$scratch/glue.a" || exit $?
    if link "$scratch/glue.a" "$@"; then show "$out.$part"; fi
  done
  exit 0
fi
if ! link "$compiled" "$@"; then
  explain_link >&2
  exit 1
fi
# The sandbox of a Python submission's build can write only to $out itself.
if [ -z "$is_python" ]; then show "$out"; else show "$out" 2> /dev/null || cat "$scratch/worker" > "$out"; fi
