/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target of a whole responder of RPC-over-RDMA, in all its states: the bytes are the script of
 * the peer (scripted.h).
 */
#include "scripted.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return scripted_run(data, size, false);
}
