/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sd_notify: tells the service manager about the state of this service, by the protocol of
 * sd_notify(3): lines in one datagram to the socket named by $NOTIFY_SOCKET.
 */
#ifndef RNFS_TRANSPORT_SD_NOTIFY_H
#define RNFS_TRANSPORT_SD_NOTIFY_H

#include <stdbool.h>

/* Takes the variables of the service manager out of the environment, so that child programs do not
 * inherit them. Before there are threads. */
void sd_notify_init(void);

/* Sends one line, such as "READY=1"; control characters in the line become "?". Any thread; does
 * not wait. False: no service manager listens. */
__attribute__((format(printf, 1, 2))) bool sd_notify(const char *fmt, ...);

/* The service manager expects a "WATCHDOG=1" within this many milliseconds; 0: it expects none. */
unsigned sd_notify_watchdog_ms(void);

#endif
