#include "tests/contract/fake_ipmitool.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

#define PAUSE_MS 5000

struct call {
	struct list link;
	struct fake_ipmitool *f;
	/* Process of the call; NULL: it has ended */
	struct loop_child *child;
	char host[64], user[32], password[64], command[64];
	bool sensing, counting;
	struct loop_timer timer;
};

static void print(struct call *c, const char *line)
{
	loop_sim_child_line(c->child, line, strlen(line));
}

static void over(struct call *c, int status)
{
	struct loop_child *child = c->child;

	c->child = NULL;
	loop_timer_stop(&c->timer);
	loop_sim_child_exit(child, status);
}

/* Ends the call with an error. A simulated process has no standard error, so the text goes to
 * standard output, which the provider searches as well. */
static void refuse(struct call *c, const char *words)
{
	print(c, words);
	print(c, "Error: Unable to establish IPMI v2 / RMCP+ session");
	over(c, 1);
}

static void sense(struct call *c)
{
	const char *at = c->f->sensors;

	c->f->sensings++;
	print(c, "ipmitool> sdr elist");
	/* With 0 records, the real ipmitool would erase the repository. */
	assert(c->f->records > 0);
	if (!at)
		return; /* The call hangs, and its output stays in ipmitool's buffer. */
	for (size_t n; *at; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		loop_sim_child_line(c->child, at, n);
	}
	over(c, c->f->sensors_status);
}

static void look(struct call *c, const struct fake_bmc *b)
{
	char line[128], uuid[64];
	bool cd = str_eq(b->boot_target, "Cd"), none = str_eq(b->boot_target, "None");

	str_copy(uuid, sizeof(uuid), str_or(b->uuid, ""));
	for (char *x = uuid; *x; x++)
		*x = (char)tolower((unsigned char)*x);
	print(c, "ipmitool> chassis power status");
	str_format(line, sizeof(line), "Chassis Power is %s", b->on ? "on" : "off");
	print(c, line);
	str_format(line, sizeof(line), "System GUID   : %s", uuid);
	print(c, line);
	print(c, "GUID Encoding : SMBIOS");
	print(c, "Boot parameter version: 1");
	str_format(line, sizeof(line), "Boot parameter data: %s000000",
		   none ? "0000"
		   : cd ? "e014"
			: "e004");
	print(c, line);
	str_format(line, sizeof(line), " Product Serial        : %s", str_or(b->serial, ""));
	print(c, line);
	if (c->counting) {
		str_format(line, sizeof(line), "Record Count                     : %u",
			   c->f->records);
		print(c, line);
	}
	print(c, "ipmitool> exit");
	over(c, 0);
}

static void act(struct call *c, struct fake_bmc *b)
{
	if (str_eq(c->command, "chassis power on") || str_eq(c->command, "chassis power off"))
		fake_bmc_switch(b, str_eq(c->command, "chassis power on"));
	else if (str_eq(c->command, "chassis bootdev none"))
		fake_bmc_put_target(b, "None");
	else
		assert(!"a command that drover does not send");
	if (c->f->lost)
		refuse(c, "");
	else
		over(c, 0);
}

static void on_time(void *arg)
{
	struct call *c = arg;
	struct fake_ipmitool *f = c->f;
	struct fake_bmc *b = f->find(c->host, f->arg);
	char line[160];

	if (!b || b->unavailable) {
		refuse(c, "Get Auth Capabilities error");
		return;
	}
	f->logins++;
	b->logins++;
	str_format(line, sizeof(line), "%s %s", str_eq(c->command, "shell") ? "GET" : "POST",
		   c->command);
	fake_bmc_note(b, line);
	if (!str_eq(c->user, f->user)) {
		refuse(c, "RAKP 2 message indicates an error : unauthorized name");
	} else if (!str_eq(c->password, f->password)) {
		refuse(c, "> RAKP 2 HMAC is invalid");
	} else if (f->no_sessions) {
		refuse(c, "RAKP 2 message indicates an error : insufficient resources for session");
	} else if (f->garbage) {
		print(c, "Chassis Power is sideways");
		over(c, 0);
	} else if (f->huge) {
		char *much = mem_alloc(1 << 20);

		memset(much, 'x', 1 << 20);
		loop_sim_child_line(c->child, much, 1 << 20);
		free(much);
	} else if (c->sensing) {
		sense(c);
	} else if (str_eq(c->command, "shell")) {
		look(c, b);
	} else {
		act(c, b);
	}
}

/* Asserts that only one process at a time runs for a BMC, with the pause between two. */
static void check_pace(struct fake_ipmitool *f, const char *host)
{
	list_for_each (c, &f->calls, struct call, link)
		assert(!c->child || !str_eq(c->host, host));
	for (size_t i = 0; i < sizeof(f->last) / sizeof(*f->last); i++)
		assert(!str_eq(f->last[i].host, host) ||
		       loop_now(loop_of(f->group)) - f->last[i].ended >= PAUSE_MS);
}

static void on_start(struct loop_child *child, const char *const *argv, void **state, void *arg)
{
	struct fake_ipmitool *f = arg;
	struct call *c = mem_new(struct call);
	const char *const *env = loop_sim_child_env(child);
	const struct secret *given = loop_sim_child_secret(child);
	bool by_file = false;

	f->starts++;
	c->f = f;
	c->child = child;
	for (size_t i = 1; argv[i]; i++) {
		assert(!strstr(argv[i], f->password) && !str_eq(argv[i], "-P"));
		if (str_eq(argv[i - 1], "-H"))
			str_copy(c->host, sizeof(c->host), argv[i]);
		if (str_eq(argv[i - 1], "-U"))
			str_copy(c->user, sizeof(c->user), argv[i]);
		by_file |= str_eq(argv[i - 1], "-f") && str_eq(argv[i], LOOP_SECRET_FILE);
		if (i > 15)
			str_format(c->command + strlen(c->command),
				   sizeof(c->command) - strlen(c->command), "%s%s",
				   c->command[0] ? " " : "", argv[i]);
	}
	for (size_t i = 0; env && env[i]; i++)
		assert(!strstr(env[i], f->password) && !str_starts(env[i], "IPMI_"));
	assert(given && by_file);
	str_copy(c->password, sizeof(c->password), secret_expose(given));
	check_pace(f, c->host);
	loop_timer_init(&c->timer, f->group, on_time, c);
	list_push_back(&f->calls, &c->link);
	if (!f->hangs || !f->hangs(c->host, f->arg))
		loop_timer_start(&c->timer, f->ms);
	*state = c;
}

static void on_line(struct loop_child *child, const char *line, size_t len, void *state)
{
	struct call *c = state;

	(void)child;
	c->sensing |= len == strlen("sdr elist") && memcmp(line, "sdr elist", len) == 0;
	c->counting |= len == strlen("sdr info") && memcmp(line, "sdr info", len) == 0;
}

static void on_eof(struct loop_child *child, void *state)
{
	/* Does nothing: ipmitool ignores the end of its input and goes on. */
	(void)child, (void)state;
}

static void on_free(void *state)
{
	struct call *c = state;
	struct fake_ipmitool *f = c->f;

	f->ends++;
	for (size_t i = 0; i < sizeof(f->last) / sizeof(*f->last); i++) {
		if (f->last[i].host[0] && !str_eq(f->last[i].host, c->host))
			continue;
		str_copy(f->last[i].host, sizeof(f->last[i].host), c->host);
		f->last[i].ended = loop_now(loop_of(f->group));
		break;
	}
	loop_timer_stop(&c->timer);
	list_remove(&c->link);
	free(c);
}

void fake_ipmitool_init(struct fake_ipmitool *f, struct loop_group *g)
{
	struct loop_sim_program p = {
		.start = on_start, .line = on_line, .eof = on_eof, .free = on_free, .arg = f};

	*f = (struct fake_ipmitool){.user = "drover",
				    .password = "correct horse",
				    .ms = 200,
				    .records = 1,
				    .sensors =
					    "Temp             | 01h | ok  |  3.1 | 25 degrees C\n",
				    .group = g};
	list_init(&f->calls);
	loop_sim_program(loop_of(g), "/usr/bin/ipmitool", &p);
}
