# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
conformance: doc/conformance.md, which says of each requirement of a draft what meets it and what
shows that, held against the sources and against a run.

The page has a table for each draft, with a row for each requirement:

    | number | section | level | requirement | status | code | tests |

  number   letters for the draft and a number, V2-1, V2-2, ...: none twice, none left out
  level    a word of RFC 2119; in small letters where the draft does not shout it
  status   met        code and tests say how
           not used   the draft leaves it open, and we make no use of it; code says why
           others     it is asked of somebody else, code says of whom
           no         it is not met; code says why
           not yet    code and tests are empty
  code     FILE: NAME, NAME; FILE: NAME: functions, tables or macros that are made there, and that the product uses: a caller
           in tests/ does not count. FILE may go without its folders where that names one file only.
  tests    PROGRAM: TEST, TEST; ...: functions of test-PROGRAM.c below tests/unit
           TITLE; TITLE: TEST: what tests/check --list prints, without the name of the user, and "plain" left out; all of a
           job, or one of its tests

check_page() says what is wrong with it. Run is told what came of each job, and says whether the tests
shown were in the run and passed. Tests that are not in the part that is run each time are looked at in
a run of everything only.
"""
import collections
import glob
import os
import re

from build import ROOT
from suites import SUITES

PAGE = "doc/conformance.md"
LEVELS = ("MUST", "MUST NOT", "SHALL", "SHALL NOT", "SHOULD", "SHOULD NOT", "MAY", "REQUIRED", "RECOMMENDED", "OPTIONAL")
STATUS = ("met", "not used", "others", "no", "not yet")
TOPS = ("transport", "nfsproto", "cache", "cli", "fs", "contrib", "tests")
PROVIDER = re.compile(r" \(\w+\)$")  # that a test of both has run on
USER = re.compile(r" as (an ordinary user|\S+)$")

Row = collections.namedtuple("Row", "line number section level words status code tests")


def read(path):
    with open(os.path.join(ROOT, path), errors="replace") as f:
        return f.read()


def read_rows(text):
    """(rows, what is wrong with their form)"""
    rows, wrong = [], []
    for line, words in enumerate(text.split("\n"), 1):
        if not re.match(r"\| *[A-Z][A-Z0-9]*-\d+ *\|", words):
            continue
        cells = [cell.strip() for cell in words.strip().strip("|").split("|")]
        if len(cells) == 7:
            rows.append(Row(line, *cells))
        else:
            wrong.append(f"{PAGE}:{line}: {len(cells)} columns, not 7")
    return rows, wrong


def form(rows):
    """What is wrong with the numbers, levels and statuses."""
    wrong, last = [], {}
    for row in rows:
        draft, n = row.number.rsplit("-", 1)
        if int(n) != last.get(draft, 0) + 1:
            wrong.append(f"{row.number}: behind {draft}-{last.get(draft, 0)}")
        last[draft] = int(n)
        wrong += [f"{row.number}: no level is called {level}" for level in row.level.split(", ") if level.upper() not in LEVELS]
        if row.status not in STATUS:
            wrong.append(f"{row.number}: no status is called {row.status!r}")
        elif bool(row.code) == (row.status == "not yet"):
            wrong.append(f"{row.number}: {row.status}, and says {row.code or 'nothing'!r}")
        elif bool(row.tests) != (row.status == "met"):
            wrong.append(f"{row.number}: {row.status}, with tests: {row.tests or 'none'}")
    return wrong


def parts(cell):
    """(before the colon, [names behind it])"""
    for part in filter(None, (part.strip() for part in cell.split(";"))):
        head, _, names = part.partition(": ")
        yield head, [name.strip() for name in names.split(",") if name.strip()]


def sources():
    return sorted(os.path.relpath(path, ROOT) for top in TOPS
                  for path in glob.glob(f"{ROOT}/{top}/**/*", recursive=True) if os.path.isfile(path))


def made(name, text):
    """Is name a function, a table, a type or a macro that text makes?"""
    return re.search(rf"^(?:#define {name}\b|[^\s#*/][^\n;]*\b{name}(?:\(|\[|\)?\(| = |;| \{{))|^\t{name}\b[ =,]", text, re.MULTILINE)


def uses():
    """All words of the product's C that are more than a name being made: on a line that is indented, of a macro, or of a value."""
    found = set()
    for file in sources():
        if file.endswith((".c", ".h")) and not file.startswith("tests/"):
            text = re.sub(r"/\*.*?\*/", "", read(file), flags=re.DOTALL)
            for line in re.findall(r"^(?:[ \t]+|#define \w+|.* = )(.*)", text, re.MULTILINE):
                found.update(re.findall(r"\w+", line))
    return found


def code(rows):
    """What the rows say of files and of what is made in them, and is not so."""
    files, used, wrong = sources(), uses(), []
    for row in rows:
        for head, names in parts(row.code) if row.status == "met" else ():
            found = [file for file in files if f"/{file}".endswith(f"/{head}")]
            if len(found) != 1:
                wrong.append(f"{row.number}: {len(found) or 'no'} files are called {head}")
            elif not names:
                wrong.append(f"{row.number}: nothing is named in {head}")
            else:
                text = read(found[0])
                wrong += [f"{row.number}: {found[0]} makes no {name}" for name in names if not made(name, text)]
                wrong += [f"{row.number}: nothing in the product uses {name}" for name in names
                          if found[0].endswith((".c", ".h")) and name not in used]
    return wrong


# --- tests -----------------------------------------------------------------------------------------------------------------------

def plain(title):
    """A title as the page has it."""
    return USER.sub("", title.removeprefix("plain "))


def titles(everything):
    return {plain(job.title) for make in SUITES.values() for job in make(everything)}


def unit_tests(program):
    paths = glob.glob(os.path.join(ROOT, "tests/unit/**", f"test-{program}.c"), recursive=True)
    if not paths:
        return None
    return set(re.findall(r"\b(?:cmocka_unit_test\w*|TEST|T)\(\s*(\w+)", read(paths[0])))


def script_words(title):
    """What the script of an end-to-end job says, and what it takes from others."""
    script = f"tests/e2e/{title.split()[1].rstrip(',') if title.startswith('e2e ') else title.split(',')[0]}"
    return "\n".join(read(path) for path in (script, script + ".py", script + ".sh") if os.path.isfile(os.path.join(ROOT, path)))


def shown(row, known):
    """[(title, test or None)] that the row names, longest titles first: a title may have a colon."""
    for part in filter(None, (part.strip() for part in row.tests.split(";"))):
        title = max((t for t in known if part == t or part.startswith(t + ": ")), key=len, default=None)
        head, names = next(parts(part))
        if title:
            rest = part[len(title) + 2:]
            yield title, rest or None
        else:
            for name in names or [None]:
                yield f"unit {head}", name


def tests(rows):
    """What the rows say of tests, and is not so."""
    known, wrong = titles(True) | titles(False), []
    for row in rows:
        for title, test in shown(row, known):
            if title not in known:
                wrong.append(f"{row.number}: no test is called {title}")
            elif title.startswith("unit ") and test is None:
                wrong.append(f"{row.number}: no function of {title} is named")
            elif title.startswith("unit "):
                if test not in (unit_tests(title.split()[1]) or ()):
                    wrong.append(f"{row.number}: {title} has no test {test}")
            elif test and test not in script_words(title):
                wrong.append(f"{row.number}: {title} has no test {test!r}")
    return wrong


def check_page():
    """[(title, what is wrong)]"""
    rows, wrong = read_rows(read(PAGE))
    return [("each row has its number, level and status", wrong + form(rows) or ([] if rows else ["no rows"])),
            ("what meets a requirement is there", code(rows)),
            ("the tests that show it are there", tests(rows))]


def counts():
    """How many rows there are of each status."""
    rows, _ = read_rows(read(PAGE))
    return collections.Counter(row.status for row in rows)


# --- a run -----------------------------------------------------------------------------------------------------------------------

class Run:
    def __init__(self, todo):
        self.todo = {plain(job.title) for job in todo}
        self.seen = {}  # (title, test or None): verdicts

    def add(self, result):
        title = plain(result.job.title)
        for test, verdict in result.tests:
            for key in ((title, PROVIDER.sub("", test)), (title, None)):
                self.seen.setdefault(key, set()).add(verdict)
        if result.failed:
            self.seen.setdefault((title, None), set()).add("not ok")

    def verdict(self, title, test):
        """ok, skip, another: not part of this run, or what is wrong"""
        if title not in self.todo:
            return "another"
        verdicts = self.seen.get((title, test), set())
        for one in ("not ok", "ok", "skip"):
            if one in verdicts:
                return {"not ok": "failed"}.get(one, one)
        return "did not run"

    def judge(self):
        """(verdicts, counted, [what is wrong]), of all rows that are met"""
        rows, wrong = read_rows(read(PAGE))
        known, count = titles(True) | titles(False), collections.Counter()
        for row in rows:
            for title, test in shown(row, known) if row.status == "met" else ():
                verdict = self.verdict(title, test)
                count[verdict] += 1
                if verdict in ("failed", "did not run"):
                    wrong.append(f"{row.number}: {title}{f': {test}' if test else ''}: {verdict}")
        return count, wrong
