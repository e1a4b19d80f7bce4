/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * effect: options that contradict each other, or have no effect beside others.
 *
 * A contradiction is refused where the user may mean either of two things. An option without effect
 * is named, and the mount goes on: lines of fstab(5) that were written for another client are full
 * of such options. Of options that exclude each other the last one counts, as mount(8) merges
 * lists; such options, hard and soft for example, are no contradiction.
 */
#ifndef RNFS_FS_OPTIONS_EFFECT_H
#define RNFS_FS_OPTIONS_EFFECT_H

#include "fs/options/option.h"

/* Looks at the options as given, and adds sentences to o->notes and names to o->unused. 0, or -1
 * with *e set: a contradiction, or no memory. */
int effect_check(struct options *o, struct err *e);

#endif
