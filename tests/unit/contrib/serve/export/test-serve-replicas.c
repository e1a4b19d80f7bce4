/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/replicas: the attributes, as a client reads them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "contrib/serve/export/replicas.h"
#include "nfsproto/v4/ops/nfs4_locations.h"

static const struct replica_spec both[] = {{"192.0.2.1:2049:/a", false}, {"nas.example:/", true}};

static struct nfs4_replicas *read_back(const struct replicas *r)
{
	struct nfs4_attrs a = {.fs_status = {.type = 0}};
	struct nfs4_replicas *got;

	replicas_attrs(r, &a);
	assert_int_equal(nfs4_replicas_get(&a.fs_locations_info, &got), 0);
	got->status = a.fs_status.type;
	return got;
}

static void a_replica_suits_and_a_copy_does_not(void **state)
{
	struct err e = {.kind = ERR_NONE};
	struct replicas *r = replicas_new(both, 2, false, &e);
	struct nfs4_replicas *got = read_back(r);

	assert_true(got->have_here);
	assert_int_equal(got->n, 2);
	assert_string_equal(got->of[0].at.server, "192.0.2.1.8.1");
	assert_string_equal(got->of[0].at.path, "/a");
	assert_string_equal(got->of[1].at.path, "/");
	assert_true(nfs4_replica_suits(got, 0, false));
	assert_true(nfs4_replica_suits(got, 0, true));
	assert_false(nfs4_replica_suits(got, 1, false));
	assert_false(nfs4_replica_suits(got, 1, true)); /* this one may change */
	free(got);
	replicas_free(r);
}

static void a_fixed_copy_suits_a_reader(void **state)
{
	struct err e = {.kind = ERR_NONE};
	struct replicas *r = replicas_new(both, 2, true, &e);
	struct nfs4_replicas *got = read_back(r);

	assert_int_equal(got->status, STATUS4_FIXED);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(nfs4_replica_suits(got, i, true));
		assert_false(nfs4_replica_suits(got, i, false));
	}
	free(got);
	replicas_free(r);
}

static void fs_locations_names_them_too(void **state)
{
	struct err e = {.kind = ERR_NONE};
	struct replicas *r = replicas_new(both, 2, false, &e);
	struct nfs4_attrs a;
	struct nfs_places *p;

	replicas_attrs(r, &a);
	assert_int_equal(nfs4_locations_get(&a.fs_locations, NULL, &p), 2);
	assert_string_equal(p->root, "/");
	assert_string_equal(p->place[1].server, "nas.example");
	free(p);
	replicas_free(r);
}

static void a_bad_place_is_refused(void **state)
{
	static const struct replica_spec bad[] = {{"nas.example:/", false}, {"nas", true}};
	struct err e = {.kind = ERR_NONE};

	assert_null(replicas_new(bad, 2, false, &e));
	assert_non_null(strstr(e.msg, "--copy nas: SERVER:/EXPORT is wanted"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replica_suits_and_a_copy_does_not),
		cmocka_unit_test(a_fixed_copy_suits_a_reader),
		cmocka_unit_test(fs_locations_names_them_too),
		cmocka_unit_test(a_bad_place_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
