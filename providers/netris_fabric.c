#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/netris_cluster_editor.h"
#include "providers/netris_make.h"
#include "providers/netris_proof.h"
#include "providers/netris_state.h"

/*
 * Fabric type netris: segments are server clusters of a Netris controller;
 * docs/providers/netris.md.
 *
 * A tenant's segment is the cluster PREFIX-NAME, created when a machine is first placed in it.
 * Every other segment is the cluster of the same name, which an operator created. A move first
 * removes the machine from every other cluster, then adds it to the wanted one; in between the
 * machine is in no cluster, and so isolated.
 *
 *   place:   snapshot --> (create the cluster --> snapshot) --> leave the others --> join --> done
 *   observe: snapshot --> done
 *
 * A later place() of the same machine starts after the earlier one has ended or has taken 60 s;
 * edits (changes of a cluster's list of servers) of the earlier one that were not sent by then are
 * dropped. A place() with a lower fence than an earlier place() of the machine is refused. The
 * controller itself knows no fences, so only the precautions in netris_cluster_editor.h protect
 * against other processes.
 *
 * Tests: tests/contract/test_fabric.c, tests/contract/test_netris_api_path.c
 */
/* A call sends no edits (changes of a cluster's list of servers) later than this many ms after its
 * start. */
#define SEND_MS (NETRIS_STATE_CALL_MS - NETRIS_CALL_MS)
/* Maximum number of clusters from which one machine is removed at the same time. */
#define CLUSTERS_MAX 8
/* A place() that waits for a new cluster gives up after this many snapshots. */
#define ROUNDS 3

/* One fabric_drop() call, for a tenant's segment */
struct drop {
	struct list link;
	struct fabric_state *f;
	struct fabric_call call;
	char *name;
	struct netris_unmake *unmake;
	/* Ends the call in a later loop turn if there is nothing to remove */
	struct loop_defer end;
	struct loop_timer limit;
};

struct fabric_machine {
	/* ID of the machine's server in the last snapshot; 0: not seen yet */
	int64_t id;
	int64_t fence;
	struct netris_seen seen;
};

struct netris_job {
	/* waits: link in maker.jobs, for a job that waits for a cluster to be created */
	struct list link, waits;
	struct fabric_state *f;
	struct fabric_call call;
	/* fenced: true if the call was refused because a leader with a higher fence has moved the
	 * machine */
	bool place, begun, fenced;
	char *name, *segment;
	int64_t begun_at;
	struct loop_timer limit;
	struct loop_defer start;
	struct netris_wait look;
	unsigned rounds;
	struct netris_edit out[CLUSTERS_MAX], in;
	/* nout: number of edits in `out`; left: number of edits of this job that have not ended
	 * yet */
	unsigned nout, left;
	struct netris_cluster_editor *into;
	/* First error of an edit of this job */
	struct err err;
	/* Error with which the creation of the cluster ended; even then the cluster may exist */
	struct err made;
};

/* The creation of one tenant's cluster, for all jobs that wait for it. */
struct maker {
	struct fabric_state *f;
	struct netris_make *make;
	char *name;
	/* Jobs that wait for the cluster, linked by job.waits */
	struct list jobs;
};

static void job_stop(struct netris_job *j)
{
	list_remove(&j->look.link);
	list_remove(&j->waits);
	for (unsigned i = 0; i < j->nout; i++)
		netris_cluster_editor_drop(&j->out[i]);
	netris_cluster_editor_drop(&j->in);
	loop_timer_stop(&j->limit);
	loop_defer_cancel(&j->start);
}

static void job_free(struct netris_job *j)
{
	job_stop(j);
	list_remove(&j->link);
	free(j->name);
	free(j->segment);
	free(j);
}

static void start_next(struct fabric_state *f, const char *name)
{
	list_for_each (j, &f->jobs, struct netris_job, link) {
		if (!j->place || !str_eq(j->name, name))
			continue;
		if (!j->begun)
			loop_defer(&j->start);
		return;
	}
}

/* Calls done() and frees the job. The caller must return afterwards, because done() may free the
 * fabric. */
static void job_end(struct netris_job *j, const struct fabric_place *p, const struct err *e)
{
	struct err why;

	if (e)
		/* Copy the error, because e may point into the job, which is freed below. */
		why = *e;
	/* Change any other conflict to ERR_UNAVAILABLE, because ERR_CONFLICT of place() must always
	 * mean a higher fence. Other conflicts are temporary, or an operator has to solve them. */
	if (e && why.kind == ERR_CONFLICT && !j->fenced)
		why.kind = ERR_UNAVAILABLE;
	job_stop(j);
	list_remove(&j->link);
	if (j->place)
		start_next(j->f, j->name);
	j->call.done(p, e ? &why : NULL, j->call.arg);
	job_free(j);
}

static void job_fail(struct netris_job *j, enum err_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void job_fail(struct netris_job *j, enum err_kind kind, const char *fmt, ...)
{
	char text[sizeof(j->err.text)];
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_note(&e, kind, 0, "%s", text);
	e.scope = ERR_MACHINE;
	job_end(j, NULL, &e);
}

static void on_limit(void *arg)
{
	struct netris_job *j = arg;

	job_fail(j, ERR_TIMEOUT, "Netris did not complete the requests for %.100s within 60 s",
		 j->name);
}

/* --- names ------------------------------------------------------------------------------------ */

/* Returns the name of the segment that belongs to a cluster, malloc'd. The result is "tenant/..."
 * only for cluster names that netris_state_cluster() forms, so that an operator's cluster with "/"
 * in its name is not mistaken for a tenant's. */
static char *segment_of(const struct fabric_state *f, const char *cluster)
{
	size_t n = strlen(f->prefix);

	if (!strncmp(cluster, f->prefix, n) && cluster[n] == '-' && cluster[n + 1])
		return mem_printf(NETRIS_STATE_TENANTS "%s", cluster + n + 1);
	return strchr(cluster, '/') ? mem_printf("cluster:%s", cluster) : mem_strdup(cluster);
}

static bool is_ours(int64_t server, void *arg)
{
	const struct fabric_state *f = arg;
	struct map_iter it;

	map_for_each (it, f->machines)
		if (((const struct fabric_machine *)it.value)->id == server)
			return true;
	return false;
}

static struct netris_cluster_editor *editor_of(struct fabric_state *f,
					       const struct netris_cluster *c)
{
	struct netris_cluster_editor *l = map_get(f->editors, c->name);

	if (l && netris_cluster_editor_id(l) == c->id)
		return l;
	/* Use a new editor (queue of edits of one cluster), because the cluster was deleted and
	 * created again with a new id. Edits that wait for the old cluster end by their time
	 * limit. */
	if (l)
		netris_cluster_editor_free(map_take(f->editors, c->name));
	l = netris_cluster_editor_new(f->group, f->n, c->id, c->name, is_ours, f);
	map_put(f->editors, c->name, l);
	return l;
}

static struct fabric_machine *machine_of(struct fabric_state *f, const char *name)
{
	struct fabric_machine *m = map_get(f->machines, name);

	if (!m) {
		m = mem_new(struct fabric_machine);
		map_put(f->machines, name, m);
	}
	return m;
}

/* --- observing -------------------------------------------------------------------------------- */

/* Returns the cluster that contains the server, and sets *n to the number of such clusters. If
 * there are several, prefers a tenant's cluster. */
static const struct netris_cluster *in_which(const struct fabric_state *f,
					     const struct netris_snapshot *l, int64_t server,
					     unsigned *n)
{
	const struct netris_cluster *in = NULL;

	*n = 0;
	for (size_t i = 0; i < l->nclusters; i++) {
		if (!netris_has_member(&l->clusters[i], server))
			continue;
		++*n;
		if (!in || str_starts(l->clusters[i].name, f->prefix))
			in = &l->clusters[i];
	}
	return in;
}

static void told_where(struct netris_job *j, const struct netris_snapshot *l,
		       const struct netris_machine *m)
{
	struct fabric_state *f = j->f;
	struct fabric_machine *known = machine_of(f, j->name);
	unsigned n;
	const struct netris_cluster *in = in_which(f, l, m->id, &n);
	char why[200], *segment = in ? segment_of(f, in->name) : NULL;
	struct fabric_place p = {.segment = segment, .read_at = l->begun_at, .why = why};

	if (n > 1) {
		str_format(why, sizeof(why),
			   "the server is in %u server clusters, among them %.60s", n, in->name);
		known->seen = (struct netris_seen){0};
		p.proof = FABRIC_PROOF_NONE;
	} else {
		p.proof = netris_prove(l, m, in, (const char *const *)f->common, &known->seen, why,
				       sizeof(why));
	}
	job_end(j, &p, NULL);
	free(segment);
}

/* --- placing ---------------------------------------------------------------------------------- */

static void ask_look(struct netris_job *j)
{
	j->rounds++;
	netris_snapshot_ask(j->f->snapshots, &j->look);
}

static void on_edit(const struct err *e, void *arg)
{
	struct netris_job *j = arg;

	if (e && j->err.kind == ERR_NONE)
		j->err = *e;
	if (--j->left)
		return;
	machine_of(j->f, j->name)->seen = (struct netris_seen){0};
	if (j->err.kind != ERR_NONE) {
		job_end(j, NULL, &j->err);
	} else if (j->into) {
		struct netris_cluster_editor *l = j->into;

		j->into = NULL;
		j->left = 1;
		netris_cluster_editor_edit(l, &j->in);
	} else {
		job_end(j, NULL, NULL);
	}
}

static bool edit_may_act(void *arg)
{
	const struct netris_job *j = arg;

	return netris_state_may_change(j->f) && (!j->call.may_act || j->call.may_act(j->call.arg));
}

static void edit_init(struct netris_job *j, struct netris_edit *ed, int64_t server, bool add)
{
	ed->server = server;
	ed->add = add;
	ed->until = j->begun_at + SEND_MS;
	ed->may_act = edit_may_act;
	ed->done = on_edit;
	ed->arg = j;
}

static void move(struct netris_job *j, const struct netris_snapshot *l, int64_t server,
		 const struct netris_cluster *to)
{
	struct netris_cluster_editor *from[CLUSTERS_MAX];
	bool there = netris_has_member(to, server);

	j->nout = 0;
	for (size_t i = 0; i < l->nclusters && j->nout < CLUSTERS_MAX; i++) {
		const struct netris_cluster *c = &l->clusters[i];

		if (c->id == to->id || !netris_has_member(c, server))
			continue;
		edit_init(j, &j->out[j->nout], server, false);
		from[j->nout++] = editor_of(j->f, c);
	}
	if (there && !j->nout) {
		job_end(j, NULL, NULL);
		return;
	}
	edit_init(j, &j->in, server, true);
	j->into = there ? NULL : editor_of(j->f, to);
	j->left = j->nout ? j->nout : 1;
	for (unsigned i = 0; i < j->nout; i++)
		netris_cluster_editor_edit(from[i], &j->out[i]);
	if (!j->nout) {
		struct netris_cluster_editor *into = j->into;

		j->into = NULL;
		netris_cluster_editor_edit(into, &j->in);
	}
}

static void maker_free(struct maker *m)
{
	netris_make_free(m->make);
	list_for_each (j, &m->jobs, struct netris_job, waits)
		list_remove(&j->waits);
	free(m->name);
	free(m);
}

static bool maker_may_act(void *arg)
{
	const struct maker *m = arg;

	list_for_each (j, &m->jobs, struct netris_job, waits)
		if (edit_may_act(j))
			return true;
	return false;
}

/* Called when a creation has ended. If it was refused, ends the waiting jobs with the error.
 * Otherwise requests a new snapshot for each job, which shows whether the cluster exists. */
static void on_made(const struct err *e, void *arg)
{
	struct maker *m = map_take(((struct maker *)arg)->f->makers, ((struct maker *)arg)->name);
	struct err why = {0};
	struct list told;
	struct netris_job *j;

	if (e)
		why = *e;
	list_init(&told);
	while ((j = list_first(&m->jobs, struct netris_job, waits))) {
		list_remove(&j->waits);
		j->made = why;
		if (e && netris_refused(e))
			list_push_back(&told, &j->waits);
		else
			ask_look(j);
	}
	maker_free(m);
	while ((j = list_first(&told, struct netris_job, waits))) {
		/* Take the first job of the list each time, because done() may free the fabric with
		 * all its jobs. */
		list_remove(&j->waits);
		job_end(j, NULL, &why);
	}
}

static void make(struct netris_job *j, const char *name)
{
	struct fabric_state *f = j->f;
	struct maker *m = map_get(f->makers, name);

	if (!m) {
		struct netris_make_spec s = {
			.prefix = f->prefix,
			.site = f->site,
			.template_ = f->template_,
			.admin = f->admin,
			.host_servers = (const char *const *)f->hosts,
			.may_act = maker_may_act,
			.done = on_made,
		};

		m = mem_new(struct maker);
		m->f = f;
		m->name = mem_strdup(name);
		list_init(&m->jobs);
		map_put(f->makers, name, m);
		s.name = m->name;
		s.arg = m;
		m->make = netris_make(f->n, &s);
	}
	list_push_back(&m->jobs, &j->waits);
}

static void told_place(struct netris_job *j, const struct netris_snapshot *l,
		       const struct netris_machine *m)
{
	char *name = netris_state_cluster(j->f, j->segment);
	const struct netris_cluster *to = netris_snapshot_cluster(l, name);

	if (to)
		move(j, l, m->id, to);
	else if (!str_starts(j->segment, NETRIS_STATE_TENANTS))
		job_fail(j, ERR_NOT_FOUND,
			 "Netris has no server cluster %.100s: create it from a template that "
			 "isolates its servers",
			 name);
	else if (j->rounds >= ROUNDS && j->made.kind != ERR_NONE)
		job_end(j, NULL, &j->made);
	else if (j->rounds >= ROUNDS)
		job_fail(j, ERR_UNAVAILABLE,
			 "server cluster %.100s was created, but is not listed yet", name);
	else
		make(j, name);
	free(name);
}

/* --- place and observe ------------------------------------------------------------------------ */

static void on_look(const struct netris_snapshot *l, const struct err *e, void *arg)
{
	struct netris_job *j = arg;
	struct fabric_state *f = j->f;
	const struct netris_machine *m;
	struct map_iter it;

	if (e) {
		job_end(j, NULL, e);
		return;
	}
	map_for_each (it, f->editors)
		netris_cluster_editor_saw(it.value, l);
	m = map_get(l->machines, j->name);
	if (m && !m->twice)
		machine_of(f, j->name)->id = m->id;
	if (!m && !j->look.fresh) {
		j->look.fresh = true;
		ask_look(j);
	} else if (!m || m->twice) {
		job_fail(j, ERR_NOT_FOUND, "Netris has %s named %.100s at site %.60s%s",
			 m ? "two servers" : "no server", j->name, f->site,
			 m ? "" : "; the server must have the name of the Machine");
	} else if (j->place && f->release_at < 0) {
		/* Wait for the next snapshot without counting a round, because the request for the
		 * controller's release has no answer yet. */
		netris_snapshot_ask(f->snapshots, &j->look);
	} else if (j->place && f->release == NETRIS_RELEASE_OLD) {
		job_fail(j, ERR_UNSUPPORTED, "Netris: %s", f->release_text);
	} else if (j->place) {
		told_place(j, l, m);
	} else {
		told_where(j, l, m);
	}
}

static void on_start(void *arg)
{
	struct netris_job *j = arg;
	struct fabric_machine *m = machine_of(j->f, j->name);

	/* mutant: netris-fence */
	if (j->place && j->call.fence < m->fence) {
		j->fenced = true;
		job_fail(j, ERR_CONFLICT,
			 "%.100s: refused, because a newer leader (with a higher fence) already "
			 "moved the machine",
			 j->name);
		return;
	}
	if (j->place)
		m->fence = j->call.fence;
	j->begun = true;
	j->begun_at = loop_now(loop_of(j->f->group));
	loop_timer_start(&j->limit, NETRIS_STATE_CALL_MS);
	netris_state_ask_release(j->f);
	ask_look(j);
}

static struct netris_job *job_new(struct fabric *fabric, const struct fabric_port *p,
				  const struct fabric_call *c)
{
	struct fabric_state *f = fabric->state;
	struct netris_job *j = mem_new(struct netris_job);

	j->f = f;
	j->call = *c;
	j->name = mem_strdup(p->machine);
	j->look.done = on_look;
	j->look.arg = j;
	list_init(&j->look.link);
	list_init(&j->waits);
	list_init(&j->in.link);
	for (size_t i = 0; i < CLUSTERS_MAX; i++)
		list_init(&j->out[i].link);
	loop_timer_init(&j->limit, f->group, on_limit, j);
	loop_defer_init(&j->start, f->group, on_start, j);
	list_push_back(&f->jobs, &j->link);
	return j;
}

static void netris_place(struct fabric *fabric, const struct fabric_port *p, const char *segment,
			 const struct fabric_call *c)
{
	struct netris_job *j = job_new(fabric, p, c);

	j->place = true;
	j->segment = mem_strdup(segment);
	list_for_each (other, &j->f->jobs, struct netris_job, link)
		if (other != j && other->place && str_eq(other->name, j->name))
			return;
	loop_defer(&j->start);
}

static void netris_observe(struct fabric *fabric, const struct fabric_port *p,
			   const struct fabric_call *c)
{
	loop_defer(&job_new(fabric, p, c)->start);
}

/* --- dropping --------------------------------------------------------------------------------- */

static void drop_free(struct drop *d)
{
	list_remove(&d->link);
	loop_defer_cancel(&d->end);
	loop_timer_stop(&d->limit);
	netris_unmake_free(d->unmake);
	free(d->name);
	free(d);
}

/* Calls done() and frees the drop. The caller must return afterwards, because done() may free the
 * fabric. */
static void on_dropped(const struct err *e, void *arg)
{
	struct drop *d = arg;
	struct err why = {0};

	if (e)
		why = *e;
	list_remove(&d->link);
	d->call.done(NULL, e ? &why : NULL, d->call.arg);
	drop_free(d);
}

static void on_nothing(void *arg)
{
	on_dropped(NULL, arg);
}

static void on_drop_limit(void *arg)
{
	struct drop *d = arg;
	struct err e;

	err_note(&e, ERR_TIMEOUT, 0, "Netris did not remove %.100s within 60 s", d->name);
	on_dropped(&e, d);
}

static bool drop_may_act(void *arg)
{
	const struct drop *d = arg;

	return netris_state_may_change(d->f) && (!d->call.may_act || d->call.may_act(d->call.arg));
}

static void netris_drop(struct fabric *fabric, const char *segment, const struct fabric_call *c)
{
	struct fabric_state *f = fabric->state;
	struct drop *d = mem_new(struct drop);
	struct netris_make_spec s = {
		.prefix = f->prefix, .may_act = drop_may_act, .done = on_dropped, .arg = d};

	d->f = f;
	d->call = *c;
	d->name = netris_state_cluster(f, segment);
	s.name = d->name;
	list_push_back(&f->drops, &d->link);
	loop_defer_init(&d->end, f->group, on_nothing, d);
	loop_timer_init(&d->limit, f->group, on_drop_limit, d);
	loop_timer_start(&d->limit, NETRIS_STATE_CALL_MS);
	netris_state_ask_release(f);
	if (str_starts(segment, NETRIS_STATE_TENANTS))
		d->unmake = netris_unmake(f->n, &s);
	/* End without a change: an operator created the cluster of this segment, so drover removes
	 * nothing. */
	else
		loop_defer(&d->end);
}

static bool netris_about(const struct fabric *fabric, char *text, size_t size)
{
	return netris_state_release(fabric->state, text, size);
}

static bool netris_trouble(const struct fabric *fabric, char *text, size_t size)
{
	const struct fabric_state *f = fabric->state;
	struct map_iter it;

	if (f->release == NETRIS_RELEASE_OLD)
		return netris_about(fabric, text, size);

	map_for_each (it, f->editors)
		if (netris_cluster_editor_incident(it.value, text, size))
			return true;
	return false;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int netris_open(struct fabric *fabric, const struct fabric_spec *s, struct err *e)
{
	const struct fabric_netris *c = s->netris;
	struct netris_spec spec;
	struct fabric_state *f;
	struct netris *n;

	if (!c)
		return err_set(e, ERR_INVALID, 0, "network.netris: required by type netris");
	spec = (struct netris_spec){.group = s->group,
				    .http = c->http,
				    .url = c->url,
				    .user = c->user,
				    .password = c->password,
				    .ca_pem = c->ca_pem,
				    .pin_sha256 = c->pin_sha256,
				    .plain_ok = c->plain_ok};
	n = netris_new(&spec, e);
	if (!n)
		return err_wrap(e, "network.netris.endpoint");
	f = mem_new(struct fabric_state);
	f->group = s->group;
	f->n = n;
	f->snapshots = netris_snapshots_new(s->group, n, c->site);
	f->api_paths = netris_api_paths_new(s->group, n);
	f->site = mem_strdup(c->site);
	f->template_ = mem_strdup(c->template_);
	f->admin = mem_strdup(c->admin);
	f->prefix = mem_strdup(c->prefix);
	f->hosts = netris_state_copy_names(c->host_servers);
	f->common = netris_state_copy_names(c->common_vnets);
	f->editors = map_new(NULL);
	f->machines = map_new(free);
	f->makers = map_new(NULL);
	list_init(&f->jobs);
	list_init(&f->drops);
	f->release_at = -1;
	list_init(&f->path_calls);
	fabric->state = f;
	return 0;
}

static void netris_close(struct fabric *fabric)
{
	struct fabric_state *f = fabric->state;
	struct map_iter it;

	netris_cancel(f->release_asked);

	map_for_each (it, f->makers)
		maker_free(it.value);
	list_for_each (j, &f->jobs, struct netris_job, link)
		job_free(j);
	list_for_each (d, &f->drops, struct drop, link)
		drop_free(d);
	netris_fabric_api_paths_free(f);
	map_for_each (it, f->editors)
		netris_cluster_editor_free(it.value);
	map_free(f->makers);
	map_free(f->editors);
	map_free(f->machines);
	netris_snapshots_free(f->snapshots);
	netris_api_paths_free(f->api_paths);
	netris_free(f->n);
	netris_state_free_names(f->hosts);
	netris_state_free_names(f->common);
	free(f->site);
	free(f->template_);
	free(f->admin);
	free(f->prefix);
	free(f);
}

const struct fabric_ops netris_fabric_ops = {
	.type = "netris",
	.open = netris_open,
	.close = netris_close,
	.place = netris_place,
	.observe = netris_observe,
	.trouble = netris_trouble,
	.about = netris_about,
	.drop = netris_drop,
	.ensure_api_path = netris_fabric_ensure_api_path,
	.remove_api_path = netris_fabric_remove_api_path,
};
