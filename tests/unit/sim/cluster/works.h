#ifndef TESTS_UNIT_SIM_CLUSTER_WORKS_H
#define TESTS_UNIT_SIM_CLUSTER_WORKS_H

#include "tests/unit/kube/apiserver/api_rig.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/cluster/objects.h"
#include "sim/cluster/workloads.h"

/*
 * works: sim's controllers for workloads and an API server on the simulated loop; the test acts as
 * kubelet. Each test program can include it only once.
 */
#define ORIGIN "https://api:6443"
#define APPS "/apis/apps/v1/namespaces/default"
#define DEPLOYMENTS APPS "/deployments"
#define SETS APPS "/replicasets"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define PODS "/api/v1/namespaces/default/pods"
#define TURN_MS 3000 /* Longer than one or two rounds of the controllers */

struct works {
	struct api r;
	struct sim_workloads *s;
};

static inline void works_begin(struct works *w)
{
	struct sim_rounds_spec spec = {.server = ORIGIN, .http = w->r.h};
	struct err e;

	w->s = sim_workloads_new(w->r.g, &spec, &e);
	assert_non_null(w->s);
}

static inline int setup(void **state)
{
	struct works *w = mem_new(struct works);

	api_start(&w->r,
		  &(struct apiserver_spec){
			  .controllers = true, .checks = true, .graceful_pods = true},
		  10000);
	works_begin(w);
	*state = w;
	return 0;
}

static inline int teardown(void **state)
{
	struct works *w = *state;

	sim_workloads_free(w->s);
	api_stop(&w->r);
	free(w);
	return 0;
}

static inline void turn(struct works *w)
{
	api_run(&w->r, TURN_MS);
}

static inline void create(struct works *w, const char *path, const char *body)
{
	api_do(&w->r, "POST", path, body);
	assert_status(&w->r, 201);
}

static inline void merge(struct works *w, const char *path, const char *body)
{
	api_patch(&w->r, "merge-patch+json", path, body);
	assert_status(&w->r, 200);
}

static inline void get(struct works *w, const char *path)
{
	api_do(&w->r, "GET", path, NULL);
	assert_status(&w->r, 200);
}

/* Returns a count from the status that was read last. The API server omits counts of 0. */
static inline int64_t status_count(struct works *w, const char *member)
{
	char path[80];
	int64_t n;

	str_format(path, sizeof(path), "status.%s", member);
	n = api_int(&w->r, path);
	return n < 0 ? 0 : n;
}

/* Returns the items of a list as a new reference that the caller owns. */
static inline json_t *items(struct works *w, const char *path)
{
	get(w, path);
	return json_incref(json_at(w->r.j, "items"));
}

static inline size_t count(struct works *w, const char *path)
{
	OWN_JSON all = items(w, path);

	return json_array_size(all);
}

static inline void pod_path(char out[static 160], const json_t *pod, const char *sub)
{
	str_format(out, 160, PODS "/%s%s", sim_object_name(pod), sub);
}

static inline void set_phase(struct works *w, const json_t *pod, const char *phase, bool ready)
{
	char path[160], body[512], now[STR_TIME_SIZE];

	str_time(now, loop_wall(w->r.l));
	str_format(body, sizeof(body),
		   "{'status':{'phase':'%s','conditions':[{'type':'Ready','status':'%s',"
		   "'lastTransitionTime':'%s'}],'containerStatuses':[{'name':'c','image':'x',"
		   "'imageID':'x','ready':%s,'restartCount':0,'state':{'terminated':{'exitCode':0,"
		   "'finishedAt':'%s'}}}]}}",
		   phase, ready ? "True" : "False", now, ready ? "true" : "false", now);
	pod_path(path, pod, "/status");
	merge(w, path, body);
}

/* Acts as kubelet: makes each pod bound and Ready, and removes pods that are being deleted. */
static inline void kubelet(struct works *w)
{
	OWN_JSON all = items(w, PODS);
	char path[160];
	json_t *pod;
	size_t i;

	json_array_foreach (all, i, pod) {
		if (sim_object_is_going(pod)) {
			pod_path(path, pod, "");
			api_do(&w->r, "DELETE", path, "{'gracePeriodSeconds':0}");
			continue;
		}
		if (sim_pod_is_over(pod) || sim_object_is(pod, "Ready"))
			continue;
		pod_path(path, pod, "/binding");
		api_do(&w->r, "POST", path,
		       "{'metadata':{'name':'x'},'target':{'kind':'Node','name':'n1'}}");
		set_phase(w, pod, "Running", true);
	}
}

/* Runs until the controllers make no more changes. */
static inline void settle(struct works *w)
{
	for (int i = 0; i < 12; i++) {
		turn(w);
		kubelet(w);
	}
	turn(w);
}

/* Sets the phase of all running pods, such as "Succeeded". */
static inline void end_pods(struct works *w, const char *phase)
{
	OWN_JSON all = items(w, PODS);
	json_t *pod;
	size_t i;

	json_array_foreach (all, i, pod)
		if (!sim_pod_is_over(pod) && !sim_object_is_going(pod))
			set_phase(w, pod, phase, false);
}

static inline const char *reason_of(struct works *w, const char *path, const char *condition)
{
	get(w, path);
	return str_or(json_str_at(sim_object_condition(w->r.j, condition), "reason"), "");
}

static inline bool is(struct works *w, const char *path, const char *condition)
{
	get(w, path);
	return sim_object_is(w->r.j, condition);
}

#endif
