#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "redfish/link.h"

/*
 * Follows work that a BMC does after its reply: a 202 with the address of a task or of its monitor
 * (DSP0266, asynchronous operations). The task is polled until it ends, or for at most TASK_MS;
 * then the step that sent the request continues as if the task's end were the reply.
 *
 * Task results are unreliable. Tasks vanish when they end, or when they are read; some do not exist
 * yet just after the 202; some end as Exception with status OK although the work was done.
 * Therefore anything but a plain failure counts as "accepted", which proves nothing, as with any
 * other reply. After a plain failure the step checks the effect (rf_reply.by_task).
 */
/* Longest time in ms that a task is polled; other calls to this BMC wait during this time. */
#define TASK_MS 20000
/* Part of the operation's limit, in ms, that is reserved for a last poll and a check of the
 * effect. */
#define END_MS 18000
#define POLL_MIN_MS 1000
#define POLL_MAX_MS 300000
/* Number of polls without finding the task, after which a task that was never seen counts as
 * lost. */
#define MISSES 3

static void poll_task(struct redfish *r);

static bool is_task(const json_t *j)
{
	const char *type = json_str_at(j, "@odata.type");

	return json_str_at(j, "TaskState") || (type && str_starts(type, "#Task."));
}

static void task_end(struct redfish *r, const struct err *e)
{
	struct rf_task *t = &r->op->task;
	rf_step *next = t->next;
	struct rf_reply p = {.status = e ? 409 : 200, .by_task = e != NULL, .sent_at = r->sent_at};

	if (e)
		p.err = *e;
	free(t->path);
	*t = (struct rf_task){0};
	next(r, &p);
}

/* Polls again after the time that the BMC asks for, else after 1, 1, 2, 3, 4 s and so on; not
 * beyond the limit for tasks. */
static void again(struct redfish *r, uint32_t wanted_ms)
{
	struct rf_task *t = &r->op->task;
	int64_t pause = wanted_ms ? wanted_ms : POLL_MIN_MS * (t->polls > 1 ? t->polls : 1);

	if (pause < POLL_MIN_MS)
		pause = POLL_MIN_MS;
	if (pause > POLL_MAX_MS)
		pause = POLL_MAX_MS;
	if (loop_now(loop_of(r->group)) + pause > t->until)
		task_end(r, NULL);
	else
		rf_wait(r, pause, poll_task);
}

static bool is_in_progress(const char *state)
{
	static const char *const states[] = {"New",	"Starting",  "Running",	   "Pending",
					     "Service", "Suspended", "Cancelling", "Stopping"};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (str_eq(states[i], state))
			return true;
	return false;
}

static bool is_failure(const char *state)
{
	return str_eq(state, "Exception") || str_eq(state, "Killed") ||
	       str_eq(state, "Cancelled") || str_eq(state, "Interrupted");
}

static void ended(struct redfish *r, const json_t *task)
{
	const char *state = json_str_at(task, "TaskState"),
		   *status = json_str_at(task, "TaskStatus");
	const json_t *messages = json_object_get(task, "Messages");
	char words[RF_WORDS];
	struct err e;

	if (!is_failure(state) || str_eq(status, "OK")) {
		task_end(r, NULL);
		return;
	}
	err_note(&e, ERR_UNAVAILABLE, 0, "the BMC's task ended as %s: %s", state,
		 rf_words(messages, words) ? words : "no message");
	e.scope = ERR_MACHINE;
	rf_heed(messages, &e);
	task_end(r, &e);
}

static void on_polled(struct redfish *r, const struct rf_reply *p)
{
	struct rf_task *t = &r->op->task;
	const char *state = json_str_at(p->json, "TaskState");
	bool ok = p->status >= 200 && p->status < 300;

	t->polls++;
	if (p->status == 404 || p->status == 410) {
		if (t->seen || ++t->missed >= MISSES)
			task_end(r, NULL);
		else
			again(r, p->err.retry_after_ms);
	} else if (p->status == 202 || (ok && is_in_progress(state))) {
		t->seen = true;
		again(r, p->retry_after_ms);
	} else if (ok) {
		ended(r, p->json);
	} else if (p->status >= 400 && p->status < 500 && p->status != 429) {
		/* The reply is that of the task's monitor at its end: pass it on as the reply to
		 * the request. */
		struct rf_reply end = *p;
		rf_step *next = t->next;

		free(t->path);
		*t = (struct rf_task){0};
		next(r, &end);
	} else {
		again(r, p->err.retry_after_ms);
	}
}

static void poll_task(struct redfish *r)
{
	rf_get(r, mem_strdup(r->op->task.path), on_polled);
}

bool rf_task_follow(struct redfish *r, const struct rf_reply *p)
{
	struct rf_op *op = r->op;
	struct rf_task *t = &op->task;
	int64_t now = loop_now(loop_of(r->group));
	struct err ignored;
	char *path = NULL;

	if (p->status != 202 || r->logging_in || t->next || str_eq(r->req.method, "GET"))
		return false;
	/* Prefer the task to its monitor: some BMCs delete a task when the monitor is read
	 * (XCC). */
	if (is_task(p->json))
		path = rf_link(r, p->json, &ignored);
	if (!path && p->location)
		path = link_path(r->origin, p->location, &ignored);
	if (!path)
		/* The request was accepted: without a task, which DSP0266 requires, the 202 is the
		 * final reply. */
		return false;
	*t = (struct rf_task){.next = r->req.next, .path = path, .until = now + TASK_MS};
	if (t->until > op->ends_at - END_MS)
		t->until = op->ends_at - END_MS;
	again(r, p->retry_after_ms);
	return true;
}
