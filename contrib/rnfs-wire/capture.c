/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * capture: see capture.h.
 */
#include "contrib/rnfs-wire/capture.h"

#include <errno.h>

#include "contrib/rnfs-wire/flow.h"
#include "contrib/rnfs-wire/pcap.h"

int capture_print(struct sink *sink, const void *data, size_t len)
{
	struct pcap_packet pkt;
	struct packet_tcp tcp;
	struct pcap pcap;
	struct flow flow;
	int rc;

	if (pcap_init(&pcap, data, len))
		return -EINVAL;
	flow_init(&flow, sink);
	while ((rc = pcap_next(&pcap, &pkt)) > 0)
		if (packet_get_tcp(pkt.link, pkt.data, pkt.len, &tcp))
			flow_packet(&flow, &tcp, pkt.ns);
	flow_end(&flow);
	flow_free(&flow);
	return rc;
}
