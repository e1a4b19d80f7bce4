# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Versions of RPC-over-RDMA within the guest; for cases that have sourced lib.sh, files.sh and to-serve.sh.
next_port=21000

# dialect TEST DEVICE PROTO ADDRESS VERSION: files_test or tree_test between rnfs and an rnfs-serve by verbs
dialect() {
    local test=$1 device=$2 here=$3
    ADDRESS=$4 VERSION=$5
    next_port=$((next_port + 2))
    rm -f /vm/serve-rdma.log
    do_here "$device, version $VERSION: rnfs-serve starts" serve rdma $next_port --rdma-versions "$VERSION"
    PROTO=$here $test "$device, version $VERSION"
    check "$device, version $VERSION: it is spoken" grep -q "RPC-over-RDMA version $VERSION is spoken" /vm/serve-rdma.log
    do_here "$device, version $VERSION: rnfs-serve ends cleanly" stop_serving
}

client_mount() {
    rnfs_mount "$PROTO" "$ADDRESS:/" $MNT "vers=4.2,port=$PORT,rdma_version=$VERSION"
}

client_umount() {
    rnfs_umount $MNT
}

no_state() {
    grep -E 'gets ID|is forgotten' /vm/serve-rdma.log | tail -n 1 | grep -q 'is forgotten'
}

said() { # COUNT TEXT: so often in the log of the mount
    [ "$(grep -c "$2" $asked_log)" = "$1" ] || { cat $asked_log && false; }
}

mount_to_ask() { # PROTO ADDRESS
    mkdir -p $asked_mount
    "$BUILD/fs/rnfs" -f -o "proto=$1,vers=4.1,debug=ctrl" "$2:/export" $asked_mount >$asked_log 2>&1 &
    asked=$!
    wait_for 60 mountpoint -q $asked_mount && ls $asked_mount >/dev/null
}

unmount_asked() {
    timeout 60 fusermount3 -u $asked_mount && wait $asked
}

cut_connection() { # it is made again for the next question
    ss -K dst "$1" dport = 20049 && touch $asked_mount/after && rm $asked_mount/after
}

# The kernel's server has version 1 only. It is asked once, on the connection that then goes on; the next connection begins
# with version 1.
kernel_is_asked_once() {
    local how proto address
    asked_log=/vm/asked.log asked_mount=/run/mnt-asked
    for how in "rxe rdma 10.99.0.1" "siw rdma 10.98.0.1" "iwarp iwarp 10.98.0.1"; do
        read -r label proto address <<<"$how"
        do_here "the kernel's server, $label: mount" mount_to_ask "$proto" "$address"
        check "the kernel's server, $label: version 1 after one refusal" said 1 "going on in version 1"
        check "the kernel's server, $label: on the same connection" said 1 "connected over"
        [ "$proto" != iwarp ] || {
            check "the kernel's server, $label: the connection is cut" cut_connection "$address"
            check "the kernel's server, $label: a second one" said 2 "connected over"
            check "the kernel's server, $label: it is not asked again" said 1 "going on in version 1"
        }
        do_here "the kernel's server, $label: unmount" unmount_asked
    done
}
