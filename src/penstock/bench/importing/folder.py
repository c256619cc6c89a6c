"""A Moonshot data folder, brought in as it is.

Kind by kind, what is named before what names it. Each file stands for itself: whatever is wrong
with one is told, and the others go in.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from penstock.bench.importing.datasets import import_examples
from penstock.bench.importing.endpoints import endpoint_spec
from penstock.bench.importing.finding import Found, found_in, metrics_config, read
from penstock.bench.importing.judges import Judges
from penstock.bench.importing.placing import place, place_endpoint
from penstock.bench.importing.recipes import Recipes, cookbook_of
from penstock.bench.importing.report import Imported, Tally
from penstock.bench.objects import Template
from penstock.bench.shelves import Shelves
from penstock.engine.workbench import Workbench

__all__ = ["import_folder"]

_Step: TypeAlias = Callable[[Found], bool]


def import_folder(
    folder: Path, bench: Workbench, *, fix_grading: bool = False, overwrite: bool = False
) -> Imported:
    """Bring a Moonshot data folder into the workspace.

    Nothing in it is executed, and no token is kept. What is there already and differs is left as it
    is, unless `overwrite`. A grading that runs against its metric is told, and with `fix_grading`
    turned round. Raises InputError for a folder that holds nothing of Moonshot's.
    """
    importer = _Importer(Path(folder), bench, fix_grading=fix_grading, overwrite=overwrite)
    return importer.done()


class _Importer:
    def __init__(
        self, folder: Path, bench: Workbench, *, fix_grading: bool, overwrite: bool
    ) -> None:
        self._folder = folder
        self._bench = bench
        self._fix_grading = fix_grading
        self._overwrite = overwrite
        self._tally = Tally()
        self._shelves = Shelves(bench)

    def done(self) -> Imported:
        found = found_in(self._folder, self._tally)
        self._bench.workspace.prepare()
        steps = {
            "endpoint": self._endpoint,
            "dataset": self._dataset,
            "template": self._template,
        }
        for kind, step in steps.items():
            self._each(kind, found[kind], step)
        recipes = self._recipes()
        self._each("recipe", found["recipe"], lambda each: self._recipe(each, recipes))
        self._each("cookbook", found["cookbook"], self._cookbook)
        return self._tally.result()

    def _each(self, kind: str, found: list[Found], step: _Step) -> None:
        for each in found:
            with self._tally.trying(kind, each.id, each.file):
                new = step(each)
                self._tally.placed(kind, each.id, new=new)

    def _endpoint(self, found: Found) -> bool:
        spec = endpoint_spec(found.id, read(found), self._tally)
        return place_endpoint(self._bench, found.id, spec, overwrite=self._overwrite)

    def _dataset(self, found: Found) -> bool:
        shelf = self._shelves.datasets
        return import_examples(found, shelf, self._tally, overwrite=self._overwrite)

    def _template(self, found: Found) -> bool:
        written = read(found)
        given = {key: written.data.get(key) for key in ("name", "description", "template")}
        data = {key: value for key, value in given.items() if value is not None}
        made = Template.made(data, written.file, written.document)
        self._tally.note_unused(written.data, {*given, "id"}, "template", found.id)
        return place(self._shelves.templates, found.id, made, overwrite=self._overwrite)

    def _recipe(self, found: Found, recipes: Recipes) -> bool:
        shelf = self._shelves.recipes
        return recipes.bring(
            found.id,
            read(found),
            lambda made: place(shelf, found.id, made, overwrite=self._overwrite),
        )

    def _cookbook(self, found: Found) -> bool:
        made = cookbook_of(found.id, read(found), self._shelves.recipes.__contains__, self._tally)
        return place(self._shelves.cookbooks, found.id, made, overwrite=self._overwrite)

    def _recipes(self) -> Recipes:
        shelves = self._shelves
        return Recipes(
            shelves.datasets.__contains__,
            shelves.templates.__contains__,
            self._judges(),
            self._tally,
            self._fix_grading,
        )

    def _judges(self) -> Judges:
        def there(name: str) -> bool:
            return self._bench.catalog.endpoint(name) is not None

        judges = Judges({}, there)
        found = metrics_config(self._folder)
        if found is not None:
            with self._tally.trying("metric", "", found.file):
                judges = Judges.read(read(found), there, self._tally)
        return judges
