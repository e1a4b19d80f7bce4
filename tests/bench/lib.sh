# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Measurements that the benchmarks share. Each prints one number, larger is better.
# FILE_MB is the size of the file that is read and written; kept hot in memory on purpose.

FILE_MB=${FILE_MB:-64}
SECONDS_EACH=${SECONDS_EACH:-3}

# bench_fio DIR FIELD ARGS...: one fio job on DIR/bench.dat; FIELD of its terse output
# (7/48: read/write KiB/s, 8/49: read/write IOPS).
bench_fio() {
	local dir=$1 field=$2
	shift 2
	fio --name=bench --filename="$dir/bench.dat" --size="${FILE_MB}M" --minimal "$@" |
		cut -d';' -f"$field"
}

measure() { # measure TEST DIR
	case $1 in
	seqread) bench_fio "$2" 7 --rw=read --bs=1M --loops="${LOOPS:-8}" ;;
	seqwrite) bench_fio "$2" 48 --rw=write --bs=1M --loops="${LOOPS:-8}" --end_fsync=1 ;;
	rand4k-d1) bench_fio "$2" 8 --rw=randread --bs=4k --direct=1 --ioengine=psync \
		--time_based --runtime="$SECONDS_EACH" ;;
	rand4k-d16) bench_fio "$2" 8 --rw=randread --bs=4k --direct=1 --ioengine=libaio \
		--iodepth=16 --time_based --runtime="$SECONDS_EACH" ;;
	create | stat | unlink) meta "$1" "$2" ;;
	esac
}

# The three metadata rates come from one run of metaops; the run is made at `create`.
meta() {
	[ "$1" != create ] || META=$("$METAOPS" "$2" 2000) || META="0 0 0"
	case $1 in
	create) echo "${META%% *}" ;;
	stat) set -- $META && echo "$2" ;;
	unlink) echo "${META##* }" ;;
	esac
}

median() { # of the numbers on stdin
	sort -g | awk '{v[NR] = $1} END {print NR ? v[int((NR + 1) / 2)] : 0}'
}

# compare LABEL_A DIR_A LABEL_B DIR_B RUNS TESTS...: interleaved; prints medians and the ratio A/B.
compare() {
	local la=$1 da=$2 lb=$3 db=$4 runs=$5 t r tmp
	shift 5
	tmp=$(mktemp -d)
	for r in $(seq "$runs"); do
		for side in a b; do
			for t in "$@"; do
				[ $side = a ] && dir=$da || dir=$db
				measure "$t" "$dir" > "$tmp/value"
				cat "$tmp/value" >> "$tmp/$side.$t"
			done
		done
	done
	printf '%-12s %14s %14s %8s   (medians of %s runs; KiB/s, or operations per second)\n' \
		test "$la" "$lb" ratio "$runs"
	for t in "$@"; do
		awk -v t="$t" -v a="$(median < "$tmp/a.$t")" -v b="$(median < "$tmp/b.$t")" 'BEGIN {
			printf "%-12s %14d %14d %8.2f\n", t, a, b, b ? a / b : 0 }'
	done
	rm -rf "$tmp"
}
