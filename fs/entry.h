/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * entry: what the kernel is told of names and attributes, and for how long it may believe it; and
 * what is noted here of what the server has said of them.
 */
#ifndef RNFS_FS_ENTRY_H
#define RNFS_FS_ENTRY_H

#include <sys/stat.h>

#include "fs/fs.h"
#include "fs/request.h"

/* A time on clock_ns(): attributes and rights of ino that the server was asked for earlier are too
 * old. */
uint64_t entry_attr_since(const struct fs *fs, struct inode *ino);
/* For how many seconds the kernel may believe a, which it is about to be told, of ino. */
double entry_attr_timeout(const struct fs *fs, struct inode *ino, const struct nfs_attr *a);
/* The same of what the server was asked for at `seen`. */
double entry_attr_left(
	const struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t seen);
/* Attributes of ino, which the server was asked for at `asked`, as stat(2) shows them; notes that
 * the kernel, which has asked at `born`, is told them, and may believe them for *timeout seconds:
 * before that is found out comes change_told(). It becomes 0 if they have been doubted meanwhile.
 * Of what it changes itself it takes them whenever it has asked: born is now. */
void entry_stat(struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t asked,
	uint64_t born, double *timeout, struct stat *st);
/* The server was asked for attributes of ino at `seen` and has told a: notes them. If they say that
 * somebody may have lost the right to search ino, the kernel is told to doubt the names in it. */
void entry_note_attr(struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t seen);
/* Data of ino was changed, and the server takes the set-ID bits of a file away at that. If ino had
 * any, the kernel, which leaves them to us, is told to ask for the mode again. Any thread; does not
 * wait. To be called before the kernel is answered. */
void entry_doubt_set_id(const struct fs *fs, struct inode *ino);
/* The mode of what is to be made, with the caller's umask beside it where the server wants to know
 * that (RFC 8275), but for symbolic links, which have none. */
void entry_set_mode(fuse_req_t req, struct nfs_sattr *set, mode_t mode, bool is_link);
/* Is a LOOKUP or READDIR to bring the attributes of the directory, which decide how long names in
 * it are believed? */
bool entry_wants_dir(const struct fs *fs);
/* Those came with an operation on names in dir that was sent at `seen`. If somebody else has
 * changed the directory, no name in it is believed any more, here and in the kernel. */
void entry_note_dir(struct fs *fs, struct inode *dir, const struct nfs_dir_attr *a, uint64_t seen);
/* As of when it is what the same answer has told of a name in dir (inode_name_seen()). */
uint64_t entry_name_seen(struct inode *dir, const struct nfs_dir_attr *a, uint64_t seen);
/* May the kernel be told of ino what is known? Else names in it are just being taken back, or it is
 * a symbolic link of which the kernel is to forget what it said: the server is asked. */
bool entry_may_tell(struct inode *ino);
/* Is what the server said at `seen` of a name in dir believed? */
bool entry_believed(const struct fs *fs, struct inode *dir, uint64_t seen);

/* Fills e for name in dir and a, which have been noted, an inode that inode_lookup() gave; the
 * server was asked at `seen`, has said what name stands for as of name_seen, and has let the caller
 * search dir. born: as of entry_stat(). */
void entry_fill(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct nfs_attr *a, uint64_t seen, uint64_t name_seen, uint64_t born,
	struct fuse_entry_param *e);
/* The same from what is known. */
void entry_fill_known(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct nfs_attr *a, uint64_t seen, uint64_t name_seen, uint64_t born,
	struct fuse_entry_param *e);
/* Answers r with e for ino, which has a lookup for the kernel, and frees r. */
void entry_reply(struct request *r, struct inode *ino, const struct fuse_entry_param *e);
/* Ends r with an entry for r->name in r->dir, whose handle is fh, or with error if that is not 0.
 * attr: in an op of r, as of `seen`; the name as of name_seen. */
void entry_end(struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr,
	uint64_t seen, uint64_t name_seen);
/* The same for a name that r has just made. */
void entry_end_made(
	struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr);
/* Is it noted of dir which names it has (names_list(), names_lacks())? Not where one name has
 * several spellings, nothing is to be believed of names that are not there, or another client has
 * been seen to change the directory: that client may tell of a name that it has made and that no
 * program here has asked for yet. */
bool entry_keeps_names(const struct fs *fs, struct inode *dir);
/* names_list() of dir. 0: a name is just being made there, which may have been noted already and
 * not be in the listing. */
uint32_t entry_list_names(
	struct fs *fs, struct inode *dir, uint64_t since, uint32_t uid, uint32_t max);
/* With lookupcache=complete: is every name in dir known, as far as uid may rely on it, and name
 * none of them, and is that still believed? Then until *until. As ever nothing that is to be made
 * is refused because of that. */
bool entry_knows_none(
	struct fs *fs, struct inode *dir, const char *name, uint32_t uid, uint64_t *until);
/* Was dir made by this mount, and is every name in it still known from that? */
bool entry_made_here(const struct fs *fs, struct inode *dir);
/* Is it believed, from that or because the server said so, that there is no such name? */
bool entry_believes_none(struct fs *fs, struct inode *dir, const char *name, uint32_t uid);
/* Ends r with that. False: that could not be noted, and the server must be asked. The kernel may
 * believe it with lookupcache=complete only. */
bool entry_end_none(struct request *r, uint64_t until);
/* r is about to make r->name in r->dir, or r->to_name in r->to_dir if it moves something there:
 * before the server is asked. */
void entry_making(struct request *r);
/* Ends r: the server, asked at `seen`, has no r->name in r->dir. That is remembered, and the kernel
 * may believe it for a while. Whether a name may be made is never decided by it: the server is
 * asked to make it, and says. */
void entry_end_absent(struct request *r, uint64_t seen);
/* The server could not make r->name in r->dir. True: the kernel was told that there was none,
 * perhaps without asking the server, and is told to doubt it, as there may be one by now. */
bool entry_not_made(struct request *r, int error);
/* An operation on names in dir has ended with error (0: with success). If that leaves open whether
 * the server has carried it out, or will, or shows somebody else's change, dir is not complete any
 * more. */
void entry_named(struct fs *fs, struct inode *dir, int error);
/* The server was asked to remove r->name in r->dir, with this result. */
void entry_removed(struct request *r, int error);

/* Every right that ACCESS can ask for on a directory. */
#define ENTRY_FILE_RIGHTS                                                                          \
	(NFS_ACCESS_READ | NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND | NFS_ACCESS_EXECUTE)
#define ENTRY_DIR_RIGHTS                                                                           \
	(NFS_ACCESS_READ | NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND | NFS_ACCESS_LOOKUP |             \
		NFS_ACCESS_DELETE)

/* Every right that ACCESS can ask for on ino. All are asked for at once: the next request may need
 * another. */
uint32_t entry_access_bits(const struct inode *ino);
/* Makes p ready to ask for all of them, on r->inode. */
void entry_ask_access(struct request *r, struct part *p);
/* Takes the answer in; 0 or a negative errno. */
int entry_note_access(struct request *r, const struct nfs_op *op);

#endif
