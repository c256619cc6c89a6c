"""The openai SDK with a semaphore, which is what people write first; nothing is recorded."""

import asyncio

from common import PROMPT, measure
from openai import AsyncOpenAI


def work(url: str, rows: int, concurrency: int) -> int:
    return asyncio.run(ask_all(url, rows, concurrency))


async def ask_all(url: str, rows: int, concurrency: int) -> int:
    client = AsyncOpenAI(base_url=url, api_key="a-key-of-no-worth")
    semaphore = asyncio.Semaphore(concurrency)

    async def one(number: int) -> str | None:
        async with semaphore:
            message = {"role": "user", "content": PROMPT.format(number)}
            made = await client.chat.completions.create(model="simulated-fixed", messages=[message])
            return made.choices[0].message.content

    return sum(bool(text) for text in await asyncio.gather(*map(one, range(rows))))


measure(work)
