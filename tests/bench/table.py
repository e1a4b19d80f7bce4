# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
table: rows as they are printed (a table that Markdown reads too), and as lines of a file.

The file has a line of column names, then one line for each case, its fields separated by tabs; what there is not is
empty. Lines that begin with # say where and how it was measured.
"""
COLUMNS = ("case", "unit", "null", "nfs", "bound", "of", "value", "ratio", "target", "least", "met", "wire", "calls", "others",
           "turns", "what", "note")
TITLES = ("case", "N", "T", "bound", "rnfs", "ratio", "target", "", "wire", "RPCs", "others")
WIDTHS = (20, 10, 10, 18, 10, 6, 7, 4, 5, 5, 6)


def short(value, unit):
    """About three digits: MB/s of bytes, k of large counts."""
    if value is None:
        return ""
    if unit == "B/s":
        return f"{value / 1e6:.0f} MB/s"
    if unit in ("trips", "copies"):
        return f"{value:.2f}"
    if unit == "s":
        return f"{value:.2f} s"
    return f"{value / 1e3:.1f} k/s" if value >= 10000 else f"{value:.0f} /s"


def cells(row):
    case, unit = row.case, row.case.unit
    bound = short(row.bound, unit) + (f" {row.of}" if row.of else "")
    target = "" if case.target is None else f"{'>=' if case.least else '<='} {case.target:g}"
    verdict = {True: "met", False: "no", None: ""}[row.met]
    return (case.name, short(row.null, unit), short(row.nfs, unit), bound, short(row.value, unit),
            "" if row.ratio is None else f"{row.ratio:.2f}", target, verdict, "" if row.wire is None else f"{row.wire:.2f}",
            "" if row.calls is None else f"{row.calls:.2f}", "" if row.others is None else f"{row.others * 100:.0f} %")


def line(texts):
    return "| " + " | ".join(text.ljust(width) for text, width in zip(texts, WIDTHS)) + " |"


def heading():
    return line(TITLES) + "\n|" + "|".join("-" * (width + 2) for width in WIDTHS) + "|"


def printed(row):
    return line(cells(row)) + (f" {row.note}" if row.note else "")


def fields(row):
    case = row.case
    numbers = {"null": row.null, "nfs": row.nfs, "bound": row.bound, "value": row.value, "ratio": row.ratio, "target": case.target,
               "wire": row.wire, "calls": row.calls, "others": row.others}
    texts = {name: "" if value is None else f"{value:.6g}" for name, value in numbers.items()}
    texts |= {"case": case.name, "unit": case.unit, "of": row.of, "least": "least" if case.least else "most", "turns": str(row.turns),
              "met": {True: "yes", False: "no", None: ""}[row.met], "what": case.what, "note": row.note}
    return "\t".join(texts[c] for c in COLUMNS)


def read(path):
    """The lines of such a file as dictionaries; its comments."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    comments = [line[1:].strip() for line in lines if line.startswith("#")]
    names, *rest = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return [dict(zip(names, values)) for values in rest], comments
