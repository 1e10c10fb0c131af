#include "cli/waive.h"

#include "base/loop/loop.h"
#include "base/str.h"
#include "cli/caller.h"

/* Begins the list with the entries that wipe records may still have to repeat
 * (controller/life/wipe_attempt.c). */
static void begin(struct waive *w)
{
	const int64_t tenancy = json_int_at(w->machine, "status", "tenancy");
	json_t *v;
	size_t i;

	w->list = json_array();
	json_array_foreach (json_at(w->machine, "spec", "waivers"), i, v)
		if (json_int_at(v, "tenancy") >= tenancy - 1)
			json_array_append(w->list, v);
}

int waive_add(struct waive *w, enum evidence_waived what, const char *wwn, const char *serial)
{
	struct err e;
	const char *by = cli_caller(w->c, w->a, &e);
	char at[STR_TIME_SIZE];

	if (!by)
		return cli_failed(
			w->c, "cannot read your user name, which spec.waivers records: %s", e.text);
	if (!w->list)
		begin(w);
	if (json_array_size(w->list) == EVIDENCE_WAIVERS_MAX)
		return cli_failed(w->c,
				  "spec.waivers would have more than %d entries; nothing was "
				  "changed. Have the machine wiped first: drover approve %s --wipe",
				  EVIDENCE_WAIVERS_MAX,
				  json_str_at(w->machine, "metadata", "name"));
	json_array_append_new(w->list, json_pack("{s:s, s:s*, s:s*, s:s, s:s, s:s*, s:I}", "what",
						 evidence_waived_names[what], "wwn",
						 str_empty(wwn) ? NULL : wwn, "serialNumber",
						 str_empty(serial) ? NULL : serial, "by", by, "at",
						 str_time(at, loop_wall(w->c->loop)), "reason",
						 str_empty(w->reason) ? NULL : w->reason, "tenancy",
						 (json_int_t)w->tenancy));
	return 0;
}

int waive_all(struct waive *w, enum evidence_waived what)
{
	const json_t *drives = json_at(w->machine, "spec", "drives");
	json_t *d;
	size_t i;

	if (!json_array_size(drives))
		return waive_add(w, what, NULL, NULL);
	json_array_foreach (drives, i, d)
		if (waive_add(w, what, json_str_at(d, "wwn"), json_str_at(d, "serialNumber")))
			return 1;
	return 0;
}

void waive_put(struct waive *w, json_t *spec)
{
	if (w->list)
		json_object_set_new(spec, "waivers", w->list);
	w->list = NULL;
}
