#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * Chooses the If-Match header of writes. Some BMCs return ETags that they do not accept, or accept
 * only in the other form (weak, strong), or require one where they returned none, or require "*".
 * The forms are tried in this order:
 *
 *   as returned -> the other form -> read again, both forms once more -> "*" -> without
 *
 * The form that worked is remembered for this BMC, separately for the System and for media slots.
 * "*" and no ETag mean that the last writer wins; they are used only after the resource was read
 * again, and only for drover's own settings: boot override and media.
 */
static bool has_other_form(const char *tag)
{
	return *tag == '"' || str_starts(tag, "W/\"");
}

static char *other_form(const char *tag)
{
	return *tag == '"' ? mem_printf("W/%s", tag) : mem_strdup(tag + 2);
}

void rf_tag_read(struct redfish *r, enum rf_tag_of of, const char *tag)
{
	struct rf_op *op = r->op;
	char *copy = mem_strdup(tag);

	rf_set(&op->tag, copy);
	op->tag_of = of;
	op->tag_reread = false;
	op->form = r->tag_form[of];
	if (!tag && op->form != RF_TAG_ANY)
		op->form = RF_TAG_NONE;
	else if (op->form == RF_TAG_OTHER && !has_other_form(tag))
		op->form = RF_TAG_GIVEN;
}

char *rf_tag(const struct redfish *r)
{
	const struct rf_op *op = r->op;

	switch (op->form) {
	case RF_TAG_GIVEN:
		return mem_strdup(op->tag);
	case RF_TAG_OTHER:
		return other_form(op->tag);
	case RF_TAG_ANY:
		return mem_strdup("*");
	case RF_TAG_NONE:
		break;
	}
	return NULL;
}

void rf_tag_worked(struct redfish *r)
{
	const struct rf_op *op = r->op;

	/* Remember the form only if a write with If-Match has succeeded: a write without an ETag
	 * proves nothing about forms. */
	if (op->tag || op->form == RF_TAG_ANY)
		r->tag_form[op->tag_of] = op->form;
}

/* Repeats the write after the resource was read again. A new ETag is tried in both forms; an
 * unchanged ETag would be refused again, so "*" is next. */
static void on_reread(struct redfish *r, const struct rf_reply *p)
{
	struct rf_op *op = r->op;

	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	op->form = RF_TAG_ANY;
	if (p->etag && !str_eq(p->etag, op->tag)) {
		char *tag = mem_strdup(p->etag);

		rf_set(&op->tag, tag);
		op->form = RF_TAG_GIVEN;
	}
	op->again(r);
}

bool rf_tag_next(struct redfish *r, const struct rf_reply *p, void (*again)(struct redfish *r))
{
	struct rf_op *op = r->op;

	if (p->status != 412 && p->status != 428)
		return false;
	op->again = again;
	if (op->form == RF_TAG_GIVEN && has_other_form(op->tag)) {
		op->form = RF_TAG_OTHER;
	} else if (!op->tag_reread) {
		op->tag_reread = true;
		/* Forget the ETag, because the form that worked earlier no longer works. So
		 * on_reread() tries all forms, even if the new read returns the same ETag. */
		if (op->form == r->tag_form[op->tag_of] && op->form != RF_TAG_GIVEN)
			rf_set(&op->tag, NULL);
		rf_get(r, mem_strdup(op->target), on_reread);
		return true;
	} else if (op->form < RF_TAG_ANY) {
		op->form = RF_TAG_ANY;
	} else if (op->form == RF_TAG_ANY) {
		op->form = RF_TAG_NONE;
	} else {
		return false;
	}
	again(r);
	return true;
}
