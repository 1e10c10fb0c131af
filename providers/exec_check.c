#include "providers/exec_check.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "providers/child.h"
#include "providers/hardware.h"

/*
 * exec_check: sends the requests of a table of steps, one request for each step. A step that waits
 * for an effect (such as power off) repeats its request each second.
 */
#define LIMIT_MS 20000
#define ERR_TEXT sizeof(((struct err *)0)->text)
#define AGAIN_MS 1000
#define EFFECT_MS 60000
#define NOBODY "drover-no-such-machine"
/* URL at an address that is never routed (RFC 5737), because the medium need not exist. */
#define MEDIUM "http://192.0.2.1:8080/boot/check/agent.iso"
#define FOREIGN "6a1f5b1e-0000-4000-8000-000000000000"

struct exec_check;
enum verdict { FINE, NOTE, WRONG, AGAIN };

struct exec_check_step {
	const char *of, *mend;
	bool changes;
	/* Request as JSON, without the members machine, operation and fence */
	const char *request;
	/* Name of the machine to send; NULL: exec_check_spec.machine */
	const char *machine;
	/* Number added to exec_check_spec.fence; 0: send no fence */
	int64_t fence;
	/* True: send the UUID that was observed */
	bool as_seen;
	/* True: start a second process, which answers this step and the following ones */
	bool restarts;
	/* True: send a token, tags and the first offer of the type */
	bool launches;
	/* True: send the name of the launched instance */
	bool ends;
	enum verdict (*judge)(struct exec_check *c, const json_t *reply, const struct err *e,
			      char says[static ERR_TEXT]);
};

struct exec_check {
	struct exec_check_spec s;
	struct child *child;
	struct child_call *call;
	struct loop_timer timer;
	const struct exec_check_step *step;
	json_t *findings;
	/* UUID that the program reported for the machine; "": none */
	char uuid[UUID_TEXT];
	/* loop_now() at which the step began */
	int64_t since;
	/* First offer of the checked instance type; NULL: none, or the program is no cloud. */
	json_t *offer;
	char instance[256], region[128], token[40];
	/* Member `next` of the last page of offers; "": none */
	char after[256];
	unsigned wrong;
	bool restart;
};

/* --- functions that judge the reply to a step ------------------------------------------------- */

static enum verdict say(char says[static ERR_TEXT], enum verdict v, const char *text)
{
	str_copy(says, ERR_TEXT, text);
	return v;
}

static enum verdict done_fine(struct exec_check *c, const json_t *reply, const struct err *e,
			      char says[static ERR_TEXT])
{
	(void)c;
	(void)reply;
	return e ? say(says, WRONG, e->text) : say(says, FINE, "done");
}

static enum verdict unsupported_is_fine(struct exec_check *c, const json_t *reply,
					const struct err *e, char says[static ERR_TEXT])
{
	if (e && e->kind == ERR_UNSUPPORTED)
		return say(says, NOTE,
			   "not supported: drover uses another boot method if there is one");
	return done_fine(c, reply, e, says);
}

static enum verdict refused_as(enum err_kind want, const struct err *e, char says[static ERR_TEXT])
{
	if (!e)
		return say(says, WRONG, "the program carried it out instead of refusing");
	if (e->kind == want)
		return say(says, FINE, "refused");
	str_format(says, ERR_TEXT, "refused as %s, want %s: %.150s", err_kind_name(e->kind),
		   err_kind_name(want), e->text);
	return WRONG;
}

static enum verdict not_found(struct exec_check *c, const json_t *reply, const struct err *e,
			      char says[static ERR_TEXT])
{
	(void)c;
	(void)reply;
	return refused_as(ERR_NOT_FOUND, e, says);
}

static enum verdict unsupported(struct exec_check *c, const json_t *reply, const struct err *e,
				char says[static ERR_TEXT])
{
	(void)c;
	(void)reply;
	return refused_as(ERR_UNSUPPORTED, e, says);
}

static enum verdict conflict(struct exec_check *c, const json_t *reply, const struct err *e,
			     char says[static ERR_TEXT])
{
	(void)c;
	(void)reply;
	return refused_as(ERR_CONFLICT, e, says);
}

static enum verdict any_refusal(struct exec_check *c, const json_t *reply, const struct err *e,
				char says[static ERR_TEXT])
{
	if (!c->uuid[0])
		return say(says, NOTE, "not tested: the program reports no uuid");
	return e ? say(says, FINE, "refused") : not_found(c, reply, e, says);
}

static bool is_one_of(const char *v, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(v, names[i]))
			return true;
	return false;
}

static bool is_text(const json_t *reply, const char *name)
{
	const json_t *v = json_object_get(reply, name);

	return !v || json_is_null(v) || json_is_string(v);
}

static enum verdict a_state(struct exec_check *c, const json_t *reply, const struct err *e,
			    char says[static ERR_TEXT])
{
	static const char *const boots[] = {"disk", "media", "http", "other"};
	static const char *const texts[] = {"uuid", "serial", "mediaURL", "httpURL", "address"};

	if (e)
		return say(says, WRONG, e->text);
	if (!is_one_of(json_str_at(reply, "power"), provider_power_names,
		       PROVIDER_POWER_CHANGING + 1))
		return say(says, WRONG, "power: want On, Off, Changing or Unknown");
	if (!is_one_of(json_str_at(reply, "boot"), boots, 4))
		return say(says, WRONG, "boot: want disk, media, http or other");
	if (!json_is_boolean(json_object_get(reply, "inserted")))
		return say(says, WRONG, "inserted: want true or false");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!is_text(reply, texts[i])) {
			str_format(says, ERR_TEXT, "%s: want text or null", texts[i]);
			return WRONG;
		}
	if (uuid_read(json_str_at(reply, "uuid"), c->uuid) != UUID_IS) {
		c->uuid[0] = '\0';
		return say(
			says, NOTE,
			"no uuid: drover could not detect that a different machine answers under "
			"this name");
	}
	str_format(says, ERR_TEXT, "%s, power %s, boots from %s", c->uuid,
		   json_str_at(reply, "power"), json_str_at(reply, "boot"));
	return FINE;
}

static enum verdict until(bool so, const struct err *e, const char *fine, const char *wrong,
			  char says[static ERR_TEXT])
{
	if (e)
		return say(says, WRONG, e->text);
	return so ? say(says, FINE, fine) : say(says, AGAIN, wrong);
}

static enum verdict is_on(struct exec_check *c, const json_t *reply, const struct err *e,
			  char says[static ERR_TEXT])
{
	(void)c;
	return until(str_eq(json_str_at(reply, "power"), "On"), e, "observed On",
		     "never observed On", says);
}

static enum verdict is_off(struct exec_check *c, const json_t *reply, const struct err *e,
			   char says[static ERR_TEXT])
{
	(void)c;
	return until(str_eq(json_str_at(reply, "power"), "Off"), e, "observed Off",
		     "never observed Off", says);
}

static enum verdict has_medium(struct exec_check *c, const json_t *reply, const struct err *e,
			       char says[static ERR_TEXT])
{
	(void)c;
	if (!e && json_true_at(reply, "inserted") && !json_str_at(reply, "mediaURL"))
		return say(
			says, WRONG,
			"inserted is true but mediaURL is null: drover could not tell whether the "
			"medium is its own");
	return until(
		json_true_at(reply, "inserted") && str_eq(json_str_at(reply, "mediaURL"), MEDIUM),
		e, "observed", "mediaURL never showed the address of the inserted medium", says);
}

static enum verdict no_medium(struct exec_check *c, const json_t *reply, const struct err *e,
			      char says[static ERR_TEXT])
{
	(void)c;
	return until(!json_true_at(reply, "inserted"), e, "observed",
		     "the medium was never observed as ejected", says);
}

static enum verdict boots_media(struct exec_check *c, const json_t *reply, const struct err *e,
				char says[static ERR_TEXT])
{
	(void)c;
	return until(str_eq(json_str_at(reply, "boot"), "media"), e, "observed",
		     "boot media was never observed", says);
}

static enum verdict boots_disk(struct exec_check *c, const json_t *reply, const struct err *e,
			       char says[static ERR_TEXT])
{
	(void)c;
	return until(str_eq(json_str_at(reply, "boot"), "disk"), e, "observed",
		     "boot disk was never observed", says);
}

/* --- clouds ----------------------------------------------------------------------------------- */

#define CLUSTER "drover-check"

static bool is_sold_out(const json_t *offer)
{
	const json_t *v = json_object_get(offer, "available");

	return json_is_integer(v) && !json_integer_value(v);
}

static enum verdict the_offers(struct exec_check *c, const json_t *reply, const struct err *e,
			       char says[static ERR_TEXT])
{
	const json_t *list = json_object_get(reply, "offers");
	bool priced = false;
	size_t i;
	json_t *o;

	if (e)
		return say(says, WRONG, e->text);
	if (!json_is_array(list))
		return say(says, WRONG, "offers: want a list");
	json_array_foreach (list, i, o) {
		if (!json_str_at(o, "region") || !json_str_at(o, "type"))
			return say(says, WRONG, "an offer has no region or no type");
		if (!str_eq(json_str_at(o, "type"), c->s.machine))
			continue;
		/* An offer that is sold out can be priced, but not launched. */
		if (!c->offer && !is_sold_out(o))
			c->offer = json_deep_copy(o);
		priced |= json_is_integer(json_object_get(o, "microsPerHour")) &&
			  json_str_at(o, "currency");
	}
	str_copy(c->after, sizeof(c->after), str_or(json_str_at(reply, "next"), ""));
	if (!c->offer)
		return say(says, c->after[0] ? AGAIN : NOTE, "no offer of that type");
	return priced ? say(says, FINE, "offered, with a price")
		      : say(says, NOTE, "no price: drover launches only offers with a price");
}

/* Returns the instance that this check launched, from a list in the reply; NULL: not listed. */
static const json_t *ours(const struct exec_check *c, const json_t *reply)
{
	size_t i;
	json_t *x;

	json_array_foreach (json_object_get(reply, "instances"), i, x)
		if (str_eq(json_str_at(x, "instance"), c->instance))
			return x;
	return NULL;
}

static enum verdict a_list(struct exec_check *c, const json_t *reply, const struct err *e,
			   char says[static ERR_TEXT])
{
	(void)c;
	if (e)
		return say(says, WRONG, e->text);
	return json_is_array(json_object_get(reply, "instances"))
		       ? say(says, FINE, "a list")
		       : say(says, WRONG, "instances: want a list");
}

static enum verdict one_launched(struct exec_check *c, const json_t *reply, const struct err *e,
				 char says[static ERR_TEXT])
{
	const json_t *v = json_object_get(reply, "instances");
	const char *id = json_str_at(json_array_get(v, 0), "instance"),
		   *region = json_str_at(json_array_get(v, 0), "region");

	if (e)
		return say(says, WRONG, e->text);
	if (json_array_size(v) != 1 || !id || !region)
		return say(says, WRONG, "instances: want exactly one, with instance and region");
	if (c->instance[0] && !str_eq(id, c->instance))
		return say(says, WRONG, "a second instance was launched");
	str_copy(c->instance, sizeof(c->instance), id);
	str_copy(c->region, sizeof(c->region), region);
	return say(says, FINE, c->instance);
}

static enum verdict is_listed(struct exec_check *c, const json_t *reply, const struct err *e,
			      char says[static ERR_TEXT])
{
	const json_t *x = ours(c, reply);

	return until(str_eq(json_str_at(x, "tags", "drover.dev/cluster"), CLUSTER), e,
		     "listed, with its tags",
		     "the launched instance never appears in the list with its tags", says);
}

static enum verdict not_listed(struct exec_check *c, const json_t *reply, const struct err *e,
			       char says[static ERR_TEXT])
{
	if (e)
		return say(says, WRONG, e->text);
	return ours(c, reply)
		       ? say(says, WRONG, "the launched instance is listed for a different cluster")
		       : say(says, FINE, "not listed");
}

static enum verdict is_gone(struct exec_check *c, const json_t *reply, const struct err *e,
			    char says[static ERR_TEXT])
{
	const json_t *x = ours(c, reply);

	return until(!x || str_eq(json_str_at(x, "state"), "Gone"), e, "gone",
		     "the terminated instance is still listed, and not as Gone", says);
}

#define LIST(cluster) "{\"op\":\"list-owned\",\"cluster\":\"" cluster "\"}"
#define END "{\"op\":\"terminate\"}"
#define LAUNCH                                                                                     \
	"{\"op\":\"launch\",\"image\":null,\"userData\":\"IyEvYmluL3RydWUK\",\"count\":1,"         \
	"\"maxMicrosPerHour\":-1}"
static const struct exec_check_step cloud_steps[] = {
	{.of = "ping",
	 .request = "{\"op\":\"ping\"}",
	 .judge = done_fine,
	 .mend = "answer hello with protocol 1, and answer ping at once, even while the cloud "
		 "does not respond"},
	{.of = "unknown operation",
	 .request = "{\"op\":\"drover-check\"}",
	 .judge = unsupported,
	 .mend = "answer an unknown op with an error of kind unsupported, and keep running"},
	{.of = "offers",
	 .request = "{\"op\":\"offers\"}",
	 .judge = the_offers,
	 .mend = "answer with a list offers, each offer with region and type"},
	{.of = "list-owned",
	 .request = LIST(CLUSTER),
	 .judge = a_list,
	 .mend = "answer with a list instances, each with instance, region and state"},
	{.of = "launch",
	 .changes = true,
	 .launches = true,
	 .request = LAUNCH,
	 .judge = one_launched,
	 .mend = "answer with a list instances that contains the launched instance"},
	{.of = "launch with the same token",
	 .changes = true,
	 .launches = true,
	 .request = LAUNCH,
	 .judge = one_launched,
	 .mend = "launch nothing for a token that was used before: look for instances with the "
		 "token first"},
	{.of = "launch with the same token, after a restart",
	 .changes = true,
	 .launches = true,
	 .restarts = true,
	 .request = LAUNCH,
	 .judge = one_launched,
	 .mend = "look up the token in the cloud, not in the memory of the program"},
	{.of = "list-owned, after a launch",
	 .changes = true,
	 .request = LIST(CLUSTER),
	 .judge = is_listed,
	 .mend = "list every instance whose tag drover.dev/cluster has the requested value, with "
		 "all its tags"},
	{.of = "list-owned of a different cluster",
	 .changes = true,
	 .request = LIST("drover-check-another"),
	 .judge = not_listed,
	 .mend = "list only instances whose tag drover.dev/cluster has the requested value"},
	{.of = "terminate",
	 .changes = true,
	 .ends = true,
	 .request = END,
	 .judge = done_fine,
	 .mend = "terminate the instance, and answer once the cloud accepted the request"},
	{.of = "terminate again",
	 .changes = true,
	 .ends = true,
	 .request = END,
	 .judge = done_fine,
	 .mend = "answer success for an instance that is terminating or no longer exists"},
	{.of = "list-owned, after terminate",
	 .changes = true,
	 .request = LIST(CLUSTER),
	 .judge = is_gone,
	 .mend = "report Gone once the instance is no longer billed, or leave it out of the list"},
	{.of = NULL},
};

/* --- steps ------------------------------------------------------------------------------------ */

#define LOOK "{\"op\":\"observe\"}"
#define SWITCH(on) "{\"op\":\"power\",\"on\":" on "}"
#define MEND_FENCE                                                                                 \
	"store the highest fence of each machine so that it survives a restart, and refuse a "     \
	"lower fence with an error of kind conflict"
static const struct exec_check_step steps[] = {
	{.of = "ping",
	 .request = "{\"op\":\"ping\"}",
	 .judge = done_fine,
	 .mend = "answer hello with protocol 1, and answer ping at once, even while a machine "
		 "does not respond"},
	{.of = "unknown operation",
	 .request = "{\"op\":\"drover-check\"}",
	 .judge = unsupported,
	 .mend = "answer an unknown op with an error of kind unsupported, and keep running"},
	{.of = "unknown machine",
	 .request = LOOK,
	 .machine = NOBODY,
	 .fence = 1,
	 .judge = not_found,
	 .mend = "answer for a machine that you do not have with an error of kind not-found"},
	{.of = "observe",
	 .request = LOOK,
	 .fence = 1,
	 .judge = a_state,
	 .mend = "answer with power, boot and inserted, and with uuid, serial, mediaURL, httpURL "
		 "and address if known"},
	{.of = "power Off",
	 .changes = true,
	 .request = SWITCH("false"),
	 .fence = 2,
	 .as_seen = true,
	 .judge = done_fine,
	 .mend = "switch the machine, and answer once the request was accepted"},
	{.of = "power Off",
	 .changes = true,
	 .request = LOOK,
	 .fence = 2,
	 .judge = is_off,
	 .mend = "report the present power state, not the requested one"},
	{.of = "power Off again",
	 .changes = true,
	 .request = SWITCH("false"),
	 .fence = 2,
	 .as_seen = true,
	 .judge = done_fine,
	 .mend = "answer success if the machine already is in the requested state"},
	{.of = "insert medium",
	 .changes = true,
	 .request = "{\"op\":\"media\",\"url\":\"" MEDIUM "\"}",
	 .fence = 3,
	 .as_seen = true,
	 .judge = unsupported_is_fine,
	 .mend = "accept the address, even if the BMC does not fetch the medium at once"},
	{.of = "insert medium",
	 .changes = true,
	 .request = LOOK,
	 .fence = 3,
	 .judge = has_medium,
	 .mend = "report inserted and mediaURL as the machine has them at present"},
	{.of = "boot from the medium",
	 .changes = true,
	 .request = "{\"op\":\"boot\",\"how\":\"media\",\"url\":null}",
	 .fence = 3,
	 .as_seen = true,
	 .judge = unsupported_is_fine,
	 .mend = "set the boot device until the next change, or at least for the next start"},
	{.of = "boot from the medium",
	 .changes = true,
	 .request = LOOK,
	 .fence = 3,
	 .judge = boots_media,
	 .mend = "report what the machine boots next"},
	{.of = "request of an older leader",
	 .changes = true,
	 .request = SWITCH("true"),
	 .fence = 1,
	 .as_seen = true,
	 .judge = conflict,
	 .mend = MEND_FENCE},
	{.of = "different machine under this name",
	 .changes = true,
	 .request = "{\"op\":\"power\",\"on\":true,\"uuid\":\"" FOREIGN "\"}",
	 .fence = 3,
	 .judge = any_refusal,
	 .mend = "change nothing if the uuid of the machine differs from the uuid in the request"},
	{.of = "power On",
	 .changes = true,
	 .request = SWITCH("true"),
	 .fence = 4,
	 .as_seen = true,
	 .judge = done_fine,
	 .mend = "switch the machine, and answer once the request was accepted"},
	{.of = "power On",
	 .changes = true,
	 .request = LOOK,
	 .fence = 4,
	 .judge = is_on,
	 .mend = "report the present power state, not the requested one"},
	{.of = "request of an older leader, after a restart",
	 .changes = true,
	 .request = SWITCH("false"),
	 .fence = 3,
	 .as_seen = true,
	 .restarts = true,
	 .judge = conflict,
	 .mend = MEND_FENCE},
	{.of = "power Off",
	 .changes = true,
	 .request = SWITCH("false"),
	 .fence = 4,
	 .as_seen = true,
	 .judge = done_fine,
	 .mend = "switch the machine, and answer once the request was accepted"},
	{.of = "power Off",
	 .changes = true,
	 .request = LOOK,
	 .fence = 4,
	 .judge = is_off,
	 .mend = "report the present power state, not the requested one"},
	{.of = "boot from the disk",
	 .changes = true,
	 .request = "{\"op\":\"boot\",\"how\":\"disk\",\"url\":null}",
	 .fence = 4,
	 .as_seen = true,
	 .judge = unsupported_is_fine,
	 .mend = "clear every override that would boot something else"},
	{.of = "boot from the disk",
	 .changes = true,
	 .request = LOOK,
	 .fence = 4,
	 .judge = boots_disk,
	 .mend = "report what the machine boots next"},
	{.of = "eject medium",
	 .changes = true,
	 .request = "{\"op\":\"media\",\"url\":null}",
	 .fence = 4,
	 .as_seen = true,
	 .judge = unsupported_is_fine,
	 .mend = "answer success if no medium is inserted"},
	{.of = "eject medium",
	 .changes = true,
	 .request = LOOK,
	 .fence = 4,
	 .judge = no_medium,
	 .mend = "report inserted as the machine has it at present"},
	{.of = NULL},
};

/* --- running the steps ------------------------------------------------------------------------ */

static void start(struct exec_check *c)
{
	struct child_spec s = {.group = c->s.group, .argv = c->s.command, .pings = true};

	child_free(c->child);
	s.hello = json_pack("{s:s,s:n}", "provider", "drover-check", "mediaURL");
	c->child = child_new(&s);
}

static void found(struct exec_check *c, enum verdict v, const char *says)
{
	static const char *const results[] = {"ok", "note", "wrong", "wrong"};
	const struct exec_check_step *s = c->step;

	c->wrong += v >= WRONG;
	json_array_append_new(c->findings,
			      json_pack("{s:s,s:s,s:s,s:s*}", "of", s->of, "result", results[v],
					"says", says, "mend", v >= WRONG ? s->mend : NULL));
}

/* Returns the step after s. If the program does not support the change that s requests, the next
 * step is skipped as well when it has the same subject (step.of): it would observe that change. */
static const struct exec_check_step *after(const struct exec_check_step *s, enum verdict v)
{
	const struct exec_check_step *next = s + 1;

	return v == NOTE && s->judge == unsupported_is_fine && str_eq(next->of, s->of) ? next + 1
										       : next;
}

/* Begins the step c->step in a later loop turn, by a timer, because this function may run inside a
 * callback of the child process. Before a restart, the timer gives the old process AGAIN_MS to
 * end. */
static void begin(struct exec_check *c)
{
	c->since = loop_now(loop_of(c->s.group));
	c->restart = c->step->restarts;
	loop_timer_start(&c->timer, c->restart ? AGAIN_MS : 0);
}

static void on_reply(const json_t *reply, int64_t sent_at, const struct err *e, void *arg)
{
	struct exec_check *c = arg;
	char says[ERR_TEXT] = "";
	enum verdict v;

	(void)sent_at;
	c->call = NULL;
	v = c->step->judge(c, reply, e, says);
	if (v == AGAIN && loop_now(loop_of(c->s.group)) - c->since < EFFECT_MS) {
		loop_timer_start(&c->timer, AGAIN_MS);
		return;
	}
	found(c, v, says);
	c->step = after(c->step, v);
	while (c->step->of && ((c->step->changes && !c->s.changes) ||
			       (c->step->changes && c->s.cloud && !c->offer)))
		c->step++;
	if (!c->step->of) {
		c->s.done(c->findings, c->wrong, c->s.arg);
		return;
	}
	begin(c);
}

static void ask(void *arg)
{
	struct exec_check *c = arg;
	const struct exec_check_step *s = c->step;
	json_t *q = json_loads(s->request, 0, NULL);

	if (c->restart)
		start(c);
	c->restart = false;
	if (s->fence) {
		json_object_set_new(q, "machine", json_string(str_or(s->machine, c->s.machine)));
		json_object_set_new(q, "operation", json_string("drover-check"));
		json_object_set_new(q, "fence", json_integer((json_int_t)(c->s.fence + s->fence)));
		if (s->as_seen)
			json_object_set_new(q, "uuid",
					    c->uuid[0] ? json_string(c->uuid) : json_null());
	}
	if (c->after[0] && s->judge == the_offers)
		json_object_set_new(q, "after", json_string(c->after));
	if (s->launches) {
		json_object_set_new(q, "token", json_string(c->token));
		json_object_set(q, "offer", c->offer);
		json_object_set_new(q, "tags",
				    json_pack("{s:s, s:s, s:s}", "drover.dev/cluster", CLUSTER,
					      "drover.dev/machine", "drover-check",
					      "drover.dev/claim", c->token));
	}
	if (s->ends) {
		json_object_set_new(q, "instance", json_string(c->instance));
		json_object_set_new(q, "region", json_string(c->region));
	}
	c->call = child_ask(c->child, q, LIMIT_MS, on_reply, c);
}

struct exec_check *exec_check_new(const struct exec_check_spec *s)
{
	struct exec_check *c = mem_new(struct exec_check);

	c->s = *s;
	c->step = s->cloud ? cloud_steps : steps;
	str_format(c->token, sizeof(c->token), "drover-check-%lld", (long long)s->fence);
	c->findings = json_array();
	loop_timer_init(&c->timer, s->group, ask, c);
	start(c);
	begin(c);
	return c;
}

void exec_check_free(struct exec_check *c)
{
	if (!c)
		return;
	child_call_drop(c->call);
	loop_timer_stop(&c->timer);
	child_free(c->child);
	json_decref(c->findings);
	json_decref(c->offer);
	free(c);
}
