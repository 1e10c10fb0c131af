#include "controller/tenant/pod_asks.h"

#include <string.h>

#include "api/annotations.h"
#include "base/str.h"
#include "controller/tenant/tenant.h"

#define DATA_CLASS_MAX 63
#define ATTEMPTS_MAX 1000000
/* Bytes of an invalid value that the error shows; the tenant chooses the length. */
#define SHOWN 40

static const char *note(const json_t *pod, const char *name)
{
	return json_str_at(pod, "metadata", "annotations", name);
}

static const char *wrong(const char *name, const char *want, const char *got, struct arena *a)
{
	char *shown = arena_strndup(a, got, strnlen(got, SHOWN));

	str_printable(shown);
	return arena_printf(a, "annotation %s: want %s, got \"%s\"%s", name, want, shown,
			    strlen(got) > SHOWN ? " and more" : "");
}

static bool is_class(const char *s)
{
	const size_t n =
		strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

	return n && n <= DATA_CLASS_MAX && !s[n];
}

/* True if text is a duration of more than 0 and at most POD_ASKS_RUNTIME_MAX, in *ms; else *ms is
 * not specified. */
static bool duration_of(const char *text, int64_t *ms)
{
	return str_to_duration(text, ms) && *ms > 0 && *ms <= POD_ASKS_RUNTIME_MAX;
}

/* Returns the time, ms, after which the kubelet ends the pod (core/v1
 * PodSpec.activeDeadlineSeconds); 0: never. */
static int64_t deadline_of(const json_t *pod)
{
	const int64_t s = json_int_at(pod, "spec", "activeDeadlineSeconds");

	return s > 0 && s <= INT32_MAX ? s * 1000 : 0;
}

/* Returns the number of earlier attempts that the label or the annotation of JobSet contains: the
 * larger one; 0: none, or no valid number. */
static int64_t attempts_of(const json_t *pod)
{
	const char *texts[] = {json_str_at(pod, "metadata", "labels", POD_ASKS_ATTEMPT),
			       note(pod, POD_ASKS_ATTEMPT)};
	int64_t most = 0, n;

	for (size_t i = 0; i < 2; i++)
		if (texts[i] && str_to_i64(texts[i], 0, ATTEMPTS_MAX, &n) && n > most)
			most = n;
	return most;
}

const struct pod_asks *pod_asks_of(const json_t *pod, struct arena *a)
{
	const char *runs = note(pod, ASKS_RUNTIME), *start = note(pod, ASKS_START_BY),
		   *class = note(pod, ASKS_DATA_CLASS), *interval = note(pod, ASKS_INTERVAL),
		   *data = note(pod, ASKS_DATA);
	const int64_t deadline = deadline_of(pod), restarts = attempts_of(pod);
	struct pod_asks *p;

	if (!runs && !start && !class && !interval && !data && !deadline && !restarts)
		return NULL;
	p = arena_new_obj(a, struct pod_asks);
	p->restarts = restarts;
	if (runs && !duration_of(runs, &p->runs_ms))
		p->wrong = wrong(ASKS_RUNTIME, "a duration up to a year such as 3h", runs, a);
	else if (deadline && (!runs || deadline < p->runs_ms))
		p->runs_ms = deadline;
	if (start && !str_to_time(start, &p->start_by))
		p->wrong = wrong(ASKS_START_BY, "a time such as 2026-12-01T10:20:00Z", start, a);
	if (class && is_class(class))
		p->data_class = arena_strdup(a, class);
	else if (class)
		p->wrong = wrong(ASKS_DATA_CLASS, "1 to 63 letters, digits, '-', '_' and '.'",
				 class, a);
	if (interval && !duration_of(interval, &p->interval_ms))
		p->wrong = wrong(ASKS_INTERVAL, "a duration up to a year such as 30m", interval, a);
	if (data && !burst_data_names(data, &p->data, a))
		p->wrong = wrong(ASKS_DATA, "1 to 16 names of data sets, separated by commas", data,
				 a);
	return p;
}

const struct pod_asks *pod_asks_get(const struct tenant *t, const char *ns, const char *name,
				    struct arena *a)
{
	const struct tenant_pod *p = t->pods ? KUBE_CACHE_GET(t->pods, tenant_pod, ns, name) : NULL;
	struct pod_asks *copy;

	if (!p || !p->unplaced || !p->unplaced->asks)
		return NULL;
	copy = arena_new_obj(a, struct pod_asks);
	*copy = *p->unplaced->asks;
	copy->data_class = arena_strdup(a, copy->data_class);
	copy->wrong = arena_strdup(a, copy->wrong);
	copy->data.v = arena_calloc(a, copy->data.n + 1, sizeof(*copy->data.v));
	for (size_t i = 0; i < copy->data.n; i++)
		copy->data.v[i] = arena_strdup(a, p->unplaced->asks->data.v[i]);
	return copy;
}
