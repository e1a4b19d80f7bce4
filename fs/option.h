/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * option: what each name in a list of -o options means.
 */
#ifndef RNFS_FS_OPTION_H
#define RNFS_FS_OPTION_H

#include "fs/options.h"

/* Takes one item of the list, "name" or "name=value", into o; item is cut at the '='. 0, or -1 with
 * *e set: an unknown name, a value that is missing, not wanted or not valid. */
int option_set(struct options *o, char *item, struct err *e);
/* Adds name, or name=value, to what libfuse and mount(2) are given. 0, or -1 with *e set when out
 * of memory. */
int option_pass(struct options *o, const char *name, const char *value, struct err *e);

#endif
