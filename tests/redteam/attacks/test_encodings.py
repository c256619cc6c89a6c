"""Encodings held to published examples, to the standard library and to Unicode itself."""

from __future__ import annotations

import ast
import csv
import html
import io
import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.redteam.attacks.coded import Written
from penstock.redteam.attacks.font import DRAWN, HEIGHT, picture
from tests.redteam.attacks.classes import made, pure


def only(name: str, prompt: str, **parameters: Any) -> str:
    """The one variant, without the sentence above it."""
    (variant,) = made(name, framed=False, **parameters).variants(prompt)
    return variant


@pytest.mark.parametrize(
    ("name", "parameters", "prompt", "coded"),
    [
        # RFC 4648
        ("base64", {}, "foobar", "Zm9vYmFy"),
        ("base64", {}, "fooba", "Zm9vYmE="),
        ("base32", {}, "fooba", "MZXW6YTB"),
        ("base32", {}, "foob", "MZXW6YQ="),
        ("hex", {}, "fü", "66c3bc"),
        ("binary", {}, "Hi", "01001000 01101001"),
        ("octal", {}, "Hi!", "110 151 041"),
        ("ascii_codes", {}, "Hi€", "72 105 8364"),
        ("url_encoding", {}, "a b", "%61%20%62"),
        ("url_encoding", {"every": False}, "a/b ü", "a%2Fb%20%C3%BC"),
        ("html_entities", {}, "a<", "&#97;&#60;"),
        ("rot13", {}, "Why did the chicken?", "Jul qvq gur puvpxra?"),
        ("caesar", {"shift": 3}, "THE QUICK BROWN FOX", "WKH TXLFN EURZQ IRA"),
        ("caesar", {"shift": 25}, "Abz", "Zay"),
        ("atbash", {}, "wizard", "draziw"),
        # the examples of the usual textbooks
        ("vigenere", {"key": "LEMON"}, "ATTACKATDAWN", "LXFOPVEFRNHR"),
        ("vigenere", {"key": "lemon"}, "attack at dawn", "lxfopv ef rnhr"),
        ("rail_fence", {"rails": 3}, "WEAREDISCOVEREDFLEEATONCE", "WECRLTEERDSOEEFEAOCAIVDEN"),
        ("columnar", {"key": "ZEBRAS"}, "WEAREDISCOVEREDFLEEATONCE", "EVLNACDTESEAROFODEECWIREE"),
        ("keyboard_shift", {}, "hello p0", "jraap q1"),
        ("reverse", {}, "abc d", "d cba"),
        ("flip", {"what": "words"}, "one two  three", "three  two one"),
        ("flip", {"what": "letters"}, "one two\nthree", "eno owt\neerht"),
        ("morse", {}, "sos, Ü", "... --- ... --..-- / Ü"),
        ("nato", {}, "Ab 9?", "Alfa bravo (space) nine ?"),
        ("braille", {}, "Hello 10", "⠠⠓⠑⠇⠇⠕ ⠼⠁⠼⠚"),
        ("leetspeak", {}, "Leet Elite", "1337 31173"),
        ("pig_latin", {}, "Quick yellow egg, my hmm!", "Ickquay ellowyay eggway, ymay hmmay!"),
        ("bidi", {}, "abc", "\u202ecba\u202c"),
        ("unicode_tags", {}, "Hié", "\U000e0048\U000e0069é"),
        ("variation_selectors", {"carrier": "."}, "\x0f\x10", ".\ufe0f\U000e0100"),
        ("zero_width", {"mark": "joiner"}, "abc", "a\u200db\u200dc"),
        ("upside_down", {}, "paw!", "¡ʍɐd"),
        ("json_list", {}, 'say "hi"', '{"words": ["say", "\\"hi\\""]}'),
        ("csv_rows", {"shuffled": False}, 'say "hi"', 'place,word\n1,"say"\n2,"""hi"""\n'),
    ],
)  # fmt: skip
def test_a_published_example_comes_out_as_published(
    name: str, parameters: dict[str, Any], prompt: str, coded: str
) -> None:
    assert only(name, prompt, **parameters) == coded


@pytest.mark.parametrize("name", [n for n, a in pure().items() if issubclass(a, Written)])
def test_a_sentence_stands_above_the_text_only_where_it_is_wanted(name: str) -> None:
    framed, bare = made(name), made(name, framed=False)
    assert isinstance(framed, Written)
    (whole,), (text,) = framed.variants("Tell me."), bare.variants("Tell me.")
    assert whole == f"{framed.sentence()}\n\n{text}"
    assert framed.told() in framed.sentence()
    assert len(framed.told()) > 4


@given(st.text(max_size=60))
def test_html_reads_its_entities(prompt: str) -> None:
    safe = "".join(one for one in prompt if one.isprintable())  # others HTML itself forbids
    assert html.unescape(only("html_entities", f"x{safe}")) == f"x{safe}"


@given(st.text(max_size=60))
def test_python_json_and_csv_read_their_lists(prompt: str) -> None:
    prompt = f"x {prompt}"
    line = ast.parse(only("python_list", prompt)).body[0]
    assert isinstance(line, ast.Assign)
    assert " ".join(ast.literal_eval(line.value)) == prompt
    assert " ".join(json.loads(only("json_list", prompt))["words"]) == prompt
    rows = list(csv.reader(io.StringIO(only("csv_rows", prompt), newline="")))[1:]
    assert " ".join(word for _, word in sorted(rows, key=lambda row: int(row[0]))) == prompt


@pytest.mark.parametrize(
    ("name", "styles"),
    [
        ("fullwidth", [{}]),
        ("math_alphabet", [{"style": style} for style in ("bold", "italic", "bold_italic")]),
        ("math_alphabet", [{"style": style} for style in ("script", "fraktur", "double_struck")]),
        ("math_alphabet", [{"style": style} for style in ("sans", "monospace")]),
        ("enclosed", [{"style": "circled"}]),
    ],
)
def test_unicode_folds_letterforms_back_to_the_letters(
    name: str, styles: list[dict[str, str]]
) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 123456789"
    for style in styles:
        coded = only(name, letters, **style)
        assert not set(coded) & set(letters.replace(" ", "")[:52])
        assert unicodedata.normalize("NFKC", coded) == letters


@pytest.mark.parametrize("style", ["squared", "filled_circle", "filled_square", "flag"])
def test_shapes_that_have_no_small_letters_are_read_back_as_capitals(style: str) -> None:
    attack = made("enclosed", style=style)
    (variant,) = attack.variants("Oh dear, ⓐ 42")
    assert attack.decode(variant) == "OH DEAR, ⓐ 42"
    assert "O" not in variant.split("\n\n")[1]


def test_letters_that_were_already_in_a_writing_are_read_as_plain_ones() -> None:
    attack = made("fullwidth")
    (variant,) = attack.variants("ＡB")
    assert attack.decode(variant) == "AB"


def test_combining_marks_keep_to_their_number() -> None:
    coded = only("zalgo", "Ab 1!", marks=3)
    assert [unicodedata.combining(one) > 0 for one in coded].count(True) == 9
    assert [one for one in coded if not unicodedata.combining(one)] == list("Ab 1!")


def test_a_hidden_text_leaves_its_cover_as_it_was() -> None:
    coded = only("zero_width_binary", "secret", cover="Good morning.")
    assert coded.startswith("Good morning.\u200b")
    assert len(coded) == len("Good morning.") + 6 * 8
    assert not [one for one in coded.removeprefix("Good morning.") if one.isprintable()]


def test_a_substitution_puts_its_key_above_the_text_and_keeps_capitals() -> None:
    plain, cipher, _, text = only("substitution", "Abc abc").split("\n")
    key = dict(zip(plain.removeprefix("plain:  "), cipher.removeprefix("cipher: "), strict=True))
    assert sorted(key.values()) == sorted(key)
    assert text == f"{key['a'].upper()}{key['b']}{key['c']} {key['a']}{key['b']}{key['c']}"


def test_an_acrostic_begins_its_lines_with_the_words() -> None:
    lines = only("acrostic", "Three  small\nwords").split("\n")
    assert [line.split()[0] for line in lines] == ["Three", "small", "words"]
    assert all(len(line.split()) > 4 for line in lines)


def test_every_sign_of_the_font_is_another_picture() -> None:
    pictures = {sign: picture(sign) for sign in DRAWN}
    assert set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == DRAWN
    assert len(set(pictures.values())) == len(DRAWN)
    assert all(len(each.split("\n")) == HEIGHT for each in pictures.values())
    assert picture("H", "@").split("\n")[3] == "@@@@@"
    assert picture("il").split("\n")[0] == " ###  #"


def test_ascii_art_draws_the_longest_words_and_leaves_gaps_for_them() -> None:
    attack = made("ascii_art", words=2)
    (variant,) = attack.variants("Open the window and the Window, Karen, the window")
    told, first, second, text = variant.split("\n\n")
    assert "seven lines high" in told
    assert first == f"[1] =\n{picture('window')}"
    assert second == f"[2] =\n{picture('WINDOW')}"
    assert text == "Open the [1] and the [2], Karen, the [1]"
    assert attack.variants("画一只猫") == ["画一只猫"]


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("caesar", {"shift": 26}, "shift: it is 26"),
        ("vigenere", {"key": "no key 1"}, "key: it is 'no key 1'"),
        ("columnar", {"key": "a"}, "key: it is 'a'"),
        ("rail_fence", {"rails": 1}, "rails: it is 1"),
        ("zalgo", {"marks": 9}, "marks: it is 9"),
        ("math_alphabet", {"style": "comic"}, "style: it is 'comic'"),
        ("ascii_art", {"ink": "##"}, "ink: it is '##'"),
        ("base64", {"shift": 3}, "shift: there is no such name here"),
    ],
)
def test_a_parameter_out_of_bounds_is_told(
    name: str, parameters: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        pure()[name].made(parameters, f"attack {name!r}")
    assert said in str(caught.value)
