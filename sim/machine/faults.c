#include "sim/machine/faults.h"

#include <string.h>
#include "base/str.h"
#include "base/data/yaml.h"

const char *const sim_fault_whens[] = {"POST",	 "Agent", "Node",    "inspect", "wipe",
				       "verify", "write", "Request", NULL};

static const struct kind {
	const char *name;
	/* Range of the fault's value; 0 and 0: the fault has no value. */
	int64_t min, max;
} kinds[] = {
	{"PowerLie", 0, 0},	  {"PowerSlow", 1, 3600},  {"BmcStatus", 400, 599},
	{"BmcHang", 0, 0},	  {"BmcGarbage", 0, 0},	   {"SessionsFull", 0, 0},
	{"TaskFails", 0, 0},	  {"Async", 0, 0},	   {"EtagAlways412", 0, 0},
	{"EtagRequired", 0, 0},	  {"MediaVanishes", 0, 0}, {"BootsDisk", 0, 0},
	{"NoKubelet", 0, 0},	  {"PullDrive", 0, 0},	   {"DriveUnreadable", 0, 0},
	{"WipeFails", 0, 0},	  {"AgentSilent", 0, 0},   {"Reboot", 0, 0},
	{"PortLie", 0, 0},	  {"WrongUUID", 0, 0},	   {"RetryAfter", 1, 3600},
	{"SwappedUUID", 0, 0},	  {"BmcSlow", 1, 60},	   {"PasswordChange", 0, 0},
	{"LoginMoved", 301, 308}, {"DriveLies", 0, 0},	   {"AgentVersion", 0, 0},
	{"TokenRefused", 0, 0},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *name_of(const void *table, size_t size, size_t i)
{
	return *(const char *const *)((const char *)table + i * size);
}

/* Sets the error that the value `got` of a member is not permitted; the text lists the permitted
 * names, as many as fit. Returns -1. */
static int not_among(struct err *e, size_t i, const char *member, const char *got,
		     const void *table, size_t size, size_t n)
{
	char list[200] = "";
	size_t at = 0;

	for (size_t k = 0; k < n && at + strlen(name_of(table, size, k)) + 3 < sizeof(list); k++) {
		str_format(list + at, sizeof(list) - at, "%s%s", k ? " " : "",
			   name_of(table, size, k));
		at += strlen(list + at);
	}
	return err_set(e, ERR_INVALID, 0,
		       "faults[%zu].%s: \"%.24s\" is not one of "
		       "%s",
		       i, member, got, list);
}

static int text(const json_t *row, size_t i, const char *name, struct arena *a, const char **out,
		struct err *e)
{
	const json_t *j = json_object_get(row, name);

	if (!j)
		return 0;
	if (!json_is_string(j) || !json_string_length(j) || json_string_length(j) > 253)
		return err_set(e, ERR_INVALID, 0,
			       "faults[%zu].%s: want text of 1 to 253 "
			       "bytes",
			       i, name);
	*out = arena_strdup(a, json_string_value(j));
	return 0;
}

static int whole(const json_t *row, size_t i, const char *name, int64_t min, int64_t max,
		 int64_t *out, struct err *e)
{
	const json_t *j = json_object_get(row, name);

	if (!j)
		return 0;
	if (!json_is_integer(j) || json_integer_value(j) < min || json_integer_value(j) > max)
		return err_set(e, ERR_INVALID, 0, "faults[%zu].%s: want %lld to %lld", i, name,
			       (long long)min, (long long)max);
	*out = json_integer_value(j);
	return 0;
}

static int check_members(const json_t *row, size_t i, struct err *e)
{
	static const char *const known[] = {"machine", "when",	      "what",
					    "count",   "probability", "value"};
	const char *name;
	json_t *v;

	if (!json_is_object(row))
		return err_set(e, ERR_INVALID, 0, "faults[%zu]: want an object", i);
	json_object_foreach ((json_t *)row, name, v) {
		bool found = false;

		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			found = found || str_eq(name, known[k]);
		if (!found)
			return err_set(e, ERR_INVALID, 0,
				       "faults[%zu].%.40s: want machine, when, what, count, "
				       "probability or value",
				       i, name);
	}
	return 0;
}

static int check_what(const struct sim_fault *f, size_t i, bool has_value, struct err *e)
{
	const struct kind *k = kinds;

	for (; k < kinds + KINDS && !str_eq(k->name, f->what); k++)
		;
	if (k == kinds + KINDS)
		return not_among(e, i, "what", f->what, kinds, sizeof(kinds[0]), KINDS);
	if (!k->max)
		return has_value ? err_set(e, ERR_INVALID, 0, "faults[%zu].value: %s has no value",
					   i, f->what)
				 : 0;
	if (!has_value || f->value < k->min || f->value > k->max)
		return err_set(e, ERR_INVALID, 0, "faults[%zu].value: %s needs %lld to %lld", i,
			       f->what, (long long)k->min, (long long)k->max);
	return 0;
}

static int read_row(const json_t *row, size_t i, struct arena *a, struct sim_fault *f,
		    struct err *e)
{
	const json_t *p = json_object_get(row, "probability");
	const size_t n = sizeof(sim_fault_whens) / sizeof(sim_fault_whens[0]) - 1;

	f->probability = 1;
	if (check_members(row, i, e) < 0 || text(row, i, "machine", a, &f->machine, e) < 0 ||
	    text(row, i, "when", a, &f->when, e) < 0 || text(row, i, "what", a, &f->what, e) < 0 ||
	    whole(row, i, "count", 1, INT32_MAX, &f->count, e) < 0 ||
	    whole(row, i, "value", 0, INT32_MAX, &f->value, e) < 0)
		return -1;
	if (!f->machine || !f->what)
		return err_set(e, ERR_INVALID, 0, "faults[%zu]: want at least machine and what", i);
	if (f->when && !str_among(f->when, sim_fault_whens))
		return not_among(e, i, "when", f->when, sim_fault_whens, sizeof(sim_fault_whens[0]),
				 n);
	if (p) {
		f->probability = json_number_value(p);
		if (!json_is_number(p) || f->probability < 0 || f->probability > 1)
			return err_set(e, ERR_INVALID, 0, "faults[%zu].probability: want 0 to 1",
				       i);
	}
	return check_what(f, i, json_object_get(row, "value") != NULL, e);
}

int sim_faults_read(const char *yaml, size_t len, struct arena *a, struct sim_faults *out,
		    struct err *e)
{
	OWN_JSON top = yaml_parse(yaml, len, e);
	struct sim_faults all = {0};
	json_t *rows;

	if (!top)
		return -1;
	rows = json_object_get(top, "faults");
	if (!json_is_array(rows) || json_object_size(top) != 1)
		return err_set(e, ERR_INVALID, 0, "want one member, faults, that is a list");
	all.n = json_array_size(rows);
	all.v = arena_calloc(a, all.n + 1, sizeof(*all.v));
	for (size_t i = 0; i < all.n; i++)
		if (read_row(json_array_get(rows, i), i, a, &all.v[i], e) < 0)
			return -1;
	*out = all;
	return 0;
}
