/*
 * auditsegment: field table and checks of the kind AuditSegment.
 * Tests: tests/unit/api/test_kinds.c
 */
#include <stdio.h>

#include "api/tables.h"
#include "base/crypto.h"

static const struct field_rule entries_rules[] = {
	{"oldSelf.all(e, e in self)", "entries must not be removed or changed"},
	{NULL, NULL},
};

static const struct field spec_fields[] = {
	FIELD(audit_segment_spec, number, "number", FIELD_I64, .required = true, .immutable = true,
	      .min = 1, .max = AUDIT_NUMBER_MAX, .doc = "Number of the segment, counted from 1."),
	FIELD_ITEMS(audit_segment_spec, entries, "entries", audit_entry_fields, .required = true,
		    .max_items = AUDIT_SEGMENT_ENTRIES, .list_key = "seq", .rules = entries_rules,
		    .doc = "Entries in the order of their sequence numbers."),
	FIELDS_END,
};

const struct field audit_segment_fields[] = {
	META_ROW(audit_segment),
	FIELD_OBJ(audit_segment, spec, "spec", spec_fields, .required = true,
		  .doc = "Entries of the audit log. drover only appends to them."),
	FIELDS_END,
};

const struct object_column audit_segment_columns[] = {
	{"Number", "integer", ".spec.number", 0},
	{"First", "integer", ".spec.entries[0].seq", 0},
	{"Begun", "date", ".spec.entries[0].time", 0},
	{NULL, NULL, NULL, 0},
};

bool audit_newest_parse(const char *text, struct audit_newest *out)
{
	uint8_t digest[CRYPTO_SHA256];
	long long number, seq;
	int at = 0;

	*out = (struct audit_newest){0};
	if (!text || sscanf(text, "%lld %lld %n", &number, &seq, &at) != 2 || !at || number < 1 ||
	    number > AUDIT_NUMBER_MAX || seq < 1 || seq > AUDIT_NUMBER_MAX ||
	    !crypto_digest_parse(text + at, digest))
		return false;
	out->number = number;
	out->seq = seq;
	crypto_digest_text(digest, out->digest);
	return true;
}

int audit_segment_check(const void *object, const void *old, struct err *e)
{
	const struct audit_segment *s = object, *o = old;
	char path[32], name[64];

	if (o && s->spec.number != o->spec.number)
		return err_set(e, ERR_INVALID, 0, "spec.number: is immutable");
	str_format(name, sizeof(name), AUDIT_SEGMENT_NAME, (long long)s->spec.number);
	if (!str_eq(s->meta.name, name))
		return err_set(e, ERR_INVALID, 0, "spec.number: is not the number in the name %s",
			       str_or(s->meta.name, ""));
	if (!o)
		return 0;
	if (s->spec.entries.n < o->spec.entries.n)
		return err_set(e, ERR_INVALID, 0, "spec.entries: must not be removed");
	for (size_t i = 0; i < o->spec.entries.n; i++) {
		str_format(path, sizeof(path), "spec.entries[%zu]", i);
		if (object_same(audit_entry_fields, &s->spec.entries.v[i], &o->spec.entries.v[i],
				path, e) < 0)
			return -1;
	}
	return 0;
}
