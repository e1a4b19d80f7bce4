# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Starts and stops an NFS-Ganesha server of one's own, for tests that want a second real server. It
# lives in a network of its own (127.0.0.1, the usual ports: 2049, rpcbind on 111) with the system
# bus, rpcbind and statd that it insists on; ganesha_net runs a command in that network. Source
# lib.sh first, or have lib.sh source it by SERVER=ganesha: then it stands in for the bundled server,
# and the test is skipped where it cannot run. Needs root: Ganesha opens files by their handles.

ganesha_holder= # set by start_ganesha: the process whose children the other daemons are
ganesha_pid=	# and Ganesha's own
ganesha_dir=$work/ganesha

ganesha_missing() { # says why it cannot run here; fails if it can
	local p
	for p in ganesha.nfsd dbus-daemon rpcbind ip unshare nsenter; do
		command -v $p > /dev/null || { echo "$p is not installed" && return 0; }
	done
	[ "$(id -u)" = 0 ] || { echo "Ganesha must be run as root" && return 0; }
	unshare -mn true 2> /dev/null || { echo "no mount and network namespaces here" && return 0; }
	return 1
}

ganesha_config() { # [PSEUDO=PATH[;SETTINGS]...]; GANESHA_OWNERS, GANESHA_PROTOCOLS, GANESHA_LEASE: instead of the usual
	local e id=1 path
	cat <<-E
		NFS_CORE_PARAM { NFS_Port = 2049; MNT_Port = 20491; NLM_Port = 20492; Enable_RQUOTA = false;
			Protocols = ${GANESHA_PROTOCOLS:-3, 4}; mount_path_pseudo = true; }
		NFSv4 { Grace_Period = 5; Lease_Lifetime = ${GANESHA_LEASE:-60}; Graceless = true; Minor_Versions = 0, 1, 2;
			RecoveryRoot = "$ganesha_dir/recovery"; ${GANESHA_OWNERS:-Only_Numeric_Owners = true;} }
		LOG { Default_Log_Level = EVENT; }
	E
	for e in "$@"; do
		path=${e#*=}
		cat <<-E
			EXPORT { Export_Id = $id; Pseudo = "${e%%=*}"; Path = "${path%%;*}"; Access_Type = RW;
				Squash = No_Root_Squash; SecType = sys; Transports = TCP; Protocols = 3, 4;
				$(cut -s -d";" -f2- <<< "$path") FSAL { Name = VFS; } }
		E
		id=$((id + 1))
	done
}

# In the namespaces: the bus, rpcbind and statd, in the end as a process that does nothing.
ganesha_inside() {
	leave_others_mounts
	ip link set lo up && mount -t tmpfs -o mode=755 tmpfs /run &&
		mkdir -p /run/dbus /run/ganesha /run/rpcbind /run/statd/sm /run/statd/sm.bak || exit 1
	cat > /run/bus.conf <<-E
		<busconfig><listen>unix:path=/run/dbus/system_bus_socket</listen>
		<policy context="default"><allow own="*"/>
		<allow send_destination="*"/><allow eavesdrop="true"/></policy></busconfig>
	E
	dbus-daemon --config-file=/run/bus.conf --nofork --nopidfile &
	rpcbind -f &
	for _ in $(seq 100); do
		[ -S /run/dbus/system_bus_socket ] && [ -S /run/rpcbind.sock ] && break
		sleep 0.1
	done
	if command -v rpc.statd > /dev/null; then rpc.statd -F --no-notify -P /run/statd & fi
	: > /run/ready
	exec sleep infinity
}

ganesha_run() { # [PSEUDO=PATH...]
	mkdir -p "$ganesha_dir/recovery"
	rm -f "$ganesha_dir/log"
	ganesha_config "$@" > "$ganesha_dir/conf"
	nsenter --net="/proc/$ganesha_holder/ns/net" --mount="/proc/$ganesha_holder/ns/mnt" \
		ganesha.nfsd -F -f "$ganesha_dir/conf" -L "$ganesha_dir/log" -p "$ganesha_dir/pid" &
	ganesha_pid=$!
	for _ in $(seq 300); do
		kill -0 $ganesha_pid 2> /dev/null || break
		grep -q 'NFS SERVER INITIALIZED' "$ganesha_dir/log" 2> /dev/null && return 0
		sleep 0.1
	done
	return 1
}

# [PSEUDO=PATH...], default the whole export_dir as "/". Fails if it does not come up. While it
# runs, the same with other or the same exports restarts it.
start_ganesha() {
	[ $# -gt 0 ] || set -- "/=$export_dir"
	mkdir -p "$ganesha_dir"
	kill_ganesha
	if [ -z "$ganesha_holder" ]; then
		export -f ganesha_inside leave_others_mounts
		unshare -mn --propagation private bash -c ganesha_inside > "$ganesha_dir/out" 2>&1 &
		ganesha_holder=$!
		for _ in $(seq 100); do
			[ ! -e "/proc/$ganesha_holder/root/run/ready" ] || break
			sleep 0.1
		done
	fi
	ganesha_run "$@" >> "$ganesha_dir/out" 2>&1 && return 0
	echo "# Ganesha did not start:" && tail -n 20 "$ganesha_dir/out" "$ganesha_dir/log" | sed 's/^/# /'
	stop_ganesha
	return 1
}

kill_ganesha() { # itself only
	[ -n "$ganesha_pid" ] || return 0
	kill "$ganesha_pid" 2> /dev/null
	for _ in $(seq 100); do kill -0 "$ganesha_pid" 2> /dev/null || break; sleep 0.1; done
	kill -9 "$ganesha_pid" 2> /dev/null
	wait "$ganesha_pid" 2> /dev/null
	ganesha_pid=
}

stop_ganesha() {
	kill_ganesha
	[ -n "$ganesha_holder" ] || return 0
	kill -9 $(pgrep -P "$ganesha_holder") "$ganesha_holder" 2> /dev/null
	wait "$ganesha_holder" 2> /dev/null
	ganesha_holder=
}

ganesha_net() { # COMMAND...
	nsenter --net="/proc/$ganesha_holder/ns/net" "$@"
}

trap 'stop_ganesha; e2e_cleanup' EXIT

if [ "${SERVER:-}" = ganesha ]; then
	PROTO=tcp over=proto=tcp server_port=2049
	start_server() { start_ganesha "$@"; }
	stop_server() { stop_ganesha; }
	server_ends() { stop_ganesha; } # how is not ours to judge
	server_net() { ganesha_net "$@"; }
	server_is_idle() { # a client that it knows of has a record for recovery
		local known
		known=$(ls "$ganesha_dir/recovery/v4recov/node0") && [ -z "$known" ] || {
			echo "$known" && return 1
		}
	}
	if why=$(ganesha_missing); then
		skip "NFS-Ganesha" "$why"
		tap_done
		exit
	fi
fi
