"""The words the simulated model knows: data only, one constant a kind."""

from __future__ import annotations

__all__ = [
    "ADJECTIVES",
    "ADVERBS",
    "CITIES",
    "COLOURS",
    "COMPANY_ENDS",
    "COUNTRIES",
    "DULL",
    "FIRST_NAMES",
    "FOODS",
    "JOBS",
    "LANGUAGES",
    "LAST_NAMES",
    "NOT_THINGS",
    "NOUNS",
    "NUMBER_WORDS",
    "STREETS",
    "SUBJECTS",
    "TOP_DOMAINS",
    "VERBS",
]


def _words(text: str) -> list[str]:
    """The words of a text; those that hold a blank are parted by commas instead."""
    return [word.strip() for word in text.split("," if "," in text else None)]


ADJECTIVES = _words(
    "ancient bold brief bright broad careful central clear common complex curious daily deep "
    "direct distant early elegant essential even everyday exact fair famous fine firm flexible "
    "formal frequent gentle global gradual hidden honest human ideal local lasting limited "
    "lively long main major mild minor modern modest narrow natural novel open ordinary patient "
    "plain precise private public quiet rapid rare recent remote rich robust rural sharp simple "
    "slow small social solid steady strong subtle sudden technical thorough typical urban "
    "useful usual vivid warm wide"
)
ADVERBS = _words(
    "almost always carefully clearly directly easily gradually indeed mostly often partly "
    "quietly rarely reliably seldom slowly sometimes steadily usually"
)
CITIES = _words(
    "Accra, Amsterdam, Athens, Auckland, Bangkok, Barcelona, Berlin, Bogota, Boston, Brisbane, "
    "Budapest, Buenos Aires, Cairo, Cape Town, Chicago, Copenhagen, Dakar, Delhi, Dublin, "
    "Edinburgh, Geneva, Hamburg, Hanoi, Helsinki, Istanbul, Jakarta, Kyoto, Lagos, Lima, "
    "Lisbon, London, Lyon, Madrid, Manila, Melbourne, Mexico City, Milan, Montreal, Nairobi, "
    "Oslo, Paris, Porto, Prague, Riga, Rome, Seoul, Singapore, Stockholm, Sydney, Tokyo, "
    "Toronto, Vienna, Warsaw, Zurich"
)
COLOURS = _words(
    "amber black blue bronze coral crimson cyan gold green grey indigo ivory lilac magenta "
    "maroon navy olive orange pink purple red rose scarlet silver teal turquoise violet white "
    "yellow"
)
COMPANY_ENDS = _words(
    "Analytics Foods Group Holdings Industries Labs Logistics Partners Systems Works"
)
COUNTRIES = _words(
    "Argentina, Australia, Austria, Brazil, Canada, Chile, Colombia, Czechia, Denmark, Egypt, "
    "Finland, France, Germany, Ghana, Greece, Hungary, India, Indonesia, Ireland, Italy, Japan, "
    "Kenya, Latvia, Mexico, Morocco, Netherlands, New Zealand, Nigeria, Norway, Peru, "
    "Philippines, Poland, Portugal, Singapore, South Africa, South Korea, Spain, Sweden, "
    "Switzerland, Thailand, Turkey, Vietnam"
)
DULL = frozenset(
    _words(
        "about above across add after again against all also although always and another answer "
        "answers any are around article ask asked because become been before being below best "
        "between both brief briefly but came can cannot choose come could create describe "
        "different diverse does doing done down during each eight either else email enough "
        "essay etc even every exactly example explain explanation facts few find first five "
        "following follows for format four from fully generate get give given gives good great "
        "had has have having help her here his how however including instead into its json just "
        "keep kind know last least less let letter like likely list long made make makes making "
        "many may might more most much must near need never new next nine none not nothing now "
        "number once one only other our out over paragraph part per please poem possible "
        "produce prompt provide question quite rather really reply respond response return same "
        "sample say schema see seen sentence sentences set several shall short should show "
        "simple since single six some something soon still story such sure take tell ten text "
        "than that the their them then there these they thing things think this those three "
        "through together token too tool topic topics toward two under unique until upon use "
        "used user using various very via want was well were what when where whether which "
        "while who why will with within without word words would write wrote year yes you your "
        "yourself"
    )
)
FIRST_NAMES = _words(
    "Ada Aisha Alan Amara Ana Anders Anya Bao Beatriz Bruno Carla Chen Clara Dan Daria David "
    "Diego Elena Elif Emeka Emma Farah Felix Fatima Goran Grace Hana Hugo Ines Ivan Jamal Jana "
    "Joao Julia Kamal Karin Kofi Lara Leila Liam Lin Lucia Mai Marco Maria Mateo Maya Mina "
    "Nadia Nils Noor Olga Omar Paula Priya Rafael Rosa Ruth Sami Sara Sofia Stefan Tariq Teresa "
    "Tomas Uma Vera Victor Wei Yara Yusuf Zoe"
)
FOODS = _words(
    "almonds, apples, barley, basil, beans, bread, butter, cabbage, carrots, cheese, chickpeas, "
    "chilli, cinnamon, coconut milk, cream, cumin, eggs, fish, flour, garlic, ginger, honey, "
    "leeks, lemons, lentils, mint, mushrooms, noodles, oats, olives, onions, oranges, parsley, "
    "peas, pepper, potatoes, rice, saffron, salt, sesame, soy sauce, spinach, sugar, tofu, "
    "tomatoes, walnuts, yoghurt"
)
JOBS = _words(
    "accountant, architect, baker, biologist, carpenter, chemist, civil engineer, curator, data "
    "analyst, dentist, economist, editor, electrician, farmer, geologist, historian, "
    "journalist, lawyer, librarian, mechanic, midwife, musician, nurse, pharmacist, "
    "photographer, pilot, plumber, software developer, surgeon, surveyor, teacher, translator, "
    "veterinarian, welder"
)
LANGUAGES = _words(
    "Arabic Bengali Czech Danish Dutch English Finnish French German Greek Hindi Hungarian "
    "Indonesian Italian Japanese Korean Polish Portuguese Romanian Spanish Swahili Swedish "
    "Tamil Thai Turkish Ukrainian Vietnamese Yoruba"
)
LAST_NAMES = _words(
    "Abbott Adeyemi Almeida Andersen Baker Banerjee Becker Bianchi Brown Castillo Chan Cohen "
    "Costa Dubois Eriksson Farouk Fernandez Fischer Garcia Green Gupta Haddad Hansen Hernandez "
    "Ito Ivanova Jansen Jensen Johnson Kaya Kim Kowalski Kumar Larsen Lee Lopez Martin Meyer "
    "Moreau Mwangi Nakamura Nguyen Novak Okafor Oliveira Osei Park Patel Petrov Popescu Quinn "
    "Rahman Rossi Russo Santos Sato Schmidt Silva Singh Smith Suzuki Taylor Torres Turner "
    "Vargas Weber Wong Yilmaz Young Zhang"
)
NOT_THINGS = frozenset(
    _words(
        "across always as characters chars days degrees does dollars euros has hours is its "
        "less lines minutes months pages percent points seconds stars this times tokens versus "
        "was weeks years"
    )
)
NOUNS = _words(
    "account agreement approach archive argument balance bridge budget change choice circuit "
    "climate community contract cost craft crowd custom debate decade demand design detail "
    "device distance effort engine estimate evidence example experience failure field figure "
    "forest foundation framework garden habit harbour history idea impact interest journey "
    "judgement knowledge landscape language law lesson limit logic machine margin market "
    "material measure memory method mind model moment network object opinion order origin "
    "outcome pattern people period place plan policy practice pressure price principle problem "
    "process project promise purpose quality range reason record region result risk river role "
    "route rule scale season sense service shape signal skill society source space standard "
    "station story strategy structure study supply support surface survey system task technique "
    "theory tool tradition trust value version view voice weather work"
)
NUMBER_WORDS = _words(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
STREETS = _words(
    "Bridge Street, Canal Road, Cedar Avenue, Church Lane, Elm Street, Garden Row, Harbour Way, "
    "High Street, Hill Road, Lake Drive, Market Square, Mill Lane, Oak Avenue, Park Road, River "
    "Street, Station Road, Victoria Street, Willow Lane"
)
SUBJECTS = _words(
    "agriculture, archaeology, architecture, astronomy, biology, chemistry, climate, computing, "
    "cooking, dance, ecology, economics, education, energy, engineering, ethics, film, finance, "
    "geography, geology, health, history, language, law, linguistics, literature, logistics, "
    "manufacturing, mathematics, medicine, music, navigation, nutrition, oceanography, "
    "painting, philosophy, photography, physics, poetry, politics, psychology, public "
    "transport, religion, robotics, sculpture, sociology, sport, statistics, theatre, tourism, "
    "trade, urban planning, weather"
)
TOP_DOMAINS = _words("example.com example.net example.org")
VERBS = _words(
    "affects balances builds carries changes confirms connects corrects covers defines drives "
    "explains extends follows guides helps improves informs joins keeps limits links measures "
    "moves preserves protects raises reaches reduces reflects repeats replaces reveals shapes "
    "shows simplifies strengthens supports sustains tests turns weakens widens"
)
