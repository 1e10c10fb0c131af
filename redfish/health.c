/*
 * health: reads what the System reports about its parts, from the System resource that each
 * observation reads anyway.
 *
 * Status.HealthRollup covers all parts, Status.Health only the System itself. The failing part is
 * named in Status.Conditions, in the summaries (MemorySummary), or in a vendor's list
 * (Oem.Hpe.AggregateHealthStatus): every object in the document with its own Status is examined,
 * under the name of its member.
 * Tests: tests/unit/redfish/test_health.c
 */
#include "redfish/internal.h"

#include <string.h>

#include "base/redact.h"
#include "base/str.h"

#define DEPTH 5
#define NAMED 3

struct named {
	char *text;
	size_t size, n, len;
	/* Severity of the parts to report: Critical, or Warning if no part is critical. */
	const char *worst;
};

static const char *health_of(const json_t *o)
{
	const json_t *status = json_object_get(o, "Status");
	const char *s = json_string_value(json_object_get(status, "HealthRollup"));

	return s ? s : json_string_value(json_object_get(status, "Health"));
}

static void name(struct named *n, const char *what, const char *is)
{
	if (n->n++ >= NAMED || n->len + 8 > n->size)
		return;
	str_format(n->text + n->len, n->size - n->len, "%s%.60s%s%s", n->len ? ", " : "", what,
		   *is ? " " : "", is);
	n->len += strlen(n->text + n->len);
}

/* Collects the failing parts in object o and in the objects within it. Skips elements of arrays:
 * disks and DIMMs are resources of their own. */
static void walk(struct named *n, const json_t *o, int depth)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)o, key, v) {
		if (!json_is_object(v) || str_eq(key, "Status"))
			continue;
		if (str_eq(health_of(v), n->worst) && rf_text_ok(key))
			name(n, key, n->worst);
		else if (depth < DEPTH)
			walk(n, v, depth + 1);
	}
}

static void conditions(struct named *n, const json_t *system)
{
	const json_t *list = json_at(system, "Status", "Conditions"), *c;
	size_t i;

	json_array_foreach (list, i, c) {
		const char *text = json_string_value(json_object_get(c, "Message"));

		if (str_eq(json_string_value(json_object_get(c, "Severity")), "Critical") &&
		    rf_text_ok(text))
			name(n, text, "");
	}
}

void rf_health_read(const json_t *system, struct redfish_system *s)
{
	const char *health = health_of(system);
	char parts[sizeof(s->fault) - 40] = "";
	struct named n = {.text = parts, .size = sizeof(parts), .worst = "Critical"};

	s->fault[0] = '\0';
	s->health_reported =
		str_eq(health, "OK") || str_eq(health, "Warning") || str_eq(health, "Critical");
	if (!str_eq(health, "Critical"))
		return;
	conditions(&n, system);
	walk(&n, system, 1);
	if (!n.n) {
		n.worst = "Warning";
		walk(&n, system, 1);
	}
	str_format(s->fault, sizeof(s->fault), "the BMC reports Critical%s%s",
		   n.n ? ": " : ", but not for which part", parts);
	str_clean(s->fault);
	redact(s->fault);
}
