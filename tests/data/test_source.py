import bz2
import contextlib
import gzip
import hashlib
import io
import lzma
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.base.errors import DataError, RequestError
from setveil.base.memory import Unpacked, unpack_up_to
from setveil.rows.data.io import archives
from setveil.rows.data.io.archives import is_xlsx
from setveil.rows.data.io.decoded import as_text
from setveil.rows.data.io.source import gather, open_source, read_bytes

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


CHECKED = {int(zstd.CompressionParameter.checksum_flag): 1}  # as the program zstd writes
PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": (".gz", gzip.compress),
    "zstd": (".zst", lambda content: zstd.compress(content, options=CHECKED)),
    "xz": (".xz", lzma.compress),
    "bzip2": (".bz2", bz2.compress),
    "zip": (".zip", lambda content: zipped({"codes.csv": content})),
}
KINDS = pytest.mark.parametrize("kind", PACKERS)


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(action: Callable[[], Any], *expected: str, error: type[Exception] = DataError) -> str:
    with pytest.raises(error) as caught:
        action()
    for part in expected:
        assert part in str(caught.value)
    return str(caught.value)


# --- compressed files


@KINDS
@given(content=st.binary())
def test_what_was_packed_is_unpacked(
    tmp_path_factory: pytest.TempPathFactory, kind: str, content: bytes
) -> None:
    suffix, pack = PACKERS[kind]
    path = tmp_path_factory.mktemp("packed") / f"codes.csv{suffix}"
    write(path, raw := pack(content))
    if archives.archive_of(content):  # archives in archives have a test of their own
        return
    found = open_source(path)
    assert found.content == content == read_bytes(path)
    assert (found.path, found.compression, found.inner) == (str(path), kind, "codes.csv")
    assert found.sha256 == hashlib.sha256(raw).hexdigest()
    assert found.name == (f"{path} (codes.csv)" if kind == "zip" else str(path))


@KINDS
@given(data=st.data())
def test_a_damaged_archive_is_refused_or_read_rightly(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    suffix, pack = PACKERS[kind]
    content = b"".join(f"{i * i % 97},tea\n".encode() for i in range(data.draw(st.integers(0, 200))))
    raw = bytearray(pack(content))
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(1, len(raw)))]
    else:
        raw[data.draw(st.integers(10, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    path = write(tmp_path_factory.mktemp("damaged") / f"codes.csv{suffix}", bytes(raw))
    with contextlib.suppress(DataError):
        assert open_source(path).content == content


@KINDS
def test_every_truncation_is_refused(tmp_path: Path, kind: str) -> None:
    suffix, pack = PACKERS[kind]
    raw = pack(b"1,tea\n2,milk\n")
    for size in range(1, len(raw)):
        path = write(tmp_path / f"codes.csv{suffix}", raw[:size])
        refused(partial(open_source, path), str(path), f"{kind} archive", "damaged or cut off")


@pytest.mark.parametrize("kind", ["gzip", "zstd", "xz", "bzip2"])
def test_streams_one_after_the_other(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    suffix, pack = PACKERS[kind]
    pieces = [b"tea\n" * 100, b"", b"milk\n"]
    raw = b"".join(map(pack, pieces))
    for chunk in (1, 7, 1 << 20):
        monkeypatch.setattr(archives, "_CHUNK", chunk)
        assert open_source(write(tmp_path / f"a{suffix}", raw)).content == b"".join(pieces)
        assert open_source(write(tmp_path / f"a{suffix}", raw + bytes(8))).content == b"".join(pieces)
        # The functions of the standard library drop what follows the first stream and is damaged.
        refused(lambda: open_source(write(tmp_path / f"a{suffix}", raw + b"more")), "damaged")
        cut = pack(b"tea\n") + b"XX" + pack(b"milk\n")[2:]
        refused(partial(open_source, write(tmp_path / f"a{suffix}", cut)), "damaged")


@KINDS
def test_the_bytes_decide_not_the_name(tmp_path: Path, kind: str) -> None:
    suffix, pack = PACKERS[kind]
    found = open_source(write(tmp_path / "codes.csv", pack(b"tea\n")))
    assert (found.content, found.compression, found.inner) == (b"tea\n", kind, "codes.csv")
    found = open_source(write(tmp_path / f"codes.csv{suffix}", b"tea\n"))
    assert (found.content, found.compression, found.inner) == (b"tea\n", "", "codes.csv")
    found = open_source(write(tmp_path / f"CODES.DAT{suffix.upper()}", pack(b"1 2\n")))
    assert found.inner == ("codes.csv" if kind == "zip" else "CODES.DAT")


def test_a_word_is_no_archive(tmp_path: Path) -> None:
    for content in (b"BZh9 is a code\n", b"PK\n", b""):
        assert open_source(write(tmp_path / "a.csv", content)).compression == ""
    assert open_source(write(tmp_path / "a.csv.gz", b"")).content == b""


@KINDS
def test_standard_input(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    raw = PACKERS[kind][1](b"tea\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    found = open_source("-")
    assert (found.path, found.content, found.compression) == ("-", b"tea\n", kind)
    assert found.sha256 == hashlib.sha256(raw).hexdigest()
    named = ("standard input (codes.csv)", "codes.csv") if kind == "zip" else ("standard input", "-")
    assert (found.name, found.inner) == named


def test_zip_archives_hold_one_file(tmp_path: Path) -> None:
    litter = {"__MACOSX/._codes.csv": b"x", "export/.DS_Store": b"x", "export/": b""}
    path = tmp_path / "export.zip"
    found = open_source(write(path, zipped({**litter, "export/codes.csv": b"tea\n"})))
    assert (found.content, found.inner) == (b"tea\n", "codes.csv")
    assert found.name == f"{path} (export/codes.csv)"
    write(path, zipped({"a.csv": b"tea\n", "b.csv": b"milk\n"}))
    refused(lambda: open_source(path), str(path), "2 files: 'a.csv', 'b.csv'", "Unpack it")
    refused(lambda: open_source(write(path, zipped(litter))), "no file")
    refused(lambda: open_source(write(path, zipped({}))), "no file")


def test_zip_archives_that_are_not_read(tmp_path: Path) -> None:
    raw = bytearray(zipped({"a.csv": b"tea\n"}, zipfile.ZIP_STORED))
    directory = raw.index(b"PK\x01\x02")
    locked = bytearray(raw)
    locked[6] |= 1
    locked[directory + 8] |= 1
    refused(lambda: open_source(write(tmp_path / "a.zip", bytes(locked))), "password")
    other = bytearray(raw)
    other[8] = other[directory + 10] = 97  # a way of packing that Python does not know
    refused(lambda: open_source(write(tmp_path / "a.zip", bytes(other))), "packed in a way")
    office = zipped({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": b""})
    refused(lambda: open_source(write(tmp_path / "a.ods", office)), "Office file", ".xlsx")


def test_spreadsheets_are_left_as_they_are(tmp_path: Path) -> None:
    sheet = zipped({"[Content_Types].xml": b"", "xl/workbook.xml": b""})
    found = open_source(write(tmp_path / "a.xlsx", sheet))
    assert (found.content, found.compression, found.inner) == (sheet, "", "a.xlsx")
    found = open_source(write(tmp_path / "a.zip", zipped({"b.xlsx": sheet})))
    assert (found.content, found.compression, found.inner) == (sheet, "zip", "b.xlsx")
    assert open_source(write(tmp_path / "a.xlsx.gz", gzip.compress(sheet))).content == sheet
    assert is_xlsx(sheet)
    assert not is_xlsx(sheet[:-30])
    assert not is_xlsx(b"tea\n")
    refused(lambda: as_text(sheet, "a.xlsx"), "a.xlsx is a spreadsheet")


@KINDS
def test_archives_in_archives(tmp_path: Path, kind: str) -> None:
    pack = PACKERS[kind][1]
    for other, (_, inner) in PACKERS.items():
        path = write(tmp_path / "a", pack(inner(b"tea\n")))
        refused(partial(open_source, path), str(path), f"contains a {other} archive once")


def test_tar_archives(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.add(write(tmp_path / "a.csv", "tea\n"), "a.csv")
    raw = out.getvalue()
    refused(lambda: open_source(write(tmp_path / "a.tar.gz", gzip.compress(raw))), "tar archive")
    refused(lambda: as_text(raw, "a.tar"), "tar archive", "Unpack")


def test_what_does_not_fit_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(zlib, "decompressobj", fails)
    path = write(tmp_path / "bomb.gz", gzip.compress(b"tea\n"))
    refused(lambda: open_source(path), str(path), "memory")


# --- several files


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    (folder / "sub").mkdir(parents=True)
    for name in ("b.csv", "a.csv.gz", "C.CSV", ".hidden", "_SUCCESS", "about.json", "sub/d.csv", "_x.csv"):
        write(folder / name, "tea\n")
    names = ["C.CSV", "_x.csv", "a.csv.gz", "b.csv"]
    assert gather([str(folder)]) == [str(folder / name) for name in names]
    other = str(write(tmp_path / "z.csv", "tea\n"))
    assert gather([other, str(folder)])[:2] == [other, str(folder / "C.CSV")]
    assert gather(["no such file", "-"][:1]) == ["no such file"]
    assert gather(["-"]) == ["-"]
    assert gather([]) == []


def test_folders_that_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    (folder / "sub").mkdir(parents=True)
    refused(lambda: gather([str(folder)]), str(folder), "contains no file", "subfolders")
    for name in ("a.csv", "b.parquet", "README"):
        write(folder / name, "tea\n")
    refused(lambda: gather([str(folder)]), ".csv: 'a.csv'; .parquet: 'b.parquet'; no extension: 'README'")
    (tmp_path / "run" / "published").mkdir(parents=True)
    refused(lambda: gather([str(tmp_path / "run")]), "verify and measure")
    refused(lambda: open_source(tmp_path / "run"), "verify and measure")
    refused(lambda: open_source(folder), "a folder", "Name a file")


def test_no_file_is_read_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "tea\n")
    link = tmp_path / "b.csv"
    link.symlink_to(path)
    inputs = [str(path), f"{tmp_path}/./a.csv"], [str(path), str(link)], [str(tmp_path), str(path)]
    for paths in inputs:
        refused(partial(gather, paths), "named twice", "a.csv", error=RequestError)
    refused(lambda: gather(["-", str(path)]), "Standard input", error=RequestError)
    refused(lambda: gather(["-", "-"]), "Standard input", error=RequestError)


# --- encodings


def test_one_line_of_utf_32_whose_bytes_could_be_utf_16() -> None:
    text = "0\U00010001\U00010001\U000a0001"
    assert as_text(text.encode("utf-32-le"), "a.csv", "utf-32-le").content.decode() == text


UNICODE = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"]


def _letters(encoding: str) -> st.SearchStrategy[str]:
    """Draw letters of an encoding, to which the reader must be restricted, or it would try all encodings."""
    if encoding in {*UNICODE, "gb18030"}:
        return st.characters(exclude_categories=["Cs"], min_codepoint=1)
    found = [bytes([number]).decode(encoding, "ignore") for number in range(1, 256)]
    return st.sampled_from([letter for letter in found if letter])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "encoding", [*UNICODE, "latin-1", "cp1252", "cp850", "mac_roman", "koi8-r", "gb18030"]
)
@given(data=st.data())
def test_every_encoding(encoding: str, data: st.DataObject) -> None:
    text = data.draw(st.text(_letters(encoding).filter(lambda letter: letter != "\ufeff")))
    try:
        content = text.encode(encoding)
    except UnicodeError:
        return
    if archives.archive_of(content):
        return
    assert as_text(content, "a.csv", encoding).content.decode() == text
    if encoding in {"utf-8-sig", "utf-16", "utf-32"} and text:
        found = as_text(content, "a.csv")
        assert found.content.decode() == text
        assert found.encoding == encoding.removesuffix("-sig")


def test_what_text_was_read_as() -> None:
    assert as_text(b"tea\n", "a.csv").encoding == "utf-8"
    assert as_text(b"\xff\xfet\x00", "a.csv").encoding == "utf-16"
    assert as_text("é".encode("utf-16-be"), "a.csv", "utf-16-be").encoding == "utf-16-be"
    assert as_text(b"tea\n", "a.csv", "UTF8").encoding == "utf-8"
    assert as_text(b"\xe9", "a.csv", "latin-1").encoding == "latin-1"


def test_other_encodings_are_offered_by_name() -> None:
    german = "id,name\n1,Hans Müller\n"
    message = refused(
        lambda: as_text(german.encode("cp1252"), "a.csv"), "byte 0xfc", "line 2", "--encoding cp1252 it reads"
    )
    assert "'Müller'" in message
    assert "Hans" not in message  # nothing but the word at fault
    refused(lambda: as_text(german.encode("cp850"), "a.csv"), "cp850 it reads 'Müller'", "mac_roman it reads")
    refused(lambda: as_text(german.encode("cp1252"), "a.csv", "utf-8"), "--encoding cp1252")
    refused(lambda: as_text("é,".encode() + b"\xe9", "a.csv"), "text before is UTF-8", "cp1252 it reads 'é'")
    refused(lambda: as_text("Ö".encode("cp1252"), "a.csv"), "cp1252 it reads 'Ö'")
    long = refused(lambda: as_text(b"x" * 500 + b"\xe9" + b"y" * 500, "a.csv"))
    assert "é" in long
    assert len(long) < 250


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp932", "顧客,商品\n1,牛乳\n2,パン\n"),
        ("euc_jp", "顧客,商品\n1,牛乳\n2,パン\n"),
        ("cp949", "고객,상품\n1,우유\n2,빵\n"),
        ("gb18030", "客户,商品\n1,牛奶\n2,面包\n"),
        ("big5", "客戶,商品\n1,牛奶\n2,麵包\n"),
        ("cp1251", "Клиент;товар\n1;хлеб\n"),
        ("koi8_r", "Клиент;товар\n1;хлеб\n"),
        ("cp1253", "πελάτης,προϊόν\n1,γάλα\n"),
        ("cp1250", "klient;towar\n1;żółty ser\n"),
    ],
)
def test_words_of_other_scripts_are_offered_in_their_encoding(encoding: str, text: str) -> None:
    message = refused(lambda: as_text(text.encode(encoding), "a.csv"), f"--encoding {encoding} it reads")
    assert "cp1252" not in message


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["id,code\n1,tea\n", "id,name\n1,Müller\n", "código;año\n1;piñón\n" * 9])
def test_utf16_without_a_mark(encoding: str, text: str) -> None:
    content = text.encode(encoding)
    refused(lambda: as_text(content, "a.csv"), "UTF-16 without", f"--encoding {encoding}")
    assert as_text(content, "a.csv", encoding).content.decode() == text


def test_binary_content_is_refused() -> None:
    refused(lambda: as_text(b"1 2\n3\x00\n", "a.dat"), "binary file", "line 2")
    refused(lambda: as_text(b"\xd0\xcf\x11\xe0" + bytes(600), "a.xls"), "Office file", "password")
    refused(lambda: as_text(b"\x00\xff" * 100 + b"\xff\x01\x02", "a.csv"), "a.csv")
    for kind, (_, pack) in PACKERS.items():
        refused(partial(as_text, pack(b"tea\n"), "a.csv"), f"a.csv is a {kind} archive")


# --- small files that unpack to large ones


BOMB = bytes(1 << 26)


@pytest.mark.exhaustive
@KINDS
def test_what_is_unpacked_is_bounded(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    suffix, pack = PACKERS[kind]
    path = write(tmp_path / f"a.csv{suffix}", pack(BOMB))
    assert len(open_source(path).content) == len(BOMB)  # there is room
    monkeypatch.setattr("setveil.base.memory.memory_left", lambda: len(BOMB))
    sizes: list[int] = []

    class Counted(Unpacked):
        def require(self, size: int) -> None:
            sizes.append(size)
            super().require(size)

    monkeypatch.setattr(archives, "Unpacked", Counted)
    refused(
        partial(open_source, path), str(path), "more than 16 MB", "a quarter of the memory that is left",
        "--unpacked-limit MB.",
    )  # fmt: skip
    assert max(sizes) <= len(BOMB) // 4 + archives._AT_ONCE or kind == "zip"  # which says its size before
    monkeypatch.setenv("SETVEIL_UNPACKED_LIMIT", "1")
    refused(partial(open_source, path), "more than 1 MB", "the limit that was set")
    unpack_up_to(64)
    assert open_source(path).content == BOMB
    monkeypatch.delenv("SETVEIL_UNPACKED_LIMIT")
    monkeypatch.setattr("setveil.base.memory.memory_left", lambda: None)
    assert open_source(path).content == BOMB


def test_files_that_are_not_packed_have_no_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SETVEIL_UNPACKED_LIMIT", "0")
    assert len(open_source(write(tmp_path / "a.csv", b"tea\n" * 1000)).content) == 4000
