# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# The kernel's NFS client on rnfs-serve, over every transport; for cases that have sourced lib.sh and files.sh and set VERS,
# the version of NFS.
MNT=/run/mnt-serve REF=/run/ref-serve SRV=/run/served
mkdir -p $MNT $REF $SRV

# serve PROTO PORT [OPTION...]: on every address of the guest; at the port above that also over TCP, where the kernel asks MOUNT.
# To every user: local peers by rdma have no socket and are otherwise refused. With as little registered memory as an
# ordinary user has.
serve() {
    PROTO=$1 PORT=$2
    shift 2
    rm -f /run/serve.out
    mountpoint -q $SRV || mount -t tmpfs -o size=1G served $SRV
    prlimit --memlock=8388608 setpriv --bounding-set=-ipc_lock "$BUILD/contrib/serve/rnfs-serve" -d --no-root-squash --allow-users all --proto "$PROTO,tcp" --listen "0.0.0.0:$PORT" \
        --listen "0.0.0.0:$((PORT + 1))" "$@" $SRV \
        >/run/serve.out 2>>"/vm/serve-$PROTO.log" 9>&- &
    pid=$!
    wait_for 10 grep -q serving /run/serve.out
}

stop_serving() {
    kill $pid && wait $pid
}

client_mount() {
    local how="port=$PORT,vers=$VERS,soft,timeo=100,retrans=2"
    [ "$VERS" != 3 ] || how="$how,mountport=$((PORT + 1)),mountproto=tcp,nolock"
    case $PROTO in
    tcp) mount -t nfs -o "proto=tcp,$how" "127.0.0.1:/" $MNT ;;
    iwarp) mount -t nfs -o "rdma,$how" "10.98.0.1:/" $MNT ;;
    rdma) mount -t nfs -o "rdma,$how" "10.99.0.1:/" $MNT ;;
    esac
}
client_umount() {
    umount $MNT
}
# the server says so when a client has given its ID back; NFSv3's has none
no_state() {
    [ "$VERS" != 3 ] || return 0
    grep -E 'gets ID|is forgotten' "/vm/serve-$PROTO.log" | tail -n 1 | grep -q 'is forgotten'
}
backchannel_works() {
    grep -q 'the backchannel works' "/vm/serve-$PROTO.log" && ! grep 'the backchannel does not' "/vm/serve-$PROTO.log"
}

# What another user may do is what the kernel lets that user do on the server's side.
users_are_kept_apart() {
    mkdir -m 1777 $MNT/shared && echo mine >$MNT/shared/root && chmod 600 $MNT/shared/root &&
        setpriv --reuid=4242 --regid=4242 --clear-groups sh -c "
            cd $MNT/shared && echo theirs >user && ! cat root && ! rm -f root && ! chown 0 user" &&
        [ "$(stat -c %u:%g $SRV/shared/user)" = 4242:4242 ] && rm -r $MNT/shared
}

locks_hold() {
    touch $MNT/locked &&
        flock $MNT/locked sh -c "! flock -n $MNT/locked true" &&
        flock -n $MNT/locked true &&
        rm $MNT/locked
}

# A file that is open survives its last name, and a restarted server finds the file handles again.
restart_survived() {
    client_mount && echo before >$MNT/kept && exec 9>>$MNT/kept &&
        stop_serving && serve "$PROTO" "$PORT" &&
        echo after >&9 && exec 9>&- && [ "$(cat $MNT/kept)" = "$(printf 'before\nafter')" ] &&
        rm $MNT/kept && client_umount
}

# do_here TITLE COMMAND...: as check, but in this shell, which the server is a child of
do_here() {
    local title=$1
    shift
    if "$@"; then ok "$title"; else not_ok "$title"; fi
}
