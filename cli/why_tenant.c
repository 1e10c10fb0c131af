#include "cli/why_tenant.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/data/age.h"
#include "base/buf.h"
#include "base/str.h"
#include "controller/explain/pod_remedy.h"

#define LIST_TEXT TENANT_LIST_NS "/" TENANT_LIST_NAME
#define LIST_PATH "/api/v1/namespaces/" TENANT_LIST_NS "/configmaps/" TENANT_LIST_NAME
#define OUT_MAX (8u << 20)
/* Age of drover's list, in ms, beyond which the list is reported as old. drover writes it every 5
 * min. */
#define OLD_MS 600000

bool why_tenant_is(struct cli_client *c)
{
	struct err e;
	OWN_JSON group = cli_path(c, "/apis/" OBJECT_GROUP, &e);

	return !group && e.kind == ERR_NOT_FOUND;
}

/* Returns drover's list of waiting pods, owned by the caller; NULL after printing why there is
 * none. */
static json_t *read_list(struct cli_client *c)
{
	struct err e;
	OWN_JSON o = cli_path(c, LIST_PATH, &e);
	const char *text = json_str_at(o, "data", TENANT_LIST_KEY);
	json_t *list = text ? json_parse(text, strlen(text), &e) : NULL;

	if (list)
		return list;
	if (!o && e.kind == ERR_NOT_FOUND)
		(void)cli_failed(c,
				 "this cluster has no objects of drover and no ConfigMap " LIST_TEXT
				 ": use the kubeconfig of drover's host "
				 "cluster or of a tenant (--kubeconfig, --context)");
	else if (!o && e.kind == ERR_DENIED)
		(void)cli_failed(c,
				 "%s; the administrator of this cluster can allow it: kubectl "
				 "apply -f deploy/tenant-rbac.yaml",
				 e.text);
	else
		(void)cli_failed(c, "ConfigMap " LIST_TEXT ": %s",
				 o && !text ? "it has no key " TENANT_LIST_KEY : e.text);
	return NULL;
}

/* --- printing --------------------------------------------------------------------------------- */

/* Appends a row; control characters, which must not control the terminal, become '?'. */
static void row(struct buf *out, struct arena *a, const char *label, const char *text)
{
	char *line;

	if (str_empty(text))
		return;
	line = arena_printf(a, "  %-12s %s", label, text);
	str_printable(line);
	buf_printf(out, "%s\n", line);
}

static const char *place_of(const json_t *list, const json_t *pod, struct arena *a)
{
	const long long place = json_int_at(pod, "place");

	return place ? arena_printf(a, "%lld of %lld in the queue of all tenants", place,
				    (long long)json_int_at(list, "queueLength"))
		     : NULL;
}

static void print_quota(struct buf *out, struct arena *a, const json_t *list)
{
	const json_t *used = json_object_get(list, "allocated");
	const char *name;
	json_t *limit;

	json_object_foreach (json_object_get(list, "quota"), name, limit)
		row(out, a, "quota",
		    arena_printf(a, "%s: %s of %s used", name, str_or(json_str_at(used, name), "0"),
				 json_string_value(limit)));
}

static void print_age(struct buf *out, struct arena *a, const json_t *list, int64_t now)
{
	const char *time = json_str_at(list, "time");
	int64_t t;

	row(out, a, "as of", age_span(time, now, a));
	if (time && str_to_time(time, &t) && now - t > OLD_MS)
		row(out, a, "note",
		    "drover has not updated this list for more than 10 min: ask drover's "
		    "administrator");
}

static void print_pod(struct cli_client *c, const json_t *answer)
{
	OWN(arena) a = arena_new();
	const json_t *pod = json_object_get(answer, "waiting");
	const int64_t now = loop_wall(c->loop);
	const char *p50 = json_str_at(pod, "expectedP50");
	struct buf out;

	buf_init(&out, OUT_MAX);
	row(&out, a, "pod", json_str_at(answer, "pod"));
	row(&out, a, "phase", json_str_at(answer, "phase"));
	row(&out, a, "node", json_str_at(answer, "node"));
	row(&out, a, "place", place_of(answer, pod, a));
	if (p50)
		row(&out, a, "expected",
		    arena_printf(a, "%s (half of such pods), %s (nine of ten)",
				 age_span(p50, now, a),
				 age_span(json_str_at(pod, "expectedP90"), now, a)));
	row(&out, a, "reason", json_str_at(pod, "reason"));
	row(&out, a, "since", age_span(json_str_at(pod, "since"), now, a));
	row(&out, a, "", json_str_at(pod, "message"));
	row(&out, a, "waits for", json_str_at(answer, "waitingFor"));
	print_quota(&out, a, answer);
	row(&out, a, "what helps", json_str_at(answer, "helps"));
	print_age(&out, a, answer, now);
	fwrite(out.data, 1, out.len, c->out);
	buf_done(&out);
}

static void print_all(struct cli_client *c, const json_t *list)
{
	OWN(arena) a = arena_new();
	const long long left = json_int_at(list, "left");
	const int64_t now = loop_wall(c->loop);
	struct buf out;
	size_t i;
	json_t *x;

	buf_init(&out, OUT_MAX);
	json_array_foreach (json_object_get(list, "pods"), i, x)
		row(&out, a, json_int_at(x, "place") ? "waits" : "-",
		    arena_printf(
			    a, "%s  %s%s%s", json_str_at(x, "pod"),
			    str_or(json_str_at(x, "reason"), ""),
			    json_int_at(x, "place") ? ", place " : "",
			    json_int_at(x, "place")
				    ? arena_printf(a, "%lld", (long long)json_int_at(x, "place"))
				    : ""));
	if (left)
		row(&out, a, "-", arena_printf(a, "and %lld more", left));
	if (!json_int_at(list, "total"))
		row(&out, a, "pods", "no pod waits for a machine of drover");
	print_quota(&out, a, list);
	print_age(&out, a, list, now);
	fwrite(out.data, 1, out.len, c->out);
	buf_done(&out);
}

static void print_json(struct cli_client *c, const json_t *j)
{
	json_dumpf(j, c->out, JSON_INDENT(2));
	fputc('\n', c->out);
}

/* --- one pod ---------------------------------------------------------------------------------- */

static const json_t *find(const json_t *list, const char *key)
{
	size_t i;
	json_t *x;

	json_array_foreach (json_object_get(list, "pods"), i, x)
		if (str_eq(json_str_at(x, "pod"), key))
			return x;
	return NULL;
}

/* True if s has only characters of names of pods and namespaces, so that it cannot change the path
 * of a request. */
static bool is_name(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789.-")];
}

/* Splits a target into namespace and name. Returns false after printing what is wrong. */
static bool split(struct cli_client *c, const json_t *list, const char *target, const char **ns,
		  const char **pod, struct arena *a)
{
	char *text = arena_strdup(a, target), *part[3], *more;
	size_t n = 0;

	if (str_starts(text, "pod/"))
		text += 4;
	else if (str_starts(text, "pods/"))
		text += 5;
	for (more = text; more && n < 3; n++)
		part[n] = strsep(&more, "/");
	if (more || !is_name(part[n - 1]) || !is_name(part[0]) || !is_name(part[n / 2])) {
		(void)cli_failed(c, "want POD or NAMESPACE/POD, got '%s'", target);
		return false;
	}
	if (n == 3 && !str_eq(part[0], json_str_at(list, "tenant"))) {
		(void)cli_failed(c, "this cluster is tenant %s, not %s",
				 str_or(json_str_at(list, "tenant"), "?"), part[0]);
		return false;
	}
	if (n > 1)
		*ns = part[n - 2];
	*pod = part[n - 1];
	return true;
}

/* For a pod that is not in drover's list: returns what the pod waits for. NULL: the pod does not
 * wait. */
static const char *not_listed(const json_t *pod)
{
	if (!json_str_at(pod, "spec", "nodeName") &&
	    str_eq(json_str_at(pod, "status", "phase"), "Pending"))
		return "kube-scheduler, or drover's next plan: a few seconds after kube-scheduler "
		       "marked the pod Unschedulable";
	return NULL;
}

static int explain(struct cli_client *c, const json_t *list, const char *ns, const char *name)
{
	OWN(arena) a = arena_new();
	struct err e;
	const char *key = arena_printf(a, "%s/%s", ns, name);
	const json_t *waiting = find(list, key);
	OWN_JSON pod = cli_path(c, arena_printf(a, "/api/v1/namespaces/%s/pods/%s", ns, name), &e);
	OWN_JSON answer = json_object();
	static const char *const same[] = {"tenant", "queueLength", "quota", "allocated", "time"};
	const char *text;

	if (!pod && (e.kind == ERR_NOT_FOUND || !waiting))
		return cli_failed(c, "pod %s: %s", key, e.text);
	json_object_set_new(answer, "pod", json_string(key));
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (json_object_get(list, same[i]))
			json_object_set(answer, same[i], json_object_get(list, same[i]));
	if ((text = json_str_at(pod, "status", "phase")))
		json_object_set_new(answer, "phase", json_string(text));
	if ((text = json_str_at(pod, "spec", "nodeName")))
		json_object_set_new(answer, "node", json_string(text));
	if (waiting && !text) {
		json_object_set_new(answer, "waiting", json_deep_copy(waiting));
		text = pod_remedy(json_str_at(waiting, "reason"));
		if (text)
			json_object_set_new(answer, "helps", json_string(text));
	} else if ((text = not_listed(pod))) {
		json_object_set_new(answer, "waitingFor", json_string(text));
	}
	if (c->json)
		print_json(c, answer);
	else
		print_pod(c, answer);
	return 0;
}

int cli_do_why_tenant(struct cli_client *c, const char *pod, const char *ns)
{
	OWN(arena) a = arena_new();
	OWN_JSON list = read_list(c);

	if (!list)
		return 1;
	if (pod)
		return split(c, list, pod, &ns, &pod, a) ? explain(c, list, ns, pod) : 1;
	if (c->json)
		print_json(c, list);
	else
		print_all(c, list);
	return 0;
}
