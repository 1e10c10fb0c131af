#include "sim/bmc/bmc_impl.h"

#include "base/str.h"

/*
 * bmc_task: actions that run as Tasks. Such an action is answered with 202 and the address of a
 * task monitor. The monitor answers 202 while the task runs. Afterwards it answers what the action
 * itself would have answered: 204 or the error.
 * Tests: tests/unit/sim/bmc/test_bmc.c
 */
#define MEDIA_MS 1000
/* Time limit of a power task in ms; the task fails if the power has not changed by then. */
#define POWER_MS 60000
/* First id of a simulated task with a dialect; the ids of tasks in the captured resources are
 * lower. */
#define OF_TREES 9000
#define MONITORS "/redfish/v1/TaskService/TaskMonitors"

bool bmc_wants_task(const struct bmc_call *c)
{
	return str_eq(httpd_header(c->q, "Prefer"), "respond-async") ||
	       bmc_fault(c->b, "Async", NULL);
}

static struct bmc_task *find(struct bmc_call *c)
{
	int64_t id;

	for (size_t i = 0; str_to_i64(c->arg, 1, UINT32_MAX, &id) && i < BMC_TASKS; i++)
		if (c->b->tasks[i].id == id)
			return &c->b->tasks[i];
	return NULL;
}

/* --- running ---------------------------------------------------------------------------------- */

static void arm(struct sim_bmc *b)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < BMC_TASKS; i++)
		if (b->tasks[i].id && b->tasks[i].state == TASK_RUNNING && b->tasks[i].due < next)
			next = b->tasks[i].due;
	loop_timer_stop(&b->task_timer);
	if (next < INT64_MAX)
		loop_timer_start(&b->task_timer, next > bmc_now(b) ? next - bmc_now(b) : 0);
}

static void end(struct sim_bmc *b, struct bmc_task *t, bool well)
{
	int how = b->dialect ? b->dialect->quirks.tasks.end : SIM_TASK_WELL;

	t->state = well ? TASK_COMPLETED : TASK_EXCEPTION;
	t->fine = well && how == SIM_TASK_EXCEPTION_OK;
	t->ended_wall = loop_wall(loop_of(b->group));
	bmc_event(b, well ? "TaskCompleted" : "TaskFailed", t->name, bmc_tasks_path(b));
	if (well && how == SIM_TASK_GONE)
		t->id = 0;
}

static void on_timer(void *arg)
{
	struct sim_bmc *b = arg;

	for (size_t i = 0; i < BMC_TASKS; i++) {
		struct bmc_task *t = &b->tasks[i];

		if (t->id && t->state == TASK_RUNNING && t->due <= bmc_now(b))
			end(b, t, !t->fails && (!t->power || b->m->on == t->to));
	}
	arm(b);
}

void bmc_task_powered(struct sim_bmc *b)
{
	for (size_t i = 0; i < BMC_TASKS; i++) {
		struct bmc_task *t = &b->tasks[i];

		if (t->id && t->state == TASK_RUNNING && t->power && !t->fails && b->m->on == t->to)
			end(b, t, true);
	}
	arm(b);
}

/* Returns a free task slot, or else the slot of the task that ended first; NULL: all tasks are
 * running. */
static struct bmc_task *free_one(struct sim_bmc *b)
{
	struct bmc_task *oldest = NULL;

	for (size_t i = 0; i < BMC_TASKS; i++) {
		struct bmc_task *t = &b->tasks[i];

		if (!t->id)
			return t;
		if (t->state != TASK_RUNNING && (!oldest || t->ended_wall < oldest->ended_wall))
			oldest = t;
	}
	return oldest;
}

/* --- answers ---------------------------------------------------------------------------------- */

static json_t *task_json(const struct bmc_task *t)
{
	static const char *const states[] = {"Running", "Completed", "Exception"};
	char id[16], monitor[96], time[STR_TIME_SIZE];
	bool failed = t->state == TASK_EXCEPTION;
	const char *message = t->fine  ? "ActionNotSupported"
			      : failed ? "InternalError"
				       : "Success",
		   *state = t->fine ? "Exception" : states[t->state];
	json_t *j, *messages = json_array();

	if (t->state != TASK_RUNNING)
		json_array_append_new(messages, bmc_message(NULL, message, t->name));
	str_format(id, sizeof(id), "%u", t->id);
	str_format(monitor, sizeof(monitor), MONITORS "/%u", t->id);
	j = json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:b,s:o}", "Id", id, "Name", t->name, "TaskState",
		      state, "TaskStatus", failed ? "Critical" : "OK", "StartTime",
		      str_time(time, t->began_wall), "PercentComplete",
		      t->state == TASK_RUNNING ? 0 : 100, "HidePayload", 1, "Messages", messages);
	if (t->state == TASK_RUNNING)
		json_object_set_new(j, "TaskMonitor", json_string(monitor));
	else
		json_object_set_new(j, "EndTime", json_string(str_time(time, t->ended_wall)));
	return j;
}

static void reply_running(struct bmc_call *c, const struct bmc_task *t)
{
	char path[96];
	json_t *j = task_json(t);

	str_format(path, sizeof(path), MONITORS "/%u", t->id);
	httpd_reply_header(c->q, "Location", path);
	httpd_reply_header(c->q, "Retry-After", "1");
	str_format(path, sizeof(path), "%s/%u", bmc_tasks_path(c->b), t->id);
	json_object_set_new(j, "@odata.id", json_string(path));
	json_object_set_new(j, "@odata.type", json_string("#Task.v1_7_0.Task"));
	bmc_reply(c, 202, j);
}

bool bmc_task(struct bmc_call *c, const char *name, bool power, bool to)
{
	struct sim_bmc *b = c->b;
	struct bmc_task *t = free_one(b);
	bool fails = bmc_fault(b, "TaskFails", NULL);

	if (!t) {
		httpd_reply_header(c->q, "Retry-After", "1");
		bmc_error(c, 503, "CreateLimitReachedForResource");
		return false;
	}
	*t = (struct bmc_task){.id = ++b->next_task,
			       .power = power,
			       .to = to,
			       .fails = fails,
			       .began_wall = loop_wall(loop_of(b->group))};
	if (b->dialect)
		t->late = (unsigned)b->dialect->quirks.tasks.late;
	t->due = bmc_now(b) + (power && !fails ? POWER_MS : MEDIA_MS);
	str_copy(t->name, sizeof(t->name), name);
	arm(b);
	reply_running(c, t);
	return !fails;
}

/* Returns the task that c->path names; NULL: not found. With the quirk `late`, the first reads of a
 * task find nothing. */
static struct bmc_task *look(struct bmc_call *c)
{
	struct bmc_task *t = find(c);

	if (!t || !t->late)
		return t;
	t->late--;
	return NULL;
}

json_t *bmc_get_task_service(struct bmc_call *c)
{
	char now[STR_TIME_SIZE];

	c->late = json_pack("{s:s}", "DateTime", str_time(now, loop_wall(loop_of(c->b->group))));
	return json_pack("{s:s,s:s,s:b,s:s,s:b,s:{s:s,s:s},s:o}", "Id", "TaskService", "Name",
			 "Task Service", "ServiceEnabled", 1, "CompletedTaskOverWritePolicy",
			 "Oldest", "LifeCycleEventOnTaskStateChange", 1, "Status", "State",
			 "Enabled", "Health", "OK", "Tasks", bmc_link(bmc_tasks_path(c->b)));
}

json_t *bmc_get_tasks(struct bmc_call *c)
{
	json_t *all = json_array();
	char path[96];

	for (size_t i = 0; i < BMC_TASKS; i++) {
		if (!c->b->tasks[i].id)
			continue;
		str_format(path, sizeof(path), "%s/%u", bmc_tasks_path(c->b), c->b->tasks[i].id);
		json_array_append_new(all, bmc_link(path));
	}
	return bmc_collection("Tasks", all);
}

json_t *bmc_get_task(struct bmc_call *c)
{
	const struct bmc_task *t = look(c);

	return t ? task_json(t) : NULL;
}

void bmc_delete_task(struct bmc_call *c)
{
	struct bmc_task *t = find(c);

	if (t->state == TASK_RUNNING) {
		/* Refuses to delete a running task, because its action cannot be cancelled. */
		bmc_error(c, 409, "ResourceInUse");
		return;
	}
	t->id = 0;
	bmc_reply(c, 204, NULL);
}

json_t *bmc_get_monitor(struct bmc_call *c)
{
	struct bmc_task *t = look(c);

	if (!t)
		return NULL;
	if (t->state == TASK_RUNNING) {
		reply_running(c, t);
		return json_null();
	}
	if (c->b->dialect && c->b->dialect->quirks.tasks.gone_when_heard)
		t->id = 0;
	if (t->fine)
		bmc_error(c, 400, "ActionNotSupported", t->name);
	else if (t->state == TASK_EXCEPTION)
		bmc_error(c, 500, "InternalError");
	else
		bmc_reply(c, 204, NULL);
	return json_null();
}

void bmc_task_init(struct sim_bmc *b)
{
	b->next_task = b->dialect ? OF_TREES : 0;
	loop_timer_init(&b->task_timer, b->group, on_timer, b);
}

void bmc_task_done(struct sim_bmc *b)
{
	loop_timer_stop(&b->task_timer);
}
