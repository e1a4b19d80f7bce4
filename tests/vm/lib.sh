# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# For the cases: TAP lines, mounts, and commands on the client's and on the server's side.
#
# A case runs in the guest, as root, unless its name starts with case-host-: then it runs on the host. It sources
# this file, prints TAP and ends with done_testing. What is done on the client's side is done as $CLIENT_USER, if set.

source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"
source "$HERE/tree.sh"
PATH=$PATH:/usr/sbin:/sbin
SERVER_DIR=/srv/export      # what the kernel's server exports as /export, seen from the guest
CLIENT_USER=${CLIENT_USER:-}
CLIENT_MEMLOCK=${CLIENT_MEMLOCK:-8192} # KiB that the user may have registered: what a distribution gives
tap_count=0
tap_failed=0

# ok TITLE, not_ok TITLE, skip TITLE REASON
ok() {
    echo "ok $((++tap_count)) - $1"
}

not_ok() {
    echo "not ok $((++tap_count)) - $1"
    tap_failed=1
}

skip() {
    echo "ok $((++tap_count)) - $1 # SKIP $2"
}

# check TITLE COMMAND...: ok if the command succeeds; what it printed is shown only if not.
check() {
    local title=$1 output status
    shift
    output=$("$@" 2>&1 </dev/null)
    status=$?
    if [ $status = 0 ]; then
        ok "$title"
        return 0
    fi
    not_ok "$title"
    echo "# $* (status $status)"
    [ -z "$output" ] || tail -n 20 <<<"$output" | sed 's/^/# /'
    return 1
}

# bail TITLE: the rest of the case makes no sense.
bail() {
    not_ok "$1"
    done_testing
}

done_testing() {
    echo "1..$tap_count"
    exit $tap_failed
}

# wait_for SECONDS COMMAND...: until it succeeds
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

# on_client 'COMMAND LINE', on_server 'COMMAND LINE': each in a subshell; the functions of tree.sh are known there.
on_client() {
    if [ -z "$CLIENT_USER" ]; then
        (eval "$*")
    else
        client_shell "$*"
    fi
}

# The user has one shell for the whole case: to start one takes longer than most commands do. Command lines, outputs
# and exit statuses end in NUL.
client_shell_start() {
    coproc HOME=/run/tester prlimit --memlock=$((CLIENT_MEMLOCK << 10)) \
        setpriv --reuid="$1" --regid="$1" --clear-groups bash -c "$(<"$HERE/tree.sh")"'
        while IFS= read -rd "" line; do
            (eval "$line") </dev/null 2>&1
            printf "\0%d\0" $?
        done'
    exec 8<&"${COPROC[0]}" 9>&"${COPROC[1]}"
}

client_shell() {
    local output status
    printf '%s\0' "$1" >&9
    IFS= read -rd '' output <&8 && IFS= read -rd '' status <&8 || return
    printf '%s' "$output"
    return "$status"
}

on_server() {
    if [ -n "${RNFS_IN_GUEST:-}" ]; then
        (eval "$*")
    else
        "$HERE/guest" "source ./tree.sh; $*"
    fi
}

# The number of NFSv4 clients that the kernel's server holds state for.
server_clients() {
    on_server 'ls /proc/fs/nfsd/clients | wc -l'
}

no_server_clients() {
    [ "$(server_clients)" = 0 ]
}

# rnfs_mount PROTO SERVER:/EXPORT MOUNTPOINT [OPTIONS]
# The program is run from where every user can reach it, with as little registered memory as an ordinary user has.
rnfs_mount() {
    local bin=/usr/local/bin/rnfs limited=
    [ -n "$CLIENT_USER" ] || limited="prlimit --memlock=$((CLIENT_MEMLOCK << 10)) setpriv --bounding-set=-ipc_lock"
    if [ -n "${RNFS_IN_GUEST:-}" ]; then
        install -C -m 755 "$BUILD/fs/rnfs" $bin || return
    else
        bin=$BUILD/fs/rnfs
    fi
    on_client "timeout 60 $limited '$bin' -o 'proto=$1${4:+,$4}' '$2' '$3'" && on_client "mountpoint -q '$3'"
}

# rnfs_umount MOUNTPOINT
rnfs_umount() {
    on_client "timeout 60 fusermount3 -u '$1'" && ! on_client "mountpoint -q '$1'"
}

# same_on_server FOLDER SERVER-FOLDER
same_on_server() {
    local here there
    here=$(on_client "manifest '$1'") && there=$(on_server "manifest '$2'") && diff <(echo "$here") <(echo "$there")
}

# same_on_client FOLDER FOLDER
same_on_client() {
    local one other
    one=$(on_client "manifest '$1'") && other=$(on_client "manifest '$2'") && diff <(echo "$one") <(echo "$other")
}

# same_file_on_server FILE SERVER-FILE
same_file_on_server() {
    local here there
    here=$(on_client "md5sum <'$1'") && there=$(on_server "md5sum <'$2'") && [ "$here" = "$there" ]
}
