"""What is disturbed: how it is prepared, run, checked right after the fault, and what it gives.

``run`` is the command; run again it must finish the work. ``check`` raises if something is lost or
half-written. ``result`` is what an undisturbed run gives, in plain values. ``more`` is the
pattern of files that may be there although an undisturbed run has none.
"""

from commands import Answers, Init, Label, Next, Report, Select
from runs import Compare, Notebooks, Prepare, Records, Tables

SCENARIOS = {
    kind.__name__.lower(): kind
    for kind in (Next, Label, Answers, Init, Select, Report)
    + (Prepare, Records, Tables, Compare, Notebooks)
}
