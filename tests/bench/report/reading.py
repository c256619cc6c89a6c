"""A page read as people see it: its tables, its texts."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["Read", "read"]

_VOID = {"meta", "input", "wbr", "link", "br"}


class Read(HTMLParser):
    """The cells of every row, and all the text there is, without style and script."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self.sections: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in _VOID:
            return
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "h2":
            self.sections.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if {"style", "script"} & set(self._open):
            return
        self.texts.append(data)
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data
        if "h2" in self._open:
            self.sections[-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def read(html: str) -> Read:
    found = Read()
    found.feed(html)
    return found
