# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# For cases in which connections, the daemon or the server end while a program works on the mount of an ordinary user: the program
# checks each byte and holds a lock. Sourced after lib.sh, with $NAME, the folder of the case. Sets WORK, MNT and DIR: a folder
# that ends with the case, the mount point in it, and the folder $NAME of the export as the server sees it.
WORK=$(mktemp -d "/run/$NAME-XXXXXX")
MNT=$WORK/mnt DIR=$SERVER_DIR/$NAME
chmod 755 "$WORK"
trap 'fusermount3 -uz "$MNT" 2>/dev/null; rm -rf --one-file-system "$WORK"' EXIT
mkdir "$MNT" && chown "$CLIENT_USER:" "$MNT"
client_shell_start "$CLIENT_USER"

# begin ROUNDS: the program works in the background until finish, which adds that many rounds
begin() {
    rm -f "$WORK/begin"
    setpriv --reuid="$CLIENT_USER" --regid="$CLIENT_USER" --clear-groups timeout 900 python3 ../e2e/connections.py \
        "$MNT/$NAME" "$1" "$WORK/begin" >"$WORK/out" 2>&1 </dev/null &
    worker=$!
    wait_for 60 test -s "$DIR/file-1"
}

# finish: the program makes its last rounds, and must succeed
finish() {
    touch "$WORK/begin"
    wait $worker || { cat "$WORK/out" && return 1; }
}

# The grace period of a server that restarts lasts as long as its lease: here a few seconds.
restart_server() {
    rpc.nfsd 0
    sleep 1
    echo 10 >/proc/fs/nfsd/nfsv4leasetime && echo 10 >/proc/fs/nfsd/nfsv4gracetime &&
        rpc.nfsd --rdma=20049 8
}
