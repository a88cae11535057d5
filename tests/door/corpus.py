"""Files as people export them, each with what must happen when it is read."""

from __future__ import annotations

from exports import Export
from genuine_exports import genuine_exports
from hospital_exports import hospital_exports
from packed_exports import packed_exports
from shop_exports import shop_exports

CORPUS: list[Export] = [*hospital_exports(), *shop_exports(), *genuine_exports(), *packed_exports()]
