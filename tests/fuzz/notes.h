/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * notes: the input of a fuzzer as the ledger of a former daemon. Each note is a byte for the kind,
 * the length in two bytes, and the contents. Zeros follow the contents of NOTE_UNDER_WAY, which is
 * longer than inputs are.
 */
#ifndef RNFS_TESTS_FUZZ_NOTES_H
#define RNFS_TESTS_FUZZ_NOTES_H

#include "transport/ledger.h"

/* Never NULL: without memory the process ends. The caller frees the notes. */
struct former *notes_read(const uint8_t *data, size_t size);
/* What a successor with the ledger l leaves to the next one, as notes_read(). */
struct former *notes_of(struct ledger *l);

#endif
