#ifndef CONTROLLER_EXPLAIN_NEED_H
#define CONTROLLER_EXPLAIN_NEED_H

#include "api/kinds.h"

/*
 * need: decides whether a drover object needs help, and from whom, from its explanation
 * (controller/explain/explain.h). `drover why` without a name and GET /v1/attention of the view
 * list the objects that need help.
 * Tests: tests/unit/controller/explain/test_need.c, tests/unit/cli/test_why.c,
 * tests/unit/controller/view/test_attention.c
 */

/* What an object needs, the most urgent first. NEED_TENANT: a change by the tenant, only for pods;
 * no object of drover has it. */
enum need {
	NEED_OPERATOR,
	NEED_LATE,
	NEED_SLOW,
	NEED_TENANT,
	NEED_WAITS,
	NEED_HELD,
	NEEDS,
	NEED_NONE = NEEDS
};

/* Returns the name of a need in JSON ("Person"). need < NEEDS. */
const char *need_name(enum need need);
/* Returns the need with this name; NEED_NONE: none has it. */
enum need need_find(const char *name);

/* Returns what an object needs. answer: its explanation, with member kind. now: wall ms. */
enum need need_of(const json_t *answer, int64_t now);

/* Times in ms after which a waiting pod needs attention: for a reason that only a change by the
 * tenant or an operator ends, and for any other reason. */
#define NEED_POD_CHANGE_MS INT64_C(600000)
#define NEED_POD_QUEUE_MS INT64_C(3600000)
/* Returns what a waiting pod needs. reason, claim: as in status.waiting of its tenant. since: wall
 * ms since when it waits for this reason. p90: wall ms by which nine of ten such pods are served;
 * 0: unknown. now: wall ms. */
enum need need_of_pod(const char *reason, const char *claim, int64_t since, int64_t p90,
		      int64_t now);

/* Returns the explanation of an object that needs help, owned by the caller, and sets *need. *why
 * becomes the member of the explanation that has `reason` and `message`; NULL: the object's state
 * itself is the reason. Returns NULL if the object needs nothing, and for a claim with a machine,
 * because the machine is explained itself. object: the decoded object. now: wall ms. */
json_t *need_explain(enum object_kind_id kind, const void *object, int64_t now, enum need *need,
		     const json_t **why);
/* True if what the object needs may change by time alone, without a change of the object. */
bool need_depends_on_time(enum object_kind_id kind, const void *object);

#endif
