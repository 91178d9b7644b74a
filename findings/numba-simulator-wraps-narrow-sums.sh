#!/usr/bin/env bash
# Numba's CUDA simulator adds two elements of a uint8 or int32 array in that type, so the sum wraps around. Compiled for
# a GPU, the same kernel adds them as 64-bit integers. A test of an image kernel can pass in the simulator alone.
#
# Seen with numba-cuda 0.30.4, Numba 0.68.1, NumPy 2.4.6, libNVVM 13.0.88 on 2026-11-28:
#   simulator: uint8 200 + 100 is 44, int32 2147483647 + 2 is -2147483647
#   GPU's PTX: both sums are add.s64, so 300 and 2147483649
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install -q "numba-cuda[cu13]==0.30.4" numba==0.68.1 numpy==2.4.6 nvidia-nvvm==13.0.88 nvidia-cuda-nvcc==13.0.88 nvidia-cuda-nvrtc==13.0.88
cat > sums.py <<'PYTHON'
import os
import re
import numpy
from numba import cuda, types

def sums(out, small, wide):
    out[0] = small[0] + small[1]
    out[1] = wide[0] + wide[1]

if os.environ.get("NUMBA_ENABLE_CUDASIM"):
    out = numpy.zeros(2, numpy.int64)
    cuda.jit(sums)[1, 1](out, numpy.array([200, 100], numpy.uint8), numpy.array([2**31 - 1, 2], numpy.int32))
    print("simulator:", *out)
else:
    ptx, _ = cuda.compile_ptx(sums, (types.int64[:], types.uint8[:], types.int32[:]), cc=(8, 0))
    loads = {register: kind for kind, register in re.findall(r"ld\S*\.(u8|s32)\s+(%\w+),", ptx)}
    adds = re.findall(r"(add\.\w+)\s+%\w+, (%\w+), (%\w+);", ptx)
    print("GPU's PTX:", *(f"{loads[a]} {add}" for add, a, b in adds if a in loads and b in loads))
PYTHON
seen=$(NUMBA_ENABLE_CUDASIM=1 env/bin/python -W ignore sums.py; env/bin/python -W ignore sums.py)
echo "$seen"
[ "$seen" = "simulator: 44 -2147483647
GPU's PTX: u8 add.s64 s32 add.s64" ]
