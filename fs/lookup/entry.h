/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * entry: the names and attributes that the kernel is told, and for how long the kernel may believe
 * them; and the notes made here of the server's answers about them.
 */
#ifndef RNFS_FS_LOOKUP_ENTRY_H
#define RNFS_FS_LOOKUP_ENTRY_H

#include <sys/stat.h>

#include "fs/known/fs.h"
#include "fs/kernel/request.h"

/* A time on clock_ns(): attributes and rights of ino that the server was asked for earlier are too
 * old. */
uint64_t entry_attr_since(const struct fs *fs, struct inode *ino);
/* For how many seconds the kernel may believe a, which it is about to be told, of ino, and which
 * the server was asked for at `seen`. */
double entry_attr_left(
	const struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t seen);
/* Converts a, attributes of ino that the server was asked for at `asked`, for stat(2). Notes that
 * thread tid (0: not known), which has asked at `born`, is told a, and that the kernel may believe
 * a for *timeout seconds. *timeout becomes 0 if the attributes have been doubted meanwhile.
 * change_told() is to be called before the caller works out *timeout. The kernel takes attributes
 * after its own changes at any time: born is then now. */
void entry_stat(struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t asked,
	uint64_t born, pid_t tid, double *timeout, struct stat *st);
/* The server, asked at `seen`, has told a: notes these attributes of ino. If a user may have lost
 * the right to search ino, tells the kernel to doubt the names in ino. */
void entry_note_attr(struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t seen);
/* The mode of a new file, with the caller's umask beside it if the server applies the umask (RFC
 * 8275). Symbolic links have no umask. */
void entry_set_mode(fuse_req_t req, struct nfs_sattr *set, mode_t mode, bool is_link);
/* Is a LOOKUP or READDIR to bring the attributes of the directory? They decide how long names in it
 * are believed. */
bool entry_wants_dir(const struct fs *fs);
/* Notes directory attributes from an operation on names in dir that was sent at `seen`. If another
 * client has changed the directory, no name in it is believed any more, here and in the kernel. */
void entry_note_dir(struct fs *fs, struct inode *dir, const struct nfs_dir_attr *a, uint64_t seen);
/* The time from which the name in dir counts that came in the same answer (inode_name_seen()). */
uint64_t entry_name_seen(struct inode *dir, const struct nfs_dir_attr *a, uint64_t seen);
/* May the kernel be told known attributes of ino? If not, the server is asked: names in ino are
 * being taken back, or ino is a symbolic link whose old target the kernel must forget. */
bool entry_may_tell(struct inode *ino);
/* Is an answer about a name in dir believed if the server was asked at `seen`? */
bool entry_believed(const struct fs *fs, struct inode *dir, uint64_t seen);

/* Fills e for name in dir, from a, which has been noted, and ino, from inode_lookup(). The server
 * was asked at `seen`, and has let the caller search dir. The name counts from name_seen on. born:
 * as for entry_stat(). */
void entry_fill(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct nfs_attr *a, uint64_t seen, uint64_t name_seen, uint64_t born, pid_t tid,
	struct fuse_entry_param *e);
/* The same from known attributes. */
void entry_fill_known(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct nfs_attr *a, uint64_t seen, uint64_t name_seen, uint64_t born, pid_t tid,
	struct fuse_entry_param *e);
/* Answers r with e for ino, which has a lookup for the kernel, and frees r. */
void entry_reply(struct request *r, struct inode *ino, const struct fuse_entry_param *e);
/* Ends r with an entry for r->name in r->dir, whose handle is fh, or with error if error is not 0.
 * attr lies in an op of r, and was asked for at `seen`. The name counts from name_seen on. */
void entry_end(struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr,
	uint64_t seen, uint64_t name_seen);
/* The same for a name that r has just made. */
void entry_end_made(
	struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr);
/* Does the daemon keep the list of all names of dir (names_list(), names_lacks())? Not where one
 * name has several spellings, where absent names are not to be believed, or where another client
 * has been seen to change the directory. That client may tell programs here of a new name before
 * any of them has asked for it. */
bool entry_keeps_names(const struct fs *fs, struct inode *dir);
/* names_list() of dir. 0: a name is just being made in dir, which may have been noted already and
 * be missing from the listing. */
uint32_t entry_list_names(
	struct fs *fs, struct inode *dir, uint64_t since, uint32_t uid, uint32_t max);
/* With lookupcache=complete: are all names of dir known, as far as uid may rely on the list, is
 * name none of them, and is the list still believed? Then the absence is believed until *until. No
 * creation is ever refused for that reason. */
bool entry_knows_none(
	struct fs *fs, struct inode *dir, const char *name, uint32_t uid, uint64_t *until);
/* Did this mount make dir, and does it still know every name in dir from that? */
bool entry_made_here(const struct fs *fs, struct inode *dir);
/* Is name believed to be absent, from that or because the server said so? */
bool entry_believes_none(struct fs *fs, struct inode *dir, const char *name, uint32_t uid);
/* Ends r: the name is absent until `until`. The kernel may believe that with lookupcache=complete
 * only. False: the absence could not be noted, and the server must be asked. */
bool entry_end_none(struct request *r, uint64_t until);
/* r is about to make r->name in r->dir or, for a move, r->to_name in r->to_dir. To be called before
 * the server is asked. */
void entry_making(struct request *r);
/* Ends r: the server, asked at `seen`, has no r->name in r->dir. The absence is noted, and the
 * kernel may believe it for a while. The note never decides whether a name may be made: the server
 * does. */
void entry_end_absent(struct request *r, uint64_t seen);
/* The server could not make r->name in r->dir. True: the kernel was told that the name was absent,
 * perhaps without asking the server, and is now told to doubt that, since there may be such a name
 * by now. */
bool entry_not_made(struct request *r, int error);
/* An operation on names in dir has ended with error (0: success). If the server may still have
 * carried it out, or the error shows another client's change, dir is not complete any more. */
void entry_named(struct fs *fs, struct inode *dir, int error);
/* The server was asked to remove r->name in r->dir, with this result. */
void entry_removed(struct request *r, int error);

/* The rights that ACCESS can ask for. */
#define ENTRY_FILE_RIGHTS                                                                          \
	(NFS_ACCESS_READ | NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND | NFS_ACCESS_EXECUTE)
#define ENTRY_DIR_RIGHTS                                                                           \
	(NFS_ACCESS_READ | NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND | NFS_ACCESS_LOOKUP |             \
		NFS_ACCESS_DELETE)

/* Every right that ACCESS can ask for on ino. All are asked for at once: the next request may need
 * another one. */
uint32_t entry_access_bits(const struct inode *ino);
/* Makes p ready to ask for all rights on r->inode. */
void entry_ask_access(struct request *r, struct part *p);
/* Notes the answer; 0 or a negative errno. */
int entry_note_access(struct request *r, const struct nfs_op *op);

#endif
