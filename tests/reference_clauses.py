"""What the referee counts.

A label is a clause and, where one clause holds several decisions, a few words for which of them it was. A
full test run must have seen every label: a clause that never decided anything was not tested.
"""

from __future__ import annotations

from collections import Counter

CLAUSES: Counter[str] = Counter()
"""How often each clause decided something since the program started."""

# Every label that a full test run must have seen in CLAUSES at least once.
ALL_CLAUSES: tuple[str, ...] = tuple(
    label.strip()
    for label in """
    R2.1 table spruce | R2.1 table wikihow | R2.1 table dominos_cc | R2.1 table cover | R2.1 set given
    R2.1 set and hand_size given | R2.2 dealt | R2.2 set_aside | R2.3 engines | R2.4 holder lays
    R2.4 hunt | R2.4 hunted tiles kept | R2.5 leader | R2.6 whole set dealt
    R3.1 own train | R3.1 Mexican Train | R3.1 marked train | R3.1 closed train | R3.2 must play
    R3.3 draw | R3.3 must | R3.3 may | R3.3 may keep | R3.3 misfit | R3.3 empty boneyard | R3.3 need
    R3.3 turn | R3.4 marks | R3.4 after a double | R3.4 not begun | R3.4 one marker
    R3.4 drawn tile elsewhere
    R3.5 comes off | R3.5 cover | R3.5 stays, owner elsewhere | R3.5 stays, tile of another | R3.6 wraps
    R4.1 own train only | R4.1 must begin | R4.1 may stop | R4.1 stop | R4.1 cannot begin | R4.1 emptied hand
    R4.1 double owes nothing | R4.1 binds yes | R4.1 binds no | R4.1 binds not in lap 1
    R4.1 opening double covered | R4.2 single | R4.3 lap_1 | R4.3 lap_2 | R4.3 later
    R4.4 yes, lap 1 | R4.4 yes, own first | R4.4 yes, Mexican not begun | R4.4 yes, Mexican begun
    R4.4 cover allowed | R4.4 no | R4.5 others begin | R4.5 marker stays | R4.6 lap is finished
    R4.6 several out
    R5.1 owes | R5.1 double pays | R5.2 anywhere | R5.2 on_double | R5.3 draws | R5.3 left open
    R5.4 binds | R5.4 cover ends turn | R5.4 closed train | R5.4 duty goes on | R5.5 oldest | R5.5 any
    R5.6 binds | R5.6 lifts | R5.6 lifts when laid | R5.7 yes | R5.7 waits | R5.7 non-double out
    R5.7 drawn non-double out | R5.7 waits then out | R5.7 dead double out | R5.7 opening double out
    R5.8 stays closed | R6.1 out | R6.2 passes | R6.2 play resets | R6.2 full boneyard | R6.2 kept tile
    R6.2 lap 1 pass | R6.2 stop is no pass | R6.2 stuck | R6.2 stuck, somebody can | R6.2 stuck not in lap 1
    R6.3 hand | R6.3 out scores 0 | R6.3 blocked | R6.3 double_blank counts | R6.3 double_blank is 0
    R7.1 lowest total | R7.2 zero_rounds | R7.2 lowest round | R7.2 zero_rounds shared | R7.2 shared
    """.replace("\n", "|").split("|")
    if label.strip()
)


def decided(label: str, outcome: bool = True) -> bool:
    """Note that the clause ``label`` decided something; hands ``outcome`` through."""
    CLAUSES[label] += 1
    return outcome
