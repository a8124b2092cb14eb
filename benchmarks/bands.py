"""How often 95% intervals may be seen to hold the truth, for ``python -m benchmarks.intervals``.

Each band is worked out from the plan of the run (repeats, deals, what is estimated) and from no result of it.
With R repeats, D deals, and the other constants below:

- Each of the k values of a row (4 bots, 6 pairs) is in or out R times; those of one tournament depend on each
  other, so the mean share has the binomial error of ``independent * R`` tries, of which `ERRORS` are allowed.
- Estimates that correlate by r are out together: for normal ones the two misses correlate by 0.55 r^2 +
  0.03 r^4 (Mehler's expansion of the bivariate normal distribution, outside of +-1.96). Four equal bots
  whose values have a fixed sum have r = -1/3, so their row is worth 4 R / 1.19 = 3.4 R tries; their six
  pairs have r = 1/2 four times and 0 once, 6 R / 1.56 = 3.8 R. `EQUAL` is 3. Where nothing fixes the
  correlations, `OTHER` is 2: enough for r up to 0.7 (root mean square), 2.1 R for 4 values and 2.5 R for 6.
- Few deals: Student's interval of a skew mean misses more often, by 0.229 (1.08 skew^2 - 0.07 kurtosis) / D
  (P. Hall, "The Bootstrap and Edgeworth Expansion", 1992, chapter 2, at 1.96; 0.229 = 2 * 1.96 phi(1.96)).
  `SKEW` allows for a skewness of 1.1, `KURTOSIS` for an excess kurtosis of 6, in the mean over the bots. The
  arena's intervals agree with Student's for normal values, and are taken to do about as well for others.
- Whole wins: estimates that are multiples of 1/(4 D) may lie on the limit, which counts as held, half a step
  too much at either end. With the spread of 0.25 that docs/arena.md finds for a deal's win share, that
  is 2 phi(1.96) * (1/(8 D)) / (0.25 / sqrt(D)), `STEP` / sqrt(D).
- A truth that a tournament of T deals found is itself off. The intervals are then off by x = sqrt(D/T) of
  their own standard errors times a normal value, which costs 1.96 phi(1.96) x^2; `OFF` is that for the
  mean square of three normal values that only one of 1000 runs exceeds (5.42, chi-square).
- A protocol's score is given the limits of its smallest table, which are wider than those of a table of
  endless deals by a factor that `mt_env.arena.stats.tail` knows.
"""

from __future__ import annotations

from typing import Final

from mt_env.arena.stats import LEVEL, tail

ASKED: Final = (0.92, 0.98)
"""What is asked for win shares of equal bots, whatever the plan."""

ERRORS: Final = 3.0
"""Standard errors: 0.3% of the rows would lie outside by chance."""
EQUAL: Final = 3
OTHER: Final = 2
SKEW: Final = 0.3
KURTOSIS: Final = 0.1
STEP: Final = 0.06
OFF: Final = 0.62


def band(
    independent: int,
    repeats: int,
    deals: int,
    *,
    steps: bool,
    found: int | None = None,
    smallest: bool = False,
) -> tuple[float, float]:
    """Lowest and highest share of intervals held that a row may have.

    Args:
        independent: `EQUAL` or `OTHER`.
        repeats: tournaments.
        deals: of each.
        steps: whether the estimates are whole wins of few deals.
        found: deals of the tournament that found the truth; None where it is known.
        smallest: whether it is a score whose smallest table has so many deals.
    """
    error = ERRORS * (LEVEL * (1 - LEVEL) / (independent * repeats)) ** 0.5
    low = LEVEL - error - SKEW / deals
    high = LEVEL + error + KURTOSIS / deals
    if steps:
        high += STEP / deals**0.5
    if found is not None:
        low -= OFF * deals / found
    if smallest:
        high += 1 - 2 * tail(deals) - LEVEL
    return low, min(high, 1.0)
