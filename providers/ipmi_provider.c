#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "base/quoted.h"
#include "providers/ipmi.h"
#include "providers/jobs.h"
#include "providers/registry.h"

/*
 * Provider type ipmi: machines whose BMCs speak IPMI 2.0 (lanplus), through ipmitool. Supports
 * power, identity, and the removal of a boot override.
 *
 * Only one process at a time runs for a BMC. PAUSE_MS lie between two processes, because some BMCs
 * crash with shorter pauses. An observation is one process that asks everything in one session
 * ("shell"). A change is a second process, after an observation in the same call. A process that
 * has not ended after PROCESS_MS is killed. The password is in an unnamed file in memory that only
 * ipmitool inherits (LOOP_SECRET_FILE). So it is not in arguments or environment, and nothing
 * remains when drover dies.
 *
 * Sensors are read from time to time after an observation. A separate process that belongs to no
 * call reads them, and the next observation reports the result:
 *
 *   observation with "sdr info" last: records exist --> done
 *     --PAUSE_MS--> "sdr elist" --> reported by the next observation
 *
 * Sensors are read only if the BMC's sensor repository has records. ipmitool (1.8.19,
 * ipmi_sdr_start()) would erase a repository that reports itself empty and fill it from the
 * sensors, which a read must not do. ipmitool writes to a pipe only when it ends, so a killed
 * process yields no output.
 *
 * There is no virtual media, and the firmware cannot be given a boot address.
 * docs/providers/ipmi.md describes what drover can still do.
 * Tests: tests/contract/test_provider.c, tests/unit/providers/test_ipmi_provider.c,
 * tests/real/ipmi.py
 */
#define RATE 50
#define CONCURRENT 64
#define PAUSE_MS 5000
#define SENSORS_MS (10 * 60 * 1000)
/* Time in ms until the next read of the sensors if the BMC lists none, or does not answer in
 * time. */
#define SENSORS_RETRY_MS (60 * 60 * 1000)
/* Maximum number of sensor processes of all machines together. Needed because these processes wait
 * in no queue. */
#define SENSORS_TOGETHER 16
/* Time after which an ipmitool process is killed. ipmitool's own limit is 2 s per request, with two
 * tries; a login takes several requests. */
#define PROCESS_MS 20000
#define LOOK "chassis power status\nmc guid\nchassis bootparam get 5\nfru print 0\n"
#define OUTPUT_MAX (64u << 10)
/* Error code of ERR_DENIED for a refused login. After it, the machine is not logged in again until
 * it is detached and attached anew (see provider.h). */
#define DENIED_CODE 401

struct ipmi_provider {
	struct job_queue queue;
	/* Number of running sensor processes */
	unsigned sensing;
	/* Pauses of detached machines, which may be attached again. Key: host; value: struct
	 * pause */
	struct map *paused;
};

struct pause {
	int64_t not_before;
};

struct ipmi_machine {
	struct provider_machine base;
	struct ipmi_provider *ip;
	struct loop_group *group;
	char *host, *port, *user;
	struct secret *password;
	/* True: the BMC refused the login */
	bool refused;
	/* loop_now() before which no process may be started */
	int64_t not_before;
	struct loop_timer pause, limit;
	/* Running job; NULL: none. */
	struct job *job;
	/* True: the observation of the running job is done, and its change is next */
	bool acting;
	struct loop_timer sense;
	/* True: the running process reads sensors */
	bool sensing;
	/* loop_now() before which sensors are not read again */
	int64_t sensors_at;
	/* True: the output of the process exceeded OUTPUT_MAX */
	bool overflown;
	/* Critical sensors in the last sensor list; "": none is critical */
	char fault[256];
	/* True: `fault` is valid, and `unsensed` is "" */
	bool sensed;
	/* Why `fault` is not valid; "": no read was tried yet, or it is valid */
	char unsensed[200];
	struct loop_child *process;
	/* out: standard output of the process; words: its standard error */
	struct buf out, words;
	int64_t asked_at;
};

static struct ipmi_machine *machine_of(const struct provider_machine *m)
{
	return container_of(m, struct ipmi_machine, base);
}

static void process_over(struct ipmi_machine *m)
{
	loop_child_free(m->process);
	m->process = NULL;
	m->ip->sensing -= m->sensing;
	m->sensing = false;
	loop_timer_stop(&m->limit);
	loop_timer_stop(&m->pause);
	m->not_before = /* mutant: ipmi-pause */ loop_now(loop_of(m->group)) + PAUSE_MS;
}

static void end(struct ipmi_machine *m, const struct provider_observation *o, const struct err *e)
{
	struct job *j = m->job;

	m->job = NULL;
	job_end(j, o, e); /* Call job_end() last: done() may detach the machine. */
}

static void fail(struct ipmi_machine *m, struct err *e)
{
	e->scope = ERR_MACHINE;
	end(m, NULL, e);
}

/* --- output of ipmitool ----------------------------------------------------------------------- */

/* Copies the value of the first line "Name : value" or "Name is value" to out. False: there is no
 * such line. */
static bool line_of(const char *text, const char *name, char *out, size_t size)
{
	size_t n = strlen(name);

	for (const char *at = text; at && *at; at = strchr(at, '\n'), at += at != NULL) {
		const char *value = at;
		size_t len;

		while (*value == ' ')
			value++;
		if (strncmp(value, name, n) != 0)
			continue;
		value += n;
		value += strspn(value, " :");
		len = strcspn(value, "\r\n");
		while (len > 0 && value[len - 1] == ' ')
			len--;
		if (len >= size)
			len = size - 1;
		memcpy(out, value, len);
		out[len] = '\0';
		str_clean(out);
		return true;
	}
	return false;
}

/* Returns the last line of standard error. Earlier lines describe errors after which ipmitool
 * continued. */
static const char *last_line(struct buf *words)
{
	char *at;

	while (words->len > 0 && strchr("\r\n ", words->data[words->len - 1]))
		words->data[--words->len] = '\0';
	at = strrchr(words->data, '\n');
	return at ? at + 1 : words->data;
}

/* Returns the boot override, from data bytes 1 and 2 of the boot flags (IPMI 2.0 table 28-14). Bit
 * 7 of the first byte is "valid"; bits 5:2 of the second byte are the device. */
static enum provider_override override_of(const char *text)
{
	char hex[32];
	uint8_t data[2];

	if (!line_of(text, "Boot parameter data", hex, sizeof(hex)) || strlen(hex) < 4)
		/* Report an override: without this line, nothing proves that there is none. */
		return PROVIDER_OVERRIDE_OTHER;
	hex[4] = '\0';
	for (char *c = hex; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (!str_unhex(data, hex, sizeof(data)))
		return PROVIDER_OVERRIDE_OTHER;
	if (!(data[0] & 0x80))
		return PROVIDER_OVERRIDE_NONE;
	switch (data[1] >> 2 & 0xf) {
	case 0: /* none */
	case 2: /* the disk */
		return PROVIDER_OVERRIDE_NONE;
	case 5: /* CD or DVD */
		return PROVIDER_OVERRIDE_MEDIA;
	default:
		return PROVIDER_OVERRIDE_OTHER;
	}
}

static int see(struct ipmi_machine *m, struct err *e)
{
	struct job *j = m->job;
	struct provider_observation *o = &j->seen;
	char power[16], text[128], uuid[UUID_TEXT];

	if (!line_of(m->out.data, "Chassis Power is", power, sizeof(power)) ||
	    (!str_eq(power, "on") && !str_eq(power, "off")))
		return err_set(e, ERR_PROTOCOL, 0, "the BMC reports no power state: %.120s",
			       last_line(&m->words));
	if (!j->strings)
		j->strings = arena_new();
	*o = (struct provider_observation){
		.read_at = m->asked_at,
		.power = str_eq(power, "on") ? PROVIDER_POWER_ON : PROVIDER_POWER_OFF,
		.boot_override = override_of(m->out.data),
		.media_known = true, /* Known, because an IPMI machine has no media slot. */
		.address = m->host,
	};
	if (line_of(m->out.data, "System GUID", text, sizeof(text)) &&
	    uuid_read(text, uuid) == UUID_IS)
		o->system_uuid = arena_strdup(j->strings, uuid);
	if ((line_of(m->out.data, "Product Serial", text, sizeof(text)) ||
	     line_of(m->out.data, "Chassis Serial", text, sizeof(text))) &&
	    text[0])
		o->serial = arena_strdup(j->strings, text);
	if (m->sensed)
		o->fault = arena_strdup(j->strings, m->fault);
	if (m->unsensed[0])
		o->unsensed = arena_strdup(j->strings, m->unsensed);
	return 0;
}

/* Sets *e to the reason why ipmitool failed, from its output. Returns -1. */
static int why(struct ipmi_machine *m, struct err *e)
{
	static const struct {
		const char *words;
		enum err_kind kind;
		const char *text;
	} known[] = {
		{"RAKP 2 HMAC is invalid", ERR_DENIED, "the BMC refuses the password"},
		{"unauthorized name", ERR_DENIED, "the BMC knows no such user"},
		{"Insufficient privilege", ERR_DENIED,
		 "the user has too few privileges for the request"},
		{"insufficient resources", ERR_CAPACITY, "the BMC has no free session"},
		{"Set Session Privilege Level", ERR_CAPACITY,
		 "the BMC has no free session, or the user is not an administrator"},
		{"no matching cipher suite", ERR_UNSUPPORTED,
		 "the BMC and ipmitool have no cipher suite in common"},
		{"Address lookup for", ERR_NOT_FOUND,
		 "the host name of the BMC cannot be resolved"},
		{"Node busy", ERR_UNAVAILABLE, "the BMC is busy"},
		{"Unable to establish", ERR_UNAVAILABLE, "the BMC does not answer IPMI"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!strstr(m->words.data, known[i].words) && !strstr(m->out.data, known[i].words))
			continue;
		m->refused = i < 2;
		return err_set(e, known[i].kind, i < 2 ? DENIED_CODE : 0, "%s", known[i].text);
	}
	err_note(e, ERR_UNAVAILABLE, 0, "ipmitool: %.150s",
		 str_or(last_line(&m->words), "failed without a message"));
	quoted_redact_err(e, m->password, NULL);
	return -1;
}

/* --- the process ------------------------------------------------------------------------------ */

static void after_pause(struct ipmi_machine *m);

/* Appends a line of output to m->out. Drops output beyond OUTPUT_MAX. */
static void on_line(const char *line, size_t len, void *arg)
{
	struct ipmi_machine *m = arg;
	struct err e;

	if (buf_add(&m->out, line, len, &e) < 0 || buf_add(&m->out, "\n", 1, &e) < 0)
		m->overflown = true;
}

static void on_stderr(const char *data, size_t len, void *arg)
{
	struct err e;

	if (buf_add(&((struct ipmi_machine *)arg)->words, data, len, &e) < 0)
		return;
}

static void unsensed(struct ipmi_machine *m, const char *why)
{
	m->sensed = false;
	str_copy(m->unsensed, sizeof(m->unsensed), why);
	str_clean(m->unsensed);
}

/* Evaluates the sensor list in m->out. If the list is incomplete, it could hide a critical sensor,
 * so it is used only if it shows a critical one. */
static void see_sensors(struct ipmi_machine *m, int status)
{
	char fault[sizeof(m->fault)], text[sizeof(m->unsensed)];
	size_t rows = ipmi_sensors(m->out.data, fault, sizeof(fault));

	if (!fault[0] && (!rows || status || m->overflown || strstr(m->words.data, "Get SDR"))) {
		str_format(text, sizeof(text),
			   "ipmitool (status %d) listed %zu sensors, not the complete list: %.100s",
			   status, rows, str_or(last_line(&m->words), "no message"));
		unsensed(m, text);
		return;
	}
	str_copy(m->fault, sizeof(m->fault), fault);
	m->sensed = true;
	m->unsensed[0] = '\0';
	m->sensors_at = m->asked_at + SENSORS_MS;
}

/* Ends the sensor process, and starts the job that came meanwhile, if any. */
static void sensing_over(struct ipmi_machine *m)
{
	process_over(m);
	if (m->job)
		after_pause(m);
}

/* Call after an observation: schedules a sensor read if one is due and the BMC has sensor
 * records. */
static void plan_sensing(struct ipmi_machine *m)
{
	char count[16];
	int64_t n;

	if (m->asked_at < m->sensors_at)
		return;
	m->sensors_at = m->asked_at + SENSORS_RETRY_MS;
	if (line_of(m->out.data, "Record Count", count, sizeof(count)) &&
	    str_to_i64(count, /* mutant: ipmi-empty-repository */ 1, 0xffff, &n))
		loop_timer_start(&m->sense, PAUSE_MS);
	else
		unsensed(m, "the BMC reports no sensor records");
}

static void looked(struct ipmi_machine *m)
{
	struct job *j = m->job;
	struct err e;

	/* Judge the result by the output alone: ipmitool's shell ran several commands, and its exit
	 * status does not tell whether each of them succeeded. */
	if (!strstr(m->out.data, "Chassis Power is")) {
		(void)why(m, &e);
		fail(m, &e);
	} else if (see(m, &e) < 0) {
		fail(m, &e);
	} else if (j->kind == JOB_OBSERVE) {
		plan_sensing(m);
		end(m, &j->seen, NULL);
	} else if ((j->call.fits && j->call.fits(&j->seen, j->call.arg, &e) < 0) ||
		   !job_may_act(j, &e)) {
		end(m, NULL, &e);
	} else if (j->kind == JOB_POWER &&
		   j->seen.power == (j->on ? PROVIDER_POWER_ON : PROVIDER_POWER_OFF)) {
		/* Send nothing, because the power is as wanted already; some BMCs answer such a
		 * request with an error. */
		end(m, NULL, NULL);
	} else if (j->kind == JOB_BOOT && j->seen.boot_override == PROVIDER_OVERRIDE_NONE) {
		end(m, NULL, NULL);
	} else {
		m->acting = true;
		after_pause(m);
	}
}

static void on_exit_(int status, const struct err *e, void *arg)
{
	struct ipmi_machine *m = arg;
	struct err mine;

	if (m->sensing) {
		if (e)
			unsensed(m, e->text);
		else
			see_sensors(m, status);
		sensing_over(m);
		return;
	}
	process_over(m);
	if (e) {
		mine = *e;
		fail(m, &mine);
	} else if (!m->acting) {
		looked(m);
	} else if (status != 0) {
		(void)why(m, &mine);
		fail(m, &mine);
	} else {
		end(m, NULL, NULL);
	}
}

static void on_limit(void *arg)
{
	struct ipmi_machine *m = arg;
	struct err e;

	loop_child_kill(m->process, SIGKILL);
	err_note(&e, ERR_TIMEOUT, 0, "ipmitool did not end within %d s and was killed",
		 PROCESS_MS / 1000);
	if (m->sensing) {
		unsensed(m, e.text);
		sensing_over(m);
		return;
	}
	process_over(m);
	fail(m, &e);
}

static bool spawn(struct ipmi_machine *m, const char *const *command, const char *input,
		  struct err *e)
{
	static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
					  NULL};
	const char *argv[24] = {
		IPMITOOL, "-v",	   "-I", "lanplus",
		"-H",	  m->host, "-p", m->port,
		"-U",	  m->user, "-f", /* mutant: ipmi-password */ LOOP_SECRET_FILE,
		"-N",	  "2",	   "-R", "2"};
	struct loop_spawn s = {.argv = argv,
			       .env = env,
			       .secret = m->password,
			       .max_line = 4096,
			       .on_line = on_line,
			       .on_stderr = on_stderr,
			       .on_exit = on_exit_,
			       .arg = m};
	size_t n = 16;

	for (size_t i = 0; command[i]; i++)
		argv[n++] = command[i];
	buf_clear(&m->out);
	buf_clear(&m->words);
	m->overflown = false;
	m->asked_at = loop_now(loop_of(m->group));
	m->process = loop_spawn(m->group, &s, e);
	if (!m->process) {
		m->not_before = m->asked_at + PAUSE_MS;
		err_note_wrap(e, "cannot start ipmitool");
		return false;
	}
	if (input)
		loop_child_write(m->process, input, strlen(input));
	loop_timer_start(&m->limit, PROCESS_MS);
	return true;
}

/* Starts the next process of the running job, after the pause between processes. */
static void go(void *arg)
{
	static const char *const look[] = {"shell", NULL};
	static const char *const on[] = {"chassis", "power", "on", NULL};
	static const char *const off[] = {"chassis", "power", "off", NULL};
	static const char *const none[] = {"chassis", "bootdev", "none", NULL};
	struct ipmi_machine *m = arg;
	struct job *j = m->job;
	bool begun;
	struct err e;

	if (m->acting && !job_may_act(j, &e)) {
		end(m, NULL, &e);
		return;
	}
	if (!m->acting)
		begun = spawn(m, look,
			      loop_now(loop_of(m->group)) < m->sensors_at ? LOOK "exit\n"
									  : LOOK "sdr info\nexit\n",
			      &e);
	else
		begun = spawn(m, j->kind == JOB_BOOT ? none : j->on ? on : off, NULL, &e);
	if (!begun)
		fail(m, &e);
}

/* Starts the sensor process. A waiting change goes first, but a waiting observation does not,
 * because frequent observations would otherwise leave no time for the sensors. "verbose 0": one row
 * per sensor, without paging. */
static void sense(void *arg)
{
	static const char *const shell[] = {"shell", NULL};
	struct ipmi_machine *m = arg;
	struct err e;

	if (m->process || (m->job && m->job->kind != JOB_OBSERVE) ||
	    m->ip->sensing == SENSORS_TOGETHER) {
		m->sensors_at = 0; /* Let the next observation schedule the sensor read again. */
	} else if (spawn(m, shell, "set verbose 0\nsdr elist\nexit\n", &e)) {
		loop_timer_stop(&m->pause);
		m->sensing = true;
		m->ip->sensing++;
	} else {
		unsensed(m, e.text);
		if (m->job)
			after_pause(m);
	}
}

static void after_pause(struct ipmi_machine *m)
{
	int64_t wait = m->not_before - loop_now(loop_of(m->group));

	loop_timer_start(&m->pause, wait > 0 ? wait : 0);
}

static void run(struct job *j)
{
	struct ipmi_machine *m = machine_of(j->machine);
	struct err e;

	m->job = j;
	m->acting = false;
	if (m->refused) {
		err_note(&e, ERR_DENIED, DENIED_CODE,
			 "the BMC refused the login; drover does not try it again");
		fail(m, &e);
		return;
	}
	if (!m->process) /* If a sensor process runs, it starts the job when it ends. */
		after_pause(m);
}

/* --- functions of provider_ops ---------------------------------------------------------------- */

static int ipmi_open(struct provider *p, const struct provider_spec *s, struct err *e)
{
	struct ipmi_provider *ip = mem_new(struct ipmi_provider);

	(void)e;
	job_queue_init(&ip->queue, s, RATE, CONCURRENT, run);
	ip->paused = map_new(free);
	p->state = ip;
	return 0;
}

static void ipmi_close(struct provider *p)
{
	struct ipmi_provider *ip = p->state;

	job_queue_done(&ip->queue);
	map_free(ip->paused);
	free(ip);
}

static struct provider_machine *ipmi_attach(struct provider *p,
					    const struct provider_machine_spec *s, struct err *e)
{
	struct ipmi_provider *ip = p->state;
	const struct pause *last;
	struct ipmi_machine *m;
	char *host = NULL, *port = NULL;

	if (ipmi_parse_address(s->bmc_address, &host, &port, e) < 0)
		return NULL;
	if (ipmi_login_fits(s->user, s->password, e) < 0) {
		free(host);
		free(port);
		return NULL;
	}
	m = mem_new(struct ipmi_machine);
	job_machine_init(&m->base, &ip->queue);
	m->ip = ip;
	m->group = ip->queue.group;
	m->host = host;
	m->port = port;
	m->user = mem_strdup(s->user);
	m->password = secret_copy(s->password);
	last = map_get(ip->paused, m->host);
	m->not_before = last ? last->not_before : 0;
	map_del(ip->paused, m->host);
	loop_timer_init(&m->pause, m->group, go, m);
	loop_timer_init(&m->sense, m->group, sense, m);
	loop_timer_init(&m->limit, m->group, on_limit, m);
	buf_init(&m->out, OUTPUT_MAX);
	buf_init(&m->words, OUTPUT_MAX);
	return &m->base;
}

static void ipmi_detach(struct provider *p, struct provider_machine *base)
{
	struct ipmi_machine *m = machine_of(base);
	struct ipmi_provider *ip = p->state;
	struct pause *last;

	if (m->process) {
		/* Kill the process, because ipmitool does not read its input and so would not end
		 * at end of file. */
		loop_child_kill(m->process, SIGKILL);
		process_over(m);
	}
	loop_timer_stop(&m->pause);
	loop_timer_stop(&m->sense);
	if (m->not_before > loop_now(loop_of(m->group))) {
		last = mem_new(struct pause);
		last->not_before = m->not_before;
		map_put(ip->paused, m->host, last);
	}
	job_machine_done(base);
	buf_done(&m->out);
	buf_done(&m->words);
	secret_free(m->password);
	free(m->host);
	free(m->port);
	free(m->user);
	free(m);
}

static void ipmi_observe(struct provider *p, struct provider_machine *m,
			 const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_OBSERVE, c);
}

static void ipmi_power(struct provider *p, struct provider_machine *m, bool on,
		       const struct provider_call *c)
{
	(void)p;
	job_ask(m, JOB_POWER, c)->on = on;
}

static void ipmi_boot(struct provider *p, struct provider_machine *m, enum provider_boot how,
		      const char *url, const struct provider_call *c)
{
	(void)url;
	if (how == PROVIDER_BOOT_DISK)
		job_ask(m, JOB_BOOT, c)->how = how;
	else
		provider_refuse(p, c, how == PROVIDER_BOOT_HTTP ? "HTTP boot" : "virtual media");
}

static const struct provider_hardware_ops hardware = {
	.observe = ipmi_observe,
	.power = ipmi_power,
	.boot = ipmi_boot,
};

const struct provider_ops ipmi_provider_ops = {
	.type = "ipmi",
	.open = ipmi_open,
	.close = ipmi_close,
	.attach = ipmi_attach,
	.detach = ipmi_detach,
	.hardware = &hardware,
};
