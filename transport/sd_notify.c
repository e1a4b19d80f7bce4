/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sd_notify: the socket of the service manager.
 */
#include "transport/sd_notify.h"

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address;
static socklen_t address_len; /* 0: there is no service manager */
static unsigned watchdog_ms;

static unsigned long long number(const char *name)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 10) : 0;
}

/* A path, or, behind "@", an abstract name. */
static void set_address(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	address_len = 0;
	if (len < 2 || len >= sizeof(address.sun_path) || (name[0] != '/' && name[0] != '@'))
		return;
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, name, len + 1);
	if (name[0] == '@')
		address.sun_path[0] = 0;
	else
		len++;
	address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

void sd_notify_init(void)
{
	unsigned long long us = number("WATCHDOG_USEC"), pid = number("WATCHDOG_PID");

	set_address(getenv("NOTIFY_SOCKET"));
	watchdog_ms = 0;
	/* the parent may be the holder, which is the process that the manager has started */
	if (address_len && (!pid || pid == (unsigned long long)getpid() ||
				   pid == (unsigned long long)getppid()))
		watchdog_ms = us / 1000 > UINT_MAX ? UINT_MAX : (unsigned)(us / 1000);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

bool sd_notify(const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	ssize_t n;
	int fd;

	if (!address_len)
		return false;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (char *s = line; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	n = sendto(fd, line, strlen(line), MSG_NOSIGNAL, (const struct sockaddr *)&address,
		address_len);
	close(fd);
	return n >= 0;
}

unsigned sd_notify_watchdog_ms(void)
{
	return watchdog_ms;
}
