#include "tests/unit/controller/bench.h"

#include <ctype.h>
#include <stdlib.h>
#include "base/str.h"
#include "controller/life/join.h"

#define UUID "4c4c4544-0000-1000-8000-000000000001"
#define HASH "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct life_token token = {.id = "abc123", .secret = "0123456789abcdef"};

static struct node_claim claim_of(const char *uid)
{
	struct node_claim n = {.meta = {.name = "h100-x7k2p"}};

	n.meta.uid = uid;
	n.spec.node_pool_ref.name = "h100";
	n.spec.virtual_cluster_ref.name = "team-a";
	return n;
}

static int setup(void **state)
{
	bench_setup(state);
	bench_fleet(*state);
	bench_secret(*state, "drover-boot-key", "key",
		     "boot key one, of thirty-two letters or more", NULL, NULL);
	bench_keys(*state);
	return 0;
}

/* --- the bootstrap token ---------------------------------------------------------------------- */

static void a_token_has_kubeadms_shape_and_belongs_to_one_claim(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	const struct node_claim one = claim_of("uid-1"), two = claim_of("uid-2");
	struct life_token t, again, other;

	life_token(l, one.meta.uid, &t);
	life_token(l, one.meta.uid, &again);
	life_token(l, two.meta.uid, &other);
	assert_int_equal(strlen(t.id), 6);
	assert_int_equal(strlen(t.secret), 16);
	for (const char *c = t.id; *c; c++)
		assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c));
	for (const char *c = t.secret; *c; c++)
		assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c));
	assert_string_equal(t.id, again.id);
	assert_string_equal(t.secret, again.secret);
	assert_string_not_equal(t.id, other.id);
	assert_string_not_equal(t.secret, other.secret);
	bench_life_done(l);
}

static void another_boot_key_makes_another_token(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	const struct node_claim n = claim_of("uid-1");
	struct life_token before, after;

	life_token(l, n.meta.uid, &before);
	bench_secret(d, "drover-boot-key", "key", "boot key two, of thirty-two letters or more",
		     NULL, NULL);
	bench_run(d, 35000);
	life_token(l, n.meta.uid, &after);
	assert_string_not_equal(before.secret, after.secret);
	bench_life_done(l);
}

static void the_tokens_secret_is_what_kubeadm_join_needs_and_expires(void **state)
{
	OWN_JSON o = life_token_secret(&token, "h100-x7k2p", 1796119200000);
	const json_t *data = json_object_get(o, "stringData");

	(void)state;
	assert_string_equal(json_str_at(o, "metadata", "name"), "bootstrap-token-abc123");
	assert_string_equal(json_str_at(o, "metadata", "namespace"), "kube-system");
	assert_string_equal(json_str_at(o, "metadata", "labels", "drover.dev/nodeclaim"),
			    "h100-x7k2p");
	assert_string_equal(json_str_at(o, "metadata", "labels", "vcluster.loft.sh/token"), "true");
	assert_string_equal(json_str_at(o, "type"), "bootstrap.kubernetes.io/token");
	assert_string_equal(json_str_at(data, "token-id"), "abc123");
	assert_string_equal(json_str_at(data, "token-secret"), "0123456789abcdef");
	assert_string_equal(json_str_at(data, "expiration"), "2026-12-01T10:00:00Z");
	assert_string_equal(json_str_at(data, "usage-bootstrap-authentication"), "true");
	assert_string_equal(json_str_at(data, "usage-bootstrap-signing"), "true");
	assert_string_equal(json_str_at(data, "auth-extra-groups"),
			    "system:bootstrappers:kubeadm:default-node-token");
}

/* --- the config drive ------------------------------------------------------------------------- */

static const char *file(const struct proto_order *o, const char *name)
{
	for (size_t i = 0; i < o->files.n; i++)
		if (str_eq(o->files.v[i].name, name))
			return o->files.v[i].content;
	fail_msg("no file %s", name);
	return NULL;
}

static int files(struct bench *d, struct life *l, const struct node_claim *n, const char *endpoint,
		 const char *hash, struct proto_order *o)
{
	*o = (struct proto_order){0};
	d->e = (struct err){0};
	return life_config_files(
		l, n,
		&(struct life_join_config){.endpoint = endpoint, .ca_hash = hash, .token = &token},
		d->a, o, &d->e);
}

static void the_config_drive_says_how_to_join(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	struct node_claim n = claim_of("uid-1");
	struct object_taint taints[] = {{"nvidia.com/gpu", NULL, EFFECT_NO_SCHEDULE},
					{"a", "b", EFFECT_NO_EXECUTE}};
	struct object_taint startup[] = {{"example.com/cni", "", EFFECT_PREFER_NO_SCHEDULE}};
	struct resource reserved[] = {{"cpu", quantity_of(2)}, {"memory", quantity_of(8LL << 30)}};
	struct resource kube[] = {{"memory", quantity_of(1LL << 30)}};
	struct object_kubelet k = {
		.max_pods = 64, .system_reserved = {reserved, 2}, .kube_reserved = {kube, 1}};
	struct proto_order o;

	n.spec.taints = (struct object_taints){taints, 2};
	n.spec.startup_taints = (struct object_taints){startup, 1};
	n.spec.kubelet = &k;
	assert_ok(files(d, l, &n, "10.20.0.10:6443", HASH, &o), &d->e);
	assert_int_equal(o.files.n, 4);
	assert_string_equal(
		file(&o, "drover-join.cfg"),
		"JOIN_ENDPOINT=10.20.0.10:6443\n"
		"TOKEN=abc123.0123456789abcdef\n"
		"CA_CERT_HASH=" HASH "\n"
		"NODE_NAME=h100-x7k2p\n"
		"PROVIDER_ID=drover://hall-a/m-1\n"
		"NODE_LABELS=\n"
		"TAINTS=drover.dev/unregistered:NoSchedule,nvidia.com/gpu:NoSchedule,a=b:NoExecute,"
		"example.com/cni:PreferNoSchedule\n"
		"MAX_PODS=64\n"
		"SYSTEM_RESERVED=cpu=2,memory=8Gi\n"
		"KUBE_RESERVED=memory=1Gi\n");
	assert_string_equal(file(&o, "meta-data"),
			    "instance-id: uid-1\nlocal-hostname: h100-x7k2p\n");
	assert_string_equal(file(&o, "user-data"), "#cloud-config\n{}\n");
	assert_true(str_starts(file(&o, "network-config"), "version: 2\n"));
	bench_life_done(l);
}

static void a_node_of_the_host_cluster_says_whom_it_is_for(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	const struct node_claim n = claim_of("uid-1");
	const struct life_join_config at = {
		.endpoint = BENCH_JOIN, .ca_hash = HASH, .on_host = true, .token = &token};
	struct proto_order o = {0};
	OWN_JSON host = life_node_labels(l, &n, true);
	OWN_JSON own = life_node_labels(l, &n, false);

	assert_ok(life_config_files(l, &n, &at, d->a, &o, &d->e), &d->e);
	assert_non_null(strstr(file(&o, "drover-join.cfg"),
			       "\nNODE_LABELS=drover.dev/virtual-cluster=team-a\n"));
	assert_non_null(strstr(file(&o, "drover-join.cfg"),
			       "\nTAINTS=drover.dev/unregistered:NoSchedule,"
			       "drover.dev/virtual-cluster=team-a:NoExecute"));
	assert_string_equal(json_str_at(host, "metadata", "labels", "drover.dev/virtual-cluster"),
			    "team-a");
	assert_null(json_str_at(own, "metadata", "labels", "drover.dev/virtual-cluster"));
	bench_life_done(l);
}

static void a_machine_that_joins_by_script_gets_the_ca_and_is_told_so(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	const struct node_claim n = claim_of("uid-1");
	struct life_join_config at = {
		.endpoint = BENCH_JOIN, .ca_hash = HASH, .script_ca = "a PEM\n", .token = &token};
	struct proto_order o = {0};

	assert_ok(life_config_files(l, &n, &at, d->a, &o, &d->e), &d->e);
	assert_int_equal(o.files.n, 5);
	assert_non_null(strstr(file(&o, "drover-join.cfg"), "\nJOIN_METHOD=Script\n"));
	assert_string_equal(file(&o, "cluster-ca.crt"), "a PEM\n");
	at.script_ca = NULL;
	o = (struct proto_order){0};
	assert_ok(life_config_files(l, &n, &at, d->a, &o, &d->e), &d->e);
	assert_int_equal(o.files.n, 4);
	assert_null(strstr(file(&o, "drover-join.cfg"), "JOIN_METHOD"));
	bench_life_done(l);
}

static void what_a_claim_leaves_out_has_defaults_and_user_data_goes_through(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	const struct node_claim n = claim_of("uid-1");
	struct proto_order o = {0};

	assert_ok(life_config_files(
			  l, &n,
			  &(struct life_join_config){.endpoint = BENCH_JOIN,
						     .ca_hash = HASH,
						     .token = &token,
						     .user_data = "#cloud-config\npackages: [x]\n"},
			  d->a, &o, &d->e),
		  &d->e);
	assert_non_null(strstr(file(&o, "drover-join.cfg"),
			       "\nMAX_PODS=110\nSYSTEM_RESERVED=\nKUBE_RESERVED=\n"));
	assert_non_null(strstr(file(&o, "drover-join.cfg"),
			       "\nTAINTS=drover.dev/unregistered:NoSchedule\n"));
	assert_string_equal(file(&o, "user-data"), "#cloud-config\npackages: [x]\n");
	bench_life_done(l);
}

static void nothing_that_a_script_could_take_for_more_reaches_the_drive(void **state)
{
	static const char *const bad[] = {"a b",      "a\nTOKEN=x", "$(reboot)", "a;b",	 "a'b",
					  "a\"b",     "a`b",	    "a\\b",	 "a\tb", "\x7f",
					  "\xc3\xa4", "a#b",	    "a&b",	 "a>b",	 "a*"};
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	struct proto_order o;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct node_claim n = claim_of("uid-1");
		struct object_taint taint = {"k", bad[i], EFFECT_NO_SCHEDULE};
		struct resource r = {bad[i], quantity_of(1)};
		struct object_kubelet k = {.system_reserved = {&r, 1}};

		assert_int_equal(files(d, l, &n, bad[i], HASH, &o), -1);
		assert_int_equal(d->e.kind, ERR_INVALID);
		assert_non_null(strstr(d->e.text, "JOIN_ENDPOINT"));
		assert_int_equal(o.files.n, 0);
		assert_int_equal(files(d, l, &n, "e", bad[i], &o), -1);
		assert_non_null(strstr(d->e.text, "CA_CERT_HASH"));
		n.spec.taints = (struct object_taints){&taint, 1};
		assert_int_equal(files(d, l, &n, "e", HASH, &o), -1);
		assert_non_null(strstr(d->e.text, "TAINTS"));
		n.spec.taints.n = 0;
		n.spec.kubelet = &k;
		assert_int_equal(files(d, l, &n, "e", HASH, &o), -1);
		assert_non_null(strstr(d->e.text, "SYSTEM_RESERVED"));
		k = (struct object_kubelet){.kube_reserved = {&r, 1}};
		assert_int_equal(files(d, l, &n, "e", HASH, &o), -1);
		assert_non_null(strstr(d->e.text, "KUBE_RESERVED"));
		n.spec.kubelet = NULL;
		n.meta.name = bad[i];
		assert_int_equal(files(d, l, &n, "e", HASH, &o), -1);
		assert_non_null(strstr(d->e.text, "NODE_NAME"));
	}
	bench_life_done(l);
}

static void addresses_of_both_families_may_be_endpoints(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	const struct node_claim n = claim_of("uid-1");
	struct proto_order o;

	assert_ok(files(d, l, &n, "[fd00::1]:6443", HASH, &o), &d->e);
	assert_ok(files(d, l, &n, "api_1.team-a.example:6443", HASH, &o), &d->e);
	bench_life_done(l);
}

/* --- the proof that a Node is the machine ----------------------------------------------------- */

static void only_this_machine_freshly_booted_is_the_node(void **state)
{
	struct bench *d = *state;
	static const struct tenant_node right = {.world = {.name = "h100-x7k2p"},
						 .provider_id = "drover://hall-a/m-1",
						 .system_uuid = UUID,
						 .boot_id = "boot-9"};
	const struct {
		const char *name, *provider, *uuid, *boot, *says;
	} wrong[] = {
		{"h100-other", NULL, NULL, NULL, "is not named after claim h100-x7k2p"},
		{NULL, "drover://hall-a/m-2", NULL, NULL,
		 "providerID drover://hall-a/m-2, expected drover://hall-a/m-1"},
		{NULL, "", NULL, NULL, "providerID (none)"},
		{NULL, NULL, "4c4c4544-0000-1000-8000-000000000002", NULL, "system UUID"},
		{NULL, NULL, "", NULL, "system UUID (none)"},
		{NULL, NULL, NULL, "boot-agent", "boot id that was seen before"},
		{NULL, NULL, NULL, "boot-before", "boot id that was seen before"},
		{NULL, NULL, NULL, "", "boot id that was seen before"},
	};
	const struct node_claim n = claim_of("uid-1");
	struct tenant_node node = right;
	struct life *l;
	struct err e;

	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'bootID': 'boot-before', 'agent': {'bootID': 'boot-agent', 'publicKey': "
		     "'ed25519:AA'}}");
	l = bench_life(d, "m-1");
	assert_ok(life_proves(l, &n, &right, &e), &e);
	node.system_uuid =
		"4C4C4544-0000-1000-8000-000000000001"; /* vendors differ in the case of UUIDs */
	assert_ok(life_proves(l, &n, &node, &e), &e);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		node = right;
		if (wrong[i].name)
			node.world.name = wrong[i].name;
		if (wrong[i].provider)
			node.provider_id = *wrong[i].provider ? wrong[i].provider : NULL;
		if (wrong[i].uuid)
			node.system_uuid = *wrong[i].uuid ? wrong[i].uuid : NULL;
		if (wrong[i].boot)
			node.boot_id = *wrong[i].boot ? wrong[i].boot : NULL;
		assert_int_equal(life_proves(l, &n, &node, &e), -1);
		assert_int_equal(e.kind, ERR_CONFLICT);
		if (!strstr(e.text, wrong[i].says))
			fail_msg("%s, want: %s", e.text, wrong[i].says);
	}
	bench_life_done(l);
}

static void a_machine_without_a_known_identity_proves_nothing(void **state)
{
	struct bench *d = *state;
	const struct tenant_node node = {.world = {.name = "h100-x7k2p"},
					 .provider_id = "drover://hall-a/m-1",
					 .system_uuid = UUID,
					 .boot_id = "boot-9"};
	const struct node_claim n = claim_of("uid-1");
	struct life *l;
	struct err e;

	bench_patch(d, OBJECT_MACHINE, "m-1",
		    "{'spec': {'managementPolicy': 'Observe', 'identity': null}}");
	l = bench_life(d, "m-1");
	assert_int_equal(life_proves(l, &n, &node, &e), -1);
	bench_life_done(l);
}

static void a_node_gets_the_labels_of_claim_pool_and_type_and_the_claims_win(void **state)
{
	struct bench *d = *state;
	struct life *l = bench_life(d, "m-1");
	struct node_claim n = claim_of("uid-1");
	struct label own[] = {{"example.com/both", "claim"}, {"example.com/pool", "h100"}};

	struct label notes[] = {{"example.com/contact", "ops"}};
	struct label stands[] = {{"example.com/asset", "4711"}, {"topology.drover.dev/rack", "r1"}};
	struct machine m = *l->m;

	m.meta.labels = (struct labels){stands, 2};
	l->m = &m;

	n.spec.labels = (struct labels){own, 2};
	n.spec.annotations = (struct labels){notes, 1};
	OWN_JSON o = life_node_labels(l, &n, false);
	const json_t *labels = json_at(o, "metadata", "labels");
	assert_string_equal(json_str_at(labels, "drover.dev/nodeclaim"), "h100-x7k2p");
	assert_string_equal(json_str_at(labels, "drover.dev/nodepool"), "h100");
	assert_string_equal(json_str_at(labels, "node.kubernetes.io/instance-type"), "hgx");
	assert_string_equal(json_str_at(labels, "nvidia.com/gpu.product"), "H100");
	assert_string_equal(json_str_at(labels, "example.com/both"), "claim");
	assert_string_equal(json_str_at(labels, "example.com/pool"), "h100");
	assert_string_equal(json_str_at(labels, "topology.drover.dev/rack"), "r1");
	assert_int_equal(json_object_size(labels), 7);
	assert_string_equal(json_str_at(o, "metadata", "annotations", "example.com/contact"),
			    "ops");
	bench_life_done(l);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_token_has_kubeadms_shape_and_belongs_to_one_claim),
		T(another_boot_key_makes_another_token),
		T(the_tokens_secret_is_what_kubeadm_join_needs_and_expires),
		T(the_config_drive_says_how_to_join),
		T(a_node_of_the_host_cluster_says_whom_it_is_for),
		T(a_machine_that_joins_by_script_gets_the_ca_and_is_told_so),
		T(what_a_claim_leaves_out_has_defaults_and_user_data_goes_through),
		T(nothing_that_a_script_could_take_for_more_reaches_the_drive),
		T(addresses_of_both_families_may_be_endpoints),
		T(only_this_machine_freshly_booted_is_the_node),
		T(a_machine_without_a_known_identity_proves_nothing),
		T(a_node_gets_the_labels_of_claim_pool_and_type_and_the_claims_win),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
