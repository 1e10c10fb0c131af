#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/exec_provider.h"
#include "providers/hardware.h"
#include "providers/libvirt_provider.h"
#include "providers/provider.h"
#include "tests/contract/fake_bmc.h"
#include "tests/contract/fake_head.h"
#include "tests/contract/fake_ipmitool.h"
#include "tests/contract/fake_libvirt.h"
#include "tests/contract/slow_bmc.h"
#include "tests/contract/unsaid.h"

/*
 * Tests the cases that every provider must pass, for each row of the table below (a provider type
 * and the backend that it drives). A new provider adds a row. In every case, the password must
 * appear in no log line and no error (unsaid.h).
 */
#define MEDIA "http://10.0.8.2:8080/media/5f1c.iso"
#define PIN_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define PIN_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define MACHINES 4
#define PASSWORD "correct horse"

struct backend {
	const char *name, *type;
	void (*dialect)(struct fake_bmc *b);
	bool no_media;
	/* True: the backend does not support HTTP boot */
	bool no_http;
	/* True: the backend has no logins */
	bool no_login;
	bool no_sessions, no_tls;
	/* True: boot overrides cannot be set, only cleared */
	bool no_boot;
	/* True: the provider uses a helper process, which must restart after it was killed */
	bool child;
};

struct world {
	const struct backend *backend;
	struct loop *loop;
	struct loop_group *hardware, *group;
	struct http_mem_net *net;
	struct http *http;
	struct fake_bmc bmc[MACHINES];
	/* Delays the answers of the first BMC */
	struct slow_bmc slow;
	struct fake_libvirt libvirt;
	struct fake_ipmitool ipmi;
	bool hung[MACHINES];
	/* Head node; used by type bcm only */
	struct fake_head head;
	struct provider_spec spec;
	struct provider *provider;
	struct provider_machine *machine[MACHINES];
	struct secret *password;
	bool learn_pin;
	const char *old_session;
	/* Calls that were reported to the provider's watch */
	unsigned ended;
};

/* One call, and the result that its done() got */
struct answer {
	struct world *w;
	unsigned count;
	bool begun, allowed;
	/* Number of calls of may_act() */
	unsigned asked;
	int64_t at, begun_at, waited_ms;
	struct err err;
	struct provider_observation seen;
	bool observed;
	char uuid[64], serial[64], url[256], http[256], session[128], pin[80], fault[256];
};

static void on_ended(const char *operation, int64_t ms, const struct err *e, void *arg)
{
	unsigned *ended = arg;

	(void)e;
	assert_non_null(operation);
	assert_true(ms >= 0 && ms <= PROVIDER_CALL_MS);
	++*ended;
}

static void origin_of(char out[static 32], int i)
{
	str_format(out, 32, "https://10.0.8.%d", 17 + i);
}

static void address_of(const struct world *w, char out[static 32], int i)
{
	if (str_eq(w->backend->type, "libvirt"))
		str_format(out, 32, "libvirt://hall-a/vm-%d", i);
	else if (str_eq(w->backend->type, "exec"))
		str_format(out, 32, "exec://hall-a/vm-%d", i);
	else if (str_eq(w->backend->type, "ipmi"))
		str_format(out, 32, "ipmi://10.0.8.%d", 17 + i);
	else
		origin_of(out, i);
}

static bool has_sessions(const struct world *w)
{
	return !w->backend->no_sessions && !w->bmc[0].basic_only;
}

/* --- libvirt ---------------------------------------------------------------------------------- */

static int number_of(const char *domain)
{
	return domain && str_starts(domain, "vm-") ? domain[3] - '0' : -1;
}

static struct fake_bmc *find_domain(const char *domain, const char **address, void *arg)
{
	struct world *w = arg;
	int i = number_of(domain);

	*address = "127.0.0.1";
	return i >= 0 && i < MACHINES ? &w->bmc[i] : NULL;
}

static bool domain_hangs(const char *domain, void *arg)
{
	const struct world *w = arg;
	int i = number_of(domain);

	return i >= 0 && i < MACHINES && w->hung[i];
}

static const struct provider_libvirt libvirt_spec = {
	.uri = FAKE_LIBVIRT_URI,
	.pool = "default",
	.helper = FAKE_LIBVIRT,
	.allowed = (const char *const[]){"test:///default", FAKE_LIBVIRT_URI, NULL},
};

static const struct provider_exec exec_spec = {
	.command = (const char *const[]){FAKE_EXEC, NULL},
	.allowed = (const char *const[]){"/fake/other", FAKE_EXEC, NULL},
};

/* --- IPMI ------------------------------------------------------------------------------------- */

static int number_at(const char *host)
{
	int i = str_starts(host, "10.0.8.") ? atoi(host + strlen("10.0.8.")) - 17 : -1;

	return i < MACHINES ? i : -1;
}

static struct fake_bmc *find_host(const char *host, void *arg)
{
	struct world *w = arg;

	return number_at(host) < 0 ? NULL : &w->bmc[number_at(host)];
}

static bool host_hangs(const char *host, void *arg)
{
	const struct world *w = arg;

	return number_at(host) >= 0 && w->hung[number_at(host)];
}

/* Makes machine i's BMC accept requests without ever answering, or answer again. */
static void hang(struct world *w, int i, bool on)
{
	char origin[32];

	w->hung[i] = on;
	origin_of(origin, i);
	http_mem_hang(w->net, origin, on);
}

/* Waits until the helper process, if any, runs again. */
static void recover(struct world *w)
{
	if (w->backend->child)
		loop_sim_run_until(w->loop, loop_now(w->loop) + 61000);
}

static void plain(struct fake_bmc *b)
{
	(void)b;
}

static void basic_only(struct fake_bmc *b)
{
	b->basic_only = true;
}

static void managers_media(struct fake_bmc *b)
{
	b->managers_media = b->action_info = b->baseboard_first = true;
}

static void patched_media(struct fake_bmc *b)
{
	b->vendor = "Lenovo";
	b->patch_media = b->etags = b->only_once = true;
}

static void pending_boot(struct fake_bmc *b)
{
	b->vendor = "AMI";
	b->pending_boot = b->etags = b->no_media = b->action_info = b->baseboard_first = true;
}

static void supermicro(struct fake_bmc *b)
{
	b->vendor = "Supermicro";
	b->bare_media = b->etags = b->etags_lie = b->eject_keeps_flag = true;
}

static void emulator(struct fake_bmc *b)
{
	b->basic_only = b->no_none_target = b->eject_no_body = b->same_state_400 = true;
}

static void tasks(struct fake_bmc *b)
{
	b->tasks = true;
	b->task_ms = 2000;
}

static void idrac(struct fake_bmc *b)
{
	b->vendor = "Dell";
	b->dell_attributes = b->tasks = true;
}

static void ami(struct fake_bmc *b)
{
	b->vendor = "AMI";
	b->media_off = b->managers_media = b->pending_boot = b->etags = b->action_info = true;
}

static const struct backend backends[] = {
	{"redfish, by the book", "redfish", plain, .no_media = false},
	{"redfish, Basic only", "redfish", basic_only, .no_media = false},
	{"redfish, media under the manager", "redfish", managers_media, .no_media = false},
	{"redfish, patched media", "redfish", patched_media, .no_media = false},
	{"redfish, pending boot object", "redfish", pending_boot, .no_media = true},
	{"redfish, bare media", "redfish", supermicro, .no_media = false},
	{"redfish, emulator", "redfish", emulator, .no_media = false},
	{"redfish, tasks", "redfish", tasks, .no_media = false},
	{"redfish, iDRAC", "redfish", idrac, .no_media = false},
	{"redfish, slots to be enabled", "redfish", ami, .no_media = false},
	{"libvirt", "libvirt", plain, .no_http = true, .no_login = true, .no_sessions = true,
	 .no_tls = true, .child = true},
	{"exec", "exec", plain, .no_login = true, .no_sessions = true, .no_tls = true,
	 .child = true},
	{"ipmi", "ipmi", plain, .no_media = true, .no_http = true, .no_sessions = true,
	 .no_tls = true, .no_boot = true},
	{"bcm, power by its head node", "bcm", plain, .no_media = false},
};

static struct world *world_new(const struct backend *backend)
{
	struct world *w = mem_new(struct world);

	w->backend = backend;
	w->loop = loop_sim_new(11, 1764000000000);
	w->hardware = loop_group_new(w->loop, "hardware");
	w->group = loop_group_new(w->loop, "controller");
	w->net = http_mem_net_new(w->loop);
	w->http = http_new(w->group, http_mem_transport(w->net, w->group, "10.0.0.1", NULL, NULL),
			   256);
	for (int i = 0; i < MACHINES; i++) {
		char origin[32];

		origin_of(origin, i);
		fake_bmc_init(&w->bmc[i], w->hardware);
		backend->dialect(&w->bmc[i]);
		http_mem_serve(w->net, origin, w->bmc[i].httpd);
	}
	fake_libvirt_init(&w->libvirt, w->hardware);
	w->libvirt.find = find_domain;
	w->libvirt.hangs = domain_hangs;
	w->libvirt.arg = w;
	fake_ipmitool_init(&w->ipmi, w->hardware);
	w->ipmi.find = find_host;
	w->ipmi.hangs = host_hangs;
	w->ipmi.arg = w;
	w->password = secret_from_str(PASSWORD);
	unsaid_begin("drover", PASSWORD);
	w->spec = (struct provider_spec){.name = "hall-a",
					 .type = backend->type,
					 .media_url = "http://10.0.8.2:8080",
					 .libvirt = &libvirt_spec,
					 .exec = &exec_spec,
					 .group = w->group,
					 .http = w->http,
					 .watch = {on_ended, &w->ended}};
	fake_head_start(&w->head, w->net, w->hardware);
	for (int i = 0; i < MACHINES; i++)
		fake_head_add(&w->head, &w->bmc[i], i);
	w->spec.manager = &w->head.manager;
	return w;
}

static struct provider_machine *machine(struct world *w, int i)
{
	char origin[32];
	static const char *const nodes[MACHINES] = {"n0", "n1", "n2", "n3"};
	struct provider_machine_spec s = {.name = "gpu-1",
					  .node = nodes[i],
					  .user = "drover",
					  .password = w->password,
					  .learn_pin = w->learn_pin,
					  .old_session = w->old_session};
	struct err e;

	if (!w->provider) {
		w->provider = provider_new(&w->spec, &e);
		if (!w->provider)
			fail_msg("%s", e.text);
	}
	if (!w->machine[i]) {
		address_of(w, origin, i);
		s.bmc_address = origin;
		w->machine[i] = provider_attach(w->provider, &s, &e);
		if (!w->machine[i])
			fail_msg("%s", e.text);
	}
	return w->machine[i];
}

static void world_free(struct world *w)
{
	for (int i = 0; i < MACHINES; i++)
		if (w->machine[i])
			provider_detach(w->provider, w->machine[i]);
	provider_free(w->provider);
	if (w->backend->child) { /* The end of its input is enough to stop the process. */
		loop_sim_run_until(w->loop, loop_now(w->loop) + 10000);
		assert_int_equal(w->libvirt.starts, w->libvirt.ends);
	}
	loop_sim_run_until(w->loop, loop_now(w->loop) + 1);
	assert_int_equal(w->ipmi.starts, w->ipmi.ends);
	secret_free(w->password);
	http_free(w->http);
	fake_head_done(&w->head);
	for (int i = 0; i < MACHINES; i++)
		fake_bmc_done(&w->bmc[i]);
	http_mem_net_free(w->net);
	loop_group_free(w->group);
	loop_group_free(w->hardware);
	loop_free(w->loop);
	fake_libvirt_done(&w->libvirt);
	unsaid_end();
	free(w);
}

static void new_provider(struct world *w)
{
	provider_detach(w->provider, w->machine[0]);
	provider_free(w->provider);
	w->provider = NULL;
	w->machine[0] = NULL;
	for (int i = 0; i < MACHINES; i++)
		machine(w, i);
}

static void on_done(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *arg)
{
	struct answer *a = arg;

	(void)handle;
	assert_true(a->begun); /* done() must not be called before the starting function returns. */
	a->count++;
	a->at = loop_now(a->w->loop);
	err_clear(&a->err);
	if (e)
		a->err = *e;
	unsaid_check(e ? e->text : NULL);
	a->observed = o != NULL;
	if (!o)
		return;
	a->seen = *o;
	unsaid_check(o->session_uri);
	unsaid_check(o->fault);
	unsaid_check(o->unsensed);
	str_copy(a->uuid, sizeof(a->uuid), str_or(o->system_uuid, ""));
	str_copy(a->serial, sizeof(a->serial), str_or(o->serial, ""));
	str_copy(a->fault, sizeof(a->fault), o->fault ? o->fault : "-");
	str_copy(a->url, sizeof(a->url), str_or(o->media_url, ""));
	str_copy(a->http, sizeof(a->http), str_or(o->http_url, ""));
	str_copy(a->session, sizeof(a->session), str_or(o->session_uri, ""));
	str_copy(a->pin, sizeof(a->pin), str_or(o->learned_pin, ""));
}

static bool may_act(void *arg)
{
	struct answer *a = arg;

	a->asked++;
	return a->allowed;
}

static struct provider_call call(struct world *w, struct answer *a)
{
	*a = (struct answer){.w = w, .allowed = true};
	return (struct provider_call){
		.op_id = "01JD", .fence = 3, .may_act = may_act, .done = on_done, .arg = a};
}

static bool is_answered(void *arg)
{
	return ((struct answer *)arg)->count > 0;
}

static enum err_kind finish(struct answer *a)
{
	int64_t from = loop_now(a->w->loop);

	a->begun = true;
	loop_sim_run_cond(a->w->loop, is_answered, a, from + PROVIDER_CALL_MS + 1);
	assert_int_equal(a->count, 1);
	return a->err.kind;
}

static enum err_kind observe(struct world *w, struct answer *a)
{
	struct provider_call c = call(w, a);

	const unsigned ended = w->ended;

	provider_observe(w->provider, machine(w, 0), &c);
	finish(a);
	assert_true(a->err.kind != ERR_NONE || w->ended == ended + 1);
	assert_true(a->observed == (a->err.kind == ERR_NONE));
	return a->err.kind;
}

static enum err_kind power(struct world *w, bool on)
{
	struct answer a;
	struct provider_call c = call(w, &a);

	machine(w, 0);
	provider_power(w->provider, w->machine[0], on, &c);
	return finish(&a);
}

static enum err_kind boot(struct world *w, enum provider_boot how, const char *url)
{
	struct answer a;
	struct provider_call c = call(w, &a);

	machine(w, 0);
	provider_boot(w->provider, w->machine[0], how, url, &c);
	return finish(&a);
}

static enum err_kind media(struct world *w, const char *url)
{
	struct answer a;
	struct provider_call c = call(w, &a);

	machine(w, 0);
	provider_media(w->provider, w->machine[0], url, &c);
	return finish(&a);
}

/* Defines a test case that runs once for each backend. */
#define EACH_BACKEND(case_)                                                                        \
	static void case_##_of(struct world *w);                                                   \
	static void case_(void **state)                                                            \
	{                                                                                          \
		(void)state;                                                                       \
		for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++) {                \
			struct world *w = world_new(&backends[i]);                                 \
                                                                                                   \
			print_message("    %s\n", backends[i].name);                               \
			machine(w, 0);                                                             \
			case_##_of(w);                                                             \
			world_free(w);                                                             \
		}                                                                                  \
	}                                                                                          \
	static void case_##_of(struct world *w)

EACH_BACKEND(an_observation_is_fresh_and_carries_the_identity)
{
	struct answer a;
	int64_t from;

	w->bmc[0].on = true;
	loop_sim_run_until(w->loop, loop_now(w->loop) + 5000);
	from = loop_now(w->loop);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_true(a.seen.read_at >= from && a.seen.read_at <= a.at);
	assert_int_equal(a.seen.power, PROVIDER_POWER_ON);
	assert_string_equal(a.uuid, "4c4c4544-0035-3410-8050-c6c04f314733");
	assert_string_equal(a.serial, "CN7792154A0014");
	assert_int_equal(a.seen.boot_override, PROVIDER_OVERRIDE_NONE);
	assert_true(a.seen.media_known);
	assert_false(a.seen.media_inserted);
	assert_true(has_sessions(w) == (a.session[0] != '\0'));
}

/* A Redfish BMC's health is read with every observation. */
EACH_BACKEND(what_a_bmc_calls_critical_comes_with_a_look)
{
	struct answer a;

	if (!str_eq(w->backend->type, "redfish"))
		return;
	w->bmc[0].health = "{'Status': {'HealthRollup': 'Critical'}}";
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_string_equal(a.fault, "the BMC reports Critical, but not for which part");
	w->bmc[0].health = "{'Status': {'Health': 'OK'}}";
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_string_equal(a.fault, "");
}

EACH_BACKEND(power_is_a_target_and_may_be_asked_for_twice)
{
	struct answer a;

	w->bmc[0].power_delay_ms = 4000;
	for (int i = 0; i < 4; i++) {
		bool on = i < 2;

		assert_int_equal(power(w, on), ERR_NONE);
		loop_sim_run_until(w->loop, loop_now(w->loop) + 5000);
		assert_int_equal(observe(w, &a), ERR_NONE);
		assert_int_equal(a.seen.power, on ? PROVIDER_POWER_ON : PROVIDER_POWER_OFF);
	}
}

/* If the journal (fields in Machine status) does not contain the session, the next leader cannot
 * close it. */
EACH_BACKEND(nothing_is_changed_in_a_login_that_was_not_written_down)
{
	struct answer a;
	struct provider_call c;
	char written[sizeof(a.session)];

	if (!has_sessions(w))
		return;
	assert_int_equal(observe(w, &a), ERR_NONE);
	str_copy(written, sizeof(written), a.session);
	fake_bmc_expire(&w->bmc[0]);
	c = call(w, &a);
	c.session = written;
	provider_power(w->provider, w->machine[0], true, &c);
	assert_int_equal(finish(&a), ERR_UNAVAILABLE);
	assert_false(w->bmc[0].on);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_string_not_equal(a.session, written);
	str_copy(written, sizeof(written), a.session);
	c = call(w, &a);
	c.session = written;
	provider_power(w->provider, w->machine[0], true, &c);
	assert_int_equal(finish(&a), ERR_NONE);
	assert_true(w->bmc[0].on);
}

EACH_BACKEND(boot_overrides_come_and_go)
{
	struct answer a;

	if (w->backend->no_boot) {
		assert_int_equal(boot(w, PROVIDER_BOOT_MEDIA, NULL), ERR_UNSUPPORTED);
		assert_int_equal(boot(w, PROVIDER_BOOT_HTTP, "https://10.1.0.5:8443/boot/a"),
				 ERR_UNSUPPORTED);
		fake_bmc_put_target(&w->bmc[0], "Pxe");
		assert_int_equal(observe(w, &a), ERR_NONE);
		assert_int_equal(a.seen.boot_override, PROVIDER_OVERRIDE_OTHER);
		assert_int_equal(boot(w, PROVIDER_BOOT_DISK, NULL), ERR_NONE);
		assert_int_equal(observe(w, &a), ERR_NONE);
		assert_int_equal(a.seen.boot_override, PROVIDER_OVERRIDE_NONE);
		return;
	}
	assert_int_equal(boot(w, PROVIDER_BOOT_MEDIA, NULL), ERR_NONE);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_int_equal(a.seen.boot_override, PROVIDER_OVERRIDE_MEDIA);
	assert_int_equal(boot(w, PROVIDER_BOOT_DISK, NULL), ERR_NONE);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_int_equal(a.seen.boot_override, PROVIDER_OVERRIDE_NONE);
	assert_string_equal(a.http, "");
	if (w->backend->no_http) {
		assert_int_equal(boot(w, PROVIDER_BOOT_HTTP, "https://10.1.0.5:8443/boot/a"),
				 ERR_UNSUPPORTED);
		return;
	}
	assert_int_equal(boot(w, PROVIDER_BOOT_HTTP, "https://10.1.0.5:8443/boot/a"), ERR_NONE);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_int_equal(a.seen.boot_override, PROVIDER_OVERRIDE_HTTP);
	assert_string_equal(a.http, "https://10.1.0.5:8443/boot/a");
	assert_int_equal(boot(w, PROVIDER_BOOT_DISK, NULL), ERR_NONE);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_int_equal(a.seen.boot_override, PROVIDER_OVERRIDE_NONE);
	assert_string_equal(a.http, "");
}

/* A BMC may refuse to clear HttpBootUri, or accept it without an effect. In both cases the override
 * is cleared, and the remaining URL is reported. */
EACH_BACKEND(an_address_that_stays_keeps_no_override)
{
	static const char url[] = "https://10.1.0.5:8443/boot/a";
	struct answer a;

	for (int refused = 0; !w->backend->no_http && refused < 2; refused++) {
		w->bmc[0].http_refused = refused;
		w->bmc[0].http_sticks = !refused;
		assert_int_equal(boot(w, PROVIDER_BOOT_HTTP, url), ERR_NONE);
		assert_int_equal(boot(w, PROVIDER_BOOT_DISK, NULL), ERR_NONE);
		assert_int_equal(observe(w, &a), ERR_NONE);
		assert_int_equal(a.seen.boot_override, PROVIDER_OVERRIDE_NONE);
		assert_string_equal(a.http, url);
		/* The next boot by HTTP replaces the URL. */
		assert_int_equal(boot(w, PROVIDER_BOOT_HTTP, "https://10.1.0.5:8443/boot/b"),
				 ERR_NONE);
		assert_int_equal(observe(w, &a), ERR_NONE);
		assert_int_equal(a.seen.boot_override, PROVIDER_OVERRIDE_HTTP);
		assert_string_equal(a.http, "https://10.1.0.5:8443/boot/b");
	}
	if (w->backend->no_http)
		return;
	w->bmc[0].http_refused = false;
	w->bmc[0].http_null = true;
	assert_int_equal(boot(w, PROVIDER_BOOT_DISK, NULL), ERR_NONE);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_int_equal(a.seen.boot_override, PROVIDER_OVERRIDE_NONE);
	assert_string_equal(a.http, "");
}

EACH_BACKEND(media_come_and_go_or_are_unsupported)
{
	struct answer a;
	enum err_kind want = w->backend->no_media ? ERR_UNSUPPORTED : ERR_NONE;

	assert_int_equal(media(w, MEDIA), want);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_true(a.seen.media_known);
	assert_true(a.seen.media_inserted == !w->backend->no_media);
	assert_string_equal(a.url, w->backend->no_media ? "" : MEDIA);
	assert_int_equal(media(w, NULL), want);
	assert_int_equal(media(w, NULL), want);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_false(a.seen.media_inserted);
}

EACH_BACKEND(a_lie_about_power_is_seen)
{
	struct answer a;

	w->bmc[0].on = w->bmc[0].power_lie = true;
	(void)power(w, false);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_int_equal(a.seen.power, PROVIDER_POWER_ON);
}

EACH_BACKEND(another_machine_at_the_address_is_seen)
{
	struct answer a;

	assert_int_equal(observe(w, &a), ERR_NONE);
	w->bmc[0].uuid[0] = '5';
	w->bmc[0].serial[0] = 'X';
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_string_equal(a.uuid, "5c4c4544-0035-3410-8050-c6c04f314733");
	assert_string_equal(a.serial, "XN7792154A0014");
}

static void says(struct world *w, const char *uuid)
{
	free(w->bmc[0].uuid);
	w->bmc[0].uuid = mem_strdup(uuid);
}

/* controller/rules/identity.h compares UUIDs in either byte order. A maker's default UUID
 * identifies no machine. */
EACH_BACKEND(a_uuid_comes_in_the_order_of_the_bmc_and_a_default_not_at_all)
{
	static const char *const none[] = {"03000200-0400-0500-0006-000700080009",
					   "00020003-0004-0005-0006-000700080009",
					   "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
					   "00000000000000000000000000000000",
					   "Not Settable",
					   ""};
	struct answer a;

	says(w, "44454C4C-3500-1034-8050-C6C04F314733");
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_string_equal(a.uuid, "44454c4c-3500-1034-8050-c6c04f314733");
	says(w, "44454C4C350010348050C6C04F314733");
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_string_equal(a.uuid, "44454c4c-3500-1034-8050-c6c04f314733");
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		says(w, none[i]);
		assert_int_equal(observe(w, &a), ERR_NONE);
		assert_string_equal(a.uuid, "");
		assert_string_equal(a.serial, "CN7792154A0014");
	}
}

EACH_BACKEND(a_wrong_password_is_tried_once)
{
	struct answer a;
	struct secret *right = w->password;

	if (w->backend->no_login)
		return;
	provider_detach(w->provider, w->machine[0]);
	w->machine[0] = NULL;
	w->password = secret_from_str("wrong");
	machine(w, 0);
	w->bmc[0].lock_after = 3;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(observe(w, &a), ERR_DENIED);
		assert_int_equal(power(w, false), ERR_DENIED);
	}
	assert_int_equal(w->bmc[0].logins, 1);
	provider_detach(w->provider, w->machine[0]);
	w->machine[0] = NULL;
	secret_free(w->password);
	w->password = right;
	machine(w, 0);
	assert_int_equal(observe(w, &a), ERR_NONE);
}

EACH_BACKEND(a_predecessors_session_is_deleted_first)
{
	struct answer a;

	if (!has_sessions(w))
		return;
	provider_detach(w->provider, w->machine[0]);
	w->machine[0] = NULL;
	w->bmc[0].sessions[3].id = w->bmc[0].next_session = 77;
	w->old_session = "/redfish/v1/SessionService/Sessions/77";
	assert_int_equal(power(w, true), ERR_NONE);
	assert_int_equal(fake_bmc_sessions(&w->bmc[0]), 1);
	assert_int_equal(observe(w, &a), ERR_NONE);
	assert_string_equal(a.session, "/redfish/v1/SessionService/Sessions/78");
}

EACH_BACKEND(without_leave_nothing_is_changed)
{
	struct answer a;
	struct provider_call c = call(w, &a);

	w->bmc[0].on = true;
	a.allowed = false;
	provider_power(w->provider, w->machine[0], false, &c);
	assert_int_equal(finish(&a), ERR_CONFLICT);
	assert_true(w->bmc[0].on);
}

static int is_off(const struct provider_observation *seen, void *arg, struct err *e)
{
	struct answer *a = arg;

	a->seen = *seen;
	return seen->power == PROVIDER_POWER_OFF ? 0 : err_set(e, ERR_UNAVAILABLE, 7, "it is on");
}

/* Each call that changes something observes the machine first, and passes this observation to
 * fits(). */
EACH_BACKEND(what_the_call_itself_saw_decides)
{
	struct answer a;
	struct provider_call c;

	w->bmc[0].on = true;
	for (int i = 0; i < 3; i++) {
		if (i == 1 && w->backend->no_media && w->backend->no_boot)
			continue;
		c = call(w, &a);
		c.fits = is_off;
		if (i == 0)
			provider_power(w->provider, machine(w, 0), false, &c);
		else if (i == 1)
			provider_media(w->provider, machine(w, 0), MEDIA, &c);
		else
			provider_boot(w->provider, machine(w, 0), PROVIDER_BOOT_DISK, NULL, &c);
		assert_int_equal(finish(&a), ERR_UNAVAILABLE);
		assert_int_equal(a.err.code, 7);
		assert_int_equal(a.seen.power, PROVIDER_POWER_ON);
	}
	assert_true(w->bmc[0].on);
	assert_null(w->bmc[0].image);
}

EACH_BACKEND(a_hang_ends_in_time_and_spares_the_others)
{
	struct answer slow[3], quick;
	int64_t from;

	w->spec.concurrent = 2;
	new_provider(w);
	hang(w, 0, true);
	from = loop_now(w->loop);
	machine(w, 0);
	for (int i = 0; i < 3; i++) {
		struct provider_call c = call(w, &slow[i]);

		provider_observe(w->provider, w->machine[0], &c);
		slow[i].begun = true;
	}
	for (int i = 1; i < MACHINES; i++) {
		struct provider_call c = call(w, &quick);

		machine(w, i);
		provider_observe(w->provider, w->machine[i], &c);
		assert_int_equal(finish(&quick), ERR_NONE);
		assert_true(quick.at - from < 5000);
	}
	loop_sim_run_until(w->loop, from + PROVIDER_CALL_MS + 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(slow[i].count, 1);
		assert_int_equal(slow[i].err.kind, ERR_TIMEOUT);
	}
}

static void note_begun(int64_t waited_ms, void *arg)
{
	struct answer *a = arg;

	a->waited_ms = waited_ms;
	a->begun_at = loop_now(a->w->loop);
}

/* The wait in drover's own queue must not count as silence of the machine, however long it is. */
EACH_BACKEND(a_wait_in_the_line_is_no_silence_of_the_machine)
{
	struct answer a[4];
	int64_t from;

	w->spec.requests_per_s = 1.0 / 50;
	new_provider(w);
	from = loop_now(w->loop);
	for (int i = 0; i < 4; i++) {
		struct provider_call c = call(w, &a[i]);

		c.begun = note_begun;
		machine(w, i % MACHINES);
		provider_observe(w->provider, w->machine[i % MACHINES], &c);
		a[i].begun = true;
	}
	loop_sim_run_until(w->loop, from + 4 * PROVIDER_CALL_MS);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(a[i].count, 1);
		assert_int_equal(a[i].err.kind, ERR_NONE);
		assert_in_range(a[i].waited_ms, i * 50000, i * 50000 + 1000);
		assert_in_range(a[i].at - a[i].begun_at, 1, 5000);
	}
}

/* Delays each answer of machine 0 by ms. */
static void slow_down(struct world *w, int64_t ms)
{
	w->libvirt.ms = w->ipmi.ms = ms;
	if (!w->slow.bmc)
		slow_bmc_init(&w->slow, &w->bmc[0], w->hardware, ms);
	w->slow.ms = ms;
}

static bool is_untouched(const struct world *w)
{
	return !w->bmc[0].on && !w->bmc[0].image;
}

/* Queues a change behind `looks` observations of the same machine. Each answer takes `ms`. So,
 * depending on both values, the change times out while it waits for its turn, or at some point
 * after its turn has come. Returns true if the change timed out after its turn had come, but before
 * anything was sent. */
static bool given_up_underway(const struct backend *b, bool by_media, int looks, int64_t ms)
{
	struct world *w = world_new(b);
	struct answer before[3], a;
	struct provider_call c = call(w, &a);
	bool unsent, underway;

	(void)machine(w, 0);
	slow_down(w, ms);
	for (int i = 0; i < looks; i++) {
		struct provider_call look = call(w, &before[i]);

		before[i].begun = true;
		provider_observe(w->provider, w->machine[0], &look);
	}
	loop_sim_run_until(w->loop, loop_now(w->loop) + 10);
	c.begun = note_begun;
	if (by_media)
		provider_media(w->provider, w->machine[0], MEDIA, &c);
	else
		provider_power(w->provider, w->machine[0], true, &c);
	(void)finish(&a);
	unsent = a.err.kind == ERR_TIMEOUT && !a.asked;
	underway = unsent && a.begun_at > 0;
	slow_down(w, 10);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 5 * PROVIDER_CALL_MS);
	if (unsent && (a.asked || !is_untouched(w)))
		fail_msg("%s, %lld ms an answer: it acted after it was given up", b->name,
			 (long long)ms);
	assert_int_equal(a.count, 1);
	world_free(w);
	return underway;
}

static void a_call_that_was_given_up_acts_no_more(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++) {
		unsigned underway = 0;

		for (int64_t ms = 1000; ms < 20000; ms += 500)
			for (int looks = 1; looks <= 3; looks += 2)
				for (int m = 0; m <= !backends[i].no_media; m++)
					underway += given_up_underway(&backends[i], m, looks, ms);
		print_message("    %s: %u\n", backends[i].name, underway);
		assert_true(underway > 0);
	}
}

EACH_BACKEND(only_so_many_machines_are_called_at_once)
{
	struct answer a[3];
	int64_t from;

	w->spec.concurrent = 1;
	new_provider(w);
	from = loop_now(w->loop);
	for (int i = 0; i < 3; i++) {
		struct provider_call c = call(w, &a[i]);

		hang(w, i, i < 2);
		provider_observe(w->provider, w->machine[i], &c);
		a[i].begun = true;
	}
	/* The first call hangs, becomes slow and frees the only concurrency slot. The second call
	 * hangs too, but keeps the slot, because only one call may be slow. So the third call
	 * waits. */
	assert_int_equal(finish(&a[2]), ERR_NONE);
	assert_true(a[2].at - from >= 10000);
}

EACH_BACKEND(those_that_hang_keep_no_place_from_those_that_do_not)
{
	struct answer a[MACHINES];
	int64_t from;

	w->spec.concurrent = 2;
	new_provider(w);
	from = loop_now(w->loop);
	for (int i = 0; i < MACHINES; i++) {
		struct provider_call c = call(w, &a[i]);

		hang(w, i, i < 2);
		provider_observe(w->provider, w->machine[i], &c);
		a[i].begun = true;
	}
	for (int i = 2; i < MACHINES; i++) {
		assert_int_equal(finish(&a[i]), ERR_NONE);
		assert_true(a[i].at - from < 10000);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(finish(&a[i]), ERR_TIMEOUT);
}

EACH_BACKEND(detaching_gives_the_place_back)
{
	struct answer a, b;
	struct provider_call c = call(w, &a), d = call(w, &b);
	int64_t from;

	w->spec.concurrent = 1;
	new_provider(w);
	from = loop_now(w->loop);
	hang(w, 0, true);
	provider_observe(w->provider, w->machine[0], &c);
	loop_sim_run_until(w->loop, from + 100);
	provider_detach(w->provider, w->machine[0]);
	w->machine[0] = NULL;
	provider_observe(w->provider, w->machine[1], &d);
	assert_int_equal(finish(&b), ERR_NONE);
	assert_true(b.at - from < 5000);
	assert_int_equal(a.count, 0);
}

EACH_BACKEND(detaching_ends_calls_without_an_answer)
{
	struct answer a;
	struct provider_call c = call(w, &a);

	provider_power(w->provider, w->machine[0], true, &c);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 2);
	provider_observe(w->provider, w->machine[0], &c);
	provider_detach(w->provider, w->machine[0]);
	w->machine[0] = NULL;
	loop_sim_run_until(w->loop, loop_now(w->loop) + 2 * PROVIDER_CALL_MS);
	assert_int_equal(a.count, 0);
	assert_false(w->bmc[0].on);
}

static void detach_in_done(const struct provider_observation *o, const char *handle,
			   const struct err *e, void *arg)
{
	struct answer *a = arg;

	on_done(o, handle, e, a);
	provider_detach(a->w->provider, a->w->machine[0]);
	a->w->machine[0] = NULL;
}

EACH_BACKEND(a_machine_may_be_detached_in_its_answer)
{
	struct answer a, b;
	struct provider_call c = call(w, &a), other = call(w, &b);

	c.done = detach_in_done;
	provider_observe(w->provider, w->machine[0], &c);
	provider_power(w->provider, w->machine[0], true, &other);
	assert_int_equal(finish(&a), ERR_NONE);
	loop_sim_run_until(w->loop, loop_now(w->loop) + 2 * PROVIDER_CALL_MS);
	assert_int_equal(b.count, 0);
}

EACH_BACKEND(a_changed_certificate_stops)
{
	struct answer a;
	char origin[32];

	if (w->backend->no_tls)
		return;
	provider_detach(w->provider, w->machine[0]);
	w->machine[0] = NULL;
	w->learn_pin = true;
	origin_of(origin, 0);
	http_mem_pin(w->net, origin, PIN_A);
	assert_int_equal((machine(w, 0), observe(w, &a)), ERR_NONE);
	assert_string_equal(a.pin, PIN_A);
	http_mem_pin(w->net, origin, PIN_B);
	assert_int_equal(power(w, true), ERR_DENIED);
	assert_false(w->bmc[0].on);
}

EACH_BACKEND(hostile_replies_are_errors)
{
	struct answer a;

	w->bmc[0].huge = w->libvirt.huge = w->ipmi.huge = true;
	assert_int_equal(observe(w, &a), ERR_PROTOCOL);
	w->bmc[0].huge = w->libvirt.huge = w->ipmi.huge = false;
	recover(w);
	w->bmc[0].garbage = w->libvirt.garbage = w->ipmi.garbage = true;
	assert_int_equal(observe(w, &a), ERR_PROTOCOL);
	w->bmc[0].garbage = w->libvirt.garbage = w->ipmi.garbage = false;
	recover(w);
	w->bmc[0].unavailable = true;
	w->libvirt.error = "unavailable";
	assert_int_equal(observe(w, &a), ERR_UNAVAILABLE);
	w->bmc[0].unavailable = false;
	w->libvirt.error = NULL;
	assert_int_equal(observe(w, &a), ERR_NONE);
}

struct losing {
	/* Number of POSTs that are answered normally before one is lost */
	int well;
};

static enum http_mem_fault_kind lose_posts(const char *origin, const char *method,
					   const char *target, void *arg)
{
	struct losing *l = arg;

	(void)origin;
	return str_eq(method, "GET") || strstr(target, "Session") || l->well-- > 0
		       ? HTTP_MEM_WELL
		       : HTTP_MEM_REPLY_LOST;
}

/* The change takes effect, but its reply is lost. The call succeeds, or fails with ERR_UNAVAILABLE
 * or ERR_TIMEOUT, and the next observation shows the effect. Some backends read by POST as well, so
 * the test lets 0 to 3 POSTs pass before it loses replies. */
EACH_BACKEND(an_effect_whose_reply_was_lost_is_seen)
{
	struct answer a;
	enum err_kind kind;
	bool seen = false;

	assert_int_equal(observe(w, &a), ERR_NONE); /* The observation opens the session. */
	for (int i = 0; i < 4; i++) {
		struct losing losing = {i};

		assert_int_equal(power(w, false), ERR_NONE);
		http_mem_fault(w->net, lose_posts, &losing);
		w->libvirt.dies_after = w->ipmi.lost = true;
		kind = power(w, true);
		assert_true(kind == ERR_UNAVAILABLE || kind == ERR_TIMEOUT || kind == ERR_NONE);
		http_mem_fault(w->net, NULL, NULL);
		w->libvirt.dies_after = w->ipmi.lost = false;
		recover(w);
		assert_int_equal(observe(w, &a), ERR_NONE);
		assert_int_equal(a.seen.power,
				 w->bmc[0].on ? PROVIDER_POWER_ON : PROVIDER_POWER_OFF);
		seen |= w->bmc[0].on && kind != ERR_NONE;
		assert_int_equal(power(w, true), ERR_NONE);
		assert_true(w->bmc[0].on);
	}
	assert_true(seen);
}

/* An error of one machine has the scope machine. A broken connection to all machines has the scope
 * provider. */
EACH_BACKEND(an_error_says_how_far_it_reaches)
{
	struct answer a;

	hang(w, 0, true);
	assert_int_equal(observe(w, &a), ERR_TIMEOUT);
	assert_int_equal(a.err.scope, ERR_MACHINE);
	assert_true(err_is_transient(&a.err));
	hang(w, 0, false);
}

EACH_BACKEND(calls_are_paced)
{
	struct answer a[20];
	int64_t from;

	w->spec.requests_per_s = 0.5;
	new_provider(w);
	from = loop_now(w->loop);
	for (int i = 0; i < 20; i++) {
		struct provider_call c = call(w, &a[i]);

		machine(w, i % MACHINES);
		provider_observe(w->provider, w->machine[i % MACHINES], &c);
		a[i].begun = true;
	}
	loop_sim_run_until(w->loop, from + PROVIDER_CALL_MS);
	for (int i = 0; i < 20; i++)
		assert_int_equal(a[i].count, 1);
	assert_true(a[10].at - from >= 18000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_observation_is_fresh_and_carries_the_identity),
		cmocka_unit_test(what_a_bmc_calls_critical_comes_with_a_look),
		cmocka_unit_test(power_is_a_target_and_may_be_asked_for_twice),
		cmocka_unit_test(nothing_is_changed_in_a_login_that_was_not_written_down),
		cmocka_unit_test(boot_overrides_come_and_go),
		cmocka_unit_test(an_address_that_stays_keeps_no_override),
		cmocka_unit_test(media_come_and_go_or_are_unsupported),
		cmocka_unit_test(a_lie_about_power_is_seen),
		cmocka_unit_test(another_machine_at_the_address_is_seen),
		cmocka_unit_test(a_uuid_comes_in_the_order_of_the_bmc_and_a_default_not_at_all),
		cmocka_unit_test(a_wrong_password_is_tried_once),
		cmocka_unit_test(a_predecessors_session_is_deleted_first),
		cmocka_unit_test(without_leave_nothing_is_changed),
		cmocka_unit_test(what_the_call_itself_saw_decides),
		cmocka_unit_test(a_hang_ends_in_time_and_spares_the_others),
		cmocka_unit_test(a_wait_in_the_line_is_no_silence_of_the_machine),
		cmocka_unit_test(a_call_that_was_given_up_acts_no_more),
		cmocka_unit_test(only_so_many_machines_are_called_at_once),
		cmocka_unit_test(those_that_hang_keep_no_place_from_those_that_do_not),
		cmocka_unit_test(detaching_gives_the_place_back),
		cmocka_unit_test(detaching_ends_calls_without_an_answer),
		cmocka_unit_test(a_machine_may_be_detached_in_its_answer),
		cmocka_unit_test(a_changed_certificate_stops),
		cmocka_unit_test(hostile_replies_are_errors),
		cmocka_unit_test(an_effect_whose_reply_was_lost_is_seen),
		cmocka_unit_test(an_error_says_how_far_it_reaches),
		cmocka_unit_test(calls_are_paced),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
