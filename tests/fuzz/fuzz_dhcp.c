/* Parses the input as the reply of a DHCP server. */
#include <string.h>
#include "wipe/dhcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t mac[6] = {0x52, 0x54, 0, 0x12, 0x34, 0x56};
	struct dhcp_lease lease;
	uint32_t xid = 0;

	if (size >= 8)
		memcpy(&xid, data + 4, 4);
	(void)dhcp_parse(data, size, mac, xid, &lease);
	return 0;
}
