"""Screenshots as small PNG files: 256 colours, which is a third of the bytes that Chromium writes."""

from __future__ import annotations

import struct
import zlib
from collections import Counter

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOURS = 256


def chunk(kind: bytes, content: bytes) -> bytes:
    """A chunk as it stands in the file."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _rows(data: bytes, width: int, height: int, size: int) -> list[bytearray]:
    """The unpacked bytes of each row, with the row's filter undone; size: bytes of a pixel."""
    rows: list[bytearray] = []
    before = bytearray(width * size)
    for start in range(0, height * (width * size + 1), width * size + 1):
        kind, row = data[start], bytearray(data[start + 1 : start + 1 + width * size])
        for at in range(len(row) if kind else 0):
            left, above = (row[at - size] if at >= size else 0), before[at]
            corner = before[at - size] if at >= size else 0
            steps = [abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)]
            nearest = (left, above, corner)[steps.index(min(steps))]
            row[at] = (row[at] + (left, above, (left + above) // 2, nearest)[kind - 1]) & 255
        rows.append(row)
        before = row
    return rows


def small(data: bytes) -> bytes:
    """The picture of an 8-bit RGB or RGBA PNG with its 256 most frequent colours; others become the nearest of them."""
    place, packed = len(SIGNATURE), b""
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        if kind == b"IHDR":
            width, height, depth, colours, *rest = struct.unpack(">IIBBBBB", data[place + 8 : place + 8 + length])
            if depth != 8 or colours not in (2, 6) or any(rest):  # noqa: PLR2004 - PNG's numbers
                raise ValueError(
                    f"a screenshot with the header {depth}, {colours}, {rest}: png.py knows 8-bit RGB and RGBA"
                )
        packed += data[place + 8 : place + 8 + length] if kind == b"IDAT" else b""
        place += length + 12
    size = 3 if colours == 2 else 4  # noqa: PLR2004
    rows = _rows(zlib.decompress(packed), width, height, size)
    pixels = [[bytes(row[at : at + 3]) for at in range(0, len(row), size)] for row in rows]
    counted = Counter(pixel for row in pixels for pixel in row)
    palette = [pixel for pixel, _ in counted.most_common(_COLOURS)]
    number = {pixel: index for index, pixel in enumerate(palette)}
    for pixel in counted.keys() - number.keys():
        distance = [sum((a - b) ** 2 for a, b in zip(pixel, other, strict=True)) for other in palette]
        number[pixel] = distance.index(min(distance))
    image = zlib.compress(b"".join(b"\0" + bytes(number[pixel] for pixel in row) for row in pixels), 9)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = (
        (b"IHDR", header),
        (b"PLTE", b"".join(palette)),
        (b"IDAT", image),
        (b"IEND", b""),
    )
    return SIGNATURE + b"".join(chunk(*one) for one in chunks)
