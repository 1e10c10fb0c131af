#include "providers/bcm/edit.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

struct bcm_edit {
	struct bcm_edit_spec s;
	char *name;
	struct bcm_request *request;
	struct loop_timer settle;
	struct arena *a;
	/* before: the device as read before the write. wanted: the device as written. Both empty if
	 * nothing was written. */
	struct exact before, wanted;
	/* Error of the write if its reply was lost; kind ERR_NONE: the reply arrived */
	struct err lost;
	bool settled;
};

void bcm_edit_cancel(struct bcm_edit *x)
{
	if (!x)
		return;
	bcm_cancel(x->request);
	loop_timer_stop(&x->settle);
	arena_free(x->a);
	free(x->name);
	free(x);
}

/* Calls done(n, e), then frees x. The order matters, because the strings of n are in the arena of
 * x. */
static void end(struct bcm_edit *x, const struct bcm_node *n, const struct err *e)
{
	x->s.done(n, e, x->s.arg);
	bcm_edit_cancel(x);
}

static void read_device(struct bcm_edit *x,
			void (*done)(struct exact result, const struct err *e, void *arg))
{
	struct bcm_call c = {.service = "cmdevice",
			     .call = "getDevice",
			     .args = arena_printf(x->a, "[%s]", exact_quote(x->name, x->a)),
			     .null_is_none = true,
			     .done = done,
			     .arg = x};

	x->request = bcm_call(x->s.bcm, &c);
}

/* True if `name` is a member that BCM itself updates when an object is written. */
static bool is_bcms(struct exact name)
{
	static const char *const own[] = {"\"modified\"",      "\"revision\"",
					  "\"creationTime\"",  "\"oldLocalUniqueKey\"",
					  "\"to_be_removed\"", "\"is_committed\""};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (name.len == strlen(own[i]) && memcmp(name.at, own[i], name.len) == 0)
			return true;
	return false;
}

static struct exact named(struct exact object, struct exact name)
{
	struct exact_iter it;

	exact_for_each(it, object) if (it.name.len == name.len &&
				       memcmp(it.name.at, name.at, name.len) == 0) return it.value;
	return (struct exact){0};
}

/* Compares the device `now` with what was written. Returns 0 if every member that the edit changed
 * has the written value, otherwise ERR_CONFLICT. Logs other members that another writer changed. */
static int compare(struct bcm_edit *x, struct exact now, struct err *e)
{
	struct exact_iter it;

	exact_for_each(it, x->wanted)
	{
		struct exact is = named(now, it.name);

		if (exact_same(it.value, is) || is_bcms(it.name))
			continue;
		if (!exact_same(it.value, named(x->before, it.name)))
			return err_set(
				e, ERR_CONFLICT, 0,
				"BCM shows a different %.*s of node %s than was written: another "
				"writer changed it",
				it.name.len > 60 ? 60 : (int)it.name.len, it.name.at, x->name);
		log_warn("another writer changed a BCM device during an edit",
			 LOG_S("node", x->name),
			 LOG_S("member", arena_strndup(x->a, it.name.at, it.name.len)));
	}
	return 0;
}

static void on_after(struct exact device, const struct err *failed, void *arg);

static void on_settled(void *arg)
{
	struct bcm_edit *x = arg;

	x->settled = true;
	read_device(x, on_after);
}

static void on_after(struct exact device, const struct err *failed, void *arg)
{
	struct bcm_edit *x = arg;
	struct bcm_node n;
	struct err e;

	x->request = NULL;
	if (failed) {
		end(x, NULL, failed);
	} else if (bcm_node_read(device, x->a, &n, &e) < 0) {
		end(x, NULL, &e);
	} else if (compare(x, device, &e) < 0) {
		/* If the device is unchanged, the write whose reply was lost had no effect: report
		 * the error of the write, which is more precise. */
		end(x, NULL,
		    x->lost.kind != ERR_NONE && exact_same(device, x->before) ? &x->lost : &e);
	} else if (x->s.settle_ms && !x->settled) {
		loop_timer_start(&x->settle, x->s.settle_ms);
	} else {
		end(x, &n, NULL);
	}
}

static void on_written(struct exact result, const struct err *failed, void *arg)
{
	struct bcm_edit *x = arg;
	struct err e;

	x->request = NULL;
	if (failed && failed->kind != ERR_TIMEOUT && failed->kind != ERR_UNAVAILABLE) {
		end(x, NULL, failed);
		return;
	}
	if (failed) {
		/* Read the device to learn the result, because BCM may have carried out a write
		 * whose reply is lost. */
		x->lost = *failed;
	} else if (bcm_written(result, &e) < 0) {
		bcm_redact(x->s.bcm, &e);
		err_note_wrap(&e, "node %s", x->name);
		end(x, NULL, &e);
		return;
	}
	read_device(x, on_after);
}

static void on_before(struct exact device, const struct err *failed, void *arg)
{
	struct bcm_edit *x = arg;
	struct bcm_call c = {.service = "cmdevice",
			     .call = "updateDevice",
			     .may_act = x->s.may_act,
			     .may_act_arg = x->s.arg,
			     .done = on_written,
			     .arg = x};
	struct bcm_node n;
	struct err e = {0};
	const char *text;

	x->request = NULL;
	if (failed) {
		e = *failed;
		if (e.kind == ERR_NOT_FOUND)
			err_note(&e, ERR_NOT_FOUND, 0, "BCM has no node %s", x->name);
		end(x, NULL, &e);
		return;
	}
	if (bcm_node_read(device, x->a, &n, &e) < 0) {
		end(x, NULL, &e);
		return;
	}
	text = x->s.plan(device, &n, x->a, x->s.arg, &e);
	if (!text) {
		end(x, e.kind == ERR_NONE ? &n : NULL, e.kind == ERR_NONE ? NULL : &e);
		return;
	}
	x->before = (struct exact){arena_strndup(x->a, device.at, device.len), device.len};
	if (exact_read(text, strlen(text), &x->wanted, &e) < 0) {
		end(x, NULL, &e);
		return;
	}
	c.args = arena_printf(x->a, "[%s]", text);
	x->request = bcm_call(x->s.bcm, &c);
}

struct bcm_edit *bcm_edit_start(const struct bcm_edit_spec *s)
{
	struct bcm_edit *x = mem_new(struct bcm_edit);

	x->s = *s;
	x->name = mem_strdup(s->node);
	x->a = arena_new();
	loop_timer_init(&x->settle, s->group, on_settled, x);
	read_device(x, on_before);
	return x;
}
