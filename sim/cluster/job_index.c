#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/cluster/job_impl.h"

/*
 * Jobs with completionMode Indexed: each pod has one of the indexes 0 to completions - 1, and the
 * Job is complete when each index has succeeded once.
 * Tests: tests/unit/sim/cluster/test_job.c
 */
#define INDEXES_MAX 100000 /* The same limit as in kube-apiserver. */
#define TEXT_MAX (1u << 20)

bool job_is_indexed(const json_t *job)
{
	return str_eq(json_str_at(job, "spec", "completionMode"), "Indexed");
}

/* Returns the index of a pod; -1: the pod has no index, or one that this Job's completions do not
 * include. */
static int64_t index_of(const struct job_view *v, const json_t *pod)
{
	const char *text = json_str_at(pod, "metadata", "annotations", JOB_INDEX);
	int64_t n;

	return text && v->nindexes && str_to_i64(text, 0, (int64_t)v->nindexes - 1, &n) ? n : -1;
}

static void mark_range(struct job_view *v, const char *from, const char *to)
{
	int64_t a, b, top = (int64_t)v->nindexes - 1;

	if (top >= 0 && str_to_i64(from, 0, top, &a) && str_to_i64(to, a, top, &b))
		memset(v->done + a, 1, (size_t)(b - a + 1));
}

static void read_text(struct job_view *v, const char *text)
{
	char *copy = mem_strdup(text), *rest = copy, *part;

	while (rest && (part = strsep(&rest, ","))) {
		char *dash = strchr(part, '-');

		if (dash)
			*dash++ = '\0';
		mark_range(v, part, dash ? dash : part);
	}
	free(copy);
}

void job_index_start(struct job_view *v)
{
	json_int_t n = json_int_at(v->job, "spec", "completions");

	if (!job_is_indexed(v->job))
		return;
	v->nindexes = n < 0 ? 0 : n < INDEXES_MAX ? (size_t)n : INDEXES_MAX;
	v->done = mem_alloc(v->nindexes + 1);
	v->held = mem_alloc(v->nindexes + 1);
	read_text(v, str_or(json_str_at(v->job, "status", "completedIndexes"), ""));
}

void job_index_end(struct job_view *v)
{
	free(v->done);
	free(v->held);
}

void job_index_ended(struct job_view *v, const json_t *pod)
{
	int64_t n = index_of(v, pod);

	if (n >= 0 && str_eq(json_str_at(pod, "status", "phase"), "Succeeded"))
		v->done[n] = 1;
}

json_int_t job_index_count(const struct job_view *v)
{
	json_int_t n = 0;

	for (size_t i = 0; i < v->nindexes; i++)
		n += v->done[i];
	return n;
}

json_t *job_index_text(const struct job_view *v)
{
	json_t *text;
	struct buf b;

	buf_init(&b, TEXT_MAX);
	for (size_t i = 0, end; i < v->nindexes; i = end + 1) {
		for (end = i; end < v->nindexes && v->done[end];)
			end++;
		if (end == i)
			continue;
		buf_printf(&b, "%s%zu", b.len ? "," : "", i);
		if (end - i > 1)
			buf_printf(&b, "%s%zu", end - i > 2 ? "-" : ",", end - 1);
	}
	text = json_string(b.data ? b.data : "");
	buf_done(&b);
	return text;
}

static void add_env(json_t *containers, const char *index)
{
	json_t *c, *env;
	size_t i;

	json_array_foreach (containers, i, c) {
		env = json_object_get(c, "env");
		if (!env) {
			env = json_array();
			json_object_set_new(c, "env", env);
		}
		json_array_append_new(env, json_pack("{s:s, s:s}", "name", "JOB_COMPLETION_INDEX",
						     "value", index));
	}
}

static void put(json_t *meta, const char *map, const char *key, const char *value)
{
	if (!json_object_get(meta, map))
		json_object_set_new(meta, map, json_object());
	json_object_set_new(json_object_get(meta, map), key, json_string(value));
}

static json_t *pod_of(const struct job_view *v, size_t n)
{
	const char *name = sim_object_name(v->job);
	char *index = mem_printf("%zu", n), *base = mem_printf("%s-%zu", name, n);
	json_t *pod = workloads_pod(&sim_kind_job, v->job, base), *spec = json_at(pod, "spec");

	put(json_at(pod, "metadata"), "labels", JOB_INDEX, index);
	put(json_at(pod, "metadata"), "annotations", JOB_INDEX, index);
	if (!json_object_get(spec, "hostname"))
		json_object_set_new(spec, "hostname", json_string(base));
	add_env(json_at(spec, "containers"), index);
	add_env(json_at(spec, "initContainers"), index);
	free(index);
	free(base);
	return pod;
}

json_t *job_index_pod(struct job_view *v)
{
	json_t *pod;
	size_t i;

	json_array_foreach (v->live, i, pod)
		if (index_of(v, pod) >= 0)
			v->held[index_of(v, pod)] = 1;
	for (i = 0; i < v->nindexes; i++) {
		if (v->done[i] || v->held[i])
			continue;
		v->held[i] = 1;
		return pod_of(v, i);
	}
	return NULL;
}
