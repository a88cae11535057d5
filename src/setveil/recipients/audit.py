"""Audit what a run of setveil proved: its release is valid, and no release of its model loses less than the bound.
    python3 -I audit.py RUN ORIGINAL HIERARCHY [--certificate FILE]     RUN: a folder with published/ and internal/
Needs Python 3.9 or later, nothing else. All is counted anew from the original rows and the hierarchy, in integers; why
that is a proof stands in docs/certificate.md of setveil. It tells of rare items: keep it inside.
Exit codes: 0 accepted, 1 refused (it says why), 4 something cannot be read."""
import argparse, csv, decimal, fractions, functools, gzip, hashlib, io, json, math, pathlib, re, sys
from collections import Counter, defaultdict
class Refused(Exception): "Something is not as the run or its certificate says."
def must(holds, why):
    if not holds: raise Refused(why)
# --- reading: rows are ascending tuples of labels; the hierarchy is the parent of each node, None above the root
def fields(text, sign):  # of each line; a blank line has none
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True, skipinitialspace=True)
    return [[field.strip(" \t") for field in line] for line in reader]
def table(text, sign, names):  # the columns of these names, or of these numbers where there is no header
    header, *lines = [line for line in fields(text, sign) if line]
    if not {*names} <= {*header}: header, lines = [str(at + 1) for at in range(len(header))], [header, *lines]
    return [[(line + [""] * len(header))[header.index(name)] for name in names] for line in lines]
def read_rows(text, form, sign, key, columns, number):  # number: of rows; a long table does not show empty ones
    if form == "basket": rows = fields(text, sign)
    elif form == "fimi": rows = [line.split() for line in io.StringIO(text)]
    elif form == "jsonl":
        found = [json.loads(line if line.strip() else "[]") for line in io.StringIO(text)]
        rows = [map(str, x if type(x) is list else x[columns[0]] or []) for x in found]
    elif form == "long":
        held = defaultdict(list)
        for name, item in table(text, sign, [key, columns[0]]) if text.strip() else []: held[name].append(item)
        rows = [*held.values()] + [[]] * (number - len(held))
    else: raise ValueError(f"files of the format {form} are not read here: make a .jsonl file of them")
    return [tuple(sorted({*row} - {""})) for row in rows]
def read_hierarchy(text):  # each line leads from an item to the root
    lines, parent = [line for line in io.StringIO(text, None) if line.strip()], {}
    sign = ";" if ";" in text else next((x for x in "\t|," if all(x in line for line in lines)), ";")
    for line in fields("\n".join(lines), sign):
        path = [*dict.fromkeys(label for label in line if label)]
        for low, high in zip(path, [*path[1:], None]):
            if parent.setdefault(low, high) != high: raise ValueError(f"{low!r} has two parents in the hierarchy")
    return parent
# --- the hierarchy, and what is lost: full[v] where node v is published, hidden[x] where leaf x is left out
class Tree:
    def __init__(self, parent, shown):  # `shown`: leaves that occur or are kept
        below, part, self.root = defaultdict(list), {}, next(v for v in parent if parent[v] is None)
        for v, above in parent.items(): below[above].append(v)
        order = [self.root]
        for v in order: order += below.get(v, [])
        if len(order) != len(parent): raise ValueError("the hierarchy is not one tree")
        self.parent, self.below, self.whole = parent, below, order[::-1]  # children before their parents
        self.leaves = {v for v in order if v not in below}
        # The nodes that count: these leaves, what has two children or more that count, and the root.
        self.up, self.children = {self.root: None}, {}
        for v in self.whole:
            part[v] = [x for child in below[v] for x in part[child]] if v in below else [v] * (v in shown)
            if v in below and (len(part[v]) > 1 or v == self.root):
                self.children[v], part[v] = part[v], [v]
                self.up.update(dict.fromkeys(self.children[v], v))
        self.order = [v for v in self.whole if v in self.up]
    def path(self, v): return [v, *self.path(self.parent[v])] if self.parent.get(v) is not None else [v]  # upwards
def losses(tree, asked, count):  # integers: weights are multiplied by their common denominator
    given, objective = {x: fractions.Fraction(weight) for x, weight in asked["weights"].items()}, asked["objective"]
    must({*given} <= tree.leaves and min(given.values(), default=0) >= 0, "the weights are none of items")
    unit, size, total, weight, full = math.lcm(*(w.denominator for w in given.values())), {}, {}, {}, {}
    for v in tree.whole:
        times = count[v] if objective != "items" else min(count[v], 1)
        for known, n in ((size, 1), (total, count[v]), (weight, int(given.get(v, 1) * unit) * times)):
            known[v] = n if v in tree.leaves else sum(known[x] for x in tree.below[v])
    n, every = len(tree.leaves), total[tree.root]
    if objective in ("ncp", "lm", "items"):
        less, worst = (0, n) if objective == "ncp" else (1, max(n - 1, 1))
        return ({v: weight[v] * (size[v] - less if size[v] > 1 else 0) for v in tree.whole},
                {x: weight[x] * worst for x in tree.leaves})
    must(objective in ("entropy", "entropy-max"), f"there is no objective {objective}")
    digits, logs = decimal.Context(prec=60), {}
    for s in {every, *total.values()}:  # logarithms in units of 2^-128, and then what is lost in units of 2^-32 bit
        log = digits.divide(digits.ln(decimal.Decimal(max(s, 1))), digits.ln(decimal.Decimal(2)))
        logs[s] = int(digits.multiply(log, decimal.Decimal(1 << 128)).to_integral_value(context=digits))
    bits = lambda v, s: (weight[v] * logs[s] + (1 << 95)) >> 96
    known = {v: bits(v, total[v]) for v in tree.whole}
    for v in tree.whole:
        some = tree.below.get(v, [])
        full[v] = max(known[v] - sum(known[x] for x in some), 0) * bool(some) + sum(full[x] for x in some)
    return full, {x: bits(x, every) - known[x] * (objective == "entropy") for x in tree.leaves}
# --- the release
def supports(rows, m):  # of all sets of 1 to m labels that occur; rows: labels, where to go on, how many are alike
    behind = defaultdict(list)
    for row, start, alike in rows:
        for at in range(start, len(row)): behind[row[at]].append((row, at + 1, alike))
    for holding in behind.values():
        yield sum(alike for _, _, alike in holding)
        if m > 1: yield from supports(holding, m - 1)
def holders(rows):  # of each label: a bit for each row that holds it
    bits = defaultdict(lambda: bytearray(len(rows) // 8 + 1))
    for number, row in enumerate(rows):
        for label in row: bits[label][number // 8] |= 1 << number % 8
    return {label: int.from_bytes(some, "little") for label, some in bits.items()}
def all_of(bits, labels): return functools.reduce(int.__and__, (bits.get(x, 0) for x in labels), -1)
def check_release(asked, tree, rows, published, label, count):
    must({*label} == tree.leaves >= {*count} and all(not to or to in tree.path(x) for x, to in label.items()),
         "recoding.csv has not each item of original and hierarchy once, under itself or a node above it")
    used, out, most = {to for x, to in label.items() if to != x}, [x for x in label if not label[x]], asked["most"]
    must(all(label[x] == v for x in label for v in tree.path(x) if v in used), "a label is that of only some items")
    must(all(label.get(x) == x for x in asked["keep"]), "an item to keep is not published as itself")
    must(sum(count[x] for x in out) <= most and (asked["suppress"] or not out), "more is left out than may be")
    again = Counter(tuple(sorted({label[x] for x in row} - {""})) for row in rows)
    must(again == Counter(published), "the published rows are not the original rows, recoded")
    bits, found = holders(published), supports([(row, 0, alike) for row, alike in again.items()], asked["m"])
    if asked["m"] >= max(map(len, again), default=0):  # every set lies in a row, which no more rows hold than the set
        found = (bin(all_of(bits, row)).count("1") for row in again if row)
    must(all(n >= asked["k"] for n in found), f"a set of at most {asked['m']} labels is in fewer than k rows")
# --- the proof
def clause_terms(asked, tree, rows):  # of each clause the nodes and leaves of which a valid release uses one
    bits, known = holders(rows), {}
    for nodes, leaves in ((clause["nodes"], clause["leaves"]) for clause in asked["clauses"]):
        must(0 < len({*nodes}) == len(nodes) == len(leaves) <= asked["m"] and all(tree.up.get(v) for v in nodes)
             and not any(v in nodes for x in nodes for v in tree.path(x)[1:]), f"{nodes} are no set of up to m nodes")
        must(all(x in tree.leaves and v in tree.path(x) for v, x in zip(nodes, leaves)), "a leaf is not below its node")
        for v in {*nodes} - {*known}:
            some = [v]
            for x in some: some += tree.below.get(x, [])
            known[v] = functools.reduce(int.__or__, (bits.get(x, 0) for x in some))
        support = bin(all_of(known, nodes)).count("1")
        must(0 < support < asked["k"] and all_of(bits, leaves), f"{nodes} are in {support} rows, or {leaves} in none")
        yield {tree.up[v] for v in nodes}, leaves if asked["suppress"] else []

# The least of scale * loss + sum of p * (1 - clause) + limit * (left out - most) of all recodings in a branch.
def least(asked, tree, terms, count, full, hidden, given, fixed, scale):
    limit, up, out, low, together, closed = given.get("limit", 0), Counter(), Counter(), {}, {}, {}
    must(type(limit) is int and 0 <= limit <= limit * (asked["most"] < math.inf), "a false multiplier of the limit")
    for number, p in given["clauses"]:
        must(type(number) is type(p) is int and 0 <= number < len(terms) and p > 0, "a false multiplier")
        up.subtract(dict.fromkeys(terms[number][0], p))
        out.subtract(dict.fromkeys(terms[number][1], p))
    for v in tree.order:  # low: the least below v; together: by v and all nodes below; closed: v cannot be published
        some, now = tree.children.get(v), fixed.get(v)
        if some is None:
            together[v], closed[v] = 0, v in asked["keep"] or now == 1
            leaving = scale * hidden[v] + limit * count[v] + out[v]
            if v in asked["keep"] or not asked["suppress"] or now == 0: leaving = math.inf
            low[v] = min(math.inf if now == 1 else 0, leaving)
        else:
            together[v], closed[v] = up[v] + sum(together[x] for x in some), now == 0 or any(closed[x] for x in some)
            finer = math.inf if now == 1 else sum(low[x] for x in some)
            low[v] = min(finer, math.inf if closed[v] else scale * full[v] + together[v])
    return sum(p for _, p in given["clauses"]) - (limit and limit * asked["most"]) + low[tree.root]
def check_branches(asked, tree, terms, count, full, hidden):
    scale, bound, branches, ways, reached = asked["scale"], asked["bound"], asked["tree"], [(0, {})], set()
    must(type(scale) is type(bound) is int and scale > 0, "the scale or the bound is no number")
    unit = math.gcd(*(full[v] for v in tree.order), *(hidden[x] for x in tree.order if x in hidden)) or 1
    while ways:
        at, fixed = ways.pop()
        must(type(at) is int and 0 <= at < len(branches) and at not in reached, "the branches are no tree")
        reached.add(at)
        if "on" in branches[at]:
            kind, v = branches[at]["on"]
            must(v in tree.up and v not in fixed and kind == ("up" if v in tree.children else "out"), f"no branch {v}")
            ways += [(branches[at]["zero"], {**fixed, v: 0}), (branches[at]["one"], {**fixed, v: 1})]
            continue
        (end, number), = branches[at].items()
        must(end in ("bound", "none") and type(number) is int and number >= 0, f"branch {at} ends without a proof")
        given, times = asked["multipliers"][number], scale if end == "bound" else 0
        low = least(asked, tree, terms, count, full, hidden, given, fixed, times)
        if times and low < math.inf: low = -(-low // (scale * unit)) * unit  # losses are multiples of the unit
        must(low >= bound if times else low > 0, f"branch {at} proves {low} only")
    must(len(reached) == len(branches), "branches are never reached")
def audit(run, original, hierarchy, certificate):
    def text(path, coding="utf-8"):
        raw = path.read_bytes()
        print(hashlib.sha256(raw).hexdigest(), path)
        return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode(coding).lstrip("\ufeff")
    asked, told = json.loads(text(certificate)), json.loads(text(run / "published" / "about.json"))
    read = json.loads(text(run / "internal" / "report.json"))["input"]
    how = {**(read["read"] or {}), **({"layout": "jsonl", "delimiter": None} if original.suffix == ".jsonl" else {})}
    if how.get("delimiter"): how["layout"] += " with several items in a cell"
    rows = read_rows(text(original, how.get("encoding") or "utf-8"), how.get("layout"), how.get("separator") or ",",
                     how.get("id_column"), how.get("item_columns"), read["rows"])
    published = read_rows(text(run / "published" / told["file"]), told["format"], told.get("separator", ","),
                          told.get("id_column"), told.get("item_columns") or [told.get("item_column")], told["rows"])
    lines, count = fields(text(run / "internal" / "recoding.csv"), ",")[1:], Counter(x for row in rows for x in row)
    must((asked["k"], asked["m"]) == tuple(told["guarantee"][x] for x in "km") and len(lines) == len(dict(lines)),
         "about.json promises another k or m, or recoding.csv has an item twice")
    m, most = (math.inf if x in ("inf", None) else x for x in (asked["m"], asked["max_suppressed"]))
    asked.update(m=m, most=most, keep={*asked["keep"]})
    must(type(asked["k"]) is int and asked["k"] > 1 and asked["setveil-certificate"] == 1 and type(asked["suppress"])
         is bool and type(asked["max_suppressed"]) in (int, type(None)), "this is no certificate of a known kind")
    tree = Tree(read_hierarchy(text(hierarchy)), {*count, *asked["keep"]})
    check_release(asked, tree, rows, published, dict(lines), count)
    full, hidden = losses(tree, asked, count)
    loss = sum(full[v] for v in {to for _, to in lines if to}) + sum(hidden[x] for x, to in lines if not to)
    must(asked["loss"] == loss, f"the release loses {loss}")
    check_branches(asked, tree, [*clause_terms(asked, tree, rows)], count, full, hidden)
    print(f"Accepted: {len(rows)} rows, read as {how['layout']}; k={asked['k']}, m={m}; the release loses {loss}, "
          f"no other of its model less than {asked['bound']}" + ": it is optimal" * (loss == asked["bound"]) + ".")
def shown(text):  # without control characters, which would steer a terminal
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]",
                  lambda x: f"\\u{ord(x[0]):04x}", text)
def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("run", "original", "hierarchy", "--certificate"): ask.add_argument(name, type=pathlib.Path)
    run, *given, certificate = vars(ask.parse_args()).values()
    try: audit(run, *given, certificate or run / "internal" / "certificate.json")
    except Refused as why: sys.exit(print(shown(f"Refused: {why}.")) or 1)
    except Exception as error:  # whatever is wrong with a file: there is no verdict
        sys.exit(print(shown(f"No verdict: {type(error).__name__}: {error}"), file=sys.stderr) or 4)
if __name__ == "__main__": main()
