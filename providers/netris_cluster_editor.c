#include "providers/netris_cluster_editor.h"

#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/* Maximum number of reads in a row of a list that does not show the expected servers. */
#define READS 3
#define AGAIN_MS 1000
#define MISSING_MAX 16 /* Maximum number of servers that an incident names. */

struct ids {
	int64_t *v;
	size_t n, cap;
};

struct netris_cluster_editor {
	struct loop_group *group;
	struct netris *n;
	int64_t id;
	char *name;
	bool (*ours)(int64_t server, void *arg);
	void *arg;
	struct list edits;
	struct loop_defer begin;
	struct loop_timer again;
	struct netris_request *request;
	/* True: the read in progress follows the PUT, to see its effect. */
	bool after;
	unsigned reads;
	/* Error of the last PUT; kind ERR_NONE: success */
	struct err put;
	/* IDs of the servers in the list that was last read after a change, without those that have
	 * moved elsewhere since */
	struct ids known;
	/* IDs of the servers in the list of the PUT */
	struct ids sent;
	/* IDs of the servers that were ever in this cluster as shared servers */
	struct ids shared;
	/* IDs of the servers that vanished from the cluster; not empty: an incident is open */
	struct ids missing;
	char missing_names[160];
};

/* --- sets of ids ------------------------------------------------------------------------------ */

static bool ids_has(const struct ids *s, int64_t id)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i] == id)
			return true;
	return false;
}

static void ids_add(struct ids *s, int64_t id)
{
	mem_grow(s->v, s->n, s->cap);
	s->v[s->n++] = id;
}

static void ids_drop(struct ids *s, int64_t id)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i] == id) {
			s->v[i] = s->v[--s->n];
			return;
		}
}

/* --- end of edits ----------------------------------------------------------------------------- */

static void begin_again(struct netris_cluster_editor *l)
{
	l->reads = 0;
	l->after = false;
	if (!list_empty(&l->edits))
		loop_defer(&l->begin);
}

/* Ends all edits of the change in progress with error e (NULL: success); with `all` also the edits
 * that wait for the next change. done() may drop other edits and free the editor. */
static void end_all(struct netris_cluster_editor *l, bool all, const struct err *e)
{
	struct err why = {0};
	struct list told;
	struct netris_edit *ed;

	if (e) {
		why = *e;
		if (why.scope == ERR_REQUEST)
			why.scope = ERR_MACHINE;
	}
	list_init(&told);
	list_for_each (it, &l->edits, struct netris_edit, link) {
		if (!all && !it->merged)
			continue;
		list_remove(&it->link);
		list_push_back(&told, &it->link);
	}
	begin_again(l);
	while ((ed = list_first(&told, struct netris_edit, link))) {
		list_remove(&ed->link);
		ed->done(e ? &why : NULL, ed->arg);
	}
}

bool netris_cluster_editor_incident(const struct netris_cluster_editor *l, char *text, size_t size)
{
	if (l->missing.n)
		str_format(
			text, size,
			"another writer removed %.80s from server cluster %.60s: drover does not "
			"change this cluster until each of these servers is in a server "
			"cluster again",
			l->missing_names, l->name);
	return l->missing.n > 0;
}

static void fail_incident(struct netris_cluster_editor *l)
{
	char text[sizeof(((struct err *)0)->text)];
	struct err e;

	(void)netris_cluster_editor_incident(l, text, sizeof(text));
	err_note(&e, ERR_UNAVAILABLE, 0, "%s", text);
	e.scope = ERR_PROVIDER;
	end_all(l, true, &e);
}

/* --- evaluating the list ---------------------------------------------------------------------- */

/* Sets l->missing to the servers of `want` that are not in cluster c, except those that an edit of
 * the change in progress moves. A machine that only another drover installation moves does not
 * count; a shared server does. */
static void find_missing(struct netris_cluster_editor *l, const struct ids *want,
			 const struct netris_cluster *c)
{
	size_t at = 0;

	l->missing.n = 0;
	l->missing_names[0] = '\0';
	for (size_t i = 0; i < want->n; i++) {
		bool fine =
			netris_has_member(c, want->v[i]) ||
			(/* mutant: netris-shared-not-missed */ !ids_has(&l->shared, want->v[i]) &&
			 !l->ours(want->v[i], l->arg));

		list_for_each (ed, &l->edits, struct netris_edit, link)
			fine = fine || (ed->merged && ed->server == want->v[i]);
		if (fine)
			continue;
		ids_add(&l->missing, want->v[i]);
		if (l->missing.n <= MISSING_MAX) {
			str_format(l->missing_names + at, sizeof(l->missing_names) - at, "%s%lld",
				   at ? ", " : "server ", (long long)want->v[i]);
			at = strlen(l->missing_names);
		}
	}
}

static void on_list(struct netris_objects *o, const struct err *e, void *arg);

static void read_list(struct netris_cluster_editor *l)
{
	const struct netris_call c = {.done = on_list, .arg = l};

	l->request = netris_get(l->n, NETRIS_CLUSTER, l->id, &c);
}

static void on_again(void *arg)
{
	read_list(arg);
}

/* Schedules another read of the list, because the last one may be stale. False: the maximum of
 * READS is reached. */
static bool once_more(struct netris_cluster_editor *l)
{
	if (++l->reads >= READS)
		return false;
	loop_timer_start(&l->again, AGAIN_MS);
	return true;
}

/* --- making the change ------------------------------------------------------------------------ */

static bool is_late(const struct netris_cluster_editor *l, const struct netris_edit *ed)
{
	return loop_now(loop_of(l->group)) >= ed->until;
}

static bool may_send(void *arg)
{
	struct netris_cluster_editor *l = arg;

	list_for_each (ed, &l->edits, struct netris_edit, link)
		if (ed->merged && (is_late(l, ed) || (ed->may_act && !ed->may_act(ed->arg))))
			return false;
	return true;
}

static void on_put(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_cluster_editor *l = arg;

	(void)o;
	l->request = NULL;
	err_clear(&l->put);
	if (e)
		l->put = *e;
	/* End the edits, because the request was not sent or was refused: nothing changed. */
	if (e && netris_refused(e)) {
		end_all(l, false, e);
		return;
	}
	l->after = true;
	l->reads = 0;
	read_list(l);
}

/* Returns the complete new list of servers for the PUT; NULL: no change is needed. */
static json_t *new_list(struct netris_cluster_editor *l, const struct netris_cluster *c)
{
	json_t *all = json_array();
	bool changed = false;

	l->sent.n = 0;
	for (size_t i = 0; i < c->servers.n; i++) {
		const struct netris_member *m = &c->servers.v[i];
		bool leaves = false;

		list_for_each (ed, &l->edits, struct netris_edit, link)
			leaves = leaves || (ed->merged && !ed->add && ed->server == m->id);
		changed = changed || leaves;
		if (leaves)
			continue;
		ids_add(&l->sent, m->id);
		json_array_append_new(all,
				      json_pack("{s:I, s:s, s:b}", "id", (json_int_t)m->id, "name",
						m->name, "shared", m->shared == NETRIS_YES));
	}
	list_for_each (ed, &l->edits, struct netris_edit, link) {
		if (!ed->merged || !ed->add || ids_has(&l->sent, ed->server))
			continue;
		changed = true;
		ids_add(&l->sent, ed->server);
		json_array_append_new(
			all, json_pack("{s:I, s:b}", "id", (json_int_t)ed->server, "shared", 0));
	}
	if (changed)
		return all;
	json_decref(all);
	return NULL;
}

static json_t *tags_of(const struct netris_cluster *c)
{
	json_t *tags = json_array();

	for (size_t i = 0; i < c->tags.n; i++)
		json_array_append_new(tags, json_string(c->tags.v[i]));
	return tags;
}

static void remember(struct netris_cluster_editor *l, const struct netris_cluster *c)
{
	l->known.n = 0;
	for (size_t i = 0; i < c->servers.n; i++)
		ids_add(&l->known, c->servers.v[i].id);
}

/* Marks the edits that belong to the next change as merged. Moves edits that are too late or no
 * longer allowed to the list `out`, to be ended by the caller. */
static void merge(struct netris_cluster_editor *l, struct list *out)
{
	list_for_each (ed, &l->edits, struct netris_edit, link) {
		ed->merged = !is_late(l, ed) && (!ed->may_act || ed->may_act(ed->arg));
		if (ed->merged)
			continue;
		list_remove(&ed->link);
		list_push_back(out, &ed->link);
	}
}

/* Checks the list that was read before the change for missing servers, and sends the PUT. */
static void change(struct netris_cluster_editor *l, const struct netris_cluster *c)
{
	struct netris_call call = {.done = on_put, .may_act = may_send, .arg = l};
	struct err e;
	json_t *list;

	for (size_t i = 0; i < c->servers.n; i++)
		/* mutant: netris-shared-unsaid */
		if (c->servers.v[i].shared == NETRIS_UNSAID) {
			err_note(&e, ERR_UNSUPPORTED, 0,
				 "server cluster %.60s: this release of Netris does not report "
				 "which servers are shared, so drover does not write its server "
				 "list",
				 l->name);
			e.scope = ERR_PROVIDER;
			end_all(l, true, &e);
			return;
		} else if (c->servers.v[i].shared == NETRIS_YES &&
			   !ids_has(&l->shared, c->servers.v[i].id)) {
			ids_add(&l->shared, c->servers.v[i].id);
		}
	/* mutant: netris-old-list */
	find_missing(l, &l->known, c);
	if (l->missing.n && once_more(l)) {
		l->missing.n = 0;
		return;
	}
	if (l->missing.n) {
		fail_incident(l);
		return;
	}
	list = new_list(l, c);
	if (!list) {
		remember(l, c);
		end_all(l, false, NULL);
		return;
	}
	l->request =
		netris_change(l->n, "PUT", NETRIS_CLUSTER, l->id,
			      json_pack("{s:o, s:o}", "tags", tags_of(c), "servers", list), &call);
}

/* True if cluster c shows the result of all edits of the change in progress. */
static bool shows(const struct netris_cluster_editor *l, const struct netris_cluster *c)
{
	list_for_each (ed, &l->edits, struct netris_edit, link)
		if (ed->merged && netris_has_member(c, ed->server) != ed->add)
			return false;
	return true;
}

static void compare(struct netris_cluster_editor *l, const struct netris_cluster *c)
{
	struct err e = l->put;

	find_missing(l, &l->sent, c);
	if (l->missing.n || /* mutant: netris-answer-believed */ !shows(l, c)) {
		bool incident = l->missing.n > 0;

		if (once_more(l)) {
			l->missing.n = 0;
			return;
		}
		if (incident) {
			fail_incident(l);
			return;
		}
		remember(l, c);
		if (e.kind == ERR_NONE)
			err_note(&e, ERR_UNAVAILABLE, 0,
				 "Netris confirmed a change of server cluster %.60s, but its "
				 "server list does not show the change",
				 l->name);
		end_all(l, false, &e);
		return;
	}
	remember(l, c);
	end_all(l, false, NULL);
}

static void on_list(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_cluster_editor *l = arg;
	const struct netris_cluster *c = e ? NULL : o->cluster;
	struct err why;

	l->request = NULL;
	if (!e && !c->servers.said) {
		err_note(&why, ERR_PROTOCOL, 0,
			 "server cluster %.60s: the reply contains no list of servers", l->name);
		e = &why;
	}
	if (e) {
		/* Read again, because the effect of the PUT is unknown. If no read is left, report
		 * the error of the PUT, which says more than the error of the read. */
		if (l->after && once_more(l))
			return;
		end_all(l, false, l->after && l->put.kind != ERR_NONE ? &l->put : e);
		return;
	}
	if (l->after)
		compare(l, c);
	else
		change(l, c);
}

/* True if a change may be made: no server is missing, or the waiting edits add all missing servers
 * to this cluster again. A server stays in `known` until the list shows it again. */
static bool mends(const struct netris_cluster_editor *l)
{
	for (size_t i = 0; i < l->missing.n; i++) {
		bool asked = false;

		list_for_each (ed, &l->edits, struct netris_edit, link)
			asked = asked || (ed->add && ed->server == l->missing.v[i]);
		if (!asked)
			return false;
	}
	return true;
}

static void on_begin(void *arg)
{
	struct netris_cluster_editor *l = arg;
	struct list out;
	struct netris_edit *ed;
	struct err e;

	if (l->request || loop_timer_active(&l->again))
		return;
	if (!mends(l)) {
		fail_incident(l);
		return;
	}
	l->missing.n = 0;
	list_init(&out);
	merge(l, &out);
	if (!list_empty(&l->edits)) {
		l->after = false;
		l->reads = 0;
		read_list(l);
	}
	err_note(&e, ERR_UNAVAILABLE, 0,
		 "not sent: the request came too late or is no longer wanted");
	e.scope = ERR_MACHINE;
	while ((ed = list_first(&out, struct netris_edit, link))) {
		/* Take the first edit of the list each time, because done() may drop other edits
		 * and free the editor. */
		list_remove(&ed->link);
		ed->done(&e, ed->arg);
	}
}

/* --- edits ------------------------------------------------------------------------------------ */

void netris_cluster_editor_edit(struct netris_cluster_editor *l, struct netris_edit *ed)
{
	ed->merged = false;
	list_push_back(&l->edits, &ed->link);
	loop_defer(&l->begin);
}

void netris_cluster_editor_drop(struct netris_edit *ed)
{
	list_remove(&ed->link);
}

void netris_cluster_editor_saw(struct netris_cluster_editor *l,
			       const struct netris_snapshot *snapshot)
{
	struct map_iter it;

	for (size_t i = 0; i < l->missing.n;) {
		int64_t id = l->missing.v[i];
		bool there = false, exists = false;

		for (size_t k = 0; k < snapshot->nclusters && !there; k++)
			there = netris_has_member(&snapshot->clusters[k], id);
		map_for_each (it, snapshot->machines)
			exists = exists || ((struct netris_machine *)it.value)->id == id;
		if (!there && exists) {
			i++;
			continue;
		}
		ids_drop(&l->missing, id);
		ids_drop(&l->known, id);
	}
	/* Forget a server that is now in a different cluster: another writer moved it, so it is not
	 * lost. */
	for (size_t i = l->known.n; i-- > 0;)
		for (size_t k = 0; k < snapshot->nclusters; k++)
			if (snapshot->clusters[k].id != l->id &&
			    netris_has_member(&snapshot->clusters[k], l->known.v[i])) {
				ids_drop(&l->known, l->known.v[i]);
				break;
			}
}

int64_t netris_cluster_editor_id(const struct netris_cluster_editor *l)
{
	return l->id;
}

struct netris_cluster_editor *netris_cluster_editor_new(struct loop_group *g, struct netris *n,
							int64_t id, const char *name,
							bool (*ours)(int64_t server, void *arg),
							void *arg)
{
	struct netris_cluster_editor *l = mem_new(struct netris_cluster_editor);

	l->group = g;
	l->n = n;
	l->id = id;
	l->name = mem_strdup(name);
	l->ours = ours;
	l->arg = arg;
	list_init(&l->edits);
	loop_defer_init(&l->begin, g, on_begin, l);
	loop_timer_init(&l->again, g, on_again, l);
	return l;
}

void netris_cluster_editor_free(struct netris_cluster_editor *l)
{
	if (!l)
		return;
	netris_cancel(l->request);
	loop_defer_cancel(&l->begin);
	loop_timer_stop(&l->again);
	list_for_each (ed, &l->edits, struct netris_edit, link)
		list_remove(&ed->link);
	free(l->known.v);
	free(l->sent.v);
	free(l->shared.v);
	free(l->missing.v);
	free(l->name);
	free(l);
}
