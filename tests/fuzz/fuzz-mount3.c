/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: both sides' view of MOUNT v3. The first byte chooses the message type to decode.
 */
#include "nfsproto/wire/mount3.h"

static uint8_t buf[256 << 10];

static void use(struct xdr_out *o, const struct nfs_name *n)
{
	xdr_put_opaque(o, n->s, n->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mount3_mounted m;
	struct mount3_mnt_res r;
	struct nfs_name name;
	struct xdr_out o;
	struct xdr_in x;

	if (size == 0)
		return 0;
	xdr_in_init(&x, data + 1, size - 1);
	xdr_out_init(&o, buf, sizeof(buf));
	switch (data[0] % 4) {
	case 0:
		if (mount3_get_mnt_res(&x, &r) == 0)
			mount3_put_mnt_res(&o, &r);
		break;
	case 1:
		if (mount3_get_path(&x, &name) == 0)
			use(&o, &name);
		break;
	case 2:
		while (mount3_get_mounted(&x, &m) == 1)
			mount3_put_mounted(&o, &m);
		break;
	default:
		while (mount3_get_export(&x, &name) == 1) {
			use(&o, &name);
			while (mount3_get_group(&x, &name) == 1)
				use(&o, &name);
		}
		break;
	}
	return 0;
}
