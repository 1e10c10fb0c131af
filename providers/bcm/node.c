#include "providers/bcm/node.h"

#include <string.h>
#include <strings.h>

#include "base/data/json.h"
#include "base/str.h"

#include <stdlib.h>

/* drover's mark is one JSON text in a string member of extra_values, because no manual promises
 * that these values may be objects. */
#define MARK "drover"

bool bcm_is_unset(const char *t)
{
	static const char *const words[] = {"0.0.0.0",	"::0",
					    "::",	"00:00:00:00:00:00",
					    "CATEGORY", "00000000-0000-0000-0000-000000000000"};

	if (str_empty(t))
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (str_eq(t, words[i]))
			return true;
	return false;
}

static const char *set_at(struct exact o, const char *name, struct arena *a)
{
	const char *t = exact_str_at(o, name, a);

	return bcm_is_unset(t) ? NULL : t;
}

/* True unless v is absent or one of BCM's spellings of false. An unknown spelling counts as true,
 * so that a flag that protects a node is always honoured. */
static bool is_set(struct exact v)
{
	OWN(arena) a = arena_new();
	const char *t = exact_str(v, a);
	int64_t n;

	switch (exact_kind(v)) {
	case EXACT_NONE:
	case EXACT_NULL:
	case EXACT_FALSE:
		return false;
	case EXACT_NUMBER:
		return !exact_i64(v, &n) || n != 0;
	case EXACT_STRING:
		return !str_empty(t) && strcasecmp(t, "no") != 0 && strcasecmp(t, "false") != 0;
	case EXACT_TRUE:
	case EXACT_OBJECT:
	case EXACT_LIST:
		return true;
	}
	return true;
}

static void read_interfaces(struct exact device, struct arena *a, struct bcm_node *n)
{
	const char *boots = exact_str_at(device, "provisioningInterface", a);
	struct exact_iter it;

	exact_for_each(it, exact_member(device, "interfaces"))
	{
		const char *type = exact_str_at(it.value, "childType", a);
		const char *name = exact_str_at(it.value, "name", a);
		const char *uuid = exact_str_at(it.value, "uuid", a);

		if (str_eq(type, "NetworkBmcInterface")) {
			if (!n->bmc_address)
				n->bmc_address = set_at(it.value, "ip", a);
			continue;
		}
		/* The node boots through the provisioning interface or, if none is set, through the
		 * first bootable interface. Skip all others. */
		if (bcm_is_unset(boots)
			    ? n->boot_name || !is_set(exact_member(it.value, "bootable"))
			    : !str_eq(boots, name) && !str_eq(boots, uuid))
			continue;
		n->boot_name = str_or(name, "(no name)");
		n->boot_address = set_at(it.value, "ip", a);
		n->boot_dhcp = is_set(exact_member(it.value, "dhcp"));
	}
}

/* Parses the mark into n->lock. Sets n->lock_broken if drover did not write the mark. The mark
 * stores the earlier values as strings that contain JSON texts. */
static void read_lock(struct exact device, struct arena *a, struct bcm_node *n)
{
	struct exact mark = exact_member(exact_member(device, "extra_values"), MARK), o;
	const char *text = exact_str(mark, a);
	struct bcm_lock *l = &n->lock;
	struct err e;

	if (!mark.at || exact_kind(mark) == EXACT_NULL)
		return;
	n->lock_broken = true;
	if (!text || exact_read(text, strlen(text), &o, &e) < 0)
		return;
	l->machine = exact_str_at(o, "machine", a);
	l->name = exact_str_at(o, "name", a);
	l->token = exact_str_at(o, "token", a);
	l->category = exact_str_at(o, "category", a);
	l->management_network = exact_str_at(o, "managementNetwork", a);
	l->image = exact_str_at(o, "softwareImageProxy", a);
	l->next_mode = exact_str_at(o, "nextBootInstallMode", a);
	n->lock_broken = str_empty(l->machine) || str_empty(l->token) ||
			 !exact_i64(exact_member(o, "fence"), &l->fence);
}

int bcm_node_read(struct exact d, struct arena *a, struct bcm_node *out, struct err *e)
{
	*out = (struct bcm_node){
		.uuid = set_at(d, "uuid", a),
		.hostname = set_at(d, "hostname", a),
		.type = exact_str_at(d, "childType", a),
		.mac = set_at(d, "mac", a),
		.power_control = exact_str_at(d, "powerControl", a),
		.category = set_at(d, "category", a),
		.management_network = set_at(d, "managementNetwork", a),
		.next_install_mode = exact_str_at(d, "nextBootInstallMode", a),
		.data_node = is_set(exact_member(d, "dataNode")),
	};
	if (!out->uuid || !out->hostname)
		return err_set(e, ERR_PROTOCOL, 0, "BCM reports a device without %s",
			       out->uuid ? "hostname" : "uuid");
	read_interfaces(d, a, out);
	read_lock(d, a, out);
	return 0;
}

int bcm_node_fit(const struct bcm_node *n, struct err *e)
{
	if (!str_eq(n->type, "PhysicalNode"))
		return err_set(e, ERR_DENIED, 0,
			       "node %s is a %.40s in BCM: drover manages only PhysicalNodes",
			       n->hostname, str_or(n->type, "device of no type"));
	if (n->data_node)
		return err_set(
			e, ERR_DENIED, 0,
			"node %s is a data node in BCM: an install would wait for a confirmation "
			"on the console",
			n->hostname);
	if (str_empty(n->power_control) || strcasecmp(n->power_control, "none") == 0)
		return err_set(
			e, ERR_DENIED, 0,
			"node %s has no power control in BCM: set powerControl so that drover can "
			"switch it off",
			n->hostname);
	return 0;
}

static void put(json_t *o, const char *name, const char *value)
{
	if (value)
		json_object_set_new(o, name, json_string(value));
}

const char *bcm_with_lock(struct exact device, const struct bcm_lock *l, struct arena *a,
			  struct err *e)
{
	struct exact extra = exact_member(device, "extra_values");
	const char *text;
	char *mark;
	json_t *o;

	/* Begin with an empty object, because extra_values is absent or null. */
	if (exact_kind(extra) != EXACT_OBJECT)
		extra = (struct exact){"{}", 2};
	if (!l) {
		text = exact_without(extra, MARK, a, e);
	} else {
		o = json_pack("{s:s, s:s, s:I}", "machine", l->machine, "token", l->token, "fence",
			      (json_int_t)l->fence);
		put(o, "name", l->name);
		put(o, "category", l->category);
		put(o, "managementNetwork", l->management_network);
		put(o, "softwareImageProxy", l->image);
		put(o, "nextBootInstallMode", l->next_mode);
		mark = json_text(o);
		json_decref(o);
		text = exact_with(extra, MARK, exact_quote(mark, a), a, e);
		free(mark);
	}
	return text ? exact_with(device, "extra_values", text, a, e) : NULL;
}

/* --- states ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum bcm_phase phase;
} states[] = {
	{"UP", BCM_UP},
	{"DOWN", BCM_DOWN},
	{"CLOSED", BCM_WAITING},
	{"BOOTING", BCM_WAITING},
	{"INSTALLING", BCM_WAITING},
	{"INSTALLER_FAILED", BCM_FAILED},
	{"INSTALLER_REBOOTING", BCM_WAITING},
	{"INSTALLER_CALLINGINIT", BCM_WAITING},
	{"INSTALLER_UNREACHABLE", BCM_FAILED},
	{"INSTALLER_BURNING", BCM_BURNING},
	{"BURNING", BCM_BURNING},
	{"OPENING", BCM_WAITING},
	{"GOING_DOWN", BCM_WAITING},
	{"PENDING", BCM_WAITING},
	{"UNKNOWN", BCM_UNKNOWN},
};

/* Parses a state text such as "UP", "UP/CLOSED", "INSTALLING (checking disks)" or "UP, restart
 * required" into *out. */
static void split(const char *said, struct arena *a, struct bcm_state *out)
{
	size_t n = strspn(said, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	const char *rest = said + n, *from, *to;

	out->phase = BCM_UNKNOWN;
	out->name = arena_strdup(a, said);
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (strlen(states[i].name) == n && strncmp(said, states[i].name, n) == 0) {
			out->phase = states[i].phase;
			out->name = states[i].name;
		}
	out->closed = str_eq(out->name, "CLOSED") || strstr(rest, "CLOSED");
	from = strchr(rest, '(');
	to = from ? strchr(from, ')') : NULL;
	if (to && to > from + 1)
		out->text = arena_strndup(a, from + 1, (size_t)(to - from - 1));
}

static const char *first_of(struct exact o, const char *const *names, struct arena *a)
{
	for (; *names; names++) {
		const char *t = exact_str_at(o, *names, a);

		if (!str_empty(t))
			return t;
	}
	return NULL;
}

/* Tries several plausible names of the members of entry, because no public source documents
 * them. */
bool bcm_state_read(struct exact entry, struct arena *a, const char **uuid, struct bcm_state *out)
{
	static const char *const of[] = {"ref_device_uuid", "uuid", "hostname", NULL};
	static const char *const said[] = {"status", "state", NULL};
	static const char *const texts[] = {"message", "userMessage", "infoMessage", NULL};
	const char *text = first_of(entry, said, a);

	*out = (struct bcm_state){.phase = BCM_UNKNOWN};
	*uuid = first_of(entry, of, a);
	if (!*uuid)
		return false;
	if (!text) {
		out->name = "(no state)";
		return true;
	}
	split(text, a, out);
	if (!out->text)
		out->text = first_of(entry, texts, a);
	return true;
}
