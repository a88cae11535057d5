"""The groups of codes of ICD-9-CM and of others, by loops over the first categories of blocks."""

from __future__ import annotations

import re
from functools import cache


def _words(text: str) -> list[str]:
    return text.split()


CHAPTERS9 = _words("""
    001-139 140-239 240-279 280-289 290-319 320-389 390-459 460-519 520-579 580-629 630-679 680-709
    710-739 740-759 760-779 780-799 800-999 V01-V91 E000-E999
""")
STARTS9 = _words("""
    001 010 020 030 042 045 050 060 070 080 090 100 110 120 130 137 140 150 160 170 179 190 200 209 210
    230 235 239 240 249 260 270 280 290 295 300 317 320 327 330 338 339 340 350 360 380 390 393 401 410
    415 420 430 440 451 460 470 480 490 500 510 520 530 540 550 555 560 570 580 590 600 610 614 617 630
    634 640 650 660 670 678 680 690 700 710 720 725 730 740 760 764 780 790 797 800 805 810 820 830 840
    850 860 870 880 890 900 905 910 920 925 930 940 950 958 960 980 990 996 V01 V07 V10 V20 V30 V40 V50
    V60 V70 V83 V85 V86 V87 V88 V89 V90 V91 E000 E001 E800 E810 E820 E826 E830 E840 E846 E849 E850 E860
    E870 E878 E880 E890 E900 E910 E916 E929 E930 E950 E960 E970 E979 E980 E990
""")
CHAPTERS10 = _words("""
    A00-B99 C00-D49 D50-D89 E00-E90 F00-F99 G00-G99 H00-H59 H60-H95 I00-I99 J00-J99 K00-K95 L00-L99
    M00-M99 N00-N99 O00-O9A P00-P96 Q00-QA0 R00-R99 S00-T98 V00-Y99 Z00-Z99 U00-U99
""")


def is_category9(category: str) -> bool:
    """Return whether a chapter of ICD-9-CM contains the category; no chapter contains E031 to E799."""
    if re.fullmatch("E[0-9]{3}", category):
        return not 30 < int(category[1:]) < 800
    if re.fullmatch("V[0-9]{2}", category):
        return 1 <= int(category[1:]) <= 91
    return re.fullmatch("[0-9]{3}", category) is not None and int(category) > 0


@cache
def chapter9(category: str) -> str:
    """Find the last chapter of its kind that begins at or before a category."""
    return [c for c in CHAPTERS9 if _kind(c) == _kind(category) and c.split("-")[0] <= category][-1]


@cache
def block9(category: str) -> str:
    """Find the first category of the block of a category."""
    starts = [*STARTS9, *(chapter.split("-")[0] for chapter in CHAPTERS9)]
    return max(start for start in starts if _kind(start) == _kind(category) and start <= category)


def chapter10(category: str) -> str:
    """Find the chapter of ICD-10 whose range holds a category; letters come after digits."""
    return next(c for c in CHAPTERS10 if c.split("-")[0] <= category <= c.split("-")[1])


def _kind(category: str) -> str:
    return category[0] if category[0].isalpha() else ""


def lost_zeros(code: str, digits: int) -> set[str]:
    """List the possible codes of at most `digits` digits before a spreadsheet dropped their leading zeros."""
    return {"0" * zeros + code for zeros in range(digits - len(code) + 1)}
