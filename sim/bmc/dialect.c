#include "sim/bmc/dialect.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"

/* --- fields of a dialect file ----------------------------------------------------------------- */

static const char *const answers[] = {"NoContent", "OK", "Task", "Nowhere", NULL};
static const char *const errors[] = {"List", "Object", "Bare", NULL};
static const char *const locations[] = {"Path", "Elsewhere", "None", NULL};
static const char *const task_ends[] = {"Well", "ExceptionOK", "Gone", NULL};
static const char *const if_matches[] = {"Checked", "Ignored", "Required", "Refused", NULL};
static const char *const etag_forms[] = {"Given", "Strong", "Any", NULL};
static const char *const places[] = {"System", "Settings", NULL};
static const char *const modes[] = {"Optional", "Required", "Refused", "Forgotten", NULL};
static const char *const bodies[] = {"Any", "Bare", "Wordy", "Named", NULL};
static const char *const eject_bodies[] = {"Any", "Object", "None", NULL};

#define MS(outer_, member_, name_, doc_)                                                           \
	FIELD_IN(sim_quirks, outer_, member_, name_, FIELD_DURATION, .min = 0, .max = 600000,      \
		 .doc = (doc_))
#define FIRST(outer_, member_, name_, names_, doc_)                                                \
	FIELD_IN(sim_quirks, outer_, member_, name_, FIELD_ENUM, .enums = (names_),                \
		 .def = FIRST_##names_, .doc = (doc_))
#define FIRST_answers "\"NoContent\""
#define FIRST_locations "\"Path\""
#define FIRST_task_ends "\"Well\""
#define FIRST_if_matches "\"Checked\""
#define FIRST_etag_forms "\"Given\""
#define FIRST_places "\"System\""
#define FIRST_modes "\"Optional\""
#define FIRST_bodies "\"Any\""
#define FIRST_eject_bodies "\"Any\""
#define STATUS(outer_, member_, name_, doc_)                                                       \
	FIELD_IN(sim_quirks, outer_, member_, name_, FIELD_I64, .min = 0, .max = 599, .doc = (doc_))

static const struct field session_fields[] = {
	FIELD_IN(sim_quirks, sessions, slots, "slots", FIELD_I64, .min = 1, .max = 16, .def = "8",
		 .doc = "Number of sessions at a time."),
	FIELD_IN(sim_quirks, sessions, timeout_ms, "timeout", FIELD_DURATION, .min = 30000,
		 .max = 86400000, .def = "\"5m\"", .doc = "Idle time after which a session ends."),
	FIELD_IN(sim_quirks, sessions, lock_after, "lockAfter", FIELD_I64, .min = 1, .max = 100,
		 .def = "5", .doc = "Wrong passwords in a row that lock an account."),
	FIELD_IN(sim_quirks, sessions, lock_ms, "lockFor", FIELD_DURATION, .min = 1000,
		 .max = 3600000, .def = "\"30s\"",
		 .doc = "Time for which the account stays "
			"locked."),
	FIRST(sessions, location, "location", locations,
	      "Location of a new session: its path, a URL on a different server, none."),
	FIELD_IN(sim_quirks, sessions, id, "id", FIELD_STR, .max_len = 32,
		 .doc = "Prefix of session ids, before the number."),
	FIELD_IN(sim_quirks, sessions, full, "full", FIELD_STR, .max_len = 64,
		 .doc = "MessageId if no session is free."),
	FIELD_IN(sim_quirks, sessions, no_basic, "noBasic", FIELD_BOOL,
		 .doc = "Basic is not accepted."),
	FIELDS_END,
};
static const struct field task_fields[] = {
	FIRST(tasks, end, "end", task_ends, "How a successful task ends."),
	FIELD_IN(sim_quirks, tasks, gone_when_heard, "goneWhenHeard", FIELD_BOOL,
		 .doc = "A task is deleted once its monitor has reported the end."),
	FIELD_IN(sim_quirks, tasks, late, "late", FIELD_I64, .min = 0, .max = 100,
		 .doc = "Number of first reads of a task that are answered 404."),
	FIELDS_END,
};
static const struct field etag_fields[] = {
	FIRST(etags, if_match, "ifMatch", if_matches, "Handling of If-Match."),
	FIRST(etags, form, "form", etag_forms, "Form in which an ETag is accepted."),
	FIELDS_END,
};
static const struct field power_fields[] = {
	FIRST(power, answer, "answer", answers, "Answer to a Reset."),
	STATUS(power, same, "same", "Status of a Reset to the present state; 0: accepted."),
	MS(power, on_busy_ms, "onBusy", "Time after power-off in which On is refused."),
	FIELD_IN(sim_quirks, power, deaf, "deaf", FIELD_I64, .min = 0, .max = 100,
		 .doc = "Number of requests for On that are accepted without effect."),
	MS(power, stale_ms, "stale", "Age of the reported PowerState."),
	FIELDS_END,
};
static const struct field boot_fields[] = {
	FIRST(boot, place, "place", places, "Resource that accepts boot overrides."),
	FIRST(boot, answer, "answer", answers, "Answer to a boot override."),
	FIRST(boot, mode, "mode", modes,
	      "Boot mode beside a target; Forgotten: becomes Legacy if it is absent."),
	FIELD_IN(sim_quirks, boot, cd, "cd", FIELD_STR, .max_len = 32,
		 .doc = "Boot target of virtual media; absent: Cd and UsbCd."),
	FIELD_IN(sim_quirks, boot, no_none, "noNone", FIELD_BOOL, .doc = "Target None is refused."),
	FIELD_IN(sim_quirks, boot, post_busy, "postBusy", FIELD_BOOL,
		 .doc = "Boot overrides are refused during POST."),
	FIELDS_END,
};
static const struct field media_fields[] = {
	FIRST(media, answer, "answer", answers, "Answer to InsertMedia and EjectMedia."),
	FIRST(media, body, "body", bodies,
	      "Body of InsertMedia. Bare: only Image; Wordy: with transfer protocol; Named: with "
	      "user."),
	FIRST(media, eject_body, "ejectBody", eject_bodies, "Body of EjectMedia."),
	FIELD_IN(sim_quirks, media, tls_only, "tlsOnly", FIELD_BOOL,
		 .doc = "URLs with plain HTTP are refused, and no property lists that."),
	FIELD_IN(sim_quirks, media, verifies, "verifies", FIELD_BOOL,
		 .doc = "Media are refused until VerifyCertificate of the slot is false."),
	STATUS(media, empty_eject, "emptyEject",
	       "Status of an eject without a medium; 0: "
	       "accepted."),
	FIELD_IN(sim_quirks, media, busy, "busy", FIELD_I64, .min = 0, .max = 100,
		 .doc = "Number of first inserts that are answered 500."),
	FIELD_IN(sim_quirks, media, flag_stays, "flagStays", FIELD_BOOL,
		 .doc = "Inserted stays true after an eject."),
	FIELD_IN(sim_quirks, media, name_stays, "nameStays", FIELD_BOOL,
		 .doc = "ImageName stays set after an eject."),
	FIELD_IN(sim_quirks, media, eject_when_in, "ejectWhenIn", FIELD_BOOL,
		 .doc = "EjectMedia is shown only while a medium is inserted."),
	MS(media, enable_ms, "enable", "Time from EnableRMedia until the slots appear."),
	FIELD_IN(sim_quirks, media, licence, "licence", FIELD_STR, .max_len = 64,
		 .doc = "MessageId of the missing licence for media."),
	FIELD_IN(sim_quirks, media, inner, "inner", FIELD_STRINGS, .max_items = SIM_TREE_SLOTS,
		 .doc = "Slots that refuse media."),
	FIELDS_END,
};
const struct field sim_quirks_fields[] = {
	FIELD(sim_quirks, latency_ms, "latency", FIELD_DURATION, .min = 0, .max = 60000,
	      .doc = "Latency of every answer."),
	FIELD(sim_quirks, first_ms, "first", FIELD_DURATION, .min = 0, .max = 60000,
	      .doc = "Additional latency of the first answer after an idle minute."),
	FIELD(sim_quirks, errors, "errors", FIELD_ENUM, .enums = errors, .def = "\"List\"",
	      .doc = "ExtendedInfo. List: a list; Object: one object; Bare: ids without a "
		     "registry."),
	FIELD(sim_quirks, storage, "storage", FIELD_I64, .min = 0, .max = 599,
	      .doc = "Status of everything below the System's Storage; 0: served."),
	FIELD(sim_quirks, baseboard_needs_host, "baseboardNeedsHost", FIELD_BOOL,
	      .doc = "Other Systems answer 503 while the host is off."),
	FIELD_OBJ(sim_quirks, sessions, "sessions", session_fields, .def = "{}"),
	FIELD_OBJ(sim_quirks, tasks, "tasks", task_fields, .def = "{}"),
	FIELD_OBJ(sim_quirks, etags, "etags", etag_fields, .def = "{}"),
	FIELD_OBJ(sim_quirks, power, "power", power_fields, .def = "{}"),
	FIELD_OBJ(sim_quirks, boot, "boot", boot_fields, .def = "{}"),
	FIELD_OBJ(sim_quirks, media, "media", media_fields, .def = "{}"),
	FIELDS_END,
};

static const struct field match_fields[] = {
	FIELD_IN(sim_dialect, match, vendor, "vendor", FIELD_STR, .max_len = 64,
		 .doc = "Glob for the service root's Vendor."),
	FIELD_IN(sim_dialect, match, oem, "oem", FIELD_STR, .max_len = 64,
		 .doc = "Glob for the name of a member of the service root's Oem."),
	FIELDS_END,
};
static const struct field dialect_fields[] = {
	FIELD(sim_dialect, about, "about", FIELD_STR, .required = true,
	      .doc = "One-line description."),
	FIELD_OBJ(sim_dialect, match, "match", match_fields,
		  .doc = "Mockups to which this "
			 "dialect applies."),
	FIELD_OBJ(sim_dialect, quirks, "quirks", sim_quirks_fields, .def = "{}",
		  .doc = "Deviations from the specification."),
	FIELDS_END,
};

/* --- built-in dialects ------------------------------------------------------------------------ */

/* Embeds the bytes of the file sim/bmc/dialects/NAME.yaml, through the assembler. */
#define DIALECT(name_)                                                                             \
	__asm__(".section .rodata\n"                                                               \
		"dialect_" #name_ ":\n.incbin \"sim/bmc/dialects/" #name_ ".yaml\"\n"              \
		"dialect_" #name_ "_end:\n.byte 0\n.previous\n");                                  \
	extern const char dialect_##name_[] __attribute__((visibility("hidden")));                 \
	extern const char dialect_##name_##_end[] __attribute__((visibility("hidden")));
#include "sim/bmc/dialects.def"
#undef DIALECT

static const struct {
	const char *name, *text, *end;
} built_in[] = {
#define DIALECT(name_) {#name_, dialect_##name_, dialect_##name_##_end},
#include "sim/bmc/dialects.def"
#undef DIALECT
};
#define BUILT_IN (sizeof(built_in) / sizeof(built_in[0]))

/* --- reading ---------------------------------------------------------------------------------- */

static json_t *parse(const char *text, size_t len, struct err *e)
{
	json_t *j = yaml_parse(text, len, e);

	if (!j || json_is_object(j))
		return j;
	json_decref(j);
	err_note(e, ERR_INVALID, 0, "want an object");
	return NULL;
}

/* Parses a dialect file. Members that the file omits are those of the built-in dialect that its
 * member `like` names. */
static json_t *parse_whole(const char *text, size_t len, struct err *e)
{
	OWN_JSON own = parse(text, len, e);
	const char *like = json_str_at(own, "like");
	OWN_JSON other = NULL;
	size_t i = 0;

	if (!like)
		return json_incref(own);
	while (i < BUILT_IN && !str_eq(built_in[i].name, like))
		i++;
	if (i == BUILT_IN) {
		err_note(e, ERR_INVALID, 0, "like: unknown dialect %.40s", like);
		return NULL;
	}
	other = parse(built_in[i].text, (size_t)(built_in[i].end - built_in[i].text), e);
	json_object_del(own, "like");
	return other ? json_merge_apply(other, own) : NULL;
}

/* Returns the dialect that a dialect file describes, in arena a. *tree: its tree, which the caller
 * must free. */
static struct sim_dialect *read_text(const char *name, const char *yaml, size_t len,
				     struct arena *a, struct sim_tree **tree, struct err *e)
{
	struct sim_dialect *d = arena_calloc(a, 1, sizeof(*d));
	OWN_JSON j = parse_whole(yaml, len, e);
	OWN_JSON resources = json_incref(json_object_get(j, "resources"));

	*tree = NULL;
	json_object_del(j, "resources");
	if (j && fields_decode_strict(dialect_fields, j, NULL, d, a, e) == 0)
		*tree = sim_tree_of(json_incref(resources), e);
	if (!*tree) {
		err_note_wrap(e, "dialect %s", name);
		return NULL;
	}
	d->name = arena_strdup(a, name);
	d->tree = *tree;
	return d;
}

static int add(struct sim_dialects *s, const struct sim_dialect *d, struct sim_tree *tree,
	       struct err *e)
{
	if (!d)
		return -1;
	if (s->n == sizeof(s->v) / sizeof(s->v[0])) {
		sim_tree_free(tree);
		return err_set(e, ERR_INVALID, 0, "at most %zu dialects in one rack", s->n);
	}
	s->v[s->n].dialect = d;
	s->v[s->n++].tree = tree;
	return 0;
}

int sim_dialects_add_text(struct sim_dialects *s, const char *name, const char *yaml, size_t len,
			  struct err *e)
{
	struct sim_tree *tree;
	const struct sim_dialect *d = read_text(name, yaml, len, s->arena, &tree, e);

	return add(s, d, tree, e);
}

const char *sim_dialect_name(size_t n)
{
	return n < BUILT_IN ? built_in[n].name : NULL;
}

static const struct sim_dialect *read_nth(size_t n, struct arena *a, struct sim_tree **tree,
					  struct err *e)
{
	return read_text(built_in[n].name, built_in[n].text,
			 (size_t)(built_in[n].end - built_in[n].text), a, tree, e);
}

int sim_dialects_add(struct sim_dialects *s, const char *name, struct err *e)
{
	struct sim_tree *tree;
	char list[160] = "";

	for (size_t i = 0; i < BUILT_IN; i++) {
		size_t at = strlen(list);

		if (str_eq(built_in[i].name, name)) {
			const struct sim_dialect *d = read_nth(i, s->arena, &tree, e);

			return add(s, d, tree, e);
		}
		str_format(list + at, sizeof(list) - at, "%s%s", i ? ", " : "", built_in[i].name);
	}
	return err_set(e, ERR_NOT_FOUND, 0, "unknown dialect \"%.40s\", want one of %s", name,
		       list);
}

/* --- mockups ---------------------------------------------------------------------------------- */

static bool fits(const struct sim_dialect *d, const json_t *root)
{
	const char *vendor = json_str_at(root, "Vendor"), *name;
	json_t *v;

	if (d->match.vendor && vendor && fnmatch(d->match.vendor, vendor, FNM_CASEFOLD) == 0)
		return true;
	json_object_foreach (json_object_get(root, "Oem"), name, v)
		if (d->match.oem && fnmatch(d->match.oem, name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

/* Returns the first built-in dialect that matches the service root of t. NULL: none matches; if
 * e->kind is not ERR_NONE, an error. */
static const struct sim_dialect *make_of(const struct sim_tree *t, struct arena *a, struct err *e)
{
	OWN_JSON root = sim_tree_get(t, SIM_TREE_ROOT);

	err_clear(e);
	for (size_t i = 0; i < BUILT_IN; i++) {
		struct sim_tree *own;
		const struct sim_dialect *d = read_nth(i, a, &own, e);

		sim_tree_free(own);
		if (!d || fits(d, root))
			return d;
	}
	return NULL;
}

int sim_dialects_add_tree(struct sim_dialects *s, const char *folder, struct err *e)
{
	struct sim_dialect *d = arena_calloc(s->arena, 1, sizeof(*d));
	struct sim_tree *tree = sim_tree_open(folder, e);
	const struct sim_dialect *make;

	if (!tree)
		return -1;
	make = make_of(tree, s->arena, e);
	if (!make && e->kind != ERR_NONE) {
		sim_tree_free(tree);
		return -1;
	}
	fields_defaults(dialect_fields, d, s->arena);
	if (make)
		*d = *make;
	d->name = make ? make->name : "";
	d->about = arena_strdup(s->arena, folder);
	d->tree = tree;
	return add(s, d, tree, e);
}

void sim_dialects_init(struct sim_dialects *s)
{
	*s = (struct sim_dialects){.arena = arena_new()};
}

void sim_dialects_done(struct sim_dialects *s)
{
	for (size_t i = 0; i < s->n; i++)
		sim_tree_free(s->v[i].tree);
	arena_free(s->arena);
}
