/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * weather: harm to the server while programs run: cuts, silence, kills, power cuts.
 */
#ifndef RNFS_SIMULATION_WEATHER_H
#define RNFS_SIMULATION_WEATHER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct weather {
	const char *host; /* of the server */
	char **args;	  /* of rnfs-serve */
	bool several;	  /* a mount has several connections: one alone may be harmed */
	struct server *server;
	/* the module's */
	pthread_t thread;
	unsigned process;
	bool ends;
};

/* Begins the server, in a process of its own. */
void weather_serve(struct weather *w);
void weather_begin(struct weather *w);
/* How often the server has ended so far. */
unsigned weather_kills(void);
/* The server runs then. */
void weather_end(struct weather *w);

#endif
