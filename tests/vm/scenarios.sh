# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# For cases that run the scenarios of tests/scenario twice and compare the transcripts.

SCENARIOS=$TOP/tests/scenario
export RNFS_SCENARIO_ENTRIES=600    # enough for several READDIRs, and quick enough under emulation

exec 4>&1 # what check keeps back does not go this way

# Passes lines on, and says which topic they have come to: under emulation a run takes minutes.
telling_topics() {
    local line topic=
    while IFS= read -r line; do
        [ "${line%%/*}" = "$topic" ] || { topic=${line%%/*} && echo "# $topic" >&4; }
        printf '%s\n' "$line"
    done
}

# transcript NAME DIR [TOPIC...]: runs the scenarios in DIR; what they print goes to NAME in the shared folder.
transcript() {
    local name=$1 dir=$2 status
    shift 2
    "$SCENARIOS/run" ${SECOND:+--second "$SECOND"} "$dir" "$@" 2>"/vm/$name.err" | LC_ALL=C telling_topics >"/vm/$name"
    status=${PIPESTATUS[0]}
    [ "$status" = 0 ] && [ ! -s "/vm/$name.err" ] || { cat "/vm/$name.err" && return 1; }
}

# same_transcripts LABEL REFERENCE OTHER KNOWN...: each test of compare is one of the case. KNOWN without folder and .txt.
same_transcripts() {
    local label=$1 a=$2 b=$3 line list known=()
    shift 3
    for list in "$@"; do known+=("$SCENARIOS/known/$list.txt"); done
    "$SCENARIOS/compare" "/vm/$a" "/vm/$b" "${known[@]}" >"/vm/compare"
    while IFS= read -r line; do
        case $line in
        "ok "*) ok "$label: ${line#ok * - }" ;;
        "not ok "*) not_ok "$label: ${line#not ok * - }" ;;
        "#"*) echo "$line" ;;
        esac
    done <"/vm/compare"
    grep -q '^1\.\.' /vm/compare || not_ok "$label: the transcripts are compared"
}
