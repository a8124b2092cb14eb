"""How fast everything is: ``python -m benchmarks`` (or ``make bench``) measures, docs/performance.md tells.

`cases` says what is measured, `start` measures the first use in a new process, `measure` is the method,
`report` writes tables.
"""

import os

# Before anything imports NumPy: one thread, whose CPU time is then all there is.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
