#include "controller/rules/kept_bills.h"

#include <stdlib.h>
#include <string.h>
#include "api/kinds.h"
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/rules/ledger.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)

void kept_bills_name(int i, char out[static KEPT_BILLS_NAME])
{
	str_format(out, KEPT_BILLS_NAME, "drover-bills-%x", (unsigned)i % KEPT_BILLS);
}

int kept_bills_of(const char *uid)
{
	unsigned sum = 0;

	for (; *uid; uid++)
		sum += (unsigned char)*uid;
	return (int)(sum % KEPT_BILLS);
}

/* Returns the time up to which the bill is complete (status.cost.time), in wall ms; 0 if the bill
 * is unreadable, so that an unreadable bill counts as the oldest. */
static int64_t time_of(const char *bill)
{
	OWN_JSON o = json_loads(bill, 0, NULL);
	const char *text = json_str_at(o, "status", "cost", "time");
	int64_t t;

	return text && str_to_time(text, &t) ? t : 0;
}

static char *bill_of(const struct virtual_cluster *vc, int64_t now, struct arena *a)
{
	const struct virtual_cluster_charges none = {0};
	struct virtual_cluster_cost cost = ledger_at(vc->status.cost, now, a);
	struct virtual_cluster out = {.meta = {.name = vc->meta.name, .uid = vc->meta.uid}};
	OWN_JSON all = NULL, *bill = NULL;
	char *text, *copy;

	(void)ledger_hold(&cost, &none, a);
	out.status.cost = &cost;
	all = fields_encode(object_kinds[OBJECT_VIRTUAL_CLUSTER].fields, &out);
	bill = json_pack("{s:{s:s, s:s}, s:O}", "metadata", "name", vc->meta.name, "uid",
			 vc->meta.uid, "status", json_object_get(all, "status"));
	text = json_dumps(bill, JSON_COMPACT | JSON_SORT_KEYS);
	copy = arena_strdup(a, text);
	free(text);
	return copy;
}

json_t *kept_bills_patch(const json_t *data, const struct virtual_cluster *vc, int64_t now,
			 struct arena *a, size_t *dropped)
{
	const char *bill = bill_of(vc, now, a), *uid;
	OWN_JSON left = data ? json_deep_copy(data) : json_object();
	json_t *patch = json_object(), *v;
	size_t size = strlen(bill);
	void *next;

	*dropped = 0;
	json_object_del(left, vc->meta.uid);
	json_object_foreach_safe(left, next, uid, v)
	{
		if (time_of(str_or(json_string_value(v), "")) < now - LEDGER_MONTHS * 31 * DAY_MS) {
			json_object_set_new(patch, uid, json_null());
			json_object_del(left, uid);
		} else {
			size += json_string_length(v);
		}
	}
	while (size > KEPT_BILLS_MAX && json_object_size(left)) {
		int64_t oldest = INT64_MAX;
		const char *which = NULL;

		json_object_foreach (left, uid, v) {
			const int64_t t = time_of(str_or(json_string_value(v), ""));

			which = !which || t < oldest ? uid : which;
			oldest = t < oldest ? t : oldest;
		}
		size -= json_string_length(json_object_get(left, which));
		json_object_set_new(patch, which, json_null());
		json_object_del(left, which);
		++*dropped;
	}
	json_object_set_new(patch, vc->meta.uid, json_string(bill));
	return patch;
}

#define FIRST "status.cost.charges[0]"

/* Returns a copy of cost, owned by the caller, without the charges that cannot be decoded. Calls
 * on_unread() for each charge left out. */
static json_t *readable(const json_t *cost, struct arena *a,
			void (*on_unread)(const struct err *e, void *arg), void *arg)
{
	json_t *out = json_deep_copy(cost), *charges = json_object_get(out, "charges"),
	       *good = json_array(), *x;
	size_t i;

	json_array_foreach (charges, i, x) {
		OWN_JSON one = json_deep_copy(cost);
		struct virtual_cluster_cost ignored;
		struct err e, wrong;

		json_object_set_new(one, "charges", json_pack("[O]", x));
		if (fields_decode(virtual_cluster_cost_fields, one, "status.cost", &ignored, a,
				  &e) == 0) {
			json_array_append(good, x);
			continue;
		}
		/* The error names the only charge in `one`. */
		if (str_starts(e.text, FIRST))
			err_note(&wrong, e.kind, e.code, "status.cost.charges[%zu]%s", i,
				 e.text + strlen(FIRST));
		on_unread(str_starts(e.text, FIRST) ? &wrong : &e, arg);
	}
	json_object_set_new(out, "charges", good);
	return out;
}

int kept_bill_cost(const json_t *cost, struct arena *a, struct virtual_cluster_cost *out,
		   void (*on_unread)(const struct err *e, void *arg), void *arg, struct err *e)
{
	OWN_JSON rest = NULL;

	if (fields_decode(virtual_cluster_cost_fields, cost, "status.cost", out, a, e) == 0)
		return 0;
	if (!json_is_array(json_at(cost, "charges")))
		return -1;
	rest = readable(cost, a, on_unread, arg);
	return fields_decode(virtual_cluster_cost_fields, rest, "status.cost", out, a, e);
}

int kept_bill_read(const char *text, struct arena *a, struct kept_bill *out,
		   void (*on_unread)(const struct err *e, void *arg), void *arg, struct err *e)
{
	OWN_JSON o = json_loads(text, 0, NULL);
	const char *name = json_str_at(o, "metadata", "name");

	*out = (struct kept_bill){.name = arena_strdup(a, name)};
	if (!name)
		return err_set(e, ERR_INVALID, 0, "not a bill");
	return kept_bill_cost(json_at(o, "status", "cost"), a, &out->cost, on_unread, arg, e);
}
