"""A line for each name, over sizes on a logarithmic scale, as SVG.

    plot.py FILE.svg < FIGURES

FIGURES is JSON with `title`, `sizes`, `unit` and, by name, `lines`.
"""

import json
import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 70, 20, 40, 60
COLOURS = ("#1f6feb", "#bf5700")


def plot(path, title, sizes, lines, unit, size_label="{:,}"):
    most = max(max(counts) for counts in lines.values())
    across = lambda at: LEFT + at * (WIDTH - LEFT - RIGHT) / (len(sizes) - 1)
    down = lambda value: HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM) / (most * 1.1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>',
    ]
    for step in range(5):
        value = most * step / 4
        y = down(value)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.3g} {escape(unit)}</text>')
    for at, size in enumerate(sizes):
        parts.append(f'<text x="{across(at):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size_label.format(size)}</text>')
    for number, (name, counts) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{across(at):.1f},{down(count):.1f}" for at, count in enumerate(counts))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        x = LEFT + number * 240
        parts.append(f'<rect x="{x}" y="{HEIGHT - 24}" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{x + 20}" y="{HEIGHT - 17}">{escape(name)}</text>')
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")


if __name__ == "__main__":
    figures = json.load(sys.stdin)
    plot(Path(sys.argv[1]), figures["title"], figures["sizes"], figures["lines"], figures["unit"])
