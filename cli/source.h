/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * source: the text that names a server and its export, SERVER:/EXPORT or a URL.
 *
 * A URL is nfs://SERVER[:PORT][/EXPORT][?ARGUMENT=VALUE[&...]] (RFC 2224, RFC 3986), or the same
 * with nfs+rdma://, which leaves TCP out. Escapes such as %20 are decoded. An IPv6 address stands
 * in brackets in either form, with a scope for a link-local address: [fe80::1%eth0], in a URL also
 * [fe80::1%25eth0] (RFC 6874).
 *
 * URLs may come from untrusted links. So an argument may set the way to the server, and nothing
 * about the mount. Arguments have the names of libnfs (version, nfsport) and of options.
 */
#ifndef RNFS_CLI_SOURCE_H
#define RNFS_CLI_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/err.h"

struct source {
	char *host;    /* without brackets */
	char *export;  /* absolute path; NULL: none was given, SOURCE_MAY_BE_SERVER */
	bool rdma;     /* nfs+rdma:// */
	char *options; /* comma list of the options that a URL stands for, or NULL */
	char *ignored; /* list, for a sentence, of a URL's arguments without use here, or NULL */
};

enum source_form { SOURCE_EXPORT, SOURCE_MAY_BE_SERVER };

/* Reads text into *s. 0, or -1 with *e set (ERR_USAGE; ERR_INTERNAL when out of memory). In either
 * case source_finish() is due. */
int source_parse(struct source *s, const char *text, enum source_form form, struct err *e);
void source_finish(struct source *s);
/* The port of the NFS service among s->options, or 0: none was given. */
uint16_t source_port(const struct source *s);

#endif
