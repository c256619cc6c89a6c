"""Statistics of benchmarks and red-teaming: how far a number can be trusted, and what differs.

    print(wilson(71, 100))                     # a share with limits
    print(compare(old_scores, new_scores))     # two runs, item by item, in words

Pure functions on numbers, the standard library only; what is drawn by chance has a seed and is the
same every time.

    interval.py       a value with its limits
    proportions.py    shares: Wilson; paired: risk difference, odds ratio
    means.py          means by Student's t, cluster-robust
    bootstrap.py      anything, by resampling
    epochs.py         several samples of one item as one value: pass@k and others
    significance.py   McNemar, permutation, Wilcoxon, Holm
    comparison.py     two runs item by item, with all of the above
    judged.py         a rate corrected for the errors of the judge that measured it
    power.py          what so many items can show
"""

from __future__ import annotations

from penstock.metrics.statistics.bootstrap import bootstrap, bootstrap_difference
from penstock.metrics.statistics.comparison import Comparison, compare, holm_corrected
from penstock.metrics.statistics.epochs import (
    Reducer,
    at_least,
    mode,
    pass_all_k,
    pass_at_k,
    reducer,
)
from penstock.metrics.statistics.interval import Interval
from penstock.metrics.statistics.judged import JudgeAccuracy, corrected_rate
from penstock.metrics.statistics.means import (
    clustered_error,
    clustered_interval,
    cohens_d,
    mean_interval,
)
from penstock.metrics.statistics.power import items_needed, smallest_difference
from penstock.metrics.statistics.proportions import Pairs, odds_ratio, risk_difference, wilson
from penstock.metrics.statistics.significance import (
    Evidence,
    holm,
    mcnemar,
    permutation_test,
    wilcoxon,
)

__all__ = [
    "Comparison",
    "Evidence",
    "Interval",
    "JudgeAccuracy",
    "Pairs",
    "Reducer",
    "at_least",
    "bootstrap",
    "bootstrap_difference",
    "clustered_error",
    "clustered_interval",
    "cohens_d",
    "compare",
    "corrected_rate",
    "holm",
    "holm_corrected",
    "items_needed",
    "mcnemar",
    "mean_interval",
    "mode",
    "odds_ratio",
    "pass_all_k",
    "pass_at_k",
    "permutation_test",
    "reducer",
    "risk_difference",
    "smallest_difference",
    "wilcoxon",
    "wilson",
]
