/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * try-cut: the simulated disk keeps synced data over power cuts; and a full disk.
 *
 * try-cut [SEED [CALLS]]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"

static unsigned calls = 20000;

/* --- power cuts ------------------------------------------------------------------------------- */

#define FILES 12

/* The state that is surely on the disk: for each file, is the name there, and the byte that each
 * block is filled with. */
static struct {
	bool there;
	unsigned char block[8];		 /* synced */
	unsigned char maybe[8][256 / 8]; /* bytes that were written since */
} sure[FILES];

static void note(unsigned f, unsigned b, unsigned char v)
{
	sure[f].maybe[b][v / 8] |= (unsigned char)(1 << v % 8);
}

static void file_path(unsigned f, char *buf)
{
	sprintf(buf, "/sim/cut/f%u", f);
}

static void check_cut(void)
{
	for (unsigned f = 0; f < FILES; f++) {
		char path[32];
		off_t size;

		file_path(f, path);
		size = disk_size(path);
		if (size < 0 && sure[f].there)
			sched_fail("%s, which was synced, is lost", path);
		for (unsigned b = 0; b < 8; b++) {
			unsigned char v = 0;

			if (size > (off_t)b * 4096)
				disk_read(path, &v, 1, (off_t)b * 4096);
			if (v != sure[f].block[b] && !(sure[f].maybe[b][v / 8] & 1 << v % 8))
				sched_fail("%s block %u: %u, of which %u was synced", path, b, v,
					sure[f].block[b]);
			memset(sure[f].maybe[b], 0, sizeof(sure[f].maybe[b]));
			sure[f].block[b] = v;
		}
		sure[f].there = size >= 0;
	}
}

static void cut(void)
{
	unsigned lost = 0;

	disk_mkdir("/sim/cut", 0700);
	for (unsigned n = 0; n < calls / 4; n++) {
		unsigned f = sched_choose(FILES), b = sched_choose(8);
		unsigned char data[4096], v = (unsigned char)(1 + sched_choose(255));
		char path[32];
		int fd;

		file_path(f, path);
		memset(data, v, sizeof(data));
		switch (sched_choose(20)) {
		case 0:
			disk_power_cut();
			lost++;
			check_cut();
			continue;
		case 1:
			if (!sure[f].there && unlink(path) == 0)
				for (b = 0; b < 8; b++)
					note(f, b, 0);
			continue;
		case 2:
		case 3:
			fd = open(path, O_RDONLY);
			if (fd < 0)
				continue;
			if (fsync(fd) != 0)
				sched_fail("fsync()");
			close(fd);
			sure[f].there = true;
			for (b = 0; b < 8; b++) {
				v = 0;
				disk_read(path, &v, 1, (off_t)b * 4096);
				sure[f].block[b] = v;
				memset(sure[f].maybe[b], 0, sizeof(sure[f].maybe[b]));
			}
			continue;
		default:
			fd = open(path, O_WRONLY | O_CREAT, 0600);
			if (pwrite(fd, data, sizeof(data), (off_t)b * 4096) != sizeof(data))
				sched_fail("pwrite()");
			close(fd);
			note(f, b, v);
		}
	}
	printf("%u power cuts\n", lost);
}

/* --- a full disk ------------------------------------------------------------------------------ */

#define EXPECT(call, result, error)                                                                \
	do {                                                                                       \
		long res_ = (long)(call);                                                          \
                                                                                                   \
		if (res_ != (result) || (res_ < 0 && errno != (error)))                            \
			sched_fail("%s: %ld (%s)", #call, res_, res_ < 0 ? strerror(errno) : "");  \
	} while (0)

static void fill_up(void)
{
	static char data[10 * 4096];
	int fd = open("/sim/cut/full", O_RDWR | O_CREAT, 0600);
	struct stat st;

	sync();
	disk_full(5 * 4096);
	EXPECT(pwrite(fd, data, sizeof(data), 100), 5 * 4096 - 100, 0);
	EXPECT(pwrite(fd, data, 1, 100000), -1, ENOSPC);
	EXPECT(pwrite(fd, data, 4096, 0), 4096, 0);
	EXPECT(mkdir("/sim/cut/more", 0700), -1, ENOSPC);
	EXPECT(ftruncate(fd, 10000), 0, 0);
	EXPECT(pwrite(fd, data, sizeof(data), 4096), 4 * 4096, 0);
	EXPECT(fsync(fd), 0, 0);
	EXPECT(pwrite(fd, data, 1, 100000), -1, ENOSPC);
	disk_fail_sync(1);
	EXPECT(fsync(fd), -1, EIO);
	EXPECT(fsync(fd), 0, 0);
	disk_fail_writes(1);
	EXPECT(pwrite(fd, data, 1, 0), -1, EIO);
	EXPECT(pwrite(fd, data, 1, 0), 1, 0);
	fstat(fd, &st);
	EXPECT(st.st_blocks, 40, 0);
	disk_full(UINT64_MAX);
	close(fd);
	unlink("/sim/cut/full");
}

/* --- names at power cuts ---------------------------------------------------------------------- */

#define CUT_NAMES 8
#define STEPS	  40

struct names {
	ino_t ino[CUT_NAMES]; /* 0: there is none of that name */
};

static void look(struct names *names)
{
	for (unsigned k = 0; k < CUT_NAMES; k++) {
		char path[32];
		struct stat st;

		sprintf(path, "/sim/names/%u", k);
		names->ino[k] = lstat(path, &st) == 0 ? st.st_ino : 0;
	}
}

static void change_name(void)
{
	char a[32], b[32];
	int fd;

	sprintf(a, "/sim/names/%u", sched_choose(CUT_NAMES));
	sprintf(b, "/sim/names/%u", sched_choose(CUT_NAMES));
	switch (sched_choose(6)) {
	case 0:
		fd = open(a, O_CREAT | O_WRONLY, 0600);
		if (fd >= 0)
			close(fd);
		break;
	case 1:
		mkdir(a, 0700);
		break;
	case 2:
		rename(a, b);
		break;
	case 3:
		link(a, b);
		break;
	case 4:
		symlink("x", a);
		break;
	default:
		remove(a);
	}
}

/* The names are those of some moment since the last sync. */
static void cut_names(void)
{
	static struct names was[STEPS + 1];
	unsigned seen[2] = {0};

	disk_mkdir("/sim/names", 0700);
	for (unsigned n = 0; n < calls / 40; n++) {
		unsigned steps = sched_choose(STEPS), k;
		int fd = open("/sim/names", O_RDONLY | O_DIRECTORY);
		struct names now;

		for (k = sched_choose(STEPS); k > 0; k--)
			change_name();
		fsync(fd);
		close(fd);
		look(&was[0]);
		for (k = 0; k < steps; k++) {
			change_name();
			look(&was[k + 1]);
		}
		disk_power_cut();
		look(&now);
		for (k = 0; k <= steps && memcmp(&now, &was[k], sizeof(now)) != 0; k++)
			;
		if (k > steps)
			sched_fail("names that never were there together");
		seen[k == steps]++;
	}
	printf("%u power cuts with changes lost, %u without\n", seen[0], seen[1]);
}

static void run(void *ctx)
{
	unsigned unnamed;

	disk_new();
	cut();
	fill_up();
	cut_names();
	sync();
	disk_inodes(&unnamed);
	if (unnamed || descriptors_open())
		sched_fail("%u inodes without a name, %u descriptors are left", unnamed,
			descriptors_open());
	disk_reset();
}

int main(int argc, char **argv)
{
	struct sched_params p = {.seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
		.policy = SCHED_WALK,
		.most_steps = UINT64_MAX,
		.out = stderr};

	if (argc > 2)
		calls = (unsigned)strtoul(argv[2], NULL, 0);
	sched_run(&p, run, NULL);
	printf("seed %llu: %016llx\n", (unsigned long long)p.seed,
		(unsigned long long)sched_digest());
	return 0;
}
