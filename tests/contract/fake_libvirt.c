#include "tests/contract/fake_libvirt.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"

struct process {
	struct list link;
	struct fake_libvirt *f;
	/* Process of the program; NULL: the program has ended */
	struct loop_child *child;
	/* List of open requests, linked by request.link */
	struct list requests;
};

struct request {
	struct list link;
	struct process *p;
	json_t *j;
	struct loop_timer timer;
	bool hangs;
};

static void request_free(struct request *q)
{
	list_remove(&q->link);
	loop_timer_stop(&q->timer);
	json_decref(q->j);
	free(q);
}

static void process_end(struct process *p, int status)
{
	struct loop_child *c = p->child;

	if (!c)
		return;
	p->child = NULL;
	list_for_each (q, &p->requests, struct request, link)
		request_free(q);
	loop_sim_child_exit(c, status);
}

static void say(struct process *p, json_t *j)
{
	char *text = json_text(j);

	if (p->child)
		loop_sim_child_line(p->child, text, strlen(text));
	free(text);
	json_decref(j);
}

static void fail(struct process *p, json_int_t id, const char *kind, const char *message)
{
	say(p, json_pack("{s:I,s:{s:s,s:s}}", "id", id, "error", "kind", kind, "message", message));
}

/* Returns the machine that a request names: member "domain" in drover-libvirt, "machine" in type
 * exec. */
static const char *thing_of(const json_t *j)
{
	return str_or(json_str_at(j, "domain"), json_str_at(j, "machine"));
}

static json_int_t fence_of(struct fake_libvirt *f, const char *domain)
{
	const char *text = map_get(f->fences, domain);

	return text ? atoll(text) : 0;
}

/* --- operations ------------------------------------------------------------------------------- */

static json_t *state_of(struct fake_libvirt *f, const char *domain, struct fake_bmc *b,
			const char *address)
{
	char uuid[64];

	str_copy(uuid, sizeof(uuid), str_or(b->uuid, ""));
	for (char *c = uuid; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return json_pack("{s:s,s:s,s:s?,s:s,s:b,s:s?,s:s?,s:s?,s:I}", "power", b->on ? "On" : "Off",
			 "uuid", uuid, "serial", b->serial, "boot",
			 str_eq(b->boot_enabled, "Disabled")  ? "disk"
			 : str_eq(b->boot_target, "Cd")	      ? "media"
			 : str_eq(b->boot_target, "UefiHttp") ? "http"
							      : "other",
			 "inserted", b->image != NULL, "mediaURL", b->image, "httpURL", b->http_uri,
			 "address", address, "fence", fence_of(f, domain));
}

static bool uuid_fits(const struct fake_bmc *b, const char *uuid)
{
	return !uuid || !b->uuid || strcasecmp(uuid, b->uuid) == 0;
}

static void define(struct process *p, const json_t *j, const char *op, json_int_t id)
{
	struct fake_libvirt *f = p->f;
	const char *domain = thing_of(j);

	assert(json_str_at(j, "uuid") && json_str_at(j, "owner") && json_str_at(j, "machine"));
	if (str_eq(op, "define"))
		map_put(f->defined, domain, mem_strdup(json_str_at(j, "uuid")));
	else
		map_del(f->defined, domain);
	if (f->on_defined)
		f->on_defined(domain, map_get(f->defined, domain), f->arg);
	say(p, json_pack("{s:I}", "id", id));
}

static void put_boot(struct fake_bmc *b, const char *how, const char *url)
{
	if (b->write_lie)
		return;
	fake_bmc_put_target(b, str_eq(how, "media")  ? "Cd"
			       : str_eq(how, "http") ? "UefiHttp"
						     : "None");
	if (!url && (b->http_sticks || b->http_refused))
		return;
	free(b->http_uri);
	b->http_uri = mem_strdup(url);
}

static void change(struct process *p, struct fake_bmc *b, const json_t *j, const char *op)
{
	struct fake_libvirt *f = p->f;
	const char *domain = thing_of(j), *url = json_str_at(j, "url");
	json_int_t id = json_int_at(j, "id"), fence = json_int_at(j, "fence");
	bool on = json_true_at(j, "on");
	char text[24];

	assert(json_str_at(j, "operation") && json_int_at(j, "limitMs") > 0);
	if (!f->no_fences && fence < fence_of(f, domain)) {
		fail(p, id, "conflict", "another leader has changed it since");
		return;
	}
	if (!uuid_fits(b, json_str_at(j, "uuid"))) {
		fail(p, id, "unavailable", "another domain of that name");
		return;
	}
	str_format(text, sizeof(text), "%lld", (long long)fence);
	map_put(f->fences, domain, mem_strdup(text));
	if (str_eq(op, "power") && on != b->on)
		fake_bmc_switch(b, on);
	else if (str_eq(op, "boot"))
		put_boot(b, json_str_at(j, "how"), url);
	else if (str_eq(op, "media"))
		fake_bmc_put_image(b, url);
	if (f->dies_after)
		process_end(p, 3);
	else
		say(p, json_pack("{s:I}", "id", id));
}

static bool is_known(const char *op)
{
	static const char *const ops[] = {"observe", "power",  "boot",
					  "media",   "define", "undefine"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (str_eq(op, ops[i]))
			return true;
	return false;
}

static void act(struct process *p, const json_t *j)
{
	struct fake_libvirt *f = p->f;
	const char *op = json_str_at(j, "op"), *domain = thing_of(j), *address = NULL;
	json_int_t id = json_int_at(j, "id");
	struct fake_bmc *b = f->find(domain, &address, f->arg);
	json_t *told;

	if (!is_known(op)) {
		fail(p, id, "unsupported", "no such operation");
	} else if (str_eq(op, "define") || str_eq(op, "undefine")) {
		define(p, j, op, id);
	} else if (!b) {
		fail(p, id, "not-found",
		     "libvirt has no such domain: define it again, or retire the machine");
	} else if (str_eq(op, "observe")) {
		told = state_of(f, domain, b, address);
		json_object_set_new(told, "id", json_integer(id));
		say(p, told);
	} else {
		change(p, b, j, op);
	}
}

static void on_time(void *arg)
{
	struct request *q = arg;
	struct process *p = q->p;
	json_t *j = q->j;

	q->j = NULL;
	request_free(q);
	act(p, j);
	json_decref(j);
}

/* --- the process ------------------------------------------------------------------------------ */

static void hello(struct process *p, const json_t *j)
{
	struct fake_libvirt *f = p->f;

	str_copy(f->uri, sizeof(f->uri), str_or(json_str_at(j, "uri"), ""));
	str_copy(f->pool, sizeof(f->pool), str_or(json_str_at(j, "pool"), ""));
	str_copy(f->media_url, sizeof(f->media_url), str_or(json_str_at(j, "mediaURL"), ""));
	say(p, json_pack("{s:I,s:i}", "id", json_int_at(j, "id"), "protocol",
			 f->wrong_protocol ? 2 : 1));
}

static bool is_busy(const struct process *p, const char *domain)
{
	list_for_each (q, &p->requests, struct request, link)
		if (q->hangs && str_eq(thing_of(q->j), domain))
			return true;
	return false;
}

static void take(struct process *p, json_t *j)
{
	struct fake_libvirt *f = p->f;
	const char *domain = thing_of(j), *address;
	struct fake_bmc *b = f->find(domain, &address, f->arg);
	struct request *q;
	char line[400];

	str_format(line, sizeof(line), "%s %s %s",
		   str_eq(json_str_at(j, "op"), "observe") ? "GET" : "POST", domain,
		   json_str_at(j, "op"));
	if (b)
		fake_bmc_note(b, line);
	if (is_busy(p, domain)) {
		fail(p, json_int_at(j, "id"), "timeout", "an earlier request hangs");
		json_decref(j);
		return;
	}
	q = mem_new(struct request);
	q->p = p;
	q->j = j;
	q->hangs = f->hangs && f->hangs(domain, f->arg);
	loop_timer_init(&q->timer, f->group, on_time, q);
	list_push_back(&p->requests, &q->link);
	if (!q->hangs)
		loop_timer_start(&q->timer, f->ms);
}

static void on_start(struct loop_child *c, const char *const *argv, void **state, void *arg)
{
	struct fake_libvirt *f = arg;
	struct process *p = mem_new(struct process);

	assert(argv[0] && !argv[1]);
	f->starts++;
	p->f = f;
	p->child = c;
	list_init(&p->requests);
	list_push_back(&f->processes, &p->link);
	*state = p;
}

static void on_line(struct loop_child *c, const char *line, size_t len, void *state)
{
	struct process *p = state;
	struct fake_libvirt *f = p->f;
	json_t *j = json_loadb(line, len, 0, NULL);
	const char *op = json_str_at(j, "op");

	(void)c;
	assert(j && op);
	if (f->deaf) {
		json_decref(j);
	} else if (str_eq(op, "hello")) {
		hello(p, j);
		json_decref(j);
	} else if (str_eq(op, "ping")) {
		say(p, json_pack("{s:I}", "id", json_int_at(j, "id")));
		json_decref(j);
	} else if (f->dies) {
		json_decref(j);
		process_end(p, 3);
	} else if (f->garbage) {
		json_decref(j);
		loop_sim_child_line(p->child, "what?", 5);
	} else if (f->huge) {
		char *much = mem_alloc(1 << 20);

		memset(much, 'x', 1 << 20);
		json_decref(j);
		loop_sim_child_line(p->child, much, 1 << 20);
		free(much);
	} else if (f->error) {
		fail(p, json_int_at(j, "id"), f->error, "libvirt says no");
		json_decref(j);
	} else {
		take(p, j);
		for (int i = 0; f->talks && i < 100; i++)
			say(p, json_pack("{s:I}", "id", f->talks));
	}
}

static void on_eof(struct loop_child *c, void *state)
{
	(void)c;
	process_end(state, 0);
}

static void on_free(void *state)
{
	struct process *p = state;

	p->f->ends++;
	list_for_each (q, &p->requests, struct request, link)
		request_free(q);
	list_remove(&p->link);
	free(p);
}

void fake_libvirt_init(struct fake_libvirt *f, struct loop_group *g)
{
	struct loop_sim_program p = {
		.start = on_start, .line = on_line, .eof = on_eof, .free = on_free, .arg = f};

	*f = (struct fake_libvirt){
		.fences = map_new(free), .defined = map_new(free), .ms = 50, .group = g};
	f->loop = loop_of(g);
	list_init(&f->processes);
	loop_sim_program(f->loop, FAKE_LIBVIRT, &p);
	loop_sim_program(f->loop, FAKE_EXEC, &p);
}

void fake_libvirt_done(struct fake_libvirt *f)
{
	map_free(f->fences);
	map_free(f->defined);
}
