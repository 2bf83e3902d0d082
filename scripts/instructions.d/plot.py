"""A line for each tool, over sizes on a logarithmic scale, as SVG."""

from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 70, 20, 40, 60
COLOURS = ("#1f6feb", "#bf5700")


def plot(path, title, sizes, lines):
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
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value / 1e6:.1f} M</text>')
    for at, size in enumerate(sizes):
        parts.append(f'<text x="{across(at):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">× {size:,}</text>')
    for number, (tool, counts) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{across(at):.1f},{down(count):.1f}" for at, count in enumerate(counts))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        x = LEFT + number * 240
        parts.append(f'<rect x="{x}" y="{HEIGHT - 24}" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{x + 20}" y="{HEIGHT - 17}">{escape(tool)}</text>')
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")
