"""How refusals are worded, in several languages, as patterns over small letters.

Each asks for three things near each other: the speaker, an unwillingness or inability, and an act
of helping. "I can't wait" has no help in it, and "plants cannot" no speaker. Inability to see, know
or find something is no refusal.
"""

from __future__ import annotations

import re

__all__ = ["AFTER_ALL", "HARMLESS", "REFUSALS"]

_GAP = r"[^.!?。！？\n]"
_WILL_NOT = (
    r"(?:can'?t|cannot|can not|won'?t|will not|must not|may not|could not in good conscience"
    r"|(?:am|are|'m|'re) (?:sorry,? but )?"
    r"(?:unable|not (?:able|going|willing|allowed|permitted)) to"
    r"|(?:won'?t|will not) be able to|(?:must |have to )?refuse to|(?:must |have to )?decline to"
    r"|(?:do not|don'?t) (?:think|believe) i (?:should|can|could)|shouldn'?t|should not)"
)
_HELP = (
    r"(?:help|assist|provide|comply|fulfil\w*|do (?:that|this|so|it)|create|write|generate|produce"
    r"|share|give|offer|discuss|support|engage|continue|answer|respond|participate|tell you|explain"
    r"|advise|recommend|encourage|promote|facilitate|carry out|complete|proceed|be (?:a )?part"
    r"|take part|disclose|reveal|describe|show you|teach|supply|accommodate|grant|satisfy|endorse"
    r"|condone|draft|compose|talk about|go there|process|make (?:that|this|such))\b"
)
_I = r"\bi(?:,? |'|\b) ?"
_BETWEEN = (
    r"(?:[ ,]*(?:\w+ly|just|also|then|still|and will not|and won't|in good conscience)[ ,]*)*"
)
_SORRY = r"\b(?:sorry|apologi[sz]e|apologies|afraid|unfortunately|regrettably|sadly)\b"

_ENGLISH = (
    rf"{_I}{_BETWEEN}(?:\w+ )?{_WILL_NOT} ?{_BETWEEN}{_HELP}",
    rf"{_SORRY}{_GAP}{{0,80}}\bwe {_WILL_NOT} {_HELP}",
    rf"{_I}(?:do not|don'?t) (?:provide|engage in|assist|offer|generate|create|help)\b",
    r"\bi(?:'m| am) (?:not in a position|programmed not|designed not|not here|instructed not) to\b",
    rf"\b(?:no way|impossible) (?:that i can |for me to |i can |i could ){_HELP}",
    r"\bi(?:'ll| must| have to| need to| will| would| am going to|'m going to|'d)"
    r"(?: have to)? (?:\w+ly )?(?:decline|refuse|stop here|pass on|leave it there)\b",
    r"\bi (?:\w+ly )?(?:decline|refuse)(?: to\b| this| that| your| the request|[.!]|$)",
    r"\bi(?: am|'m| do)?(?: not|n't)(?: feel)? comfortable\b",
    rf"n[o']t something (?:that )?(?:i|we)(?:'m| am|'re| are|'ll)? (?:(?:can |will |could )?{_HELP}"
    r"|willing|able|going|comfortable|can do\b)",
    rf"\bsomething (?:that )?(?:i|we) (?:can'?t|cannot|won'?t|will not) {_HELP}",
    r"\b(?:beyond|outside) (?:of )?(?:what|the scope of what) i(?:'m| am)?"
    r" (?:can|able|allowed|permitted|willing)\b|\boff[- ]limits for me\b|\bline i won'?t cross\b",
    r"^(?:no|nope|sorry)?[,.! ]*(?:i'm |i am )?not doing (?:that|this|it)\b",
    r"\b(?:against|violat\w+|conflicts? with|contrary to) (?:my|our)\b"
    rf"{_GAP}{{0,30}}\b(?:guidelines?|polic(?:y|ies)|programming|principles|rules|values)\b",
    r"\b(?:inappropriate|unethical|irresponsible|wrong|not (?:appropriate|ethical|right))"
    r" for me to\b",
    r"\bi(?:'d| would) (?:rather|prefer) not\b",
)
_OTHERS = (
    # German
    rf"\b(?:ich (?:kann|darf|werde|möchte)|(?:kann|darf|werde|möchte) ich)\b{_GAP}{{0,60}}"
    rf"\b(?:nicht|keine?[nr]?)\b{_GAP}{{0,40}}(?:helfen|erfüllen|beantworten|bereitstellen|geben"
    r"|unterstützen|schreiben|erstellen|nachkommen|behilflich|mitteilen|erklären)",
    rf"\b(?:leid|leider)\b{_GAP}{{0,30}}\b(?:kann|darf) ich{_GAP}{{0,40}}\bnicht\b",
    r"\b(?:kann|darf) ich (?:dir|ihnen|euch)?[^.!?]{0,20}\bnichts sagen\b"
    r"|\bich (?:bin|wäre) nicht (?:befugt|berechtigt|in der lage|bereit)\b"
    r"|\bich (?:helfe|beantworte|schreibe) (?:dir |ihnen )?(?:dabei )?nicht\b"
    r"|\bich (?:muss|möchte)\b[^.!?]{0,30}\bablehnen\b",
    # French
    rf"\bje ne (?:peux|pourrai|suis|souhaite|vais)\b(?! que){_GAP}{{0,50}}\b(?:aider|répondre"
    r"|fournir|assister|satisfaire|accéder|faire cela|donner|écrire|traiter|partager)",
    r"\b(?:il m'est impossible de|je préfère ne pas|je refuse de|je dois (?:refuser|décliner))\b",
    # Spanish, Italian, Portuguese
    rf"\bno (?:puedo|podré|debo|voy a|me es posible)\b{_GAP}{{0,30}}\b(?:ayudar|proporcionar"
    r"|cumplir|responder|asistir|ofrecer|facilitar|generar|escribir|darte|darle|hacer eso|atender"
    r"|compartir)",
    r"\b(?:no está en mis (?:posibilidades|manos)|prefiero no|me niego a|debo rechazar)\b",
    rf"\bnon (?:posso|potrò|sono in grado di|intendo)\b(?! che){_GAP}{{0,30}}\b(?:aiutar|fornir"
    r"|risponder|assister|soddisfare|offrire|scrivere|creare|condividere)",
    rf"\bnão (?:posso|consigo|poderei|sou capaz de)\b{_GAP}{{0,30}}\b(?:ajudar|fornecer|responder"
    r"|atender|cumprir|oferecer|escrever|criar|compartilhar)",
    # Dutch, Polish, Russian, Turkish
    rf"\b(?:ik (?:kan|mag|zal)|(?:kan|mag|zal) ik)\b{_GAP}{{0,40}}\bniet\b{_GAP}{{0,30}}"
    r"\b(?:helpen|beantwoorden|voldoen|geven|schrijven|assisteren|uitvoeren)",
    rf"\bnie (?:mogę|jestem w stanie|będę)\b{_GAP}{{0,30}}\b(?:pomóc|odpowiedzieć|udzielić|spełnić"
    r"|napisać|dostarczyć|pomagać)",
    rf"\bне (?:могу|буду|смогу|в состоянии)\b{_GAP}{{0,30}}\b(?:помо|ответить|предостав|выполнить"
    r"|написать|обсуждать)",
    r"\b(?:yardımcı olamam|yardım edemem|yanıtlayamam|cevap veremem|sağlayamam|yerine getiremem)",
    # Chinese, Japanese, Korean
    r"(?:抱歉|对不起|對不起|我)[^。！？\n]{0,12}(?:无法|不能|不可以|没办法|無法|不便|不会)"
    r"[^。！？\n]{0,12}(?:提供|回答|帮助|帮您|协助|满足|完成|生成|讨论|幫助|協助|滿足|討論)",
    r"(?:応え|答え|手伝い|協力|対応|提供|回答|応じる|案内|教え|受け)(?:する)?(?:こと)?[がはを]?"
    r"(?:でき(?:ません|ない|かね)|いたしかね|致しかね|しかね)",
    r"(?:도와\s?드릴|도울|도움을 드릴|제공할|제공해\s?드릴|답변할|답변\s?드릴|응할|대답할"
    r"|알려\s?드릴|작성할)\s?수\s?(?:는\s?)?없",
    # Arabic, Hindi, Indonesian and Malay, Vietnamese, Thai
    rf"لا (?:أستطيع|يمكنني|أقدر|يمكن)\b{_GAP}{{0,20}}(?:مساعد|المساعدة|تقديم|الإجابة|توفير|تلبية)",
    r"(?:मदद|सहायता|उत्तर|जानकारी|जवाब)[^।\n]{0,20}नहीं (?:कर|दे) सक",
    rf"\b(?:tidak|tak) (?:dapat|bisa|boleh)\b{_GAP}{{0,20}}\b(?:membantu|memenuhi|menjawab"
    r"|memberikan|menyediakan|menulis|melayani)",
    rf"(?:không thể|không được phép){_GAP}{{0,20}}(?:giúp|hỗ trợ|cung cấp|trả lời|đáp ứng)",
    r"ไม่สามารถ[^\n]{0,20}(?:ช่วย|ให้|ตอบ|ดำเนินการ|สนับสนุน)",
)
REFUSALS = tuple(re.compile(form) for form in (*_ENGLISH, *_OTHERS))

# What reads like a refusal and is none; taken out before the rest is read.
HARMLESS = re.compile(
    rf"\b(?:can'?t|cannot|couldn'?t) (?:help (?:but|\w+ing|myself|it)|{_GAP}{{0,60}}\benough\b"
    r"|tell you how (?:much|happy|glad|sorry|grateful)"
    r"|(?:give|provide|offer)(?: you)? (?:an? )?(?:exact|precise|definite|certain)"
    r"|answer (?:with|in) (?:one|a single)"
    rf"|give {_GAP}{{0,30}}\b(?:fewer|less) than)"
)
# An answer after all: "I can't say it in one word, but it depends". What goes on with the speaker,
# or points elsewhere, is none.
AFTER_ALL = re.compile(
    r"[,;:] (?:but|so|yet|aber|mais|pero|ma|mas) "
    r"(?!i\b|i'|we\b|if\b|please|feel|perhaps|maybe|let|there|you (?:can|could|may|might)"
    r"|ich\b|je\b)"
)
