#include "api/tables.h"

/*
 * wiperecord: field table and checks of the kind WipeRecord: the signed evidence of one wipe
 * attempt.
 * Tests: tests/unit/api/test_kinds.c
 */

static const struct field record_spec_fields[] = {
	EVIDENCE_ROWS(wipe_record_spec, evidence),
	FIELD(wipe_record_spec, envelope, "envelope", FIELD_STR, .required = true,
	      .max_len = 524288,
	      .doc = "Signed evidence (DSSE envelope, base64). The envelope is authoritative; "
		     "the other fields of spec are a copy for reading and are compared with it."),
	FIELDS_END,
};
static const struct field_rule record_spec_rules[] = {
	{"self == oldSelf", "a WipeRecord is immutable"},
	{"!has(self.startTime) || !has(self.endTime) || self.startTime <= self.endTime",
	 "endTime must not be before startTime"},
	{NULL, NULL},
};

const struct field wipe_record_fields[] = {
	META_ROW(wipe_record),
	FIELD_OBJ(wipe_record, spec, "spec", record_spec_fields, .required = true,
		  .rules = record_spec_rules,
		  .doc = "What was wiped and how, and the result. Immutable."),
	FIELDS_END,
};

const struct object_column wipe_record_columns[] = {
	{"Machine", "string", ".spec.machine.name", 0},
	{"Tenancy", "integer", ".spec.tenancy", 0},
	{"Attempt", "integer", ".spec.attempt", 0},
	{"Verdict", "string", ".spec.verdict", 0},
	{"Trust", "string", ".spec.agentTrust", 0},
	{"Cluster", "string", ".spec.virtualCluster.name", 1},
	{"Ended", "date", ".spec.endTime", 1},
	{NULL, NULL, NULL, 0},
};

int wipe_record_check(const void *object, const void *old, struct err *e)
{
	const struct wipe_record *r = object, *o = old;

	if (r->spec.evidence.end_time && r->spec.evidence.end_time < r->spec.evidence.start_time)
		return err_set(e, ERR_INVALID, 0, "spec.endTime: must not be before startTime");
	return o ? object_same(record_spec_fields, &r->spec, &o->spec, "spec", e) : 0;
}
