# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""What is printed: a line of TAP for each round, and at the end what was counted."""
import threading
from collections import Counter

KINDS = {"lost": "acknowledged bytes lost", "unsaid": "losses unsaid", "lock": "writes under a lost lock",
         "foreign": "bytes that nobody wrote", "crash": "crashes", "hang": "hangs", "leak": "leaks",
         "unkillable": "unkillable processes", "broken": "rounds that could not be played"}
SHOWN = 6  # violations of one round


class Report:
    def __init__(self, seed):
        self.seed = seed
        self.lock = threading.Lock()
        self.rounds = self.failed = self.kept = self.refused = 0
        self.counts = Counter()
        self.longest = Counter()
        print(f"# seed {seed}", flush=True)

    def add(self, plan, outcome):
        with self.lock:
            self.rounds += 1
            if outcome["skip"]:
                print(f"ok {self.rounds} - {plan.title()} # SKIP {outcome['skip']}", flush=True)
                return
            figures, violations = outcome["figures"], outcome["violations"]
            self.kept += figures.get("kept", 0)
            self.refused += figures.get("refused", 0)
            longest = figures.get("longest", 0)
            self.longest[plan.name] = max(self.longest[plan.name], longest)
            print(f"{'not ok' if violations else 'ok'} {self.rounds} - {plan.title()}: {figures.get('kept', 0)} promises, "
                  f"{figures.get('refused', 0)} refusals, longest wait {longest:.1f} s ({figures.get('of', '')})")
            for note in outcome["notes"]:
                print(f"# {note}")
            self.complain(plan, violations)

    def complain(self, plan, violations):
        if violations:
            self.failed += 1
            shown = Counter()
            for kind, amount, text in violations:
                self.counts[kind] += amount
                shown[kind] += 1
                if shown[kind] <= SHOWN:
                    print(f"# violation: {KINDS[kind]}: " + text.strip().replace("\n", "\n#   "))
            print(f"# again: tests/soak 1 --seed {self.seed} --only {plan.name}:{plan.ordinal}")
        print(end="", flush=True)

    def end(self):
        """Prints the counts; the exit status."""
        print(f"1..{self.rounds}")
        print(f"# {self.rounds} rounds, {self.failed} of them failed; {self.kept} promises, {self.refused} refusals")
        for kind, title in KINDS.items():
            print(f"# {title}: {self.counts[kind]}")
        for name in sorted(self.longest):
            print(f"# longest wait, {name}: {self.longest[name]:.1f} s")
        return 1 if self.failed or not self.rounds else 0
