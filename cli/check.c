/*
 * check: `drover check`: checks everything that an installation needs. Prints the findings, the
 * most severe first, each with how to fix it.
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "api/crd.h"
#include "base/args.h"
#include "base/arena.h"
#include "base/data/yaml.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/check.h"
#include "cli/cli.h"
#include "cli/lease_holder.h"
#include "cli/verbs.h"

/* tolerated difference: the Date header has a resolution of seconds, and a call takes time */
#define SKEW_MS INT64_C(5000)
#define CRDS_MAX ((size_t)16 << 20)
/* MINOR_LEAST: first minor version of Kubernetes with ValidatingAdmissionPolicy, which
 * deploy/rbac.yaml uses. MINOR_TESTED: the minor version of the tests on real parts
 * (tests/real/parts/build). MINOR_FAR: difference from MINOR_TESTED that is a warning. */
enum { MINOR_LEAST = 30, MINOR_TESTED = 36, MINOR_FAR = 2 };

/* --- the API server --------------------------------------------------------------------------- */

static void check_clock(struct check *k)
{
	int64_t server, at, ahead;
	char t[STR_TIME_SIZE];

	if (!kube_client_date(k->c->host, &server, &at)) {
		findings_add(k->f, FINDING_UNKNOWN, "clock", NULL,
			     "the API server sent no Date header, so its clock cannot be checked");
		return;
	}
	ahead = server + loop_now(k->c->loop) - at - loop_wall(k->c->loop);
	if (llabs(ahead) <= SKEW_MS)
		findings_add(k->f, FINDING_OK, "clock", NULL,
			     "the API server's clock agrees with the local clock");
	else
		findings_add(
			k->f, FINDING_WRONG, "clock",
			"synchronize both clocks with NTP; until then, ages shown here and times "
			"that drover compares are wrong by that amount",
			"the API server's clock is %s %s the local clock",
			str_duration(t, llabs(ahead) / 1000 * 1000),
			ahead > 0 ? "ahead of" : "behind");
}

static void check_version(struct check *k, const char *version)
{
	const char *dot = version ? strchr(version, '.') : NULL;
	int64_t minor = 0;
	char digits[8];

	str_format(digits, sizeof(digits), "%.*s", dot ? (int)strspn(dot + 1, "0123456789") : 0,
		   dot ? dot + 1 : "");
	if (!str_starts(str_or(version, ""), "v1.") || !str_to_i64(digits, 0, 9999, &minor))
		findings_add(k->f, FINDING_UNKNOWN, "API server", NULL,
			     "the API server reports an unknown version: %s",
			     str_or(version, "none"));
	else if (minor < MINOR_LEAST)
		findings_add(k->f, FINDING_WRONG, "API server",
			     "upgrade to Kubernetes 1.30 or later; older versions lack "
			     "ValidatingAdmissionPolicy, which limits what users with the "
			     "ClusterRole drover-oncall may change",
			     "version %s is too old", version);
	else if (llabs(minor - MINOR_TESTED) >= MINOR_FAR)
		findings_add(k->f, FINDING_WARNING, "API server",
			     minor < MINOR_TESTED
				     ? "upgrade the host cluster when you can; until then try each "
				       "version of drover on a test cluster of this version"
				     : "try drover on a test cluster of this version, or install a "
				       "newer drover",
			     "reachable, %s: %lld minor versions %s than 1.%d, with which this "
			     "drover was tested",
			     version, llabs(minor - MINOR_TESTED),
			     minor < MINOR_TESTED ? "older" : "newer", MINOR_TESTED);
	else
		findings_add(k->f, FINDING_OK, "API server", NULL, "reachable, %s", version);
}

/* Checks whether the API server answers, and checks its version and its clock. Returns false if the
 * API server cannot be reached, so that no other check can run. */
static bool check_server(struct check *k)
{
	struct err e;
	OWN_JSON v = cli_path(k->c, "/version", &e);

	if (!v && e.code == 403) {
		findings_add(k->f, FINDING_UNKNOWN, "API server", NULL, "%s", e.text);
		return true;
	}
	if (!v) {
		findings_add(k->f, FINDING_WRONG, "API server",
			     str_or(cli_remedy(&e),
				    "check that the API server runs, and that --kubeconfig and "
				    "--context name the right cluster and user"),
			     "%s", e.text);
		return false;
	}
	check_version(k, json_str_at(v, "gitVersion"));
	check_clock(k);
	return true;
}

/* --- CustomResourceDefinitions ---------------------------------------------------------------- */

/* True for a value that an API server may omit when it stores an object: false, "", [] or {}. */
static bool is_empty(const json_t *v)
{
	return json_is_false(v) || (json_is_string(v) && !*json_string_value(v)) ||
	       (json_is_array(v) && !json_array_size(v)) ||
	       (json_is_object(v) && !json_object_size(v));
}

/* Compares a part of a CustomResourceDefinition in this version of drover (ours) with that in the
 * cluster (theirs). at: path of the part. Every member of ours must be in theirs, except empty
 * members. `properties` must have the same keys in both; other members that the server adds are
 * ignored. Returns the path of the first difference; NULL: none. */
static const char *differs(const json_t *ours, const json_t *theirs, const char *at,
			   struct arena *a)
{
	bool exact = str_ends(at, ".properties");
	const char *key, *found = NULL;
	json_t *v;
	size_t i;

	if (json_is_number(ours) && json_is_number(theirs))
		return json_number_value(ours) < json_number_value(theirs) ||
				       json_number_value(ours) > json_number_value(theirs)
			       ? at
			       : NULL;
	if (!theirs || json_typeof(ours) != json_typeof(theirs))
		return at;
	if (json_is_array(ours)) {
		if (json_array_size(ours) != json_array_size(theirs))
			return at;
		json_array_foreach (ours, i, v)
			if ((found = differs(v, json_array_get(theirs, i),
					     arena_printf(a, "%s[%zu]", at, i), a)))
				return found;
		return NULL;
	}
	if (!json_is_object(ours))
		return json_equal(ours, theirs) ? NULL : at;
	json_object_foreach ((json_t *)ours, key, v) {
		const char *below = arena_printf(a, "%s.%s", at, key);
		const json_t *other = json_object_get(theirs, key);

		if (!other && !is_empty(v))
			return below;
		if (!other)
			continue;
		if ((found = differs(v, other, below, a)))
			return found;
	}
	if (exact)
		json_object_foreach ((json_t *)theirs, key, v)
			if (!json_object_get(ours, key))
				return arena_printf(a, "%s.%s", at, key);
	return NULL;
}

static bool has_condition(const json_t *o, const char *type)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return str_eq(json_str_at(c, "status"), "True");
	return false;
}

static void check_definition(struct check *k, const json_t *ours)
{
	static const char *const apply = "drover crds | kubectl apply -f -";
	const char *name = json_str_at(ours, "metadata", "name"), *at;
	OWN(arena) a = arena_new();
	struct err e;
	OWN_JSON theirs = cli_path(
		k->c,
		arena_printf(a, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s", name),
		&e);

	if (!theirs && e.kind == ERR_NOT_FOUND) {
		findings_add(k->f, FINDING_WRONG, name, apply, "not installed");
		return;
	}
	if (!theirs) {
		findings_add(k->f, FINDING_UNKNOWN, name,
			     "give your user the permission `get` on customresourcedefinitions",
			     "%s", e.text);
		return;
	}
	at = differs(json_object_get(ours, "spec"), json_object_get(theirs, "spec"), "spec", a);
	if (!has_condition(theirs, "Established"))
		findings_add(k->f, FINDING_WRONG, name,
			     "find the conflicting names in its conditions: kubectl describe crd",
			     "not established: the API server does not serve this type");
	else if (at)
		findings_add(k->f, FINDING_WRONG, name,
			     "drover crds | kubectl apply -f -, or use the version of drover that "
			     "runs in the cluster",
			     "differs from the definition of this drover (" DROVER_VERSION
			     "), at %s",
			     at);
	else
		findings_add(k->f, FINDING_OK, name, NULL,
			     "established, and the same as in this drover");
}

static void check_definitions(struct check *k)
{
	struct buf text;
	struct err e;
	json_t *v;
	size_t i;
	OWN_JSON all = NULL;

	buf_init(&text, CRDS_MAX);
	crds_write(&text);
	all = yaml_parse_all(text.data, text.len, &e);
	buf_done(&text);
	json_array_foreach (all, i, v)
		check_definition(k, v);
}

/* --- the leader ------------------------------------------------------------------------------- */

/* Also sets k->leader. */
static void check_lease(struct check *k)
{
	OWN(arena) a = arena_new();
	const char *mend = arena_printf(
		a, "kubectl -n %s get pods -l app=drover, then read their logs", k->ns);
	struct lease_holder h;
	char t[STR_TIME_SIZE];
	struct err e;

	if (lease_holder_read(k->c, k->ns, &h, &e) < 0) {
		findings_add(k->f, FINDING_UNKNOWN, "controller",
			     "give your user the permission `get` on leases in drover's namespace",
			     "%s", e.text);
		return;
	}
	k->leader = *h.name ? mem_strdup(h.name) : NULL;
	if (h.state == LEASE_HELD && h.audit_file_fails[0])
		findings_add(
			k->f, FINDING_WRONG, "audit log",
			"make room on the disk, or correct --audit-log of drover run; no entry "
			"is lost meanwhile, as docs/audit.md says",
			"%s", h.audit_file_fails);
	switch (h.state) {
	case LEASE_NONE:
		findings_add(
			k->f, FINDING_WRONG, "controller",
			"install drover (docs/install.md); or give -n NAMESPACE if drover runs in "
			"another namespace",
			"no controller has ever run here: there is no Lease " CONTROLLER_LEASE
			" in namespace %s",
			k->ns);
		break;
	case LEASE_FREE:
		findings_add(k->f, FINDING_WRONG, "controller", mend,
			     "no replica of the controller is the leader");
		break;
	case LEASE_EXPIRED:
		findings_add(k->f, FINDING_WRONG, "controller", mend,
			     "the leader, replica %s, has not renewed its Lease for %s", h.name,
			     str_duration(t, h.age_ms / 1000 * 1000));
		break;
	case LEASE_HELD:
		findings_add(k->f, FINDING_OK, "controller", NULL,
			     "the leader is replica %s, which renewed its Lease %s ago", h.name,
			     str_duration(t, h.age_ms / 1000 * 1000));
		break;
	}
}

/* --- the command ------------------------------------------------------------------------------ */

static int check(struct cli_client *c, const char *ns, bool probe)
{
	OWN(findings) f = findings_new();
	OWN_JSON missing = json_array();
	struct check k = {.c = c, .ns = ns, .f = f, .missing = missing};

	if (check_server(&k) && check_caller(&k)) {
		check_definitions(&k);
		check_rights(&k);
		check_policies(&k);
		check_lease(&k);
		check_service(&k);
		check_deployment(&k);
		check_objects(&k);
		if (probe)
			check_reach(&k);
	}
	free(k.leader);
	findings_print(f, c->json, cli_colours(c), c->out);
	return findings_of(f, FINDING_WRONG) > 0;
}

int cli_do_check(struct cli_client *c, const char *ns)
{
	return check(c, ns, false);
}

int cli_do_check_probing(struct cli_client *c, const char *ns)
{
	return check(c, ns, true);
}

struct check_args {
	struct cli_options o;
	const char *ns;
	bool probe;
};

enum { PROBE = 0x6301 };

static const struct argp_option options[] = {
	{"probe", PROBE, NULL, 0,
	 "Also test connections from this computer to BMCs, agent endpoints, managers and tenants' "
	 "API servers",
	 0},
	CLI_NAMESPACE_ROW,
	CLI_OPTION_ROWS};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct check_args *v = st->input;

	switch (key) {
	case 'n':
		v->ns = arg;
		return 0;
	case PROBE:
		v->probe = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(st, "takes no argument, got '%s'", arg);
		return 0;
	default:
		return cli_option(key, arg, st, &v->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Check everything that a drover installation needs, and show how to fix what is "
	       "wrong, the most severe first: the API server with its version and clock, the "
	       "CustomResourceDefinitions, permissions, the leader and its Service, the image of "
	       "its replicas, Secrets, and the objects to which Providers, pools, tenants and "
	       "machines refer. With --probe, the command also tests whether it can reach the "
	       "addresses in these objects from this computer.\vExamples:\n"
	       "  drover check\n"
	       "  drover check -o json\n"
	       "  drover check --context prod -n drover-system\n"
	       "  kubectl -n drover-system exec deployment/drover -- drover check --probe\n"
	       "The command changes nothing. It reads at most 200 Secrets, and only their "
	       "metadata. A probe sends no credentials. `wrong`: does not work. `warn`: works, but "
	       "may fail later or in part. `?`: could not be checked, for example because your "
	       "user may not read it.\n"
	       "Exit status: 0 nothing is wrong (but there may be warnings); 1 something is wrong, "
	       "or the cluster cannot be reached; 2 wrong usage.",
};

int cli_check(int argc, char **argv)
{
	struct check_args v = {.ns = "drover-system"};
	struct cli_client c;
	int status;

	args_parse(&argp, argc, argv, &v);
	if (cli_open(&c, "drover check", &v.o) < 0)
		return 1;
	status = v.probe ? cli_do_check_probing(&c, v.ns) : cli_do_check(&c, v.ns);
	cli_close(&c);
	return status;
}
