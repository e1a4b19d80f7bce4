# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# What every client must be able to do, whoever it is and however it is connected.
#
# The case defines client_mount, client_umount and no_state (does the server know of no client?), and sets
#   MNT   where the client mounts
#   REF   a local folder for the originals, on the client's side
#   SRV   the folder on the server that MNT shows
# Every test works in its own folder of the export, then compares with what lies on the server; what is read back is
# read through a fresh mount, so that no cache answers.

SIZES="0 1 4095 4096 4097 65535 1048576 1048577 104857600"
ODD_SPOTS="1:1 4095:2 4097:8191 65535:65537 1048575:3 1999999:1048577 5000001:12345"    # offset:length
ENTRIES=5000

# files_test LABEL: everything
files_test() {
    begin_test "$1" || return
    write_tree
    write_sizes
    write_odd
    change_names
    remount || return
    read_tree
    read_sizes
    read_odd
    list_many
    end_test
}

# tree_test LABEL: the short one
tree_test() {
    begin_test "$1" || return
    write_tree
    remount || return
    read_tree
    end_test
}

begin_test() {
    local folder=t$$-$RANDOM
    label=$1 TOP=$MNT/$folder STOP=$SRV/$folder
    title "mount" client_mount &&
        title "make a folder" on_client "mkdir '$TOP' && mkdir -p '$REF/back'"
}

end_test() {
    title "remove a tree" on_client "rm -r '$TOP'"
    title "the tree is gone on the server" on_server "[ ! -e '$STOP' ]"
    title "unmount" client_umount
    title "the server holds no client state" wait_for 10 no_state
    on_server "rm -rf '$STOP'"
    on_client "rm -rf '$REF'/*"
}

# title TEXT COMMAND...
title() {
    local text=$1
    shift
    check "$label: $text" "$@"
}

remount() {
    title "unmount with data written" client_umount &&
        title "mount again" client_mount
}

write_tree() {
    on_client "make_tree '$REF/tree'"
    title "copy a tree in" on_client "cp -a '$REF/tree' '$TOP'"
    title "the tree is the same on the server" same_on_server "$REF/tree" "$STOP/tree"
}

read_tree() {
    title "copy the tree out" on_client "cp -a '$TOP/tree' '$REF/back'"
    title "the tree is the same as before" same_on_client "$REF/tree" "$REF/back/tree"
}

write_sizes() {
    local size
    on_client "mkdir '$REF/sizes' '$TOP/sizes'"
    for size in $SIZES; do
        on_client "head -c $size /dev/urandom >'$REF/sizes/$size'"
        title "write $size bytes" on_client "cp -p '$REF/sizes/$size' '$TOP/sizes'"
    done
    title "files of all sizes are the same on the server" same_on_server "$REF/sizes" "$STOP/sizes"
}

read_sizes() {
    local size
    for size in $SIZES; do
        title "read $size bytes" on_client "cmp '$REF/sizes/$size' '$TOP/sizes/$size'"
    done
}

# The same pieces go to the original and over the mount, onto 3 MiB, the last one leaving a hole.
write_odd() {
    local spot at length
    on_client "head -c 3M /dev/urandom >'$REF/odd'"
    on_client "cp '$REF/odd' '$TOP'"
    for spot in $ODD_SPOTS; do
        at=${spot%:*} length=${spot#*:}
        on_client "head -c $length /dev/urandom >'$REF/piece'"
        on_client "write_at $at '$REF/piece' '$REF/odd'"
        title "write $length bytes at $at" on_client "write_at $at '$REF/piece' '$TOP/odd'"
    done
    title "the pieces are the same on the server" same_file_on_server "$REF/odd" "$STOP/odd"
}

read_odd() {
    local spot at length
    for spot in $ODD_SPOTS; do
        at=${spot%:*} length=${spot#*:}
        title "read $length bytes at $at" \
            on_client "same_piece $at $length '$REF/odd' '$TOP/odd'"
    done
    title "a read past the end gets nothing" on_client "read_at 9999999 1 '$TOP/odd' | cmp - /dev/null"
    title "read a file with a hole" on_client "cmp '$REF/odd' '$TOP/odd'"
}

# What is done to names and attributes is done to a copy as well.
change_names() {
    on_client "mkdir '$REF/names' '$TOP/names'"
    both "create files" 'for i in 1 2 3 4 5 6 7 8; do echo $i >$i; done'
    both "make and remove folders" 'mkdir p q; rmdir q'
    both "rename" 'mv 1 one'
    both "rename over another" 'mv 2 3'
    both "rename to another folder" 'mv 4 p/four'
    both "rename a folder" 'mv p r'
    both "delete" 'rm 5'
    both "symbolic link" 'ln -s 3 symbolic'
    both "hard link" 'ln 6 hard'
    both "write through a hard link" 'echo more >>hard'
    both "chmod" 'chmod 604 7'
    both "shorten" 'truncate -s 1 8'
    both "lengthen" 'truncate -s 100001 3'
    both "set times" "find . -type f -exec touch -d '2002-03-04 05:06:07.890123456' {} +"
    both "delete an open file" 'exec 5>open; rm open; echo text >&5; exec 5>&-; [ ! -e open ]'
    title "no name, no attribute differs on the server" same_on_server "$REF/names" "$STOP/names"
    title "what is not there is not found" on_client "[ ! -e '$TOP/names/5' ] && ! cat '$TOP/names/nothing'"
}

# both TITLE COMMAND
both() {
    on_client "cd '$REF/names' && $2"
    title "$1" on_client "cd '$TOP/names' && $2"
}

# The entries are made on the server, where that is fast.
list_many() {
    on_server "mkdir '$STOP/many'; cd '$STOP/many' && seq -f entry%.0f $ENTRIES | xargs touch
        chown -R --reference='$STOP' '$STOP/many'"
    title "list $ENTRIES entries" on_client "diff <(ls '$TOP/many') <(seq -f entry%.0f $ENTRIES | sort)"
    title "list $ENTRIES entries with attributes" \
        on_client "[ \$(find '$TOP/many' -type f -size 0 -printf x | wc -c) = $ENTRIES ]"
    on_server "rm -r '$STOP/many'"
}
