# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Completion for bash. The words come from the program, so they are those of the version that is installed.

_rnfs_options() { # completes the last item of the comma list $1, and keeps those before
	local before= last=$1
	[[ $1 != *,* ]] || before=${1%,*}, last=${1##*,}
	mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --complete 2> /dev/null)" -P "$before" -- "$last")
	compopt -o nospace
}

_rnfs() {
	# the line's words with = and : in them, which bash takes apart
	local cur prev words cword
	if declare -F _get_comp_words_by_ref > /dev/null; then
		_get_comp_words_by_ref -n =: cur prev words cword
	else
		cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} cword=$COMP_CWORD
	fi
	if [[ $prev == -o ]]; then
		_rnfs_options "$cur"
	elif [[ $prev == --fd-from ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "-f -d -h -V -o --fd-from --foreground --debug --help --version" -- "$cur")
	elif ((cword == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" help 2> /dev/null | sed -n 's/^rnfs \([a-z-]*\).*/\1/p')" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
	fi
	# bash completes only what stands behind the last = or : of the word
	! declare -F __ltrim_colon_completions > /dev/null || __ltrim_colon_completions "$cur"
	if [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${cur%=*}="}")
	fi
}
complete -F _rnfs rnfs

_rnfs_serve() {
	local cur=${COMP_WORDS[COMP_CWORD]}
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help 2> /dev/null | grep -oE -- '--[a-z_-]+')" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
	fi
}
complete -F _rnfs_serve rnfs-serve

_rnfs_mountfd() {
	local cur=${COMP_WORDS[COMP_CWORD]}
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help 2> /dev/null | grep -oE -- '-(-[a-z]+|[a-zA-Z]\>)')" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
complete -F _rnfs_mountfd rnfs-mountfd
