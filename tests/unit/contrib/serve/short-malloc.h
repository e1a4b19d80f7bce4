/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * A malloc() that fails, for tests that are linked with --wrap=malloc.
 */
#ifndef SHORT_MALLOC_H
#define SHORT_MALLOC_H

#include <stddef.h>
#include <stdint.h>

static size_t malloc_max = SIZE_MAX; /* malloc() of more bytes fails */

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);

void *__wrap_malloc(size_t n)
{
	return n > malloc_max ? NULL : __real_malloc(n);
}

#endif
