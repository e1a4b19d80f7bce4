# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# A pod made of namespaces, for the tests of containers; after lib.sh. By root. $pod is the directory that the kubelet
# would share: comm/ has the mounter's socket, vol is the mount point. Three containers, a mount namespace each:
#
#     mounter   privileged; what it mounts below $pod propagates (Bidirectional)
#     sidecar   user 12345, no capability, no_new_privs, Docker's system calls, a root that is read-only, no /dev/fuse,
#               a PID namespace of its own, no environment
#     app       sees what is mounted below $pod (HostToContainer)
MOUNTFD=$BUILD/contrib/mountfd/rnfs-mountfd
CONFINED=$BUILD/tests/tools/confined
pod=$work/pod
vol=$pod/vol
mounter=
sidecar=

pod_begin() {
	mkdir -p "$vol" "$pod/comm" && chmod 755 "$work" && mount --bind "$pod" "$pod" && mount --make-private "$pod" &&
		mount --make-shared "$pod"
}

start_mounter() { # [OPTIONS of rnfs-mountfd...]; $volume: options of the mount; sets mounter
	unshare --mount --propagation unchanged "$MOUNTFD" -f --user 12345 --ready "$pod/comm/ready" --error "$pod/comm/error" \
		-o "$over,port=$server_port${volume:+,$volume}" "$@" "$pod/comm/socket" 127.0.0.1:/ "$vol" 2>> "$work/mounter.log" &
	mounter=$!
	there "$pod/comm/socket"
}

in_sidecar() { # COMMAND...: with nothing that is in the environment
	unshare --mount --propagation private --pid --fork --kill-child --mount-proc bash -c '
		mount -t tmpfs -o mode=755 dev /dev && mknod -m 666 /dev/null c 1 3 && ln -s /proc/self/fd /dev/fd &&
			umount -l "$1" && mount --bind "$1/comm" "$1/comm" 2> /dev/null
		mount -t tmpfs -o ro none /var/tmp && mount -t tmpfs -o ro none /run && mount -o remount,bind,ro / || exit 125
		confined=$2
		shift 2
		exec env -i ${STRACE:-} "$confined" 12345 "$@"' sh "$pod" "$CONFINED" "$@"
}

start_sidecar() { # [OPTIONS of rnfs...]; sets sidecar, and daemon: which is process 1 there
	in_sidecar "$RNFS" -f --fd-from "$pod/comm/socket" "$@" 2>> "$work/sidecar.log" &
	sidecar=$!
	for _ in $(seq 100); do
		daemon=$(newest_daemon) && return 0
		kill -0 "$sidecar" 2> /dev/null || return 0 # it has ended already
		sleep 0.1
	done
	return 1
}

newest_daemon() {
	pgrep -n -f "^$RNFS -f --fd-from $pod/comm/socket"
}

sidecar_ends() { # with which status
	wait "$sidecar"
	local status=$?
	sidecar=
	return $status
}

in_app() { # COMMAND...
	unshare --mount --propagation slave "$@"
}

there() { # FILE: in the end
	for _ in $(seq 300); do [ -e "$1" ] && return 0; sleep 0.1; done
	echo "there is no $1"
	tail -n 5 "$work/mounter.log" "$work/sidecar.log" 2> /dev/null
	return 1
}

gone() { # FILE: in the end
	for _ in $(seq 300); do [ -e "$1" ] || return 0; sleep 0.1; done
	echo "there still is $1"
	return 1
}

said() { # FILE PATTERN: in the end
	for _ in $(seq 300); do
		grep -q -- "$2" "$1" 2> /dev/null && return 0
		sleep 0.1
	done
	echo "not in $1: $2"
	cat "$1"
	return 1
}

pod_end() {
	[ -z "$sidecar" ] || kill -9 "$sidecar"
	[ -z "$mounter" ] || kill -9 "$mounter"
	umount -l "$vol" 2> /dev/null
	umount -l "$pod"
}
