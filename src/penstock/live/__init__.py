"""The page that fills while a run goes on.

Feed          written by the run: its rows, as they are finished
FeedReader    pages of it, for whoever looks on
Look          the run as a page sees it
Viewer        the page, served to this machine alone
"""

from __future__ import annotations

from penstock.live.feed import Feed
from penstock.live.look import Look
from penstock.live.reader import FeedReader
from penstock.live.viewer import Viewer

__all__ = ["Feed", "FeedReader", "Look", "Viewer"]
