"""List what commands need compiled: base/jit/kernels.json, which first runs and `setveil warm` go by.

    python benchmarks/kernels.py

Runs commands on small data with an empty cache, each in a process of its own, and writes down which functions
they request, with which types, and how long these take to compile. To be run again when a function that is
compiled gets other arguments or is new; a test counts what the list lacks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LIST = ROOT / "src" / "setveil" / "base" / "jit" / "kernels.json"
TABLE = """age,sex,dx
34,f,asthma
34,f,asthma;gout
36,m,gout
36,m,gout;mumps
41,f,mumps
42,f,asthma;mumps
47,m,gout
49,m,asthma
"""
FEW = "a,b\nb,c\na,b,c\na,c,d\nb,d\na,b,d,e\nc,e\nd,e\n"  # so few rows take other ways
_BASKETS = "demo-input/baskets.csv -k5 -m2 -H demo-input/products.csv --force -o"
_TABLE = "ward.csv --qi age,sex --set dx --force -o"
COMMANDS = {  # the commands, and their algorithms, that each command line measures
    "demo --out demo": ["demo"],
    f"anonymize {_BASKETS} exact": ["anonymize", "anonymize exact"],
    "anonymize demo-input/baskets.csv -k5 -m2 --force -o learned": ["anonymize", "anonymize exact"],
    f"anonymize {_BASKETS} bounded -a aa --bound": ["anonymize aa"],
    **{
        f"anonymize {_BASKETS} {name} -a {name}": [f"anonymize {name}"]
        for name in ("aa", "da", "lra", "vpa", "classes")
    },
    "anonymize demo-input/baskets.csv -k5 -H demo-input/products.csv -a lg -o lg": ["anonymize lg"],
    "anonymize hghs.csv -a hghs --bound -k2 -m inf -H paper-tree.csv -o hghs": ["anonymize hghs"],
    "anonymize hghs.csv -a mhghs --bound -k2 -m inf -H paper-tree.csv -o mhghs": ["anonymize mhghs"],
    "anonymize coat.csv -a coat --utility U.txt --max-suppressed-items 15% -k5 --privacy P.txt -o coat": [
        "anonymize coat"
    ],
    **{
        f"anonymize moles.csv -a {name} --h 0.5 --k 3 --p 3 --private S.txt -o {name}-moles": [
            f"anonymize {name}"
        ]
        for name in ("border", "mm", "exact")
    },
    "anonymize hghs.csv -a oa -k2 -m1 -H paper-tree.csv -o oa": ["anonymize oa"],
    "anonymize coat.csv -a pcta --utility U.txt -k5 --privacy P.txt -o pcta": ["anonymize pcta"],
    "anonymize groups.csv -a cahd --p 2 --sensitive viagra -o cahd": ["anonymize cahd"],
    **{
        f"anonymize demo-input/baskets.csv --rho 0.5 --sensitive absinthe --force -o rho-{name} -a {name}": [
            f"anonymize {name}"
        ]
        for name in ("suppress-control", "td-control", "partial")
    },
    f"anonymize {_TABLE} rt --model kkm -k2 -m1": ["anonymize rt"],
    f"anonymize {_TABLE} forest --model mixed-km -k2 -m1 --global": ["anonymize forest"],
    **{
        f"anonymize few.csv -k2 -m{m} -a {name} -o few-{name}-{m}": [f"anonymize {name}"]
        for name in ("exact", "aa", "da", "oa", "lra", "vpa", "hghs", "mhghs")
        for m in (1, 2, 3)
    },
    "anonymize few.csv -k2 -a lg -o few-lg": ["anonymize lg"],
    "verify few.csv -k2 -m2": ["verify"],
    "risk few.csv": ["risk"],
    "measure few.csv few-exact-2": ["measure"],
    "verify demo -k5 -m2": ["verify"],
    "measure demo-input/baskets.csv demo": ["measure"],
    "risk demo-input/baskets.csv -m 1,2,3": ["risk"],
    "query demo pastries": ["query"],
    "reconstruct demo -o drawn.csv": ["reconstruct"],
    "recommend demo-input/baskets.csv -k5 -m2 -H demo-input/products.csv": ["recommend"],
    "explore demo-input/baskets.csv -k 5,10 -m 1,2 -H demo-input/products.csv -o explored.html": ["explore"],
    "moles moles.csv --h 0.5 --k 3 --p 3 --private S.txt": ["moles"],
    "anonymize demo-input/baskets.csv -H demo-input/products.csv -k5 -m2 -a aa --engine parts -o parts": [
        "anonymize aa"
    ],
    "hierarchy build demo-input/baskets.csv --out tree.csv": ["build"],
}


def main() -> None:
    """Run all commands and write the list."""
    sys.path.insert(0, str(ROOT / "tests"))
    from model_runs import INPUTS

    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, content in {**INPUTS, "ward.csv": TABLE, "few.csv": FEW}.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        for line, commands in COMMANDS.items():
            done = subprocess.run(
                [sys.executable, __file__, "record", *line.split()], cwd=folder, check=False,
                env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "RECORD": str(folder / "found")},
                capture_output=True, text=True,
            )  # fmt: skip
            if done.returncode:
                print(f"setveil {line}: {done.returncode}\n{done.stderr}")
            for one in json.loads((folder / "found").read_text()):
                known = found.setdefault(one["key"], {**one, "commands": []})
                known["seconds"] = max(known["seconds"], one["seconds"])
                known["commands"] = sorted({*known["commands"], *commands})
            print(f"{len(found):4} setveil {line}")
    lines = [
        json.dumps([one["kernel"], one["types"], one["seconds"], one["commands"]])
        for _, one in sorted(found.items())
    ]
    LIST.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def record() -> None:
    """Be a process that runs a command, and writes down the functions that it requests."""
    from setveil import __main__ as command
    from setveil.base import compiling, jit

    found: dict[str, dict[str, Any]] = {}
    entry = jit.Kernel._entry

    def entry_of(self: Any, types: Any) -> Any:
        started = time.thread_time()
        made = entry(self, types)
        if types is not None:
            key = json.dumps([self.name, types])
            took = round(time.thread_time() - started, 2)
            found[key] = {"key": key, "kernel": self.name, "types": types, "seconds": took}
        return made

    def end(code: int) -> None:
        sys.stdout.flush()
        Path(os.environ["RECORD"]).write_text(json.dumps(list(found.values())))
        os._exit(code)

    compiling.processes_for = lambda threads: 0
    jit.Kernel._entry = entry_of  # type: ignore[method-assign]
    vars(command)["end"] = end
    sys.argv = ["setveil", *sys.argv[2:]]
    command.main()


if __name__ == "__main__":
    record() if sys.argv[1:2] == ["record"] else main()
