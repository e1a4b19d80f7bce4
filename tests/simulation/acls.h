/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * acls: POSIX ACLs on the simulated disk. They are the xattrs that libacl reads and writes, in the
 * kernel's form: a version, and entries of a tag, permissions and a user's or group's number.
 */
#ifndef RNFS_SIMULATION_ACLS_H
#define RNFS_SIMULATION_ACLS_H

#include "tests/simulation/inode.h"

#define ACLS_ACCESS  "system.posix_acl_access"
#define ACLS_DEFAULT "system.posix_acl_default"

/* Does the access ACL of i allow the caller so much? The caller is neither root nor the owner. */
bool acls_allow(const struct inode *i, unsigned mask);
/* Sets either ACL of i: the journal has been told. An access ACL that a mode can say becomes the
 * mode. 0 or a negative errno. */
int acls_set(struct inode *i, const char *name, const void *value, size_t len);
/* The access ACL of i takes over a new mode. */
void acls_chmod(struct inode *i);
/* i is new in dir, with the mode asked for: takes dir's default ACL over. False: there is none, the
 * umask counts. */
bool acls_inherit(const struct inode *dir, struct inode *i);

#endif
