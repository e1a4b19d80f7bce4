# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Starts and stops a deployment of pNFS with file layouts: GlusterFS behind NFS-Ganesha. Two nodes, n1 and n2, each with a brick of the volume
# `vol`, and a Ganesha that is metadata server and data server. Each node has a network, a host name and processes of its own, and the client
# a network: gluster_net runs a command there. Source lib.sh first. Needs root.

gluster_dir=$work/gluster
gluster_client= # the process whose network the client has
declare -A gluster_node # by name: the process whose children the daemons of the node are
declare -A gluster_ganesha # by node: the parent of the process that waits for Ganesha, and that stops with Ganesha
declare -A gluster_ip=([n1]=10.98.0.1 [n2]=10.98.0.2)

gluster_missing() { # says why it cannot run here; fails if it can
	local p
	for p in glusterd glusterfsd gluster ganesha.nfsd ip unshare nsenter setfattr cc; do
		command -v $p > /dev/null || { echo "$p is not installed" && return 0; }
	done
	ls /usr/lib/*/ganesha/libfsalgluster.so > /dev/null 2>&1 || { echo "nfs-ganesha-gluster is not installed" && return 0; }
	[ "$(id -u)" = 0 ] || { echo "GlusterFS must be run as root" && return 0; }
	unshare -mnup --fork true 2> /dev/null || { echo "no namespaces here" && return 0; }
	touch "$work/attr"
	setfattr -n trusted.rnfs -v 1 "$work/attr" 2> /dev/null && setfattr -n user.rnfs -v 1 "$work/attr" 2> /dev/null ||
		{ echo "the file system of $work has no extended attributes" && return 0; }
	return 1
}

gluster_net() { # COMMAND...
	nsenter --net="/proc/$gluster_client/ns/net" "$@"
}

in_node() { # NODE COMMAND...
	local holder=${gluster_node[$1]}
	shift
	nsenter -m -n -u -p -t "$holder" "$@"
}

# In the namespaces of a node: what its daemons want to find, in the end as a process that does nothing.
gluster_inside() { # NODE
	local dir=$gluster_dir/$1
	leave_others_mounts
	hostname "$1" && ip link set lo up && mount --bind "$gluster_dir/hosts" /etc/hosts && mount --bind "$dir/glusterd" /var/lib/glusterd &&
		mount -t tmpfs tmpfs /run && mkdir -p /run/gluster /run/dbus /run/ganesha /var/log/glusterfs &&
		mount --bind "$dir/log" /var/log/glusterfs || exit 1
	: > "$dir/up"
	exec sleep infinity
}

start_node() { # NODE
	local dir=$gluster_dir/$1 init
	mkdir -p "$dir"/{glusterd,log,brick,recovery}
	unshare -mnup --fork --kill-child --mount-proc --propagation private bash -c "gluster_inside $1" > "$dir/out" 2>&1 &
	until_true test -e "$dir/up" || return 1
	init=$(pgrep -P $! -x sleep)
	gluster_node[$1]=$init
	gluster_net ip link add "v$1" type veth peer name eth0 netns "$init" && gluster_net ip link set "v$1" master nodes up &&
		in_node "$1" ip addr add "${gluster_ip[$1]}/24" dev eth0 && in_node "$1" ip link set eth0 up || return 1
	in_node "$1" glusterd --no-daemon --log-file "$dir/log/glusterd.log" > "$dir/glusterd.out" 2>&1 &
	until_true in_node "$1" gluster --mode=script pool list
}

# Ganesha 4.3 gives the reference on a data server back twice for each COMPOUND, and ends by the first WRITE to one
# (https://github.com/nfs-ganesha/nfs-ganesha/issues/1093). A library in front keeps the reference.
ganesha_remedy() {
	printf 'struct fsal_pnfs_ds;\nvoid pnfs_ds_put(struct fsal_pnfs_ds *ds);\nvoid pnfs_ds_put(struct fsal_pnfs_ds *ds) { (void)ds; }\n' > "$gluster_dir/remedy.c"
	cc -shared -fPIC -o "$gluster_dir/remedy.so" "$gluster_dir/remedy.c"
}

start_ganesha_at() { # NODE
	local dir=$gluster_dir/$1
	cat > "$dir/conf" <<-E
		NFS_CORE_PARAM { Protocols = 4; mount_path_pseudo = true; Enable_NLM = false; Enable_RQUOTA = false; }
		NFSv4 { Minor_Versions = 1, 2; Grace_Period = 5; Lease_Lifetime = 20; Graceless = true; RecoveryRoot = "$dir/recovery";
			Only_Numeric_Owners = true; pnfs_mds = true; pnfs_ds = true; Server_Scope = "rnfs"; Server_Owner = "$1"; }
		GLUSTER { PNFS_MDS = true; }
		EXPORT { Export_Id = 1; Path = "/vol"; Pseudo = "/vol"; Access_Type = RW; Squash = No_Root_Squash; SecType = sys; Protocols = 4;
			Transports = TCP; Disable_ACL = true; FSAL { Name = GLUSTER; Hostname = "$1"; Volume = "vol"; } }
		LOG { Default_Log_Level = EVENT; }
	E
	in_node "$1" env LD_PRELOAD="$gluster_dir/remedy.so" ganesha.nfsd -F -f "$dir/conf" -L "$dir/ganesha.log" -p "$dir/pid" > "$dir/ganesha.out" 2>&1 &
	gluster_ganesha[$1]=$!
	until_true gluster_net bash -c "exec 3<> /dev/tcp/${gluster_ip[$1]}/2049"
}

kill_ganesha_at() { # NODE
	in_node "$1" pkill -9 -x ganesha.nfsd
}

silence_ganesha_at() { # NODE SECONDS
	in_node "$1" pkill -STOP -x ganesha.nfsd && sleep "$2"
	in_node "$1" pkill -CONT -x ganesha.nfsd && pkill -CONT -P "${gluster_ganesha[$1]}"
}

start_gluster() {
	local node
	mkdir -p "$gluster_dir"
	printf '127.0.0.1 localhost\n10.98.0.1 n1\n10.98.0.2 n2\n' > "$gluster_dir/hosts"
	ganesha_remedy || return 1
	unshare -n sleep infinity &
	gluster_client=$!
	until_true gluster_net ip link add nodes type bridge && gluster_net ip link set lo up && gluster_net ip addr add 10.98.0.9/24 dev nodes &&
		gluster_net ip link set nodes up || return 1
	export gluster_dir
	export -f gluster_inside leave_others_mounts
	start_node n1 && start_node n2 && in_node n1 gluster --mode=script peer probe n2 || return 1
	until_true bash -c "nsenter -m -n -u -p -t ${gluster_node[n1]} gluster --mode=script peer status | grep -q 'Peer in Cluster'" || return 1
	in_node n1 gluster --mode=script volume create vol "n1:$gluster_dir/n1/brick" "n2:$gluster_dir/n2/brick" force &&
		in_node n1 gluster --mode=script volume set vol features.cache-invalidation on &&
		in_node n1 gluster --mode=script volume start vol && start_ganesha_at n1 && start_ganesha_at n2 && return 0
	for node in n1 n2; do tail -n 5 "$gluster_dir/$node"/*.log "$gluster_dir/$node"/*.out "$gluster_dir/$node"/log/*.log; done
	return 1
}

stop_gluster() {
	local node
	for node in "${!gluster_ganesha[@]}"; do pkill -CONT -P "${gluster_ganesha[$node]}"; done
	for node in "${!gluster_node[@]}"; do kill -9 "${gluster_node[$node]}" 2> /dev/null; done # and all others there
	[ -z "$gluster_client" ] || kill -9 "$gluster_client" 2> /dev/null
	wait 2> /dev/null
}

trap 'fusermount3 -u -z "$mnt" 2> /dev/null; stop_gluster; e2e_cleanup' EXIT
