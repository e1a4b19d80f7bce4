# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Starts and stops a server and the daemon for the end-to-end tests. BUILD is the build directory;
# PROTO is iwarp or tcp; VERS, if set, is the option vers, NCONNECT the option nconnect; RDMA_VERSIONS, if set, what the server speaks, and RDMA_VERSION what the mount asks for; SERVER is rnfs-serve (the bundled one) or
# ganesha (over tcp only, see ganesha.sh); everything lives below $work. RNFS_GROUP: a control group that daemons enter (tests/checks/limits.py).

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$root/build}
PROTO=${PROTO:-iwarp}
over=proto=$PROTO${RDMA_VERSION:+,rdma_version=$RDMA_VERSION} # how it is mounted
RNFS=$BUILD/fs/rnfs
SERVE=$BUILD/contrib/serve/rnfs-serve
. "$root/tests/tap.sh"

# A new mount namespace has a copy of every mount, and a file system ends with its last copy: the daemons of tests that run
# beside this one would live on after their unmount. To be called in the namespace, where nothing propagates back.
leave_others_mounts() {
	umount --internal-only --lazy --no-canonicalize --all -t fuse.rnfs
}

# For the same reason each test has a mount namespace of its own, if root runs it (tests/tools/limited makes that of others): a
# container that this machine starts meanwhile has no copy of the test's mounts. E2E_HERE=1: the caller has made one.
if [ "${E2E_IN:-}" = "$$" ]; then
	leave_others_mounts
elif [ -z "${E2E_HERE:-}" ] && unshare --mount true 2> /dev/null; then
	E2E_IN=$$ exec unshare --mount --propagation private "$0" "$@"
fi

umask 022 # whatever it is here: other users are to reach what is made
work=$(mktemp -d "${TMPDIR:-/tmp}/rnfs-e2e.XXXXXX")
mnt=$work/mnt
export_dir=$work/export
mkdir "$mnt" "$export_dir"
server_pid=
server_port=

if [ -n "${RNFS_GROUP:-}" ]; then # the daemon is to enter that control group
	printf '#!/bin/sh\necho $$ > "%s/cgroup.procs" && exec "%s" "$@"\n' "$RNFS_GROUP" "$RNFS" > "$work/rnfs"
	chmod +x "$work/rnfs"
	RNFS=$work/rnfs
fi

until_true() { # COMMAND...: fails after two minutes
	for _ in $(seq 600); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.2
	done
	echo "in vain: $*"
	return 1
}

fall_silent() { # the server is stopped, and so is each of its threads: kill(1) returns before
	kill -STOP "$server_pid"
	for _ in $(seq 400); do
		grep -hE '^State:' /proc/"$server_pid"/task/*/status | grep -qv 'T (stopped)' || return 0
		sleep 0.05
	done
	return 1
}

start_server() { # [rnfs-serve options...]; sets server_pid and server_port; $server_at: where; $squash: of root; $sync: --async, or nothing
	: > "$work/server.out"
	"$SERVE" --proto "$PROTO" --listen "127.0.0.1:${server_at:-0}" ${squash---no-root-squash} ${sync---async} \
		--handle-key "$work/handle-key" ${RDMA_VERSIONS:+--rdma-versions "$RDMA_VERSIONS"} "$@" "$export_dir" \
		> "$work/server.out" 2> "$work/server.err" &
	server_pid=$!
	for _ in $(seq 300); do
		server_port=$(sed -n 's/.* on [^ ]*:\([0-9][0-9]*\).*/\1/p' "$work/server.out" | head -1)
		[ -z "$server_port" ] || return 0
		kill -0 "$server_pid" 2> /dev/null || break
		sleep 0.1
	done
	echo "# the server did not start:" && sed 's/^/# /' "$work/server.out" "$work/server.err"
	return 1
}

stop_server() {
	[ -n "$server_pid" ] || return 0
	kill "$server_pid" 2> /dev/null
	wait "$server_pid"
	local status=$?
	server_pid=
	return $status
}

server_ends() { # not by check(): a subshell may not wait for it
	if stop_server; then ok "the server ends cleanly"; else
		not_ok "the server ends cleanly" "exit status $?" "$(cat "$work/server.err")"
	fi
}

mount_rnfs() { # [mount options]
	server_net "$RNFS" -o "$over,port=$server_port,log=$work/rnfs.log${VERS:+,vers=$VERS}${NCONNECT:+,nconnect=$NCONNECT}${1:+,$1}" \
		127.0.0.1:/ "$mnt"
}

server_net() { # COMMAND...: where the server can be reached
	"$@"
}

server_is_idle() { # it knows of no client any more, and says so when asked
	local n
	n=$(grep -c ' calls answered from them' "$work/server.err")
	kill -USR1 "$server_pid" || return 1
	for _ in $(seq 300); do
		[ "$(grep -c ' calls answered from them' "$work/server.err")" -gt "$n" ] && break
		sleep 0.1
	done
	grep 'clients: ' "$work/server.err" | tail -1 | grep -q 'clients: 0$' || { cat "$work/server.err" && return 1; }
}

is_mounted() {
	grep -q " $mnt fuse" /proc/self/mounts
}

daemon_pids() { # of this test's daemons
	pgrep -f "rnfs .*$mnt" || true
}

unmount_rnfs() { # unmounts and waits until the daemon has ended
	fusermount3 -u "$mnt" || return 1
	for _ in $(seq 300); do
		[ -n "$(daemon_pids)" ] || return 0
		sleep 0.1
	done
	echo "the daemon is still running: $(daemon_pids)"
	return 1
}

pids_group() { # makes a control group that can limit processes, and prints its directory
	local top
	for top in /sys/fs/cgroup/pids /sys/fs/cgroup; do
		if mkdir "$top/rnfs-e2e-$$" && [ -e "$top/rnfs-e2e-$$/pids.max" ]; then
			echo "$top/rnfs-e2e-$$"
			return
		fi
		rmdir "$top/rnfs-e2e-$$"
	done 2> /dev/null
	return 1
}

e2e_cleanup() { # also in the middle of a test, with further mounts
	local m p
	for m in $(awk -v below="$work/" 'index($2, below) == 1 { print $2 }' /proc/self/mounts); do fusermount3 -u -z "$m" 2> /dev/null; done
	for p in $(daemon_pids; pgrep -f "rnfs .*$work/"); do kill -9 "$p" 2> /dev/null; done
	[ -z "$server_pid" ] || kill -9 "$server_pid" 2> /dev/null
	wait 2> /dev/null
	rm -rf "$work"
}
trap e2e_cleanup EXIT

# A new run of the server finds files again where the file system tells a re-used inode number from
# the former.
handles_last() {
	[ "$(stat -c %W "$export_dir")" != 0 ]
}

if_handles_last() { # TITLE COMMAND
	if handles_last; then
		check "$@"
	else
		skip "$1" "the file system of $export_dir keeps no time of birth"
	fi
}

[ "${SERVER:-rnfs-serve}" = rnfs-serve ] || . "$here/$SERVER.sh"
