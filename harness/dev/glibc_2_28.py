"""Links programs with a newer system's g++ so that they run with glibc 2.28 or later (Debian 10, RHEL 8).

`cmake_words(FOLDER)` makes stubs of libc and the like in a folder, and returns arguments for CMake to link with them.
A stub has this system's symbols without code, each in the newest version that 2.28 has: later ones keep it. What 2.28
lacks is in glibc_2_28.c. libstdc++ and zstd are linked statically: old systems have older ones, or none.
"""

import re
import subprocess
from pathlib import Path

NEWEST = (2, 28)
_SYMBOL = re.compile(
    r"^ *\d+: (\w+) +(\w+) (FUNC|IFUNC|OBJECT) +\w+ +DEFAULT +\w+ (\w+)@@?GLIBC_(2[\d.]+)$", re.MULTILINE
)
# Separate libraries until 2.34; newer systems have them for old programs, and empty.
_MOVED = {"libpthread.so.0": "pthread_|sem_", "libdl.so.2": "dl(addr|close|error|info|m?open|v?sym)"}
Names = dict[str, tuple[str, bool, int, str]]  # by name: version, whether it is data, size, address


def _output(*words: str | Path) -> str:
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=True).stdout.strip()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _names(library: str) -> Names:
    found: Names = {}
    path = _output("g++", f"-print-file-name={library}")
    for place, size, kind, name, version in _SYMBOL.findall(_output("readelf", "-W", "--dyn-syms", path)):
        if _numbers(version) <= NEWEST and (name not in found or _numbers(found[name][0]) < _numbers(version)):
            found[name] = version, kind == "OBJECT", int(size, 0), place
    return found


def _make_stub(file: Path, names: Names) -> None:
    """Makes a shared library of these symbols. Names of the same data get the same address, as they are one object."""
    lines, versions = [], dict[str, list[str]]()
    places: dict[tuple[bool, str], list[tuple[str, int]]] = {}
    for name, (version, is_data, size, place) in names.items():
        places.setdefault((is_data, place), []).append((name, size))
        versions.setdefault(version, []).append(name)
    for (is_data, _), together in places.items():
        lines.append(".bss\n.balign 32" if is_data else ".text")
        kind = "object" if is_data else "function"
        lines += [f".globl {name}\n.type {name}, %{kind}\n.size {name}, {size}\n{name}:" for name, size in together]
        lines.append(f".zero {max(size for _, size in together)}" if is_data else ".zero 4")
    ordered = sorted(versions, key=_numbers)
    script, source = file.with_suffix(".map"), file.with_suffix(".s")
    script.write_text("".join(f"GLIBC_{one} {{ {'; '.join(versions[one])}; }};\n" for one in ordered))
    source.write_text("\n".join(lines) + "\n")
    linked = ["-shared", "-nostdlib", f"-Wl,-soname,{file.name},--version-script={script}"]
    _output("gcc", *linked, "-o", file, source)


def _make_script(file: Path, *inputs: Path) -> None:
    file.unlink(missing_ok=True)
    file.write_text("INPUT(" + " ".join(f'"{one}"' for one in inputs) + ")\n")


def cmake_words(folder: Path) -> list[str]:
    """Fills a folder; returns the arguments with which CMake configures a build."""
    folder.mkdir(parents=True, exist_ok=True)
    triple = _output("g++", "-dumpmachine")
    loader = "ld-linux-x86-64.so.2" if triple.startswith("x86_64") else "ld-linux-aarch64.so.1"
    libc = _names("libc.so.6")
    stubs = {file: {name: libc[name] for name in libc if re.match(start, name)} for file, start in _MOVED.items()}
    stubs["libc.so.6"] = {name: libc[name] for name in libc if not any(name in moved for moved in stubs.values())}
    for file, names in (stubs | {one: _names(one) for one in ("libm.so.6", loader)}).items():
        _make_stub(folder / file, names)
    for part in ("functions", "program", "fortran"):
        flags = ["-c", "-O2", "-fPIC", "-fvisibility=hidden", f"-D{part.upper()}"]
        _output("gcc", *flags, "-o", folder / f"{part}.o", Path(__file__).with_suffix(".c"))
    added = [folder / "functions.o", Path(_output("g++", "-print-file-name=libc_nonshared.a"))]
    _make_script(folder / "libc.so", *added, *(folder / file for file in (*stubs, loader)))
    _make_script(folder / "libm.so", folder / "libm.so.6")
    _make_script(folder / "libgfortran.so", folder / "fortran.o")
    linked = f'"-L{folder}" -static-libstdc++'
    start = "-Wl,--wrap=__libc_start_main,--allow-shlib-undefined"  # libgcc_s is this system's
    return [
        f"-DCMAKE_SHARED_LINKER_FLAGS={linked} -Wl,-z,defs",
        f'-DCMAKE_EXE_LINKER_FLAGS={linked} "{folder}/program.o" {start}',
        f"-DZSTD_LIBRARY=/usr/lib/{triple}/libzstd.a",
    ]
