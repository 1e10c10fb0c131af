#include "api/tables.h"

/*
 * burstpolicy: the kind BurstPolicy: when, where and for how much money to go to a cloud.  Nothing acts on one yet: the
 * kind is there so that whoever applies one is told.
 * Tests: tests/unit/api/test_kinds.c
 */
static const struct field status_fields[] = {
	CONDITIONS_ROW(burst_policy_status, "Valid."),
	FIELDS_END,
};

const struct field burst_policy_fields[] = {
	META_ROW(burst_policy),
	FIELD_REFUSED("spec", .required = true, .doc = "What is wanted."),
	FIELD_OBJ(burst_policy, status, "status", status_fields, .doc = "What is."),
	FIELDS_END,
};

const struct object_column burst_policy_columns[] = {
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{NULL, NULL, NULL, 0},
};

int burst_policy_check(const void *object, const void *old, struct err *e)
{
	(void)object;
	(void)old;
	(void)e;
	return 0;
}
