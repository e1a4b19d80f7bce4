/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/ops/names.h"
#include "tests/unit/contrib/serve/serve-env.h"

static bool id_of(const char *name, bool group, uint32_t *id)
{
	if (strcmp(name, group ? "staff" : "alice") != 0)
		return false;
	*id = group ? (uint32_t)getegid() : (uint32_t)geteuid();
	return true;
}

static bool name_of(uint32_t id, bool group, char *name, size_t size)
{
	return false;
}

static void resolved(void *ctx)
{
}

static int setup(void **state)
{
	static const struct idmap_source source = {id_of, name_of};
	struct serve_env *e = calloc(1, sizeof(*e));

	if (!e)
		return -1;
	env_init(e);
	e->sv.idmap = idmap_new("home", &source, resolved, NULL);
	assert_non_null(e->sv.idmap);
	env_mount(e, "client");
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	struct serve_env *e = *state;

	idmap_free(e->sv.idmap);
	env_finish(e);
	free(e);
	return 0;
}

/* SETATTR of one owner of the root, until the server has decided. */
static uint32_t set_owner(struct serve_env *e, unsigned bit, const char *name)
{
	struct nfs4_setattr_args a = {0};
	struct xdr_out x;
	uint8_t vals[300];
	uint32_t status;

	xdr_out_init(&x, vals, sizeof(vals));
	xdr_put_opaque(&x, name, (uint32_t)strlen(name));
	nfs4_bit_set(&a.attrs.mask, bit);
	a.attrs.vals = (struct nfs4_opaque){vals, (uint32_t)x.len};
	do {
		env_begin(e, true);
		nfs4_put_op(&e->args, OP_PUTROOTFH);
		nfs4_put_setattr_args(&e->args, &a);
		status = env_run(e, 3);
		if (status == NFS4ERR_DELAY)
			usleep(1000);
	} while (status == NFS4ERR_DELAY);
	return status;
}

static void owners_are_numbers_or_names(void **state)
{
	struct serve_env *e = *state;
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned)geteuid());
	assert_int_equal(set_owner(e, FATTR4_OWNER, number), NFS4_OK);
	assert_int_equal(set_owner(e, FATTR4_OWNER, "alice@home"), NFS4_OK);
	assert_int_equal(set_owner(e, FATTR4_OWNER_GROUP, "staff@home"), NFS4_OK);
}

static void strangers_are_refused(void **state)
{
	struct serve_env *e = *state;

	assert_int_equal(set_owner(e, FATTR4_OWNER, "bob@home"), NFS4ERR_BADOWNER);
	assert_int_equal(set_owner(e, FATTR4_OWNER, "staff@home"), NFS4ERR_BADOWNER);
	assert_int_equal(set_owner(e, FATTR4_OWNER, "alice@elsewhere"), NFS4ERR_BADOWNER);
	assert_int_equal(set_owner(e, FATTR4_OWNER, ""), NFS4ERR_BADOWNER);
	e->sv.idmap = idmap_free(e->sv.idmap); /* no name is known */
	assert_int_equal(set_owner(e, FATTR4_OWNER, "alice@home"), NFS4ERR_BADOWNER);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(owners_are_numbers_or_names),
		TEST(strangers_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("serve-names", tests, NULL, NULL);
}
