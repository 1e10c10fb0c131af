#include "providers/bcm/acquire.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Time in ms between the two reads of drover's mark on a node. A second drover that read the node
 * before this one wrote its mark writes its own mark within this time, so the second read finds the
 * conflict. */
#define SETTLE_MS 3000

struct bcm_acquire {
	struct bcm_acquire_spec s;
	/* Memory of all strings of this struct */
	struct arena *a;
	struct provider_target target;
	struct bcm_request *request;
	struct bcm_edit *edit;
	size_t step;
	/* New values of the device's members as JSON texts; NULL: the member is not changed.
	 * cleared: the member blockDevicesClearedOnNextBoot. */
	const char *category, *image, *network, *cleared;
};

/* The lists of categories, images and networks in BCM. They are read to find the UUIDs of those
 * that the target names. */
static const struct {
	const char *service, *call, *what;
	/* wanted: offset of the object's name in struct provider_target. found: offset in struct
	 * bcm_acquire at which its UUID is stored, as JSON text. */
	size_t wanted, found;
} lists[] = {
	{"cmdevice", "getCategories", "category", offsetof(struct provider_target, category),
	 offsetof(struct bcm_acquire, category)},
	{"cmpart", "getSoftwareImages", "software image", offsetof(struct provider_target, image),
	 offsetof(struct bcm_acquire, image)},
	{"cmnet", "getNetworks", "network", offsetof(struct provider_target, network),
	 offsetof(struct bcm_acquire, network)},
};
#define LISTS (sizeof(lists) / sizeof(*lists))

void bcm_acquire_cancel(struct bcm_acquire *q)
{
	if (!q)
		return;
	bcm_cancel(q->request);
	bcm_edit_cancel(q->edit);
	arena_free(q->a);
	free(q);
}

static void end(struct bcm_acquire *q, const struct err *e)
{
	q->s.done(e, q->s.arg);
	bcm_acquire_cancel(q);
}

int bcm_holder_check(const struct bcm_node *n, const char *machine, int64_t fence, struct err *e)
{
	const struct bcm_lock *l = &n->lock;

	if (n->lock_broken)
		return err_set(
			e, ERR_CONFLICT, 0,
			"extra_values.drover of node %s was not written by drover: remove it in "
			"BCM if the node is unused",
			n->hostname);
	/* mutant: bcm-held-elsewhere */
	if (l->machine && !str_eq(l->machine, str_or(machine, "")))
		return err_set(
			e, ERR_CONFLICT, 0,
			"node %s is managed as machine %.60s (%.40s) of another drover: only one "
			"may manage it",
			n->hostname, str_or(l->name, "(no name)"), l->machine);
	if (l->machine && l->fence > fence)
		return err_set(e, ERR_CONFLICT, 0,
			       "node %s was changed by a newer leader (fence %lld)", n->hostname,
			       (long long)l->fence);
	return 0;
}

/* --- planning the change ---------------------------------------------------------------------- */

static const char *text_of(struct exact v, struct arena *a)
{
	return v.at ? arena_strndup(a, v.at, v.len) : NULL;
}

/* Returns text with its member `name` set to json; text itself if json is NULL; NULL if text is
 * NULL or on error. */
static const char *with(const char *text, const char *name, const char *json, struct arena *a,
			struct err *e)
{
	struct exact o;

	if (!text || !json)
		return text;
	return exact_read(text, strlen(text), &o, e) < 0 ? NULL : exact_with(o, name, json, a, e);
}

static const char *without(const char *text, const char *name, struct arena *a, struct err *e)
{
	struct exact o;

	return !text || exact_read(text, strlen(text), &o, e) < 0 ? NULL
								  : exact_without(o, name, a, e);
}

/* Returns 0 if BCM can install the node. Returns ERR_INVALID if the node lacks a MAC address, a
 * boot interface, or an address or DHCP for that interface: BCM would wait for the node for
 * ever. */
static int may_be_installed(const struct bcm_node *n, struct err *e)
{
	if (!n->boot_name)
		return err_set(e, ERR_INVALID, 0,
			       "node %s has no boot interface in BCM: set provisioningInterface",
			       n->hostname);
	if (!n->boot_address && !n->boot_dhcp)
		return err_set(e, ERR_INVALID, 0,
			       "interface %.40s of node %s has neither an address nor DHCP in BCM",
			       n->boot_name, n->hostname);
	if (!n->mac)
		return err_set(e, ERR_INVALID, 0,
			       "node %s has no MAC address in BCM: BCM would not recognize its "
			       "network boot",
			       n->hostname);
	return 0;
}

/* Returns the new value of softwareImageProxy, which makes the node boot `image` (JSON text of a
 * UUID) in place of its category's image. Only the image in the present object is changed. */
static const char *proxy(struct exact device, const char *image, struct arena *a, struct err *e)
{
	struct exact old = exact_member(device, "softwareImageProxy");

	if (exact_kind(old) != EXACT_OBJECT)
		old = (struct exact){"{}", 2};
	return exact_with(old, "parentSoftwareImage", image, a, e);
}

static const char *plan_acquire(struct exact device, const struct bcm_node *n, struct arena *a,
				void *arg, struct err *e)
{
	struct bcm_acquire *q = arg;
	struct bcm_lock l = n->lock;
	const char *text;

	if (bcm_node_fit(n, e) < 0 || bcm_holder_check(n, q->s.machine, q->s.fence, e) < 0 ||
	    may_be_installed(n, e) < 0)
		return NULL;
	/* Change nothing, because this operation acquired the node already: before a crash, or with
	 * a write whose reply was lost. */
	if (str_eq(l.token, q->s.token))
		return NULL;
	if (!l.machine) {
		/* Record the values that the release restores. Only the first acquire does so,
		 * because a later one would record drover's own values. */
		l.category = text_of(exact_member(device, "category"), a);
		l.management_network = text_of(exact_member(device, "managementNetwork"), a);
		l.image = text_of(exact_member(device, "softwareImageProxy"), a);
		l.next_mode = text_of(exact_member(device, "nextBootInstallMode"), a);
	}
	l.machine = q->s.machine;
	l.name = q->s.name;
	l.token = q->s.token;
	l.fence = q->s.fence;
	text = bcm_with_lock(device, &l, a, e);
	text = with(text, "category", q->category, a, e);
	text = with(text, "managementNetwork", q->network, a, e);
	if (q->image)
		text = with(text, "softwareImageProxy", proxy(device, q->image, a, e), a, e);
	text = with(text, "nextBootInstallMode", "\"FULL\"", a, e);
	return with(text, "blockDevicesClearedOnNextBoot", q->cleared, a, e);
}

/* Returns text with member `name` restored to the JSON text `before`. before NULL: removes the
 * member, because the device did not have it before the acquire. */
static const char *back(const char *text, const char *name, const char *before, struct arena *a,
			struct err *e)
{
	return before ? with(text, name, before, a, e) : without(text, name, a, e);
}

static const char *plan_release(struct exact device, const struct bcm_node *n, struct arena *a,
				void *arg, struct err *e)
{
	struct bcm_acquire *q = arg;
	const struct bcm_lock *l = &n->lock;
	const char *text;

	if (bcm_holder_check(n, q->s.machine, q->s.fence, e) < 0 || !l->machine)
		return NULL;
	text = bcm_with_lock(device, NULL, a, e);
	text = back(text, "category", l->category, a, e);
	text = back(text, "managementNetwork", l->management_network, a, e);
	text = back(text, "softwareImageProxy", l->image, a, e);
	return back(text, "nextBootInstallMode", l->next_mode, a, e);
}

static void on_edited(const struct bcm_node *n, const struct err *e, void *arg)
{
	struct bcm_acquire *q = arg;
	struct err lost;

	q->edit = NULL; /* Forget the edit, which frees itself after done(). */
	if (!e && q->s.target && !str_eq(n->lock.token, q->s.token)) {
		err_note(&lost, ERR_CONFLICT, 0,
			 "another writer removed drover's mark from node %s", n->hostname);
		e = &lost;
	}
	end(q, e);
}

static bool may_act(void *arg)
{
	struct bcm_acquire *q = arg;

	return !q->s.may_act || q->s.may_act(q->s.arg);
}

static void begin_edit(struct bcm_acquire *q)
{
	struct bcm_edit_spec s = {.bcm = q->s.bcm,
				  .group = q->s.group,
				  .node = q->s.node,
				  .settle_ms = SETTLE_MS,
				  .plan = q->s.target ? plan_acquire : plan_release,
				  .may_act = may_act,
				  .done = on_edited,
				  .arg = q};

	q->edit = bcm_edit_start(&s);
}

/* --- looking up what the node will refer to --------------------------------------------------- */

static const char **slot(struct bcm_acquire *q)
{
	return (const char **)((char *)q + lists[q->step].found);
}

static const char *wanted(const struct bcm_acquire *q, size_t step)
{
	return *(const char *const *)((const char *)&q->target + lists[step].wanted);
}

static void ask_next(struct bcm_acquire *q);

/* Handles one list: stores the UUID of the object that the target names, then reads the next list.
 * The UUID is needed because BCM's objects refer to each other by UUID. */
static void on_list(struct exact list, const struct err *failed, void *arg)
{
	struct bcm_acquire *q = arg;
	const char *name = wanted(q, q->step), *uuid = NULL;
	struct exact_iter it;
	struct exact busy;
	struct err e;

	q->request = NULL;
	if (failed) {
		end(q, failed);
		return;
	}
	exact_for_each(it, list)
	{
		if (!str_eq(exact_str_at(it.value, "name", q->a), name))
			continue;
		uuid = exact_str_at(it.value, "uuid", q->a);
		busy = exact_member(it.value, "fileOperationInProgress");
		if (exact_kind(busy) == EXACT_TRUE) {
			err_note(&e, ERR_UNAVAILABLE, 0, "BCM is still writing the %s %.60s",
				 lists[q->step].what, name);
			end(q, &e);
			return;
		}
	}
	if (bcm_is_unset(uuid)) {
		err_note(&e, ERR_NOT_FOUND, 0, "BCM has no %s %.60s", lists[q->step].what, name);
		end(q, &e);
		return;
	}
	*slot(q) = exact_quote(uuid, q->a);
	q->step++;
	ask_next(q);
}

static void ask_next(struct bcm_acquire *q)
{
	struct bcm_call c = {.args = "[]", .done = on_list, .arg = q};

	while (q->step < LISTS && !wanted(q, q->step))
		q->step++;
	if (q->step == LISTS) {
		begin_edit(q);
		return;
	}
	c.service = lists[q->step].service;
	c.call = lists[q->step].call;
	q->request = bcm_call(q->s.bcm, &c);
}

struct bcm_acquire *bcm_acquire_start(const struct bcm_acquire_spec *s)
{
	struct bcm_acquire *q = mem_new(struct bcm_acquire);

	q->s = *s;
	q->a = arena_new();
	q->s.node = arena_strdup(q->a, s->node);
	q->s.machine = arena_strdup(q->a, s->machine);
	q->s.name = arena_strdup(q->a, s->name);
	q->s.token = arena_strdup(q->a, s->token);
	if (s->target) {
		q->target = *s->target;
		q->target.category = arena_strdup(q->a, s->target->category);
		q->target.image = arena_strdup(q->a, s->target->image);
		q->target.network = arena_strdup(q->a, s->target->network);
		for (size_t i = 0; i < s->target->nclear; i++)
			q->cleared =
				arena_printf(q->a, "%s%s%s", i ? q->cleared : "[", i ? "," : "",
					     exact_quote(s->target->clear[i], q->a));
		if (q->cleared)
			q->cleared = arena_printf(q->a, "%s]", q->cleared);
	}
	ask_next(q);
	return q;
}
