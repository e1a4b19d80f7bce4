/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * metaops: times create, stat and unlink of N files in a directory, one after the other.
 * Prints "create stat unlink" in operations per second.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void name(char *buf, size_t size, const char *dir, int i)
{
	snprintf(buf, size, "%s/metaops-%d-%d", dir, (int)getpid(), i);
}

static int create_one(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);

	return fd < 0 ? -1 : close(fd);
}

static int stat_one(const char *path)
{
	struct stat st;

	return stat(path, &st);
}

static int unlink_one(const char *path)
{
	return unlink(path);
}

int main(int argc, char **argv)
{
	int (*const step[])(const char *) = {create_one, stat_one, unlink_one};
	int count = argc == 3 ? atoi(argv[2]) : 0;
	double rate[3];
	char path[4096];

	if (count < 1) {
		fprintf(stderr, "usage: metaops DIRECTORY COUNT\n");
		return 2;
	}
	for (int s = 0; s < 3; s++) {
		double start = now();

		for (int i = 0; i < count; i++) {
			name(path, sizeof(path), argv[1], i);
			if (step[s](path) < 0) {
				fprintf(stderr, "metaops: %s: %s\n", path, strerror(errno));
				return 1;
			}
		}
		rate[s] = count / (now() - start);
	}
	printf("%.0f %.0f %.0f\n", rate[0], rate[1], rate[2]);
	return 0;
}
