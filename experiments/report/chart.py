"""Charts as SVG: axes, curves, points and bars, written by hand so that they need no library and differ little."""

import math
from xml.sax.saxutils import escape

INK, FAINT, GRID = "#222222", "#666666", "#e4e4e4"
COLOURS = ["#1f5fa8", "#c4511a", "#2e8540", "#7a3e9d", "#b08d00", "#0f8b8d", "#a0325c", "#555555"]


def text(x, y, words, size=12, anchor="middle", fill=INK, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" {extra}>{escape(words)}</text>'


def line(x1, y1, x2, y2, colour=INK, width=1.0, dash=""):
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"{dashes}/>'


def document(width, height, title, parts):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif">')  # fmt: skip
    body = [f"<title>{escape(title)}</title>", f'<rect width="{width}" height="{height}" fill="white"/>',
            text(16, 26, title, 15, "start", extra='font-weight="bold"')]  # fmt: skip
    return "\n".join([head, *body, *parts, "</svg>", ""])


class Axis:
    """Numbers along a stretch of pixels, linear or logarithmic."""

    def __init__(self, low, high, begin, end, logarithmic=False):
        self.low, self.high, self.begin, self.end, self.logarithmic = low, high, begin, end, logarithmic

    def __call__(self, value):
        low, high = (math.log(self.low), math.log(self.high)) if self.logarithmic else (self.low, self.high)
        value = math.log(value) if self.logarithmic else value
        return self.begin + (self.end - self.begin) * (value - low) / ((high - low) or 1)

    def ticks(self):
        if self.logarithmic:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            return [10.0**k for k in range(first, last + 1) if self.low <= 10.0**k * 1.0001 and 10.0**k <= self.high * 1.0001]
        step = 10 ** math.floor(math.log10((self.high - self.low) / 4))
        step = next(step * k for k in (1, 2, 5, 10) if (self.high - self.low) / (step * k) <= 6)
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def spell(value):
    """A tick's number, short."""
    if value >= 1e4 or 0 < value < 1e-2:
        exponent = round(math.log10(value))
        return f"1e{exponent}" if abs(value - 10.0**exponent) < 1e-6 * value else f"{value:.3g}"
    return f"{value:g}"


def seconds(value):
    """A tick's time."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if value >= size * 0.999:
            return f"{value / size:g} {unit}"
    return f"{value:g} s"


def panel(x, y, title, horizontal, vertical, name_x=spell, name_y=spell):
    """Frame, grid and labels of one panel; the title is above, the names of the axes are `x` and `y`."""
    left, right, top, bottom = x.begin, x.end, y.end, y.begin
    yield text(left, top - 10, title, 13, "start", extra='font-weight="bold"')
    for value in x.ticks():
        yield line(x(value), top, x(value), bottom, GRID)
        yield text(x(value), bottom + 16, name_x(value), 11)
    for value in y.ticks():
        yield line(left, y(value), right, y(value), GRID)
        yield text(left - 6, y(value) + 4, name_y(value), 11, "end")
    yield f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" fill="none" stroke="{INK}"/>'
    yield text((left + right) / 2, bottom + 34, horizontal)
    yield text(0, 0, vertical, extra=f'transform="translate({left - 50} {(top + bottom) / 2}) rotate(-90)"')


def curve(x, y, points, colour, dash="", markers=True):
    """Numbers (a, b) joined by lines."""
    path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dashes}/>'
    for a, b in points if markers else ():
        yield f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="2.8" fill="{colour}"/>'


def legend(left, top, names, styles=None):
    """A line and a name for each curve; `styles` are colours and dashes, by default the colours in their order."""
    for number, name in enumerate(names):
        y = top + 17 * number
        colour, dash = styles[number] if styles else (COLOURS[number % len(COLOURS)], "")
        yield line(left, y, left + 22, y, colour, 2.2, dash)
        yield text(left + 28, y + 4, name, 11.5, "start")
