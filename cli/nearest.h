/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nearest: the known word that is most like a misspelt word.
 *
 * A slip is a letter left out, added, changed or swapped with the next. One such slip is forgiven
 * in words of 3 to 5 letters, two in longer words.
 */
#ifndef RNFS_CLI_NEAREST_H
#define RNFS_CLI_NEAREST_H

struct nearest {
	const char *word;
	const char *best; /* of the words offered so far; NULL: none is near */
	unsigned slips; /* slips between word and best; without best, one more than are forgiven */
};

/* The strings stay the caller's and must outlive n. */
void nearest_init(struct nearest *n, const char *word);
/* Among equally near words the first stays. Words of more than 32 bytes are near to none. */
void nearest_offer(struct nearest *n, const char *known);

#endif
