"""Encodings of bytes and code points: Base64 and its kin, numbers, percent signs, entities."""

from __future__ import annotations

import base64
import re
from random import Random
from urllib.parse import quote, unquote_to_bytes

from pydantic import Field

from penstock.redteam.attacks import papers
from penstock.redteam.attacks.coded import Coded, octets, text_of

__all__ = ["AsciiCodes", "Base32", "Base64", "Binary", "Hex", "HtmlEntities", "Octal", "Url"]


class Base64(Coded):
    """The prompt in Base64."""

    name = "base64"
    paper = papers.JAILBROKEN
    code = "Base64"

    def encode(self, prompt: str, random: Random) -> str:
        return base64.b64encode(octets(prompt)).decode("ascii")

    def read(self, coded: str) -> str:
        return text_of(base64.b64decode(coded, validate=True))


class Base32(Coded):
    """The prompt in Base32."""

    name = "base32"
    code = "Base32"

    def encode(self, prompt: str, random: Random) -> str:
        return base64.b32encode(octets(prompt)).decode("ascii")

    def read(self, coded: str) -> str:
        return text_of(base64.b32decode(coded))


class Hex(Coded):
    """The prompt's bytes as hexadecimal digits."""

    name = "hex"
    code = "hexadecimal (UTF-8)"

    def encode(self, prompt: str, random: Random) -> str:
        return octets(prompt).hex()

    def read(self, coded: str) -> str:
        return text_of(bytes.fromhex(coded))


class Binary(Coded):
    """The prompt's bytes as groups of eight zeros and ones."""

    name = "binary"
    code = "binary (UTF-8, eight bits a byte)"

    def encode(self, prompt: str, random: Random) -> str:
        return " ".join(f"{each:08b}" for each in octets(prompt))

    def read(self, coded: str) -> str:
        return text_of(bytes(int(each, 2) for each in coded.split()))


class Octal(Coded):
    """The prompt's bytes as octal numbers of three digits."""

    name = "octal"
    code = "octal numbers, one for each byte of UTF-8"

    def encode(self, prompt: str, random: Random) -> str:
        return " ".join(f"{each:03o}" for each in octets(prompt))

    def read(self, coded: str) -> str:
        return text_of(bytes(int(each, 8) for each in coded.split()))


class AsciiCodes(Coded):
    """Each character as its number in ASCII, or in Unicode beyond it."""

    name = "ascii_codes"
    paper = papers.CIPHERCHAT
    code = "decimal character codes (ASCII, Unicode beyond it)"

    def encode(self, prompt: str, random: Random) -> str:
        return " ".join(str(ord(each)) for each in prompt)

    def read(self, coded: str) -> str:
        return "".join(chr(int(each)) for each in coded.split())


class Url(Coded):
    """The prompt with percent signs, as in the address of a page."""

    name = "url_encoding"
    code = "URL (percent) encoding"

    every: bool = Field(
        default=True, description="Also letters and digits; else only what URLs demand."
    )

    def encode(self, prompt: str, random: Random) -> str:
        data = octets(prompt)
        return "".join(f"%{each:02X}" for each in data) if self.every else quote(data, safe="")

    def read(self, coded: str) -> str:
        return text_of(unquote_to_bytes(coded))


class HtmlEntities(Coded):
    """Each character as a numeric entity of HTML."""

    name = "html_entities"
    code = "HTML character entities"

    def encode(self, prompt: str, random: Random) -> str:
        return "".join(f"&#{ord(each)};" for each in prompt)

    def read(self, coded: str) -> str:
        return re.sub(r"&#([0-9]+);", lambda found: chr(int(found[1])), coded)
