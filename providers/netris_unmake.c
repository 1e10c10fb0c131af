#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/netris_make.h"

/*
 * netris_unmake: removes a cluster and its VPC, in this order.
 *
 *   clusters --> DELETE --> clusters --> VPCs --> DELETE --> VPCs --> done
 *
 * The answer to a DELETE does not count, only the list that is read afterwards does.
 * Tests: tests/contract/test_netris_fabric.c
 */
#define TRIES 2

struct netris_unmake {
	struct netris *n;
	struct netris_make_spec s;
	struct netris_request *request;
	/* Kind of the object that is being removed: first the cluster, then the VPC */
	enum netris_kind kind;
	unsigned tries;
	/* Error of the last DELETE; kind ERR_NONE: success */
	struct err err;
};

static void on_list(struct netris_objects *o, const struct err *e, void *arg);

static void end(struct netris_unmake *m, const struct err *e)
{
	struct err why;

	if (e) {
		why = *e;
		why.scope = ERR_PROVIDER;
	}
	m->s.done(e ? &why : NULL, m->s.arg);
}

static void list(struct netris_unmake *m, enum netris_kind kind)
{
	const struct netris_call c = {.done = on_list, .arg = m};

	if (m->kind != kind)
		m->tries = 0;
	m->kind = kind;
	m->request = netris_list(m->n, kind, &c);
}

static void on_deleted(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_unmake *m = arg;

	(void)o;
	m->request = NULL;
	err_clear(&m->err);
	if (e)
		m->err = *e;
	if (e && netris_refused(e) && e->kind != ERR_NOT_FOUND)
		end(m, e);
	else
		list(m, m->kind);
}

static bool may_delete(void *arg)
{
	const struct netris_unmake *m = arg;

	return m->s.may_act(m->s.arg);
}

static void delete_one(struct netris_unmake *m, int64_t id)
{
	const struct netris_call c = {
		.done = on_deleted, .may_act = m->s.may_act ? may_delete : NULL, .arg = m};
	struct err e = m->err;

	if (m->tries++ < TRIES) {
		m->request = netris_change(m->n, "DELETE", m->kind, id, NULL, &c);
		return;
	}
	if (e.kind == ERR_NONE)
		err_note(&e, ERR_UNAVAILABLE, 0, "%s %.80s was deleted, but is still listed",
			 netris_kinds[m->kind].name, m->s.name);
	end(m, &e);
}

static bool is_ours(const struct netris_unmake *m, const struct netris_texts *tags)
{
	char tag[256];

	str_format(tag, sizeof(tag), NETRIS_MADE_BY "%.200s", m->s.prefix);
	for (size_t i = 0; i < tags->n; i++)
		if (str_eq(tags->v[i], tag))
			return true;
	return false;
}

/* True if the cluster must stay: it contains a server that is not known to be shared, or does not
 * report its servers. */
static bool is_used(const struct netris_cluster *c)
{
	bool used = !c->servers.said;

	for (size_t i = 0; i < c->servers.n; i++)
		used = used || c->servers.v[i].shared != NETRIS_YES;
	return used;
}

/* Handles the answer to the read of the cluster, which was read singly because lists may omit
 * members. Deletes the cluster if drover created it and it contains only shared servers. */
static void on_cluster(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_unmake *m = arg;
	struct err used;

	m->request = NULL;
	if (e && e->kind == ERR_NOT_FOUND) {
		list(m, NETRIS_VPC);
	} else if (e) {
		end(m, e);
	} else if (/* mutant: netris-not-ours */ !is_ours(m, &o->cluster->tags)) {
		end(m, NULL);
	} else if (is_used(o->cluster)) {
		err_note(&used, ERR_CONFLICT, 0,
			 "server cluster %.80s is not deleted: it still contains servers that are "
			 "not shared",
			 m->s.name);
		end(m, &used);
	} else {
		delete_one(m, o->cluster->id);
	}
}

static void on_list(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_unmake *m = arg;
	const struct netris_call c = {.done = on_cluster, .arg = m};

	m->request = NULL;
	if (e) {
		end(m, e);
		return;
	}
	for (size_t i = 0; i < o->n; i++) {
		if (m->kind == NETRIS_CLUSTER && str_eq(o->cluster[i].name, m->s.name)) {
			m->request = netris_get(m->n, NETRIS_CLUSTER, o->cluster[i].id, &c);
			return;
		}
		if (m->kind == NETRIS_VPC && str_eq(o->vpc[i].name, m->s.name)) {
			if (is_ours(m, &o->vpc[i].tags))
				delete_one(m, o->vpc[i].id);
			else
				end(m, NULL);
			return;
		}
	}
	if (m->kind == NETRIS_CLUSTER)
		list(m, NETRIS_VPC);
	else
		end(m, NULL);
}

struct netris_unmake *netris_unmake(struct netris *n, const struct netris_make_spec *s)
{
	struct netris_unmake *m = mem_new(struct netris_unmake);

	m->n = n;
	m->s = *s;
	m->kind = NETRIS_KINDS;
	list(m, NETRIS_CLUSTER);
	return m;
}

void netris_unmake_free(struct netris_unmake *m)
{
	if (!m)
		return;
	netris_cancel(m->request);
	free(m);
}
