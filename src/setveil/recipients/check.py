"""Check what a release of setveil promises, from its published files alone. Needs Python 3.9 or later, nothing else.

    python3 -I check.py [FOLDER] [--k K] [--m M] [--json]      FOLDER: of a run, or published (default: where this is)

Exit codes: 0 it holds, 1 it does not, 2 it is not checked here, 4 the files cannot be read. This cannot tell whether
labels mean what about.json says, or whether rows were invented or emptied."""
import argparse, csv, io, itertools, json, math, pathlib, re, sys
from collections import Counter, defaultdict
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None")  # no items in wide tables
class Stop(Exception): "With an exit code and the reason."
def must(holds, wrong, code=4):
    if not holds: raise Stop(code, wrong)
def in_order(labels):  # by number if all are whole numbers, else by their characters
    whole = all(re.fullmatch("[+-]?[0-9]+", x) for x in labels)
    return sorted(labels, key=lambda x: (int(x), x) if whole else x)
def quoted(x, sign):  # as setveil writes a field
    return '"' + x.replace('"', '""') + '"' if re.search(f'[{re.escape(sign)}"\r\n]|^[ \t\ufeff]|[ \t]$', x) else x
def split(text, sign):  # into lines of fields; a blank line gives []; other bytes could tell rows apart
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True))
    again = (sign.join(quoted(x, sign) for x in line) if line != [""] else '""' for line in lines)
    must("".join(line + "\n" for line in again) == text.replace("\0", ""), "quotes, blanks or line ends are others")
    return lines
def read_lines(text, sign, names):  # a table with columns of these names (none: any): a dictionary for each line
    header, *lines = split(text, sign)
    must(len({*header}) == len(header) and {*header} == {*(names or header)}, f"the columns are {header}, not {names}")
    must({*map(len, lines)} <= {len(header)}, "a line has not as many fields as the header")
    return [dict(zip(header, line)) for line in lines]

def read_rows(about, data):  # of each row what somebody may know of its columns, if it has some, and its labels
    form, sign, lines, held = about["format"], about.get("separator", ","), [*io.StringIO(data)], defaultdict(list)
    if form == "table":
        roles, key = about["roles"], about["roles"]["set"]
        rows = read_lines(data, ",", [*roles["qi"], *roles["keep"], key])
        sets = [split(row[key] + "\n", about["delimiter"]) for row in rows]
        must({*map(len, sets)} <= {1}, "a field of items has a line end")
        return [(tuple((x, row[x]) for x in roles["qi"]), items) for row, (items,) in zip(rows, sets)]
    plain = {"fimi": "([+-]?[0-9]+( [+-]?[0-9]+)*)?\n", "spmf": "([1-9][0-9]* -1 )*-2\n"}.get(form, "(?s:.*)")
    head = sum(1 for _ in itertools.takewhile(lambda line: form == "spmf" and line[0] == "@", lines))
    must(all(re.fullmatch(plain, line) for line in lines[head:]), "a line has other blanks or signs")
    if form == "basket": rows = split(data, sign)
    elif form == "fimi": rows = [line.split() for line in lines]
    elif form == "jsonl":
        found, name = [json.loads(line) for line in lines], about.get("item_column")
        must(all(json.dumps(x, ensure_ascii=False) + "\n" == line for x, line in zip(found, lines)), "other blanks")
        must(all(type(x) is list if name is None else {*x} == {name} for x in found), "a line says more than its items")
        rows = [x if name is None else x[name] for x in found]
    elif form == "spmf":
        must("\r" not in data and all(re.match("@ITEM=|@CONVERTED_FROM_TEXT\n", x) for x in lines[:head]), "no head")
        names = dict(line.rstrip("\n")[6:].split("=", 1) for line in lines[:head] if line[:6] == "@ITEM=")
        rows = [[names.get(x, x) for x in line.split() if x not in ("-1", "-2")] for line in lines[head:]]
    elif form == "long":
        for line in read_lines(data, sign, [about["id_column"], about["item_column"]]):
            held[line[about["id_column"]]].append(line[about["item_column"]])
        must(all(re.fullmatch("0|[1-9][0-9]*", row) for row in held), "a row has no number")
        rows = [*held.values()]  # rows without items are not in the file
    elif form == "wide":
        cells = [[*x.values()] for x in read_lines(data, sign, about["item_columns"])]
        rows = [[x for x in line if x not in MISSING] for line in cells]
        must(all(line == row + [""] * (len(line) - len(row)) for line, row in zip(cells, rows)), "a gap")
    else:
        must(form == "onehot", f"files of the format {form} are not read here", 2)
        cells = read_lines(data, sign, []) if data.strip() else []
        must(all({*row.values()} <= {"0", "1"} for row in cells), "a cell is neither 0 nor 1")
        rows = [[x for x in row if row[x] == "1"] for row in cells]
    return [((), row) for row in rows]

def sets_of(rows, m, known=()):  # all sets of 1 to m facts that occur, each with the number of rows that have it
    behind = defaultdict(list)  # by the next fact: rows that have it, where they go on, how many are alike
    for row, start, weight in rows:
        for at in range(start, len(row)): behind[row[at]].append((row, at + 1, weight))
    for fact in sorted(behind):
        holding, here = behind.pop(fact), (*known, fact)
        yield here, sum(weight for _, _, weight in holding)
        if len(here) < m: yield from sets_of(holding, m, here)

def supports(rows, k, m):  # the same of rows; or the rows themselves with their numbers, where these decide
    distinct, holders = Counter(rows), defaultdict(set)
    if m >= max(map(len, distinct), default=0):  # every set lies in a row, which has no more rows than the set
        for row in distinct:
            for fact in row: holders[fact].add(row)
        whole = [(row, sum(map(distinct.get, set.intersection(*map(holders.get, row))))) for row in distinct if row]
        if m == math.inf or all(support >= k for _, support in whole): return whole
    return sets_of([(row, 0, weight) for row, weight in distinct.items()], m) if m else []

def wrong_counts(about, rows, lines, k, few):  # what cannot be true of counts.csv, or tells too much
    least, members, local = about["counts"]["least"], about["labels"], about["recoding"] in ("local", "table")
    shown, stands, listed, before = defaultdict(set), defaultdict(list), defaultdict(Counter), (-1, 0)
    for number, (_, row) in enumerate(rows):
        for label in row: shown[label].add(number)
    for label in [*members, *({*shown} - {*members})]:
        for item in members.get(label, [label]): stands[item].append(label)
    hidden, others = {item for item, label, _ in lines if not label}, about.get("others", {}).get("labels", [])
    wrong = [text for broken, text in [
        (least < k, f"the least count is {least}, below k = {k}"),
        (hidden and not about["counts"]["suppressed"], "suppressed items are listed, though about.json says no"),
        (few and about["counts"]["suppressed"], f"suppressed items may be listed, though only {few} rows are empty"),
        (len(hidden | {*stands}) > about.get("domain", math.inf), "there are more items than about.json says"),
        *((len(known) > 1 and not local, f"{item!r} has several labels") for item, known in stands.items()),
        *((local and shown[a] & shown[b], f"a row shows {a!r} and {b!r}, which share an item")
          for a, b in {pair for known in stands.values() for pair in itertools.combinations(known, 2)})] if broken]
    places = {x: at for at, x in enumerate(in_order({item for item, _, _ in lines}))}
    under = {x: at for at, x in enumerate(["", *in_order({label for _, label, _ in lines if label})])}
    for at, (item, label, count) in enumerate(lines, 2):
        known, here = stands.get(item, []), (places[item], under[label] if local else 0)
        most = len(shown[label]) if label else about["rows"] - sum(len(shown[x]) for x in known)
        if here <= before: wrong.append(f"line {at}: {item!r} is not in item order, or there before")
        if item in members or (label not in known if label else known and not local):
            wrong.append(f"line {at}: {item!r} is not published under {label!r}")
        elif not least <= count <= most: wrong.append(f"line {at}: {count} rows of {item!r}, can be {least} to {most}")
        listed[label][item], before = listed[label][item] + count, here
    for label, size in [(label, len(holding)) for label, holding in shown.items()]:
        unlisted = math.inf if label in others else len({*members.get(label, [label])} - {*listed[label]})
        most = sum(listed[label].values()) + unlisted * min(least - 1, size)
        if most < size: wrong.append(f"{size} rows show {label!r}, but its items can be in {most} at most")
    return wrong

def recount(about, data, counts, k, m):  # the promise of about.json, or another k or m, from the texts of the files
    promise, plain, told, wrong = about["guarantee"], about["recoding"] in ("global", "local"), about.get("counts"), []
    model, k, m = promise["model"], k or promise["k"], m or promise.get("m", "inf")
    must(model in (("km-anonymity", "k-anonymity") if plain else ("kkm", "mixed-km")) and not {*promise, *about} &
         {"sensitive", "absent", "files", "items_file"}, f"{model} of such a release is not checked here", 2)
    must(type(k) is int and k > 1 and (m == "inf" or type(m) is int and m > 0), f"k = {k} and m = {m} cannot be", 2)
    must(all(type(x) is list and {*map(type, x)} == {str} or x == [] and label in about["others"]["labels"]
             for label, x in about["labels"].items()), "labels are no lists")
    found, written, size = read_rows(about, data), {}, float(m)
    rows = [(known, tuple(sorted({*row} - {""}))) for known, row in found]
    must(all(len(row) == len(items) and (about["format"] == "long" or written.setdefault((known, row), items) == items)
             for (known, row), (_, items) in zip(rows, found)), "rows with the same labels are written in several ways")
    empty, mixed = Counter(known for known, row in rows if not row), model == "mixed-km"
    least, first, violations, groups = math.inf, [], 0, defaultdict(Counter)
    for known, row in rows:  # a fact of no column is an item
        groups[known if model == "kkm" else ()][(*known, *(("", label) for label in row)) if mixed else row] += 1
    unseen = about["rows"].__index__() - len(rows)  # rows without items, which these formats do not show
    if unseen > 0 and (about["format"] == "long" or (about["format"], data.strip()) == ("onehot", "")):
        empty[()], groups[()][()], unseen = empty[()] + unseen, groups[()][()] + unseen, 0
    must((unseen, sum(empty.values())) == (0, about["empty_rows"]), "about.json speaks of other rows")
    for known, group in groups.items():
        found = group.items() if model == "k-anonymity" else supports(group, k, size)
        for some, support in itertools.chain([((), sum(group.values()))] if model == "kkm" else [], found):
            least, violations = min(least, support), violations + (support < k)
            if support < k: first = sorted([*first, (len(some), some, known, support)])[:10]
    must((told is None) == (counts is None), "counts.csv is missing, or about.json says nothing of it")
    if told is not None:
        header, *lines = split(counts, ",")
        must(header == ["item", "label", "rows"] and {*map(len, lines)} <= {3}, "counts.csv has other columns")
        must(all(x and re.fullmatch("0|[1-9][0-9]{0,14}", n) for x, _, n in lines), "a line of counts.csv is none")
        few = [about["empty_rows"], *(n for _, n in supports(empty, k, size - 1))] if mixed else empty.values()
        lines, few = [(x, label, int(n)) for x, label, n in lines], min((n for n in few if 0 < n < k), default=0)
        wrong = wrong_counts(about, rows, lines, k, few)
    return {"model": model, "k": k, "m": m, "holds": not violations and not wrong, "counts": wrong,
            "violations": None if violations and m == "inf" and model != "k-anonymity" else violations,
            "first": [{"class": dict([x for x in some if x[0]] if mixed else known), "support": n,
                       "itemset": [x[1] for x in some if not x[0]] if mixed else some} for _, some, known, n in first],
            "greatest_k": None if least == math.inf else least}

def shown(text):  # without control characters, which would steer a terminal; JSON stays the same JSON
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]",
                  lambda x: f"\\u{ord(x[0]):04x}", text)
def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    for name, kind in (("--k", int), ("--m", lambda x: x if x == "inf" else int(x))): ask.add_argument(name, type=kind)
    ask.add_argument("--json", action="store_true")
    asked = ask.parse_args()
    folder = asked.folder / "published" if (asked.folder / "published").is_dir() else asked.folder
    read = lambda name: (folder / name).read_bytes().decode() if (folder / name).exists() else None
    try:
        about = json.loads(read("about.json"))
        data = "" if about["format"] == "parquet" else read(about["file"])
        found = recount(about, data, read("counts.csv"), asked.k, asked.m)
    except Exception as error:  # whatever is wrong with the files: there is no verdict
        code, why = error.args if isinstance(error, Stop) else (4, f"{type(error).__name__}: {error}")
        sys.exit(print(shown(f"No verdict: {why}"), file=sys.stderr) or code)
    told = "{model} (k={k}, m={m}); in fewer than k rows: {violations}; fewest rows: {greatest_k}".format(**found)
    lines = [("Yes: " if found["holds"] else "No: ") + told, *found["first"], *found["counts"]]
    print(shown(json.dumps(found, indent=2) if asked.json else "\n  ".join(map(str, lines))))
    sys.exit(not found["holds"])
if __name__ == "__main__": main()
