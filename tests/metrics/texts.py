"""Texts to score: fixed ones with every kind of trouble, and generated ones that share words."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

patient = settings(deadline=None)
"""For a machine that has other work."""

WORDS = (
    *("the", "cat", "cats", "sat", "sitting", "on", "mat", "a", "running", "relational", "happily"),
    *("The", "U.S.", "3.14", "1,000", "pre-war", "2-3", "it's", '"quoted"', "(so)", "&amp;", "..."),
    *(
        "naïve",
        "Straße",
        "ΣΑΣ",
        "ﬁne",
        "日本",
        "語",
        "机器学习",
        "ไทย",
        "🙂",
        "👩‍👩‍👧",
        "e\u0301",
        "<skipped>",
    ),
    *("a.b", ",5", ".,5", "5..", "-", "9-", "x&y", "\u3000", "\u200b", "_", "K"),
)
FIXED = (
    *("", " ", "\n", "\t\u3000", ".", "word", "the cat sat on the mat", "The cat sat on the mat."),
    *(
        "a a a a a a",
        "日本語のテキスト",
        "机器学习 很有趣。",
        "🙂🙂🙂",
        "don't stop-\nnow",
        "1,000.5 -3 9-3",
    ),
    *("one line\nanother line\n\nthird", "&quot;x&quot; &lt;b&gt; &amp;amp;", "x" * 5000),
)

some_words = st.lists(st.sampled_from(WORDS), max_size=14).flatmap(
    lambda words: st.sampled_from((" ", "\n", "  ", "")).map(lambda space: space.join(words))
)
texts = st.one_of(some_words, some_words, st.sampled_from(FIXED), st.text(max_size=60))
worded = texts.filter(lambda text: bool(text.split()))
