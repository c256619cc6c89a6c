"""Short definitions of common verbs and nouns, for riddles. A word stands in its base form."""

from __future__ import annotations

__all__ = ["DEFINITIONS", "PLAIN", "definition"]

DEFINITIONS = {
    "account": "a record that a person has with a bank or a service",
    "admin": "a person who may change everything in a system",
    "answer": "what is said in return to a question",
    "article": "a piece of writing in a newspaper or magazine",
    "ask": "to put a question to somebody",
    "attack": "an attempt to do harm or to get in by force",
    "bank": "a business that keeps and lends money",
    "begin": "to do the first part of something",
    "bomb": "a device made to burst",
    "book": "pages of writing between two covers",
    "break": "to make something come apart",
    "build": "to put parts together into something larger",
    "buy": "to get something for money",
    "car": "a vehicle with four wheels and an engine",
    "card": "a small flat piece of stiff paper or plastic",
    "change": "to make different",
    "chemical": "a substance as studied in a laboratory",
    "code": "instructions for a computer",
    "computer": "a machine that runs programs",
    "confidential": "meant for few people only",
    "copy": "to make another one just like it",
    "create": "to bring into being",
    "crime": "an act that the law punishes",
    "data": "facts that a computer works with",
    "describe": "to say what something is like",
    "developer": "a person who writes software",
    "device": "a thing made for a purpose",
    "document": "a paper or file with writing on it",
    "door": "what is opened to enter a room",
    "drug": "a substance that changes how a body works",
    "email": "a letter sent from computer to computer",
    "explain": "to make something clear",
    "file": "something stored on a computer under a name",
    "find": "to come upon what was looked for",
    "fire": "heat with light and flames",
    "forge": "to make a false copy",
    "fraud": "taking money by lies",
    "get": "to come to have",
    "give": "to hand over to somebody",
    "guide": "something that shows the way",
    "gun": "a thing that shoots",
    "hack": "to get into a computer without leave",
    "help": "to make something easier for somebody",
    "hide": "to put where it is not seen",
    "house": "a building in which people live",
    "ignore": "to take no notice of",
    "information": "what can be known about something",
    "instruction": "a sentence that says what to do",
    "key": "what opens a lock",
    "law": "a rule made by a state",
    "letter": "a written message sent to somebody",
    "lie": "to say what is not true",
    "list": "names or things written one below the other",
    "lock": "what keeps a door shut",
    "make": "to bring about, to produce",
    "manual": "a book that says how a thing is used",
    "message": "words sent from one person to another",
    "money": "what is paid with",
    "name": "the word by which somebody is called",
    "number": "what is counted with",
    "obtain": "to come to have, by some effort",
    "password": "the secret word that lets somebody in",
    "person": "a human being",
    "pick": "to choose, or to open without the right tool",
    "poem": "writing in verses",
    "poison": "a substance that makes ill or kills",
    "policy": "a rule that guides decisions",
    "print": "to put words on paper or a screen",
    "program": "a set of commands that a computer carries out",
    "prompt": "the text that a language model is given",
    "recipe": "a list of ingredients and steps",
    "repeat": "to say once more",
    "reveal": "to show what was hidden",
    "rule": "what says how something must be done",
    "secret": "something that few are to know",
    "sell": "to give something for money",
    "send": "to make something go to another place",
    "server": "a computer that answers other computers",
    "show": "to let somebody see",
    "speech": "a talk given to listeners",
    "steal": "to take what belongs to another",
    "step": "one part of a way of doing something",
    "story": "a tale of what happened, true or not",
    "system": "parts that work together as a whole",
    "tell": "to let somebody know by words",
    "token": "a small sign that stands for something",
    "translate": "to put into another language",
    "user": "somebody who makes use of a thing",
    "virus": "a tiny thing that spreads and makes ill, or a program that does so",
    "weapon": "a thing made to fight with",
    "word": "letters that mean something together",
    "write": "to put words on paper",
}
_PLAIN = (
    "about after again against also because been before being between both could does doing down "
    "during each from have having here into itself just more most much must myself once only other "
    "over please same shall should some such than that their them then there these they this those "
    "through under until very want were what when where which while whom will with without would "
    "your yours yourself"
)
PLAIN = frozenset(_PLAIN.split())
"""Words of four letters and more that carry too little to be worth a riddle."""

_ENDINGS = (
    ("", ""),
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("d", ""),
    ("ed", ""),
    ("ing", ""),
    ("ing", "e"),
)


def definition(word: str) -> str:
    """What a word means, also where it stands in the plural or another tense; else empty."""
    word = word.lower()
    for ending, instead in _ENDINGS:
        if word.endswith(ending):
            base = word.removesuffix(ending) + instead
            if base in DEFINITIONS:
                return DEFINITIONS[base]
    return ""
