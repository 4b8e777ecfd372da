"""How much goes on a slide: sizes that can be read from the last row, and more slides instead of smaller letters."""

from dataclasses import dataclass
from math import ceil

from pptx.util import Emu

SIZES = (24, 20, 18)  # points, of bullets
TABLE_SIZES = (18, 16, 14, 12, 11)
LETTER = 0.5  # mean width of a letter, in sizes of the font
POINT = 12_700  # EMU


@dataclass(frozen=True)
class Bullet:
    level: int
    text: str  # Markdown


def _lines(text: str, width: float, size: float) -> int:
    letters = max(int(width / (size * LETTER)), 1)
    return sum(max(ceil(len(line) / letters), 1) for line in text.split("\n"))


def _height(bullet: Bullet, width: float, size: float) -> float:
    return _lines(bullet.text, width - 28 * (bullet.level + 1), size) * size * 1.2 + size * 0.4


def _cut(bullet: Bullet, width: float, height: float, size: float) -> list[Bullet]:
    """A bullet that alone is higher than the slide, as several."""
    most = int(width / (size * LETTER)) * int(height / (size * 1.2)) * 8 // 10
    parts, rest = [], bullet.text
    while len(rest) > most:
        at = rest.rfind(" ", most // 2, most)
        at = at if at > 0 else most
        parts.append(Bullet(bullet.level, rest[:at]))
        rest = rest[at:].strip()
    return [*parts, Bullet(bullet.level, rest)]


def fit_bullets(bullets: list[Bullet], width: Emu, height: Emu) -> tuple[list[list[Bullet]], int]:
    """The bullets of each slide and the size they are set in: all on one slide if they can be read there, otherwise over several."""
    wide, high = width / POINT, height / POINT - 10
    for size in SIZES:
        if sum(_height(b, wide, size) for b in bullets) <= high:
            return [bullets], size
    size = SIZES[1]
    slides: list[list[Bullet]] = [[]]
    used = 0.0
    for bullet in bullets:
        for part in _cut(bullet, wide, high, size) if _height(bullet, wide, size) > high else [bullet]:
            need = _height(part, wide, size)
            if slides[-1] and used + need > high:
                slides.append([])
                used = 0.0
            slides[-1].append(part)
            used += need
    return slides, size


def row_height(cells: list[str], widths: list[float], size: float) -> float:
    """Points that a table row needs; *widths* in points."""
    return max(_lines(text, width - 16, size) for text, width in zip(cells, widths, strict=True)) * size * 1.2 + 10


def fit_rows(rows: list[list[str]], widths: list[float], height: Emu) -> tuple[list[tuple[int, int]], int]:
    """Which rows (start, end; the header, row 0, stands on every slide) go on each slide, and the size they are set in."""
    high = height / POINT
    for size in TABLE_SIZES:
        heights = [row_height(row, widths, size) for row in rows]
        if sum(heights) <= high:
            return [(1, len(rows))], size
    size = TABLE_SIZES[2]
    heights = [row_height(row, widths, size) for row in rows]
    slides, start, used = [], 1, heights[0]
    for at in range(1, len(rows)):
        if at > start and used + heights[at] > high:
            slides.append((start, at))
            start, used = at, heights[0]
        used += heights[at]
    return [*slides, (start, len(rows))], size
