# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Completion for fish. The words come from the program, so they are those of the version that is installed.

function __rnfs_options
    # completes the last item of a comma list, and keeps those before
    set -l before (string match -r '^.*,' -- (commandline -ct); or echo)
    for word in (rnfs --complete 2> /dev/null)
        echo $before$word
    end
end

complete -c rnfs -f
complete -c rnfs -s f -l foreground -d 'stay in the foreground'
complete -c rnfs -s d -l debug -d 'with debugging messages'
complete -c rnfs -s h -l help -d 'help'
complete -c rnfs -s V -l version -d 'version'
complete -c rnfs -s o -x -a '(__rnfs_options)' -d 'mount options'
complete -c rnfs -n __fish_is_first_token -a "(rnfs help 2> /dev/null | string replace -rf '^rnfs ([a-z-]+).*' '\$1')"
complete -c rnfs -n 'not __fish_is_first_token' -a '(__fish_complete_directories)'
complete -c rnfs-serve -a '(__fish_complete_directories)'
complete -c rnfs-serve -f -n 'string match -q -- "-*" (commandline -ct)' -a "(rnfs-serve --help 2> /dev/null | string match -ra -- '--[a-z_-]+')"
