"""Words for invented people: common names and towns of several countries, small and our own.

No number rings anywhere and no address exists: telephone numbers are of the ranges that
regulators set aside for films and books, mail goes to the domains reserved for examples
(RFC 2606). A country without such a range gets a North American number (555-01xx).
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COUNTRIES", "DOMAINS", "JOBS", "NORTH_AMERICA", "Country"]


class Country(NamedTuple):
    """What the people of a country may be called and where they live; `#` is a digit."""

    female: tuple[str, ...]
    male: tuple[str, ...]
    family: tuple[str, ...]
    cities: tuple[str, ...]
    phones: tuple[str, ...] = ()
    family_first: bool = False


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in text.split())


DOMAINS = ("example.com", "example.net", "example.org")
NORTH_AMERICA = tuple(
    f"+1 {area} 555 01##"
    for area in (201, 206, 212, 303, 305, 312, 404, 415, 503, 512, 602, 615, 617, 702, 713, 802)
)

COUNTRIES = {
    "Australia": Country(
        _words("Alice Charlotte Ella Grace Isla Matilda Mia Ruby Sienna Zoe"),
        _words("Angus Cooper Ethan Hamish Jack Lachlan Liam Noah Oscar Riley"),
        _words("Anderson Brown Campbell Harris Kelly Martin Nguyen Ryan Walker White Young"),
        _words("Adelaide Brisbane Canberra Hobart Melbourne Perth Sydney"),
        ("+61 2 5550 ####", "+61 2 7010 ####"),
    ),
    "Brazil": Country(
        _words("Ana Beatriz Camila Fernanda Gabriela Helena Juliana Larissa Mariana Patrícia"),
        _words("André Bruno Caio Diego Felipe Gustavo João Lucas Rafael Thiago"),
        _words("Almeida Barbosa Carvalho Costa Ferreira Gomes Lima Oliveira Pereira Santos Silva"),
        _words("Belo_Horizonte Brasília Curitiba Fortaleza Recife Salvador São_Paulo"),
    ),
    "China": Country(
        _words("Fang Hui Jing Lan Li Mei Na Xia Xiu Yan"),
        _words("Bo Chao Gang Hao Jun Lei Ming Peng Tao Wei"),
        _words("Chen Huang Li Lin Liu Wang Wu Xu Yang Zhang Zhao Zhou"),
        _words("Beijing Chengdu Guangzhou Hangzhou Nanjing Shanghai Wuhan Xi'an"),
        family_first=True,
    ),
    "Egypt": Country(
        _words("Amira Dina Fatma Habiba Layla Mona Nour Salma Yasmin Zeinab"),
        _words("Ahmed Amr Hassan Karim Khaled Mahmoud Mostafa Omar Tarek Youssef"),
        _words("Abdelrahman Ali Fahmy Farouk Gaber Hassan Ibrahim Mansour Nasser Sayed Soliman"),
        _words("Alexandria Aswan Cairo Giza Luxor Mansoura Tanta"),
    ),
    "France": Country(
        _words("Camille Chloé Claire Élodie Inès Jeanne Léa Louise Manon Sophie"),
        _words("Antoine Bastien Hugo Jules Julien Louis Mathis Nicolas Paul Théo"),
        _words("Bernard Dubois Durand Fournier Girard Lambert Laurent Moreau Petit Robert Roux"),
        _words("Bordeaux Lille Lyon Marseille Nantes Paris Rennes Strasbourg Toulouse"),
        ("+33 1 99 00 ## ##", "+33 6 39 98 ## ##"),
    ),
    "Germany": Country(
        _words("Anna Clara Emma Greta Hannah Johanna Katharina Lena Marie Sabine"),
        _words("Ben Elias Felix Jonas Karl Lukas Matthias Moritz Paul Stefan"),
        _words("Becker Fischer Hoffmann Keller Krause Müller Richter Schäfer Schmidt Weber Yilmaz"),
        _words("Berlin Bremen Dresden Frankfurt Hamburg Köln Leipzig München Stuttgart"),
        ("+49 30 23125 ###",),
    ),
    "India": Country(
        _words("Aditi Ananya Deepa Divya Kavya Lakshmi Meera Neha Priya Sunita"),
        _words("Aarav Amit Arjun Deepak Karthik Manish Rahul Rohan Sanjay Vikram"),
        _words("Banerjee Bose Gupta Iyer Joshi Khan Nair Patel Rao Reddy Sharma Verma"),
        _words("Ahmedabad Bengaluru Chennai Delhi Hyderabad Kolkata Mumbai Pune"),
    ),
    "Indonesia": Country(
        _words("Ayu Citra Dewi Fitri Indah Lestari Maya Putri Ratna Sari"),
        _words("Adi Agus Bambang Budi Dimas Eko Hendra Rizki Surya Wahyu"),
        _words("Gunawan Halim Hidayat Kusuma Nugroho Pratama Putra Santoso Setiawan Wijaya"),
        _words("Bandung Denpasar Jakarta Makassar Medan Semarang Surabaya Yogyakarta"),
    ),
    "Italy": Country(
        _words("Alessia Bianca Chiara Elena Francesca Giulia Ilaria Martina Paola Sara"),
        _words("Andrea Davide Enrico Fabio Giovanni Lorenzo Luca Marco Matteo Paolo"),
        _words("Bianchi Bruno Conti Costa Esposito Ferrari Gallo Greco Ricci Romano Rossi"),
        _words("Bari Bologna Firenze Genova Milano Napoli Palermo Roma Torino Venezia"),
    ),
    "Japan": Country(
        _words("Aiko Akari Emi Hana Keiko Mai Naoko Sakura Yui Yuki"),
        _words("Daiki Haruto Hiroshi Kaito Kenji Ren Shota Takashi Takumi Yuto"),
        _words("Ito Kato Kimura Kobayashi Nakamura Sasaki Sato Suzuki Tanaka Watanabe Yamamoto"),
        _words("Fukuoka Hiroshima Kobe Kyoto Nagoya Osaka Sapporo Sendai Tokyo"),
        family_first=True,
    ),
    "Kenya": Country(
        _words("Achieng Akinyi Amina Faith Grace Mercy Njeri Wambui Wanjiku Zawadi"),
        _words("Barasa Brian Daniel Hassan Kamau Kiprono Mwangi Otieno Peter Samuel"),
        _words("Chebet Kariuki Kibet Kimani Korir Maina Muthoni Mutua Odhiambo Omondi Wekesa"),
        _words("Eldoret Kisumu Malindi Mombasa Nairobi Nakuru Nyeri Thika"),
    ),
    "Mexico": Country(
        _words("Alejandra Daniela Fernanda Guadalupe Lucía Mariana Regina Sofía Valeria Ximena"),
        _words("Alejandro Carlos Diego Emiliano Javier José Luis Miguel Raúl Santiago"),
        _words("Cruz Flores García González Hernández López Martínez Morales Ramírez Torres"),
        _words("Guadalajara León Mérida Monterrey Oaxaca Puebla Querétaro Tijuana"),
    ),
    "Nigeria": Country(
        _words("Adaeze Aisha Amaka Chioma Folake Funmilayo Halima Ngozi Temitope Yetunde"),
        _words("Abubakar Babatunde Chidi Chinedu Emeka Ibrahim Musa Olumide Segun Tunde"),
        _words("Abdullahi Adebayo Adeyemi Bello Danjuma Eze Nwosu Obi Okafor Okonkwo Oyelaran"),
        _words("Abuja Benin_City Enugu Ibadan Kaduna Kano Lagos Port_Harcourt"),
    ),
    "South Korea": Country(
        _words("Eun-ji Hye-jin Ji-woo Min-ji Seo-yeon So-yeon Soo-jin Su-bin Ye-jin Yu-na"),
        _words("Do-yun Hyun-woo Ji-ho Joon-ho Min-jun Sang-woo Seo-jun Sung-min Tae-yang Woo-jin"),
        _words("Cho Choi Han Jang Jung Kang Kim Lee Lim Park Yoon"),
        _words("Busan Daegu Daejeon Gwangju Incheon Jeju Seoul Suwon Ulsan"),
        family_first=True,
    ),
    "Spain": Country(
        _words("Alba Carmen Elena Inés Laura Lucía Marta Nuria Paula Sara"),
        _words("Adrián Álvaro Carlos David Hugo Javier Jorge Manuel Pablo Sergio"),
        _words("Alonso Castro Díaz Fernández García Gil Moreno Ortega Rubio Sánchez Vázquez"),
        _words("Barcelona Bilbao Granada Madrid Málaga Sevilla Valencia Zaragoza"),
    ),
    "Sweden": Country(
        _words("Agnes Alva Astrid Ebba Elin Freja Ingrid Karin Linnea Saga"),
        _words("Anders Axel Björn Erik Gustav Henrik Johan Lars Nils Oskar"),
        _words(
            "Andersson Berg Eriksson Holm Johansson Karlsson Lindberg Lindqvist Nilsson Nyström"
        ),
        _words("Gävle Göteborg Linköping Lund Malmö Stockholm Umeå Uppsala Örebro"),
        ("+46 70 174 06 1#", "+46 70 174 06 2#", "+46 70 174 06 3#", "+46 70 174 06 4#"),
    ),
    "Turkey": Country(
        _words("Ayşe Büşra Derya Ebru Elif Emine Fatma Merve Selin Zeynep"),
        _words("Ahmet Burak Can Emre Kerem Mehmet Murat Mustafa Onur Serkan"),
        _words("Aydın Çelik Demir Doğan Kaya Kılıç Öztürk Şahin Yıldız Yılmaz"),
        _words("Adana Ankara Antalya Bursa İstanbul İzmir Konya Trabzon"),
    ),
    "Ukraine": Country(
        _words("Daryna Hanna Iryna Kateryna Khrystyna Mariia Nadiia Oksana Olha Sofiia"),
        _words("Andrii Bohdan Dmytro Ivan Maksym Mykola Oleh Petro Taras Yurii"),
        _words(
            "Bondarenko Boyko Koval Kovalenko Kravchuk Lysenko Moroz Shevchuk Tkachuk Zinchenko"
        ),
        _words("Chernihiv Dnipro Kharkiv Kyiv Lviv Odesa Poltava Vinnytsia"),
    ),
    "United Kingdom": Country(
        _words("Amelia Aisha Charlotte Emily Freya Harriet Isla Lucy Nadia Olivia"),
        _words("Alfie Archie Callum George Harry Imran Jack Oliver Rhys Thomas"),
        _words("Ahmed Baker Clarke Davies Evans Hughes Jones Khan MacDonald Patel Smith Taylor"),
        _words("Belfast Birmingham Bristol Cardiff Edinburgh Glasgow Leeds Liverpool London York"),
        ("+44 20 7946 0###", "+44 7700 900###", "+44 1632 960###"),
    ),
    "United States": Country(
        _words("Abigail Ashley Emily Hannah Jasmine Madison Maria Natalie Olivia Sarah"),
        _words("Aiden Andrew Brandon Carlos Christopher Ethan Jamal Joshua Michael Tyler"),
        _words("Adams Brown Davis Garcia Jackson Johnson Lee Martinez Miller Nguyen Williams"),
        _words("Atlanta Austin Boston Chicago Denver Miami Nashville Phoenix Portland Seattle"),
        NORTH_AMERICA,
    ),
    "Vietnam": Country(
        _words("An Chi Hanh Hoa Huong Lan Linh Mai Thao Trang"),
        _words("Bao Dung Duc Hieu Hung Khanh Long Minh Quan Tuan"),
        _words("Bui Dang Do Hoang Le Ngo Nguyen Pham Phan Tran Vu"),
        _words("Can_Tho Da_Lat Da_Nang Hai_Phong Hanoi Ho_Chi_Minh_City Hue Nha_Trang"),
        family_first=True,
    ),
}

JOBS = _words(
    "accountant actor archaeologist architect baker beekeeper biologist bookseller bricklayer "
    "bus_driver butcher carpenter cashier chef chemist civil_engineer cleaner composer "
    "court_clerk dairy_farmer data_analyst dentist electrician farmer firefighter fisher florist "
    "gardener geologist glazier goldsmith graphic_designer hairdresser historian hotel_manager "
    "insurance_broker interpreter journalist judge kindergarten_teacher lawyer librarian "
    "lorry_driver machinist mail_carrier mathematician mechanic midwife miller miner "
    "music_teacher notary nurse optician painter paramedic pharmacist photographer physicist "
    "pilot plumber police_officer potter primary_school_teacher programmer psychologist "
    "receptionist roofer sailor salesperson sculptor secretary social_worker software_engineer "
    "soldier statistician surgeon surveyor tailor tax_adviser train_driver translator vet waiter "
    "watchmaker weaver welder writer"
)
