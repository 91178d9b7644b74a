#!/usr/bin/env bash
# Two dynamic shared arrays in a Numba kernel share their memory, but the compiler assumes that they don't overlap.
#
# Seen with numba-cuda 0.20.0, Numba 0.62.1, libNVVM 13.0.88 on 2026-11-27. The kernel stores 1 to an int32 array, then 2.0 to
# a float32 array at the same place, and returns the int32. Numba's simulator returns 1073741824, the bits of 2.0. The
# PTX for a GPU returns the constant 1 and stores in the other order, so that the memory holds 1 and not 2.0.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install -q "numba-cuda[cu13]==0.20.0" numba==0.62.1 nvidia-nvvm==13.0.88 nvidia-cuda-nvcc==13.0.88 nvidia-cuda-nvrtc==13.0.88
cat > overlap.py <<'PYTHON'
import os
import numpy
from numba import cuda, float32, int32
def overlap(out):
    whole = cuda.shared.array(0, int32)
    real = cuda.shared.array(0, float32)
    whole[0] = 1
    real[0] = 2
    out[0] = whole[0]
if "NUMBA_ENABLE_CUDASIM" in os.environ:
    out = numpy.zeros(1, numpy.int32)
    cuda.jit(overlap)[1, 1, 0, 4](out)
    print("simulator:", out[0])
else:
    ptx, _ = cuda.compile_ptx(overlap, (int32[:],), cc=(9, 0))
    print("\n".join(line.strip() for line in ptx.splitlines() if "mov.u32 \t%r" in line or "st." in line))
PYTHON
ptx=$(env/bin/python -W ignore overlap.py)
simulated=$(NUMBA_ENABLE_CUDASIM=1 env/bin/python -W ignore overlap.py)
printf '%s\n%s\n' "$ptx" "$simulated"
[ "$simulated" = "simulator: 1073741824" ]
register=$(sed -nE 's/^mov\.u32 \t(%r[0-9]+), 1;$/\1/p' <<< "$ptx")
[ -n "$register" ]
tail -n 1 <<< "$ptx" | grep -q "^st.global.u32 .*, $register;"          # the constant comes back
grep "^st.shared" <<< "$ptx" | tail -n 1 | grep -q ", $register;"       # and is stored last
