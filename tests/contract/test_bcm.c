#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "tests/simulated/http_mem.h"
#include "base/log.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/hardware.h"
#include "providers/managed.h"
#include "providers/provider.h"
#include "tests/contract/fake_bmc.h"
#include "tests/contract/fake_head.h"

/*
 * Tests what a provider of managed machines (BCM) must do in addition to test_provider.c: acquire,
 * release, progress and discovery. No request may reach a node that is not the machine's.
 */
#define MACHINES 2

struct world {
	struct loop *loop;
	struct loop_group *hardware, *group;
	struct http_mem_net *net;
	struct http *http;
	struct fake_bmc bmc[MACHINES];
	struct fake_head head;
	struct sim_head_node *node[MACHINES];
	struct provider *provider;
	struct provider_machine *machine[MACHINES];
	struct secret *password;
	char log[1 << 16];
	size_t logged;
};

struct answer {
	struct world *w;
	unsigned count;
	bool allowed;
	struct err err;
	char handle[64], state[200];
	enum provider_progress progress;
	enum provider_power power;
	char found[2000];
};

static void on_log(const char *line, size_t len, void *arg)
{
	struct world *w = arg;

	if (w->logged + len >= sizeof(w->log))
		w->logged = 0;
	memcpy(w->log + w->logged, line, len);
	w->logged += len;
	w->log[w->logged] = '\0';
}

static void attach(struct world *w, int i, const char *node, const char *uid)
{
	char origin[40], name[16];
	struct provider_machine_spec s = {.name = name,
					  .uid = uid,
					  .node = node,
					  .bmc_address = origin,
					  .user = "drover",
					  .password = w->password};
	struct err e;

	str_format(name, sizeof(name), "gpu-%d", i);
	str_format(origin, sizeof(origin), "https://10.0.8.%d", 17 + i);
	provider_detach(w->provider, w->machine[i]);
	w->machine[i] = provider_attach(w->provider, &s, &e);
	if (!w->machine[i])
		fail_msg("%s", e.text);
}

static struct world *world_new(void)
{
	struct world *w = mem_new(struct world);
	struct provider_spec s = {.name = "bcm-1", .type = "bcm"};
	char origin[40];
	struct err e;

	log_redirect(on_log, w);
	log_config(LOG_DEBUG, LOG_TEXT);
	w->loop = loop_sim_new(11, 1764000000000);
	w->hardware = loop_group_new(w->loop, "hardware");
	w->group = loop_group_new(w->loop, "controller");
	w->net = http_mem_net_new(w->loop);
	w->http =
		http_new(w->group, http_mem_transport(w->net, w->group, "10.0.0.1", NULL, NULL), 0);
	fake_head_start(&w->head, w->net, w->hardware);
	for (int i = 0; i < MACHINES; i++) {
		str_format(origin, sizeof(origin), "https://10.0.8.%d", 17 + i);
		fake_bmc_init(&w->bmc[i], w->hardware);
		http_mem_serve(w->net, origin, w->bmc[i].httpd);
		w->node[i] = fake_head_add(&w->head, &w->bmc[i], i);
	}
	w->password = secret_from_str("correct horse");
	s.group = w->group;
	s.http = w->http;
	s.manager = &w->head.manager;
	w->provider = provider_new(&s, &e);
	if (!w->provider)
		fail_msg("%s", e.text);
	attach(w, 0, "n0", "uid-0");
	attach(w, 1, "n1", "uid-1");
	return w;
}

static void world_free(struct world *w)
{
	for (int i = 0; i < MACHINES; i++)
		provider_detach(w->provider, w->machine[i]);
	provider_free(w->provider);
	secret_free(w->password);
	http_free(w->http);
	fake_head_done(&w->head);
	for (int i = 0; i < MACHINES; i++)
		fake_bmc_done(&w->bmc[i]);
	http_mem_net_free(w->net);
	loop_group_free(w->group);
	loop_group_free(w->hardware);
	loop_free(w->loop);
	log_redirect(NULL, NULL);
	free(w);
}

static void fault(struct world *w, const char *json)
{
	struct err e;

	assert_ok(sim_head_fault(w->head.head, json, &e), &e);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void on_done(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *arg)
{
	struct answer *a = arg;

	a->count++;
	err_clear(&a->err);
	if (e)
		a->err = *e;
	str_copy(a->handle, sizeof(a->handle), str_or(handle, ""));
	a->progress = o ? o->progress : PROVIDER_PROGRESS_UNKNOWN;
	a->power = o ? o->power : PROVIDER_POWER_UNKNOWN;
	str_copy(a->state, sizeof(a->state), o ? str_or(o->handle_state, "") : "");
}

static bool may_act(void *arg)
{
	return ((struct answer *)arg)->allowed;
}

static struct provider_call call(struct world *w, struct answer *a, const char *op, int64_t fence)
{
	*a = (struct answer){.w = w, .allowed = true};
	return (struct provider_call){
		.op_id = op, .fence = fence, .may_act = may_act, .done = on_done, .arg = a};
}

static bool answered(void *arg)
{
	return ((struct answer *)arg)->count > 0;
}

static enum err_kind finish(struct answer *a)
{
	assert_int_equal(a->count, 0);
	loop_sim_run_cond(a->w->loop, answered, a, loop_now(a->w->loop) + PROVIDER_CALL_MS + 1);
	assert_int_equal(a->count, 1);
	return a->err.kind;
}

static enum err_kind power(struct world *w, bool on, struct answer *a)
{
	struct provider_call c = call(w, a, "op-power", 3);

	provider_power(w->provider, w->machine[0], on, &c);
	return finish(a);
}

static const struct provider_target kubernetes = {.category = "kubernetes"};

static enum err_kind acquire(struct world *w, const char *op, int64_t fence, struct answer *a)
{
	struct provider_call c = call(w, a, op, fence);

	provider_acquire(w->provider, w->machine[0], &kubernetes, &c);
	return finish(a);
}

static enum err_kind release(struct world *w, struct answer *a)
{
	struct provider_call c = call(w, a, "op-release", 9);

	provider_release(w->provider, w->machine[0], &c);
	return finish(a);
}

static enum provider_progress watch(struct world *w, const char *handle, struct answer *a)
{
	struct provider_call c = call(w, a, "op-watch", 3);

	c.handle = handle;
	provider_observe(w->provider, w->machine[0], &c);
	assert_int_equal(finish(a), ERR_NONE);
	return a->progress;
}

static void pass(struct world *w, int64_t ms)
{
	loop_sim_run_until(w->loop, loop_now(w->loop) + ms);
}

/* --- cases ------------------------------------------------------------------------------------ */

static void a_node_is_installed_and_given_back_as_it_was(void **state)
{
	struct world *w = world_new();
	char *before = mem_strdup(sim_head_device(w->node[0]));
	bool seen[8] = {false};
	struct answer a;

	(void)state;
	assert_int_equal(acquire(w, "op-1", 3, &a), ERR_NONE);
	assert_string_equal(a.handle, "op-1");
	assert_non_null(strstr(sim_head_device(w->node[0]), "\"nextBootInstallMode\":\"FULL\""));
	assert_non_null(strstr(sim_head_device(w->node[0]),
			       "\"category\":\"c0000000-0000-4000-8000-000000000002\""));
	/* A repeated call of the same operation starts no second installation. */
	assert_int_equal(acquire(w, "op-1", 4, &a), ERR_NONE);
	assert_string_equal(a.handle, "op-1");
	assert_int_equal(sim_head_count(w->head.head, "cmdevice.updateDevice"), 1);
	assert_int_equal(watch(w, "op-1", &a), PROVIDER_PROGRESS_UNBEGUN);
	assert_string_equal(a.state, "DOWN");
	assert_int_equal(power(w, true, &a), ERR_NONE);
	for (int i = 0; i < 60 && watch(w, "op-1", &a) != PROVIDER_PROGRESS_DONE; i++) {
		assert_int_equal(a.progress, str_eq(a.state, "DOWN") ? PROVIDER_PROGRESS_UNBEGUN
								     : PROVIDER_PROGRESS_WAITING);
		assert_int_equal(a.power, PROVIDER_POWER_ON);
		seen[0] |= str_eq(a.state, "BOOTING");
		seen[1] |= str_eq(a.state, "INSTALLING: recreating partitions");
		seen[2] |= str_eq(a.state, "INSTALLER_CALLINGINIT");
		pass(w, 1000);
	}
	assert_int_equal(a.progress, PROVIDER_PROGRESS_DONE);
	assert_true(seen[0] && seen[1] && seen[2]);
	assert_int_equal(release(w, &a), ERR_NONE);
	assert_string_equal(sim_head_device(w->node[0]), before);
	assert_int_equal(release(w, &a), ERR_NONE);
	assert_int_equal(sim_head_count(w->head.head, "cmdevice.updateDevice"), 2);
	free(before);
	world_free(w);
}

/* After several tenants, release() restores the node as it was before the first one. */
static void several_tenants_later_the_node_is_as_it_was(void **state)
{
	struct world *w = world_new();
	char *before = mem_strdup(sim_head_device(w->node[0]));
	struct answer a;

	(void)state;
	assert_int_equal(acquire(w, "op-1", 3, &a), ERR_NONE);
	assert_int_equal(acquire(w, "op-2", 5, &a), ERR_NONE);
	assert_string_equal(a.handle, "op-2");
	assert_int_equal(acquire(w, "op-1", 3, &a), ERR_CONFLICT);
	assert_int_equal(release(w, &a), ERR_NONE);
	assert_string_equal(sim_head_device(w->node[0]), before);
	free(before);
	world_free(w);
}

/* BCM reports the previous system as UP until its power goes, and for some time after that. */
static void up_from_before_is_no_install(void **state)
{
	struct world *w = world_new();
	struct answer a;

	(void)state;
	assert_int_equal(power(w, true, &a), ERR_NONE);
	pass(w, 10000);
	assert_string_equal(sim_head_state(w->node[0]), "UP");
	assert_int_equal(acquire(w, "op-1", 3, &a), ERR_NONE);
	assert_int_equal(watch(w, "op-1", &a), PROVIDER_PROGRESS_UNBEGUN);
	assert_non_null(strstr(a.state, "before the install"));
	world_free(w);
}

static void what_goes_wrong_is_told_as_what_it_is(void **state)
{
	static const struct {
		const char *fault;
		enum err_kind want;
		bool acted;
		const char *says;
	} rows[] = {
		{"{\"what\":\"Denied\",\"call\":\"cmdevice.powerOperation\"}", ERR_DENIED, false,
		 "powerOperation"},
		{"{\"what\":\"NoCall\",\"call\":\"cmdevice.powerOperation\"}", ERR_UNSUPPORTED,
		 false, "no such call"},
		{"{\"what\":\"ErrorMessage\","
		 "\"call\":\"cmdevice.powerOperation\",\"text\":\"boom\"}",
		 ERR_PROTOCOL, false, "boom"},
		{"{\"what\":\"Null\",\"call\":\"cmdevice.powerOperation\"}", ERR_PROTOCOL, false,
		 "null"},
		{"{\"what\":\"Null\",\"call\":\"cmdevice.getDevice\"}", ERR_NOT_FOUND, false,
		 "spec.node"},
		{"{\"what\":\"Status\",\"call\":\"cmdevice.powerOperation\",\"value\":500}",
		 ERR_UNAVAILABLE, false, "500"},
		{"{\"what\":\"LostReply\",\"call\":\"cmdevice.powerOperation\"}", ERR_UNAVAILABLE,
		 true, ""},
		{"{\"what\":\"Hang\",\"call\":\"cmdevice.powerOperation\"}", ERR_TIMEOUT, false,
		 ""},
		{"{\"what\":\"Slow\",\"value\":3000}", ERR_NONE, true, ""},
		{"{\"what\":\"Expire\",\"call\":\"cmdevice.powerOperation\",\"count\":1}", ERR_NONE,
		 true, ""},
		{"{\"what\":\"Expire\",\"call\":\"cmdevice.powerOperation\"}", ERR_DENIED, false,
		 "401"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct world *w = world_new();
		struct answer a;

		fault(w, rows[i].fault);
		if (power(w, true, &a) != rows[i].want || w->bmc[0].on != rows[i].acted ||
		    !strstr(a.err.text, rows[i].says))
			fail_msg("%s: %d %s", rows[i].fault, a.err.kind, a.err.text);
		/* After each of the faults, the same request succeeds. */
		sim_head_well(w->head.head);
		assert_int_equal(power(w, true, &a), ERR_NONE);
		assert_true(w->bmc[0].on);
		world_free(w);
	}
}

static void nothing_is_done_to_a_node_that_is_not_the_machines(void **state)
{
	static const struct {
		const char *member, *json, *says;
	} rows[] = {
		{"childType", "\"HeadNode\"", "HeadNode"},
		{"childType", "\"LiteNode\"", "LiteNode"},
		{"powerControl", "\"none\"", "no power control"},
		{"dataNode", "true", "data node"},
		{"interfaces", "[]", "has BMC address (none)"},
		{"extra_values", "{\"drover\":\"mine\"}", "was not written by drover"},
		{"extra_values",
		 "{\"drover\":\"{\\\"machine\\\":\\\"uid-9\\\",\\\"name\\\":\\\"other\\\","
		 "\\\"token\\\":\\\"t\\\",\\\"fence\\\":1}\"}",
		 "managed as machine other"},
		{"extra_values",
		 "{\"drover\":\"{\\\"machine\\\":\\\"uid-0\\\","
		 "\\\"token\\\":\\\"t\\\",\\\"fence\\\":7}\"}",
		 "fence 7"},
	};
	struct answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct world *w = world_new();

		sim_head_set(w->node[0], rows[i].member, rows[i].json);
		if (power(w, true, &a) == ERR_NONE || !strstr(a.err.text, rows[i].says))
			fail_msg("%s %s: %s", rows[i].member, rows[i].json, a.err.text);
		assert_int_not_equal(acquire(w, "op-1", 3, &a), ERR_NONE);
		assert_int_equal(sim_head_count(w->head.head, "cmdevice.updateDevice"), 0);
		assert_int_equal(sim_head_count(w->head.head, "cmdevice.powerOperation"), 0);
		assert_false(w->bmc[0].on);
		world_free(w);
	}
}

/* An operator types spec.node. A typing error may name another tenant's machine. */
static void a_mistyped_node_reaches_no_other_machine(void **state)
{
	struct world *w = world_new();
	struct answer a;

	(void)state;
	w->bmc[1].on = true;
	attach(w, 0, "n1", "uid-0");
	assert_int_equal(power(w, false, &a), ERR_INVALID);
	assert_non_null(strstr(a.err.text, "10.0.8.18"));
	assert_non_null(strstr(a.err.text, "10.0.8.17"));
	assert_int_equal(acquire(w, "op-1", 3, &a), ERR_INVALID);
	assert_int_equal(release(w, &a), ERR_INVALID);
	assert_true(w->bmc[1].on);
	attach(w, 0, "nobody", "uid-0");
	assert_int_equal(power(w, false, &a), ERR_NOT_FOUND);
	assert_non_null(strstr(a.err.text, "BCM has no node nobody: correct spec.node"));
	world_free(w);
}

static void an_acquire_that_cannot_be_is_refused_by_name(void **state)
{
	static const struct {
		const char *member, *json;
		struct provider_target target;
		const char *says;
	} rows[] = {
		{NULL, NULL, {.category = "kubernets"}, "BCM has no category kubernets"},
		{NULL, NULL, {.category = "kubernetes", .image = "x"}, "no software image x"},
		{NULL, NULL, {.category = "kubernetes", .network = "x"}, "no network x"},
		{"mac", "\"00:00:00:00:00:00\"", {.category = "kubernetes"}, "no MAC address"},
		{"provisioningInterface",
		 "\"eth9\"",
		 {.category = "kubernetes"},
		 "no boot interface"},
	};
	struct answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct world *w = world_new();
		struct provider_call c = call(w, &a, "op-1", 3);

		if (rows[i].member)
			sim_head_set(w->node[0], rows[i].member, rows[i].json);
		provider_acquire(w->provider, w->machine[0], &rows[i].target, &c);
		if (finish(&a) == ERR_NONE || !strstr(a.err.text, rows[i].says))
			fail_msg("%s: %s", rows[i].says, a.err.text);
		assert_int_equal(sim_head_count(w->head.head, "cmdevice.updateDevice"), 0);
		world_free(w);
	}
}

static void all_of_a_target_is_written(void **state)
{
	static const char *const clear[] = {"/dev/nvme0n1", "/dev/sda"};
	const struct provider_target t = {.category = "kubernetes",
					  .image = "default-image",
					  .network = "ipminet",
					  .clear = clear,
					  .nclear = 2};
	struct world *w = world_new();
	char *before = mem_strdup(sim_head_device(w->node[0]));
	struct answer a;
	struct provider_call c = call(w, &a, "op-1", 3);

	(void)state;
	provider_acquire(w->provider, w->machine[0], &t, &c);
	assert_int_equal(finish(&a), ERR_NONE);
	assert_non_null(
		strstr(sim_head_device(w->node[0]),
		       "\"blockDevicesClearedOnNextBoot\":[\"/dev/nvme0n1\",\"/dev/sda\"]"));
	assert_non_null(strstr(sim_head_device(w->node[0]),
			       "\"managementNetwork\":\"e0000000-0000-4000-8000-000000000002\""));
	assert_non_null(strstr(sim_head_device(w->node[0]),
			       "\"parentSoftwareImage\":\"50000000-0000-4000-8000-000000000001\""));
	assert_int_equal(power(w, true, &a), ERR_NONE);
	pass(w, 60000);
	assert_int_equal(watch(w, "op-1", &a), PROVIDER_PROGRESS_DONE);
	assert_int_equal(release(w, &a), ERR_NONE);
	assert_string_equal(sim_head_device(w->node[0]), before);
	free(before);
	world_free(w);
}

static void a_lost_reply_or_another_writer_ends_in_what_is_read(void **state)
{
	static const struct {
		const char *fault;
		enum err_kind want;
	} rows[] = {
		{"{\"what\":\"LostReply\",\"call\":\"cmdevice.updateDevice\",\"count\":1}",
		 ERR_NONE},
		{"{\"what\":\"Moved\",\"count\":1}", ERR_NONE},
		{"{\"what\":\"Overwrite\",\"count\":1}", ERR_CONFLICT},
		{"{\"what\":\"Ignored\",\"count\":1}", ERR_CONFLICT},
		{"{\"what\":\"Invalid\",\"count\":1}", ERR_INVALID},
		{"{\"what\":\"Null\",\"call\":\"cmdevice.updateDevice\",\"count\":1}",
		 ERR_PROTOCOL},
		{"{\"what\":\"Hang\",\"call\":\"cmdevice.updateDevice\",\"count\":1}", ERR_TIMEOUT},
	};
	struct answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct world *w = world_new();

		fault(w, rows[i].fault);
		if (acquire(w, "op-1", 3, &a) != rows[i].want)
			fail_msg("%s: %s", rows[i].fault, a.err.text);
		assert_int_equal(acquire(w, "op-1", 3, &a), ERR_NONE);
		assert_non_null(
			strstr(sim_head_device(w->node[0]), "\"nextBootInstallMode\":\"FULL\""));
		world_free(w);
	}
}

static void an_install_that_fails_or_hangs_is_told_so(void **state)
{
	struct world *w = world_new();
	struct answer a;

	(void)state;
	fault(w, "{\"what\":\"InstallFails\",\"text\":\"no disk was found\",\"count\":1}");
	assert_int_equal(acquire(w, "op-1", 3, &a), ERR_NONE);
	assert_int_equal(power(w, true, &a), ERR_NONE);
	pass(w, 10000);
	assert_int_equal(watch(w, "op-1", &a), PROVIDER_PROGRESS_FAILED);
	assert_string_equal(a.state, "INSTALLER_FAILED: no disk was found");
	assert_int_equal(power(w, false, &a), ERR_NONE);
	fault(w, "{\"what\":\"InstallHangs\",\"count\":1}");
	assert_int_equal(power(w, true, &a), ERR_NONE);
	pass(w, 600000);
	assert_int_equal(watch(w, "op-1", &a), PROVIDER_PROGRESS_WAITING);
	assert_string_equal(a.state, "INSTALLING: installer started");
	world_free(w);
}

static void a_restart_of_the_daemon_is_waited_out(void **state)
{
	struct world *w = world_new();
	struct answer a;
	struct provider_call c;

	(void)state;
	assert_int_equal(acquire(w, "op-1", 3, &a), ERR_NONE);
	assert_int_equal(power(w, true, &a), ERR_NONE);
	pass(w, 15000);
	sim_head_restart(w->head.head, 20000);
	c = call(w, &a, "op-watch", 3);
	c.handle = "op-1";
	provider_observe(w->provider, w->machine[0], &c);
	assert_int_equal(finish(&a), ERR_UNAVAILABLE);
	assert_int_equal(a.err.scope, ERR_PROVIDER);
	pass(w, 90000);
	assert_int_equal(watch(w, "op-1", &a), PROVIDER_PROGRESS_DONE);
	world_free(w);
}

/* A timeout at the head node is reported as an error of the head node. It delays no observation at
 * the BMC. */
static void a_head_node_that_hangs_is_no_silence_of_the_bmc(void **state)
{
	struct world *w = world_new();
	struct answer a[2], look;
	struct provider_call c;

	(void)state;
	fault(w, "{\"what\":\"Hang\"}");
	for (int i = 0; i < 2; i++) {
		c = call(w, &a[i], "op-watch", 3);
		c.handle = "op-1";
		provider_observe(w->provider, w->machine[0], &c);
	}
	pass(w, 5000);
	c = call(w, &look, "op-look", 3);
	provider_observe(w->provider, w->machine[0], &c);
	assert_int_equal(finish(&look), ERR_NONE);
	pass(w, 2 * PROVIDER_CALL_MS);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(a[i].count, 1);
		assert_int_equal(a[i].err.kind, ERR_TIMEOUT);
		assert_int_equal(a[i].err.code, PROVIDER_OF_MANAGER);
	}
	world_free(w);
}

static void states_come_by_rest_where_the_call_is_not_there(void **state)
{
	static const char *const faults[] = {
		"{\"what\":\"NoCall\",\"call\":\"cmstatus.getStatusForDevices\"}",
		"{\"what\":\"Denied\",\"call\":\"cmstatus.getStatusForDevices\"}"};
	struct answer a;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world *w = world_new();

		fault(w, faults[i]);
		assert_int_equal(acquire(w, "op-1", 3, &a), ERR_NONE);
		assert_int_equal(watch(w, "op-1", &a), PROVIDER_PROGRESS_UNBEGUN);
		assert_string_equal(a.state, "DOWN");
		assert_int_equal(watch(w, "op-1", &a), PROVIDER_PROGRESS_UNBEGUN);
		/* One request is enough; one more is needed if the cookie may have expired. */
		assert_int_equal(sim_head_count(w->head.head, "cmstatus.getStatusForDevices"),
				 1 + i);
		world_free(w);
	}
}

static void one_list_answers_all_who_wait(void **state)
{
	struct world *w = world_new();
	struct provider_machine *m[8];
	struct provider_machine_spec s = {.name = "gpu", .user = "drover"};
	struct answer a[8];
	struct err e;

	(void)state;
	s.password = w->password;
	for (int i = 0; i < 8; i++) {
		struct provider_call c = call(w, &a[i], "op-watch", 3);

		s.node = i % 2 ? "n1" : "n0";
		s.bmc_address = i % 2 ? "https://10.0.8.18" : "https://10.0.8.17";
		m[i] = provider_attach(w->provider, &s, &e);
		c.handle = "op-1";
		provider_observe(w->provider, m[i], &c);
	}
	pass(w, 30000);
	for (int i = 0; i < 8; i++) {
		assert_true(a[i].count == 1 && a[i].err.kind == ERR_NONE);
		provider_detach(w->provider, m[i]);
	}
	assert_true(sim_head_count(w->head.head, "cmstatus.getStatusForDevices") <= 3);
	world_free(w);
}

static void on_found(const struct provider_inventory *i, const struct err *e, void *arg)
{
	struct answer *a = arg;

	a->count++;
	err_clear(&a->err);
	if (e) {
		a->err = *e;
		return;
	}
	str_format(a->found, sizeof(a->found), "%s:", i->version);
	for (size_t k = 0; k < i->machines.n; k++)
		str_format(a->found + strlen(a->found), sizeof(a->found) - strlen(a->found),
			   " %s at %s%s%s", i->machines.v[k].node,
			   str_or(i->machines.v[k].bmc_address, "-"),
			   i->machines.v[k].refusal ? " but " : "",
			   str_or(i->machines.v[k].refusal, ""));
	assert_int_equal(i->categories.n, 2);
	assert_string_equal(i->categories.v[1], "kubernetes");
	assert_int_equal(i->images.n, 2);
	assert_int_equal(i->networks.n, 2);
}

static void everything_is_discovered_and_what_is_left_alone_says_why(void **state)
{
	struct world *w = world_new();
	struct answer a = {.w = w};

	(void)state;
	sim_head_set(sim_head_add(w->head.head, "head", NULL, NULL, NULL, NULL), "childType",
		     "\"HeadNode\"");
	sim_head_set(sim_head_add(w->head.head, "switch1", NULL, NULL, NULL, NULL), "childType",
		     "\"EthernetSwitch\"");
	sim_head_set(sim_head_add(w->head.head, "odd", NULL, NULL, NULL, NULL), "uuid", "7");
	assert_true(provider_discover(w->provider, on_found, &a));
	assert_int_equal(finish(&a), ERR_NONE);
	assert_string_equal(
		a.found,
		"11.0: n0 at 10.0.8.17 n1 at 10.0.8.18 head at - but node head is a HeadNode "
		"in BCM: drover manages only PhysicalNodes odd at - but BCM reports a device "
		"without uuid");
	a.count = 0;
	fault(w, "{\"what\":\"Denied\",\"call\":\"cmpart.getSoftwareImages\"}");
	assert_true(provider_discover(w->provider, on_found, &a));
	assert_int_equal(finish(&a), ERR_DENIED);
	assert_non_null(strstr(a.err.text, "cmpart.getSoftwareImages"));
	world_free(w);
}

static void detaching_ends_everything_without_an_answer(void **state)
{
	(void)state;
	for (int64_t ms = 1; ms < 4000; ms = ms * 2 + 1) {
		struct world *w = world_new();
		struct answer a[3];
		struct provider_call c = call(w, &a[0], "op-1", 3), d = call(w, &a[1], "op-1", 3),
				     f = call(w, &a[2], "op-1", 3);

		d.handle = "op-1";
		provider_acquire(w->provider, w->machine[0], &kubernetes, &c);
		provider_observe(w->provider, w->machine[0], &d);
		provider_power(w->provider, w->machine[0], true, &f);
		pass(w, ms);
		provider_detach(w->provider, w->machine[0]);
		w->machine[0] = NULL;
		for (int i = 0; i < 3; i++)
			a[i].count = 0;
		pass(w, 2 * PROVIDER_CALL_MS);
		for (int i = 0; i < 3; i++)
			assert_int_equal(a[i].count, 0);
		world_free(w);
	}
}

static void secrets_reach_no_log(void **state)
{
	static const char *const faults[] = {"{\"what\":\"Denied\",\"count\":2}",
					     "{\"what\":\"Moved\"}",
					     "{\"what\":\"Invalid\",\"count\":1}"};
	struct world *w = world_new();
	struct answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		fault(w, faults[i]);
		(void)acquire(w, "op-1", 3, &a);
		assert_null(strstr(a.err.text, "bmc-password-of-bcm"));
		(void)release(w, &a);
	}
	assert_true(w->logged > 0);
	assert_null(strstr(w->log, "bmc-password-of-bcm"));
	assert_null(strstr(w->log, FAKE_HEAD_PASSWORD));
	assert_null(strstr(w->log, "cm-login-token"));
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_is_installed_and_given_back_as_it_was),
		cmocka_unit_test(several_tenants_later_the_node_is_as_it_was),
		cmocka_unit_test(up_from_before_is_no_install),
		cmocka_unit_test(what_goes_wrong_is_told_as_what_it_is),
		cmocka_unit_test(nothing_is_done_to_a_node_that_is_not_the_machines),
		cmocka_unit_test(a_mistyped_node_reaches_no_other_machine),
		cmocka_unit_test(an_acquire_that_cannot_be_is_refused_by_name),
		cmocka_unit_test(all_of_a_target_is_written),
		cmocka_unit_test(a_lost_reply_or_another_writer_ends_in_what_is_read),
		cmocka_unit_test(an_install_that_fails_or_hangs_is_told_so),
		cmocka_unit_test(a_restart_of_the_daemon_is_waited_out),
		cmocka_unit_test(a_head_node_that_hangs_is_no_silence_of_the_bmc),
		cmocka_unit_test(states_come_by_rest_where_the_call_is_not_there),
		cmocka_unit_test(one_list_answers_all_who_wait),
		cmocka_unit_test(everything_is_discovered_and_what_is_left_alone_says_why),
		cmocka_unit_test(detaching_ends_everything_without_an_answer),
		cmocka_unit_test(secrets_reach_no_log),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
