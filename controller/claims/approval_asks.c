/* approval_asks: has one entry for each claim that waits for the answer of a webhook. */
#include "controller/claims/approval_asks.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/data/json.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/core/approval.h"
#include "controller/core/claim_index.h"
#include "controller/core/webhook.h"
#include "controller/rules/claim.h"

#define AGAIN_MS 5000
#define AGAIN_MAX_MS 300000
/* Maximum number of requests in flight, over all tenants. A claim beyond it is checked again
 * after LATER_MS. */
#define IN_FLIGHT 16
#define LATER_MS 1000
/* The webhook is asked for a gang once no claim of the gang was created for this long, so that its
 * answer counts for all of them. */
#define FORMING_MS 3000
#define REASON_MAX 1024

struct approval_asks {
	struct context *c;
	/* Key: name of a NodeClaim; value: struct approval_ask */
	struct map *claims;
	/* Key: "TENANT/UID" of a gang; value: struct speaker */
	struct map *speakers;
	unsigned in_flight;
};

/* The claim of a gang for which the webhook is asked: the first by name of those that wait. */
struct speaker {
	char *claim;
	/* wall ms at which the newest claim of the gang was created */
	int64_t newest;
};

struct approval_ask {
	struct approval_asks *of;
	char *claim;
	/* key in speakers; NULL: no gang */
	char *gang;
	char uid[64];
	struct webhook *webhook;
	struct loop_timer again;
	/* number of requests without a usable answer, one after the other */
	unsigned failed;
	/* loop_now() before which no request is sent */
	int64_t after;
	/* host of the webhook that was asked last */
	char host[256];
	/* why the last request had no usable answer; "": it had, or is the first */
	char trouble[400];
	/* time 0: no answer yet */
	struct node_claim_approval answer;
	/* contains the reason of `answer` */
	char *reason;
};

static void ask_free(void *p)
{
	struct approval_ask *x = p;

	if (webhook_busy(x->webhook))
		x->of->in_flight--;
	webhook_free(x->webhook);
	loop_timer_stop(&x->again);
	free(x->reason);
	free(x->claim);
	free(x->gang);
	free(x);
}

static void speaker_free(void *p)
{
	struct speaker *x = p;

	free(x->claim);
	free(x);
}

/* Records that the last request had no usable answer, and when the next one is due. */
static void failed(struct approval_ask *x, const char *text, uint32_t retry_after_ms)
{
	int64_t delay = AGAIN_MS;

	for (unsigned i = 0; i < x->failed && delay < AGAIN_MAX_MS; i++)
		delay *= 2;
	if (retry_after_ms > delay)
		delay = retry_after_ms;
	if (delay > AGAIN_MAX_MS)
		delay = AGAIN_MAX_MS;
	x->failed++;
	x->after = loop_now(x->of->c->loop) + delay;
	str_format(x->trouble, sizeof(x->trouble), "webhook %.120s: %.240s", x->host, text);
	str_clean(x->trouble);
	loop_timer_start(&x->again, delay);
}

/* Reads an answer. Returns the decision, and sets *reason; -1 with *e: the answer decides
 * nothing. */
static int decision_of(const json_t *o, const char **reason, struct err *e)
{
	const json_t *why = json_object_get(o, "reason");
	const char *decision = json_str_at(o, "decision");
	int d = 0;

	*reason = json_string_value(why);
	while (node_claim_decision_names[d] && !str_eq(node_claim_decision_names[d], decision))
		d++;
	if (!node_claim_decision_names[d])
		return err_set(e, ERR_PROTOCOL, 0,
			       "the member decision is neither \"Approved\" nor \"Denied\"");
	if (why && !*reason)
		return err_set(e, ERR_PROTOCOL, 0, "the member reason is no text");
	if (*reason && strlen(*reason) > REASON_MAX)
		return err_set(e, ERR_PROTOCOL, 0, "the reason is longer than %d bytes",
			       REASON_MAX);
	if (json_object_size(o) != (why ? 2 : 1))
		return err_set(e, ERR_PROTOCOL, 0,
			       "the answer has other members than decision and reason");
	return d;
}

/* Takes the answer r. Returns 0, or -1 with *e if it decides nothing. */
static int take(struct approval_ask *x, const struct http_reply *r, struct err *e)
{
	OWN_JSON o = NULL;
	const char *reason;
	int d;

	/* mutant: webhook-status-ignored */
	if (r->status != 200)
		return err_set(e, ERR_PROTOCOL, r->status, "HTTP %d", r->status);
	o = json_parse(r->body, r->body_len, e);
	if (!o)
		return err_wrap(e, "the answer is no JSON");
	d = decision_of(o, &reason, e);
	if (d < 0)
		return -1;
	x->reason = mem_strdup(str_or(reason, ""));
	str_clean(x->reason);
	x->answer = (struct node_claim_approval){.decision = d,
						 .by = x->host,
						 .reason = x->reason,
						 .time = loop_wall(x->of->c->loop)};
	return 0;
}

static void on_answer(const struct http_reply *r, const struct err *e, void *arg)
{
	struct approval_ask *x = arg;
	struct context *c = x->of->c;
	struct err bad;

	x->of->in_flight--;
	if (!r) {
		failed(x, e->text, 0);
	} else if (take(x, r, &bad) < 0) {
		failed(x, bad.text, r->retry_after_ms);
	} else {
		x->trouble[0] = '\0';
		log_info("webhook decided", LOG_S("claim", x->claim), LOG_S("by", x->host),
			 LOG_S("decision", node_claim_decision_names[x->answer.decision]));
	}
	notify(c, NOTICE_CLAIM, x->claim);
}

static void on_again(void *arg)
{
	const struct approval_ask *x = arg;

	notify(x->of->c, NOTICE_CLAIM, x->claim);
}

static struct approval_ask *ask_of(struct approval_asks *s, const struct node_claim *n)
{
	struct approval_ask *x = map_get(s->claims, n->meta.name);

	if (x && str_eq(x->uid, n->meta.uid))
		return x;
	map_del(s->claims, n->meta.name);
	x = mem_new(struct approval_ask);
	x->of = s;
	x->claim = mem_strdup(n->meta.name);
	str_copy(x->uid, sizeof(x->uid), n->meta.uid);
	x->webhook = webhook_new(s->c, on_answer, x);
	loop_timer_init(&x->again, s->c->group, on_again, x);
	map_put(s->claims, n->meta.name, x);
	return x;
}

/* --- the request ------------------------------------------------------------------------------ */

static json_t *burst_of(const struct node_claim_burst *b)
{
	char price[MONEY_TEXT], most[MONEY_TEXT];

	return b ? json_pack("{s:s, s:s, s:s, s:s, s:s}", "policy", b->policy_ref.name, "work",
			     b->work, "pricePerHour", money_format(b->price, price), "committed",
			     money_format(b->committed, most), "currency", b->currency)
		 : NULL;
}

static char *body_of(const struct node_claim *n)
{
	const struct node_claim_gang *g = n->spec.gang;
	OWN_JSON o = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s*, s:s*, s:s*, s:I, s:o*, s:o*}", "apiVersion",
		OBJECT_API_VERSION, "id", n->meta.uid, "nodeClaim", n->meta.name, "virtualCluster",
		str_or(n->spec.virtual_cluster_ref.name, ""), "nodePool",
		str_or(n->spec.node_pool_ref.name, ""), "machine",
		n->spec.machine_ref ? n->spec.machine_ref->name : NULL, "provider",
		n->spec.provider_ref ? n->spec.provider_ref->name : NULL, "instanceType",
		claim_instance_type(n, NULL), "pods", (json_int_t)n->spec.pods.n, "gang",
		g ? json_pack("{s:s, s:I}", "uid", g->uid, "size", (json_int_t)g->size) : NULL,
		"burst", burst_of(n->spec.burst));

	return json_text(o);
}

struct first {
	const struct context *c;
	const struct node_claim *found;
	/* as in struct speaker */
	int64_t newest;
};

static bool is_first(const struct node_claim *n, void *arg)
{
	struct first *f = arg;

	if (!approval_same_gang(n, f->found) || n->meta.deletion_timestamp)
		return true;
	if (n->meta.creation_timestamp > f->newest)
		f->newest = n->meta.creation_timestamp;
	if (strcmp(n->meta.name, f->found->meta.name) < 0 &&
	    approval_of(f->c, n).state == APPROVAL_WAITING)
		f->found = n;
	return true;
}

static char *gang_key(const struct node_claim *n)
{
	const char *tenant = str_or(n->spec.virtual_cluster_ref.name, "");

	return n->spec.gang ? mem_printf("%s/%s", tenant, n->spec.gang->uid) : NULL;
}

/* True if the speaker is still a claim of n's gang that waits. */
static bool still_speaks(const struct context *c, const struct speaker *x,
			 const struct node_claim *n)
{
	const struct node_claim *s = CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, x->claim);

	return s && !s->meta.deletion_timestamp && approval_same_gang(s, n) &&
	       approval_of(c, s).state == APPROVAL_WAITING;
}

static void set_speaker(struct speaker *x, const char *claim)
{
	free(x->claim);
	x->claim = mem_strdup(claim);
}

/* Returns the speaker of n's gang. All claims of the gang are compared only if the last speaker no
 * longer waits: each claim is passed here when it is created, so the first by name and the newest
 * are found by comparing n alone. */
static const struct speaker *speaker_of(struct approval_asks *s, const struct node_claim *n,
					const char *key)
{
	struct first f = {.c = s->c, .found = n};
	struct speaker *x = map_get(s->speakers, key);

	if (!x) {
		x = mem_new(struct speaker);
		map_put(s->speakers, key, x);
	}
	if (n->meta.creation_timestamp > x->newest)
		x->newest = n->meta.creation_timestamp;
	if (x->claim && still_speaks(s->c, x, n)) {
		if (strcmp(n->meta.name, x->claim) < 0)
			set_speaker(x, n->meta.name);
		return x;
	}
	claim_index_each(s->c, CLAIM_BY_GANG, n->spec.gang->uid, is_first, &f);
	x->newest = f.newest;
	set_speaker(x, f.found->meta.name);
	return x;
}

/* True if the webhook is asked for this claim, and not for another one of its gang. Sets *newest to
 * the creation of the newest claim of the gang; 0: no gang. key: gang_key(). */
static bool speaks(struct approval_asks *s, const struct node_claim *n, const char *key,
		   int64_t *newest)
{
	const struct speaker *x = key ? speaker_of(s, n, key) : NULL;

	*newest = x ? x->newest : 0;
	return !x || str_eq(x->claim, n->meta.name);
}

/* True while further claims of a gang may still be created. A clock of the API server that is ahead
 * makes no gang wait. */
static bool is_forming(const struct context *c, int64_t newest)
{
	const int64_t age = loop_wall(c->loop) - newest;

	return newest && age >= 0 && age < FORMING_MS;
}

static void send(struct approval_ask *x, const struct virtual_cluster_webhook *to,
		 const struct node_claim *n)
{
	OWN(arena) a = arena_new();
	const char *member;
	char text[300];
	struct err e;
	char *body = body_of(n);
	struct webhook_call call = {.url = to->url,
				    .ca = to->ca_secret_ref,
				    .body = body,
				    .timeout_ms = (uint32_t)to->timeout};

	str_copy(x->host, sizeof(x->host), webhook_shown(to->url, a));
	switch (webhook_post(x->webhook, &call, &member, &e)) {
	case WEBHOOK_SENT:
		x->of->in_flight++;
		break;
	case WEBHOOK_NOT_YET:
		loop_timer_start(&x->again, LATER_MS);
		break;
	case WEBHOOK_NOT_SENT:
		str_format(text, sizeof(text), "spec.approval.webhook.%s: %.220s", member, e.text);
		failed(x, text, 0);
		break;
	}
	free(body);
}

static void drop(struct approval_asks *s, const char *claim)
{
	const struct approval_ask *x = map_get(s->claims, claim);
	const struct speaker *of = x && x->gang ? map_get(s->speakers, x->gang) : NULL;

	if (of && str_eq(of->claim, claim))
		map_del(s->speakers, x->gang);
	map_del(s->claims, claim);
}

/* Asks the webhook for claim n, the speaker of its gang if it has one. */
static void look(struct approval_asks *s, const struct virtual_cluster *vc,
		 const struct node_claim *n, int64_t newest, const char *key)
{
	struct context *c = s->c;
	struct approval_ask *x = ask_of(s, n);

	if (key && !x->gang)
		x->gang = mem_strdup(key);
	if (x->answer.time || webhook_busy(x->webhook) || loop_now(c->loop) < x->after)
		return;
	/* Nothing reports that one of these conditions has ended. */
	if (!ctx_may_act(c) || s->in_flight >= IN_FLIGHT || is_forming(c, newest)) {
		loop_timer_start(&x->again, LATER_MS);
		return;
	}
	send(x, vc->spec.approval.webhook, n);
}

void approval_asks_look(struct approval_asks *s, const struct node_claim *n)
{
	const struct virtual_cluster *vc = CTX_GET(s->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   str_or(n->spec.virtual_cluster_ref.name, ""));
	int64_t newest;
	char *key = gang_key(n);

	if (vc && vc->spec.approval.claims == APPROVAL_WEBHOOK && speaks(s, n, key, &newest))
		look(s, vc, n, newest, key);
	else
		drop(s, n->meta.name);
	free(key);
}

void approval_asks_forget(struct approval_asks *s, const char *claim)
{
	drop(s, claim);
	if (!map_size(s->claims))
		map_clear(s->speakers);
}

static const struct approval_ask *known(const struct approval_asks *s, const struct node_claim *n)
{
	const struct approval_ask *x = s ? map_get(s->claims, n->meta.name) : NULL;

	return x && str_eq(x->uid, n->meta.uid) ? x : NULL;
}

const struct node_claim_approval *approval_asks_answer(const struct approval_asks *s,
						       const struct node_claim *n)
{
	const struct approval_ask *x = known(s, n);

	return x && x->answer.time ? &x->answer : NULL;
}

const char *approval_asks_trouble(const struct approval_asks *s, const struct node_claim *n)
{
	const struct approval_ask *x = known(s, n);

	return x && x->trouble[0] ? x->trouble : NULL;
}

struct approval_asks *approval_asks_new(struct context *c)
{
	struct approval_asks *s = mem_new(struct approval_asks);

	*s = (struct approval_asks){
		.c = c, .claims = map_new(ask_free), .speakers = map_new(speaker_free)};
	return s;
}

void approval_asks_free(struct approval_asks *s)
{
	if (!s)
		return;
	map_free(s->claims);
	map_free(s->speakers);
	free(s);
}
