#!/usr/bin/env bash
# nvcc compiles a launch that names a grid and no block, kernel<<<blocks>>>(arguments), without a warning, though the
# CUDA C++ Programming Guide gives an execution configuration two to four arguments. The block is one thread.
#
# Seen with nvcc 13.0.88 on 2026-11-28. Expected: an error, as for a call with too few arguments.
# The declaration that allows it, and what the launch compiles to:
#   dim3 blockDim = 1,
#   (__cudaPushCallConfiguration(8)) ? (void)0 : fill(d);
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install -q nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96
cuda=$(echo env/lib/python3*/site-packages/nvidia/cu13)
printf '%s\n' '__global__ void fill(int* d) { d[threadIdx.x] = 1; }' 'void launch(int* d) { fill<<<8>>>(d); }' > launch.cu
warnings=$("$cuda/bin/nvcc" -I "$cuda/include" -arch=compute_80 -cuda launch.cu -o launch.ii 2>&1)
[ -z "$warnings" ] || { echo "$warnings"; exit 1; }
seen=$(grep -oh '(__cudaPushCallConfiguration(8)).*;\|dim3 blockDim = [^,]*,' launch.ii)
echo "$seen"
[ "$seen" = "dim3 blockDim = 1,
(__cudaPushCallConfiguration(8)) ? (void)0 : fill(d);" ]
