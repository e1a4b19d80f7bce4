/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * programs: the threads of a run's programs, and the choice of crowds.
 */
#include "tests/simulation/programs.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/lulls.h"
#include "tests/simulation/pieces.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"

#define ROUNDS	      96u /* of all programs together */
#define PROGRAMS_MOST 64
#define CROWDS_LEAST  2
#define CROWDS_MORE   3 /* up to so many more, but one */
#define COUNT(a)      (sizeof(a) / sizeof(*(a)))

static const struct crowd *const crowds[] = {&crowd_failing, &crowd_promised, &crowd_killed,
	&crowd_modes, &crowd_direct, &crowd_mapped, &crowd_ranges, &crowd_exclusive, &crowd_names,
	&crowd_resized, &crowd_append, &crowd_closed, &crowd_locked, &crowd_outside, &crowd_synced,
	&crowd_created, &crowd_listed, &crowd_copied, &crowd_beside};

void wrong(const struct program *p, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sched_fail("program %u on mount %u: %s", p->number, p->mount, text);
}

long must(const struct program *p, long res, const char *call, const char *name)
{
	if (res < 0)
		wrong(p, "%s of %s: %s", call, name, strerror((int)-res));
	return res;
}

void make_dir(const struct program *p, const char *path)
{
	unsigned cuts = disk_power_cuts();
	int res = sys_mkdir(p->proc, path, 0777);

	if (res != -EEXIST || cuts == disk_power_cuts())
		must(p, res, "mkdir", path);
}

#define TRIES 8

long read_beside(const struct program *p, int fd, void *buf, size_t n, off_t off, const char *name)
{
	long res = -EINTR;

	for (unsigned i = 0; i < TRIES && res == -EINTR; i++)
		res = sys_pread(p->proc, fd, buf, n, off);
	return must(p, res, "read", name);
}

/* Is the word in the list, which has commas between words? */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

bool program_has(const struct program *p, const char *option)
{
	return has_word(p->stage->options[p->mount], option);
}

bool program_is_blind(const struct program *p, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sim/export/%s", name);
	return ways_blind(p->stage->process[p->mount], path, false);
}

static const char *programs_crowds(void)
{
	static char all[200];
	size_t at = 0;

	for (unsigned i = 0; i < COUNT(crowds); i++)
		at += (size_t)snprintf(
			all + at, sizeof(all) - at, "%s%s", i ? "," : "", crowds[i]->name);
	return all;
}

/* A word of the list that names no crowd, or NULL. */
static const char *unknown_word(const char *list)
{
	static char words[200];
	char *rest = words, *word;

	snprintf(words, sizeof(words), "%s", list);
	while ((word = strsep(&rest, ",")))
		if (!*word || !has_word(programs_crowds(), word))
			return word;
	return NULL;
}

bool programs_may_play(const char *list, char *why, size_t n)
{
	const char *word = unknown_word(list);
	unsigned named = 0, programs = 0;
	const struct crowd *alone = NULL;

	for (unsigned i = 0; i < COUNT(crowds); i++) {
		if (!has_word(list, crowds[i]->name))
			continue;
		named++;
		programs += crowds[i]->each * STAGE_MOUNTS;
		alone = crowds[i]->alone ? crowds[i] : alone;
	}
	if (word)
		snprintf(why, n, "there is no crowd '%s': the crowds are %s", word,
			programs_crowds());
	else if (alone && named > 1)
		snprintf(why, n, "the crowd %s plays without others: name no other crowd",
			alone->name);
	else if (programs > PROGRAMS_MOST)
		snprintf(why, n, "%u programs are in these crowds, of at most %u: name fewer",
			programs, PROGRAMS_MOST);
	else
		return true;
	return false;
}

/* The crowds of the list, or of the seed's choice: their number. */
static unsigned choose(const struct crowd **chosen, const char *list)
{
	unsigned n = 0, want = CROWDS_LEAST + sched_choose(CROWDS_MORE), i;

	for (i = 0; list && i < COUNT(crowds); i++)
		if (has_word(list, crowds[i]->name))
			chosen[n++] = crowds[i];
	while (!list && n < want && n < COUNT(crowds)) {
		const struct crowd *c = crowds[sched_choose(COUNT(crowds))];

		for (i = 0; i < n && chosen[i] != c; i++)
			;
		if (i < n || (c->alone && n))
			continue;
		chosen[n++] = c;
		if (c->alone)
			break;
	}
	return n;
}

static void *run(void *ctx)
{
	struct program *p = ctx;
	char name[32];

	snprintf(name, sizeof(name), "%s%u", p->crowd->name, p->number);
	sched_name(name);
	for (unsigned i = 0; i < p->rounds; i++) {
		lull_wait();
		if (!piece_begin(PIECE_PROGRAM, p->number, i))
			continue;
		p->proc = kernel_process(p->k);
		proc_set_rest(p->proc, lull_rest);
		p->crowd->act(p);
		proc_exit(p->proc);
		if (sched_once_in(4))
			usleep(sched_choose(3000000));
	}
	return NULL;
}

/* The programs of all crowds, which take turns on the mounts. */
static unsigned cast(struct program *program, const struct stage *s, const struct crowd **chosen,
	unsigned crowds_n)
{
	unsigned made = 0;

	for (unsigned c = 0; c < crowds_n; c++) {
		sched_event("a crowd: %s", chosen[c]->name);
		for (unsigned i = 0; i < chosen[c]->each * s->mounts; i++, made++)
			program[made] = (struct program){.crowd = chosen[c],
				.stage = s,
				.k = s->k[i % s->mounts],
				.number = made,
				.nth = i,
				.mount = i % s->mounts};
	}
	return made;
}

void programs_run(const struct stage *s, const char *list)
{
	static struct program program[PROGRAMS_MOST];
	const struct crowd *chosen[COUNT(crowds)];
	unsigned n = choose(chosen, list), programs = cast(program, s, chosen, n);

	for (unsigned c = 0; c < n; c++)
		if (chosen[c]->begin)
			chosen[c]->begin(s);
	lulls_begin(s->calm);
	for (unsigned i = 0; i < programs; i++) {
		program[i].rounds = (ROUNDS + programs - 1) / programs;
		pthread_create(&program[i].thread, NULL, run, &program[i]);
	}
	for (unsigned i = 0; i < programs; i++)
		pthread_join(program[i].thread, NULL);
	lulls_end();
	for (unsigned c = 0; c < n; c++)
		if (chosen[c]->end)
			chosen[c]->end(s);
}
