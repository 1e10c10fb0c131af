/*
 * breaker: circuit breaker. Reads all failures, claims and conditions once, then answers for each
 * scope (image, pool, rack, provider) whether it is paused and since when. Nothing is kept from one
 * loop turn to the next.
 */
#include "controller/claims/breaker.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/approval.h"
#include "controller/core/lookup.h"
#include "controller/core/machine_lists.h"
#include "controller/rules/claim.h"

#define MACHINES 3
#define WINDOW_MS (30 * 60 * 1000)
#define FIRST_MS (10 * 60 * 1000)
#define CAP_MS (2 * 3600 * 1000)
/* Longest time from the failure that trips the breaker until condition LineStopped is written. */
#define LATE_MS (5 * 60 * 1000)
#define ROWS_MAX 64

struct failure {
	int64_t time;
	const char *machine, *reason, *step;
	struct breaker_scope at;
};
struct served {
	int64_t time;
	struct breaker_scope at;
};

enum scope { IMAGE, POOL, RACK, PROVIDER, SCOPES };
static const char *const scope_names[] = {"image", "pool", "rack", "provider"};

/* Result for one scope, cached until the end of the loop turn. */
struct scope_result {
	enum scope scope;
	/* name: name of the scope; pool, provider: the objects whose condition limits which
	 * failures count (since_of()) */
	const char *name, *pool, *provider;
	bool stopped, on_its_way;
	/* Wall ms of the oldest of the failures that tripped the breaker */
	int64_t begin;
	/* The only tenant that has had claims in the scope, if that tenant may have caused all the
	 * failures; else NULL */
	const char *tenant;
	/* Wall ms from which a claim of a tenant other than `tenant` is allowed as a trial; 0: it
	 * is allowed now. For `tenant` itself, stop.next applies. */
	int64_t next;
	struct breaker_cause stop;
};

struct breaker {
	const struct context *c;
	struct arena *a;
	int64_t now;
	/* Sorted by time */
	struct failure *failures;
	size_t nfailures, failures_cap;
	struct served *served;
	size_t nserved, served_cap;
	/* Scopes of the claims in progress */
	struct breaker_scope *coming;
	size_t ncoming, coming_cap;
	/* Scopes of the claims that wait for their tenant's approval (core/approval.h) */
	struct breaker_scope *waiting;
	size_t nwaiting, waiting_cap;
	struct scope_result *found;
	size_t nfound, found_cap;
};

static bool is_one_of(const char *reason, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(reason, list[i]))
			return true;
	return false;
}

bool breaker_is_tenants(const char *reason)
{
	static const char *const list[] = {"TenantGone", "TenantCAInvalid", "TenantUnreachable"};

	return is_one_of(reason, list, sizeof(list) / sizeof(list[0]));
}

/* --- reading ---------------------------------------------------------------------------------- */

static void *room(struct arena *a, void *v, size_t n, size_t *cap, size_t size)
{
	void *to;

	if (n < *cap)
		return v;
	*cap = *cap ? *cap * 2 : 16;
	to = arena_calloc(a, *cap, size);
	if (n)
		memcpy(to, v, n * size);
	return to;
}

const char *breaker_rack(const struct context *c, const struct machine *m)
{
	const char *name = m->spec.provider_ref.name;
	const struct provider_object *p =
		name ? CTX_GET(c, OBJECT_PROVIDER, provider_object, name) : NULL;

	return p && p->spec.limits.per_domain.key
		       ? labels_get(&m->meta.labels, p->spec.limits.per_domain.key)
		       : NULL;
}

static bool read_machine(const struct machine *m, void *arg)
{
	struct breaker *l = arg;

	for (size_t i = 0; i < m->status.failures.n; i++) {
		const struct machine_failure *f = &m->status.failures.v[i];

		/* Skip failures that a wipe found: they have no claim. Skip a tenant's own
		 * failures, too. */
		if (!f->claim || !f->reason || breaker_is_tenants(f->reason))
			continue;
		l->failures = room(l->a, l->failures, l->nfailures, &l->failures_cap,
				   sizeof(*l->failures));
		l->failures[l->nfailures++] = (struct failure){
			.time = f->time,
			.machine = m->meta.name,
			.reason = f->reason,
			.step = f->step,
			.at = {f->pool, f->image, m->spec.provider_ref.name, breaker_rack(l->c, m),
			       f->tenant},
		};
	}
	return true;
}

static void add_waiting_claim(struct breaker *l, const struct breaker_scope *at)
{
	l->waiting = room(l->a, l->waiting, l->nwaiting, &l->waiting_cap, sizeof(*l->waiting));
	l->waiting[l->nwaiting++] = *at;
	l->nfound = 0;
}

void breaker_claim(struct breaker *l, const struct node_claim *n)
{
	const struct condition *up = condition_get(&n->status.conditions, "Initialized");
	const struct machine *m = machine_named_by(l->c, n);
	const struct machine_operation *op = m ? m->status.operation : NULL;
	const struct breaker_scope at = {n->spec.node_pool_ref.name, claim_image_id(&n->spec.image),
					 m ? m->spec.provider_ref.name : NULL,
					 m ? breaker_rack(l->c, m) : NULL,
					 n->spec.virtual_cluster_ref.name};
	const char *reason, *message;
	bool failed;

	if (up && up->status == CONDITION_TRUE) {
		l->served = room(l->a, l->served, l->nserved, &l->served_cap, sizeof(*l->served));
		l->served[l->nserved++] = (struct served){up->last_transition_time, at};
		l->nfound = 0;
		return;
	}
	(void)claim_phase(n, machine_of_claim(l->c, n), &failed, &reason, &message);
	/* Do not count a failed or deleted claim as a trial in progress. Do not count a claim
	 * that waits for an operator's approval either, because it proves nothing and may wait
	 * for days. */
	if (failed || str_eq(n->status.phase, "Failed") || n->meta.deletion_timestamp ||
	    (op && op->waiting_for == WAITING_APPROVAL && machine_of_claim(l->c, n)))
		return;
	if (/* mutant: breaker-held-by-waiting */ approval_admits(l->c, n))
		breaker_sent(l, &at);
	else if (approval_of(l->c, n).state == APPROVAL_WAITING)
		add_waiting_claim(l, &at);
}

static bool read_claim(const struct kube_entry *en, void *arg)
{
	breaker_claim(arg, en->object);
	return true;
}

static int by_time(const void *x, const void *y)
{
	const struct failure *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return strcmp(a->machine, b->machine);
}

struct breaker *breaker_read(const struct context *c, struct arena *a)
{
	struct breaker *l = arena_new_obj(a, struct breaker);

	l->c = c;
	l->a = a;
	l->now = loop_wall(c->loop);
	machine_lists_each(c, MACHINES_FAILED, read_machine, l);
	if (!l->nfailures)
		return l;
	qsort(l->failures, l->nfailures, sizeof(*l->failures), by_time);
	kube_cache_each(c->cache[OBJECT_NODE_CLAIM], read_claim, l);
	return l;
}

void breaker_sent(struct breaker *l, const struct breaker_scope *p)
{
	l->coming = room(l->a, l->coming, l->ncoming, &l->coming_cap, sizeof(*l->coming));
	l->coming[l->ncoming++] = *p;
	l->nfound = 0;
}

/* --- since when failures count ---------------------------------------------------------------- */

static int64_t since_of(const struct breaker *l, const struct object_meta *m,
			const struct conditions *cs)
{
	const struct condition *c = condition_get(cs, BREAKER_CONDITION);
	const char *asked = labels_get(&m->annotations, REQUEST_RESUME);
	int64_t resumed = 0, since = 0;

	/* Ignore a `drover resume` dated in the future: until that time it would keep the breaker
	 * closed, whatever fails. */
	if (asked && (!str_to_time(asked, &resumed) || resumed > l->now + LATE_MS))
		resumed = 0;
	if (c && c->status != CONDITION_TRUE)
		since = c->last_transition_time;
	else if (c && c->observed_generation < m->generation)
		since = l->now;
	else if (c)
		since = c->last_transition_time - WINDOW_MS - LATE_MS;
	return since > resumed ? since : resumed;
}

int64_t breaker_since(const struct breaker *l, const char *pool, const char *provider)
{
	const struct node_pool *p = pool ? CTX_GET(l->c, OBJECT_NODE_POOL, node_pool, pool) : NULL;
	const struct provider_object *r =
		provider ? CTX_GET(l->c, OBJECT_PROVIDER, provider_object, provider) : NULL;
	int64_t a = p ? since_of(l, &p->meta, &p->status.conditions) : 0;
	int64_t b = r ? since_of(l, &r->meta, &r->status.conditions) : 0;

	return a > b ? a : b;
}

/* --- scopes ----------------------------------------------------------------------------------- */

static bool in_scope(const struct scope_result *s, const struct breaker_scope *p)
{
	switch (s->scope) {
	case IMAGE:
		return str_eq(p->image, s->name);
	case POOL:
		return str_eq(p->pool, s->name);
	/* Compare the provider as well, because two providers may use the same rack names. */
	case RACK:
		return str_eq(p->rack, s->name) && str_eq(p->provider, s->provider);
	case PROVIDER:
		return str_eq(p->provider, s->name);
	case SCOPES:
		break;
	}
	return false;
}

/* Failures for one reason: the newest failure on each of the MACHINES machines that failed last. */
struct reason_failures {
	const char *reason;
	/* Newest first; NULL if fewer machines failed */
	const struct failure *last[MACHINES];
};

static struct reason_failures *row_of(struct reason_failures *rows, size_t *n, const char *reason)
{
	for (size_t i = 0; i < *n; i++)
		if (str_eq(rows[i].reason, reason))
			return &rows[i];
	/* Ignore further reasons. drover itself has fewer, but a status edited by hand may have
	 * more. */
	if (*n == ROWS_MAX)
		return NULL;
	rows[*n] = (struct reason_failures){.reason = reason};
	return &rows[(*n)++];
}

static void add_to_row(struct reason_failures *r, const struct failure *f)
{
	size_t at = 0;

	while (at < MACHINES - 1 && r->last[at] && !str_eq(r->last[at]->machine, f->machine))
		at++;
	memmove(r->last + 1, r->last, at * sizeof(struct failure *));
	r->last[0] = f;
}

/* True if the tenant may have caused a failure in this step, by answers of its API server or by
 * changes of its Node. */
static bool is_of_tenants_making(const char *step)
{
	static const char *const steps[] = {"booting", "joining", "gating"};

	return is_one_of(step, steps, sizeof(steps) / sizeof(steps[0]));
}

static bool of_another(const struct scope_result *s, const struct breaker_scope *at,
		       const char *tenant)
{
	return at->tenant && !str_eq(at->tenant, tenant) && in_scope(s, at);
}

/* True if tenants other than this one have had claims in the scope. Claims in progress do not
 * count. If a claim of another tenant failed for the same reason later than `after`, that claim
 * does not count either, because its failure indicates that this tenant is not the cause. after:
 * this tenant's last failure; NULL: no claim is left out for its failure. */
static bool is_shared(const struct breaker *l, const struct scope_result *s, const char *tenant,
		      const struct failure *after)
{
	bool any = false;

	for (size_t i = 0; i < l->nserved && !any; i++)
		any = of_another(s, &l->served[i].at, tenant);
	for (size_t i = 0; i < l->nfailures && !any; i++) {
		const struct failure *f = &l->failures[i];
		bool alike = after && f->time > after->time && str_eq(f->reason, after->reason);

		any = !alike && of_another(s, &f->at, tenant);
	}
	return any;
}

/* Returns the tenant that may have caused all three failures; NULL: there is none. */
static const char *tenant_of(const struct reason_failures *r)
{
	const char *tenant = r->last[0]->at.tenant;

	for (size_t i = 0; i < MACHINES; i++)
		if (!r->last[i] || !is_of_tenants_making(r->last[i]->step) ||
		    !str_eq(r->last[i]->at.tenant, tenant))
			return NULL;
	return tenant;
}

static bool is_one_tenants(const struct breaker *l, const struct scope_result *s,
			   const struct reason_failures *r)
{
	const char *tenant = tenant_of(r);

	return tenant && is_shared(l, s, tenant, r->last[0]);
}

/* Returns the oldest failure in row r if the failures of the row trip the breaker; NULL: they do
 * not. */
static const struct failure *stops(const struct breaker *l, const struct scope_result *s,
				   const struct reason_failures *r)
{
	const struct failure *newest = r->last[0], *oldest = r->last[MACHINES - 1];
	bool several = s->scope == IMAGE || s->scope == POOL;

	if (s->scope == IMAGE && str_eq(newest->reason, "ImageMismatch"))
		return newest;
	if (!oldest || newest->time - oldest->time > WINDOW_MS)
		return NULL;
	for (size_t i = 1; !several && i < MACHINES; i++)
		several = !str_eq(r->last[i]->at.pool, newest->at.pool);
	return several && !is_one_tenants(l, s, r) ? oldest : NULL;
}

static int64_t wait_of(unsigned doublings)
{
	int64_t ms = FIRST_MS;

	while (doublings-- && ms < CAP_MS)
		ms *= 2;
	return ms < CAP_MS ? ms : CAP_MS;
}

/* Returns the number of machines that have failed for the breaker's reason, including those that
 * tripped it. */
static int64_t machines_with(const struct breaker *l, const struct scope_result *s)
{
	int64_t n = 0;

	for (size_t i = 0; i < l->nfailures; i++) {
		const struct failure *f = &l->failures[i];
		bool again = false;

		if (f->time < s->begin || !in_scope(s, &f->at) ||
		    !str_eq(f->reason, s->stop.reason))
			continue;
		for (size_t k = i; k-- > 0 && l->failures[k].time >= s->begin && !again;)
			again = str_eq(l->failures[k].machine, f->machine) &&
				str_eq(l->failures[k].reason, f->reason) &&
				in_scope(s, &l->failures[k].at);
		n += !again;
	}
	return n;
}

static int64_t last_served(const struct breaker *l, const struct scope_result *s)
{
	int64_t last = 0;

	for (size_t i = 0; i < l->nserved; i++)
		if (in_scope(s, &l->served[i].at) && l->served[i].time > last)
			last = l->served[i].time;
	return last;
}

static void find(struct breaker *l, struct scope_result *s)
{
	int64_t since = breaker_since(l, s->pool,
				      s->scope == POOL || s->scope == IMAGE ? NULL : s->provider),
		served = last_served(l, s);
	struct reason_failures rows[ROWS_MAX];
	size_t nrows = 0;
	unsigned doublings = 0;

	if (served > since)
		since = served;
	for (size_t i = 0; i < l->nfailures; i++) {
		const struct failure *f = &l->failures[i], *oldest;
		struct reason_failures *r;

		if (f->time <= since || !in_scope(s, &f->at))
			continue;
		if (s->stopped) {
			/* The breaker has tripped already. Each later failure, whatever its
			 * reason, restarts the time until the next trial; a failed trial doubles
			 * that time. */
			if (!str_eq(f->at.tenant, s->tenant))
				s->tenant = NULL;
			if (f->time >= s->stop.next)
				doublings++;
			s->stop.next = f->time + wait_of(doublings);
			continue;
		}
		r = row_of(rows, &nrows, f->reason);
		if (!r)
			continue;
		add_to_row(r, f);
		oldest = stops(l, s, r);
		if (!oldest)
			continue;
		s->stopped = true;
		s->begin = oldest->time;
		s->tenant = tenant_of(r);
		s->next = f->time + FIRST_MS;
		s->stop = (struct breaker_cause){.scope = scope_names[s->scope],
						 .name = s->name,
						 .reason = r->reason,
						 .next = f->time + FIRST_MS};
	}
	if (!s->stopped)
		return;
	s->stop.machines = machines_with(l, s);
	for (size_t i = 0; i < l->ncoming; i++)
		s->on_its_way |= in_scope(s, &l->coming[i]);
	if (s->stop.next <= l->now)
		s->stop.next = 0;
	if (s->next <= l->now)
		s->next = 0;
}

static const struct scope_result *ask(struct breaker *l, enum scope scope, const char *name,
				      const char *pool, const char *provider)
{
	static const struct scope_result none;
	struct scope_result *s;

	if (!name || !l->nfailures)
		return &none;
	for (size_t i = 0; i < l->nfound; i++) {
		s = &l->found[i];
		if (s->scope == scope && str_eq(s->name, name) && str_eq(s->pool, pool) &&
		    str_eq(s->provider, provider))
			return s;
	}
	l->found = room(l->a, l->found, l->nfound, &l->found_cap, sizeof(*l->found));
	s = &l->found[l->nfound++];
	*s = (struct scope_result){
		.scope = scope, .name = name, .pool = pool, .provider = provider};
	find(l, s);
	return s;
}

static const struct scope_result *ask_place(struct breaker *l, enum scope scope,
					    const struct breaker_scope *p)
{
	switch (scope) {
	case IMAGE:
		return ask(l, IMAGE, p->image, p->pool, NULL);
	case POOL:
		return ask(l, POOL, p->pool, p->pool, NULL);
	case RACK:
		return ask(l, RACK, p->rack, NULL, p->provider);
	case PROVIDER:
	case SCOPES:
		break;
	}
	return ask(l, PROVIDER, p->provider, NULL, p->provider);
}

/* Returns the wall ms from which the tenant may make a trial; 0: now. tenant NULL: not known. */
static int64_t next_of(const struct scope_result *s, const char *tenant)
{
	return s->tenant && tenant && !str_eq(tenant, s->tenant) ? s->next : s->stop.next;
}

/* True if a claim of the tenant in scope s waits for its approval. It is the tenant's trial, once
 * it is approved. */
static bool has_waiting(const struct breaker *l, const struct scope_result *s, const char *tenant)
{
	for (size_t i = 0; i < l->nwaiting; i++)
		if (str_eq(l->waiting[i].tenant, tenant) && in_scope(s, &l->waiting[i]))
			return true;
	return false;
}

bool breaker_admits(struct breaker *l, const struct breaker_scope *p, struct breaker_cause *why)
{
	bool open = true;

	*why = (struct breaker_cause){0};
	for (enum scope k = IMAGE; k < SCOPES; k++) {
		const struct scope_result *s = ask_place(l, k, p);
		const int64_t next = next_of(s, p->tenant);
		bool waits, held;

		if (!s->stopped)
			continue;
		waits = !s->on_its_way && has_waiting(l, s, p->tenant);
		held = next || s->on_its_way || waits;
		/* Report the scope that pauses the claim longest. If none does, report the
		 * narrowest scope in which the claim is a trial. */
		if (!why->scope || (held && (open || next > why->next))) {
			*why = s->stop;
			why->next = next;
			why->waits = waits;
		}
		open &= !held;
	}
	return open;
}

bool breaker_stops_pool(struct breaker *l, const struct node_pool *p, struct breaker_cause *why)
{
	const struct scope_result *s = ask(l, POOL, p->meta.name, p->meta.name, NULL);

	for (size_t i = 0; !s->stopped && i < p->spec.template_.spec.images.n; i++)
		s = ask(l, IMAGE, claim_image_id(&p->spec.template_.spec.images.v[i]), p->meta.name,
			NULL);
	if (s->stopped)
		*why = s->stop;
	return s->stopped;
}

bool breaker_stops_images(struct breaker *l, const struct node_pool *p, struct breaker_cause *why)
{
	const struct scope_result *s;

	for (size_t i = 0; i < p->spec.template_.spec.images.n; i++) {
		s = ask(l, IMAGE, claim_image_id(&p->spec.template_.spec.images.v[i]), p->meta.name,
			NULL);
		if (!s->stopped)
			return false;
		*why = s->stop;
	}
	return p->spec.template_.spec.images.n;
}

bool breaker_stops_provider(struct breaker *l, const struct provider_object *p,
			    struct breaker_cause *why)
{
	const struct scope_result *s = ask(l, PROVIDER, p->meta.name, NULL, p->meta.name);

	for (size_t i = 0; !s->stopped && i < l->nfailures; i++)
		if (str_eq(l->failures[i].at.provider, p->meta.name))
			s = ask(l, RACK, l->failures[i].at.rack, NULL, p->meta.name);
	if (s->stopped)
		*why = s->stop;
	return s->stopped;
}

/* --- list of paused scopes -------------------------------------------------------------------- */

static bool ask_pool_images(const struct kube_entry *en, void *arg)
{
	const struct node_pool *p = en->object;

	for (size_t i = 0; i < p->spec.template_.spec.images.n; i++)
		(void)ask(arg, IMAGE, claim_image_id(&p->spec.template_.spec.images.v[i]),
			  p->meta.name, NULL);
	return true;
}

/* Evaluates the scopes of all failures younger than the longest wait, and of all claims in
 * progress, also those that wait for an approval. Older failures pause a scope only while a claim
 * is in progress there. */
static void ask_all(struct breaker *l)
{
	kube_cache_each(l->c->cache[OBJECT_NODE_POOL], ask_pool_images, l);
	for (size_t i = 0; i < l->nfailures; i++)
		for (enum scope k = POOL; k < SCOPES && l->failures[i].time > l->now - CAP_MS; k++)
			(void)ask_place(l, k, &l->failures[i].at);
	for (size_t i = 0; i < l->ncoming; i++)
		for (enum scope k = POOL; k < SCOPES; k++)
			(void)ask_place(l, k, &l->coming[i]);
	for (size_t i = 0; i < l->nwaiting; i++)
		for (enum scope k = POOL; k < SCOPES; k++)
			(void)ask_place(l, k, &l->waiting[i]);
}

static struct breaker_scope place_of(const struct scope_result *s)
{
	return (struct breaker_scope){.pool = s->pool,
				      .image = s->scope == IMAGE ? s->name : NULL,
				      .provider = s->provider,
				      .rack = s->scope == RACK ? s->name : NULL};
}

static void add_held(struct breaker_paused *v, size_t *n, const struct scope_result *s,
		     const char *tenant, bool others, int64_t next)
{
	if (!next && !s->on_its_way)
		return;
	v[*n] = (struct breaker_paused){place_of(s), tenant, others, s->stop};
	v[(*n)++].why.next = next;
}

/* Adds the tenants that may make no other trial, because one waits for its approval. */
static void add_waiting(const struct breaker *l, struct breaker_paused *v, size_t *n,
			const struct scope_result *s)
{
	const size_t first = *n;

	for (size_t i = 0; i < l->nwaiting && !s->on_its_way; i++) {
		const char *tenant = l->waiting[i].tenant;
		size_t k = first;

		while (k < *n && !str_eq(v[k].tenant, tenant))
			k++;
		if (k < *n || !tenant || !in_scope(s, &l->waiting[i]) || next_of(s, tenant))
			continue;
		v[*n] = (struct breaker_paused){place_of(s), tenant, false, s->stop};
		v[*n].why.next = 0;
		v[(*n)++].why.waits = true;
	}
}

size_t breaker_list(struct breaker *l, struct breaker_paused **v)
{
	size_t n = 0;

	if (!l->nfailures)
		return 0;
	ask_all(l);
	*v = arena_calloc(l->a, l->nfound * (2 + l->nwaiting) + 1, sizeof(**v));
	for (size_t i = 0; i < l->nfound; i++) {
		const struct scope_result *s = &l->found[i];

		if (!s->stopped)
			continue;
		add_held(*v, &n, s, s->tenant, false, s->stop.next);
		if (s->tenant)
			add_held(*v, &n, s, s->tenant, true, s->next);
		add_waiting(l, *v, &n, s);
	}
	return n;
}

/* --- machines --------------------------------------------------------------------------------- */

static bool blames(struct breaker *l, const struct machine *m, const struct machine_failure *f)
{
	/* With these reasons the claim cannot work on any machine, so the failure is never the
	 * machine's fault. */
	static const char *const never[] = {"ImageMismatch", "ConfigInvalid", "StartupTaintsExist"};
	const struct breaker_scope p = {f->pool, f->image, m->spec.provider_ref.name,
					breaker_rack(l->c, m), f->tenant};

	if (!f->reason || breaker_is_tenants(f->reason) ||
	    is_one_of(f->reason, never, sizeof(never) / sizeof(never[0])) ||
	    f->time <= breaker_since(l, f->pool, p.provider))
		return true;
	for (enum scope k = IMAGE; k < SCOPES; k++) {
		const struct scope_result *s = ask_place(l, k, &p);

		if (s->stopped && f->time >= s->begin && str_eq(s->stop.reason, f->reason))
			return true;
	}
	return false;
}

/* True if failure number `at` may have followed from an earlier failure of the same claim. */
static bool follows(const struct machine *m, size_t at)
{
	for (size_t i = at; i-- > 0;)
		if (m->status.failures.v[i].claim)
			return str_eq(m->status.failures.v[i].claim,
				      m->status.failures.v[at].claim);
	return false;
}

bool breaker_machine_worn(const struct context *c, const struct machine *m)
{
	OWN(arena) a = arena_new();
	struct breaker *l = breaker_read(c, a);
	struct scope_result pool = {.scope = POOL};
	const char *tenant = NULL;
	/* True as long as one tenant may have caused all failures counted so far */
	bool one = true;
	unsigned n = 0;

	for (size_t i = m->status.failures.n; i-- > 0 && n < MACHINES;) {
		const struct machine_failure *f = &m->status.failures.v[i];

		if (str_eq(f->reason, BREAKER_WORN))
			break;
		if (!f->claim || follows(m, i) || blames(l, m, f))
			continue;
		one &= f->tenant && is_of_tenants_making(f->step) &&
		       (!n || str_eq(f->tenant, tenant));
		tenant = f->tenant;
		pool.name = f->pool;
		n++;
	}
	return n == MACHINES && !(one && is_shared(l, &pool, tenant, NULL));
}
