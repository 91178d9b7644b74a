#!/usr/bin/env python3
"""Write a small GPT-2 with random weights and a text, in the formats of https://github.com/karpathy/llm.c.

    harness/dev/public_suites/training/tiny_gpt2.py FOLDER TEXT

Writes FOLDER/gpt2_124M.bin (the name that train_gpt2_fp32.cu opens) and FOLDER/train.bin and FOLDER/val.bin, whose
tokens are the bytes of the file TEXT. The vocabulary is GPT-2's, since samples begin with its last token; 2 layers,
4 heads, 128 channels and 64 positions make it small. The weights are the same on every machine.
"""

import argparse
import array
import random
import sys
from pathlib import Path

MODEL, DATA = (20240326, 3), (20240520, 1)  # magic number and version
HEADER = 256  # 32-bit integers
POSITIONS, VOCABULARY, LAYERS, HEADS, CHANNELS, PADDED = 64, 50257, 2, 4, 128, 50304
TOKENS = 4 * 2 * POSITIONS + 1  # 4 steps of 2 sequences


def header(values: tuple[int, ...]) -> bytes:
    """A file's first 1024 bytes."""
    return array.array("i", values + (0,) * (HEADER - len(values))).tobytes()


def weights() -> array.array[float]:
    """All parameters in the order of the file: matrices of small normal numbers, factors of 1, offsets of 0."""
    c, layers = CHANNELS, LAYERS
    normal = random.Random(1)  # noqa: S311  no secrets
    block = [normal.gauss(0, 0.02) for _ in range(10_007)]  # drawing each of the millions takes long

    def matrix(count: int) -> list[float]:
        start = normal.randrange(len(block))
        return [block[(start + i) % len(block)] for i in range(count)]

    ones, zeros = [1.0], [0.0]
    return array.array(
        "f",
        matrix(PADDED * c)
        + matrix(POSITIONS * c)
        + ones * (layers * c)
        + zeros * (layers * c)
        + matrix(layers * 3 * c * c)
        + zeros * (layers * 3 * c)
        + matrix(layers * c * c)
        + zeros * (layers * c)
        + ones * (layers * c)
        + zeros * (layers * c)
        + matrix(layers * 4 * c * c)
        + zeros * (layers * 4 * c)
        + matrix(layers * c * 4 * c)
        + zeros * (layers * c)
        + ones * c
        + zeros * c,
    )


def main(arguments: list[str]) -> int:
    """Run the program; returns its exit status."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where to write")
    parser.add_argument("text", type=Path, help=f"a file of at least {2 * TOKENS} bytes")
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    text = options.text.read_bytes()
    if len(text) < 2 * TOKENS:
        parser.error(f"{options.text} has fewer than {2 * TOKENS} bytes")
    folder.mkdir(parents=True, exist_ok=True)
    shape = (POSITIONS, VOCABULARY, LAYERS, HEADS, CHANNELS, PADDED)
    (folder / "gpt2_124M.bin").write_bytes(header(MODEL + shape) + weights().tobytes())
    for name, tokens in (("train.bin", text[:TOKENS]), ("val.bin", text[TOKENS : 2 * TOKENS])):
        (folder / name).write_bytes(header((*DATA, TOKENS)) + array.array("H", list(tokens)).tobytes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
