#include "providers/netris_make.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * netris_make: creates a tenant's VPC and server cluster if they are missing, in this order.
 *
 *   all lists at once --> POST VPC (--> list) --> POST cluster --> done
 */
static const enum netris_kind looked_at[] = {NETRIS_SITE,   NETRIS_TEMPLATE, NETRIS_TENANT,
					     NETRIS_SERVER, NETRIS_VPC,	     NETRIS_CLUSTER};
#define VPCS 4 /* Index of NETRIS_VPC in looked_at. */
#define LISTS (sizeof(looked_at) / sizeof(*looked_at))

struct netris_make {
	struct netris *n;
	struct netris_make_spec s;
	struct make_read {
		struct netris_make *m;
		enum netris_kind kind;
		/* Request in flight; NULL: none */
		struct netris_request *q;
	} reads[LISTS];
	struct netris_request *post;
	/* True: the creation of a VPC was requested, whether or not an answer came */
	bool vpc_asked;
	int64_t site, template_, admin, vpc, cluster;
	json_t *servers;
	/* First name in host_servers that does not exist at the controller; NULL: none */
	const char *no_host;
};

static void on_list(struct netris_objects *o, const struct err *e, void *arg);
static void on_posted(struct netris_objects *o, const struct err *e, void *arg);

static void stop_reads(struct netris_make *m)
{
	for (size_t i = 0; i < LISTS; i++) {
		netris_cancel(m->reads[i].q);
		m->reads[i].q = NULL;
	}
}

void netris_make_free(struct netris_make *m)
{
	if (!m)
		return;
	stop_reads(m);
	netris_cancel(m->post);
	json_decref(m->servers);
	free(m);
}

static void end(struct netris_make *m, const struct err *e)
{
	struct err why;

	if (e) {
		why = *e;
		why.scope = ERR_PROVIDER;
	}
	m->s.done(e ? &why : NULL, m->s.arg);
}

static void list(struct netris_make *m, size_t i)
{
	struct make_read *r = &m->reads[i];
	const struct netris_call c = {.done = on_list, .arg = r};

	*r = (struct make_read){m, looked_at[i], NULL};
	r->q = netris_list(m->n, r->kind, &c);
}

static bool may_post(void *arg)
{
	const struct netris_make *m = arg;

	return m->s.may_act(m->s.arg);
}

static void post(struct netris_make *m, enum netris_kind kind, json_t *body)
{
	struct netris_call c = {
		.done = on_posted, .may_act = m->s.may_act ? may_post : NULL, .arg = m};
	char tag[256];

	str_format(tag, sizeof(tag), NETRIS_MADE_BY "%.200s", m->s.prefix);
	json_object_set_new(body, "tags", json_pack("[s]", tag));
	m->post = netris_change(m->n, "POST", kind, 0, body, &c);
}

static json_t *ref(int64_t id, const char *name)
{
	return json_pack("{s:I, s:s}", "id", (json_int_t)id, "name", name);
}

static void post_vpc(struct netris_make *m)
{
	m->vpc_asked = true;
	post(m, NETRIS_VPC,
	     json_pack("{s:s, s:o, s:[]}", "name", m->s.name, "adminTenant",
		       ref(m->admin, m->s.admin), "guestTenant"));
}

static void post_cluster(struct netris_make *m)
{
	json_t *servers = m->servers;

	m->servers = NULL;
	post(m, NETRIS_CLUSTER,
	     json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", m->s.name, "admin",
		       ref(m->admin, m->s.admin), "site", ref(m->site, m->s.site), "vpc",
		       ref(m->vpc, m->s.name), "srvClusterTemplate",
		       ref(m->template_, m->s.template_), "servers", servers));
}

/* Returns the ID of the object named `name`; 0: there is none. */
static int64_t find(enum netris_kind kind, const struct netris_objects *o, const char *name)
{
	for (size_t i = 0; i < o->n; i++) {
		const char *is = NULL;
		int64_t id = 0;

		switch (kind) {
		case NETRIS_SITE:
			is = o->site[i].name;
			id = o->site[i].id;
			break;
		case NETRIS_TEMPLATE:
			is = o->template_[i].name;
			id = o->template_[i].id;
			break;
		case NETRIS_TENANT:
			is = o->tenant[i].name;
			id = o->tenant[i].id;
			break;
		case NETRIS_VPC:
			is = o->vpc[i].name;
			id = o->vpc[i].id;
			break;
		case NETRIS_CLUSTER:
			is = o->cluster[i].name;
			id = o->cluster[i].id;
			break;
		case NETRIS_SERVER:
			is = o->device[i].name;
			id = o->device[i].id;
			break;
		case NETRIS_VERSION:
		case NETRIS_VNET:
		case NETRIS_SWITCH:
		case NETRIS_LINK:
		case NETRIS_PORT:
		case NETRIS_SUBNET:
		case NETRIS_L4LB:
		case NETRIS_KINDS:
			break;
		}
		if (str_eq(is, name))
			return id;
	}
	return 0;
}

static void absent(struct netris_make *m, enum netris_kind kind, const char *field,
		   const char *name)
{
	struct err e;

	err_note(&e, ERR_NOT_FOUND, 0,
		 "network.netris.%s: Netris shows this user no %s called \"%.80s\"", field,
		 netris_kinds[kind].name, name);
	end(m, &e);
}

static void find_hosts(struct netris_make *m, const struct netris_objects *o)
{
	m->servers = json_array();
	for (size_t i = 0; m->s.host_servers && m->s.host_servers[i]; i++) {
		const char *name = m->s.host_servers[i];
		int64_t id = find(NETRIS_SERVER, o, name);

		if (!id && !m->no_host)
			m->no_host = name;
		json_array_append_new(m->servers, json_pack("{s:I, s:s, s:b}", "id", (json_int_t)id,
							    "name", name, "shared", 1));
	}
}

/* Makes the next step: creates the next object, reports a missing one, or ends. */
static void go_on(struct netris_make *m)
{
	struct err lost;

	if (m->cluster) {
		end(m, NULL);
	} else if (!m->site) {
		absent(m, NETRIS_SITE, "site", m->s.site);
	} else if (!m->template_) {
		absent(m, NETRIS_TEMPLATE, "template", m->s.template_);
	} else if (!m->admin) {
		absent(m, NETRIS_TENANT, "admin", m->s.admin);
	} else if (m->no_host) {
		absent(m, NETRIS_SERVER, "hostServers", m->no_host);
	} else if (m->vpc) {
		post_cluster(m);
	} else if (!m->vpc_asked) {
		post_vpc(m);
	} else {
		err_note(&lost, ERR_UNAVAILABLE, 0, "VPC %.80s was created, but is not listed yet",
			 m->s.name);
		end(m, &lost);
	}
}

/* Handles the answer to a POST. Reads the list of VPCs if the answer does not contain the ID of the
 * new VPC: some releases omit it, and an answer may be lost. */
static void on_posted(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_make *m = arg;

	m->post = NULL;
	if (m->vpc || (e && netris_refused(e))) {
		end(m, e);
	} else if (!e && o->id) {
		m->vpc = o->id;
		go_on(m);
	} else {
		list(m, VPCS);
	}
}

static void on_list(struct netris_objects *o, const struct err *e, void *arg)
{
	struct make_read *r = arg;
	struct netris_make *m = r->m;

	r->q = NULL;
	if (e) {
		stop_reads(m);
		end(m, e);
		return;
	}
	if (r->kind == NETRIS_SITE)
		m->site = find(r->kind, o, m->s.site);
	else if (r->kind == NETRIS_TEMPLATE)
		m->template_ = find(r->kind, o, m->s.template_);
	else if (r->kind == NETRIS_TENANT)
		m->admin = find(r->kind, o, m->s.admin);
	else if (r->kind == NETRIS_SERVER)
		find_hosts(m, o);
	else
		*(r->kind == NETRIS_VPC ? &m->vpc : &m->cluster) = find(r->kind, o, m->s.name);
	for (size_t i = 0; i < LISTS; i++)
		if (m->reads[i].q)
			return;
	go_on(m);
}

struct netris_make *netris_make(struct netris *n, const struct netris_make_spec *s)
{
	struct netris_make *m = mem_new(struct netris_make);

	m->n = n;
	m->s = *s;
	for (size_t i = 0; i < LISTS; i++)
		list(m, i);
	return m;
}
