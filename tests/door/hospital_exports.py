"""Diagnoses as hospitals and insurers export them."""

from __future__ import annotations

import csv
import hashlib
import io
import uuid
from dataclasses import replace

from exports import (
    CODES,
    DIAGNOSES,
    NUMBERS,
    PATIENTS,
    Export,
    Lines,
    ask,
    by,
    columns_of,
    either,
    grouped,
    patients,
    read,
    refuse,
    table,
)


def _long(*names: str) -> Lines:
    """Return a header and one line for each diagnosis; the names define the columns."""
    made: Lines = [list(names)]
    for patient in PATIENTS:
        for code, date in zip(patient.codes, patient.dates, strict=True):
            cells = {
                **patient._asdict(),
                "code": code,
                "date": date,
                "german date": ".".join(reversed(date.split("-"))),
            }
            made.append([cells[KIND.get(name, name)] for name in names])
    return made


# The contents of the columns with these names.
KIND = {
    "pat": "number", "patient_id": "number", "Fall": "number", "MRN": "number", "patient": "number",
    "Patient": "number", "FALLNR": "number", "Patient-Nr.": "number", "Fallnummer": "number",
    "case_id": "number", "item_no": "number", "code no": "number",
    "icd": "code", "icd10": "code", "Hauptdiagnose": "code", "DX": "code", "Diagnose": "code", "Kode": "code",
    "ICD (10)": "code", "diagnosis": "code", "event": "code", "code": "code",
    "Geschlecht": "sex", "Alter": "age", "Gewicht [kg]": "age", "Datum": "german date",
    "PLZ": "zip", "zip_code": "zip",
}  # fmt: skip


def _question(
    name: str, file: str, names: list[str], sep: str = ",", end: str = "\n", *, quote_all: bool = False
) -> Export:
    """Make the case of a long table that must lead to a question."""
    lines = _long(*names)
    number = next(column for column in names if KIND.get(column) == "number")
    code = next(column for column in names if KIND.get(column) == "code")
    return ask(
        name, file, table(lines, sep, end, quote_all=quote_all), DIAGNOSES, *by(number, code), ids=NUMBERS,
        columns=columns_of(lines),
    )  # fmt: skip


def long_tables() -> list[Export]:
    """Tables with a line for each diagnosis."""
    three = _long("pat", "icd", "sex")
    text = table(three)
    german = table(_long("Fall", "Kode", "Datum"), ";")
    ragged = table(_long("patient", "code")).splitlines()
    ragged[9] += ",see letter"
    hand = by("patient", "code")
    dashes = ["+".join("-" * 9 for _ in range(3))]
    psql = ["|".join(f" {cell:8}" for cell in line) for line in three]
    return [
        _question("pat,icd,sex", "pat.csv", ["pat", "icd", "sex"]),
        _question("patient_id,icd10,date", "dates.csv", ["patient_id", "icd10", "date"]),
        _question(
            "semicolons of a spreadsheet",
            "sheet.csv",
            ["Patient", "Diagnose", "Geschlecht", "Alter"],
            ";",
            "\r\n",
        ),
        _question("Fall;Hauptdiagnose", "faelle.csv", ["Fall", "Hauptdiagnose"], ";"),
        _question("MRN;DX", "mrn.csv", ["MRN", "DX"], ";"),
        _question("MRN,DX", "mrn2.csv", ["MRN", "DX"]),
        _question("three columns with tabs", "export.tsv", ["pat", "icd", "sex"], "\t"),
        _question("tabs in a .txt", "export.txt", ["pat", "icd", "sex"], "\t"),
        _question("commas in a .dat", "export.dat", ["pat", "icd", "sex"]),
        _question("bars", "bars.csv", ["pat", "icd", "sex"], "|"),
        _question("no ending in the name", "export", ["pat", "icd", "sex"], ";"),
        _question("an ending in capitals", "EXPORT.CSV", ["FALLNR", "Kode", "Alter"], ";"),
        _question("all quoted", "quoted.csv", ["patient", "icd", "zip"], quote_all=True),
        _question("the id last", "last.csv", ["icd", "sex", "pat"]),
        _question("the id in the middle", "middle.csv", ["sex", "pat", "icd"]),
        _question(
            "names that a shell must quote", "units.csv", ["Patient-Nr.", "ICD (10)", "Gewicht [kg]"], ";"
        ),
        _question("German dates", "datum.csv", ["Fallnummer", "Datum", "Kode"], ";"),
        _question("lines end with CR LF", "crlf.csv", ["pat", "icd", "age"], end="\r\n"),
        _question("lines end with CR", "cr.csv", ["pat", "icd", "age"], end="\r"),
        _question("names that mislead", "mislead.csv", ["item_no", "event", "age"]),
        _question("two names that mislead", "mislead2.csv", ["code no", "event"]),
        ask(
            "no line end at the end", "cut.csv", text.rstrip("\n"), DIAGNOSES, *by("pat", "icd"), ids=NUMBERS
        ),
        ask("a ragged line", "ragged.csv", "\n".join(ragged) + "\n", ids=NUMBERS),
        ask(
            "a separator at the end of each line",
            "trailing.csv",
            text.replace(",", ";").replace("\n", ";\n"),
            DIAGNOSES,
            *by("pat", "icd"),
            ids=NUMBERS,
        ),
        ask(
            "a separator at the end of each line but the header",
            "trailing2.csv",
            text.replace("\n", ",\n").replace("sex,\n", "sex\n", 1),
            ids=NUMBERS,
        ),
        ask("totals at the end", "totals.csv", german + "Summe;61;\n", ids=NUMBERS),
        ask("totals below a blank line", "totals2.csv", german + "\nAnzahl: 61\n", ids=NUMBERS),
        ask(
            "title lines above the header",
            "title.csv",
            "Klinikum Musterstadt\nDiagnosen, Stand 01.02.2024\n\n" + german,
            ids=NUMBERS,
        ),
        ask(
            "title lines of the table's width",
            "title2.csv",
            "Klinikum Musterstadt;;\nStand 01.02.2024;;\n" + german,
            ids=NUMBERS,
        ),
        ask("comment lines", "comments.csv", "# exported 2024-02-01\n# confidential\n" + text, ids=NUMBERS),
        ask("sep= of a spreadsheet", "sep.csv", "sep=;\r\n" + german.replace("\n", "\r\n"), ids=NUMBERS),
        ask(
            "blank lines in between",
            "blank.csv",
            text.replace("\n", "\n\n"),
            DIAGNOSES,
            *by("pat", "icd"),
            ids=NUMBERS,
        ),
        ask(
            "blanks around the fields",
            "padded.csv",
            text.replace(",", " , "),
            DIAGNOSES,
            *by("pat", "icd"),
            ids=NUMBERS,
        ),
        ask(
            "aligned by blanks",
            "aligned.csv",
            "".join(f"{a:10}{b:8}{c}\n" for a, b, c in three),
            ids=_joined(three),
        ),
        ask(
            "aligned by blanks, as .txt",
            "aligned.txt",
            "".join(f"{a:10}{b:8}{c}\n" for a, b, c in three),
            ids=_joined(three),
        ),
        ask(
            "a psql table", "psql.txt", "\n".join([psql[0], *dashes, *psql[1:], "(61 rows)", ""]), ids=NUMBERS
        ),
        ask(
            "a Markdown table",
            "md.txt",
            "\n".join(f"|{line}|" for line in [psql[0], *(d.replace("+", "|") for d in dashes), *psql[1:]]),
            ids=NUMBERS,
        ),
        either(
            ask(
                "patient_id,icd10",
                "two.csv",
                table(_long("patient_id", "icd10")),
                DIAGNOSES,
                *by("patient_id", "icd10"),
                ids=NUMBERS,
            )
        ),
        either(
            ask(
                "case_id;diagnosis",
                "two2.csv",
                table(_long("case_id", "diagnosis"), ";"),
                DIAGNOSES,
                *by("case_id", "diagnosis"),
                ids=NUMBERS,
            )
        ),
        either(
            ask(
                "icd10,patient_id",
                "two3.csv",
                table(_long("icd10", "patient_id")),
                DIAGNOSES,
                *by("patient_id", "icd10"),
                ids=NUMBERS,
            )
        ),
        ask("case_id,zip_code", "zip.csv", table(_long("case_id", "zip_code")), ids=NUMBERS),
        ask("no header", "bare.csv", table(three[1:]), ids=NUMBERS),
        ask("two columns, no header", "bare2.csv", table(_long("pat", "icd")[1:]), ids=NUMBERS),
        ask(
            "two columns, no header, the id last",
            "bare3.csv",
            table(_long("icd", "pat")[1:], ";"),
            ids=NUMBERS,
        ),
        ask("three columns with tabs, no header", "bare.tsv", table(three[1:], "\t"), ids=NUMBERS),
        read(
            "a ragged line, yet rows of items by --format basket",
            "ragged4.csv",
            "\n".join(ragged) + "\n",
            [frozenset(line.split(",")) for line in ragged],
            "--format",
            "basket",
            "--not-ids",
            "1",
        ),
        refuse(
            "a ragged line and columns named",
            "ragged2.csv",
            "\n".join(ragged) + "\n",
            "line 10",
            options=hand,
        ),
        read(
            "a long table with a person without items",
            "noitem.csv",
            "patient,code\n4711001,E11\n4711002,\n",
            [frozenset({"E11"}), frozenset()],
            *hand,
        ),
    ]


def _joined(lines: Lines) -> list[str]:
    return [f"{a:10}{b:8}{c}" for a, b, c in lines]


def _wide(keys: list[str], prefix: str, width: int) -> Lines:
    """Return a header and one line for each patient."""
    lines: Lines = [[*keys, *(f"{prefix}{i}" for i in range(1, width + 1))]]
    for patient in PATIENTS:
        about = [patient.number, patient.age, patient.sex, patient.zip][: len(keys)]
        lines.append([*about, *patient.codes, *[""] * (width - len(patient.codes))])
    return lines


def names_and_numbers() -> list[Export]:
    """Long tables whose names, or the name of whose file, mean something to a shell or to the reader."""
    pairs = [(p.number, code) for p in PATIENTS for code in p.codes]
    pairs_of = _long("pat", "icd", "sex")[1:]

    def named(name: str, pat: str, icd: str, sex: str, *, shown: bool = True) -> Export:
        lines = [[pat, icd, sex], *pairs_of]
        return ask(name, "n.csv", table(lines, ";"), DIAGNOSES, *by(pat, icd), ids=NUMBERS, shown=shown)

    text = table([["pat", "icd", "sex"], *pairs_of])
    return [
        named("names with dashes", "--pat", "-icd", "sex"),
        named("names with quotes", "pat's", 'the "icd"', "$(sex)"),
        named("names with blanks at the ends of words", "pat  no", "icd code", "*"),
        named("names in another script", "患者", "コード", "性別"),
        named("names that are numbers from 0", "0", "1", "2", shown=False),
        named("names that are numbers, the last first", "3", "2", "1", shown=False),
        ask(
            "a file's name for a shell",
            "Müller's export (1).csv",
            text,
            DIAGNOSES,
            *by("pat", "icd"),
            ids=NUMBERS,
        ),
        ask("a name that comes twice", "twice.csv", table([["id", "code", "code"], *pairs_of]), ids=NUMBERS),
        ask(
            "a header that comes again",
            "again.csv",
            text + text[:200].rpartition("\n")[0] + "\n",
            ids=NUMBERS,
        ),
        ask("blank lines first", "first.csv", "\n\n" + text, DIAGNOSES, *by("pat", "icd"), ids=NUMBERS),
        ask("no names at all", "none.csv", ",,\n" + table(pairs_of), ids=NUMBERS),
        refuse("UTF-16 without a mark", "le.csv", text.encode("utf-16-le"), "--encoding utf-16"),
        refuse(
            "Windows-1252, two columns",
            "two.csv",
            f"Fall;Ärzte\n{table(pairs, ';')}".encode("cp1252"),
            "--encoding cp1252",
        ),
    ]


def wide_tables() -> list[Export]:
    """Tables with a line for each patient or stay, and columns DX1, DX2, ..."""
    lines = _wide(["UNIQ", "AGE", "SEX"], "DX", 20)
    shown = columns_of(lines, "UNIQ", "AGE", "SEX", "DX1")
    trimmed = [lines[0], *([cell for cell in line if cell] for line in lines[1:])]
    named = ("--item-columns", "DX1-DX20")
    hcup = _wide(["KEY", "AGE", "FEMALE", "ZIP"], "I10_DX", 12)
    hcup = [
        [*line, *procedures]
        for line, procedures in zip(hcup, [["I10_PR1", "I10_PR2"], *[["", ""]] * 30], strict=True)
    ]
    drg = [["FALLNR", "ALTER", "GESCHL", "HD", "ND1", "ND2", "ND3", "Bewertungsrelation", "Entgelt (€)"]]
    drg += [
        [
            p.number,
            p.age,
            "männlich" if p.sex == "m" else "weiblich",
            *p.codes,
            *[""] * (4 - len(p.codes)),
            f"{0.5 + i / 10:.3f}".replace(".", ","),
            f"1.{200 + i},50",
        ]
        for i, p in enumerate(PATIENTS)
    ]
    german = table(drg, ";", "\r\n")
    marked = [[cell or "NA" for cell in line] for line in lines]
    zeros = table(_wide(["UNIQ"], "DX", 4))
    return [
        ask("DX1 to DX20", "wide.csv", table(lines), DIAGNOSES, *named, ids=NUMBERS, columns=shown),
        *(
            ask(
                f"marks {yes} and {no or 'nothing'}",
                "marks.csv",
                table(
                    [
                        ["UNIQ", *CODES],
                        *([p.number, *(yes if c in p.codes else no for c in CODES)] for p in PATIENTS),
                    ]
                ),
                DIAGNOSES,
                "--item-columns",
                f"{CODES[0]}-{CODES[-1]}",
                ids=NUMBERS,
            )
            for yes, no in (
                ("1", "0"),
                ("1", "NA"),
                ("Yes", "No"),
                ("Checked", "Unchecked"),
                ("Y", "N"),
                ("x", ""),
            )
        ),
        ask("DX1 to DX20, trimmed", "trimmed.csv", table(trimmed), DIAGNOSES, *named, ids=NUMBERS),
        ask(
            "DX1 to DX20, a list of columns",
            "wide2.csv",
            zeros,
            DIAGNOSES,
            "--item-columns",
            "DX1,DX2,DX3,DX4",
            ids=NUMBERS,
        ),
        ask(
            "DX1 to DX20, a pattern",
            "wide3.csv",
            table(lines, "\t"),
            DIAGNOSES,
            "--item-columns",
            "DX*",
            ids=NUMBERS,
        ),
        ask("DX1 to DX20 with NA", "wide4.csv", table(marked), DIAGNOSES, *named, ids=NUMBERS),
        ask(
            "DX1 to DX20 with semicolons and the id last",
            "wide5.csv",
            table([[*line[1:], line[0]] for line in lines], ";"),
            DIAGNOSES,
            *named,
            ids=NUMBERS,
        ),
        ask("DX1 to DX4, no header", "wide6.csv", table(_wide(["UNIQ"], "DX", 4)[1:]), ids=NUMBERS),
        ask("DX1 to DX4, no header, trimmed", "wide7.csv", table(trimmed[1:]), ids=NUMBERS),
        ask(
            "one line for each stay of a patient",
            "wide8.csv",
            table([*lines[:-1], [PATIENTS[0].number, "44", "m", "Z99", *[""] * 19]]),
            [DIAGNOSES[0] | {"Z99"}, *DIAGNOSES[1:-1]],
            "--id-column",
            "UNIQ",
            *named,
            ids=NUMBERS,
            shown=False,
        ),
        ask(
            "HCUP",
            "sid_core.csv",
            table(hcup),
            DIAGNOSES,
            "--item-columns",
            "I10_DX*",
            ids=NUMBERS,
            shown=False,
        ),
        ask(
            "a DRG export",
            "drg.csv",
            german,
            DIAGNOSES,
            "--item-columns",
            "HD,ND1,ND2,ND3",
            ids=NUMBERS,
            shown=False,
            columns=columns_of(drg, "FALLNR", "ALTER", "GESCHL", "HD"),
        ),
        ask(
            "a DRG export with a mark",
            "drg_bom.csv",
            b"\xef\xbb\xbf" + german.encode(),
            DIAGNOSES,
            "--item-columns",
            "HD,ND1-ND3",
            ids=NUMBERS,
            shown=False,
            columns=columns_of(drg, "FALLNR"),
        ),
        refuse("a DRG export in Windows-1252", "drg_1252.csv", german.encode("cp1252"), "--encoding cp1252"),
        ask(
            "a DRG export in Windows-1252, named",
            "drg_named.csv",
            german.encode("cp1252"),
            None,
            "--encoding",
            "cp1252",
            ids=NUMBERS,
        ),
        ask(
            "Unicode text of a spreadsheet",
            "unicode.txt",
            table(drg, "\t", "\r\n").encode("utf-16"),
            ids=NUMBERS,
        ),
        ask(
            "UTF-16 with the high byte first",
            "utf16be.csv",
            b"\xfe\xff" + german.encode("utf-16-be"),
            ids=NUMBERS,
        ),
        ask(
            "decimal commas not quoted",
            "decimal.csv",
            "case,los,code\n"
            + "".join(f"{p.number},{i % 9},{i % 10},{p.codes[0]}\n" for i, p in enumerate(PATIENTS)),
            ids=NUMBERS,
        ),
        either(
            ask(
                "numbers with thousands separators",
                "thousands.csv",
                table([["case", "icd"], *([f"{int(p.number):,}", p.codes[0]] for p in PATIENTS)]),
                [frozenset(p.codes[:1]) for p in PATIENTS],
                *by("case", "icd"),
                ids={f"{int(p.number):,}" for p in PATIENTS},
            )
        ),
        ask(
            "empty lines of separators at the end",
            "ends.csv",
            table(_long("pat", "icd")) + ",\n,\n",
            DIAGNOSES,
            *by("pat", "icd"),
            ids=NUMBERS,
        ),
        ask(
            "line ends in quotes",
            "address.csv",
            table(
                [
                    ["pat", "address", "icd"],
                    *([p.number, f"Main St {p.age}\n{p.zip} Town", c] for p in PATIENTS for c in p.codes),
                ]
            ),
            DIAGNOSES,
            *by("pat", "icd"),
            ids=NUMBERS,
        ),
        ask(
            "a header of two names above ids and items",
            "ragged5.csv",
            "patient,diagnoses\n" + "".join(",".join([p.number, *p.codes]) + "\n" for p in PATIENTS),
            ids=NUMBERS,
        ),
        ask(
            "ids and items",
            "idfirst.csv",
            "".join(",".join([p.number, *p.codes]) + "\n" for p in PATIENTS),
            ids=NUMBERS,
        ),
        ask(
            "items and ids",
            "idlast.csv",
            "".join(";".join([*p.codes, p.number]) + "\n" for p in PATIENTS),
            ids=NUMBERS,
        ),
        ask(
            "ids, a colon and items",
            "colon.csv",
            "".join(f"{p.number}: {', '.join(p.codes)}\n" for p in PATIENTS),
            ids={f"{p.number}: {p.codes[0]}" for p in PATIENTS},
        ),
        ask(
            "ids by running number and items",
            "running.csv",
            "".join(",".join([str(i + 1), *p.codes]) + "\n" for i, p in enumerate(PATIENTS)),
            ids={str(i + 1) for i in range(30)},
        ),
    ]


def lists_in_cells() -> list[Export]:
    """Tables with one line for each patient, and all diagnoses in one cell."""
    names, by_both = ["patient", "diagnoses"], by("patient", "diagnoses")

    def lines(sign: str, start: str = "", end: str = "", quote: str = "") -> Lines:
        cells = [
            start + sign.join(f"{quote}{code}{quote}" for code in patient.codes) + end for patient in PATIENTS
        ]
        return [[patient.number, cell] for patient, cell in zip(PATIENTS, cells, strict=True)]

    aged = [[p.number, p.age, cell] for p, (_, cell) in zip(PATIENTS, lines(";"), strict=True)]
    more = patients(90, seed=3, most=8)
    halves = [[p.number, ";".join(p.codes[::2]), ";".join(p.codes[1::2])] for p in more]
    visits = [[p.number, code] for p in PATIENTS for code in (";".join(p.codes[:2]), ";".join(p.codes[1:]))]
    written = {
        "a list of Python in a cell": lines(", ", "[", "]", "'"),
        "a set of Python in a cell": lines(", ", "{", "}", "'"),
        "an array of JSON in a cell": lines(",", "[", "]", '"'),
        "an array of a database in a cell": lines(",", "{", "}"),
    }
    return [
        ask(
            "a list in a cell", "lists.csv", table([["patient", "age", "diagnoses"], *aged]), DIAGNOSES,
            *by_both, "--delimiter", ";", ids=NUMBERS,
        ),
        ask(
            "a quoted list in a cell", "lists2.csv", table([names, *lines(",")], ";"), DIAGNOSES,
            *by_both, "--delimiter", ",", ids=NUMBERS,
        ),
        ask(
            "lists with semicolons, all quoted", "lists3.csv",
            table([names, *lines("; ")], quote_all=True), DIAGNOSES,
            *by_both, "--delimiter", ";", ids=NUMBERS,
        ),
        ask(
            "codes between blanks in a cell", "lists4.csv", table([names, *lines(" ")]), DIAGNOSES,
            *by_both, "--delimiter", " ", ids=NUMBERS,
        ),
        ask(
            "lists in two columns", "lists5.csv", table([["patient", "main", "other"], *halves]),
            [frozenset(p.codes) for p in more], "--id-column", "patient", "--item-columns", "main,other",
            "--delimiter", ";", ids={p.number for p in more},
        ),
        ask(
            "lists of two", "lists11.csv", table([names, *([p.number, ";".join(p.codes[:2])] for p in more)]),
            [frozenset(p.codes[:2]) for p in more], *by_both, "--delimiter", ";",
            ids={p.number for p in more},
        ),
        ask(
            "lists above empty lines", "lists12.csv", table([names, *lines(";")]) + ",\n,\n", DIAGNOSES,
            *by_both, "--delimiter", ";", ids=NUMBERS,
        ),
        ask(
            "several lists of a patient", "lists6.csv", table([names, *visits]), DIAGNOSES,
            *by_both, "--delimiter", ";", ids=NUMBERS,
        ),
        ask(
            "lists alone, quoted", "lists7.csv", table([["diagnoses"], *([c] for _, c in lines(","))]),
            DIAGNOSES, "--item-columns", "diagnoses", "--delimiter", ",",
        ),
        *(
            ask(
                name, "lists8.csv", table([names, *cells]), DIAGNOSES,
                *by_both, "--delimiter", ",", ids=NUMBERS,
            )
            for name, cells in written.items()
        ),
        replace(
            ask(
                "a list in a cell of a column that is named", "lists9.csv", table([names, *lines(";")]),
                words=["seem to be lists", "--delimiter ';'", "--format long"],
            ),
            options=by_both,
        ),
        read(
            "a list in a cell that is one item", "lists10.csv", table([names, *lines(";")]),
            [frozenset({";".join(row.codes)}) for row in PATIENTS],
            *by_both, "--format", "long", "--not-ids", "diagnoses",
        ),
    ]  # fmt: skip


def omop() -> list[Export]:
    """Tables of the OMOP model and of its relatives."""
    concepts = {
        code: str(320_000 + 17 * i) for i, code in enumerate(sorted({c for p in PATIENTS for c in p.codes}))
    }
    names = [
        "condition_occurrence_id",
        "person_id",
        "condition_concept_id",
        "condition_start_date",
        "condition_type_concept_id",
        "visit_occurrence_id",
    ]
    lines: Lines = [names]
    for patient in PATIENTS:
        for code, date in zip(patient.codes, patient.dates, strict=True):
            n = str(9_000_000 + len(lines))
            lines.append([n, patient.number, concepts[code], date, "32817", str(77_000_000 + len(lines))])
    rows = grouped((line[1], line[2]) for line in lines[1:])
    keys = {cell for line in lines[1:] for cell in (line[0], line[1], line[5])}
    key = [
        ["diagnosis_id", "patient"],
        *([str(600_100 + i), p.number] for i, p in enumerate(p for p in PATIENTS for _ in p.codes)),
    ]
    visits = [
        ["visit_id", "patient_code"],
        *(
            [str(600_100 + 7 * i), f"AB{p.number}"]
            for i, p in enumerate(p for p in PATIENTS for _ in p.codes)
        ),
    ]
    swapped = [["item", "order_id"], *([p.number, c] for p in PATIENTS for c in p.codes)]
    serial = [["customer_id", "product"], *([f"K{i % 7}", p.number] for i, p in enumerate(PATIENTS))]
    master = [["item_id", "product"], *([str(100_000 + i), f"article {i}"] for i in range(40))]
    money = [
        ["order_id", "item_price"],
        *([p.number, f"{int(p.age) / 10 + i:.2f}"] for i, p in enumerate(PATIENTS) for _ in p.codes),
    ]
    staff = [["case_id", "customer_code"], *([str(i // 2 + 100), p.number] for i, p in enumerate(PATIENTS))]
    return [
        ask(
            "OMOP condition_occurrence",
            "condition_occurrence.csv",
            table(lines),
            rows,
            *by("person_id", "condition_concept_id"),
            ids=keys,
            shown=False,
            columns=columns_of(lines, "person_id", "condition_concept_id"),
        ),
        ask(
            "OMOP, every diagnosis and its visit",
            "visits.tsv",
            table([line[:3] for line in lines], "\t"),
            rows,
            *by("person_id", "condition_concept_id"),
            ids=keys,
        ),
        ask(
            "the key of a table and its patient",
            "keys.csv",
            table(key),
            ids={cell for line in key[1:] for cell in line},
        ),
        ask(
            "visits and codes of patients",
            "codes.csv",
            table(visits),
            ids={cell for line in visits[1:] for cell in line},
        ),
        ask(
            "names of columns exchanged",
            "swapped.csv",
            table(swapped),
            DIAGNOSES,
            *by("item", "order_id"),
            ids=NUMBERS,
            shown=False,  # a column called ID is never proposed for items
        ),
        ask("a product column of serial numbers", "serial.csv", table(serial), ids=NUMBERS),
        ask("a list of products", "master.csv", table(master), ids={line[0] for line in master[1:]}),
        ask("an item column of prices", "prices.csv", table(money), ids=NUMBERS),
        ask("a code column of customers", "customers.csv", table(staff), ids=NUMBERS),
    ]


def identifiers() -> list[Export]:
    """Ids of all sorts, sorted and unsorted, in tables and alone."""
    numbers = [p.number for p in PATIENTS]
    kinds = {
        "UUIDs": [str(uuid.UUID(int=int(n) * 7919**8 % 2**128)) for n in numbers],
        "hashes": [hashlib.sha1(n.encode(), usedforsecurity=False).hexdigest() for n in numbers],
        "e-mail addresses": [f"user{n}@example.org" for n in numbers],
        "telephone numbers": [f"+49 30 {n}" for n in numbers],
        "names": [
            f"{family}, {first_name}"
            for family in ("Müller", "Meier", "Schmidt", "Öz", "Jones")
            for first_name in ("Anna", "Jörg", "Li", "Tom", "Eva", "Max")
        ],
        "a prefix": [f"DE-{n}" for n in numbers],
        "sorted numbers": sorted(numbers),
        "running numbers": [f"{i:06}" for i in range(1, 31)],
        "dates and times": [f"2024-03-{i % 28 + 1:02}T{i % 24:02}:{i * 7 % 60:02}:11" for i in range(30)],
    }
    made = []
    for what, ids in kinds.items():
        pairs = [[i, code] for i, p in zip(ids, PATIENTS, strict=True) for code in p.codes]
        made += [
            ask(
                f"{what} and codes",
                "kinds.csv",
                table([["who", "what"], *pairs]),
                DIAGNOSES,
                *by("who", "what"),
                ids=ids,
                columns={"who": ids, "what": {c for p in PATIENTS for c in p.codes}},
                shown=what != "dates and times",  # dates are never proposed as IDs
            ),
            ask(f"{what} and codes, no header", "kinds.csv", table(pairs, ";"), ids=ids),
            ask(f"a column of {what}", "alone.csv", table([i] for i in ids), ids=ids),
            ask(
                f"a column of {what} below a name",
                "alone.csv",
                table([["patient"], *([i] for i in ids)]),
                ids=ids,
            ),
        ]
    return made


def tiny() -> list[Export]:
    """Tables of a few lines."""
    few = patients(2, seed=5)
    ids = {p.number for p in few}
    pairs = [[p.number, p.codes[0], p.sex] for p in few]
    return [
        ask(
            "a header and a line",
            "t1.csv",
            table([["pat", "icd", "sex"], pairs[0]]),
            [frozenset(few[0].codes[:1])],
            *by("pat", "icd"),
            ids=ids,
            shown=False,
        ),
        ask(
            "a header and two lines",
            "t2.csv",
            table([["pat", "icd", "sex"], *pairs]),
            [frozenset(p.codes[:1]) for p in few],
            *by("pat", "icd"),
            ids=ids,
            shown=False,
        ),
        ask("one line", "t3.csv", table(pairs[:1]), ids=ids),
        ask("two lines", "t4.csv", table(pairs, ";"), ids=ids),
        ask("two lines of two fields", "t5.tsv", table([line[:2] for line in pairs], "\t"), ids=ids),
        ask(
            "a header and two lines of two fields",
            "t6.csv",
            table([["Fall", "ICD"], *(line[:2] for line in pairs)], ";"),
            ids=ids,
        ),
        ask(
            "a column of five ids",
            "t7.csv",
            "".join(f"{p.number}\n" for p in patients(5)),
            ids=NUMBERS | {p.number for p in patients(5)},
        ),
        ask("a header and nothing else", "t8.csv", "patient_id;icd10;date\n"),
        either(
            ask(
                "order_id,item and a line",
                "t9.csv",
                "order_id,item\n4711001,tea\n",
                [frozenset({"tea"})],
                *by("order_id", "item"),
                ids={"4711001"},
            )
        ),
    ]


def dumps() -> list[Export]:
    """Return texts that are no tables: each line, or some of them, belong to one person."""
    records = "".join(f"Patient: {p.number}\nDiagnose: {p.codes[0]}\n\n" for p in PATIENTS)
    html = (
        "<table>\n"
        + "".join(f"<tr><td>{p.number}</td><td>{p.codes[0]}</td></tr>\n" for p in PATIENTS)
        + "</table>\n"
    )
    xml = (
        "<patients>\n"
        + "".join(f'<p id="{p.number}"><icd>{p.codes[0]}</icd></p>\n' for p in PATIENTS)
        + "</patients>\n"
    )
    insert = "INSERT INTO dx VALUES ("
    sql = "".join(f"{insert}'{p.number}','{p.codes[0]}','{p.sex}');\n" for p in PATIENTS)
    out = io.StringIO()
    csv.writer(out, quotechar="'", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        _long("pat", "icd", "sex")
    )
    single = out.getvalue()
    return [
        ask(
            "records of several lines", "records.txt", records, ids={f"Patient: {p.number}" for p in PATIENTS}
        ),
        ask(
            "records of several lines, as .csv",
            "records.csv",
            records,
            ids={f"Patient: {p.number}" for p in PATIENTS},
        ),
        ask("HTML that calls itself a spreadsheet", "export.xls", html, ids=set(html.splitlines()[1:-1])),
        ask("XML", "export.xml", xml, ids=set(xml.splitlines()[1:-1])),
        ask("SQL", "export.sql", sql, ids={f"{insert}'{n}'" for n in NUMBERS}),
        ask("single quotes", "single.csv", single, ids=NUMBERS | {f"'{n}'" for n in NUMBERS}),
    ]


def hospital_exports() -> list[Export]:
    return [
        *long_tables(), *names_and_numbers(), *wide_tables(), *lists_in_cells(), *omop(), *identifiers(),
        *tiny(), *dumps(),
    ]  # fmt: skip
