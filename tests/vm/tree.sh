# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Making and describing files: for the client's and the server's side, wherever they are.

set -o pipefail

# make_tree FOLDER: forty files of many sizes, some links, a deep path, awkward names and modes
make_tree() {
    local i
    mkdir -p "$1"/{a,b,c}/{d,e} "$1/deep/$(seq -s / 20)"
    for i in $(seq 40); do
        head -c $((i * i * 69)) /dev/urandom >"$1/a/d/file$i"
    done
    echo deep >"$1/deep/$(seq -s / 20)/end"
    echo spaced >"$1/b/ a name with  spaces"
    echo long >"$1/b/$(printf 'x%.0s' $(seq 255))"
    echo other >"$1/b/"$'\u00e4\u6f22'
    echo run >"$1/c/run"
    chmod 750 "$1/c/run"
    chmod 700 "$1/c/e"
    ln -s ../a/d/file7 "$1/c/link"
    ln -s /nowhere "$1/c/dangling"
    ln "$1/a/d/file8" "$1/c/hard"
    touch -d '2001-02-03 04:05:06.123456789' "$1/a/d/file9"
}

# manifest FOLDER: one line for each thing in it, the same wherever the same tree lies.
manifest() {
    cd "$1" &&
        find . -type d -printf '%P %y %m %U\n' \
            -o -type l -printf '%P %y %U %l\n' -o -printf '%P %y %m %U %n %s %T@\n' | sort &&
        find . -type f -print0 | sort -z | xargs -0r md5sum
}

# write_at OFFSET PIECE FILE, read_at OFFSET LENGTH FILE
write_at() {
    dd if="$2" of="$3" bs=2M seek="$1" oflag=seek_bytes conv=notrunc status=none
}

read_at() {
    dd if="$3" bs=2M skip="$1" count="$2" iflag=skip_bytes,count_bytes status=none
}

# same_piece OFFSET LENGTH FILE FILE
same_piece() {
    local piece
    piece=$(read_at "$1" "$2" "$3" | md5sum) && [ "$piece" = "$(read_at "$1" "$2" "$4" | md5sum)" ]
}
