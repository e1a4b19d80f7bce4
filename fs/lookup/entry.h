/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * entry: the names and attributes that the kernel is told, for how long the kernel may believe
 * each, and the daemon's notes of the server's answers about names and attributes.
 *
 * Time. The kernel may believe a name, or its absence, for the attribute time of the directory. The
 * time counts from the last moment at which the directory was known to be as at the answer. An
 * answer with the known change attribute of the directory begins the time anew for all known names:
 * one LOOKUP serves all names of the directory. An answer with another change attribute, while this
 * mount has changed nothing, invalidates all names (notify.h). A change by this mount could hide
 * another client's change. So the daemon then believes no other name, and the kernel only for the
 * time that the kernel was given.
 *
 * Absence. With lookupcache=all, the default, a complete directory (complete.h) answers no LOOKUP.
 * The kernel's NFS client also believes the absence only of names that it has asked for. So a
 * program finds a name at once that another client has made and then told of. FUSE sends LOOKUP
 * before making a name: to make and write a file costs LOOKUP, OPEN and WRITE, one round trip more
 * than with the kernel's client. With lookupcache=complete the directory answers. A directory that
 * another client was seen to change is not complete for ten minutes. No exclusive decision rests on
 * belief: the server makes each name.
 *
 * The kernel follows a symbolic link without asking for attributes, so the name of a link is
 * believed no longer than the attributes of the link.
 */
#ifndef RNFS_FS_LOOKUP_ENTRY_H
#define RNFS_FS_LOOKUP_ENTRY_H

#include <sys/stat.h>

#include "fs/known/fs.h"
#include "fs/kernel/request.h"

/* The state of a LOOKUP, and of each operation that makes a name. */
struct entry_state {
	/* The answer: an inode with a lookup for the kernel, and the inode's attributes in an op of
	 * this request. */
	struct inode *inode;
	struct told told;
};

static inline struct entry_state *entry_of(const struct request *r)
{
	return request_state(r, struct entry_state);
}

/* A time on clock_ns(): attributes and rights of ino that the server was asked for earlier have
 * expired. */
uint64_t entry_attr_since(const struct fs *fs, struct inode *ino);
/* The attributes of ino that are known and believed, as of *asked. False also if an entry of a
 * listing, which was asked for later, at `listed_asked`, has told other ones (listed). A program
 * that sees the entry's name must not see the file as the file was before. */
bool entry_known_attr(struct fs *fs, struct inode *ino, const struct nfs_attr *listed,
	uint64_t listed_asked, struct nfs_attr *attr, uint64_t *asked);
/* For how many seconds the kernel may believe a, attributes of ino that the server was asked for at
 * `asked`, from now on. */
double entry_attr_left(
	const struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t asked);
/* Converts attributes of ino for stat(2). Notes that the kernel is told them, and that the kernel
 * may believe them for *timeout seconds. *timeout becomes 0 if the attributes were invalidated
 * meanwhile. The caller works out *timeout after change_told(). */
void entry_stat(struct fs *fs, struct inode *ino, const struct told *told, double *timeout,
	struct stat *st);
/* The server, asked at `asked`, has told a: notes these attributes of ino. If a user may have lost
 * the right to search ino, invalidates the names in ino in the kernel. */
void entry_note_attr(struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t asked);
/* The mode of a new file, with the caller's umask beside it if the server applies the umask (RFC
 * 8275). Symbolic links have no umask. */
void entry_set_mode(fuse_req_t req, struct nfs_sattr *set, mode_t mode, bool is_link);
/* Must a LOOKUP or READDIR bring the attributes of the directory? Directory attributes decide how
 * long names in the directory are believed. */
bool entry_wants_dir(const struct fs *fs);
/* Notes directory attributes from an operation on names in dir that was sent at `asked`. If another
 * client has changed the directory, all names in dir are invalidated, here and in the kernel. */
void entry_note_dir(struct fs *fs, struct inode *dir, const struct nfs_dir_attr *a, uint64_t asked);
/* The time from which the name in dir counts that came in the same answer (dirnames_as_of()). */
uint64_t entry_name_asked(struct inode *dir, const struct nfs_dir_attr *a, uint64_t asked);
/* May the kernel be told known attributes of ino? If not, the server is asked: names in ino are
 * being invalidated, or ino is a symbolic link and the kernel may have its old target. */
bool entry_may_tell(struct inode *ino);
/* Is an answer about a name in dir believed if the server was asked at `asked`? */
bool entry_believed(const struct fs *fs, struct inode *dir, uint64_t asked);

/* Fills e for name in dir, from attributes that have been noted, and ino, from inode_lookup(). The
 * server has let the caller search dir. */
void entry_fill(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct told *told, struct fuse_entry_param *e);
/* entry_fill() from known attributes. */
void entry_fill_known(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct told *told, struct fuse_entry_param *e);
/* Answers r with e for ino, which has a lookup for the kernel, and frees r. */
void entry_reply(struct request *r, struct inode *ino, const struct fuse_entry_param *e);
/* Ends r with an entry for r->name in r->dir, with handle fh, or with error if error is not 0. The
 * attributes lie in an op of r. */
void entry_end(struct request *r, int error, const struct nfs_fh *fh, const struct told *told);
/* entry_end() for a name that r has just made. */
void entry_end_made(
	struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr);
/* Does the daemon keep the list of all names of dir (names_list(), names_lacks())? Not where one
 * name has several spellings, where absent names are not to be believed, or where another client
 * has been seen to change the directory. The other client may tell programs here of a new name
 * before any of them has asked for the name. */
bool entry_keeps_names(const struct fs *fs, struct inode *dir);
/* names_list() of dir. 0: a name is just being made in dir, which may have been noted already and
 * be missing from the listing. */
uint32_t entry_list_names(
	struct fs *fs, struct inode *dir, uint64_t since, uint32_t uid, uint32_t max);
/* With lookupcache=complete: are all names of dir known to uid, is name none of them, and is the
 * list still believed? Then the absence is believed until *until. No creation is ever refused for
 * that reason. */
bool entry_knows_none(
	struct fs *fs, struct inode *dir, const char *name, uint32_t uid, uint64_t *until);
/* Did this mount make dir, and is every name in dir known since then? */
bool entry_made_here(const struct fs *fs, struct inode *dir);
/* Is name believed to be absent, because the list of names lacks the name, or because the server
 * said so? */
bool entry_believes_none(struct fs *fs, struct inode *dir, const char *name, uint32_t uid);
/* Ends r: the name is absent until `until`. The kernel may believe the absence with
 * lookupcache=complete only. False: the absence could not be noted, and the server must be
 * asked. */
bool entry_end_none(struct request *r, uint64_t until);
/* r is about to make r->name in r->dir or, for a move, r->to_name in r->to_dir. To be called before
 * the server is asked. */
void entry_making(struct request *r);
/* Ends r: the server, asked at `asked`, has no r->name in r->dir. The absence is noted, and the
 * kernel may believe it for a while. The note never decides whether a name may be made: the server
 * does. */
void entry_end_absent(struct request *r, uint64_t asked);
/* The server could not make r->name in r->dir. True: the kernel was told that the name was absent,
 * perhaps without asking the server; the absence is now invalidated, because such a name may exist
 * by now. */
bool entry_not_made(struct request *r, int error);
/* An operation on names in dir has ended with error (0: success). If the server may still have
 * carried out the operation, or the error shows another client's change, dir is no longer
 * complete. */
void entry_named(struct fs *fs, struct inode *dir, int error);
/* The server was asked to remove r->name in r->dir, with the result `error`. */
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
/* Notes the answer. Returns 0 or a negative errno. */
int entry_note_access(struct request *r, const struct nfs_op *op);

#endif
