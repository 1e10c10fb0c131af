#include "tests/unit/testing.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include "api/kinds.h"
#include "base/data/yaml.h"
#include "base/str.h"

/* Returns the JSON in this file. The current directory must be the root of the tree. */
static json_t *load(const char *path)
{
	static char text[256 * 1024];
	FILE *f = fopen(path, "r");
	struct err e;
	json_t *j;
	size_t n;

	if (!f)
		fail_msg("%s: cannot be read", path);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	j = yaml_parse_all(text, n, &e);
	if (!j)
		fail_msg("%s: %s", path, e.text);
	return j;
}

static json_t *valid;

static int setup(void **state)
{
	(void)state;
	valid = load("tests/data/objects/valid.yaml");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	json_decref(valid);
	return 0;
}

/* Returns the first object of the kind in `valid`; NULL: there is none. */
static const json_t *example(const struct object_kind *k)
{
	json_t *j;
	size_t i;

	json_array_foreach (valid, i, j)
		if (str_eq(json_str_at(j, "kind"), k->kind))
			return j;
	return NULL;
}

/* Decodes and checks an object, as the controller does with each object that it receives. Returns
 * 0, or -1 with *e set. */
static int accept(const struct object_kind *k, const json_t *j, const void *old, struct arena *a,
		  void **out, struct err *e)
{
	if (object_decode(k, j, a, out, e) < 0)
		return -1;
	return object_check(k, *out, old, e);
}

/* Asserts that every non-empty value of `from` is also in `to`. */
static void assert_kept(const json_t *from, const json_t *to, const char *path)
{
	char below[512];
	const char *key;
	json_t *j;
	size_t i;

	if (json_is_object(from)) {
		json_object_foreach ((json_t *)from, key, j) {
			str_format(below, sizeof(below), "%s.%s", path, key);
			if (strcmp(key, "apiVersion") != 0 && strcmp(key, "kind") != 0)
				assert_kept(j, json_object_get(to, key), below);
		}
	} else if (json_is_array(from)) {
		assert_int_equal(json_array_size(from), json_array_size(to));
		json_array_foreach (from, i, j) {
			str_format(below, sizeof(below), "%s[%zu]", path, i);
			assert_kept(j, json_array_get(to, i), below);
		}
	} else if (json_is_true(from) || json_integer_value(from) || json_string_length(from)) {
		if (!to || !json_equal(from, to))
			fail_msg("%s is lost or changed", path);
	}
}

static void an_example_of_each_kind_is_accepted_and_encodes_to_what_it_says(void **state)
{
	(void)state;
	for (const struct object_kind *k = object_kinds; k < object_kinds + OBJECT_KINDS; k++) {
		OWN(arena) a = arena_new();
		void *one, *two;
		struct err e;

		if (k == &object_kinds[OBJECT_BURST_POLICY])
			continue;
		assert_non_null(example(k));
		if (accept(k, example(k), NULL, a, &one, &e) < 0)
			fail_msg("%s: %s", k->kind, e.text);
		OWN_JSON once = fields_encode(k->fields, one);
		if (accept(k, once, one, a, &two, &e) < 0)
			fail_msg("%s again: %s", k->kind, e.text);
		OWN_JSON twice = fields_encode(k->fields, two);
		assert_true(json_equal(once, twice));

		assert_kept(example(k), once, k->kind);
	}
}

static void every_member_of_the_examples_is_named_by_a_table(void **state)
{
	(void)state;
	for (const struct object_kind *k = object_kinds; k < object_kinds + OBJECT_KINDS; k++)
		for (const struct field *f = k->fields; f->name; f++) {
			OWN(arena) a = arena_new();
			struct err e;
			void *out = arena_alloc(a, f->size);
			json_t *part = json_at(example(k), f->name);

			if (part && fields_decode_strict(f->sub, part, f->name, out, a, &e) < 0)
				fail_msg("%s: %s", k->kind, e.text);
		}
}

static void each_broken_rule_is_refused_by_name_value_and_what_is_allowed(void **state)
{
	OWN_JSON docs = load("tests/data/objects/invalid.yaml");
	json_t *c;
	size_t i;

	(void)state;
	json_array_foreach (json_array_get(docs, 0), i, c) {
		const struct object_kind *k = object_kind_find(json_str_at(c, "kind"));
		OWN(arena) a = arena_new();
		void *old = NULL, *new;
		struct err e;

		assert_non_null(k);
		OWN_JSON j = json_merge_apply(example(k), json_at(c, "patch"));
		if (json_true_at(c, "update"))
			assert_ok(accept(k, example(k), NULL, a, &old, &e), &e);
		if (accept(k, j, old, a, &new, &e) == 0)
			fail_msg("accepted, want: %s", json_str_at(c, "error"));
		assert_int_equal(e.kind, ERR_INVALID);
		assert_string_equal(e.text, json_str_at(c, "error"));
	}
	assert_true(i > 80);
}

static void what_may_be_changed_can_be(void **state)
{
	static const struct {
		enum object_kind_id kind;
		const char *patch;
	} rows[] = {
		{OBJECT_NODE_CLAIM,
		 "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"status\":{\"phase\":\"serving\"}}"},
		{OBJECT_DRAIN,
		 "{\"spec\":{\"cancelled\":true,\"deadline\":\"2026-12-02T00:00:00Z\"}}"},
		{OBJECT_MACHINE,
		 "{\"status\":{\"tenancy\":43},\"spec\":{\"managementPolicy\":\"Observe\"}}"},
		{OBJECT_PROVIDER, "{\"spec\":{\"paused\":true}}"},
		{OBJECT_NODE_POOL, "{\"spec\":{\"template\":{\"spec\":{\"gate\":\"G0\"}}}}"},
		{OBJECT_WIPE_RECORD, "{\"metadata\":{\"finalizers\":null}}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct object_kind *k = &object_kinds[rows[i].kind];
		OWN(arena) a = arena_new();
		OWN_JSON patch = json_loads(rows[i].patch, 0, NULL);
		OWN_JSON j = json_merge_apply(example(k), patch);
		void *old, *new;
		struct err e;

		assert_ok(accept(k, example(k), NULL, a, &old, &e), &e);
		if (accept(k, j, old, a, &new, &e) < 0)
			fail_msg("%s %s: %s", k->kind, rows[i].patch, e.text);
	}
}

static void a_provider_keeps_its_type(void **state)
{
	const struct object_kind *k = &object_kinds[OBJECT_PROVIDER];
	OWN(arena) a = arena_new();
	void *old, *new;
	struct err e;

	(void)state;
	assert_ok(object_decode(k, example(k), a, &new, &e), &e);
	assert_ok(object_decode(k, example(k), a, &old, &e), &e);
	((struct provider_object *)old)->spec.type = PROVIDER_TYPE_IPMI;
	assert_int_equal(object_check(k, new, old, &e), -1);
	assert_string_equal(e.text, "spec.type: is immutable, was ipmi, got redfish");
}

static void a_cancelled_drain_stays_cancelled(void **state)
{
	const struct object_kind *k = &object_kinds[OBJECT_DRAIN];
	OWN(arena) a = arena_new();
	void *old, *new;
	struct err e;

	(void)state;
	assert_ok(object_decode(k, example(k), a, &new, &e), &e);
	assert_ok(object_decode(k, example(k), a, &old, &e), &e);
	((struct drain *)old)->spec.cancelled = true;
	assert_int_equal(object_check(k, new, old, &e), -1);
	assert_string_equal(e.text, "spec.cancelled: a cancelled Drain stays cancelled");
}

static void members_land_where_their_names_say(void **state)
{
	OWN(arena) a = arena_new();
	struct err e;
	void *o;

	(void)state;
	assert_ok(object_decode(&object_kinds[OBJECT_NODE_POOL],
				example(&object_kinds[OBJECT_NODE_POOL]), a, &o, &e),
		  &e);
	const struct node_pool *p = o;
	assert_string_equal(p->meta.name, "h100");
	assert_string_equal(labels_get(&p->spec.virtual_cluster_selector.match_labels, "tier"),
			    "research");
	assert_string_equal(p->spec.template_.spec.provider_refs.v[1].name, "bcm-1");
	assert_int_equal(p->spec.template_.spec.images.n, 2);
	assert_int_equal(p->spec.template_.spec.images.v[1].format, IMAGE_RAW);
	assert_int_equal(p->spec.template_.spec.requirements.v[2].operator,
			 OPERATOR_DOES_NOT_EXIST);
	assert_int_equal(p->spec.template_.spec.startup_taints.v[0].effect, EFFECT_NO_EXECUTE);
	assert_int_equal(p->spec.template_.spec.expire_after, -1);
	assert_int_equal(p->spec.template_.spec.termination_grace_period, 3600000);
	assert_int_equal(p->spec.wipe.minimum_level.flash, WIPE_PURGE);
	assert_int_equal(p->spec.wipe.minimum_level.hdd, WIPE_CLEAR);
	assert_int_equal(p->spec.wipe.minimum_trust, WIPE_BOOT_NETWORK);
	assert_int_equal(p->spec.warm.nodes, 2);
	assert_int_equal(p->spec.disruption.budgets.v[1].duration, 8 * 3600000);
	assert_int_equal(p->spec.deadlines.gating, 900000);

	assert_ok(object_decode(&object_kinds[OBJECT_MACHINE],
				example(&object_kinds[OBJECT_MACHINE]), a, &o, &e),
		  &e);
	const struct machine *m = o;
	assert_string_equal(m->spec.bmc->credentials_secret_ref->name, "bmc-r1-07");
	assert_int_equal(m->spec.management_policy, MACHINE_MANAGE);
	assert_string_equal(m->status.claim_ref->uid, "c0de");
	assert_string_equal(m->status.operation->class_, "probe-first");
	assert_int_equal(m->status.operation->fence, 17);
	assert_int_equal(m->status.operation->waiting_for, WAITING_DEVICE);
	assert_int_equal(m->status.last_wipe.tenancy, 41);
	assert_string_equal(m->status.power.state, "On");
	assert_string_equal(m->status.network.proof, "Strong");
	assert_string_equal(m->status.bmc.session_uri, "/redfish/v1/SessionService/Sessions/9");
	assert_null(m->status.warm_for);
	assert_int_equal(m->status.inventory->drives.v[0].bytes, 960197124096);

	assert_ok(object_decode(&object_kinds[OBJECT_PROVIDER],
				example(&object_kinds[OBJECT_PROVIDER]), a, &o, &e),
		  &e);
	const struct provider_object *r = o;
	assert_int_equal(r->spec.network.type, FABRIC_EXEC);
	assert_string_equal(r->spec.network.segments.provisioning, "p-1");
	assert_string_equal(r->spec.boot.methods.v[1], "VirtualMedia");
	assert_string_equal(r->spec.agent.endpoint, "https://10.1.0.5:8443");
	assert_int_equal(r->spec.limits.per_domain.concurrent, 4);
	assert_int_equal(r->spec.instance_types.v[0].match.pci.v[0].count, 8);
	assert_int_equal(r->spec.instance_types.v[0].root_device.min_bytes, 900000000000);
	assert_int_equal(r->spec.wipe.floor.minimum_level.flash, WIPE_PURGE);
	assert_int_equal(r->spec.wipe.deadline, 6 * 3600000);
	assert_int_equal(quantity_floor(*resources_get(&r->status.machines, "serving")), 28);

	assert_ok(object_decode(&object_kinds[OBJECT_WIPE_RECORD],
				example(&object_kinds[OBJECT_WIPE_RECORD]), a, &o, &e),
		  &e);
	const struct wipe_record *w = o;
	assert_int_equal(w->spec.evidence.tenancy, 41);
	assert_int_equal(w->spec.evidence.devices.v[0].level, WIPE_PURGE);
	assert_string_equal(w->spec.envelope, "eyJwYXlsb2Fk");
}

static size_t assert_agree(const struct field *f)
{
	static const char *const samples[] = {
		"a",
		"A",
		"a-b",
		"-a",
		"a-",
		"a.b",
		"a..b",
		".a",
		"a_b",
		"example.com/key",
		"/key",
		"example.com/",
		"Example.com/key",
		"example.com/Key_1.2-3",
		"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
		"sha256:00",
		"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0",
		"https://a",
		"https://",
		"http://a/b?c",
		"https://a b",
		"qemu+ssh://a/system",
		"https://a/",
		"https://a//",
		"https://a//redfish/v1",
		"https://a:443/redfish/v1/Systems/1/",
		"https://a/redfish//v1",
		"https://a/b@c",
		"https://[fd00::17]:443/b",
		"https://u:p@a/b",
		"https://a#b",
		"https://a/b#c",
		"https:///b",
		"http://127.0.0.1:8080/redfish/v1/Systems/1",
		"http://127.",
		"http://127.evil.example/redfish/v1/Systems/1",
		"http://127.0.0.1:/",
		"http://127.0.0.1:80x/",
		"http://10.0.8.17",
		"redfish://a",
		"redfish+https://a/redfish/v1/Systems/1",
		"redfish+http://a",
		"a:443",
		"ipmi://a",
		"ipmi://",
		"libvirt://a/b",
		"exec://a/b",
		"1x://a",
		"://a",
		"HTTPS://a",
		"https:/a",
		"b8:ce:f6:00:00:01",
		"b8:ce:f6:00:00:0",
		"b8:ce:f6:00:00:01:",
		"B8-ce-f6-00-00-01",
		"10de:2330",
		"10de:23301",
		"10de",
		"https://a\tb",
		"https://a\n",
		"",
		"G0",
		"G3",
		"G4",
		"G",
		"G00",
		"1.36",
		"1.",
		"1.1234",
		"1.3a",
		"2.36",
		"10.1.0.17",
		"10.1.0.17/24",
		"10.1.0.17/",
		"10.1.0.17/1234",
		"10.1.0.17/24/8",
		"/24",
		"fd00::17",
		"FD00::17/64",
		"10.20.0.10:6443",
		"[fd00::17]:6443",
		"[fd00::17]",
		"api.example:6443",
		"api.example:",
		"api.example:123456",
		"api.example:64a",
		":6443",
		"::6443",
		"api_example:6443",
	};
	size_t n = 0;

	for (; f->name; f++) {
		regex_t re;

		if (f->sub)
			n += assert_agree(f->sub);
		if (!f->pattern || !f->valid)
			continue;
		assert_int_equal(regcomp(&re, f->pattern, REG_EXTENDED | REG_NOSUB), 0);
		for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
			if (f->valid(samples[i]) != (regexec(&re, samples[i], 0, NULL, 0) == 0))
				fail_msg("%s: code and pattern differ on \"%s\"", f->name,
					 samples[i]);
		regfree(&re);
		n++;
	}
	return n;
}

static void a_check_in_code_means_the_same_as_its_pattern(void **state)
{
	size_t n = 0;

	(void)state;
	for (const struct object_kind *k = object_kinds; k < object_kinds + OBJECT_KINDS; k++)
		n += assert_agree(k->fields);
	assert_true(n > 20);
}

static void defaults_suit_gpu_metal(void **state)
{
	OWN(arena) a = arena_new();
	struct node_pool p = {0};
	struct machine m = {0};

	(void)state;
	fields_defaults(object_kinds[OBJECT_NODE_POOL].fields, &p, a);
	assert_int_equal(p.spec.template_.spec.expire_after, -1);
	assert_int_equal(p.spec.template_.spec.termination_grace_period, 3600000);
	assert_int_equal(p.spec.template_.spec.network.isolation, ISOLATION_REQUIRED);
	fields_defaults(object_kinds[OBJECT_MACHINE].fields, &m, a);
	assert_int_equal(m.spec.management_policy, MACHINE_OBSERVE);
}

static void an_object_with_a_bad_spec_still_gives_its_metadata(void **state)
{
	const struct object_kind *k = &object_kinds[OBJECT_MACHINE];
	OWN(arena) a = arena_new();
	OWN_JSON j = json_loads(
		"{\"metadata\":{\"name\":\"m\",\"generation\":3},\"spec\":{\"providerRef\":7}}", 0,
		NULL);
	OWN_JSON nameless = json_loads("{\"metadata\":{},\"spec\":{}}", 0, NULL);
	struct err e;
	void *o;

	(void)state;
	assert_int_equal(object_decode(k, j, a, &o, &e), -1);
	assert_string_equal(e.text, "spec.providerRef: want an object, got 7");
	assert_non_null(o);
	assert_string_equal(object_meta_of(o)->name, "m");
	assert_int_equal(object_meta_of(o)->generation, 3);
	assert_int_equal(object_decode(k, nameless, a, &o, &e), -1);
	assert_string_equal(e.text, "metadata.name: required");
	assert_null(o);
}

static void a_kind_is_found_by_any_of_its_names(void **state)
{
	(void)state;
	assert_ptr_equal(object_kind_find("NodePool"), &object_kinds[OBJECT_NODE_POOL]);
	assert_ptr_equal(object_kind_find("providers"), &object_kinds[OBJECT_PROVIDER]);
	assert_ptr_equal(object_kind_find("wr"), &object_kinds[OBJECT_WIPE_RECORD]);
	assert_null(object_kind_find("pods"));
	assert_null(object_kind_find(""));
	for (const struct object_kind *k = object_kinds; k < object_kinds + OBJECT_KINDS; k++) {
		assert_ptr_equal(object_kind_find(k->short_name), k);
		assert_ptr_equal(object_kind_find(k->singular), k);
	}
}

static void a_label_selector_becomes_the_form_that_matches(void **state)
{
	struct label l[] = {{"a", "1"}};
	const char *values[] = {"x", "y"};
	struct object_requirement r[] = {
		{.key = "b", .operator= OPERATOR_NOT_IN, .values = {values, 2}},
		{
			.key = "c",
			.operator= OPERATOR_DOES_NOT_EXIST },
		};
	struct object_label_selector s = {.match_labels = {l, 1}, .match_expressions = {r, 2}};
	struct label yes[] = {{"a", "1"}, {"b", "z"}}, no[] = {{"a", "1"}, {"b", "y"}},
		     nor[] = {{"a", "1"}, {"c", ""}};
	OWN(arena) a = arena_new();
	struct selector out = object_selector(&s, a), none = object_selector(NULL, a);

	(void)state;
	assert_int_equal(out.n, 3);
	assert_true(selector_matches(&out, &(struct labels){yes, 2}));
	assert_false(selector_matches(&out, &(struct labels){no, 2}));
	assert_false(selector_matches(&out, &(struct labels){nor, 2}));
	assert_false(selector_matches(&out, &(struct labels){yes + 1, 1}));
	assert_true(selector_matches(&none, &(struct labels){NULL, 0}));
}

static void every_operator_of_a_requirement_matches_as_it_says(void **state)
{
	static const struct {
		enum object_operator op;
		const char *is;
		bool matches;
	} cases[] = {
		{OPERATOR_GT, "8", false},  {OPERATOR_GT, "9", true},
		{OPERATOR_LT, "8", false},  {OPERATOR_LT, "7", true},
		{OPERATOR_GTE, "7", false}, {OPERATOR_GTE, "8", true},
		{OPERATOR_GTE, "9", true},  {OPERATOR_LTE, "8", true},
		{OPERATOR_LTE, "7", true},  {OPERATOR_LTE, "9", false},
		{OPERATOR_IN, "8", true},   {OPERATOR_NOT_IN, "8", false},
	};
	const char *values[] = {"8"};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct object_requirement r = {"gpus", (int)cases[i].op, {values, 1}};
		struct object_label_selector s = {.match_expressions = {&r, 1}};
		struct selector out = object_selector(&s, a);
		struct label has = {"gpus", cases[i].is};

		assert_int_equal(selector_matches(&out, &(struct labels){&has, 1}),
				 cases[i].matches);
	}
}

static void a_condition_keeps_its_time_until_its_status_turns(void **state)
{
	OWN(arena) a = arena_new();
	struct conditions c = {0};

	(void)state;
	assert_true(condition_set(
		&c, a, &(struct condition){"Ready", CONDITION_FALSE, "Waiting", "for a", 1, 0},
		1000));
	assert_true(condition_set(
		&c, a, &(struct condition){"Other", CONDITION_TRUE, NULL, NULL, 1, 0}, 1000));
	assert_false(condition_set(
		&c, a, &(struct condition){"Ready", CONDITION_FALSE, "Waiting", "for a", 2, 0},
		2000));
	assert_int_equal(condition_get(&c, "Ready")->observed_generation, 2);
	assert_int_equal(condition_get(&c, "Ready")->last_transition_time, 1000);
	assert_true(condition_set(
		&c, a, &(struct condition){"Ready", CONDITION_FALSE, "Waiting", "for b", 2, 0},
		3000));
	assert_int_equal(condition_get(&c, "Ready")->last_transition_time, 1000);
	assert_false(condition_is_true(&c, "Ready"));
	assert_true(condition_set(
		&c, a, &(struct condition){"Ready", CONDITION_TRUE, "Done", NULL, 2, 0}, 4000));
	assert_int_equal(condition_get(&c, "Ready")->last_transition_time, 4000);
	assert_true(condition_is_true(&c, "Ready"));
	assert_int_equal(c.n, 2);
	assert_null(condition_get(&c, "Absent"));
}

static void stalled_appears_when_it_is_true_and_then_stays(void **state)
{
	const struct condition ready = {"Ready", CONDITION_FALSE, "Partial", "1 of 2", 3, 0};
	OWN(arena) a = arena_new();
	struct conditions c = {0};

	(void)state;
	assert_false(condition_set_stalled(&c, a, NULL, 3, 1000));
	assert_null(condition_get(&c, CONDITION_STALLED));
	assert_true(condition_set_stalled(&c, a, &ready, 3, 1000));
	assert_true(condition_is_true(&c, CONDITION_STALLED));
	assert_string_equal(condition_get(&c, CONDITION_STALLED)->reason, "Partial");
	assert_true(condition_set_stalled(&c, a, NULL, 4, 2000));
	assert_false(condition_is_true(&c, CONDITION_STALLED));
	assert_int_equal(condition_get(&c, CONDITION_STALLED)->observed_generation, 4);
}

/* After an invalid edit, the last valid spec stays in effect and Ready does not change. Only the
 * column Valid shows that the edit was refused. */
static void what_is_not_valid_shows_in_a_column(void **state)
{
	(void)state;
	for (size_t i = 0; i < OBJECT_KINDS; i++) {
		const struct object_column *c = object_kinds[i].columns;
		bool shown = !object_kinds[i].has_status;

		for (; c && c->name; c++)
			shown |= !strcmp(c->name, "Valid") && !c->priority &&
				 strstr(c->path, "\"Valid\"");
		if (!shown)
			fail_msg("%s has no column Valid", object_kinds[i].kind);
	}
}

/* The CRD must refuse every change of a claim's spec except its approval, so its rules name each
 * other member. */
static void every_member_of_a_claim_but_its_approval_is_immutable(void **state)
{
	const struct field *spec = object_kinds[OBJECT_NODE_CLAIM].fields;
	const struct field *f;
	char has[128];

	(void)state;
	while (!str_eq(spec->name, "spec"))
		spec++;
	for (f = spec->sub; f->name; f++) {
		const struct field_rule *r = spec->rules;

		str_format(has, sizeof(has), "has(self.%s) == has(oldSelf.%s) &&", f->name,
			   f->name);
		while (r->rule && !str_starts(r->rule, has))
			r++;
		if (!r->rule != str_eq(f->name, "approval"))
			fail_msg("the rules of the CRD do not treat spec.%s as they should",
				 f->name);
	}
}

/* Fails unless the description of each field that is refused, and of each enum of which values are
 * refused, says why. */
static void look_at_refusals(const struct field *f, const char *kind)
{
	for (; f->name; f++) {
		if (f->refused && !str_starts(f->doc, "Refused: ") &&
		    !str_starts(f->doc, "Not supported yet: "))
			fail_msg("%s: %s does not say why it is refused", kind, f->name);
		for (size_t i = 0; f->only && f->enums && f->enums[i]; i++) {
			size_t k = 0;

			while (f->only[k] && !str_eq(f->only[k], f->enums[i]))
				k++;
			if (!f->only[k] && !strstr(f->doc, f->enums[i]))
				fail_msg("%s: %s does not say why %s is refused", kind, f->name,
					 f->enums[i]);
		}
		if (f->sub)
			look_at_refusals(f->sub, kind);
	}
}

static void what_is_refused_says_why(void **state)
{
	(void)state;
	for (int k = 0; k < OBJECT_KINDS; k++)
		look_at_refusals(object_kinds[k].fields, object_kinds[k].kind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_valid_shows_in_a_column),
		cmocka_unit_test(an_example_of_each_kind_is_accepted_and_encodes_to_what_it_says),
		cmocka_unit_test(every_member_of_the_examples_is_named_by_a_table),
		cmocka_unit_test(each_broken_rule_is_refused_by_name_value_and_what_is_allowed),
		cmocka_unit_test(what_may_be_changed_can_be),
		cmocka_unit_test(a_provider_keeps_its_type),
		cmocka_unit_test(a_cancelled_drain_stays_cancelled),
		cmocka_unit_test(members_land_where_their_names_say),
		cmocka_unit_test(a_check_in_code_means_the_same_as_its_pattern),
		cmocka_unit_test(defaults_suit_gpu_metal),
		cmocka_unit_test(an_object_with_a_bad_spec_still_gives_its_metadata),
		cmocka_unit_test(a_kind_is_found_by_any_of_its_names),
		cmocka_unit_test(a_label_selector_becomes_the_form_that_matches),
		cmocka_unit_test(every_operator_of_a_requirement_matches_as_it_says),
		cmocka_unit_test(a_condition_keeps_its_time_until_its_status_turns),
		cmocka_unit_test(stalled_appears_when_it_is_true_and_then_stays),
		cmocka_unit_test(every_member_of_a_claim_but_its_approval_is_immutable),
		cmocka_unit_test(what_is_refused_says_why),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
