/* Decodes the input as every message between drover and its agent, as the boot block, and as the
 * clean stamp. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/mem.h"
#include "wipe/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct field *const tables[] = {proto_hello_fields, proto_welcome_fields,
						     proto_order_fields, proto_report_fields};
	union {
		struct proto_hello hello;
		struct proto_welcome welcome;
		struct proto_order order;
		struct proto_report report;
	} msg;
	struct proto_boot boot;
	struct err e;
	OWN(arena) a = arena_new();

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		memset(&msg, 0, sizeof(msg));
		if (!proto_decode(tables[i], (const char *)data, size, &msg, a, &e))
			free(proto_encode(tables[i], &msg));
	}
	memset(&boot, 0, sizeof(boot));
	if (!proto_boot_read((const char *)data, size, a, &boot, &e)) {
		static char block[PROTO_BOOT_BLOCK];

		if (proto_boot_write(&boot, block, &e) < 0 && e.kind != ERR_INVALID)
			abort();
	}
	if (size == PROTO_STAMP_SIZE) {
		const char *record, *digest;

		(void)proto_stamp_read((const char *)data, a, &record, &digest);
	}
	return 0;
}
