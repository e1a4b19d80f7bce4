/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_attr: the values of NFSv4's attributes (RFC 8881 section 5), to and from fattr4.
 *
 * struct nfs4_attrs holds facts about one object, its file system and its server. Its mask tells
 * which facts: after decoding, which were in the fattr4; before encoding, which may be given out.
 *
 * Users and groups travel as strings. Numbers in decimal ("1000") are ids (RFC 8881 5.9). Any other
 * string is a name: the hook looks the name up. Without a hook, or if unknown, the name is id 65534
 * (NFS4_NOBODY).
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_ATTR_H
#define RNFS_NFSPROTO_WIRE_NFS4_ATTR_H

#include "nfsproto/wire/nfs4_replica.h"
#include "nfsproto/wire/nfs4_xdr.h"
#include "nfsproto/wire/nfs_file.h"

#define NFS4_NOBODY 65534u

struct nfs4_attrs {
	struct nfs4_bitmap mask; /* FATTR4_* */

	/* type, mode, nlink, uid, gid, rdev, size, used, fsid, fileid, change, atime, mtime, ctime
	 */
	struct nfs_attr attr;
	/* SPACE_*, FILES_*, MAXNAME */
	struct nfs_fsstat fs;
	struct nfs_fh fh;
	struct nfs4_bitmap supported, exclcreat; /* SUPPORTED_ATTRS, SUPPATTR_EXCLCREAT */
	uint64_t mounted_on_fileid;
	uint64_t maxfilesize, maxread, maxwrite; /* bytes */
	uint64_t quota_avail_hard, quota_avail_soft, quota_used;
	struct timespec time_create, time_backup, time_delta;
	uint32_t fh_expire_type; /* FH4_* */
	uint32_t lease_time;	 /* seconds */
	uint32_t rdattr_error;	 /* nfsstat4 */
	uint32_t aclsupport, maxlink, fs_charset_cap;
	uint32_t layout_blksize, layout_alignment, clone_blksize, change_attr_type;
	bool link_support, symlink_support, named_attr, unique_handles, archive, cansettime;
	bool case_insensitive, case_preserving, chown_restricted, hidden, homogeneous, no_trunc;
	bool system, xattr_support;
	/* raw bytes: the XDR of nfsace4<>, of fs_locations4, of fs_locations_info4 (put: the last
	 * two only if there is data) */
	struct nfs4_opaque acl, fs_locations, fs_locations_info;
	struct nfs4_fs_status fs_status; /* put: only with a type */
	uint32_t layout_types; /* FS_LAYOUT_TYPES: a bit 1 << layouttype4 each; get: others are lost
				*/
};

/* The set of bits given as arguments ending in -1: nfs4_bits(FATTR4_TYPE, FATTR4_SIZE, -1). */
struct nfs4_bitmap nfs4_bits(int first, ...);
struct nfs4_bitmap nfs4_bits_and(const struct nfs4_bitmap *a, const struct nfs4_bitmap *b);
struct nfs4_bitmap nfs4_bits_or(const struct nfs4_bitmap *a, const struct nfs4_bitmap *b);
bool nfs4_bits_none(const struct nfs4_bitmap *b);
/* Ready sets. stat: all of struct nfs_attr. data: the part of stat that changes with a file's data
 * (struct nfs_data_attr). fs: all of struct nfs_fsstat. info: the attributes that a client asks for
 * once per file system (limits, lease, flags, SUPPORTED_ATTRS). */
struct nfs4_bitmap nfs4_bits_stat(void);
struct nfs4_bitmap nfs4_bits_data(void);
struct nfs4_bitmap nfs4_bits_fs(void);
struct nfs4_bitmap nfs4_bits_info(void);
/* All that nfs4_put_attrs() can encode, and all that nfs4_sattr_decode() accepts. A server may
 * claim these in SUPPORTED_ATTRS. */
struct nfs4_bitmap nfs4_bits_encodable(void);
struct nfs4_bitmap nfs4_bits_settable(void);

/* Most bytes of XDR that the value of an attribute can have; 0 without a limit in the protocol, or
 * if the attribute is not known here. Owner strings have no limit either, but count as
 * NFS4_OWNER_EXPECT bytes: enough for any "user@domain" met in the field. (Longer ones decode.) */
#define NFS4_OWNER_EXPECT 128u
size_t nfs4_attr_max(unsigned bit);

/* Puts a fattr4 with the attributes of want that are encodable and in a->mask. */
void nfs4_put_attrs(struct xdr_out *x, const struct nfs4_bitmap *want, const struct nfs4_attrs *a);
/* The hook to look up users and groups by name (user@domain: RFC 8881 section 5.9). Coders of
 * attributes use the hook; without a hook, or without a function in the hook, owners are
 * numbers. */
#define NFS4_OWNER_MAX	  255
#define NFS4_OWNER_ACCEPT 1024u /* bytes of an owner string that is taken from a peer */
struct nfs4_owners {
	/* True and *id if name is known. */
	bool (*to_id)(struct nfs4_owners *owners, const char *name, uint32_t len, bool group,
		uint32_t *id);
	/* The name to be sent for id, at most NFS4_OWNER_MAX bytes. Its length; 0: send the
	 * number. */
	uint32_t (*to_name)(
		struct nfs4_owners *owners, uint32_t id, bool group, char name[NFS4_OWNER_MAX + 1]);
	void *ctx;
	bool not_yet; /* to_id has been asked for a name that is not known yet */
};

/* Decodes f into a; a->mask becomes f's. Pointers in a point into f's bytes. 0; -EBADMSG: a value
 * is malformed, a bit is not known, or the length of the values does not match the mask exactly. */
int nfs4_attrs_decode(const struct nfs4_fattr *f, struct nfs4_attrs *a, struct nfs4_owners *owners);
/* nfs4_get_fattr() and nfs4_attrs_decode() in one. */
int nfs4_get_attrs(struct xdr_in *x, struct nfs4_attrs *a, struct nfs4_owners *owners);
/* True if a has the attributes that every file needs: TYPE, CHANGE, SIZE, FSID, FILEID. The decoder
 * gives other missing attributes a default: mode 0, one link, owners NFS4_NOBODY, times 0. */
bool nfs4_attrs_complete(const struct nfs4_attrs *a);
/* Does each change add exactly one to the change attribute? type: a change_attr_type4. The client
 * does not write to data servers of pNFS, where the rule might not hold. */
static inline bool nfs4_change_counts(uint32_t type)
{
	return type == NFS4_CHANGE_TYPE_IS_VERSION_COUNTER ||
	       type == NFS4_CHANGE_TYPE_IS_VERSION_COUNTER_NOPNFS;
}

/* bytes of attribute values that a struct nfs_sattr can need: two owners and the rest */
#define NFS4_SATTR_MAX (2 * (4 + 256) + 64)

/* Client: s as fattr4, for SETATTR, CREATE and OPEN. buf gets the values and must live as long as
 * f. */
void nfs4_sattr_encode(const struct nfs_sattr *s, uint8_t buf[NFS4_SATTR_MAX], struct nfs4_fattr *f,
	struct nfs4_owners *owners);
/* Server: f as nfs_sattr. NFS4_OK; NFS4ERR_ATTRNOTSUPP (an attribute that is not settable here);
 * NFS4ERR_INVAL (a read-only attribute, a mode beyond 07777, MODE and MODE_UMASK together,
 * nanoseconds out of range: RFC 8881 5.5); NFS4ERR_BADOWNER (an owner string that is no known
 * user); NFS4ERR_BADXDR. acl: an ACL is settable, and *acl is the XDR of its nfsace4<>, in f's
 * bytes; NULL: no ACL is settable. */
uint32_t nfs4_sattr_decode(const struct nfs4_fattr *f, struct nfs_sattr *s, struct nfs4_opaque *acl,
	struct nfs4_owners *owners);
/* The attrset of a reply: the bits for a mask of NFS_SET_*. */
struct nfs4_bitmap nfs4_sattr_bits(uint32_t set_mask);

/* The result of to_name of owners, or the number in decimal; terminated. Returns the length. */
uint32_t nfs4_owner_format(
	struct nfs4_owners *owners, uint32_t id, bool group, char buf[NFS4_OWNER_MAX + 1]);
/* Reads an owner string; true if it is a number or known to owners, else *id is NFS4_NOBODY. */
bool nfs4_owner_parse(
	struct nfs4_owners *owners, const char *s, uint32_t len, bool group, uint32_t *id);

#endif
