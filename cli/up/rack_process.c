/*
 * rack_process: both ends of the process in which the rack of `drover up` runs.
 */
#include "cli/up/rack_process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/data/json.h"
#include "base/file.h"
#include "base/log.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"

#define SPEC_MAX (1u << 20)
/* Maximum length of the line with the objects, which is about 700 bytes per machine */
#define LINE_MAX_BYTES (32u << 20)
/* A rack that was killed a moment ago may still hold its folder and its ports. */
#define RETRY_MS 100
#define RETRIES 50

/* --- the specification as JSON ---------------------------------------------------------------- */

static struct secret *encode(const struct up_rack_spec *s)
{
	OWN_JSON j = json_pack("{s:I, s:I, s:I, s:I, s:s, s:s, s:s*, s:s, s:s, s:s, s:s, s:[]}",
			       "machines", (json_int_t)s->machines, "racks", (json_int_t)s->racks,
			       "speed", (json_int_t)s->speed, "port", (json_int_t)s->port, "data",
			       s->data, "program", s->program, "faults", s->faults, "bmcPassword",
			       s->bmc_password, "kubeletToken", s->kubelet_token, "caKey",
			       s->ca_key, "ca", s->ca_pem, "tenants");
	struct secret *out;
	char *text;

	for (int i = 0; i < UP_TENANTS; i++)
		json_array_append_new(json_object_get(j, "tenants"),
				      json_pack("{s:s, s:s, s:s}", "name", s->tenants[i].name,
						"url", s->tenants[i].url, "ca",
						s->tenants[i].ca_pem));
	text = json_text(j);
	out = secret_from_str(text);
	secret_wipe(text, strlen(text));
	free(text);
	return out;
}

/* Sets *s to the specification in j, which must outlive *s. */
static void decode(const json_t *j, struct up_rack_spec *s)
{
	const json_t *tenants = json_at(j, "tenants");

	*s = (struct up_rack_spec){
		.machines = json_int_at(j, "machines"),
		.racks = json_int_at(j, "racks"),
		.speed = json_int_at(j, "speed"),
		.port = json_int_at(j, "port"),
		.data = json_str_at(j, "data"),
		.program = json_str_at(j, "program"),
		.faults = json_str_at(j, "faults"),
		.bmc_password = json_str_at(j, "bmcPassword"),
		.kubelet_token = json_str_at(j, "kubeletToken"),
		.ca_key = json_str_at(j, "caKey"),
		.ca_pem = json_str_at(j, "ca"),
	};
	for (size_t i = 0; i < UP_TENANTS; i++) {
		const json_t *t = json_array_get(tenants, i);

		s->tenants[i] = (struct up_rack_tenant){
			json_str_at(t, "name"), json_str_at(t, "url"), json_str_at(t, "ca")};
	}
}

/* --- the end of drover ------------------------------------------------------------------------ */

struct up_rack_process {
	struct up_rack_process_spec spec;
	struct loop_child *child;
	/* Error that the process reported before it ended; its text is "" if there was none. */
	struct err err;
};

static void on_line(const char *line, size_t len, void *arg)
{
	struct up_rack_process *p = arg;
	struct err bad;
	OWN_JSON j = json_parse(line, len, &bad);
	const json_t *objects = json_at(j, "objects");

	if (objects)
		p->spec.on_ready(objects, json_str_at(j, "digest"), p->spec.arg);
	else
		err_note(&p->err, ERR_UNAVAILABLE, (int)json_int_at(j, "code"), "%s",
			 j ? str_or(json_str_at(j, "error"), "no objects") : bad.text);
}

static void on_exit_of(int status, const struct err *e, void *arg)
{
	struct up_rack_process *p = arg;
	struct err out = e ? *e : p->err;

	if (!*out.text)
		err_note(&out, ERR_UNAVAILABLE, 0, "its process ended with status %d", status);
	err_note_wrap(&out, "the simulated rack");
	p->spec.on_end(&out, p->spec.arg);
}

static void on_stderr(const char *data, size_t len, void *arg)
{
	const struct up_rack_process *p = arg;

	p->spec.on_log(data, len, p->spec.arg);
}

struct up_rack_process *up_rack_process_new(struct loop_group *g,
					    const struct up_rack_process_spec *s, struct err *e)
{
	const char *const argv[] = {s->rack.program, "up", "--" UP_RACK_OPTION, NULL};
	struct up_rack_process *p = mem_new(struct up_rack_process);
	OWN(secret) secret = encode(&s->rack);
	struct loop_spawn spawn = {
		.argv = argv,
		.max_line = LINE_MAX_BYTES,
		.on_line = on_line,
		.on_stderr = on_stderr,
		.secret = secret,
		.on_exit = on_exit_of,
		.arg = p,
	};

	p->spec = *s;
	p->spec.rack = (struct up_rack_spec){0};
	p->child = loop_spawn(g, &spawn, e);
	if (p->child)
		return p;
	free(p);
	return NULL;
}

void up_rack_process_free(struct up_rack_process *p)
{
	if (!p)
		return;
	loop_child_kill(p->child, SIGKILL);
	loop_child_free(p->child);
	free(p);
}

/* --- the end of the rack ---------------------------------------------------------------------- */

struct serving {
	struct loop *loop;
	struct loop_group *group;
	struct up_rack_spec spec;
	struct up_rack *rack;
	struct loop_timer retry;
	int tries;
};

static void tell(json_t *j)
{
	json_dumpf(j, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(j);
}

static void on_try(void *arg)
{
	struct serving *v = arg;
	json_t *objects;
	struct err e;

	v->rack = up_rack_new(v->loop, &v->spec, &e);
	if (!v->rack && (e.code == EADDRINUSE || e.kind == ERR_CONFLICT) && ++v->tries < RETRIES) {
		loop_timer_start(&v->retry, RETRY_MS);
		return;
	}
	objects = v->rack ? up_rack_objects(v->rack, &e) : NULL;
	if (objects) {
		tell(json_pack("{s:o, s:s}", "objects", objects, "digest",
			       up_rack_image_digest(v->rack)));
		return;
	}
	tell(json_pack("{s:s, s:i}", "error", e.text, "code", e.code));
	loop_stop(v->loop);
}

static void serve(const json_t *spec)
{
	struct serving v = {.loop = loop_uv_new()};

	v.group = loop_group_new(v.loop, "rack process");
	decode(spec, &v.spec);
	loop_timer_init(&v.retry, v.group, on_try, &v);
	loop_timer_start(&v.retry, 0);
	loop_run(v.loop);
	up_rack_free(v.rack);
	loop_timer_stop(&v.retry);
	loop_group_free(v.group);
	loop_free(v.loop);
}

int up_rack_process_main(void)
{
	char *text;
	size_t len;
	struct err e;
	OWN_JSON spec = NULL;

	/* Ctrl-C on a terminal signals both processes; drover's end ends this one. */
	(void)signal(SIGINT, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0); /* no core dump, because the process holds credentials */
	log_config(LOG_INFO, LOG_TEXT);
	text = file_text(LOOP_SECRET_FILE, SPEC_MAX, &len, &e);
	spec = text ? json_parse(text, len, &e) : NULL;
	if (text)
		secret_wipe(text, len);
	free(text);
	if (!spec) {
		fprintf(stderr, "drover up: --" UP_RACK_OPTION " is for `drover up` itself: %s\n",
			e.text);
		return 1;
	}
	serve(spec);
	return 1;
}
