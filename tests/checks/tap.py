# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
tap: the results of the checks in tests/source, as TAP.
"""


def tell(tests):
    """Prints each (title, what is wrong with it); returns whether anything is wrong."""
    number, failed = 0, False
    for number, (title, wrong) in enumerate(tests, 1):
        print("not ok" if wrong else "ok", number, "-", title)
        print("".join(f"# {line}\n" for line in wrong), end="")
        failed |= bool(wrong)
    print(f"1..{number}")
    return failed
