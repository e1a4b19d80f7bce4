# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# TAP for shell tests. Source it, call check/ok/not_ok/skip, end with tap_done.

tap_n=0
tap_failed=0

ok() { # TITLE
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1"
}

not_ok() { # TITLE [DETAIL...]
	tap_n=$((tap_n + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_n - $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/# /' | head -40
}

skip() { # TITLE REASON: only where a feature of the machine is absent
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

check() { # TITLE COMMAND...: passes if the command does; its output is shown if it fails
	local title=$1 out
	shift
	if out=$("$@" 2>&1); then
		ok "$title"
	else
		not_ok "$title" "status $? of: $*" "$out"
	fi
}

tap_done() { # prints the plan; the exit status tells whether all passed
	echo "1..$tap_n"
	[ "$tap_n" -gt 0 ] && [ "$tap_failed" -eq 0 ]
}
