#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "redfish/drive_list.h"

/*
 * Reads the drives that the BMC lists, through the links of the System (DSP0268: Storage, Drive,
 * Volume, SimpleStorage):
 *
 *   System -> Storage -> each Storage -> Drives -> each Drive -> the Volumes that it is part of
 *   System -> SimpleStorage -> each, if there was no Drive: models and sizes, no serial numbers
 *
 * The Manager is read first, because its firmware version decides whether Storage is requested at
 * all (unless_firmware), and a version that was read for the previous tenancy may be outdated.
 *
 * Some BMCs need forty requests for the list, at seconds each: an operation sends a few of them and
 * ends with `more`, and the next one continues. A resource that the BMC does not serve
 * (rf_is_lacking()) is skipped and reported once for the whole list; a resource without a reply is
 * requested again by the next operation. A drive in a volume that is not served is left out,
 * because the machine sees only the volume, whose identity is then unknown.
 *
 * Tests: tests/unit/redfish/test_drives.c, tests/unit/redfish/test_captures.c
 */
#define STEPS 8 /* Maximum number of requests in one operation. */

static void next(struct redfish *r);

static void push_links(struct redfish *r, enum drive_node node, const json_t *links)
{
	struct err ignored;

	for (size_t i = json_array_size(links); i > 0; i--)
		rf_drives_push(r->drives, node, rf_link(r, json_array_get(links, i - 1), &ignored));
}

static void push_page(struct redfish *r, enum drive_node node, const json_t *j, const char *member)
{
	char name[64];
	struct err ignored;

	str_format(name, sizeof(name), "%s@odata.nextLink", member);
	rf_drives_push(r->drives, node, rf_link(r, json_object_get(j, name), &ignored));
}

/* --- facts about a drive ---------------------------------------------------------------------- */

/* Returns a copy of the text member, owned by s; NULL: not reported, or not fit for display. */
static const char *text_at(struct rf_drives *s, const json_t *o, const char *member)
{
	const char *v = json_string_value(json_object_get(o, member));
	char *copy;
	size_t len;

	if (!rf_text_ok(v))
		return NULL;
	v += strspn(v, " ");
	copy = arena_strdup(s->strings, v);
	for (len = strlen(copy); len > 0 && copy[len - 1] == ' '; len--)
		copy[len - 1] = '\0';
	return *copy ? copy : NULL;
}

/* Returns the first globally unique name of a drive or volume (Resource.Identifier); NULL: none. */
static const char *durable(struct rf_drives *s, const json_t *o)
{
	const json_t *list = json_at(o, "Identifiers");
	const char *v;
	json_t *i;
	size_t k;

	json_array_foreach (list, k, i) {
		v = text_at(s, i, "DurableName");
		if (v)
			return v;
	}
	return NULL;
}

static int64_t bytes_at(const json_t *o)
{
	const json_t *v = json_object_get(o, "CapacityBytes");

	return json_is_integer(v) && json_integer_value(v) > 0 ? json_integer_value(v) : 0;
}

/* True if the Drive resource only describes an empty bay. */
static bool is_absent(const json_t *o)
{
	return str_eq(json_str_at(o, "Status", "State"), "Absent");
}

static size_t volume_at(struct redfish *r,
			char *path /* Takes ownership of path; NULL: no volume. */)
{
	struct rf_drives *s = r->drives;

	for (size_t i = 0; path && i < s->nvolumes; i++)
		if (str_eq(s->volumes[i].path, path)) {
			free(path);
			return i + 1;
		}
	if (!path || s->nvolumes == RF_DRIVES_MAX) {
		free(path);
		return 0;
	}
	s->volumes[s->nvolumes].path = path;
	rf_drives_push(s, VOLUME, mem_strdup(path));
	return ++s->nvolumes;
}

static void on_a_drive(struct redfish *r, const json_t *j)
{
	struct rf_drives *s = r->drives;
	const json_t *place = json_at(j, "PhysicalLocation", "PartLocation");
	struct redfish_drive *d = &s->drives[s->ndrives];
	struct err ignored;

	if (s->ndrives == RF_DRIVES_MAX || is_absent(j))
		return;
	*d = (struct redfish_drive){
		.serial = text_at(s, j, "SerialNumber"),
		.model = text_at(s, j, "Model"),
		.durable = durable(s, j),
		.slot = text_at(s, place, "ServiceLabel"),
		.bytes = bytes_at(j),
	};
	if (!d->slot)
		d->slot = text_at(s, j, "Name");
	s->volume_of[s->ndrives++] = volume_at(
		r, rf_link(r, json_array_get(json_at(j, "Links", "Volumes"), 0), &ignored));
}

static struct rf_volume *volume_of(struct rf_drives *s, const char *path)
{
	for (size_t i = 0; i < s->nvolumes; i++)
		if (str_eq(s->volumes[i].path, path))
			return &s->volumes[i];
	return NULL;
}

/* Records name and size of the volume. Skips a volume that is no array: a raw device, or RAIDType
 * None. */
static void on_a_volume(struct redfish *r, const char *path, const json_t *j)
{
	struct rf_drives *s = r->drives;
	struct rf_volume *v = volume_of(s, path);
	const char *type = json_str_at(j, "RAIDType"), *kind = json_str_at(j, "VolumeType");

	if (str_eq(kind, "RawDevice") || str_eq(type, "None"))
		return;
	if (v)
		v->of = (struct redfish_volume){
			.name = str_or(text_at(s, j, "Name"), "a volume"),
			.durable = durable(s, j),
			.bytes = bytes_at(j),
		};
}

static void on_a_simple(struct redfish *r, const json_t *j)
{
	struct rf_drives *s = r->drives;
	json_t *d;
	size_t i;

	json_array_foreach (json_at(j, "Devices"), i, d)
		if (s->ndrives < RF_DRIVES_MAX && !is_absent(d) && bytes_at(d) > 0)
			s->drives[s->ndrives++] =
				(struct redfish_drive){.model = text_at(s, d, "Model"),
						       .slot = text_at(s, d, "Name"),
						       .bytes = bytes_at(d)};
}

/* --- the search ------------------------------------------------------------------------------- */

/* Records that the BMC does not serve the resource at path. A resource that has disappeared since a
 * collection listed it (404, 410) does not count, because it is no longer part of the list. The
 * Manager does not count either, because only its firmware version is needed. */
static void on_lacking(struct rf_drives *s, enum drive_node node, const char *path,
		       const struct rf_reply *p)
{
	bool is_gone = p->status == 404 || p->status == 410;
	struct rf_volume *v = node == VOLUME && !is_gone ? volume_of(s, path) : NULL;

	if (v)
		v->lacking = true;
	if (node == MANAGER || (is_gone && node != COLLECTION) || s->lacks.kind != ERR_NONE)
		return;
	s->lacks = p->err;
	s->lacks.kind = ERR_UNSUPPORTED;
	s->lacks.code = p->status;
	s->simple = node == COLLECTION;
}

/* Skips Storage as if the BMC did not serve it, because the firmware version is the one in the
 * argument unless_firmware of redfish_read_drives(). SimpleStorage is still read. */
static void pass_over(struct rf_drives *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->todo[i].path);
	s->n = 0;
	s->simple = true;
	err_note(&s->lacks, ERR_UNSUPPORTED, 0,
		 "not asked: a BMC of this firmware version does not list its drives");
	s->lacks.scope = ERR_MACHINE;
}

static void on_look(struct redfish *r, const struct rf_reply *p)
{
	struct rf_drives *s = r->drives;
	const json_t *j = p->json;
	enum drive_node node;
	char *path;

	if (!s) {
		/* The partial list was discarded, because the service root was read again since the
		 * last call. Fail, so that the next call starts a new list. */
		rf_fail_as(r, ERR_UNAVAILABLE, "the list of drives has to be read again");
		return;
	}
	node = s->todo[s->n - 1].node;
	if (p->status == 0 || (p->err.kind != ERR_NONE && !rf_is_lacking(p) && node != MANAGER)) {
		rf_fail(r, &p->err); /* The path stays in s->todo; the next call reads it again. */
		return;
	}
	s->n--;
	path = s->todo[s->n].path;
	s->looks++;
	if (p->err.kind != ERR_NONE) {
		on_lacking(s, node, path, p);
	} else {
		switch (node) {
		case COLLECTION:
			push_page(r, COLLECTION, j, "Members");
			push_links(r, STORAGE, json_at(j, "Members"));
			break;
		case STORAGE:
			push_links(r, DRIVE, json_at(j, "Drives"));
			break;
		case DRIVE:
			on_a_drive(r, j);
			break;
		case VOLUME:
			on_a_volume(r, path, j);
			break;
		case SIMPLES:
			push_page(r, SIMPLES, j, "Members");
			push_links(r, SIMPLE, json_at(j, "Members"));
			break;
		case SIMPLE:
			on_a_simple(r, j);
			break;
		case MANAGER:
			rf_learn_manager(r, j);
			break;
		}
	}
	free(path);
	if (node == MANAGER && p->err.kind == ERR_NONE && r->op->unless_firmware &&
	    str_eq(str_or(r->firmware, ""), r->op->unless_firmware))
		pass_over(s);
	next(r);
}

static void finish(struct redfish *r)
{
	struct rf_drives *s = r->drives;
	struct redfish_drives out = {.v = s->drives,
				     .simple = s->simple,
				     .lacks = s->lacks.kind == ERR_NONE ? NULL : &s->lacks};

	for (size_t i = 0; i < s->ndrives; i++) {
		const struct rf_volume *v =
			s->volume_of[i] ? &s->volumes[s->volume_of[i] - 1] : NULL;
		struct redfish_drive *d = &s->drives[out.n];

		if (v && v->lacking)
			continue;
		*d = s->drives[i];
		d->volume = v && v->of.name ? &v->of : NULL;
		out.n++;
	}
	r->drives = NULL;
	r->op->listed = s;
	if (out.lacks && !out.n)
		rf_fail(r, out.lacks);
	else
		rf_end(r, &out);
}

static void next(struct redfish *r)
{
	struct rf_drives *s = r->drives;
	struct redfish_drives more = {.more = true};

	if (!s->n && !s->ndrives && s->simples)
		rf_drives_push(s, SIMPLES, give(s->simples));
	if (!s->n)
		finish(r);
	else if (r->op->steps++ == STEPS)
		rf_end(r, &more);
	else
		rf_get(r, mem_strdup(s->todo[s->n - 1].path), on_look);
}

static void on_system(struct redfish *r, const struct rf_reply *p)
{
	struct err ignored;

	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	if (!rf_learn_system(r, p))
		return;
	rf_drives_free(r->drives);
	r->drives = mem_new(struct rf_drives);
	r->drives->strings = arena_new();
	rf_drives_push(r->drives, COLLECTION, rf_link(r, json_at(p->json, "Storage"), &ignored));
	r->drives->simples = rf_link(r, json_at(p->json, "SimpleStorage"), &ignored);
	rf_drives_push(r->drives, MANAGER, mem_strdup(r->managers[0]));
	next(r);
}

void rf_drives_read(struct redfish *r)
{
	if (r->drives)
		next(r);
	else
		rf_get(r, mem_strdup(r->system_path), on_system);
}
