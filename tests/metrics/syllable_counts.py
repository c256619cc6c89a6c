"""Common English words by the number of syllables that dictionaries give them."""

from __future__ import annotations

_WORDS = {
    1: """
        the cat sat games prove walked played jumped makes takes names lines trees whole
        real guide guess league queen quick eye eyes year years day days boy key one once
        two three four five nine twelve shoe coin voice choice laid said paid rain main
        great break bread head health wealth sea tea smile smiled file while rule ruled blue
        true truth suave sweet swim quite fire tired hour our
    """,
    2: """
        table little people because before therefore children adults researched believe
        playing building release tension hybrid mammal creature sentence reading passage
        itself station nation special region famous science quiet create really lion million
        question onion union wanted needed boxes wishes horses churches pages places houses
        apple apples bottle castle beauty agree statement movement careful careless lonely
        likely safely something somewhere water river mountain mountains city cities country
        countries story stories music precious conscious social trial dial giant client diet
        equal language colleague unique technique fatigue being doing going seeing trying
        flying saying buying royal loyal beyond mayor layer player lawyer canyon yellow
        money honey valley journey eighteen nineteen hundred thousand zero hero heroes canoe
        poem poet moisture stoic react ocean sergeant pigeon surgeon dungeon courage
        gorgeous neon peon chaos naive healthy weather feather leader reader season reason
        teacher teachers guinea rhythm prism handle handled struggle struggled simple simply
        able physics evening morning wednesday picture nature future culture measure
        pleasure treasure pressure value values argue argued rescue statue virtue issue
        issues tissue fuel cruel duel ruin fluid persuade require required acquire squirrel
        flower power tower
    """,
    3: """
        however important creative wonderful platypus seemingly creation reaction idea area
        opinion decided beautiful employee agreement everyone computer government different
        difference family history president energy animal animals musician library radio
        video studio period serious various obvious previous curious religious delicious
        ambitious official initial usual actual gradual annual manual quality quantity
        guarantee quietly enjoying potatoes tomato poetry heroic created creating theater
        theory theories courageous piteous rodeo mosaic archaic prosaic museum korean
        tourism virtuous strenuous possible possibly australian reptilian terrible terribly
        visible chemistry politics musicians beginning understand afternoon yesterday
        tomorrow saturday restaurant chocolate adventure natural cultural furniture
        signature continue continued argument poetic suicide genuine powerful
    """,
    4: """
        development valuable relationships education information technology environment
        experience interesting america american material industrial memorial society variety
        anxiety european socialism criticism reasonable ability invisible responsible
        mathematics philosophy psychology biology geography economics politician electrician
        understanding february january vegetable comfortable temperature literature
        agriculture continuous realism ambiguous evacuate evaluate situation graduation
    """,
    5: """
        interpersonal university editorial communication individual immediately particularly
        necessarily approximately opportunity organization characteristic
    """,
    6: """
        responsibility
    """,
}
# Written down before the rules were tried on them, and not used to better them.
_OTHERS = {
    1: """
        through thought strength clothes breathe piece friend field height weigh juice fruit
        build built sword knee lose moved loved caused beige
    """,
    2: """
        about after again always answer around become between body captain certain color
        coming common complete decide during early eaten engine even father figure follow
        garden happen heavy hundreds island kitchen listen market middle minute mother
        notice object open pattern problem program promise purple rather sister system
        toward travel village wonder writing purchase leopard crayon neighbor foreign
        patience ancient spacious cautious
    """,
    3: """
        average article attention banana capital consider continent customer december
        determine direction discover electric elephant enemy example exercise fantastic
        finally general hospital imagine industry instrument medicine memory molecule
        newspaper october officer paragraph position probably regular remember represent
        september several similar solution strategy syllable telephone telescope together
        triangle vacation victory audience orient piano genius stadium medium premium
        jeopardy oxygen hydrogen bicycle deficient efficient reinforce reenter deity lyceum
        nucleus glorious infectious contagious prestigious courteous outrageous
    """,
    4: """
        population activity advertisement calculator category community competition
        conversation democracy dictionary discovery disappointed electronic emergency
        especially generation helicopter independent intelligent kindergarten machinery
        military motorcycle operation original photography political reality secretary
        security significant television traditional appreciate negotiate associate obedient
        aquarium chameleon cooperate zoology coincidence preexisting linoleum petroleum
        mysterious hilarious advantageous
    """,
    5: """
        examination unfortunately vocabulary auditorium cooperation curiosity electricity
        imagination international investigation multiplication possibility refrigerator
        representative sophisticated association spontaneity simultaneous miscellaneous
        instantaneous
    """,
    6: """
        biodiversity
    """,
}


def _counts(words: dict[int, str]) -> dict[str, int]:
    return {word: count for count, several in words.items() for word in several.split()}


COUNTS = _counts(_WORDS)
HELD_OUT = _counts(_OTHERS)
