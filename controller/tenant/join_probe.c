#include "controller/tenant/join_probe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/address.h"
#include "base/data/yaml.h"
#include "base/http/http_address.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/api_paths.h"
#include "controller/core/reserved.h"
#include "controller/rules/api_path.h"

#define AGAIN_MS (10 * 60 * 1000)
/* Limit of a ConfigMap's value, which is untrusted and parsed in one loop turn. */
#define TEXT_MAX ((size_t)64 << 10)
#define KUBEADM_PORT "6443"
#define KUBEADM_CONFIG "ConfigMap kube-system/kubeadm-config"
#define CLUSTER_INFO "ConfigMap kube-public/cluster-info"

enum join_found {
	FOUND_UNASKED,
	/* neither of the two ConfigMaps exists */
	FOUND_NOTHING,
	/* drover may not read the ConfigMaps */
	FOUND_DENIED,
	FOUND_KUBEADM,
	FOUND_INFO
};

/* Result of GET /node/join: whether the API server serves the script by which nodes join a
 * vCluster. */
#define JOIN_SCRIPT "/node/join"
enum script { SCRIPT_UNASKED, SCRIPT_NONE, SCRIPT_UNKNOWN, SCRIPT_SERVED };

/* Result of one probe. */
struct facts {
	enum join_found found;
	enum script script;
	/* HOST:PORT for nodes, from a ConfigMap; "": none */
	char endpoint[JOIN_PROBE_ENDPOINT];
	/* why the address in the ConfigMap is not used; "": no such problem */
	char refused[160];
	/* Kubernetes version of the host cluster; "": not asked */
	char version[16];
};

struct join_probe {
	struct tenant *t;
	void (*changed)(struct tenant *t);
	struct kube_call *call;
	/* facts: result of the last complete probe; now: result so far of the probe in progress */
	struct facts facts, now;
	/* error of the last probe; "": the last probe was complete */
	char error[160];
	/* loop_now() of the last complete probe */
	int64_t asked_at;
};

/* --- reading a ConfigMap ---------------------------------------------------------------------- */

/* Splits text of the form HOST, HOST:PORT or [ADDRESS]:PORT; a missing port is kubeadm's default.
 * Returns false for any other form. */
static bool split(const char *text, char host[static 256], bool *bracketed, const char **port)
{
	static const char in_name[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-";
	int64_t number;
	size_t n;

	*bracketed = *text == '[';
	text += *bracketed;
	n = strspn(text, *bracketed ? "0123456789abcdefABCDEF:." : in_name);
	if (!n || n >= 256)
		return false;
	memcpy(host, text, n);
	host[n] = '\0';
	text += n;
	if (*bracketed && *text++ != ']')
		return false;
	if (!*text) {
		*port = KUBEADM_PORT;
		return true;
	}
	*port = text + 1;
	return *text == ':' && strlen(*port) <= 5 && strspn(*port, "0123456789") == strlen(*port) &&
	       str_to_i64(*port, 1, 65535, &number);
}

static void take_endpoint(struct join_probe *p, const char *text, const char *where)
{
	char host[256], url[JOIN_PROBE_ENDPOINT + 8];
	const char *port, *whose;
	bool bracketed;

	if (!split(text, host, &bracketed, &port)) {
		str_format(p->now.refused, sizeof(p->now.refused), "%s is not HOST:PORT", where);
		return;
	}
	if (http_host_is_local(host, bracketed)) {
		str_format(p->now.refused, sizeof(p->now.refused),
			   "%s is a loopback or link-local address, which nodes cannot reach",
			   where);
		return;
	}
	str_format(url, sizeof(url), bracketed ? "https://[%s]:%s" : "https://%s:%s", host, port);
	whose = /* mutant: join-at-a-bmc */ p->t->on_host
			? NULL
			: reserved_owner_of(p->t->c->reserved, url);
	if (whose)
		str_format(p->now.refused, sizeof(p->now.refused), "%s points to %s", where, whose);
	else
		str_copy(p->now.endpoint, sizeof(p->now.endpoint), url + strlen("https://"));
}

/* Returns the YAML under a key of a ConfigMap, parsed; the caller owns it. NULL: there is no valid
 * YAML, and p->now.refused contains the reason. */
static json_t *yaml_of(struct join_probe *p, const json_t *map, const char *key, const char *name)
{
	const char *text = json_str_at(map, "data", key);
	struct err e;
	json_t *o;

	if (!text || strlen(text) > TEXT_MAX) {
		str_format(p->now.refused, sizeof(p->now.refused), "%s has %s%s", name,
			   text ? "more than 64 KiB in " : "no ", key);
		return NULL;
	}
	o = yaml_parse(text, strlen(text), &e);
	if (!o)
		str_format(p->now.refused, sizeof(p->now.refused), "%s: %s is not valid YAML", name,
			   key);
	return o;
}

/* --- one probe -------------------------------------------------------------------------------- */

static bool same(const struct facts *a, const struct facts *b)
{
	return a->found == b->found && a->script == b->script && str_eq(a->endpoint, b->endpoint) &&
	       str_eq(a->refused, b->refused) && str_eq(a->version, b->version);
}

/* Ends the probe. e NULL: p->now is complete and becomes the result. Otherwise e is an error of the
 * API server, and the result of the earlier probe stays. */
static void end_round(struct join_probe *p, const struct err *e)
{
	char error[sizeof(p->error)] = "";
	bool changed;

	if (e) {
		str_copy(error, sizeof(error), e->text);
		str_clean(error);
	}
	changed = !str_eq(error, p->error) || (!e && !same(&p->facts, &p->now));
	str_copy(p->error, sizeof(p->error), error);
	if (!e) {
		p->facts = p->now;
		p->asked_at = loop_now(p->t->c->loop);
	}
	if (changed)
		p->changed(p->t);
}

/* Returns spec.join; for the host cluster always kubeadm. */
static enum virtual_cluster_join join_of(const struct join_probe *p,
					 const struct virtual_cluster *vc)
{
	return vc && !p->t->on_host
		       ? /* mutant: script-unasked */ (enum virtual_cluster_join)vc->spec.join
		       : VIRTUAL_CLUSTER_BY_KUBEADM;
}

static const struct virtual_cluster *cluster_of(const struct join_probe *p)
{
	return CTX_GET(p->t->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, p->t->name);
}

/* Evaluates the answer to GET /node/join. A script is no JSON (ERR_PROTOCOL), and a request without
 * a token may be a bad request (ERR_INVALID): both prove that the path is served. Any other API
 * server replies 404, or refuses the client. */
static void on_script(json_t *o, const struct err *e, void *arg)
{
	struct join_probe *p = arg;

	(void)o;
	p->call = NULL;
	if (e && err_is_transient(e) && join_of(p, cluster_of(p)) != VIRTUAL_CLUSTER_BY_KUBEADM) {
		end_round(p, e);
		return;
	}
	if (!e || e->kind == ERR_PROTOCOL || e->kind == ERR_INVALID)
		p->now.script = SCRIPT_SERVED;
	else
		p->now.script = e->kind == ERR_NOT_FOUND ? SCRIPT_NONE : SCRIPT_UNKNOWN;
	end_round(p, NULL);
}

/* Continues after the ConfigMaps: requests /node/join if the answer matters for spec.join and the
 * ConfigMaps found. */
static void ask_script(struct join_probe *p)
{
	enum join_found found = p->now.found;
	enum virtual_cluster_join by = join_of(p, cluster_of(p));
	bool wanted = by == VIRTUAL_CLUSTER_BY_SCRIPT ||
		      (found != FOUND_KUBEADM &&
		       (by == VIRTUAL_CLUSTER_BY_EITHER || found != FOUND_INFO));

	if (wanted && !p->t->on_host)
		p->call = kube_get_path(tenant_nodes_client(p->t), JOIN_SCRIPT, on_script, p);
	else
		end_round(p, NULL);
}

static void on_info(json_t *map, const struct err *e, void *arg)
{
	struct join_probe *p = arg;
	OWN_JSON conf = NULL;
	const char *server;

	p->call = NULL;
	if (e && e->kind != ERR_NOT_FOUND && e->kind != ERR_DENIED) {
		end_round(p, e);
		return;
	}
	if (!e) {
		if (p->now.found != FOUND_KUBEADM)
			p->now.found = FOUND_INFO;
		conf = yaml_of(p, map, "kubeconfig", CLUSTER_INFO);
		server = json_str_at(json_array_get(json_at(conf, "clusters"), 0), "cluster",
				     "server");
		if (server && str_starts(server, "https://"))
			take_endpoint(p, server + strlen("https://"),
				      "clusters[0].cluster.server of " CLUSTER_INFO);
		else if (conf)
			str_format(p->now.refused, sizeof(p->now.refused),
				   CLUSTER_INFO " names no https server");
	}
	ask_script(p);
}

static void on_config(json_t *map, const struct err *e, void *arg)
{
	struct join_probe *p = arg;
	OWN_JSON conf = NULL;
	const char *endpoint;

	p->call = NULL;
	if (e && e->kind != ERR_NOT_FOUND && e->kind != ERR_DENIED) {
		end_round(p, e);
		return;
	}
	p->now.found = !e ? FOUND_KUBEADM : e->kind == ERR_DENIED ? FOUND_DENIED : FOUND_NOTHING;
	if (!e) {
		conf = yaml_of(p, map, "ClusterConfiguration", KUBEADM_CONFIG);
		endpoint = json_str_at(conf, "controlPlaneEndpoint");
		if (!str_empty(endpoint))
			take_endpoint(p, endpoint, "controlPlaneEndpoint of " KUBEADM_CONFIG);
		if (p->now.endpoint[0] || p->now.refused[0]) {
			ask_script(p);
			return;
		}
	}
	p->call = kube_get(tenant_nodes_client(p->t), &KUBE_CONFIGMAPS, "kube-public",
			   "cluster-info", on_info, p);
}

static void ask_config(struct join_probe *p)
{
	p->call = kube_get(tenant_nodes_client(p->t), &KUBE_CONFIGMAPS, "kube-system",
			   "kubeadm-config", on_config, p);
}

static void on_version(json_t *o, const struct err *e, void *arg)
{
	struct join_probe *p = arg;

	p->call = NULL;
	if (e) {
		end_round(p, e);
		return;
	}
	str_format(p->now.version, sizeof(p->now.version), "%d.%d",
		   atoi(str_or(json_str_at(o, "major"), "1")),
		   atoi(str_or(json_str_at(o, "minor"), "0")));
	ask_config(p);
}

void join_probe_ask(struct join_probe *p)
{
	const struct virtual_cluster *vc = cluster_of(p);
	struct join_answer answer = {0};

	if (vc)
		join_probe_answer(p, vc, &answer);
	if (p->call || (answer.takes && loop_now(p->t->c->loop) - p->asked_at < AGAIN_MS))
		return;
	p->now = (struct facts){0};
	if (p->t->on_host)
		p->call = kube_get_path(p->t->c->host, "/version", on_version, p);
	else
		ask_config(p);
}

void join_probe_forget(struct join_probe *p)
{
	kube_call_cancel(p->call);
	p->call = NULL;
	p->facts = (struct facts){0};
	p->error[0] = '\0';
}

/* --- the answer ------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void none(struct join_answer *out, const char *reason,
						       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	out->reason = reason;
	vsnprintf(out->text, sizeof(out->text), fmt, ap);
	va_end(ap);
}

/* True if the address that the cluster names for itself (f->endpoint) differs from the VIP. In that
 * case kubeadm would first connect to the VIP and then continue with the cluster's address. */
static bool goes_elsewhere(const struct facts *f, const char *vip)
{
	char host[ADDRESS_TEXT];
	uint16_t port, want;
	char to[ADDRESS_TEXT];

	if (!address_service(f->endpoint, host, &port) || !address_service(vip, to, &want))
		/* A host name (or no address) cannot be compared with the VIP: how the machine
		 * resolves it is only known once the machine connects. */
		return false;
	return port != want || !str_eq(host, to);
}

/* Sets *out to the state of the network path from machines to the tenant's API server. Returns
 * false if the network path was not checked yet. */
static bool api_path_of(const struct join_probe *p, const struct virtual_cluster *vc,
			struct api_path_state *out)
{
	const struct virtual_cluster_api_server *w = vc->spec.network.api_server;
	OWN(arena) a = arena_new();
	const struct api_path_state *seen;

	*out = (struct api_path_state){.reason = "NotLookedAt"};
	if (w->via == VIA_ADDRESS) {
		out->up = true;
		out->reason = "Address";
		str_format(out->why, sizeof(out->why),
			   "at %s, the address in spec.network.apiServer", w->address);
		return true;
	}
	seen = api_paths_get(p->t->c->api_paths, p->t->name, api_path_key(vc, a));
	if (!seen) {
		str_format(out->why, sizeof(out->why), "not checked yet");
		return false;
	}
	*out = *seen;
	if (out->up && w->via == VIA_VIP && goes_elsewhere(&p->facts, w->address)) {
		out->up = false;
		out->reason = "EndpointDiffers";
		str_format(
			out->why, sizeof(out->why),
			"its ConfigMap names %.100s as the address for nodes, but the VIP is %.60s",
			p->facts.endpoint, w->address);
	}
	return true;
}

bool join_probe_api_path_status(const struct join_probe *p, const struct virtual_cluster *vc,
				struct arena *a, struct conditions *cs)
{
	struct condition want = {.type = TENANT_API_PATH_CONDITION,
				 .observed_generation = vc->meta.generation};
	struct api_path_state seen;
	bool known;

	if (!vc->spec.network.api_server) {
		for (size_t i = 0; i < cs->n; i++)
			if (str_eq(cs->v[i].type, TENANT_API_PATH_CONDITION)) {
				memmove(&cs->v[i], &cs->v[i + 1], (--cs->n - i) * sizeof(*cs->v));
				return true;
			}
		return false;
	}
	known = api_path_of(p, vc, &seen);
	want.status = seen.up ? CONDITION_TRUE : known ? CONDITION_FALSE : CONDITION_UNKNOWN;
	want.reason = seen.reason;
	want.message = seen.why;
	return condition_set(cs, a, &want, loop_wall(p->t->c->loop));
}

/* Sets the endpoint of *out for a tenant with spec.network.apiServer, or the reason why machines
 * cannot join. */
static void answer_by_api_path(const struct join_probe *p, const struct virtual_cluster *vc,
			       struct join_answer *out)
{
	struct api_path_state seen;

	(void)api_path_of(p, vc, &seen);
	/* mutant: way-not-up */
	if (!seen.up)
		none(out, "WayNotUp", "path to its API server: %.200s", seen.why);
	else if (api_path_address(vc))
		out->endpoint = api_path_address(vc);
	else
		none(out, "WayNotUp", "the address of its load balancer is not known yet");
}

/* True if a machine can join by kubeadm with the ConfigMaps that the cluster has; else sets the
 * reason in *out. */
static bool takes_kubeadm(const struct join_probe *p, struct join_answer *out)
{
	const char *whose = p->t->on_host ? "the host cluster" : "the virtual cluster";
	const struct facts *f = &p->facts;

	if (f->found == FOUND_NOTHING && f->script == SCRIPT_SERVED)
		none(out, "JoinScriptAlone",
		     "its API server serves " JOIN_SCRIPT
		     ", which spec.join does not allow, and has neither " KUBEADM_CONFIG
		     " nor " CLUSTER_INFO " for kubeadm; set spec.join to Script");
	else if (f->found == FOUND_NOTHING)
		none(out, p->t->on_host ? "HostNotJoinable" : "NoPrivateNodes",
		     "%s has neither " KUBEADM_CONFIG " nor " CLUSTER_INFO ": nodes cannot join it",
		     whose);
	else if (f->found == FOUND_DENIED)
		none(out, "NotPermitted", "drover may not read " KUBEADM_CONFIG " of %s%s", whose,
		     f->script == SCRIPT_SERVED ? ", which serves " JOIN_SCRIPT
						  ": nodes can join with spec.join Script"
						: "");
	return !out->reason;
}

/* True if a machine can join by the script that the cluster serves or may serve (SCRIPT_UNKNOWN:
 * the server refused to answer without a token); else sets the reason in *out. */
static bool takes_script(const struct join_probe *p, struct join_answer *out)
{
	out->by_script = true;
	if (p->facts.script == SCRIPT_UNASKED) { /* spec.join was changed after the last probe */
		out->known = false;
		none(out, "NotAsked", "its API server was not asked for " JOIN_SCRIPT " yet");
	} else if (p->facts.script == SCRIPT_NONE) {
		none(out, "JoinScriptNotServed",
		     "spec.join is Script, but its API server does not serve " JOIN_SCRIPT);
	}
	return !out->reason;
}

static const char *reason_of(const struct join_probe *p, const struct join_answer *answer)
{
	return p->t->on_host			 ? "HostNodes"
	       : answer->by_script		 ? "JoinScript"
	       : p->facts.found == FOUND_KUBEADM ? "Kubeadm"
						 : "ClusterInfo";
}

void join_probe_answer(const struct join_probe *p, const struct virtual_cluster *vc,
		       struct join_answer *out)
{
	const struct facts *f = &p->facts;
	enum virtual_cluster_join by = join_of(p, vc);

	*out = (struct join_answer){.known = f->found != FOUND_UNASKED,
				    .version = f->version[0] ? f->version : NULL};
	if (!out->known) {
		none(out, p->error[0] ? "NotAnswered" : "NotAsked", "%s",
		     p->error[0] ? p->error : "its API server was not asked yet");
		return;
	}
	if (by == VIRTUAL_CLUSTER_BY_EITHER)
		by = f->found != FOUND_KUBEADM && f->script == SCRIPT_SERVED
			     ? VIRTUAL_CLUSTER_BY_SCRIPT
			     : VIRTUAL_CLUSTER_BY_KUBEADM;
	if (by == VIRTUAL_CLUSTER_BY_SCRIPT ? !takes_script(p, out) : !takes_kubeadm(p, out))
		return;
	if (vc->spec.network.api_server)
		answer_by_api_path(p, vc, out);
	else if (!str_empty(vc->spec.join_endpoint))
		out->endpoint = vc->spec.join_endpoint;
	else if (f->endpoint[0])
		out->endpoint = f->endpoint;
	if (out->endpoint) {
		out->takes = true;
		out->reason = reason_of(p, out);
	} else if (!out->reason) {
		none(out, "NoJoinEndpoint", "spec.joinEndpoint is not set, and %s",
		     f->refused[0] ? f->refused : "no ConfigMap names an address for nodes");
	}
}

bool join_probe_status(const struct join_probe *p, const struct virtual_cluster *vc,
		       struct arena *a, struct conditions *cs)
{
	struct join_answer answer;
	struct condition want = {.type = TENANT_NODES_CONDITION,
				 .observed_generation = vc->meta.generation};

	join_probe_answer(p, vc, &answer);
	want.status = answer.takes   ? CONDITION_TRUE
		      : answer.known ? CONDITION_FALSE
				     : CONDITION_UNKNOWN;
	want.reason = answer.reason;
	want.message = answer.takes ? arena_printf(a, "nodes join %sat %s%s",
						   p->t->on_host ? "the host cluster " : "",
						   answer.endpoint,
						   !answer.by_script ? ""
						   : p->facts.script == SCRIPT_SERVED
							   ? " by the script of " JOIN_SCRIPT
							   : " by the script of " JOIN_SCRIPT
							     ", which drover could not verify")
				    : answer.text;
	return condition_set(cs, a, &want, loop_wall(p->t->c->loop));
}

struct join_probe *join_probe_new(struct tenant *t, void (*changed)(struct tenant *t))
{
	struct join_probe *p = mem_new(struct join_probe);

	p->t = t;
	p->changed = changed;
	return p;
}

void join_probe_free(struct join_probe *p)
{
	if (!p)
		return;
	kube_call_cancel(p->call);
	free(p);
}
