/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_layout: the table of layouts, without a server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/pnfs/nfs4_layout.h"

static int setup(void **state)
{
	struct nfs4_layouts *t = malloc(sizeof(*t));

	nfs4_layouts_init(t, LAYOUT4_FLEX_FILES);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	nfs4_layouts_finish(*state);
	free(*state);
	return 0;
}

#define WITH_TABLE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static struct nfs_fh fh_of(uint32_t no)
{
	struct nfs_fh fh = {.len = sizeof(no)};

	memcpy(fh.data, &no, sizeof(no));
	return fh;
}

static struct nfs_open *open_of(uint32_t no)
{
	struct nfs_open *o = calloc(1, sizeof(*o));

	mutex_init(&o->lock);
	atomic_init(&o->refs, 1);
	o->fh = fh_of(no);
	return o;
}

/* Large I/O of file number no. Returns its layout, or NULL: it is wanted, if there is room. */
static struct nfs4_layout_held *io(struct nfs4_layouts *t, uint32_t no, bool writes)
{
	struct nfs4_layout_held *l, *wanted;
	struct nfs_open *o = open_of(no);

	mutex_lock(&t->lock);
	l = nfs4_layout_for_locked(t, o, writes, true, &wanted);
	mutex_unlock(&t->lock);
	nfs4_open_unref(o);
	return l;
}

static struct nfs4_layout_held *work(struct nfs4_layouts *t)
{
	struct nfs4_layout_held *l;
	uint64_t next = UINT64_MAX;

	mutex_lock(&t->lock);
	l = nfs4_layouts_work_locked(t, &next);
	mutex_unlock(&t->lock);
	return l;
}

static void done(struct nfs4_layout_held *l)
{
	mutex_lock(&l->in->lock);
	nfs4_layout_done_locked(l);
	mutex_unlock(&l->in->lock);
}

/* LAYOUTGET for l is sent, to write or not. */
static bool ask(struct nfs4_layout_held *l)
{
	struct nfs_open *o;
	bool writes;

	mutex_lock(&l->in->lock);
	o = nfs4_layout_take_want_locked(l, &writes);
	mutex_unlock(&l->in->lock);
	assert_non_null(o);
	nfs4_open_unref(o);
	return writes;
}

/* The answer to LAYOUTGET for l. */
static void give(struct nfs4_layout_held *l, bool writes, uint32_t seqid)
{
	struct nfs4_layoutget g = {
		.writes = writes, .stateid = {.seqid = seqid, .other = "layout"}};

	mutex_lock(&l->in->lock);
	g.segs.n = 1;
	g.segs.seg[0] = (struct nfs4_segment){.length = NFS4_LENGTH_EOF, .writes = g.writes};
	assert_true(nfs4_layout_keep_locked(l, &g));
	mutex_unlock(&l->in->lock);
}

/* Does all work, as the pNFS thread with a server that gives and takes. Returns how much. */
static unsigned serve(struct nfs4_layouts *t)
{
	struct nfs4_layout_held *l;
	unsigned n = 0;

	while ((l = work(t))) {
		if (l->going) {
			mutex_lock(&t->lock);
			nfs4_layout_gone_locked(l, 0);
			mutex_unlock(&t->lock);
		} else {
			give(l, ask(l), 1);
		}
		done(l);
		n++;
	}
	return n;
}

static void the_table_is_bounded(void **state)
{
	struct nfs4_layouts *t = *state;

	for (uint32_t no = 0; no < 10 * NFS4_LAYOUTS_HELD; no++) {
		io(t, no, true);
		assert_true(t->n <= NFS4_LAYOUTS_HELD);
	}
	assert_int_equal(t->n, NFS4_LAYOUTS_HELD); /* nothing was served meanwhile */
	serve(t);
	for (uint32_t no = 0; no < 10 * NFS4_LAYOUTS_HELD; no++) {
		if (!io(t, no, true))
			serve(t);
		assert_non_null(io(t, no, true));
		assert_true(t->n <= NFS4_LAYOUTS_HELD);
	}
	assert_non_null(io(t, 10 * NFS4_LAYOUTS_HELD - 2, true)); /* of a moment ago */
	assert_null(io(t, 0, true));				  /* has made room */
}

static void io_under_way_keeps_a_layout(void **state)
{
	struct nfs4_layouts *t = *state;
	struct nfs4_layout_held *l;

	io(t, 1, false);
	serve(t);
	l = io(t, 1, false);
	assert_non_null(l);
	l->nios++;
	nfs4_layout_drop(l);
	assert_null(io(t, 1, false));
	assert_int_equal(serve(t), 0);
	nfs4_layout_io_ended(l);
	assert_int_equal(serve(t), 1);
	assert_null(io(t, 1, false));
	assert_int_equal(serve(t), 1);
	assert_non_null(io(t, 1, false));
}

/* For want of devices. */
static void the_layouts_that_were_used_the_longest_ago_make_room(void **state)
{
	struct nfs4_layouts *t = *state;

	for (uint32_t no = 0; no < 100; no++) {
		io(t, no, true);
		serve(t);
	}
	io(t, 0, true)->nios++;
	io(t, 1, true);
	nfs4_layouts_make_room(t);
	assert_true(serve(t) > 0);
	assert_null(io(t, 2, true));
	assert_non_null(io(t, 0, true));
	assert_non_null(io(t, 1, true));
	assert_non_null(io(t, 99, true));
	io(t, 0, true)->nios--;
}

static uint32_t recall(struct nfs4_layouts *t, uint32_t no, uint32_t how, uint32_t seqid)
{
	const struct nfs4_cb_layoutrecall_args a = {
		.type = LAYOUT4_FLEX_FILES,
		.recall = how,
		.fh = fh_of(no),
		.stateid = {.seqid = seqid, .other = "layout"},
	};

	return nfs4_layouts_recall(t, &a);
}

static void a_recall_finds_what_is_held(void **state)
{
	struct nfs4_layouts *t = *state;
	struct nfs4_layout_held *l;
	bool writes;

	assert_int_equal(recall(t, 1, LAYOUTRECALL4_FILE, 1), NFS4ERR_NOMATCHING_LAYOUT);
	assert_int_equal(recall(t, 1, LAYOUTRECALL4_ALL, 0), NFS4ERR_NOMATCHING_LAYOUT);
	io(t, 1, true);
	assert_int_equal(recall(t, 1, LAYOUTRECALL4_FILE, 1), NFS4ERR_NOMATCHING_LAYOUT);
	l = work(t);
	writes = ask(l); /* LAYOUTGET is under way */
	assert_int_equal(recall(t, 1, LAYOUTRECALL4_FILE, 1), NFS4ERR_DELAY);
	assert_int_equal(recall(t, 1, LAYOUTRECALL4_FSID, 0), NFS4ERR_DELAY);
	give(l, writes, 1);
	done(l);
	assert_int_equal(recall(t, 2, LAYOUTRECALL4_FILE, 1), NFS4ERR_NOMATCHING_LAYOUT);
	assert_int_equal(recall(t, 1, LAYOUTRECALL4_FILE, 7), NFS4_OK);
	assert_int_equal(nfs4_layout_stateid(l).seqid, 7);
	assert_int_equal(recall(t, 1, LAYOUTRECALL4_FILE, 3), NFS4_OK); /* goes already */
	assert_int_equal(nfs4_layout_stateid(l).seqid, 7);
	assert_int_equal(serve(t), 1);
	assert_int_equal(recall(t, 1, LAYOUTRECALL4_ALL, 0), NFS4ERR_NOMATCHING_LAYOUT);
}

/* A recall of all is over when nothing is held, asked for or on its way back: one layout that is
 * held says nothing about another that the server has just given out. */
static void a_recall_of_all_waits_for_all(void **state)
{
	struct nfs4_layouts *t = *state;
	struct nfs4_layout_held *l;
	unsigned n = 0;
	bool writes;

	io(t, 1, true);
	serve(t);
	io(t, 2, true);
	l = work(t);
	writes = ask(l);
	assert_int_equal(recall(t, 0, LAYOUTRECALL4_ALL, 0), NFS4ERR_DELAY);
	assert_true(t->all_changed); /* the devices are recalled, too */
	give(l, writes, 1);
	done(l);
	assert_int_equal(recall(t, 0, LAYOUTRECALL4_ALL, 0), NFS4ERR_DELAY);
	while (recall(t, 0, LAYOUTRECALL4_FSID, 0) == NFS4ERR_DELAY) {
		assert_true(n++ < 3);
		serve(t);
		/* I/O goes on, and is given no layout meanwhile */
		for (uint32_t no = 1; no < 5; no++)
			assert_null(io(t, no, true));
	}
	assert_int_equal(recall(t, 0, LAYOUTRECALL4_ALL, 0), NFS4ERR_NOMATCHING_LAYOUT);
}

static void a_layout_to_read_and_one_to_write_are_held_together(void **state)
{
	struct nfs4_layouts *t = *state;
	struct nfs4_layout_held *l;

	io(t, 1, false);
	serve(t);
	assert_non_null(io(t, 1, false));
	assert_null(io(t, 1, true));
	assert_non_null(io(t, 1, false)); /* while the other is asked for */
	serve(t);
	l = io(t, 1, true);
	assert_non_null(l);
	mutex_lock(&t->lock);
	assert_true(nfs4_layout_at_locked(l, 0, true)->writes);
	assert_false(nfs4_layout_at_locked(l, 0, false)->writes);
	mutex_unlock(&t->lock);
}

static void a_closed_table_gives_nothing(void **state)
{
	struct nfs4_layouts *t = *state;

	io(t, 1, false);
	serve(t);
	nfs4_layouts_close(t);
	assert_null(io(t, 1, false));
	assert_null(io(t, 2, false));
	assert_int_equal(t->n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TABLE(the_table_is_bounded),
		WITH_TABLE(io_under_way_keeps_a_layout),
		WITH_TABLE(the_layouts_that_were_used_the_longest_ago_make_room),
		WITH_TABLE(a_recall_finds_what_is_held),
		WITH_TABLE(a_recall_of_all_waits_for_all),
		WITH_TABLE(a_layout_to_read_and_one_to_write_are_held_together),
		WITH_TABLE(a_closed_table_gives_nothing),
	};

	return cmocka_run_group_tests_name("nfs4_layout", tests, NULL, NULL);
}
