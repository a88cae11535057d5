"""Archives and workbooks, the same bytes at every time."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), content)
    return out.getvalue()


def xlsx(sheets: Mapping[str, Sequence[Sequence[object]]]) -> bytes:
    """Write a workbook as spreadsheets do: strings are shared, numbers are stored as numbers."""
    strings: dict[str, int] = {}
    parts: dict[str, str] = {}
    for i, lines in enumerate(sheets.values(), 1):
        rows = (f'<row r="{r}">{"".join(_cells(r, line, strings))}</row>' for r, line in enumerate(lines, 1))
        data = f"<sheetData>{''.join(rows)}</sheetData>"
        parts[f"worksheets/sheet{i}.xml"] = f'<worksheet xmlns="{MAIN}">{data}</worksheet>'
    names = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(sheets, 1))
    targets = [*((f"rId{i}", "worksheet", part) for i, part in enumerate(parts, 1)),
               ("rId99", "sharedStrings", "sharedStrings.xml")]  # fmt: skip
    shared = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in strings)
    types = "".join(
        f'<Override PartName="/xl/{part}" ContentType="{KIND}.{kind}+xml"/>'
        for part, kind in [
            ("workbook.xml", "sheet.main"),
            ("sharedStrings.xml", "sharedStrings"),
            *((part, "worksheet") for part in parts),
        ]
    )
    plain = (
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
    )
    main = f'xmlns="{MAIN}"'
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">{plain}{types}</Types>',
            "_rels/.rels": _relationships([("rId1", "officeDocument", "xl/workbook.xml")]),
            "xl/workbook.xml": f'<workbook {main} xmlns:r="{DOCUMENT}"><sheets>{names}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": _relationships(targets),
            "xl/sharedStrings.xml": f"<sst {main}>{shared}</sst>",
            **{f"xl/{part}": text for part, text in parts.items()},
        }
    )


def _relationships(targets: Sequence[tuple[str, str, str]]) -> str:
    every = (f'<Relationship Id="{i}" Type="{DOCUMENT}/{kind}" Target="{to}"/>' for i, kind, to in targets)
    return f'<Relationships xmlns="{PACKAGE}/relationships">{"".join(every)}</Relationships>'


def _cells(row: int, line: Sequence[object], strings: dict[str, int]) -> Iterator[str]:
    for column, value in enumerate(line):
        place = f"{chr(65 + column)}{row}"
        if isinstance(value, int):
            yield f'<c r="{place}"><v>{value}</v></c>'
        elif value:
            yield f'<c r="{place}" t="s"><v>{strings.setdefault(str(value), len(strings))}</v></c>'
