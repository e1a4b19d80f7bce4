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
complete -c rnfs -l fd-from -r -F -d 'serve what rnfs-mountfd gives at this socket'
complete -c rnfs -s o -x -a '(__rnfs_options)' -d 'mount options'
complete -c rnfs -n __fish_is_first_token -a "(rnfs help 2> /dev/null | string replace -rf '^rnfs ([a-z-]+).*' '\$1')"
complete -c rnfs -n 'not __fish_is_first_token' -a '(__fish_complete_directories)'
complete -c rnfs-serve -a '(__fish_complete_directories)'
complete -c rnfs-serve -f -n 'string match -q -- "-*" (commandline -ct)' -a "(rnfs-serve --help 2> /dev/null | string match -ra -- '--[a-z_-]+')"
complete -c rnfs-mountfd -s f -d 'stay in the foreground'
complete -c rnfs-mountfd -s o -x -d 'options of rnfs and mount'
complete -c rnfs-mountfd -l user -x -a 'any' -d 'who may connect'
complete -c rnfs-mountfd -l ready -r -F -d 'is there while the directory can be used'
complete -c rnfs-mountfd -l error -r -F -d 'has the sentence why it cannot'
complete -c rnfs-mountfd -s h -l help -d 'help'
complete -c rnfs-mountfd -s V -l version -d 'version'
