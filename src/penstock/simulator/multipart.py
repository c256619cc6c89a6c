"""Forms with a file, as browsers and SDKs send them (multipart/form-data)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Part", "form"]

_BOUNDARY = re.compile(r'boundary=(?:"([^"]+)"|([^\s;]+))')
_NAME = re.compile(rb'[;\s]name="([^"]*)"')
_FILE = re.compile(rb'[;\s]filename="([^"]*)"')


class Part(NamedTuple):
    """One field; `filename` is None unless it is a file."""

    filename: str | None
    data: memoryview

    @property
    def text(self) -> str:
        """What a plain field says."""
        return bytes(self.data).decode("utf-8", "replace")


def form(content_type: str, body: bytes) -> dict[str, Part] | None:
    """The fields by their names, or None where the body is no form. Files are not copied."""
    found = _BOUNDARY.search(content_type)
    if not content_type.startswith("multipart/form-data") or found is None:
        return None
    return dict(_parts(body, b"--" + (found[1] or found[2]).encode("latin-1")))


def _parts(body: bytes, boundary: bytes) -> Iterator[tuple[str, Part]]:
    view = memoryview(body)
    start = body.find(boundary)
    while start >= 0 and not body.startswith(b"--", start + len(boundary)):
        head = start + len(boundary) + 2
        data = body.find(b"\r\n\r\n", head) + 4
        end = body.find(b"\r\n" + boundary, data)
        if data < 4 or end < 0:
            return
        said = body[head : data - 2]
        name, file = _NAME.search(said), _FILE.search(said)
        if name is not None:
            filename = file[1].decode("utf-8", "replace") if file else None
            yield name[1].decode("utf-8", "replace"), Part(filename, view[data:end])
        start = end + 2
