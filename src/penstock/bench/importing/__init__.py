"""What others have, brought into the workspace: Moonshot's data folders, tables, datasets of a hub.

folder.py      a Moonshot data folder, kind by kind; one bad file takes no other with it
finding.py     its files, and what they say, with lines; nothing in it is ever executed
endpoints.py   with connectors.py: a connector and its parameters as an endpoint
datasets.py    with targets.py: examples as rows, and what would be right of them
recipes.py     with metricmap.py and judges.py: metrics, whom they ask, and gradings
tabular.py     a dataset from a table; hub.py: from Hugging Face
placing.py     onto the shelves: what is there and equal stays, what differs is told
report.py      what came of it
"""

from __future__ import annotations

from penstock.bench.importing.folder import import_folder
from penstock.bench.importing.hub import import_hub
from penstock.bench.importing.report import Backwards, Imported, Trouble, Unmapped
from penstock.bench.importing.tabular import import_dataset

__all__ = [
    "Backwards",
    "Imported",
    "Trouble",
    "Unmapped",
    "import_dataset",
    "import_folder",
    "import_hub",
]
