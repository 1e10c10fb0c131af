#include <stdlib.h>
#include <string.h>
#include "api/auditlog.h"
#include "base/arena.h"

/*
 * Checks the lines of the input as an audit log; an empty line begins a new input. Asserts that a
 * good log has no gap, that a fault has a text, and that an entry that decodes can be encoded.
 */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static void add_line(struct audit_check *c, const char *line, size_t len)
{
	OWN(arena) a = arena_new();
	struct audit_entry entry = {0};
	char digest[CRYPTO_DIGEST_TEXT];
	struct err e;
	OWN_JSON j = json_parse(line, len, &e);

	if (!j || !audit_check_add(c, j) ||
	    fields_decode(audit_entry_fields, j, NULL, &entry, a, &e) < 0)
		return;
	OWN_JSON again = audit_entry_encode(&entry);
	must(strlen(audit_entry_digest(again, digest)) == CRYPTO_DIGEST_TEXT - 1);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	OWN(audit_check) c = audit_check_new();
	const char *at = (const char *)data, *end = at + size;
	struct audit_verdict v;

	audit_check_input(c, "input");
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		if (stop == at)
			audit_check_input(c, "next");
		else
			add_line(c, at, (size_t)(stop - at));
		at = stop + 1;
	}
	v = audit_check_run(c);
	must(v.fault >= AUDIT_GOOD && v.fault <= AUDIT_REORDERED);
	must((v.fault == AUDIT_GOOD) == !v.text[0]);
	if (v.fault == AUDIT_GOOD && v.entries)
		must((uint64_t)v.last - (uint64_t)v.first + 1 == v.entries);
	return 0;
}
