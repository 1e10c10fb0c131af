#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/str.h"
#include "redfish/scan.h"

/*
 * Reads and writes the virtual CD slot. The slot is searched once, depth first, through the links
 * of the System and of its Managers:
 *
 *   System -> VirtualMedia -> slots
 *   Managers -> Manager -> VirtualMedia -> slots
 *
 * The first CD slot with InsertMedia wins. Without one, the first CD slot (its Image is then
 * patched), or the first slot that does not list its media types, is used. A slot is read again
 * before each use, because some BMCs show EjectMedia only while a medium is inserted. If a slot
 * accepts no medium, as internal ones do, the next slot is tried. A search that the time limit
 * interrupts continues in the next operation: at 3 s a reply it takes longer than one operation.
 *
 * A slot lists its transfer protocols in one of three places, or nowhere. The last of these places,
 * the ActionInfo of InsertMedia, is read once for each slot.
 */
/* ENABLE_MS: time in ms between two searches after the slots were enabled. ENABLE_LOOKS: maximum
 * number of these searches. */
#define ENABLE_MS 5000
#define ENABLE_LOOKS 3
/* Time in ms after an unsuccessful search before the slot is searched again. */
#define NO_SLOT_MS 600000
/* Time in ms after the BMC refused all forms of a body, during which only the first form is sent
 * for images of that protocol. */
#define FORMS_MS 600000

static void scan_next(struct redfish *r);
static void enable(struct redfish *r);
static void scan(struct redfish *r);

/* --- the search ------------------------------------------------------------------------------- */

/* Adds the members of a collection to the stack of the search. The last member is pushed first,
 * because the stack is last in, first out. */
static void push_members(struct redfish *r, enum media_node node, const json_t *collection)
{
	const json_t *members = json_object_get(collection, "Members");
	struct err ignored;

	rf_scan_push(r->op->scan, node == SLOT ? COLLECTION : MANAGERS,
		     rf_link(r, json_object_get(collection, "Members@odata.nextLink"), &ignored));
	for (size_t i = json_array_size(members); i > 0; i--)
		rf_scan_push(r->op->scan, node,
			     rf_link(r, json_array_get(members, i - 1), &ignored));
}

static bool is_named(const json_t *slot, const char *const *starts, size_t n)
{
	const char *id = str_or(json_str_at(slot, "Id"), "");

	for (size_t i = 0; i < n; i++)
		if (!strncasecmp(id, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* Returns whether the slot accepts CDs. A slot without MediaTypes, as Gigabyte's, is judged by its
 * name; RF_UNKNOWN: it may accept CDs. */
static enum rf_known takes_cds(const struct redfish *r, const json_t *slot)
{
	/* Names of slots that accept uploads or files of a user's browser, but no addresses (Lenovo
	 * XCC). */
	static const char *const uploads[] = {"RDOC", "Remote"};
	static const char *const cds[] = {"CD", "DVD"}, *const others[] = {"FD", "Floppy", "HD",
									   "USB"};
	const json_t *types = json_object_get(slot, "MediaTypes");
	json_t *type;
	size_t i;

	if (r->quirks & QUIRK_MEDIA_UPLOADS && is_named(slot, uploads, 2))
		return RF_NO;
	json_array_foreach (types, i, type)
		if (str_eq(json_string_value(type), "CD") || str_eq(json_string_value(type), "DVD"))
			return RF_YES;
	if (json_array_size(types) > 0 || is_named(slot, others, 4))
		return RF_NO;
	return is_named(slot, cds, 2) ? RF_YES : RF_UNKNOWN;
}

static void no_slot(struct redfish *r)
{
	struct err e;

	if (r->op->nbad > 0) {
		/* Slots exist, but none accepted the medium: report the last refusal. */
		rf_fail(r, &r->saved_err);
		return;
	}
	err_note(&e, ERR_UNSUPPORTED, 0, "the BMC has no virtual media slot for a CD");
	rf_fail(r, &e);
}

static void found(struct redfish *r, char *path, const struct rf_reply *p)
{
	struct rf_scan *s = r->op->scan;
	void (*next)(struct redfish * r, const struct rf_reply *p) = s->found;

	rf_set(&r->slot, path);
	r->slot_https = RF_UNKNOWN;
	r->no_slot_until = INT64_MIN;
	r->op->scan = NULL;
	rf_scan_free(s);
	next(r, p);
}

/* Examines a slot that was just read. Returns true if the slot was chosen, and the operation
 * continues with it. */
static bool looked_at_slot(struct redfish *r, const struct rf_reply *p)
{
	struct rf_scan *s = r->op->scan;
	const char *path = s->seen[s->nseen - 1];
	enum rf_known takes;
	bool action;

	takes = takes_cds(r, p->json);
	if (takes == RF_NO)
		return false;
	for (size_t i = 0; i < r->op->nbad; i++)
		if (str_eq(r->op->bad_slots[i], path))
			return false;
	action = json_at(p->json, "Actions", "#VirtualMedia.InsertMedia", "target");
	if (takes == RF_YES &&
	    (action || (r->quirks & QUIRK_MEDIA_PATCH && json_object_get(p->json, "Image")))) {
		found(r, mem_strdup(path), p);
		return true;
	}
	if (!s->second_best && (action || json_object_get(p->json, "Image")))
		s->second_best = mem_strdup(path);
	return false;
}

static void on_look(struct redfish *r, const struct rf_reply *p, enum media_node node)
{
	struct err ignored;
	bool is_none = p->status == 404 || p->status == 405 || p->status == 501;

	if (p->err.kind != ERR_NONE) {
		/* A missing or unserved resource does not end the search. Any other failure ends
		 * it, because the resource may lead to a usable slot all the same. */
		if (!is_none && !rf_is_lacking(p)) {
			rf_fail(r, &p->err);
			return;
		}
		if (!is_none && r->op->scan->lacks.kind == ERR_NONE)
			r->op->scan->lacks = p->err;
		scan_next(r);
		return;
	}
	switch (node) {
	case COLLECTION:
		push_members(r, SLOT, p->json);
		break;
	case MANAGERS:
		push_members(r, MANAGER, p->json);
		break;
	case MANAGER:
		rf_learn_manager(r, p->json);
		if (!r->media_enable)
			r->media_enable = rf_oem_media(r, p->json);
		rf_scan_push(r->op->scan, COLLECTION,
			     rf_link(r, json_object_get(p->json, "VirtualMedia"), &ignored));
		break;
	case SLOT:
		if (looked_at_slot(r, p))
			return;
		break;
	}
	scan_next(r);
}

static void on_collection(struct redfish *r, const struct rf_reply *p)
{
	on_look(r, p, COLLECTION);
}

static void on_managers(struct redfish *r, const struct rf_reply *p)
{
	on_look(r, p, MANAGERS);
}

static void on_manager(struct redfish *r, const struct rf_reply *p)
{
	on_look(r, p, MANAGER);
}

static void on_slot_look(struct redfish *r, const struct rf_reply *p)
{
	on_look(r, p, SLOT);
}

static void scan_next(struct redfish *r)
{
	static rf_step *const steps[] = {on_collection, on_managers, on_manager, on_slot_look};
	struct rf_scan *s = r->op->scan;

	if (s->n > 0 && s->nseen < RF_SCAN_LOOKS) {
		enum media_node node = s->todo[--s->n].node;
		char *path = s->todo[s->n].path;

		s->seen[s->nseen++] = path;
		s->asked = node;
		rf_get(r, mem_strdup(path), steps[node]);
	} else if (s->second_best) {
		found(r, give(s->second_best), NULL);
	} else if (r->op->kind == RF_INSERT && r->media_enable && !r->op->nbad) {
		enable(r);
	} else if (s->lacks.kind != ERR_NONE && r->op->nbad == 0) {
		/* Report the unserved resource, because the slot may be listed in it. */
		rf_fail(r, &s->lacks);
	} else {
		if (r->op->nbad == 0)
			r->no_slot_until = loop_now(loop_of(r->group)) + NO_SLOT_MS;
		no_slot(r);
	}
}

static void scan_again(struct redfish *r)
{
	struct rf_scan *s = mem_new(struct rf_scan);

	s->found = r->op->scan->found;
	rf_scan_free(r->op->scan);
	r->op->scan = s;
	scan(r);
}

static void on_enabled(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind == ERR_NONE)
		rf_wait(r, ENABLE_MS, scan_again);
	else
		rf_fail(r, &p->err);
}

/* Enables the media slots, then searches again up to ENABLE_LOOKS times, because the slots appear
 * some seconds after the reply. */
static void enable(struct redfish *r)
{
	struct err e;

	if (!r->op->enabled) {
		r->op->enabled = true;
		rf_send(r, &(struct rf_request){.method = "POST",
						.path = mem_strdup(r->media_enable),
						.body = mem_strdup(RF_ENABLE_MEDIA),
						.effect = true,
						.next = on_enabled});
	} else if (++r->op->rescans < ENABLE_LOOKS) {
		rf_wait(r, ENABLE_MS, scan_again);
	} else {
		err_note(&e, ERR_UNAVAILABLE, 0,
			 "remote media were enabled, but the BMC shows no virtual media "
			 "slot for a CD yet");
		e.scope = ERR_MACHINE;
		rf_fail(r, &e);
	}
}

static void scan(struct redfish *r)
{
	struct rf_scan *s = r->op->scan;
	bool managed = false;

	for (size_t i = sizeof(r->managers) / sizeof(*r->managers); i > 0; i--) {
		managed = managed || r->managers[i - 1];
		rf_scan_push(s, MANAGER, mem_strdup(r->managers[i - 1]));
	}
	if (!managed)
		rf_scan_push(s, MANAGERS, mem_strdup(r->managers_path));
	rf_scan_push(s, COLLECTION, mem_strdup(r->media));
	scan_next(r);
}

static void search(struct redfish *r, rf_step *next)
{
	if (r->scan && r->op->nbad == 0) {
		r->op->scan = r->scan;
		r->scan = NULL;
		r->op->scan->found = next;
		scan_next(r);
		return;
	}
	r->op->scan = mem_new(struct rf_scan);
	r->op->scan->found = next;
	scan(r);
}

/* Reads the slot, after a search if necessary, and calls next() with the reply. */
static void with_slot(struct redfish *r, rf_step *next)
{
	bool may_appear = r->op->kind == RF_INSERT && r->media_enable;

	if (loop_now(loop_of(r->group)) < r->no_slot_until && !may_appear) {
		no_slot(r);
		return;
	}
	if (r->slot) {
		rf_get(r, mem_strdup(r->slot), next);
		return;
	}
	search(r, next);
}

/* Returns false if p is a reply with the slot, read just now. If p is NULL, the search chose a slot
 * that it read some requests ago: reads the slot again, calls again() with the reply, and returns
 * true. */
static bool reread(struct redfish *r, const struct rf_reply *p, rf_step *again)
{
	if (p)
		return false;
	rf_get(r, mem_strdup(r->slot), again);
	return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

/*
 * Decides whether a medium is inserted from Inserted, Image and ConnectedVia, because after an
 * eject some BMCs leave Inserted true, others leave Image, and on yet others ConnectedVia never
 * changes. Inserted: true counts only if Image or ConnectedVia confirms it. Without Inserted, Image
 * counts unless ConnectedVia contradicts it.
 */
static void parse(const json_t *slot, struct redfish_media *m)
{
	const json_t *flag = json_object_get(slot, "Inserted");
	const char *image = json_string_value(json_object_get(slot, "Image"));
	const char *via = json_string_value(json_object_get(slot, "ConnectedVia"));
	bool connected = via && !str_eq(via, "NotConnected");

	if (image && strlen(image) > 2048)
		image = NULL;
	m->image = str_empty(image) ? NULL : image;
	m->inserted = json_is_boolean(flag) ? json_is_true(flag) && (m->image || connected)
					    : m->image && (connected || !via);
}

static bool lists_https(const json_t *values)
{
	json_t *v;
	size_t i;

	json_array_foreach (values, i, v)
		if (str_eq(json_string_value(v), "HTTPS"))
			return true;
	return false;
}

static void read_done(struct redfish *r)
{
	struct rf_op *op = r->op;
	struct redfish_media m = {0};

	parse(op->slot, &m);
	m.read_at = op->slot_at;
	m.takes_https = r->slot_https == RF_YES;
	m.verifies = json_true_at(op->slot, "VerifyCertificate");
	rf_end(r, &m);
}

/* Records whether InsertMedia's ActionInfo lists HTTPS. A missing ActionInfo (4xx) means no list;
 * after any other failure the next use of the slot reads ActionInfo again. */
static void on_insert_info(struct redfish *r, const struct rf_reply *p)
{
	bool yes = false;
	json_t *v;
	size_t i;

	json_array_foreach (json_at(p->json, "Parameters"), i, v)
		yes |= str_eq(json_str_at(v, "Name"), "TransferProtocolType") &&
		       lists_https(json_at(v, "AllowableValues"));
	if (p->err.kind == ERR_NONE || (p->status >= 400 && p->status < 500))
		r->slot_https = yes ? RF_YES : RF_NO;
	read_done(r);
}

static void on_read(struct redfish *r, const struct rf_reply *p)
{
	static const char listed[] = "TransferProtocolType@Redfish.AllowableValues";
	const json_t *insert;
	struct err ignored;
	char *info;

	if (reread(r, p, on_read))
		return;
	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	json_decref(r->op->slot);
	r->op->slot = json_incref(p->json);
	r->op->slot_at = p->sent_at;
	insert = json_at(p->json, "Actions", "#VirtualMedia.InsertMedia");
	info = r->slot_https == RF_UNKNOWN
		       ? rf_link(r, json_object_get(insert, "@Redfish.ActionInfo"), &ignored)
		       : NULL;
	if (lists_https(json_object_get(p->json, listed)) ||
	    lists_https(json_object_get(insert, listed))) {
		r->slot_https = RF_YES;
		free(info);
	} else if (info) {
		rf_get(r, info, on_insert_info);
		return;
	}
	read_done(r);
}

void rf_media_read(struct redfish *r)
{
	with_slot(r, on_read);
}

/* --- writing ---------------------------------------------------------------------------------- */

/*
 * Eject and insert:
 *
 *   eject:  read slot -> eject (two variants) -> done
 *   insert: read slot -> eject if a medium is in -> read slot -> insert (four variants) -> done
 *                                                                 \-> the next slot
 *
 * If the slot lacks the action, its Image is patched: op->target is then the slot itself.
 */
static void eject_send(struct redfish *r);
static void insert_send(struct redfish *r);
static void on_slot(struct redfish *r, const struct rf_reply *p);

/* Continues with the next slot, because this slot accepts no medium; r->saved_err has the error of
 * its refusal. */
static void next_slot(struct redfish *r)
{
	struct rf_op *op = r->op;

	if (op->nbad == sizeof(op->bad_slots) / sizeof(*op->bad_slots)) {
		rf_fail(r, &r->saved_err);
		return;
	}
	op->bad_slots[op->nbad++] = give(r->slot);
	search(r, on_slot);
}

static void aim(struct redfish *r, const struct rf_reply *p, const char *action)
{
	struct rf_op *op = r->op;
	struct err ignored;
	char *target = rf_link(r, json_at(p->json, "Actions", action, "target"), &ignored);

	rf_set(&op->target, target ? target : mem_strdup(r->slot));
	rf_tag_read(r, RF_TAG_SLOT, p->etag);
	op->variant = 0;
}

static bool patches(const struct redfish *r)
{
	return str_eq(r->op->target, r->slot);
}

static void write_slot(struct redfish *r, char *body /* Takes ownership of body. */, rf_step *next)
{
	struct rf_op *op = r->op;

	rf_send(r, &(struct rf_request){.method = patches(r) ? "PATCH" : "POST",
					.path = mem_strdup(op->target),
					.body = body,
					.if_match = patches(r) ? rf_tag(r) : NULL,
					.effect = true,
					.next = next});
}

/* Repeats a refused write: with the next form of If-Match (412, 428), or with the next form of the
 * body (400, 415). False: no other form applies. */
static bool next_variant(struct redfish *r, const struct rf_reply *p,
			 void (*again)(struct redfish *r))
{
	if (patches(r) && rf_tag_next(r, p, again))
		return true;
	if (p->status != 400 && p->status != 415)
		return false;
	r->op->variant++;
	again(r);
	return true;
}

static const char *const forms[] = {"full", "bare", "wordy", "named"};
#define FORMS (sizeof(forms) / sizeof(*forms))

static bool is_tls(const struct redfish *r)
{
	return str_starts(r->op->url, "https:");
}

/* Returns the index in forms[] of the next form of the body: first the form that this BMC accepted
 * last, or that its quirks require, then the others in order. Returns FORMS if no form is left. */
static size_t insert_form(const struct redfish *r)
{
	size_t first = r->form			       ? r->form - 1
		       : r->quirks & QUIRK_MEDIA_BARE  ? 1
		       : r->quirks & QUIRK_MEDIA_WORDY ? 2
		       : r->quirks & QUIRK_MEDIA_NAMED ? 3
						       : 0;
	unsigned variant = r->op->variant;
	bool brief = loop_now(loop_of(r->group)) < r->forms_until && r->forms_tls == is_tls(r);

	if (variant >= FORMS || (variant > 0 && brief))
		return FORMS;
	return variant == 0 ? first : variant <= first ? variant - 1 : variant;
}

static char *insert_body(const struct redfish *r)
{
	const struct rf_op *op = r->op;
	size_t n = insert_form(r);
	const char *form = n < FORMS ? forms[n] : NULL;
	OWN_JSON o = NULL;

	if (!form)
		return NULL;
	o = json_pack("{s:s}", "Image", op->url);
	if (!o)
		return NULL; /* json_pack() failed, because the url is not UTF-8. */
	if (!str_eq(form, "bare")) {
		json_object_set_new(o, "Inserted", json_true());
		json_object_set_new(o, "WriteProtected", json_true());
	}
	if (str_eq(form, "wordy") || str_eq(form, "named")) {
		json_object_set_new(o, "TransferMethod", json_string("Stream"));
		json_object_set_new(o, "TransferProtocolType",
				    json_string(is_tls(r) ? "HTTPS" : "HTTP"));
	}
	if (str_eq(form, "named")) {
		/* Some BMCs require a name and a password even for anonymous access (quirk Q26 in
		 * quirks.def). */
		json_object_set_new(o, "UserName", json_string("none"));
		json_object_set_new(o, "Password", json_string("none"));
	}
	return json_text(o);
}

/* Gets the slot, read again because the BMC's task for InsertMedia reported a failure. Ends the
 * operation with success if the medium is inserted all the same. */
static void after_insert(struct redfish *r, const struct rf_reply *p)
{
	struct redfish_media m = {0};

	if (p->err.kind == ERR_NONE)
		parse(p->json, &m);
	if (m.inserted && str_eq(m.image, r->op->url))
		rf_end(r, NULL);
	else
		rf_fail(r, &r->saved_err);
}

static void on_inserted(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind == ERR_NONE) {
		rf_tag_worked(r);
		r->form = (unsigned)insert_form(r) + 1;
		r->forms_until = INT64_MIN;
		rf_end(r, NULL);
		return;
	}
	/* Save the reply to the first form only: this BMC should accept that form, so the refusal
	 * of it is the most informative error. */
	if (r->op->variant == 0)
		r->saved_err = p->err;
	if (p->by_task)
		rf_get(r, mem_strdup(r->slot), after_insert);
	else if (p->status == 404 || p->status == 405 || p->status == 501)
		next_slot(r);
	else if (!next_variant(r, p, insert_send))
		rf_fail(r, &p->err);
}

static void insert_send(struct redfish *r)
{
	char *body = insert_body(r);

	if (body) {
		write_slot(r, body, on_inserted);
		return;
	}
	if (r->op->variant >= FORMS) {
		r->forms_until = loop_now(loop_of(r->group)) + FORMS_MS;
		r->forms_tls = is_tls(r);
	}
	next_slot(r);
}

static void insert_start(struct redfish *r, const struct rf_reply *p)
{
	aim(r, p, "#VirtualMedia.InsertMedia");
	err_note(&r->saved_err, ERR_INVALID, 0,
		 "the address of the boot medium cannot be sent to the BMC");
	rf_media_trust(r, p->json, insert_send);
}

/* Checks what is in the slot after the eject. If the eject was refused and a medium is still
 * inserted, ends the operation with the error of the refusal. Otherwise ends the operation, or
 * continues with the insert. */
static void after_eject(struct redfish *r, const struct rf_reply *p)
{
	struct redfish_media m = {0};

	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	parse(p->json, &m);
	if (m.inserted && r->saved_err.kind != ERR_NONE)
		rf_fail(r, &r->saved_err);
	else if (r->op->kind == RF_EJECT)
		rf_end(r, NULL);
	else
		insert_start(r, p);
}

static void on_ejected(struct redfish *r, const struct rf_reply *p)
{
	r->saved_err = p->err;
	if (p->err.kind == ERR_NONE && r->op->kind == RF_EJECT)
		rf_end(r, NULL);
	else if (p->err.kind == ERR_NONE)
		rf_get(r, mem_strdup(r->slot), after_eject);
	else if (p->status == 409 || p->status == 500)
		/* Read the slot, because some BMCs answer with these statuses if no medium is
		 * inserted. */
		rf_get(r, mem_strdup(r->slot), after_eject);
	else if (!next_variant(r, p, eject_send))
		rf_fail(r, &p->err);
}

static void eject_send(struct redfish *r)
{
	static const char *const patch[] = {"{\"Image\":null,\"Inserted\":false}",
					    "{\"Image\":null}"};
	/* Bodies of the two variants of EjectMedia: HPE needs an empty object, other BMCs need no
	 * body. */
	static const char *const post[] = {"{}", NULL};

	if (r->op->variant > 1)
		rf_get(r, mem_strdup(r->slot), after_eject);
	else
		write_slot(r, mem_strdup((patches(r) ? patch : post)[r->op->variant]), on_ejected);
}

static void on_slot(struct redfish *r, const struct rf_reply *p)
{
	struct redfish_media m = {0};
	bool insert = r->op->kind == RF_INSERT;

	if (reread(r, p, on_slot))
		return;
	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	parse(p->json, &m);
	if (insert ? m.inserted && str_eq(m.image, r->op->url) : !m.inserted && !m.image) {
		rf_end(r, NULL);
	} else if (m.inserted || m.image) {
		aim(r, p, "#VirtualMedia.EjectMedia");
		eject_send(r);
	} else {
		insert_start(r, p);
	}
}

void rf_media_eject(struct redfish *r)
{
	with_slot(r, on_slot);
}

void rf_media_insert(struct redfish *r)
{
	with_slot(r, on_slot);
}
