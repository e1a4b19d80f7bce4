/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pieces: the parts of a run that can be left out, to make a failure smaller.
 *
 * A list of pieces has commas between pieces. A number may be a range, A-B or A-, or missing: all.
 *	program3:5	round 5 of program 3
 *	weather2	the third event of the weather
 *	option4		the fifth choice of the set-up: the first of several is taken, and the usual
 *			instead of the rare
 *	switch7-90	at these points the thread goes on, unless the thread waits
 *	network, disk, kernel	rare events there, such as short reads, slow syncs, little memory
 */
#ifndef RNFS_SIMULATION_PIECES_H
#define RNFS_SIMULATION_PIECES_H

#include <stdio.h>

#include "tests/simulation/choices.h"

enum piece_kind {
	PIECE_NONE,
	PIECE_PROGRAM,
	PIECE_WEATHER,
	PIECE_OPTION,
	PIECE_SWITCH,
	PIECE_NETWORK,
	PIECE_DISK,
	PIECE_KERNEL,
	PIECE_KINDS
};

/* The piece that a thread is in, and its stream of choices. */
struct piece {
	enum piece_kind kind;
	unsigned a, b;
	struct choices own;
};

/* Leaves out the pieces of the list in the next run. False: the list is wrong. */
bool pieces_leave_out(const char *list);
void pieces_plant(uint64_t seed);

/* The calling thread begins a piece: its choices are the piece's from now on. False: the piece is
 * left out. PIECE_OPTION: each choice of the thread is a piece from now on. */
bool piece_begin(enum piece_kind kind, unsigned a, unsigned b);

/* Is the switch at the point left out? The events of a stream? */
bool pieces_switch_left_out(uint64_t step);
bool pieces_rare_left_out(enum choices_stream s);

uint32_t pieces_choose(struct piece *p, uint32_t n);
bool pieces_once_in(struct piece *p, uint32_t n);

/* Prints the pieces that the run has begun, a line each. */
void pieces_print(FILE *out);

#endif
