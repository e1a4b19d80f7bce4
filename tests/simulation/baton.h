/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * baton: passes the turn from thread to thread.
 *
 * On x86-64 the kernel takes no part: one kernel thread, the carrier, runs the threads of a run one
 * after the other. Each thread is made by pthread_create(3), for its stack and its thread-local
 * memory. The new kernel thread saves its registers, and then sleeps on a small stack of its own
 * until the thread ends. To pass the baton the carrier changes the stack pointer and the base of
 * thread-local memory (FS). A thread ends on its own kernel thread, while the carrier waits.
 * On other machines each kernel thread runs its own thread, and sleeps while another has the baton.
 */
#ifndef RNFS_SIMULATION_BATON_H
#define RNFS_SIMULATION_BATON_H

#include <stdatomic.h>
#include <stdint.h>

struct baton {
	void *stack; /* its top, with the registers, while another thread has the baton */
	uintptr_t tls;
	atomic_int has;	  /* of the kernel thread that sleeps: it may go on */
	atomic_int waits; /* the new kernel thread sleeps for the first time */
	int tid;
};

/* The calling thread has the baton from now on: the first of a run. */
void baton_take(struct baton *b);
/* The calling thread is new: runs fn(arg) once the baton is passed to b. fn calls baton_leave() at
 * its end. */
void baton_begin(struct baton *b, void (*fn)(void *arg), void *arg);
/* Returns once the thread of b sleeps in baton_begin(). The caller has the baton. */
void baton_await(struct baton *b);
/* Passes the baton. Returns when the caller has got it back. */
void baton_pass(struct baton *from, struct baton *to);
/* Passes the baton for good. On x86-64 `to` goes on after the kernel thread of `from` has ended. */
void baton_leave(struct baton *from, struct baton *to);

#endif
