"""chatan: the schema of its own quick start."""

import asyncio
import os

from common import measure


def work(url: str, rows: int, concurrency: int) -> int:
    os.environ.update(OPENAI_BASE_URL=url, OPENAI_API_KEY="a-key-of-no-worth")
    import chatan

    async def main() -> int:
        gen = chatan.generator("openai", "a-key-of-no-worth", model="simulated-fixed")
        ds = chatan.dataset(
            {
                "language": chatan.sample.choice(["Python", "JavaScript", "Rust"]),
                "difficulty": chatan.sample.weighted({"easy": 0.5, "medium": 0.3, "hard": 0.2}),
                "question": gen("Write a {difficulty} coding question about {language}"),
                "solution": gen("Provide a solution for: {question}"),
            }
        )
        made = await ds.generate(n=rows, max_concurrent_rows=concurrency)
        return len(made)

    return asyncio.run(main())


measure(work)
