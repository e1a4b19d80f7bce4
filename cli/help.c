/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * help: texts on the command line and on mount options.
 */
#include "cli/help.h"

#include <string.h>

#include "cli/entries.h" /* texts, names */

#define NAMES (sizeof(names) / sizeof(names[0]))

void help_short(FILE *out)
{
	fputs("usage: rnfs [options] SERVER:/EXPORT MOUNTPOINT\n"
	      "       rnfs [options] nfs://SERVER[:PORT]/EXPORT MOUNTPOINT   or nfs+rdma://...\n"
	      "       rnfs COMMAND\n"
	      "\n"
	      "Mounts an NFS export over RDMA, software iWARP or TCP. Unmount: umount "
	      "MOUNTPOINT\n"
	      "\n"
	      "  -f                      stay in the foreground, log to standard error\n"
	      "  -o OPTION[,OPTION...]   mount options, such as\n"
	      "       proto=rdma|iwarp|tcp, port=N, vers=4.2|4.1|3   how to reach the server\n"
	      "       soft, timeo=N, retry=N, bg, delay_connect      what to do if it is away\n"
	      "       ro, allow_other, nosuid, noexec                what may be done with the "
	      "mount\n"
	      "       cache_size=N, actimeo=N, nolock, nowriteback   caching and locks\n"
	      "  -d, -s, -V              debug; ignore unknown options; show the version\n"
	      "\n"
	      "  rnfs help options       lists all options\n"
	      "  rnfs help OPTION        says all about one\n"
	      "  rnfs help               lists the commands\n"
	      "  rnfs doctor SERVER      says why a mount does not work\n"
	      "  man rnfs                has everything\n",
		out);
}

void help_options(FILE *out)
{
	fputs("  -f                      stay in the foreground, log to standard error\n"
	      "  -d                      the same, with debugging messages\n"
	      "  --fd-from SOCKET        serve what rnfs-mountfd(8) gives there: no SERVER, no "
	      "MOUNTPOINT\n"
	      "  -o OPTION[,OPTION...]   see below\n"
	      "  -s                      ignore unknown options; one line names them\n"
	      "  -h, -V                  this help; the version\n"
	      "\n"
	      "Connection\n"
	      "  proto=auto|rdma|iwarp|tcp  default auto: the first of rdma, iwarp, tcp that "
	      "works;\n"
	      "              rdma6|tcp6  by IPv6 only\n"
	      "  port=N                  default 20049 (rdma, iwarp), 2049 (tcp)\n"
	      "  vers=4.2|4.1|4|3        NFS version, default the newest that the server has\n"
	      "  mountport=N, mountproto=tcp|udp, mounthost=HOST  where NFSv3 asks for the export\n"
	      "  read_plus               NFSv4.2: holes of files are not transferred\n"
	      "  pnfs                    NFSv4: data straight from and to data servers, where the "
	      "server\n"
	      "                          names some (flexible files, file layouts)\n"
	      "  sec=sys, xprtsec=none   security flavour, encryption\n"
	      "  idmap=auto|numeric|name owners as names are understood, and sent if need be "
	      "(auto) or always\n"
	      "  idmap_domain=DOMAIN     of such names, default as /etc/idmapd.conf says\n"
	      "  rsize=N, wsize=N        bytes per READ and WRITE, at most 1M, default as the "
	      "server likes\n"
	      "  hard | soft, softerr    wait for a silent server for ever (default) | give up\n"
	      "  timeo=N                 tenths of a second before a call counts as lost, default "
	      "600\n"
	      "  retrans=N               soft: time-outs before an error, default 3\n"
	      "  patience=N              seconds that a program waits while the server is silent\n"
	      "  notify                  tell the desktop of a server that is silent, and is "
	      "back\n"
	      "  desktop                 timeo=50,patience=1,notify\n"
	      "  connect_timeout=N       seconds for connecting, default 10\n"
	      "  retry=N                 minutes to wait for a server that is away, default 0\n"
	      "  bg, fg                  do that in the background, for 10000 minutes; or not\n"
	      "  delay_connect           mount at once, programs wait until the server answers\n"
	      "  grace=N                 seconds that the end may take after SIGTERM, default 8; "
	      "0: no bound\n"
	      "  nconnect=N              connections, 1 to 16, default 1\n"
	      "  max_connect=N           NFSv4: addresses of the server that they go to, default "
	      "1\n"
	      "  trunkdiscovery, notrunkdiscovery   NFSv4: ask the server for such addresses, or "
	      "not\n"
	      "  migration, nomigration  NFSv4: move with the file system to another server, or "
	      "not "
	      "(the default)\n"
	      "  replication, noreplication   NFSv4: go on at a replica when the server is silent, "
	      "or "
	      "not "
	      "(the default)\n"
	      "  survive, nosurvive      NFSv4: go on when the daemon is killed, or not (the "
	      "default)\n"
	      "  referrals, noreferrals  NFSv4: follow directories to other servers (the default), "
	      "or "
	      "not\n"
	      "  credits=N, inline_size=N, mpa_crc, "
	      "rdma_version=auto|1|1-legacy|2|2-2016|2-rtr|2-2016-rtr\n"
	      "                          RPC-over-RDMA details\n"
	      "Caching\n"
	      "  cache_size=N            memory for data, default 256M\n"
	      "  actimeo=N, noac         seconds that names and attributes may be believed; 0\n"
	      "  acregmin=N, acregmax=N, acdirmin=N, acdirmax=N   the same for files and "
	      "directories,\n"
	      "                          from min to max the longer they stay unchanged; default "
	      "3, 60, 30, 60\n"
	      "  lookupcache=all|positive|none   believe what names stand for, and that there is "
	      "none;\n"
	      "              complete    or of known directories that there is no other name\n"
	      "  delegations=read|write|none   NFSv4: ask to be told before others change a file "
	      "that is\n"
	      "                          read, or also one that is written; default read\n"
	      "  readahead=N             kilobytes to read ahead of a reader at most, default "
	      "16384\n"
	      "  nowriteback             each write waits for the server's answer; also "
	      "write=lazy|eager|wait\n"
	      "Locks\n"
	      "  local_lock=all|flock|posix|none  kinds of locks that others do not see, default "
	      "none\n"
	      "  nolock                  the same as local_lock=all\n"
	      "Log\n"
	      "  log=stderr|syslog|journal|FILE   default standard error with -f, else syslog, or "
	      "what there is\n"
	      "  log_format=text|json    json: each line is an object\n"
	      "  metrics_file=FILE       counters for Prometheus's node_exporter, also "
	      "--metrics-file FILE\n"
	      "File system\n"
	      "  ro, rw                  read-only, read-write\n"
	      "  allow_other             let other users in\n"
	      "  default_permissions     the kernel checks mode bits as well as the server\n"
	      "  allow_root, auto_unmount, fsname=NAME, workers=N, debug=ctrl|data|fuse\n"
	      "  sloppy                  unknown options are ignored\n"
	      "  and the options of mount(8): nosuid, nodev, noexec, noatime, _netdev, noauto, "
	      "user, ...\n",
		out);
}

bool help_option(FILE *out, const char *name)
{
	size_t len = strcspn(name, "=");

	for (size_t i = 0; i < NAMES; i++)
		if (strlen(names[i].name) == len && !strncmp(names[i].name, name, len)) {
			fputs(texts[names[i].text], out);
			return true;
		}
	return false;
}

void help_offer(struct nearest *n)
{
	for (size_t i = 0; i < NAMES; i++)
		nearest_offer(n, names[i].name);
}
