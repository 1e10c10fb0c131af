/*
 * join: builds the bootstrap token, config drive and labels of a Node, and checks that the
 * registered Node is this machine. The steps send the requests; this file sends none.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/life/join.h"
#include "api/annotations.h"
#include "base/buf.h"
#include "base/arena.h"
#include "base/str.h"
#include "controller/core/keys.h"
#include "controller/life/probe.h"
#include "controller/rules/identity.h"
#include "controller/rules/machine.h"
#include "controller/rules/provider.h"

/* Writes n characters of a token to out, as a string. Bootstrap tokens consist of lower-case
 * letters and digits (kubeadm: [a-z0-9]{6}.[a-z0-9]{16}). */
static void token_text(const uint8_t *raw, char *out, size_t n)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	for (size_t i = 0; i < n; i++)
		out[i] = digits[raw[i] % 36];
	out[n] = '\0';
}

void life_token(struct life *l, const char *claim_uid, struct life_token *out)
{
	OWN(arena) a = arena_new();
	char hex[65];
	uint8_t raw[32];

	keys_derive(l->c->keys, arena_printf(a, "token\n%s", claim_uid), hex);
	(void)str_unhex(raw, hex, sizeof(raw));
	token_text(raw, out->id, 6);
	token_text(raw + 6, out->secret, 16);
	secret_wipe(hex, sizeof(hex));
	secret_wipe(raw, sizeof(raw));
}

json_t *life_token_secret(const struct life_token *t, const char *claim, int64_t expires)
{
	char when[STR_TIME_SIZE], name[32], what[320];

	str_format(name, sizeof(name), "bootstrap-token-%s", t->id);
	str_format(what, sizeof(what), "drover: %s", claim);
	return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s, s:s, s:s}}, "
			 "s:s, s:{s:s, s:s, s:s, s:s, s:s, s:s, s:s}}",
			 "apiVersion", "v1", "kind", "Secret", "metadata", "name", name,
			 "namespace", "kube-system", "labels", TENANT_LABEL_CLAIM, claim,
			 "vcluster.loft.sh/token", "true", "vcluster.loft.sh/token-node-type",
			 "worker", "type", "bootstrap.kubernetes.io/token", "stringData",
			 "token-id", t->id, "token-secret", t->secret, "usage-bootstrap-signing",
			 "true", "usage-bootstrap-authentication", "true", "auth-extra-groups",
			 "system:bootstrappers:kubeadm:default-node-token", "expiration",
			 str_time(when, expires), "description", what);
}

const char *life_provider_id(const struct life *l, struct arena *a)
{
	return identity_provider_id(l->m, a);
}

/* Appends the line KEY=VALUE to b. A script on the node reads the file line by line, so the value
 * may contain only the characters below; otherwise returns -1 with *e. */
static int put(struct buf *b, const char *key, const char *value, struct err *e)
{
	for (const char *p = value; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._,=@-[]",
			    *p))
			return err_set(e, ERR_INVALID, 0, "config drive: %s may not contain '%c'",
				       key, *p);
	buf_printf(b, "%s=%s\n", key, value);
	return 0;
}

/* Returns the taints of the claim as text for the join script, allocated in a. cluster:
 * KEY=VALUE of the taint that reserves the Node for one virtual cluster; NULL: the Node needs no
 * such taint. */
static const char *taints_text(const struct node_claim *n, const char *cluster, struct arena *a)
{
	const struct object_taints *lists[] = {&n->spec.taints, &n->spec.startup_taints};
	const char *text = TENANT_TAINT_UNREGISTERED ":NoSchedule";

	if (cluster)
		text = arena_printf(a, "%s,%s:NoExecute", text, cluster);
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->n; i++) {
			const struct object_taint *t = &lists[k]->v[i];

			text = arena_printf(a, "%s,%s%s%s:%s", text, t->key,
					    str_empty(t->value) ? "" : "=", str_or(t->value, ""),
					    object_effect_names[t->effect]);
		}
	return text;
}

static const char *reserved_text(const struct resources *r, struct arena *a)
{
	const char *text = "";
	char q[QUANTITY_TEXT];

	for (size_t i = 0; i < r->n; i++)
		text = arena_printf(a, "%s%s%s=%s", text, i ? "," : "", r->v[i].name,
				    quantity_format(r->v[i].q, q));
	return text;
}

static void add_file(struct proto_order *o, const char *name, const char *content)
{
	o->files.v[o->files.n++] = (struct proto_file){.name = name, .content = content};
}

int life_config_files(struct life *l, const struct node_claim *n,
		      const struct life_join_config *join, struct arena *a, struct proto_order *o,
		      struct err *e)
{
	const struct object_kubelet none = {0}, *k = n->spec.kubelet ? n->spec.kubelet : &none;
	const char *max_pods =
		arena_printf(a, "%lld", (long long)(k->max_pods ? k->max_pods : 110));
	const char *token = arena_printf(a, "%s.%s", join->token->id, join->token->secret);
	const struct life_join_probe *probe = life_join_probe(l, n, join->endpoint, a);
	const char *for_cluster =
		arena_printf(a, TENANT_LABEL_CLUSTER "=%s", n->spec.virtual_cluster_ref.name);
	struct buf b;
	int rc = -1;

	buf_init(&b, 64 << 10);
	if (put(&b, "JOIN_ENDPOINT", join->endpoint, e) < 0 || put(&b, "TOKEN", token, e) < 0 ||
	    put(&b, "CA_CERT_HASH", join->ca_hash, e) < 0 ||
	    put(&b, "NODE_NAME", n->meta.name, e) < 0 ||
	    put(&b, "PROVIDER_ID", life_provider_id(l, a), e) < 0 ||
	    put(&b, "NODE_LABELS", join->on_host ? for_cluster : "", e) < 0 ||
	    put(&b, "TAINTS", taints_text(n, join->on_host ? for_cluster : NULL, a), e) < 0 ||
	    put(&b, "MAX_PODS", max_pods, e) < 0 ||
	    put(&b, "SYSTEM_RESERVED", reserved_text(&k->system_reserved, a), e) < 0 ||
	    put(&b, "KUBE_RESERVED", reserved_text(&k->kube_reserved, a), e) < 0 ||
	    (join->script_ca && put(&b, "JOIN_METHOD", "Script", e) < 0) ||
	    (probe &&
	     (put(&b, "PROBE_KEY", probe->key, e) < 0 || put(&b, "PROBE_OWN", probe->own, e) < 0 ||
	      put(&b, "PROBE_OTHERS", probe->others, e) < 0)))
		goto out;
	o->files.v = arena_calloc(a, 5, sizeof(*o->files.v));
	add_file(o, "meta-data",
		 arena_printf(a, "instance-id: %s\nlocal-hostname: %s\n", n->meta.uid,
			      n->meta.name));
	add_file(o, "user-data", str_or(join->user_data, "#cloud-config\n{}\n"));
	add_file(o, "network-config",
		 "version: 2\nethernets:\n  all:\n    match: {name: \"e*\"}\n    dhcp4: true\n");
	add_file(o, "drover-join.cfg", arena_strndup(a, b.data, b.len));
	if (join->script_ca)
		add_file(o, "cluster-ca.crt", join->script_ca);
	rc = 0;
out:
	secret_wipe(b.data, b.len);
	buf_done(&b);
	return rc;
}

int life_proves(const struct life *l, const struct node_claim *n, const struct tenant_node *node,
		struct err *e)
{
	OWN(arena) a = arena_new();
	const char *id = life_provider_id(l, a);
	const struct machine_identity *mine = l->m->spec.identity;
	const char *seen = l->m->status.agent ? l->m->status.agent->system_uuid : NULL;

	if (!str_eq(node->world.name, n->meta.name))
		return err_set(e, ERR_CONFLICT, 0, "Node %s is not named after claim %s",
			       node->world.name, n->meta.name);
	if (!str_eq(node->provider_id, id))
		return err_set(e, ERR_CONFLICT, 0, "Node %s has providerID %s, expected %s",
			       node->world.name, str_or(node->provider_id, "(none)"), id);
	/* Do not compare the UUID of a cloud instance, because no BMC reports its identity. The
	 * instance is recognised by the claim's name, the providerID and the token, which only this
	 * instance was given. */
	if (!l->m->spec.elastic && !identity_joined(mine, seen, node->system_uuid))
		return err_set(e, ERR_CONFLICT, 0, "Node %s reports system UUID %s, expected %s",
			       node->world.name, str_or(node->system_uuid, "(none)"),
			       str_or(seen, mine ? str_or(mine->system_uuid, "(none)") : "(none)"));
	if (str_empty(node->boot_id) || str_eq(node->boot_id, l->m->status.boot_id) ||
	    (l->m->status.agent && str_eq(node->boot_id, l->m->status.agent->boot_id)))
		return err_set(e, ERR_CONFLICT, 0, "Node %s reports a boot id that was seen before",
			       node->world.name);
	return 0;
}

json_t *life_node_labels(const struct life *l, const struct node_claim *n, bool on_host)
{
	json_t *labels =
		json_pack("{s:s, s:s, s:s}", TENANT_LABEL_CLAIM, n->meta.name, TENANT_LABEL_POOL,
			  n->spec.node_pool_ref.name, "node.kubernetes.io/instance-type",
			  str_or(l->m->spec.instance_type, "unknown"));
	const struct provider_object *p = life_provider(l);
	const struct provider_object_instance_type *t =
		p ? provider_instance_type(p, l->m->spec.instance_type) : NULL;
	OWN(arena) a = arena_new();
	const struct labels place = machine_topology(l->m, a);
	json_t *annotations = json_object();

	for (size_t i = 0; t && i < t->labels.n; i++)
		json_object_set_new(labels, t->labels.v[i].key, json_string(t->labels.v[i].value));
	for (size_t i = 0; i < place.n; i++)
		json_object_set_new(labels, place.v[i].key, json_string(place.v[i].value));
	for (size_t i = 0; i < n->spec.labels.n; i++)
		json_object_set_new(labels, n->spec.labels.v[i].key,
				    json_string(n->spec.labels.v[i].value));
	if (on_host)
		json_object_set_new(labels, TENANT_LABEL_CLUSTER,
				    json_string(n->spec.virtual_cluster_ref.name));
	for (size_t i = 0; i < n->spec.annotations.n; i++)
		json_object_set_new(annotations, n->spec.annotations.v[i].key,
				    json_string(n->spec.annotations.v[i].value));
	return json_pack("{s:{s:o, s:o}}", "metadata", "labels", labels, "annotations",
			 annotations);
}
