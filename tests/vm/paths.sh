# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Where things are: sourced by the host's scripts and by the cases.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(realpath "$HERE/../..")
BUILD=$(realpath -m "${BUILD:-$TOP/build}")
VM=$BUILD/vm       # what prepare makes, and the running guest's state
OUT=$VM/out        # shared with the guest, which sees it as /vm

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# Prints the process ID of the guest's qemu, if there is one.
guest_pid() {
    local pid
    pid=$(cat "$VM/pid" 2>/dev/null) && grep -qs '^qemu' "/proc/$pid/comm" && echo "$pid"
}
