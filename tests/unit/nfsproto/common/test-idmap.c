/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/common/idmap.
 */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "nfsproto/common/idmap.h"

/* A map that was given up may still have a thread that asks: the thread's data outlives the
 * test. */
static sem_t news, gate;
static atomic_uint asked;
static atomic_bool gated;

static void resolved(void *ctx)
{
	sem_post(&news);
}

static void wait_gate(void)
{
	atomic_fetch_add(&asked, 1);
	if (atomic_load(&gated))
		sem_wait(&gate);
}

static bool id_of(const char *name, bool group, uint32_t *id)
{
	wait_gate();
	if (strcmp(name, "joe") != 0)
		return false;
	*id = group ? 200 : 100;
	return true;
}

static bool name_of(uint32_t id, bool group, char *name, size_t size)
{
	wait_gate();
	if (id != 100)
		return false;
	return (size_t)snprintf(name, size, "%s", group ? "staff" : "joe") < size;
}

static const struct idmap_source source = {.id_of = id_of, .name_of = name_of};

/* The machine's name service has one more group, with thousands of members. */
#define CROWD	    "rnfs-test-crowd"
#define CROWD_GID   4123456789u
#define CROWD_BYTES 1000000u

int __real_getgrnam_r(
	const char *name, struct group *g, char *buf, size_t size, struct group **found);
int __real_getgrgid_r(gid_t gid, struct group *g, char *buf, size_t size, struct group **found);

static int crowd(struct group *g, size_t size, struct group **found)
{
	static char name[] = CROWD;

	*found = NULL;
	if (size < CROWD_BYTES)
		return ERANGE;
	*g = (struct group){.gr_name = name, .gr_gid = CROWD_GID};
	*found = g;
	return 0;
}

int __wrap_getgrnam_r(
	const char *name, struct group *g, char *buf, size_t size, struct group **found)
{
	return strcmp(name, CROWD) ? __real_getgrnam_r(name, g, buf, size, found)
				   : crowd(g, size, found);
}

int __wrap_getgrgid_r(gid_t gid, struct group *g, char *buf, size_t size, struct group **found)
{
	return gid != CROWD_GID ? __real_getgrgid_r(gid, g, buf, size, found)
				: crowd(g, size, found);
}

static int setup(void **state)
{
	sem_init(&news, 0, 0);
	atomic_store(&asked, 0);
	atomic_store(&gated, false);
	*state = idmap_new("example.net", &source, resolved, NULL);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	idmap_free(*state);
	return 0;
}

static void wait_news(void)
{
	while (sem_wait(&news))
		;
}

static enum idmap_answer id_now(struct idmap *m, const char *name, bool group, uint32_t *id)
{
	enum idmap_answer a;

	while ((a = idmap_id(m, name, (uint32_t)strlen(name), group, id)) == IDMAP_NOT_YET)
		wait_news();
	return a;
}

static void names_become_ids_and_are_kept(void **state)
{
	struct idmap *m = *state;
	uint32_t id = 7;

	assert_int_equal(idmap_id(m, "joe@example.net", 15, false, &id), IDMAP_NOT_YET);
	assert_int_equal(id_now(m, "joe@example.net", false, &id), IDMAP_YES);
	assert_int_equal(id, 100);
	assert_int_equal(id_now(m, "joe@EXAMPLE.net", true, &id), IDMAP_YES);
	assert_int_equal(id, 200);
	assert_int_equal(asked, 2);
	assert_int_equal(id_now(m, "joe@example.net", false, &id), IDMAP_YES);
	assert_int_equal(asked, 2);
}

static void strangers_are_nobody(void **state)
{
	struct idmap *m = *state;
	char longname[IDMAP_NAME_MAX + 2];
	uint32_t id;

	assert_int_equal(id_now(m, "jim@example.net", false, &id), IDMAP_NO);
	assert_int_equal(asked, 1);
	assert_int_equal(id_now(m, "joe@example.com", false, &id), IDMAP_NO);
	assert_int_equal(id_now(m, "joe", false, &id), IDMAP_NO);
	assert_int_equal(id_now(m, "@example.net", false, &id), IDMAP_NO);
	assert_int_equal(id_now(m, "joe\n@example.net", false, &id), IDMAP_NO);
	assert_int_equal(id_now(m, "", false, &id), IDMAP_NO);
	memset(longname, 'n', sizeof(longname));
	assert_int_equal(idmap_id(m, longname, sizeof(longname), false, &id), IDMAP_NO);
	assert_int_equal(id_now(m, "jim@example.net", false, &id), IDMAP_NO);
	assert_int_equal(asked, 1);
}

static void ids_become_names(void **state)
{
	struct idmap *m = *state;
	char name[IDMAP_NAME_MAX + 1];

	assert_int_equal(idmap_name(m, 100, false, name), IDMAP_NOT_YET);
	assert_int_equal(idmap_name(m, 101, true, name), IDMAP_NOT_YET);
	assert_int_equal(idmap_name(m, 100, true, name), IDMAP_NOT_YET);
	while (idmap_name(m, 100, true, name) == IDMAP_NOT_YET)
		wait_news();
	assert_string_equal(name, "staff@example.net");
	assert_int_equal(idmap_name(m, 100, false, name), IDMAP_YES);
	assert_string_equal(name, "joe@example.net");
	assert_int_equal(idmap_name(m, 101, true, name), IDMAP_NO);
}

/* An answer that came before the caller waited is told again. */
static void whoever_asks_hears(void **state)
{
	struct idmap *m = *state;

	idmap_notify(m);
	wait_news();
}

/* A name service that hangs blocks no caller. */
static void a_silent_name_service_is_left_alone(void **state)
{
	struct idmap *m = idmap_new("example.net", &source, resolved, NULL);
	uint32_t id;

	atomic_store(&gated, true);
	assert_int_equal(idmap_id(m, "joe@example.net", 15, false, &id), IDMAP_NOT_YET);
	while (!atomic_load(&asked))
		usleep(1000);
	assert_int_equal(idmap_id(m, "joe@example.net", 15, false, &id), IDMAP_NOT_YET);
	idmap_free(m);
	sem_post(&gate);
}

/* More names than the map keeps. */
static void many_names(void **state)
{
	struct idmap *m = *state;
	char name[40];
	uint32_t id;

	for (unsigned i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "user%u@example.net", i);
		idmap_id(m, name, (uint32_t)strlen(name), i & 1, &id);
	}
	/* there is room again when enough questions are answered */
	while (id_now(m, "joe@example.net", false, &id) != IDMAP_YES)
		usleep(1000);
	assert_int_equal(id, 100);
}

static void the_machine_knows_root(void **state)
{
	struct idmap *m = idmap_new("example.net", NULL, resolved, NULL);
	char name[IDMAP_NAME_MAX + 1];
	uint32_t id = 1;

	assert_int_equal(id_now(m, "root@example.net", false, &id), IDMAP_YES);
	assert_int_equal(id, 0);
	assert_int_equal(id_now(m, "root@example.net", true, &id), IDMAP_YES);
	while (idmap_name(m, 0, false, name) == IDMAP_NOT_YET)
		wait_news();
	assert_string_equal(name, "root@example.net");
	idmap_free(m);
}

static void a_group_may_have_many_members(void **state)
{
	struct idmap *m = idmap_new("example.net", NULL, resolved, NULL);
	char name[IDMAP_NAME_MAX + 1];
	enum idmap_answer a;
	uint32_t gid = 0;

	assert_int_equal(id_now(m, CROWD "@example.net", true, &gid), IDMAP_YES);
	assert_int_equal(gid, CROWD_GID);
	while ((a = idmap_name(m, CROWD_GID, true, name)) == IDMAP_NOT_YET)
		wait_news();
	assert_int_equal(a, IDMAP_YES);
	assert_string_equal(name, CROWD "@example.net");
	idmap_free(m);
}

static void idmapd_conf_is_read(void **state)
{
	static const struct {
		const char *text, *domain;
	} cases[] = {
		{"[General]\nDomain = one.example\n", "one.example"},
		{"# c\n[Mapping]\nDomain=no\n [general]\n Verbosity=1\n domain=two.example  \n",
			"two.example"},
		{"[General]\n#Domain = three\n", NULL},
		{"[General]\nDomain =\n", NULL},
		{"", NULL},
	};
	char path[] = "/tmp/test-idmap.XXXXXX", domain[32];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = strlen(cases[i].text);

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, cases[i].text, n, 0), n);
		assert_int_equal(
			idmap_conf_domain(path, domain, sizeof(domain)), cases[i].domain != NULL);
		if (cases[i].domain)
			assert_string_equal(domain, cases[i].domain);
	}
	close(fd);
	unlink(path);
	assert_false(idmap_conf_domain(path, domain, sizeof(domain)));
}

#define WITH_MAP(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_MAP(names_become_ids_and_are_kept),
		WITH_MAP(strangers_are_nobody),
		WITH_MAP(ids_become_names),
		WITH_MAP(whoever_asks_hears),
		WITH_MAP(a_silent_name_service_is_left_alone),
		WITH_MAP(many_names),
		WITH_MAP(the_machine_knows_root),
		WITH_MAP(a_group_may_have_many_members),
		cmocka_unit_test(idmapd_conf_is_read),
	};

	sem_init(&gate, 0, 0);
	return cmocka_run_group_tests_name("idmap", tests, NULL, NULL);
}
