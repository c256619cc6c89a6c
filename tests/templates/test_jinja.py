"""Jinja templates say what Jinja says, reach nothing but the row, and end soon."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import meta
from pydantic import BaseModel

from penstock.errors import InputError
from penstock.templates import JinjaTemplate, Template, template_of

JINJA = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
ROW: dict[str, Any] = {
    "name": "Ann", "n": 5, "f": 1.5, "text": "hello world foo", "empty": "",
    "tags": ["a", "B", "c", "a"], "d": {"k": 1, "z": 2},
    "rows": [{"x": 3, "y": "q"}, {"x": 1, "y": "p"}],
}  # fmt: skip


SAME_AS_JINJA = [
    "plain", "", "a\n", "Hi {{ name }}!\n", "{{ d.k }} {{ d['z'] }} {{ rows[0].x }} {{ tags[-1] }}",
    "{% for t in tags %}{{ loop.index }}{{ t|upper }}{% if loop.last %}.{% endif %}{% endfor %}",
    "{% set a, b = 1, 2 %}{{ a+b }}{% if n > 3 and name %}yes{% elif n %}x{% else %}no{% endif %}",
    "{{ tags|join('-') }} {{ rows|map(attribute='y')|join }}",
    "{{ rows|sort(attribute='x')|map(attribute='x')|join(',') }} {{ tags|sort|join }}",
    "{{ nope|default('x') }} {{ nope is defined }} {{ d.nope is defined }} {{ name is defined }}",
    "{% filter upper|trim %} abc {{ name }} {% endfilter %}",
    "{% set x %}in {{ name }}{% endset %}[{{ x }}]", "{% set x|upper %}in{% endset %}{{ x }}",
    "{% with q=n*2, r=1 %}{{ q }}{{ r }}{% endwith %}",
    "{{ text|truncate(8) }} {{ text|replace('o','0') }} {{ text|replace('o','0',1) }}",
    "{{ text|title }} {{ text|wordcount }} {{ text[:5] }} {{ text[::-1] }} {{ text|capitalize }}",
    "{{ text|truncate(9, true) }}|{{ text|truncate(14, false, '', 0) }}|{{ ' a '|trim }}|",
    "{{ 7//2 }} {{ 7/2 }} {{ 7%3 }} {{ 2**10 }} {{ -n }} {{ +n }} {{ 'a' ~ 1 ~ 'b' }} {{ 'ab'*3 }}",
    "{{ 1 < n <= 5 }} {{ 'a' in tags }} {{ 'k' in d }} {{ n not in [1,2] }} {{ 'ell' in text }}",
    "{% for k, v in d|dictsort %}{{ k }}={{ v }};{% endfor %}",
    "{% for k, v in d|items %}{{ k }}={{ v }};{% endfor %}",
    "{% for r in rows if r.x > 1 %}{{ r.y }}{{ loop.length }}{% else %}none{% endfor %}",
    "{% for r in [] %}x{% else %}none{% endfor %}",
    "{% raw %}{{ x }}{% endraw %}{# {{ gone }} #}", "{%- if n -%}  a  {%- endif -%}  b",
    "{% for i in range(3) %}{{ loop.cycle('a','b') }}{{ i }}{% endfor %}",
    "{% for i in range(1, 7, 2) %}{{ i }}{{ loop.revindex }}{{ loop.first }}{% endfor %}",
    "{{ rows|selectattr('x','gt',1)|list|length }} {{ [3,1,2]|sort|first }} {{ [1,2]|sum }}",
    "{{ 3.14159|round(2) }} {{ '12'|int + 1 }} {{ 'x'|int(7) }} {{ '1.5'|float }} {{ -3|abs }}",
    "{{ tags|length }} {{ tags|unique|list|length }} {{ [1,5]|max }} {{ [4,2]|min }}",
    "{% for a in tags %}{% set name = a %}{{ name }}{% endfor %}{{ name }}",
    "{% for i in range(5)|batch(2, 'x') %}{{ i|join }}|{% endfor %}",
    "{{ 'a\nb\n\nc'|indent(2) }} {{ 'a\nb'|indent(2, true) }}",
    "{{ n is odd }} {{ n is even }} {{ n is divisibleby 5 }} {{ name is string }}{{ n is number }}",
    "{{ n is mapping }} {{ d is mapping }} {{ n is eq 5 }} {{ 'a' is in tags }} {{ none is none }}",
    "{{ 'yes' if n else 'no' }} {{ empty or 'nothing' }} {{ n and name }} {{ not n }}",
    "{{ tags|map('upper')|list|reverse|join }} {{ 'abc'|reverse }}",
    "{{ tags|reject('in', ['a'])|join }}",
    "{{ [1,2,3]|select('odd')|join }} {{ rows|rejectattr('x', 'eq', 3)|map(attribute='y')|join }}",
    "{{ (1, 2)|join }} {{ {'a': 1}.a }} {{ 'x' == 'x' != 'y' }} {{ (1 if 0 else 2) }}",
    "{% for x in rows %}{% for t in tags %}{{ loop.index }}{% endfor %}{{ loop.last }}{% endfor %}",
    "{% for t in tags %}{{ loop.previtem|default('^') }}{{ loop.nextitem|d('$') }}{% endfor %}",
    "{% if n == 5 %}{% set late = 'set' %}{% endif %}{{ late }}",
]  # fmt: skip


@pytest.mark.parametrize("text", SAME_AS_JINJA)
def test_a_template_says_what_jinja_would_say(text: str) -> None:
    assert JinjaTemplate(text).fill(ROW) == JINJA.from_string(text).render(ROW)


@pytest.mark.parametrize("text", SAME_AS_JINJA)
def test_the_names_are_those_that_jinja_finds(text: str) -> None:
    found = meta.find_undeclared_variables(JINJA.parse(text)) - {"range", "late"}
    assert set(JinjaTemplate(text).names) - {"late"} == found


@pytest.mark.parametrize("value", ["x", 3, None, 1.5, True, {"a": [1]}, [1, "é"], date(2024, 5, 6)])
def test_values_become_the_same_text_as_in_a_bare_template(value: object) -> None:
    assert JinjaTemplate("<{{ x }}>").fill({"x": value}) == Template("<{x}>").fill({"x": value})


def test_a_model_and_a_dataclass_are_dicts() -> None:
    class Model(BaseModel):
        city: str

    @dataclass
    class Data:
        city: str

    template = JinjaTemplate("{{ x.city }}")
    assert template.fill({"x": Model(city="Rome")}) == "Rome"
    assert template.fill({"x": Data("Rome")}) == "Rome"


def test_a_template_inside_a_value_is_only_text() -> None:
    evil = "{{ 7*7 }}{% for x in range(9) %}!{% endfor %}{{ secret }}"
    row = {"x": evil, "secret": "s", "list": [evil]}
    assert JinjaTemplate("{{ x }}").fill(row) == evil
    assert JinjaTemplate("{% set y = x ~ x %}{{ y|trim }}").fill(row) == evil * 2
    assert JinjaTemplate("{{ list|join }}").fill(row) == evil


def test_an_unknown_column_is_said_before_anything_is_sent_with_a_suggestion() -> None:
    template = JinjaTemplate("{{ topic }} {{ mood|default('calm') }} {{ who is defined }}")
    assert template.names == ["topic", "mood", "who"]
    template.check(["topic"])
    with pytest.raises(InputError, match=r"\{\{ topic \}\}") as caught:
        template.check(["topics", "mood", "who"])
    assert "topics" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "line", "about"),
    [
        ("a\nb\n{{ nam }}", 3, "no column 'nam'"),
        ("a\n{{ name.x }}", 2, "text has no 'x'"),
        ("a\n{{ d.kk }}", 2, "no 'kk'"),
        ("\n\n{{ tags[99] }}", 3, "no item 99"),
        ("\n{% for x in n %}{% endfor %}", 2, "cannot be looped"),
        ("\n{% for a, b in tags %}{% endfor %}", 2, "taken apart"),
        ("\n{{ name + 1 }}", 2, "cannot add"),
        ("\n\n\n{{ 1 / 0 }}", 4, "zero"),
        ("\n{{ name < 1 }}", 2, "neither more nor less"),
        ("\n{{ name|nofilter }}", 2, "no filter 'nofilter'"),
        ("\n{{ name is notest }}", 2, "no test"),
        ("\n{{ name|replace('a') }}", 2, "replace"),
        ("\n{% if %}", 2, "line 2"),
        ("\n{{ name", 2, "line 2"),
        ("\n{% endfor %}", 2, "endfor"),
        ("{% for x in tags %}\n{{ x|abs }}{% endfor %}", 2, "no number"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, about: str) -> None:
    with pytest.raises(InputError) as caught:
        JinjaTemplate(text).fill(ROW)
    assert f"line {line}:" in caught.value.message
    assert about in caught.value.message


def test_a_method_is_refused_with_the_filter_to_write() -> None:
    with pytest.raises(InputError) as caught:
        JinjaTemplate("{{ name.upper() }}")
    assert "|upper" in caught.value.remedy


class Thing:
    """Something a row should not hold, with things to steal."""

    secret = "SECRET-ATTRIBUTE"

    def tell(self) -> str:
        return "SECRET-METHOD"

    def __str__(self) -> str:
        return "a thing"


ESCAPES = [
    "{{ ''.__class__ }}",
    "{{ ''.__class__.__mro__ }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ [].__class__.__base__.__subclasses__()[40]('/etc/passwd').read() }}",
    "{{ ().__class__.__bases__[0].__subclasses__() }}",
    "{{ {}.__class__ }}",
    "{{ 1 .__class__ }}",
    "{{ name.__init__.__globals__ }}",
    "{{ name['__class__'] }}",
    "{{ name|attr('__class__') }}",
    "{{ name|attr('\\x5f\\x5fclass\\x5f\\x5f') }}",
    "{{ name|attr('__cla' ~ 'ss__') }}",
    "{{ name|map(attribute='__class__')|list }}",
    "{{ [name]|map(attribute='__class__')|list }}",
    "{{ [name]|map('attr', '__class__')|list }}",
    "{{ [thing]|map(attribute='secret')|list }}",
    "{{ [thing]|sum(attribute='__class__') }}",
    "{{ [thing]|sort(attribute='__class__.__mro__') }}",
    "{{ [thing]|join(',', attribute='secret') }}",
    "{{ [thing]|groupby('secret') }}",
    "{{ [thing]|selectattr('secret') }}",
    "{{ [thing]|unique(attribute='secret') }}",
    "{{ [thing]|max(attribute='secret') }}",
    "{{ thing.secret }}",
    "{{ thing['secret'] }}",
    "{{ thing.tell() }}",
    "{{ thing.tell }}",
    "{{ thing() }}",
    "{{ function() }}",
    "{{ function.__globals__ }}",
    "{{ function.__code__ }}",
    "{{ module.system('id') }}",
    "{{ module.environ }}",
    "{{ kind() }}",
    "{{ kind.mro() }}",
    "{{ self }}",
    "{{ self.__init__.__globals__.__builtins__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ config }}",
    "{{ request.application.__globals__ }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__.os.popen('id').read() }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ lipsum() }}",
    "{{ namespace(a=1) }}",
    "{{ cycler('a') }}",
    "{{ joiner() }}",
    "{{ dict(a=1) }}",
    "{{ range.__class__ }}",
    "{{ range }}",
    "{{ loop.__class__ }}",
    "{% for x in [1] %}{{ loop.__class__ }}{% endfor %}",
    "{% for x in [1] %}{{ loop.cycle.__globals__ }}{% endfor %}",
    "{% for x in [1] %}{{ loop.__init__ }}{% endfor %}",
    "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "{% for x in [1] %}{{ loop.changed(1) }}{% endfor %}",
    "{{ eval('1') }}",
    "{{ exec('1') }}",
    "{{ open('/etc/passwd') }}",
    "{{ __import__('os') }}",
    "{{ getattr(name, 'upper') }}",
    "{{ 'a'.format }}",
    "{{ '{0.__class__}'.format(1) }}",
    "{{ '{0.__class__}'|format(1) }}",
    "{{ 'a'.format_map({}) }}",
    "{{ '%s' % name }}",
    "{{ '%(a)s'|format(a=1) }}",
    "{{ name.upper() }}",
    "{{ name.join(tags) }}",
    "{{ name.encode() }}",
    "{{ tags.append(1) }}",
    "{{ tags.clear() }}",
    "{{ d.update({'a': 1}) }}",
    "{{ d.pop('k') }}",
    "{{ d.setdefault('q', 1) }}",
    "{{ d.items() }}",
    "{{ d.__setitem__('a', 1) }}",
    "{{ tags.sort() }}",
    "{{ name(*tags) }}",
    "{{ range(*tags) }}",
    "{{ range(**d) }}",
    "{{ name|upper(*tags) }}",
    "{{ name|replace(**d) }}",
    "{% import 'os' as os %}",
    "{% from 'x' import y %}",
    "{% include '/etc/passwd' %}",
    "{% extends '/etc/passwd' %}",
    "{% block a %}{% endblock %}",
    "{% macro m() %}{% endmacro %}",
    "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{% endcall %}",
    "{% call name() %}{% endcall %}",
    "{% autoescape false %}{{ name }}{% endautoescape %}",
    "{% do tags.append(1) %}",
    "{% trans %}a{% endtrans %}",
    "{% debug %}",
    "{% break %}",
    "{% set name.x = 1 %}",
    "{% set d['x'] = 1 %}",
    "{% set ns = namespace() %}{% set ns.x = 1 %}",
    "{{ name|safe }}",
    "{{ name|pprint }}",
    "{{ name|xmlattr }}",
    "{{ name|random }}",
    "{{ name|map('map') }}",
    "{{ tags|map('nofilter')|list }}",
    "{{ tags|select('notest')|list }}",
    "{{ tags|map('__class__')|list }}",
    "{{ name is callable }}",
    "{{ name is sameas name }}",
    "{{ name is filter }}",
    "{{ {thing: 1} }}",
    "{{ d[thing] }}",
    "{{ thing + thing }}",
    "{{ thing == thing }}",
    "{{ thing < thing }}",
    "{{ thing|list }}",
    "{{ module|items }}",
    "{{ _ }}",
    "{{ environment }}",
    "{{ context }}",
    "{{ caller }}",
    "{{ varargs }}",
    "{{ gettext('a') }}",
    "{{ url_for.__globals__ }}",
    "{{ get_flashed_messages.__globals__ }}",
    "{% with a = ''.__class__ %}{{ a }}{% endwith %}",
    "{% set a = ''.__class__ %}",
    "{% filter attr('__class__') %}a{% endfilter %}",
    "{% if ''.__class__ %}a{% endif %}",
    "{% for a in ''.__class__.mro() %}{% endfor %}",
]


@pytest.mark.parametrize("text", ESCAPES)
def test_no_known_escape_reaches_anything(text: str) -> None:
    row = {**ROW, "thing": Thing(), "function": time.sleep, "module": sys, "kind": type}
    before = repr(ROW)
    with pytest.raises(InputError):
        JinjaTemplate(text).fill(row)
    assert repr(ROW) == before


def test_there_are_at_least_sixty_escapes_and_each_is_tried_once() -> None:
    assert len(set(ESCAPES)) == len(ESCAPES) >= 60


def test_a_key_that_looks_like_an_attribute_is_only_a_key() -> None:
    row = {"d": {"__class__": "a key", "items": "another"}}
    assert JinjaTemplate("{{ d.__class__ }} {{ d.items }}").fill(row) == "a key another"


_DOUBLED = "{% set a = [a, a] %}" * 60
BOMBS = {
    "nested loops": "{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}",
    "long range": "{% for i in range(999999999999) %}x{% endfor %}",
    "endless range": "{{ range(0, 10**30)|list }}",
    "text times number": "{{ 'a' * 10**10 }}",
    "number times text": "{{ 10**10 * 'a' }}",
    "list times number": "{{ [1] * 10**9 }}",
    "power": "{{ 10 ** 100000 }}",
    "power of power": "{{ (2 ** (2 ** 40)) }}",
    "float power": "{{ 1.5 ** 10000 }}",
    "squared again and again": "{% set a = 7 %}" + "{% set a = a * a %}" * 60,
    "added again and again": "{% set a = 2 ** 63 %}" + "{% set a = a ** 2 + a %}" * 60,
    "text doubled by ~": "{% set a = 'aaaaaaaa' %}" + "{% set a = a ~ a %}" * 60,
    "text doubled by +": "{% set a = 'aaaaaaaa' %}" + "{% set a = a + a %}" * 60,
    "text doubled in a block": "{% set a = 'aaaaaaaa' %}"
    + "{% set a %}{{ a }}{{ a }}{% endset %}" * 60,
    "list doubled": "{% set a = [1] %}" + "{% set a = a + a %}" * 60,
    "billion laughs": "{% set a = [1] %}" + _DOUBLED + "{{ a }}",
    "billion laughs as JSON": "{% set a = [1] %}" + _DOUBLED + "{{ a|tojson }}",
    "billion laughs joined": "{% set a = [1] %}" + _DOUBLED + "{{ a|join }}",
    "billion laughs compared": "{% set a = [1] %}" + _DOUBLED + "{{ a == [a] }}",
    "billion laughs searched": "{% set a = [1] %}" + _DOUBLED + "{{ 1 in a }}",
    "billion laughs sorted": "{% set a = [1] %}" + _DOUBLED + "{{ [a, a]|sort }}",
    "billion laughs unique": "{% set a = [1] %}" + _DOUBLED + "{{ [a, a]|unique }}",
    "billion laughs as a key": "{% set a = (1,) %}" + _DOUBLED + "{{ {a: 1} }}",
    "billion laughs as a dict": "{% set a = 1 %}"
    + "{% set a = {'l': a, 'r': a} %}" * 60
    + "{{ a }}",
    "replaced by more": "{{ ('a' * 1000000)|replace('a', 'b' * 1000) }}",
    "put between": "{{ ('a' * 1000000)|replace('', 'b' * 1000) }}",
    "joined by much": "{{ ('a' * 90000)|list|join('b' * 1000) }}",
    "indented": "{{ ('a\n' * 1000000)|indent(200) }}",
    "indented far": "{{ 'a'|indent(10**9) }}",
    "centred": "{{ 'a'|center(10**9) }}",
    "printf width": "{{ '%1000000000d' % 1 }}",
    "format width": "{{ '{:1000000000}'.format(1) }}",
    "filled batch": "{{ [1]|batch(10**9, 0) }}",
    "round far": "{{ 0.1|round(10**9) }}",
    "a large value in a loop": "{% for i in range(1000) %}{{ doc|upper|length }}{% endfor %}",
    "a large value searched in a loop": "{% for i in range(9999) %}{{ 'z' in doc }}{% endfor %}",
    "a large value compared in a loop": "{% for i in range(9999) %}{{ doc == doc2 }}{% endfor %}",
    "a large value written in a loop": "{% for i in range(1000) %}{{ doc }}{% endfor %}",
    "a large value cut in a loop": "{% for i in range(9999) %}{% set x = doc[1:] %}{% endfor %}",
    "a large capture": "{% for i in range(99) %}{% set z %}{{ doc }}{% endset %}{% endfor %}",
    "a large list sorted in a loop": "{% for i in range(99) %}{{ big|sort|first }}{% endfor %}",
    "loop over loop": "{% for a in big %}{% for b in big %}{{ a }}{% endfor %}{% endfor %}",
    "filtered loop": "{% for a in big if big|length > 0 and big|sort %}{% endfor %}",
    "maps of maps": "{{ big|map('map', 'upper')|list }}",
    "a circle": "{{ circle }}",
    "a circle compared": "{{ circle == [circle] }}",
    "deep brackets": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "deep lists": "{{ " + "[" * 5000 + "]" * 5000 + " }}",
    "deep nots": "{{ " + "not " * 5000 + "1 }}",
    "deep minuses": "{{ " + "-" * 50_000 + "1 }}",
    "deep sums": "{{ 1" + "+1" * 5000 + " }}",
    "deep fields": "{{ d" + ".a" * 5000 + " }}",
    "deep fields that may be missing": "{{ d" + ".a" * 5000 + " is defined }}",
    "deep filters": "{{ d" + "|upper" * 5000 + " }}",
    "deep filter blocks": "{% filter upper" + "|upper" * 5000 + " %}a{% endfilter %}",
    "deep ifs": "{% if d %}" * 2000 + "{% endif %}" * 2000,
    "loops in loops": "{% for i in [1,2] %}" * 40 + "x" + "{% endfor %}" * 40,
    "deep loops": "{% for i in [1,2] %}" * 1000 + "x" + "{% endfor %}" * 1000,
    "deep choices": "{{ 1 if 1 else " * 3000 + "1 }}",
    "long join": "{{ 1" + "~1" * 100_000 + " }}",
    "many prints": "{{ d }}" * 60_000,
    "many sets": "{% set x = 1 %}" * 30_000,
    "many openings": "{{" * 100_000,
    "many comments": "{#" * 100_000,
    "many tags": "{%" * 100_000,
    "many raws": "{% raw %}" * 50_000,
    "long text in quotes": "{{ '" + "\\\\" * 100_000,
    "long number": "{{ " + "9" * 100_000 + " }}",
    "long hexadecimal": "{{ 0x" + "f" * 100_000 + " }}",
    "long template": "x" * 1_000_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_no_bomb_goes_off(name: str) -> None:
    circle: list[Any] = []
    circle.append(circle)
    large = "y" * 5_000_000
    row = {**ROW, "doc": large, "doc2": large[1:] + "y", "circle": circle}
    row["big"] = [f"item {number}" for number in range(100_000)]
    begun = time.perf_counter()
    with pytest.raises(InputError):
        JinjaTemplate(BOMBS[name]).fill(row)
    assert time.perf_counter() - begun < 5  # a second at most on a quiet machine


def test_a_large_honest_template_is_filled() -> None:
    rows = [{"q": "why " * 20, "a": number} for number in range(5000)]
    text = "{% for r in rows %}{{ loop.index }}. {{ r.q|trim }}: {{ r.a }}\n{% endfor %}"
    assert JinjaTemplate(text).fill({"rows": rows}).count("\n") == 5000
    assert len(JinjaTemplate("{{ doc|trim|upper }}").fill({"doc": "y" * 5_000_000})) == 5_000_000


def test_work_is_counted_anew_for_each_row() -> None:
    template = JinjaTemplate("{% for i in range(50000) %}{{ i }}{% endfor %}")
    assert len({template.fill({}) for _ in range(8)}) == 1


_WORDS = """{{ }} {% %} {# #} x d.k tags n | . [ ] ( ) , + - * ** ~ if else endif for in endfor
set = range upper join default is defined not and or == < 'a' 1 loop.index raw endraw filter
endfilter with endwith block macro import __class__ {%- -%}"""
_FRAGMENTS = st.sampled_from([*_WORDS.split(), "\n"])


@settings(max_examples=300, deadline=None)
@given(st.lists(_FRAGMENTS, max_size=30).map(" ".join) | st.text())
def test_no_text_does_anything_but_fill_or_be_refused(text: str) -> None:
    try:
        template = JinjaTemplate(text)
        made = template.fill({**ROW, "x": "value"})
    except InputError:
        return
    assert isinstance(made, str)
    assert "__class__" not in made or "__class__" in text


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "b"]), st.text(), min_size=2))
def test_values_come_through_unchanged(row: dict[str, str]) -> None:
    assert JinjaTemplate("{{ a }}|{{ b }}").fill(row) == f"{row['a']}|{row['b']}"


def test_template_of_gives_the_language_that_is_asked_for() -> None:
    assert template_of("{x}").fill({"x": 1}) == "1"
    assert template_of("{{ x }}", "jinja").fill({"x": 1}) == "1"
    assert template_of("{{ x }}").fill({}) == "{ x }"
    with pytest.raises(InputError, match="mako"):
        template_of("x", "mako")  # type: ignore[arg-type]


def test_importing_the_templates_does_not_load_jinja() -> None:
    script = (
        "import sys, penstock.templates, penstock.templates.jinja\n"
        "assert 'jinja2' not in sys.modules\n"
        "penstock.templates.JinjaTemplate('{{ x }}')\n"
        "assert 'jinja2' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parent)
