"""Small charts as inline SVG.

Places along x are in percent, so a chart fits any width and its text never shrinks. All colours are classes
of `mt_env.arena.page_style`. Nothing here depends on clock, machine or locale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mt_env.arena.stats import Estimate

LABEL: Final[int] = 24
"""Characters of a name that a chart shows; longer ones lose their middle and keep a tooltip."""

ROW: Final[int] = 42
"""Height of a row of `rows`, in pixels: a line of text and a bar."""

_EDGE: Final[float] = 3.0
"""Percent of the width left free at both sides, for text of ticks at the ends."""


def shortened(name: str, most: int = LABEL) -> str:
    """``name``, without its middle if it is longer than ``most``: copies of a long path differ at the end."""
    if len(name) <= most:
        return name
    tail = most // 2
    return f"{name[: most - tail - 1]}…{name[-tail:]}"


def nice_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten of which at most ``most`` fit into ``span``."""
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor * most >= span * (1 - 1e-9))


def percent(value: float) -> str:
    """A tick of a share: 0.075 is ``7.5%``."""
    return f"{100 * value:.10g}%"


class Axis:
    """A range of values laid along the width of a chart.

    Args:
        low: at the left edge.
        high: at the right edge, above ``low``.
    """

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    @classmethod
    def around(cls, values: Sequence[float], least: float) -> Axis:
        """From the lowest to the highest of ``values`` (NaN left out), with air, at least ``least`` wide."""
        known = [x for x in values if math.isfinite(x)]
        low, high = min(known), max(known)
        air = max(0.04 * (high - low), (least - (high - low)) / 2)
        return cls(low - air, high + air)

    def place(self, value: float) -> float:
        """Percent of the width; values outside lie at the edge."""
        part = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return _EDGE + (100 - 2 * _EDGE) * part

    def at(self, value: float) -> str:
        """The same as text for an attribute."""
        return f"{self.place(value):.2f}%"

    def ticks(self, most: int = 5) -> list[float]:
        """Round values in the range."""
        step = nice_step(self.high - self.low, most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def _text(x: str, y: float, text: str, anchor: str = "start", cls: str = "") -> str:
    cls = f' class="{cls}"' if cls else ""
    return f'<text x="{x}" y="{y:g}" text-anchor="{anchor}"{cls}>{escape(text)}</text>'


def _svg(height: float, title: str, description: str, parts: Sequence[str]) -> str:
    """The parts as an image with a name, which screen readers read instead of the parts."""
    inner = "".join(parts)
    label = escape(f"{title}. {description}".strip())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" '
        f'width="100%" height="{height:g}">'
        f"<title>{escape(title)}</title>{inner}</svg>"
    )


def rows(
    title: str,
    labels: Sequence[str],
    estimates: Sequence[Estimate],
    texts: Sequence[str],
    axis: Axis,
    tick: Callable[[float], str],
    reference: float | None = None,
    bars: bool = False,
) -> str:
    """One row for each estimate: a dot on its interval, or a bar from the axis' low end.

    Args:
        title: names the chart.
        labels: of the rows.
        estimates: limits may be NaN, then no interval is drawn.
        texts: each estimate in words, at the right of its row.
        axis: common to all rows.
        tick: a value as text.
        reference: where a dashed line is drawn through all rows.
        bars: draw bars.
    """
    bottom = ROW * len(labels) + 6
    parts = []
    for value in axis.ticks():
        x = axis.at(value)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{bottom}"/>')
        parts.append(_text(x, bottom + 15, tick(value), "middle", "muted"))
    if reference is not None:
        x = axis.at(reference)
        parts.append(f'<line class="reference" x1="{x}" x2="{x}" y1="0" y2="{bottom}"/>')
    for i, (label, estimate, text) in enumerate(zip(labels, estimates, texts, strict=True)):
        top, middle = ROW * i + 15, ROW * i + 29
        marks = [_text("0", top, shortened(label, LABEL + 3)), _text("100%", top, text, "end", "number")]
        if bars:
            left = axis.at(axis.low)
            width = axis.place(estimate.value) - axis.place(axis.low)
            marks.append(f'<rect class="bar" x="{left}" y="{middle - 7}" width="{width:.2f}%" height="14"/>')
        if math.isfinite(estimate.low):
            low, high = axis.at(estimate.low), axis.at(estimate.high)
            marks.append(f'<line class="whisker" x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>')
            marks += [
                f'<line class="whisker" x1="{x}" x2="{x}" y1="{middle - 4}" y2="{middle + 4}"/>'
                for x in (low, high)
            ]
        if not bars:
            marks.append(f'<circle class="dot" cx="{axis.at(estimate.value)}" cy="{middle}" r="5"/>')
        parts.append(f"<g><title>{escape(f'{label}: {text}')}</title>{''.join(marks)}</g>")
    listed = "; ".join(f"{label}: {text}" for label, text in zip(labels, texts, strict=True))
    return _svg(bottom + 22, title, listed, parts)


class Bins:
    """Equal bins of whole numbers from 1 to ``highest``.

    Args:
        highest: at least 1.
        most: bins.
    """

    def __init__(self, highest: int, most: int = 30) -> None:
        self.width = max(1, round(nice_step(highest, most)))
        self.number = math.ceil(highest / self.width)
        self.axis = Axis(0, self.width * self.number)

    def shares(self, values: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of ``values`` in each bin, float64 ``[bins]``; values below 1 are in none."""
        where = (values[values >= 1] - 1) // self.width
        return np.asarray(np.bincount(where, minlength=self.number) / len(values), np.float64)


def histogram(title: str, shares: NDArray[np.float64], bins: Bins, highest: float) -> str:
    """Bars for the shares that `Bins.shares` gives.

    Args:
        title: names the chart.
        shares: float64 ``[bins]``.
        bins: what they are shares of.
        highest: the share at full height, common to charts that are to be compared.
    """
    height, parts = 84, []
    for value in bins.axis.ticks(5):
        x = bins.axis.at(value)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{height}"/>')
        parts.append(_text(x, height + 15, f"{value:g}", "middle", "muted"))
    for i, share in enumerate(shares.tolist()):
        if share > 0:
            left, right = bins.axis.place(i * bins.width), bins.axis.place((i + 1) * bins.width)
            tall = height * share / highest
            first, last = i * bins.width + 1, (i + 1) * bins.width
            span = f"{first}" if first == last else f"{first} to {last}"
            parts.append(
                f'<rect class="bar" x="{left:.2f}%" y="{height - tall:.2f}" '
                f'width="{right - left - 0.15:.2f}%" height="{tall:.2f}">'
                f"<title>{span} points: {share:.1%}</title></rect>"
            )
    parts.append(f'<line class="base" x1="{_EDGE}%" x2="{100 - _EDGE}%" y1="{height}" y2="{height}"/>')
    return _svg(height + 20, title, f"Highest bar: {shares.max():.1%} of the games.", parts)


def _aside(x: float, y: float, placed: Sequence[tuple[float, float, int]]) -> int:
    """Steps to the right that keep a dot of `scatter` from covering one placed before."""
    near = {steps for x_old, y_old, steps in placed if abs(x - x_old) < 5 and abs(y - y_old) < 18}
    return next(steps for steps in range(len(placed) + 1) if steps not in near)


def scatter(
    title: str, points: Sequence[tuple[str, str, float, Estimate]], across: str, up: str, reference: float
) -> str:
    """Numbered points: x on a logarithmic axis, y in percent with its interval.

    Dots that would cover each other stand side by side. The text of the y axis lies at the left of the image,
    which must have 44 pixels free there.

    Args:
        title: names the chart.
        points: number, label, x (above 0) and y of each point.
        across: what x is.
        up: what y is.
        reference: where a dashed line is drawn across.
    """
    height, top = 260, 20
    logs = [math.log10(x) for _, _, x, _ in points]
    x_axis = Axis(math.floor(min(logs) - 0.15), math.ceil(max(logs) + 0.15))
    y_values = [v for *_, y in points for v in y]
    y_axis = Axis.around([*y_values, reference], 0.1)

    def y_of(value: float) -> float:
        return top + height * (1 - (value - y_axis.low) / (y_axis.high - y_axis.low))

    bottom = top + height
    parts = [_text("0", 12, up, cls="muted"), _text("100%", bottom + 34, across, "end", "muted")]
    for value in y_axis.ticks(5):
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y_of(value):.1f}" y2="{y_of(value):.1f}"/>')
        parts.append(_text("-6", round(y_of(value) + 4, 1), percent(value), "end", "muted"))
    for power in range(round(x_axis.low), round(x_axis.high) + 1):
        at = x_axis.at(power)
        parts.append(f'<line class="grid" x1="{at}" x2="{at}" y1="{top}" y2="{bottom}"/>')
        parts.append(_text(at, bottom + 15, f"{10.0**power:g}", "middle", "muted"))
    y = f"{y_of(reference):.1f}"
    parts.append(f'<line class="reference" x1="0" x2="100%" y1="{y}" y2="{y}"/>')
    placed: list[tuple[float, float, int]] = []
    for (number, label, x_value, estimate), log in zip(points, logs, strict=True):
        x, y_dot = x_axis.place(log), y_of(estimate.value)
        aside = _aside(x, y_dot, placed)
        placed.append((x, y_dot, aside))
        marks = [f'<circle class="dot" cx="{x:.2f}%" cy="{y_dot:.1f}" r="9"/>']
        if math.isfinite(estimate.low):
            low, high = f"{y_of(estimate.low):.1f}", f"{y_of(estimate.high):.1f}"
            marks.insert(0, f'<line class="whisker" x1="{x:.2f}%" x2="{x:.2f}%" y1="{low}" y2="{high}"/>')
        marks.append(_text(f"{x:.2f}%", round(y_dot + 4, 1), number, "middle", "on-dot"))
        said = escape(f"{number} {label}: {x_value:.3g} ms, {estimate.value:.1%}")
        moved = f' transform="translate({20 * aside} 0)"' if aside else ""
        parts.append(f"<g{moved}><title>{said}</title>{''.join(marks)}</g>")
    listed = "; ".join(f"{i} {label}: {x:.3g} ms, {y.value:.1%}" for i, label, x, y in points)
    return _svg(bottom + 40, title, listed, parts)
