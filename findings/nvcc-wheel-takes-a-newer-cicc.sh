#!/usr/bin/env bash
# Pinning nvidia-cuda-nvcc alone gives a compiler that can't compile: pip takes cicc from the newest nvidia-nvvm.
#
# Seen with nvidia-cuda-nvcc 13.0.88 on 2026-11-27: pip also installed nvidia-nvvm 13.5.37, whose cicc writes PTX 9.5, and
# nvcc's own ptxas refuses it: "Unsupported .version 9.5; current version is '9.0'". With nvidia-nvvm pinned to the same
# version the same file compiles. The wheel asks for nvidia-nvvm without a version.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
echo '__global__ void fill(int* p) { p[threadIdx.x] = 1; }' > fill.cu
compile() { # packages …
  rm -rf env; python3 -m venv env; env/bin/pip install -q "$@"
  "$(echo env/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)" -arch=sm_90 -c fill.cu -o fill.o 2>&1
}
if output=$(compile nvidia-cuda-nvcc==13.0.88); then echo "changed: nvidia-cuda-nvcc alone compiles"; exit 1; fi
echo "$output"
grep -q "Unsupported .version" <<< "$output"
compile nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96
echo "with nvidia-nvvm of the same version: compiled"
