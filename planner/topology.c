#include "planner/topology.h"

struct spread {
	/* Smallest number of pods in a domain, over all domains that the spread counts; INT64_MAX:
	 * there is no such domain. */
	int64_t min;
	/* Number with which a domain's count is compared: min, or 0 if there are fewer domains than
	 * minDomains requires. */
	int64_t floor;
	/* Number of a domain whose count equalled min when min was computed. */
	size_t witness;
	/* Number of domains that count for the spread. */
	size_t domains;
	/* 1 + the value of plan_class.free_domains_known for which min was computed; 0: min is not
	 * computed yet. */
	uint64_t known;
	/* Number of members of inclusion_domains(), in order of insertion, that min already takes
	 * into account. */
	size_t seen;
};

struct topology_cell {
	struct planning *p;
	struct plan_class *c;
	const struct plan_profile *profile;
	/* State of each topology spread of the profile, by index into plan_profile.rules. */
	struct spread *spreads;
	/* Number of domains in which the rule's group counted pods at the last topology_begin(), by
	 * index into plan_profile.rules. */
	size_t *hits;
	uint64_t epoch;
	bool waits, no_new;
	/* listed: affinity rule that restricts the pods to bins in the domains of its group; set if
	 * these are many to search: the key is the hostname or has more than TOPOLOGY_FEW domains.
	 * few: spread rule whose key has at most TOPOLOGY_FEW domains; admitted: bit set of the
	 * domains that this spread admits. */
	const struct topology_rule *listed;
	const struct topology_rule *few;
	uint64_t admitted;
};

static bool is_keyed_spread(const struct topology_rule *r)
{
	return r->it->kind == WORLD_SPREAD && r->group->key >= 0;
}

struct topology_cell *topology_cell(struct planning *p, struct plan_class *c,
				    const struct plan_profile *s)
{
	struct topology_cell *t;

	if (!s->nrules && !s->nbans)
		return NULL;
	t = arena_new_obj(p->a, struct topology_cell);
	*t = (struct topology_cell){.p = p, .c = c, .profile = s, .epoch = 1};
	t->spreads = arena_calloc(p->a, s->nrules + 1, sizeof(*t->spreads));
	t->hits = arena_calloc(p->a, s->nrules + 1, sizeof(*t->hits));
	return t;
}

/* --- present counts --------------------------------------------------------------------------- */

static bool counts_for(const struct plan_class *c, const struct topology_group *g, size_t domain)
{
	return domains_has(&g->nodes->domains, domain) ||
	       (c->free_domains && domains_has(&c->free_domains[g->key], domain));
}

static uint32_t count_in(const struct topology_group *g, size_t domain)
{
	return counts_get(&g->count, (uint32_t)domain);
}

/* Updates *s for the domains that were found since the last call, when bins were added. */
static void see_bins(const struct topology_cell *t, const struct topology_group *g,
		     struct spread *s, const struct domains_seen *there)
{
	for (; s->seen < there->n; s->seen++) {
		const uint32_t d = there->order[s->seen];

		if (t->c->free_domains && domains_has(&t->c->free_domains[g->key], d))
			continue;
		s->domains++;
		if (count_in(g, d) < s->min) {
			s->min = count_in(g, d);
			s->witness = d;
		}
	}
}

/* Finds the domain with the smallest count (the witness) and stores its count in s->min. As long as
 * the witness keeps its count, the minimum is unchanged. When the count of the witness grows, the
 * search for another domain with that minimum continues behind the witness, because all domains
 * before it have grown already. If no such domain is left, the minimum has grown, and all domains
 * are considered again. */
static void find_emptiest(struct topology_cell *t, const struct topology_group *g, struct spread *s)
{
	const struct domains_seen *there = inclusion_domains(t->p, g->nodes);
	const uint64_t known = 1 + t->c->free_domains_known;
	const size_t n = groups_domains(t->p->groups, g->key);

	if (s->known == known) {
		see_bins(t, g, s, there);
		if (s->min == INT64_MAX || count_in(g, s->witness) == s->min)
			return;
		for (size_t d = s->witness + 1; d < n; d++) {
			planning_charge(t->p, t->profile->tenant, 1);
			if (count_in(g, d) == s->min && counts_for(t->c, g, d)) {
				s->witness = d;
				return;
			}
		}
	}
	planning_charge(t->p, t->profile->tenant, n);
	*s = (struct spread){.min = INT64_MAX, .floor = s->floor, .known = known, .seen = there->n};
	for (size_t d = 0; d < n; d++) {
		if (!counts_for(t->c, g, d))
			continue;
		s->domains++;
		if (count_in(g, d) < s->min) {
			s->min = count_in(g, d);
			s->witness = d;
		}
	}
}

static void refresh(struct topology_cell *t, const struct topology_rule *r, struct spread *s)
{
	const int64_t before = s->floor;

	find_emptiest(t, r->group, s);
	s->floor = (int64_t)s->domains < r->it->min_domains ? 0 : s->min;
	t->epoch += s->floor != before;
}

static bool spread_admits(const struct topology_rule *r, const struct spread *s, size_t domain)
{
	return s->min != INT64_MAX &&
	       (int64_t)count_in(r->group, domain) + r->self - s->floor <= r->it->max_skew;
}

static void begin_together(struct topology_cell *t, const struct topology_rule *r, size_t *hits)
{
	if (!r->group->total)
		t->waits |= !r->self;
	else if (r->group->key < 0 || groups_domains(t->p->groups, r->group->key) > TOPOLOGY_FEW)
		t->listed = r;
	t->no_new |= r->group->total && r->group->key < 0;
	t->epoch += r->group->count.n != *hits;
	*hits = r->group->count.n;
}

static void begin_few(struct topology_cell *t, const struct topology_rule *r,
		      const struct spread *s)
{
	const size_t n = groups_domains(t->p->groups, r->group->key);

	if (t->few || n > TOPOLOGY_FEW)
		return;
	t->few = r;
	t->admitted = 0;
	for (size_t d = 0; d < n; d++)
		if (spread_admits(r, s, d))
			t->admitted |= (uint64_t)1 << d;
}

bool topology_begin(struct topology_cell *t)
{
	planning_charge(t->p, t->profile->tenant, 8 + 4 * (t->profile->nrules + t->profile->nbans));
	t->waits = t->no_new = false;
	t->listed = t->few = NULL;
	for (size_t i = 0; i < t->profile->nrules; i++) {
		const struct topology_rule *r = &t->profile->rules[i];

		if (r->it->kind == WORLD_TOGETHER) {
			begin_together(t, r, &t->hits[i]);
		} else if (is_keyed_spread(r)) {
			refresh(t, r, &t->spreads[i]);
			begin_few(t, r, &t->spreads[i]);
		}
	}
	return !t->waits;
}

bool topology_waits(const struct topology_cell *t)
{
	return t->waits;
}

uint64_t topology_epoch(const struct topology_cell *t)
{
	return t->epoch;
}

int topology_few(const struct topology_cell *t, uint64_t *admitted)
{
	*admitted = t->admitted;
	return t->few ? t->few->group->key : -1;
}

/* --- one bin, one new machine ----------------------------------------------------------------- */

/* Returns whether one rule admits a node in this domain: yes, not now (but perhaps later), or
 * never. domain < 0: the node has no label of the rule's key. */
static enum topology_answer answer(const struct topology_rule *r, const struct spread *s,
				   int domain)
{
	const struct topology_group *g = r->group;

	switch (r->it->kind) {
	case WORLD_SPREAD:
		if (g->key < 0)
			return (int64_t)count_in(g, (size_t)domain) + r->self <= r->it->max_skew
				       ? TOPOLOGY_YES
				       : TOPOLOGY_NEVER;
		if (domain < 0)
			return TOPOLOGY_NEVER;
		return spread_admits(r, s, (size_t)domain) ? TOPOLOGY_YES : TOPOLOGY_NOT_NOW;
	case WORLD_TOGETHER:
		if (domain < 0)
			return TOPOLOGY_NEVER;
		/* A group that counts no pod yet admits its first pod in any domain. */
		return !g->total || count_in(g, (size_t)domain) ? TOPOLOGY_YES : TOPOLOGY_NOT_NOW;
	case WORLD_APART:
		break;
	}
	return domain >= 0 && count_in(g, (size_t)domain) ? TOPOLOGY_NEVER : TOPOLOGY_YES;
}

static int domain_of_bin(const struct topology_cell *t, const struct topology_group *g, size_t bin)
{
	return g->key < 0 ? (int)bin : domains_of_bin(t->profile->tenant, g->key, bin);
}

enum topology_answer topology_bin(const struct topology_cell *t, size_t bin)
{
	enum topology_answer all = TOPOLOGY_YES;

	planning_charge(t->p, t->profile->tenant, t->profile->nrules + t->profile->nbans);
	for (size_t i = 0; i < t->profile->nbans; i++) {
		const int d = domain_of_bin(t, t->profile->bans[i], bin);

		if (d >= 0 && count_in(t->profile->bans[i], (size_t)d))
			return TOPOLOGY_NEVER;
	}
	for (size_t i = 0; i < t->profile->nrules && all != TOPOLOGY_NEVER; i++) {
		const struct topology_rule *r = &t->profile->rules[i];
		const enum topology_answer one =
			answer(r, &t->spreads[i], domain_of_bin(t, r->group, bin));

		all = one > all ? one : all;
	}
	return all;
}

bool topology_new_ok(const struct topology_cell *t, const int *domains)
{
	if (t->waits || t->no_new)
		return false;
	planning_charge(t->p, t->profile->tenant, t->profile->nrules + t->profile->nbans);
	for (size_t i = 0; i < t->profile->nbans; i++) {
		const struct topology_group *g = t->profile->bans[i];

		if (g->key >= 0 && domains[g->key] >= 0 && count_in(g, (size_t)domains[g->key]))
			return false;
	}
	for (size_t i = 0; i < t->profile->nrules; i++) {
		const struct topology_rule *r = &t->profile->rules[i];

		/* Skip rules about the hostname: they admit every new node, because no pod is on a
		 * new node yet. */
		if (r->group->key >= 0 &&
		    answer(r, &t->spreads[i], domains[r->group->key]) != TOPOLOGY_YES)
			return false;
	}
	return true;
}

bool topology_is_listed(const struct topology_cell *t)
{
	return t->listed;
}

bool topology_list(const struct topology_cell *t, size_t *i, size_t *k, size_t *bin)
{
	const struct counts *c = &t->listed->group->count;

	for (; *i < c->cap; ++*i, *k = 0) {
		const struct domain_bins *b;

		if (!c->v[*i].n)
			continue;
		if (t->listed->group->key < 0) {
			*bin = c->v[(*i)++].at;
			return true;
		}
		b = domains_bins(t->profile->tenant, t->listed->group->key, c->v[*i].at);
		if (*k < b->n) {
			*bin = b->v[(*k)++];
			return true;
		}
	}
	return false;
}

/* --- numbers for the choice of a machine ------------------------------------------------------ */

size_t topology_on_one(const struct topology_cell *t)
{
	size_t most = SIZE_MAX;

	for (size_t i = 0; i < t->profile->nrules; i++) {
		const struct topology_rule *r = &t->profile->rules[i];
		const bool one = r->it->kind == WORLD_APART || r->it->max_skew < 1;
		const size_t n = one ? 1 : (size_t)r->it->max_skew;

		if (r->group->key < 0 && r->self && r->it->kind != WORLD_TOGETHER && n < most)
			most = n;
	}
	return most;
}

size_t topology_parts(const struct topology_cell *t)
{
	size_t parts = 1;

	for (size_t i = 0; i < t->profile->nrules; i++)
		if (is_keyed_spread(&t->profile->rules[i]) && t->profile->rules[i].self &&
		    t->spreads[i].domains > parts)
			parts = t->spreads[i].domains;
	return parts;
}

bool topology_may_open(const struct topology_cell *t)
{
	for (size_t i = 0; i < t->profile->nrules; i++)
		if (t->profile->rules[i].it->kind == WORLD_TOGETHER ||
		    is_keyed_spread(&t->profile->rules[i]))
			return true;
	return false;
}

/* --- domains of new machines ------------------------------------------------------------------ */

bool topology_needs_free_domains(const struct topology_cell *t)
{
	for (size_t i = 0; i < t->profile->nrules; i++)
		if (is_keyed_spread(&t->profile->rules[i]))
			return true;
	return false;
}

void topology_free_domains_begin(struct planning *p, struct plan_class *c)
{
	const int n = groups_keys(p->groups);

	if (!c->free_domains)
		c->free_domains = arena_calloc(p->a, (size_t)n + 1, sizeof(*c->free_domains));
	for (int k = 0; k < n; k++)
		domains_unsee(&c->free_domains[k], 0);
	c->free_domains_known++;
}

void topology_admits_new(struct planning *p, struct plan_class *c, const int *domains)
{
	for (int k = 0; k < groups_keys(p->groups); k++)
		if (domains[k] >= 0)
			domains_see(p->a, &c->free_domains[k], domains[k]);
}

bool topology_admits_all(const struct planning *p, const struct plan_class *c)
{
	for (int i = 0; i < groups_keys(p->groups); i++)
		if (c->free_domains[i].n < groups_domains(p->groups, i))
			return false;
	return true;
}
