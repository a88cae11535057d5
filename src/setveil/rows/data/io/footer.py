"""The columns in the footer of a Parquet file, read from Thrift's compact protocol."""

from __future__ import annotations

from collections import Counter
from typing import Any

_MAGIC = b"PAR1"
_ROW_GROUPS, _COLUMNS, _METADATA = 4, 1, 3  # numbers of fields in parquet.thrift
_PATH, _VALUES, _UNPACKED = 3, 5, 6
_DEEPEST = 50
_VIEW = 16  # bytes of memory that a value takes besides its text


def least_memory(content: bytes) -> int:
    """Return the least memory of a Parquet file's largest column, which a few bytes may fill; 0: unknown."""
    size = int.from_bytes(content[-8:-4], "little")
    found: Counter[bytes] = Counter()
    try:
        about = _Reader(content, len(content) - 8 - size).struct()
        for group in about[_ROW_GROUPS]:
            for column in group[_COLUMNS]:
                metadata = column[_METADATA]
                found[metadata[_PATH][0]] += _VIEW * metadata[_VALUES] + metadata[_UNPACKED]
    except (IndexError, KeyError, TypeError, ValueError):  # who reads the file says what is wrong
        return 0
    return max(found.values(), default=0)


class _Reader:
    """Structs from some place on: numbers of fields and what they hold."""

    def __init__(self, content: bytes, at: int) -> None:
        if at < len(_MAGIC):
            raise ValueError
        self.content, self.at = content, at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            fields[number] = kind == 1 if kind in {1, 2} else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError
        if kind in {1, 2, 3}:
            return self._byte()
        if kind in {4, 5, 6}:
            return self._integer()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._varint())
        if kind in {9, 10}:
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth + 1) for _ in range(size)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError

    def _byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def _bytes(self, size: int) -> bytes:
        self.at += size
        return self.content[self.at - size : self.at]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
