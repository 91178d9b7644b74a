"""One hash of everything that a worker's executable depends on, so that equal workers are compiled once.

Only the standard library is used here: students run it.
"""

from grader.base.files import sha256_bytes, sha256_files
from grader.base.layout import KERNELS, Layout

BUILD_SCRIPT_STATUS = 64  # of build.sh if it can't start: not the source's fault
REFUSED_STATUS = 65  # of build.sh if the source leaves the work to a library


def worker_key(layout: Layout, name: str, source: bytes, nvcc_version: str) -> str:
    """The hash over a source, its assignment's headers and glue, the libraries, the flags and the compiler.

    A worker contains the libraries' path, so its key does too: after a folder is moved, an old worker would load
    another runtime or none, and fail through no fault of the student.
    """
    folder = layout.assignment(name)
    headers = [path for path in (*folder.glob("*.h"), folder / KERNELS) if path.is_file()]
    glue = [path for path in (layout.glue(name), layout.compiled_glue(name)) if path.is_file()]
    others = sha256_files([*headers, *glue, *layout.build_files, *layout.worker_parts])
    return sha256_bytes(f"{nvcc_version}\n{layout.libraries}\n{sha256_bytes(source)}\n{others}".encode())
