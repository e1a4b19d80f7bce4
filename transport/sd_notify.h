/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sd_notify: telling the service manager how this service is, by the protocol of sd_notify(3):
 * lines in one datagram to the socket that $NOTIFY_SOCKET names.
 */
#ifndef RNFS_TRANSPORT_SD_NOTIFY_H
#define RNFS_TRANSPORT_SD_NOTIFY_H

#include <stdbool.h>

/* Takes the variables of the service manager out of the environment, so that programs that this one
 * starts do not have them. Before there are threads. */
void sd_notify_init(void);

/* Sends one line, such as "READY=1"; control characters in it become "?". Any thread; does not
 * wait. False: no service manager listens. */
__attribute__((format(printf, 1, 2))) bool sd_notify(const char *fmt, ...);

/* Within so many milliseconds there has to be a "WATCHDOG=1"; 0: nobody waits for one. */
unsigned sd_notify_watchdog_ms(void);

#endif
