#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/cluster/job_impl.h"

/*
 * The Job controller. A pod may be deleted at any moment after it ended, but must be counted
 * exactly once:
 *
 *   pod with the finalizer ends --> its uid in status.uncountedTerminatedPods --> finalizer removed
 *     --> uid removed, status.succeeded or status.failed incremented
 *
 * A pod that is deleted before it ended counts as failed. If the outcome of a Job is decided
 * (SuccessCriteriaMet, FailureTarget), its pods are deleted; the Job becomes Complete or Failed
 * once all are deleted and counted.
 */
#define CONTROLLER "kubernetes.io/job-controller"
#define BACKOFF_MS 10000
#define BACKOFF_MAX_MS 600000

/* --- finalizers ------------------------------------------------------------------------------- */

static bool is_tracked(const json_t *pod)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_at(pod, "metadata", "finalizers"), i, v)
		if (str_eq(json_string_value(v), JOB_FINALIZER))
			return true;
	return false;
}

static void untrack(struct sim_workloads *s, const json_t *pod)
{
	json_t *rest = json_array(), *v;
	size_t i;

	json_array_foreach (json_at(pod, "metadata", "finalizers"), i, v)
		if (!str_eq(json_string_value(v), JOB_FINALIZER))
			json_array_append(rest, v);
	workloads_patch(s, &sim_kind_pod, pod, NULL,
			json_pack("{s:{s:s, s:s, s:o}}", "metadata", "uid", sim_object_uid(pod),
				  "resourceVersion",
				  json_str_at(pod, "metadata", "resourceVersion"), "finalizers",
				  rest));
}

static bool has_job(const struct sim_workloads *s, const json_t *pod)
{
	const char *uid = json_str_at(sim_object_controller(pod), "uid");
	json_t *job;
	size_t i;

	json_array_foreach (s->jobs, i, job)
		if (str_eq(sim_object_uid(job), uid))
			return true;
	return false;
}

bool job_free_orphans(struct sim_workloads *s)
{
	bool any = false;
	json_t *pod;
	size_t i;

	json_array_foreach (s->pods, i, pod) {
		if (!is_tracked(pod) || has_job(s, pod))
			continue;
		untrack(s, pod);
		any = true;
	}
	return any;
}

/* --- counting --------------------------------------------------------------------------------- */

static bool succeeded(const json_t *pod)
{
	return str_eq(json_str_at(pod, "status", "phase"), "Succeeded");
}

static bool failed(const json_t *pod)
{
	return str_eq(json_str_at(pod, "status", "phase"), "Failed") ||
	       (sim_object_is_going(pod) && !succeeded(pod));
}

static bool holds(const json_t *list, const char *uid)
{
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (str_eq(json_string_value(v), uid))
			return true;
	return false;
}

/* Tally of one outcome: uids that wait for the removal of their finalizer, and the number already
 * counted. */
struct tally {
	/* Uids in the stored status. */
	const json_t *was;
	json_t *waits;
	json_int_t counted;
};

static void tally_start(struct tally *t, const json_t *job, const char *outcome)
{
	t->was = json_at(job, "status", "uncountedTerminatedPods", outcome);
	t->waits = json_array();
	t->counted = json_int_at(job, "status", outcome) + (json_int_t)json_array_size(t->was);
}

static json_int_t tally_all(const struct tally *t)
{
	return t->counted + (json_int_t)json_array_size(t->waits);
}

static void tally_pod(struct tally *t, struct sim_workloads *s, const json_t *pod)
{
	if (holds(t->was, sim_object_uid(pod))) {
		untrack(s, pod);
		t->counted--;
	}
	json_array_append_new(t->waits, json_string(sim_object_uid(pod)));
}

static void count(struct job_view *v, struct tally *good, struct tally *bad)
{
	json_t *pod;
	size_t i;

	v->live = json_array();
	json_array_foreach (v->pods, i, pod) {
		if (sim_pod_is_over(pod)) {
			job_index_ended(v, pod);
		} else if (sim_object_is_going(pod)) {
			v->terminating++;
		} else {
			json_array_append(v->live, pod);
			v->ready += sim_object_is(pod, "Ready");
		}
		/* Counts the pod. A pod that the status already lists as failed, for example
		 * because it was deleted before it ended, stays failed even if it succeeded
		 * afterwards. */
		if (is_tracked(pod) && succeeded(pod) && !holds(bad->was, sim_object_uid(pod)))
			tally_pod(good, v->s, pod);
		else if (is_tracked(pod) && (failed(pod) || holds(bad->was, sim_object_uid(pod))))
			tally_pod(bad, v->s, pod);
	}
	v->succeeded = tally_all(good);
	v->failed = tally_all(bad);
	if (job_is_indexed(v->job))
		v->succeeded = job_index_count(v);
}

/* --- conditions ------------------------------------------------------------------------------- */

static json_t *condition(const struct job_view *v, const char *type, const char *reason,
			 const char *message)
{
	return workloads_condition(v->s, json_at(v->job, "status", "conditions"), type, "True",
				   reason, message);
}

static bool is_late(const struct job_view *v)
{
	json_int_t limit_s = json_int_at(v->job, "spec", "activeDeadlineSeconds");
	int64_t began = sim_object_time(json_at(v->job, "status", "startTime"));

	return limit_s && began && began + limit_s * 1000 <= workloads_now(v->s);
}

static bool has_succeeded(const struct job_view *v)
{
	/* Uses another rule for a Job without completions, which is a work queue: it is complete
	 * once a pod has succeeded and no pod runs any more. */
	if (!json_at(v->job, "spec", "completions"))
		return v->succeeded > 0 && !json_array_size(v->live) && !v->terminating;
	return v->succeeded >= json_int_at(v->job, "spec", "completions");
}

/* Returns the condition that decides the Job's outcome, which the caller owns; NULL: undecided. */
static json_t *verdict(const struct job_view *v)
{
	static const char *const types[] = {"FailureTarget", "SuccessCriteriaMet"};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (sim_object_is(v->job, types[i]))
			return json_incref(sim_object_condition(v->job, types[i]));
	if (v->failed > json_int_at(v->job, "spec", "backoffLimit"))
		return condition(v, "FailureTarget", "BackoffLimitExceeded",
				 "Job has reached the specified backoff limit");
	if (has_succeeded(v))
		return condition(v, "SuccessCriteriaMet", "CompletionsReached",
				 "Reached expected number of succeeded pods");
	if (is_late(v) && !v->suspended)
		return condition(v, "FailureTarget", "DeadlineExceeded",
				 "Job was active longer than specified deadline");
	return NULL;
}

static json_t *suspended_condition(const struct job_view *v)
{
	json_t *old = json_at(v->job, "status", "conditions");

	if (v->suspended)
		return workloads_condition(v->s, old, "Suspended", "True", "JobSuspended",
					   "Job suspended");
	return sim_object_condition(v->job, "Suspended")
		       ? workloads_condition(v->s, old, "Suspended", "False", "JobResumed",
					     "Job resumed")
		       : NULL;
}

/* --- pods ------------------------------------------------------------------------------------- */

static int64_t ended_at(const json_t *pod)
{
	int64_t last = 0;
	json_t *c;
	size_t i;

	json_array_foreach (json_at(pod, "status", "containerStatuses"), i, c) {
		int64_t at = sim_object_time(json_at(c, "state", "terminated", "finishedAt"));

		last = at > last ? at : last;
	}
	return last;
}

/* True while the back-off lasts. Its delay doubles with each failure since the last success. */
static bool waits(const struct job_view *v)
{
	int64_t good = 0, bad = 0, delay = BACKOFF_MS / 2;
	json_t *pod;
	size_t i;

	json_array_foreach (v->pods, i, pod)
		if (succeeded(pod) && ended_at(pod) > good)
			good = ended_at(pod);
	json_array_foreach (v->pods, i, pod) {
		int64_t at = ended_at(pod);

		if (succeeded(pod) || !sim_pod_is_over(pod) || at <= good)
			continue;
		bad = at > bad ? at : bad;
		delay = delay * 2 < BACKOFF_MAX_MS ? delay * 2 : BACKOFF_MAX_MS;
	}
	return bad && bad + delay > workloads_now(v->s);
}

static json_int_t wanted(const struct job_view *v)
{
	json_int_t width = json_int_at(v->job, "spec", "parallelism"), left;

	if (!json_at(v->job, "spec", "completions"))
		return v->succeeded ? (json_int_t)json_array_size(v->live) : width;
	left = json_int_at(v->job, "spec", "completions") - v->succeeded;
	return left < width ? left : width;
}

static json_t *new_pod(struct job_view *v)
{
	json_t *pod, *meta;

	if (job_is_indexed(v->job))
		pod = job_index_pod(v);
	else
		pod = workloads_pod(&sim_kind_job, v->job, sim_object_name(v->job));
	if (!pod)
		return NULL;
	meta = json_at(pod, "metadata");
	if (!json_object_get(meta, "finalizers"))
		json_object_set_new(meta, "finalizers", json_array());
	json_array_append_new(json_object_get(meta, "finalizers"), json_string(JOB_FINALIZER));
	return pod;
}

static void manage(struct job_view *v)
{
	json_int_t has = (json_int_t)json_array_size(v->live), missing = wanted(v) - has;
	bool only_failed = str_eq(json_str_at(v->job, "spec", "podReplacementPolicy"), "Failed");
	json_t *pod;

	if (missing < 0)
		workloads_shrink(v->s, v->live, (size_t)-missing);
	if (only_failed)
		missing -= v->terminating;
	if (missing <= 0 || waits(v))
		return;
	for (size_t n = workloads_burst(v->s, v->job, (size_t)missing); n > 0; n--) {
		pod = new_pod(v);
		if (!pod)
			return;
		workloads_create(v->s, &sim_kind_pod, v->job, &sim_kind_job, pod);
	}
}

/* --- status ----------------------------------------------------------------------------------- */

static const char *start_time(const struct job_view *v, char now[static STR_TIME_SIZE])
{
	const char *since = json_str_at(v->job, "status", "startTime");

	return v->suspended ? NULL : str_or(since, str_time(now, workloads_now(v->s)));
}

/* Returns the condition Complete or Failed. The caller must have checked that no pod remains and
 * all pods are counted. */
static json_t *last_word(const struct job_view *v, const json_t *verdict)
{
	bool good = str_eq(json_str_at(verdict, "type"), "SuccessCriteriaMet");

	return condition(v, good ? "Complete" : "Failed", json_str_at(verdict, "reason"),
			 json_str_at(verdict, "message"));
}

static void write_status(const struct job_view *v, struct tally *good, struct tally *bad,
			 json_t *verdict)
{
	bool settled = !json_array_size(v->live) && !v->terminating &&
		       !json_array_size(good->waits) && !json_array_size(bad->waits);
	char now[STR_TIME_SIZE];
	json_t *conditions = json_array(), *status, *suspended = suspended_condition(v);

	if (suspended)
		json_array_append_new(conditions, suspended);
	if (verdict)
		json_array_append(conditions, verdict);
	status = json_pack("{s:I, s:I, s:I, s:I, s:I, s:s*, s:{s:O, s:O}, s:O}", "active",
			   (json_int_t)json_array_size(v->live), "ready", v->ready, "terminating",
			   v->terminating, "succeeded", good->counted, "failed", bad->counted,
			   "startTime", start_time(v, now), "uncountedTerminatedPods", "succeeded",
			   good->waits, "failed", bad->waits, "conditions", conditions);
	if (job_is_indexed(v->job))
		json_object_set_new(status, "completedIndexes", job_index_text(v));
	if (verdict && settled) {
		json_t *last = last_word(v, verdict);

		json_array_append_new(conditions, last);
		if (str_eq(json_str_at(last, "type"), "Complete"))
			json_object_set_new(status, "completionTime",
					    json_string(str_time(now, workloads_now(v->s))));
	}
	json_decref(conditions);
	workloads_status(v->s, &sim_kind_job, v->job, status);
}

/* --- one Job ---------------------------------------------------------------------------------- */

static const json_t *end_of(const json_t *job)
{
	return sim_object_is(job, "Complete") ? sim_object_condition(job, "Complete")
	       : sim_object_is(job, "Failed") ? sim_object_condition(job, "Failed")
					      : NULL;
}

/* Deletes the Job if spec.ttlSecondsAfterFinished has passed since its end. */
static void expire(struct sim_workloads *s, const json_t *job)
{
	const json_t *ttl_s = json_at(job, "spec", "ttlSecondsAfterFinished");
	int64_t end = sim_object_time(json_at(end_of(job), "lastTransitionTime"));

	if (json_is_integer(ttl_s) && !sim_object_is_going(job) &&
	    end + json_integer_value(ttl_s) * 1000 <= workloads_now(s))
		workloads_delete(s, &sim_kind_job, job);
}

static void sync_pods(struct job_view *v)
{
	struct tally good, bad;
	OWN_JSON end = NULL;

	tally_start(&good, v->job, "succeeded");
	tally_start(&bad, v->job, "failed");
	job_index_start(v);
	count(v, &good, &bad);
	end = verdict(v);
	write_status(v, &good, &bad, end);
	if (end || v->suspended)
		workloads_shrink(v->s, v->live, json_array_size(v->live));
	else if (!sim_object_is_going(v->job))
		manage(v);
	json_decref(good.waits);
	json_decref(bad.waits);
	json_decref(v->live);
	job_index_end(v);
}

void job_sync(struct sim_workloads *s, json_t *job)
{
	struct job_view v = {.s = s, .job = job, .suspended = json_true_at(job, "spec", "suspend")};

	if (!str_eq(str_or(json_str_at(job, "spec", "managedBy"), CONTROLLER), CONTROLLER))
		return;
	if (end_of(job)) {
		expire(s, job);
		return;
	}
	v.pods = workloads_claim(s, &sim_kind_job, job, &sim_kind_pod, s->pods, false);
	sync_pods(&v);
	json_decref(v.pods);
}
