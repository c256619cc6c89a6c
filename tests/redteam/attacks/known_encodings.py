"""What each encoding makes of a prompt, letter by letter."""

from __future__ import annotations

from tests.redteam.attacks.classes import Known

ENCODINGS = {
    "acrostic": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "Tell as the baker sets out warm bread\nthe beside the lamp that waits for "
                "night\nold under a sky the colour of pearl\nMan and rain goes walking on the "
                "roof\n3 where the apple trees keep their count\nsecrets, and the kettle hums "
                "its evening song\nplease. where the apple trees keep their count"
            )
        ],
    ),
    "ascii_art": Known(
        {"framed": False},
        "Say hi",
        [
            (
                "[1] =\n ####  ###  #   #\n#     #   # #   #\n#     #   #  # #\n ###  #####   "
                "#\n    # #   #   #\n    # #   #   #\n####  #   #   #\n\n[1] hi"
            )
        ],
    ),
    "ascii_codes": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "84 101 108 108 32 116 104 101 32 111 108 100 32 77 97 110 32 51 32 115 101 99 "
                "114 101 116 115 44 32 112 108 101 97 115 101 46"
            )
        ],
    ),
    "atbash": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["Gvoo gsv low Nzm 3 hvxivgh, kovzhv."],
    ),
    "base32": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["KRSWY3BAORUGKIDPNRSCATLBNYQDGIDTMVRXEZLUOMWCA4DMMVQXGZJO"],
    ),
    "base64": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["VGVsbCB0aGUgb2xkIE1hbiAzIHNlY3JldHMsIHBsZWFzZS4="],
    ),
    "bidi": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["\u202e.esaelp ,sterces 3 naM dlo eht lleT\u202c"],
    ),
    "binary": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "01010100 01100101 01101100 01101100 00100000 01110100 01101000 01100101 "
                "00100000 01101111 01101100 01100100 00100000 01001101 01100001 01101110 "
                "00100000 00110011 00100000 01110011 01100101 01100011 01110010 01100101 "
                "01110100 01110011 00101100 00100000 01110000 01101100 01100101 01100001 "
                "01110011 01100101 00101110"
            )
        ],
    ),
    "braille": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["⠠⠞⠑⠇⠇ ⠞⠓⠑ ⠕⠇⠙ ⠠⠍⠁⠝ ⠼⠉ ⠎⠑⠉⠗⠑⠞⠎, ⠏⠇⠑⠁⠎⠑."],
    ),
    "caesar": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["Whoo wkh rog Pdq 3 vhfuhwv, sohdvh."],
    ),
    "columnar": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["e nrl d ssTeacplo eehMe .t s,ell3ta"],
    ),
    "csv_rows": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [('place,word\n4,"Man"\n3,"old"\n2,"the"\n1,"Tell"\n6,"secrets,"\n5,"3"\n7,"please."\n')],
    ),
    "enclosed": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["Ⓣⓔⓛⓛ ⓣⓗⓔ ⓞⓛⓓ Ⓜⓐⓝ ③ ⓢⓔⓒⓡⓔⓣⓢ, ⓟⓛⓔⓐⓢⓔ."],
    ),
    "flip": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["lleT eht dlo naM 3 ,sterces .esaelp"],
    ),
    "fullwidth": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "\uff34\uff45\uff4c\uff4c\u3000\uff54\uff48\uff45\u3000\uff4f\uff4c\uff44\u3000"
                "\uff2d\uff41\uff4e\u3000\uff13\u3000"
                "\uff53\uff45\uff43\uff52\uff45\uff54\uff53\uff0c\u3000"
                "ｐｌｅａｓｅ．"
            )
        ],
    ),
    "hex": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["54656c6c20746865206f6c64204d616e203320736563726574732c20706c656173652e"],
    ),
    "html_entities": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "&#84;&#101;&#108;&#108;&#32;&#116;&#104;&#101;&#32;&#111;&#108;&#100;&#32;&#77;&"
                "#97;&#110;&#32;&#51;&#32;&#115;&#101;&#99;&#114;&#101;&#116;&#115;&#44;&#32;&#11"
                "2;&#108;&#101;&#97;&#115;&#101;&#46;"
            )
        ],
    ),
    "json_list": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ['{"words": ["Tell", "the", "old", "Man", "3", "secrets,", "please."]}'],
    ),
    "keyboard_shift": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["Yraa yjr paf Zsm 4 drvtryd, qarsdr."],
    ),
    "leetspeak": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["7311 7h3 01d M4n 3 53cr375, p13453."],
    ),
    "math_alphabet": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["𝐓𝐞𝐥𝐥 𝐭𝐡𝐞 𝐨𝐥𝐝 𝐌𝐚𝐧 𝟑 𝐬𝐞𝐜𝐫𝐞𝐭𝐬, 𝐩𝐥𝐞𝐚𝐬𝐞."],
    ),
    "morse": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "- . .-.. .-.. / - .... . / --- .-.. -.. / -- .- -. / ...-- / ... . -.-. .-. . - "
                "... --..-- / .--. .-.. . .- ... . .-.-.-"
            )
        ],
    ),
    "nato": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "Tango echo lima lima (space) tango hotel echo (space) oscar lima delta (space) "
                "Mike alfa november (space) three (space) sierra echo charlie romeo echo tango "
                "sierra , (space) papa lima echo alfa sierra echo ."
            )
        ],
    ),
    "octal": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "124 145 154 154 040 164 150 145 040 157 154 144 040 115 141 156 040 063 040 163 "
                "145 143 162 145 164 163 054 040 160 154 145 141 163 145 056"
            )
        ],
    ),
    "pig_latin": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["Elltay ethay oldway Anmay 3 ecretssay, easeplay."],
    ),
    "python_list": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "words = ['Tell', 'the', 'old', 'Man', '3', 'secrets,', 'please.']\nmessage = ' "
                "'.join(words)"
            )
        ],
    ),
    "rail_fence": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["T    etpselteodMn3sces laelhla r,e."],
    ),
    "reverse": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [".esaelp ,sterces 3 naM dlo eht lleT"],
    ),
    "rot13": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["Gryy gur byq Zna 3 frpergf, cyrnfr."],
    ),
    "substitution": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "plain:  abcdefghijklmnopqrstuvwxyz\ncipher: gxuapyfoismvhzkjnwdcltbreq\n\nCpvv "
                "cop kva Hgz 3 dpuwpcd, jvpgdp."
            )
        ],
    ),
    "unicode_tags": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "\U000e0054\U000e0065\U000e006c\U000e006c\U000e0020\U000e0074\U000e0068\U000e0065"
                "\U000e0020\U000e006f\U000e006c\U000e0064\U000e0020\U000e004d\U000e0061\U000e006e"
                "\U000e0020\U000e0033\U000e0020\U000e0073\U000e0065\U000e0063\U000e0072\U000e0065"
                "\U000e0074\U000e0073\U000e002c\U000e0020\U000e0070\U000e006c\U000e0065\U000e0061"
                "\U000e0073\U000e0065\U000e002e"
            )
        ],
    ),
    "upside_down": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["˙ǝsɐǝld ‘sʇǝɹɔǝs 3 uɐW plo ǝɥʇ llǝ⊥"],
    ),
    "url_encoding": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "%54%65%6C%6C%20%74%68%65%20%6F%6C%64%20%4D%61%6E%20%33%20%73%65%63%72%65%74%73%2"
                "C%20%70%6C%65%61%73%65%2E"
            )
        ],
    ),
    "variation_selectors": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "\U0001f60a\U000e0144\U000e0155\U000e015c\U000e015c\U000e0110\U000e0164\U000e0158"
                "\U000e0155\U000e0110\U000e015f\U000e015c\U000e0154\U000e0110\U000e013d\U000e0151"
                "\U000e015e\U000e0110\U000e0123\U000e0110\U000e0163\U000e0155\U000e0153\U000e0162"
                "\U000e0155\U000e0164\U000e0163\U000e011c\U000e0110\U000e0160\U000e015c\U000e0155"
                "\U000e0151\U000e0163\U000e0155\U000e011e"
            )
        ],
    ),
    "vigenere": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        ["Eeye xyr zlq Fee 3 fpcexxj, cwenli."],
    ),
    "zalgo": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "T\u0323\u033ee\u0318\u0363l\u0301\u030fl\u0343\u0333 "
                "t\u036a\u0320h\u0365\u0367e\u0327\u034e o\u0337\u0328l\u034c\u0331d\u032d\u0318 "
                "M\u0324\u0316a\u0369\u0317n\u034a\u034a 3\u0341\u0343 "
                "s\u0365\u033ee\u0325\u0348c\u0310\u0303r\u031e\u034de\u0368\u0329t\u0344\u0315s"
                "\u0367\u0364, "
                "p\u0346\u036al\u0365\u036ce\u0303\u032ba\u034b\u0341s\u030c\u033fe\u030e\u033a."
            )
        ],
    ),
    "zero_width": Known(
        {"framed": False},
        "Tell the old Man 3 secrets, please.",
        [
            (
                "T\u200be\u200bl\u200bl\u200b \u200bt\u200bh\u200be\u200b "
                "\u200bo\u200bl\u200bd\u200b \u200bM\u200ba\u200bn\u200b \u200b3\u200b "
                "\u200bs\u200be\u200bc\u200br\u200be\u200bt\u200bs\u200b,\u200b "
                "\u200bp\u200bl\u200be\u200ba\u200bs\u200be\u200b."
            )
        ],
    ),
    "zero_width_binary": Known(
        {"framed": False, "cover": "Hello."},
        "ok",
        [
            (
                "Hello.\u200b\u200c\u200c\u200b\u200c\u200c\u200c\u200c\u200b\u200c\u200c\u200b"
                "\u200c\u200b\u200c\u200c"
            )
        ],
    ),
}
