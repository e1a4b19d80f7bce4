# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Captures a run with tshark, for tests that look at the wire; to be sourced behind lib.sh. A test defines traffic(), which is
# what is captured.

# The test ends here where a capture cannot be made.
need_capture() { # TITLE
	local why=
	if ! command -v tshark > /dev/null; then
		why="tshark is not installed"
	elif ! timeout 20 tshark -i lo -a duration:1 -w "$work/probe.pcap" > "$work/probe.log" 2>&1; then
		why="this user may not capture on the loopback interface"
	fi
	[ -n "$why" ] || return 0
	skip "$1" "$why"
	tap_done
	exit
}

# Wireshark's own dissector of version 1 puts what an RDMA Write has placed into its RPC message on the second pass only.
tshark_options=-2

dissect() { # FILTER: number of frames of the capture that match
	tshark -r "$work/run.pcap" -o tcp.desegment_tcp_streams:TRUE $tshark_options -Y "$1" 2> /dev/null | wc -l
}

seen() { # FILTER MINIMUM
	local n
	n=$(dissect "$1")
	echo "$1: $n frames"
	[ "$n" -ge "$2" ]
}

none() { # FILTER
	local n
	n=$(dissect "$1")
	echo "$1: $n frames" && tshark -r "$work/run.pcap" -o tcp.desegment_tcp_streams:TRUE $tshark_options -Y "$1" 2> /dev/null | head -5
	[ "$n" -eq 0 ]
}

capture() { # of the traffic
	rm -f "$work/run.pcap" # of the time before
	start_server || return 1
	tshark -i lo -B 64 -f "tcp port $server_port" -w "$work/run.pcap" > "$work/tshark.log" 2>&1 &
	tshark_pid=$!
	for _ in $(seq 300); do # until a connection is seen
		grep -q Capturing "$work/tshark.log" && (: < "/dev/tcp/127.0.0.1/$server_port") 2> /dev/null
		sleep 0.3
		[ -z "$(tshark -r "$work/run.pcap" 2> /dev/null | head -1)" ] || break
	done
	traffic && stop_server && sleep 1 && kill -INT $tshark_pid && wait $tshark_pid
}

# What the capturing program has missed itself says nothing about the traffic, which TCP has
# delivered whole: once more, then.
captured_whole() {
	for _ in 1 2 3; do
		capture || return
		none 'tcp.analysis.lost_segment' && return
		tail -3 "$work/tshark.log"
	done
	return 1
}

captured() { # TITLE; not by check(): the server is started in this shell
	if captured_whole > "$work/captured.log" 2>&1; then ok "$1"; else
		not_ok "$1" "$(cat "$work/captured.log")"
	fi
}
