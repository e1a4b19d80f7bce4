/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * underway: requests of the kernel that the daemon has read and not answered.
 */
#include "fs/kernel/underway.h"

#include <errno.h>
#include <linux/fuse.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fs/kernel/device.h"
#include "fs/known/fs.h"
#include "nfsproto/nfs_client.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define NOTIFY_RESEND 7			 /* FUSE_NOTIFY_RESEND */
#define ANSWER_MAX    4096u		 /* bytes of a noted answer */
#define AGAIN_NS      (2 * NSEC_PER_SEC) /* within which the kernel has sent all requests again */
#define PLACES	      8192u		 /* requests under way, a power of two */
#define NUMBER_STEP   2u		 /* between the numbers of two requests */

/* The words of NOTE_UNDER_WAY: the highest number that was read, and then numbers under way, each
 * at the place number / NUMBER_STEP modulo PLACES or behind; 0: no number. */
#define WORDS (1 + PLACES)

/* An answer of the former daemon. */
struct answer {
	uint64_t noted;
	struct note note;
	size_t len;
	_Alignas(8) uint8_t bytes[ANSWER_MAX];
};

struct underway {
	struct ledger *ledger;
	struct mutex lock;
	struct answer **answer GUARDED_BY(lock);
	uint32_t n GUARDED_BY(lock);
	atomic_uint again; /* requests that were sent again and are not answered */
	struct note note;  /* of the numbers under way; none if the kernel can send again */
	atomic_bool noting;
	/* used by the main thread: since when the kernel sends requests again; 0: all have ended */
	uint64_t since;
	/* until underway_resend(): the numbers that the former daemon had under way */
	uint64_t *number, highest;
	uint32_t numbers;
	uint64_t *spared; /* by underway_spares() */
	uint32_t nspared;
};

struct underway *underway_new(struct ledger *l)
{
	struct underway *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->ledger = l;
	mutex_init(&u->lock);
	return u;
}

struct underway *underway_free(struct underway *u)
{
	if (!u)
		return NULL;
	mutex_alone(&u->lock); /* the mount has ended */
	for (uint32_t i = 0; i < u->n; i++)
		free(u->answer[i]);
	free(u->answer);
	free(u->number);
	free(u->spared);
	mutex_destroy(&u->lock);
	free(u);
	return NULL;
}

/* --- noted requests --------------------------------------------------------------------------- */

uint64_t underway_noted(const struct account *a)
{
	switch (a->opcode) {
	case FUSE_SETATTR:
	case FUSE_SYMLINK:
	case FUSE_MKNOD:
	case FUSE_MKDIR:
	case FUSE_UNLINK:
	case FUSE_RMDIR:
	case FUSE_RENAME:
	case FUSE_RENAME2:
	case FUSE_LINK:
	case FUSE_OPEN:
	case FUSE_CREATE:
	case FUSE_WRITE:
	case FUSE_RELEASE:
	case FUSE_FLUSH:
	case FUSE_SETXATTR:
	case FUSE_REMOVEXATTR:
	case FUSE_SETLK:
	case FUSE_SETLKW:
	case FUSE_FALLOCATE:
	case FUSE_COPY_FILE_RANGE:
		return a->unique & ~REQUEST_AGAIN;
	default:
		return 0;
	}
}

static bool is_answered(uint32_t opcode)
{
	return opcode != FUSE_FORGET && opcode != FUSE_BATCH_FORGET && opcode != FUSE_INTERRUPT &&
	       opcode != FUSE_NOTIFY_REPLY;
}

/* --- numbers under way ------------------------------------------------------------------------ */

/* The words, for a kernel that sends nothing again; NULL: none are kept. */
static _Atomic uint64_t *words_of(struct underway *u)
{
	return atomic_load(&u->noting) ? ledger_words(u->ledger, &u->note) : NULL;
}

/* In the place of `was`, which is there unless 0, puts `is`. False: no such place. */
static bool exchange(_Atomic uint64_t *words, uint64_t number, uint64_t was, uint64_t is)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		_Atomic uint64_t *word = &words[1 + (number / NUMBER_STEP + i) % PLACES];
		uint64_t expected = was;

		if (atomic_load_explicit(word, memory_order_relaxed) == was &&
			atomic_compare_exchange_strong(word, &expected, is))
			return true;
	}
	return false;
}

static void note_highest(_Atomic uint64_t *words, uint64_t number)
{
	uint64_t was = atomic_load(&words[0]);

	while (number > was && !atomic_compare_exchange_weak(&words[0], &was, number))
		;
}

static void note_number(struct underway *u, uint64_t number)
{
	_Atomic uint64_t *words = words_of(u);

	if (!words)
		return;
	if (!exchange(words, number, 0, number))
		ledger_give_up(u->ledger); /* too many for a successor */
	note_highest(words, number);
}

static void drop_number(struct underway *u, uint64_t number)
{
	_Atomic uint64_t *words = words_of(u);

	if (words)
		exchange(words, number, number, 0);
}

void underway_counts_not(struct fs *fs, uint64_t unique)
{
	drop_number(fs->underway, unique);
}

void underway_counts(struct fs *fs, uint64_t unique)
{
	note_number(fs->underway, unique);
}

void underway_begin(struct fs *fs)
{
	struct underway *u = fs->underway;
	uint64_t *none;

	if (fs->may_resend)
		return;
	none = calloc(WORDS, sizeof(*none));
	if (!none) {
		ledger_give_up(u->ledger);
		return;
	}
	ledger_put(u->ledger, &u->note, NOTE_UNDER_WAY, none, WORDS * sizeof(*none));
	free(none);
	atomic_store(&u->noting, true);
}

/* --- answers ---------------------------------------------------------------------------------- */

static ssize_t write_again(struct fs *fs, struct answer *a, uint64_t unique)
{
	struct fuse_out_header *h = (struct fuse_out_header *)a->bytes;
	struct iovec iov = {a->bytes, a->len};

	h->unique = unique;
	return device_writev(fs->device, &iov, 1);
}

/* Takes the answer to a noted request; NULL: there is none. */
static struct answer *take_answer(struct underway *u, uint64_t noted)
{
	struct answer *found = NULL;

	mutex_lock(&u->lock);
	for (uint32_t i = 0; i < u->n && !found; i++) {
		if (u->answer[i]->noted != noted)
			continue;
		found = u->answer[i];
		u->answer[i] = u->answer[--u->n];
	}
	mutex_unlock(&u->lock);
	return found;
}

bool underway_has_answer(const struct fs *fs, uint64_t noted)
{
	struct underway *u = fs->underway;
	bool found = false;

	mutex_lock(&u->lock);
	for (uint32_t i = 0; i < u->n; i++)
		found |= u->answer[i]->noted == noted;
	mutex_unlock(&u->lock);
	return found;
}

static void drop_answer(struct underway *u, struct answer *a)
{
	ledger_drop(u->ledger, &a->note);
	free(a);
}

bool underway_read(struct fs *fs, const void *message, size_t len)
{
	const struct fuse_in_header *h = message;
	struct underway *u = fs->underway;
	struct answer *a;

	if (len < sizeof(*h) || !is_answered(h->opcode))
		return false;
	note_number(u, h->unique);
	if (!(h->unique & REQUEST_AGAIN))
		return false;
	a = take_answer(u, h->unique & ~REQUEST_AGAIN);
	if (!a) {
		/* a wait for a lock may last, and has no notes that another request would need */
		atomic_fetch_add(&u->again, h->opcode != FUSE_SETLKW);
		return false;
	}
	if (write_again(fs, a, h->unique) < 0)
		log_ctrl("the kernel did not take the answer of the former daemon: %s",
			strerror(errno));
	nfs_client_answered(fs->client, a->noted);
	drop_answer(u, a);
	return true;
}

/* Notes the answer, and then drops the notes about the calls. */
static void note_answer(
	struct fs *fs, uint64_t noted, const struct iovec *iov, int count, struct note *note)
{
	_Alignas(8) uint8_t bytes[8 + ANSWER_MAX];
	size_t len = 8;

	memcpy(bytes, &noted, 8);
	for (int i = 0; i < count; i++) {
		if (iov[i].iov_len > sizeof(bytes) - len) {
			ledger_give_up(fs->ledger);
			return;
		}
		memcpy(bytes + len, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	ledger_put(fs->ledger, note, NOTE_ANSWER, bytes, len);
	nfs_client_answered(fs->client, noted);
}

void underway_answers(struct fs *fs, const struct iovec *iov, int count, struct note *note)
{
	const struct fuse_out_header *h = iov[0].iov_base;
	bool again = h->unique & REQUEST_AGAIN;
	const struct account *a;
	uint64_t noted;

	if (!h->unique)
		return; /* a notification */
	a = account_of(h->unique);
	if (again && !(a && a->opcode == FUSE_SETLKW))
		atomic_fetch_sub(&fs->underway->again, 1);
	noted = a ? underway_noted(a) : 0;
	/* without calls there is nothing to repeat; a request that was sent again may have taken
	 * all answers from notes */
	if (noted && (a->rpcs || again))
		note_answer(fs, noted, iov, count, note);
}

void underway_answered(struct fs *fs, const struct iovec *iov, struct note *note)
{
	const struct fuse_out_header *h = iov[0].iov_base;
	struct underway *u = fs->underway;

	ledger_drop(fs->ledger, note);
	if (!h->unique)
		return;
	drop_number(u, h->unique);
}

/* --- the successor ---------------------------------------------------------------------------- */

static bool get_answer(struct underway *u, const uint8_t *data, uint32_t len)
{
	struct fuse_out_header h;
	struct answer *a;

	if (len < 8 + sizeof(h) || len > 8 + ANSWER_MAX)
		return false;
	memcpy(&h, data + 8, sizeof(h));
	a = h.len == len - 8 ? calloc(1, sizeof(*a)) : NULL;
	if (!a)
		return false;
	memcpy(&a->noted, data, 8);
	a->len = len - 8;
	memcpy(a->bytes, data + 8, a->len);
	ledger_put(u->ledger, &a->note, NOTE_ANSWER, data, len);
	mutex_lock(&u->lock);
	u->answer[u->n++] = a;
	mutex_unlock(&u->lock);
	return true;
}

/* A second successor ends the requests that this one does not come to. */
static bool get_numbers(struct underway *u, const uint64_t *words, uint32_t len)
{
	_Atomic uint64_t *own = words_of(u);

	u->number = len == WORDS * 8 ? calloc(PLACES, sizeof(*u->number)) : NULL;
	if (!u->number)
		return false;
	u->highest = words[0];
	for (uint32_t i = 0; i < PLACES; i++)
		if (words[1 + i]) {
			u->number[u->numbers++] = words[1 + i];
			note_number(u, words[1 + i]);
		}
	if (own)
		note_highest(own, u->highest);
	return true;
}

int underway_former(struct fs *fs, const struct former *former, struct err *e)
{
	uint32_t n = former_count(former, NOTE_ANSWER), len;
	struct underway *u = fs->underway;
	bool good;

	mutex_alone(&u->lock); /* no request is served yet */
	u->answer = calloc((size_t)n + 1, sizeof(*u->answer));
	good = u->answer;
	for (uint32_t i = 0; i < n && good; i++) {
		const void *data = former_note(former, NOTE_ANSWER, i, &len);

		good = get_answer(u, data, len);
	}
	if (good && former_count(former, NOTE_UNDER_WAY)) {
		const void *data = former_note(former, NOTE_UNDER_WAY, 0, &len);

		good = get_numbers(u, data, len);
	}
	return good ? 0
		    : err_set(e, ERR_INTERNAL,
			      "the notes of requests are damaged, or there is no memory for them");
}

/* Ends a request of the former daemon. The kernel takes an answer only from the open file that the
 * request was read from. */
static void end_one(struct fs *fs, uint64_t number)
{
	struct fuse_out_header h = {.len = sizeof(h), .error = -EIO, .unique = number};
	struct answer *a = take_answer(fs->underway, number);
	struct iovec iov = {&h, sizeof(h)};

	if (a)
		iov = (struct iovec){a->bytes, a->len};
	if (device_writev(fs->device, &iov, 1) < 0 && errno == ENOENT &&
		device_inherit_row(fs->device, number))
		device_writev(fs->device, &iov, 1);
	if (a)
		drop_answer(fs->underway, a);
	drop_number(fs->underway, number);
}

bool underway_spares(struct fs *fs, uint64_t unique)
{
	struct underway *u = fs->underway;
	uint64_t *more = realloc(u->spared, ((size_t)u->nspared + 1) * sizeof(*more));

	if (!more)
		return false;
	u->spared = more;
	more[u->nspared++] = unique;
	return true;
}

/* Ends a request of the former daemon, unless another note tells of the request. The former daemon
 * may have been killed between that note and the end of the number's (again_note()). */
static void end_unless_spared(struct fs *fs, uint64_t number)
{
	struct underway *u = fs->underway;

	for (uint32_t i = 0; i < u->nspared; i++)
		if (u->spared[i] == number) {
			drop_number(u, number);
			return;
		}
	end_one(fs, number);
}

static void end_all(struct fs *fs)
{
	struct underway *u = fs->underway;

	for (uint32_t i = 0; i < u->numbers; i++)
		end_unless_spared(fs, u->number[i]);
	/* the former daemon may have read these, and had not noted their numbers yet */
	for (unsigned i = 1; u->highest && i <= UNDERWAY_UNSEEN; i++)
		end_unless_spared(fs, u->highest + i * NUMBER_STEP);
	for (uint64_t i = 1; i <= UNDERWAY_PASSED && u->highest > i * NUMBER_STEP; i++)
		end_unless_spared(fs, u->highest - i * NUMBER_STEP);
	if (u->numbers)
		log_always_warn("%u requests ended with EIO: this kernel cannot send them again "
				"(Linux 6.9 can)",
			u->numbers);
	free(u->number);
	u->number = NULL;
	u->numbers = 0;
}

void underway_waits_anew(struct fs *fs)
{
	if (fs->underway && fs->underway->since)
		fs->underway->since = clock_ns();
}

bool underway_resend(struct fs *fs)
{
	struct fuse_out_header h = {.len = sizeof(h), .error = NOTIFY_RESEND};
	struct iovec iov = {&h, sizeof(h)};

	fs->underway->since = clock_ns();
	if (fs->may_resend)
		return device_writev(fs->device, &iov, 1) >= 0;
	end_all(fs);
	return true;
}

/* An answer for which no request has come again; NULL: none. */
static struct answer *take_last(struct underway *u)
{
	struct answer *a;

	mutex_lock(&u->lock);
	a = u->n ? u->answer[--u->n] : NULL;
	mutex_unlock(&u->lock);
	return a;
}

bool underway_all_came(const struct fs *fs)
{
	const struct underway *u = fs->underway;

	return u && u->since && clock_age(clock_ns(), u->since) >= AGAIN_NS;
}

bool underway_tick(struct fs *fs)
{
	struct underway *u = fs->underway;
	struct answer *a;

	if (!underway_all_came(fs) || atomic_load(&u->again))
		return false;
	u->since = 0;
	nfs_client_replays_end(fs->client);
	while ((a = take_last(u))) {
		nfs_client_answered(fs->client, a->noted);
		drop_answer(u, a);
	}
	return true;
}
