#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""entries.py PAGE OPTION_C OUT: what the man page says of each mount option, as C for cli/help.c.

An option's text is its entry of the page, else the first entry, or the section on nfs(5), that names it in bold. So
`rnfs help OPTION` and the page cannot differ. Of mdoc(7) no more is known here than the page uses; an unknown macro is an error."""
import re
import sys
import textwrap

WIDTH = 78
NFS = "Options of nfs(5)"
PLAIN = {"Cm", "Ar", "Pa", "Er", "Dv", "Va", "Li", "Ev", "Ic", "Em", "Sx", "No"}
QUOTED = {"Dq": ('"', '"'), "Ql": ("'", "'"), "Pq": ("(", ")"), "Op": ("[", "]")}
OPENS = {"Po": "(", "Oo": "["}
CLOSES = {"Pc": ")", "Oc": "]"}
AFTER = {".", ",", ":", ";", ")", "?", "!"}
NAMES = r'(?:\.name = |FLAG\(|UINT\(|WORD\(|TEXT\(|SUITS\(|UNUSED\()"([^"]+)"'
OTHERS = r'(?:PASS|PASS_VALUE|IGNORE)\("([^"]+)"'  # of mount(8) and FUSE: the page names some, and one entry is for all
OF_MOUNT = "nosuid"


class Line:
    """The words of one macro line, put together as mdoc(7) does."""

    def __init__(self):
        self.text, self.glue = "", True

    def put(self, word, glued=False):
        if glued or word in AFTER:
            self.glue = True
        self.text += ("" if self.glue or not self.text else " ") + word
        self.glue = word in ("(", "[")

    def opened(self, mark):
        self.put(mark)
        self.glue = True


def macro_line(words):
    out, i, closing = Line(), 0, []
    while i < len(words):
        w = words[i]
        i += 1
        if w == "Ns":
            out.glue = True
        elif w in QUOTED:
            out.opened(QUOTED[w][0])
            closing.append(QUOTED[w][1])
        elif w in OPENS:
            out.opened(OPENS[w])
        elif w in CLOSES:
            out.put(CLOSES[w], glued=True)
        elif w == "Fl":
            out.opened("-")
        elif w == "Nm":
            out.put("rnfs")
        elif w == "Xr":
            out.put(f"{words[i]}({words[i + 1]})")
            i += 2
        elif w in PLAIN:
            pass
        elif re.fullmatch(r"[A-Z][a-z]", w):
            raise ValueError(f"macro {w} is not known")
        else:
            while i == len(words) and w in AFTER and closing:  # stands behind a quotation
                out.put(closing.pop(), glued=True)
            out.put(w)
    while closing:
        out.put(closing.pop(), glued=True)
    return out.text


def clean(text):
    return text.replace("\\&", "").replace("\\-", "-").replace("\\e", "\\")


def paragraphs(lines):
    """Of the lines of an entry: filled paragraphs, and lines of displays as they are."""
    paras, display, join = [[]], False, False  # join: to the opening parenthesis before
    for line in lines:
        if line.startswith((".Bd", ".Ed")):
            display = line.startswith(".Bd")
            paras.append([])
        elif line == ".Pp":
            paras.append([])
        elif display:
            paras.append("    " + clean(line))
        elif line and not line.startswith((".Sm", '.\\"')):
            text = clean(macro_line(line[1:].split()) if line.startswith(".") else line)
            if paras[-1] and (join or text.startswith((")", "]"))):
                paras[-1][-1] += text
            else:
                paras[-1].append(text)
            join = line in (".Po", ".Oo")
    return [p if isinstance(p, str) else textwrap.fill(" ".join(p), WIDTH, initial_indent="  ", subsequent_indent="  ",
                                                       break_long_words=False, break_on_hyphens=False)
            for p in paras if p]


def blocks(page):
    """(names in its head, head, lines) of each entry that begins with an option, and of the section on nfs(5)."""
    head, names, body, found = None, [], [], []
    for line in page.split("\n") + [".El"]:
        if line.startswith((".It ", ".El", ".Sh ", ".Ss ", ".Bl ")):
            if head:
                found.append((names, head, body))
            head, names, body = NFS if line == f".Ss {NFS}" else None, [], []
            if line.startswith(".It Cm "):
                names = [m[1] for part in line[len(".It "):].split(" , ")
                         if (m := re.match(r"(?:Cm )?([\w.]+)", part)) and part != "..."]
                head = clean(macro_line(line[len(".It "):].split()))
        elif head:
            body.append(line)
    return found


def bold(lines):
    for line in lines:
        if " Cm " in line or line.startswith(".Cm "):
            yield from re.findall(r"[\w.]+", re.sub(r"\b(?:Ns|Ar|Op|No|Po|Pc|Cm)\b", " ", line))


def entries(page, option_c):
    """(texts, {name: number of its text})"""
    table = option_c[option_c.index("static const struct opt opts[]"):]
    table = table[:table.index("\n};\n")]
    options = set(re.findall(NAMES, table) + re.findall(OTHERS, table))
    found = blocks(page)
    texts = ["\n".join([head] + paragraphs(body)) + "\n" for _, head, body in found]
    where = {}
    for words in (lambda names, body: names), (lambda names, body: bold(body)):
        for number, (names, _, body) in enumerate(found):
            for name in words(names, body):
                if name in options:
                    where.setdefault(name, number)
    for name in re.findall(OTHERS, table):
        where.setdefault(name, where[OF_MOUNT])
    return texts, where


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def main(page, option_c, out):
    with open(page) as p, open(option_c) as o:
        texts, where = entries(p.read(), o.read())
    used = sorted(set(where.values()))
    with open(out, "w") as f:
        f.write("/* Made by cli/entries.py. */\n\nstatic const char *const texts[] = {\n")
        f.writelines(f"\t{quote(texts[n])},\n" for n in used)
        f.write("};\n\nstatic const struct {\n\tconst char *name;\n\tunsigned text;\n} names[] = {\n")
        f.writelines(f"\t{{{quote(name)}, {used.index(where[name])}}},\n" for name in sorted(where))
        f.write("};\n")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
