# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# rnfs as the client of the kernel's server in the guest. The case sets PROTO, SERVER and, where needed, OPTIONS and
# CLIENT_USER first; then this file sets the rest and files_test can run.

source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$HERE/files.sh"
SRV=$SERVER_DIR
OPTIONS=${OPTIONS:-vers=4.1}

if [ -n "${RNFS_IN_GUEST:-}" ]; then
    SCRATCH=$(mktemp -d /run/rnfs-XXXXXX)
    chmod 755 "$SCRATCH"
else
    SCRATCH=$(mktemp -d "$VM/host-XXXXXX")
fi
MNT=$SCRATCH/mnt REF=$SCRATCH/ref
trap 'fusermount3 -uz "$MNT" 2>/dev/null; rm -rf --one-file-system "$SCRATCH"' EXIT
mkdir -p "$MNT" "$REF"
if [ -n "$CLIENT_USER" ]; then
    chown "$CLIENT_USER:" "$MNT" "$REF"
    client_shell_start "$CLIENT_USER"
fi
[ -x "$BUILD/fs/rnfs" ] || bail "build/fs/rnfs is built"

client_mount() {
    rnfs_mount "$PROTO" "$SERVER:/export" "$MNT" "$OPTIONS"
}

client_umount() {
    rnfs_umount "$MNT"
}

no_state() {
    no_server_clients
}
