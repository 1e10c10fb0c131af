#include "sim/rack/rack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "base/buf.h"
#include "base/data/json.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/data/yaml.h"
#include "sim/bmc/bmc.h"
#include "sim/bmc/dialect.h"
#include "sim/machine/fault_list.h"
#include "sim/rack/firmware.h"

/*
 * The segments of all ports are stored in one file. A new version of the file is written under
 * another name and renamed, so that a killed process leaves one complete version. The machines
 * store their own state (machine.c).
 */
#define PER_OCTET 250
#define MACHINES_MAX 20000
#define BODY_MAX 4096
#define SEGMENT_MAX 253
#define PORTS_MAX (16u << 20)

struct slot {
	struct sim_machine machine;
	struct sim_bmc *bmc;
	/* Highest fence with which the machine's port was moved. */
	int64_t fence;
};

struct sim_rack {
	struct loop_group *group;
	struct sim_rack_spec spec;
	struct sim_site site;
	struct slot *slots;
	/* Number of slots (machines) that are initialized. */
	unsigned n;
	struct fault_list *faults;
	char *ports_path;
};

struct sim_machine *sim_rack_machine(struct sim_rack *r, unsigned number)
{
	return number >= 1 && number <= r->n ? &r->slots[number - 1].machine : NULL;
}

unsigned sim_rack_count(const struct sim_rack *r)
{
	return r->n;
}

struct loop_group *sim_rack_group(const struct sim_rack *r)
{
	return r->group;
}

/* Returns the dialect of the BMC of machine `number`; NULL: the BMC follows the specification. */
static const struct sim_dialect *dialect_of(const struct sim_rack *r, unsigned number)
{
	const struct sim_dialects *all = r->spec.dialects;

	return all && all->n ? all->v[(number - 1) % all->n].dialect : NULL;
}

/* --- segments --------------------------------------------------------------------------------- */

static int save_ports(struct sim_rack *r, struct err *e)
{
	OWN_JSON all = json_object();
	char *text;
	int status;

	if (!r->ports_path)
		return 0;
	for (unsigned i = 0; i < r->n; i++)
		json_object_set_new(all, r->slots[i].machine.mac,
				    json_pack("{s:s,s:I}", "segment", r->slots[i].machine.segment,
					      "fence", (json_int_t)r->slots[i].fence));
	text = json_text(all);
	status = file_write(r->ports_path, text, strlen(text), 0600, false, e);
	free(text);
	return status;
}

static int load_ports(struct sim_rack *r, struct err *e)
{
	FILE *f = fopen(r->ports_path, "r");
	OWN_JSON all = NULL;
	char *text;
	size_t n;

	if (!f)
		return errno == ENOENT ? 0 : err_errno(e, errno, "%s", r->ports_path);
	text = mem_alloc(PORTS_MAX);
	n = fread(text, 1, PORTS_MAX, f);
	fclose(f);
	all = json_parse(text, n, e);
	free(text);
	if (!all)
		return err_wrap(e, "%s", r->ports_path);
	for (unsigned i = 0; i < r->n; i++) {
		struct slot *s = &r->slots[i];
		const char *segment = json_str_at(all, s->machine.mac, "segment");

		if (!segment || strlen(segment) > SEGMENT_MAX)
			continue;
		sim_text_set(&s->machine.segment, segment);
		s->fence = json_int_at(all, s->machine.mac, "fence");
	}
	return 0;
}

/* --- requests of users and of the switch driver ----------------------------------------------- */

/* True if the rack answers this client. False: the rack is restricted to clients on its own
 * computer, the client is on another computer, and the request was refused. */
static bool welcome(const struct sim_rack *r, struct httpd_req *q)
{
	const char *from = httpd_identity(q)->address;
	struct err e;

	if (!r->spec.loopback_only || str_starts(from, "127.") || str_starts(from, "[::1]") ||
	    str_starts(from, "[::ffff:127."))
		return true;
	err_note(&e, ERR_DENIED, 403, "this rack answers only clients on its own computer");
	httpd_reply_err(q, &e);
	return false;
}

static void reply(struct httpd_req *q, json_t *j /* takes ownership */)
{
	char *text = json_text(j);

	httpd_reply_json(q, 200, text);
	free(text);
	json_decref(j);
}

static void refuse(struct httpd_req *q, enum err_kind kind, const char *text)
{
	struct err e;

	err_note(&e, kind, 0, "%s", text);
	httpd_reply_err(q, &e);
}

static json_t *describe(const struct slot *s)
{
	const struct sim_machine *m = &s->machine;
	json_t *drives = json_array();

	for (unsigned i = 0; i < m->ndrives; i++)
		json_array_append_new(drives, json_pack("{s:s,s:I}", "wwn", m->wwns[i], "bytes",
							(json_int_t)drive_bytes(m->drives[i])));
	return json_pack("{s:s,s:i,s:s,s:s,s:s,s:b,s:s,s:i,s:s?,s:s?,s:s?,s:s,s:o}", "name",
			 m->name, "number", (int)m->number, "uuid", m->uuid, "serial", m->serial,
			 "mac", m->mac, "on", m->on, "doing", sim_doing_name(m->doing), "boots",
			 (int)m->boots, "image", m->image, "bootTarget", m->boot_target,
			 "bootEnabled", m->boot_enabled, "segment", m->segment, "drives", drives);
}

static void list_machines(struct httpd_req *q, void *arg)
{
	struct sim_rack *r = arg;
	json_t *all = json_array();

	if (!welcome(r, q)) {
		json_decref(all);
		return;
	}
	for (unsigned i = 0; i < r->n; i++)
		json_array_append_new(all, describe(&r->slots[i]));
	reply(q, json_pack("{s:o}", "machines", all));
}

static struct slot *find_slot(struct sim_rack *r, const char *text, bool mac)
{
	for (unsigned i = 0; i < r->n; i++) {
		const struct sim_machine *m = &r->slots[i].machine;

		if (mac ? !strcasecmp(m->mac, text) : str_eq(m->name, text))
			return &r->slots[i];
	}
	return NULL;
}

/* Returns the request body as JSON, {} if the body is empty. NULL: the body is not JSON, and the
 * request was refused. */
static json_t *body_of(struct httpd_req *q)
{
	size_t len;
	const char *text = httpd_body(q, &len);
	struct err e;
	json_t *j = len ? json_parse(text, len, &e) : json_object();

	if (!j) {
		e.kind = ERR_INVALID;
		httpd_reply_err(q, &e);
	}
	return j;
}

static void pull_drive(struct httpd_req *q, struct slot *s, const json_t *body)
{
	const json_t *which = json_object_get(body, "drive"),
		     *out = json_object_get(body, "pulled");
	json_int_t n = json_integer_value(which);

	if ((which && !json_is_integer(which)) || n < 0 || n >= s->machine.ndrives) {
		refuse(q, ERR_INVALID, "drive: want the number of a drive, from 0");
		return;
	}
	drive_fail(s->machine.drives[n], !json_is_false(out));
	reply(q, describe(s));
}

static void touch(struct httpd_req *q, void *arg)
{
	struct sim_rack *r = arg;
	struct slot *s = find_slot(r, httpd_segment(q, 0), false);
	const char *verb = httpd_segment(q, 1);
	OWN_JSON body = NULL;

	if (!welcome(r, q))
		return;
	if (!s) {
		refuse(q, ERR_NOT_FOUND, "no such machine in this rack");
		return;
	}
	body = body_of(q);
	if (!body)
		return;
	if (str_eq(verb, "pull-drive")) {
		pull_drive(q, s, body);
	} else if (str_eq(verb, "plug")) {
		if (json_is_false(json_object_get(body, "in")))
			sim_machine_cut(&s->machine);
		reply(q, describe(s));
	} else if (str_eq(verb, "press")) {
		sim_machine_power(&s->machine, !s->machine.on);
		reply(q, describe(s));
	} else {
		refuse(q, ERR_NOT_FOUND, "want pull-drive, plug or press");
	}
}

static void list_faults(struct httpd_req *q, void *arg)
{
	struct sim_rack *r = arg;

	if (welcome(r, q))
		reply(q, fault_list_json(r->faults));
}

/* Adds the faults in a text. -1: the text is not valid, or a fault names an unknown machine; then
 * no fault is added. */
static int add_faults(struct sim_rack *r, const char *text, size_t len, struct err *e)
{
	OWN(arena) a = arena_new();
	struct sim_faults more = {0};

	if (sim_faults_read(text, len, a, &more, e) < 0)
		return -1;
	for (size_t i = 0; i < more.n; i++)
		if (!str_eq(more.v[i].machine, "*") && !find_slot(r, more.v[i].machine, false))
			return err_set(e, ERR_NOT_FOUND, 0, "%.64s: no such machine in this rack",
				       more.v[i].machine);
	return fault_list_add(r->faults, text, len, e);
}

static void post_faults(struct httpd_req *q, void *arg)
{
	struct sim_rack *r = arg;
	size_t len;
	const char *text;
	struct err e;

	if (!welcome(r, q))
		return;
	text = httpd_body(q, &len);
	if (add_faults(r, text, len, &e) == 0) {
		reply(q, fault_list_json(r->faults));
		return;
	}
	if (e.kind != ERR_NOT_FOUND)
		e.kind = ERR_INVALID;
	httpd_reply_err(q, &e);
}

static void delete_faults(struct httpd_req *q, void *arg)
{
	struct sim_rack *r = arg;
	const char *machine = httpd_segment(q, 0);

	if (!welcome(r, q))
		return;
	if (machine && !find_slot(r, machine, false)) {
		refuse(q, ERR_NOT_FOUND, "no such machine in this rack");
		return;
	}
	fault_list_clear(r->faults, machine);
	reply(q, fault_list_json(r->faults));
}

static void get_port(struct httpd_req *q, void *arg)
{
	struct sim_rack *r = arg;
	const struct slot *s = find_slot(r, httpd_segment(q, 0), true);

	if (!welcome(r, q))
		return;
	if (s)
		reply(q, json_pack("{s:s,s:I}", "segment", s->machine.segment, "fence",
				   (json_int_t)s->fence));
	else
		refuse(q, ERR_NOT_FOUND, "no port with this MAC address in this rack");
}

static void put_port(struct httpd_req *q, void *arg)
{
	struct sim_rack *r = arg;
	struct slot *s = find_slot(r, httpd_segment(q, 0), true);
	OWN_JSON body = NULL;
	const char *segment;
	json_int_t fence;
	struct err e;

	if (!welcome(r, q))
		return;
	if (!s) {
		refuse(q, ERR_NOT_FOUND, "no port with this MAC address in this rack");
		return;
	}
	body = body_of(q);
	if (!body)
		return;
	segment = json_str_at(body, "segment");
	fence = json_int_at(body, "fence");
	if (!segment || strlen(segment) > SEGMENT_MAX) {
		refuse(q, ERR_INVALID, "segment: want a name of at most 253 bytes");
		return;
	}
	if (json_object_get(body, "fence") && fence < s->fence) {
		refuse(q, ERR_CONFLICT, "the fence is lower than the highest seen");
		return;
	}
	s->fence = fence > s->fence ? fence : s->fence;
	if (!sim_machine_fault(&s->machine, "Request", "PortLie", NULL))
		sim_text_set(&s->machine.segment, segment);
	if (save_ports(r, &e) < 0)
		httpd_reply_err(q, &e);
	else
		reply(q, json_pack("{s:s,s:I}", "segment", segment, "fence", (json_int_t)s->fence));
}

/* --- the BMCs --------------------------------------------------------------------------------- */

/* Returns the slot (machine) of a Host header "127.10.H.L" or "127.10.H.L:PORT"; NULL: no machine
 * has that address. */
static struct slot *slot_of_host(struct sim_rack *r, const char *host)
{
	unsigned high, low, port;
	char rest;
	int n = host ? sscanf(host, "127.10.%3u.%3u:%5u%c", &high, &low, &port, &rest) : 0;

	if (n == 2)
		n = sscanf(host, "127.10.%3u.%3u%c", &high, &low, &rest) == 2 ? 3 : 0;
	if (n != 3 || low < 1 || low > PER_OCTET || high * PER_OCTET + low - 1 < 1 ||
	    high * PER_OCTET + low - 1 > r->n)
		return NULL;
	return &r->slots[high * PER_OCTET + low - 2];
}

static void serve_bmc(struct httpd_req *q, void *arg)
{
	struct sim_rack *r = arg;
	struct slot *s = slot_of_host(r, httpd_header(q, "Host"));

	if (!welcome(r, q))
		return;
	if (s)
		sim_bmc_handle(q, s->bmc);
	else
		refuse(q, ERR_NOT_FOUND,
		       "no BMC has this address; machine N has 127.10.(N / 250).(N % 250 + 1)");
}

void sim_rack_routes(struct sim_rack *r, struct httpd *d)
{
	httpd_route(d, "*", "/redfish/**", SIM_BMC_BODY_MAX, serve_bmc, r);
	httpd_route(d, "GET", "/sim/machines", 0, list_machines, r);
	httpd_route(d, "POST", "/sim/machines/{}/{}", BODY_MAX, touch, r);
	httpd_route(d, "GET", "/sim/faults", 0, list_faults, r);
	httpd_route(d, "POST", "/sim/faults", BODY_MAX, post_faults, r);
	httpd_route(d, "DELETE", "/sim/faults", 0, delete_faults, r);
	httpd_route(d, "DELETE", "/sim/faults/{}", 0, delete_faults, r);
	httpd_route(d, "GET", "/sim/ports/{}", 0, get_port, r);
	httpd_route(d, "PUT", "/sim/ports/{}", BODY_MAX, put_port, r);
}

/* --- objects ---------------------------------------------------------------------------------- */

static char *address_of(const struct sim_rack *r, unsigned number)
{
	const char *format = str_or(r->spec.endpoint_format, "https://127.10.%u.%u:8443");
	unsigned part[2] = {number / PER_OCTET, number % PER_OCTET + 1}, n = 0;
	struct buf b;

	buf_init(&b, 1024);
	for (const char *s = format; *s; s++) {
		if (s[0] == '%' && s[1] == 'u' && n < 2) {
			buf_printf(&b, "%u", part[n++]);
			s++;
		} else {
			buf_put(&b, s, 1);
		}
	}
	buf_puts(&b, sim_bmc_system(r->slots[number - 1].bmc));
	return buf_steal(&b);
}

/* Returns the name of the rack of machine m, malloc'd. Consecutive machines share a rack, and the
 * racks differ by one machine at most. */
static char *rack_name(const struct sim_rack *r, const struct sim_machine *m, const char *provider)
{
	unsigned racks = r->spec.racks;
	int width = racks < 10 ? 1 : racks < 100 ? 2 : racks < 1000 ? 3 : racks < 10000 ? 4 : 5;

	if (racks == 1)
		return mem_strdup(provider);
	return mem_printf("%s-%0*u", provider, width,
			  (unsigned)((uint64_t)(m->number - 1) * racks / r->n) + 1);
}

static json_t *machine_object(const struct sim_rack *r, const struct sim_machine *m,
			      const char *provider)
{
	char *address = address_of(r, m->number), *ca = mem_printf("%s-ca", provider),
	     *rack = rack_name(r, m, provider);
	json_t *bmc = json_pack("{s:s}", "address", address);
	json_t *spec = json_pack("{s:{s:s},s:s,s:s,s:{s:s,s:s},s:o,s:s}", "providerRef", "name",
				 provider, "instanceType", "hgx-h100-8", "managementPolicy",
				 "Manage", "identity", "systemUUID", m->uuid, "serialNumber",
				 m->serial, "bmc", bmc, "bootMACAddress", m->mac);

	if (str_starts(address, "https:"))
		json_object_set_new(bmc, "tls",
				    r->spec.ca_pem
					    ? json_pack("{s:{s:s}}", "caSecretRef", "name", ca)
					    : json_pack("{s:b}", "trustOnFirstUse", 1));
	free(address);
	free(ca);
	spec = json_pack("{s:s,s:s,s:{s:s,s:{s:s}},s:o}", "apiVersion", "drover.dev/v1alpha1",
			 "kind", "Machine", "metadata", "name", m->name, "labels",
			 "topology.drover.dev/rack", rack, "spec", spec);
	free(rack);
	return spec;
}

static json_t *instance_type(void)
{
	return json_pack("{s:s,s:{s:[{s:s,s:i}]},s:{s:s,s:s,s:s,s:s},s:{s:s},s:{s:s}}", "name",
			 "hgx-h100-8", "match", "pci", "id", "10de:2330", "count", 8, "capacity",
			 "cpu", "192", "memory", "2Ti", "nvidia.com/gpu", "8", "pods", "110",
			 "labels", "nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3", "rootDevice",
			 "model", MACHINE_ROOT_MODEL);
}

static json_t *provider_object(const struct sim_rack *r, const char *name)
{
	char *secret = mem_printf("%s-bmc", name);
	/* Lists 127.0.0.0/8 as proxies, because each BMC has its own address, but all BMCs fetch
	 * media from one address. */
	json_t *boot = json_pack("{s:[s], s:[s]}", "methods", "VirtualMedia", "proxies",
				 "127.0.0.0/8"),
	       *spec;

	if (r->spec.media_url)
		json_object_set_new(boot, "mediaURL", json_string(r->spec.media_url));
	spec = json_pack("{s:s,s:{s:s},s:o,s:[o]}", "type", "redfish", "credentialsSecretRef",
			 "name", secret, "boot", boot, "instanceTypes", instance_type());
	if (r->spec.head_url) {
		json_object_set_new(spec, "type", json_string("bcm"));
		json_object_set_new(spec, "bcm",
				    json_pack("{s:s, s:{s:{s:o}}, s:{s:o}, s:[s]}", "endpoint",
					      r->spec.head_url, "tls", "caSecretRef", "name",
					      json_sprintf("%s-ca", name), "credentialsSecretRef",
					      "name", json_sprintf("%s-head", name), "bmcNetworks",
					      "127.10.0.0/16"));
	}
	/* Lists loopback addresses as the agents' networks, because the agents run in this process:
	 * a drover on the same computer sees them at loopback addresses. */
	if (r->spec.agent_url)
		json_object_set_new(spec, "agent",
				    str_starts(r->spec.agent_url, "https://127.")
					    ? json_pack("{s:s, s:[s]}", "endpoint",
							r->spec.agent_url, "networks",
							"127.0.0.0/8")
					    : json_pack("{s:s}", "endpoint", r->spec.agent_url));
	free(secret);
	return json_pack("{s:s,s:s,s:{s:s},s:o}", "apiVersion", "drover.dev/v1alpha1", "kind",
			 "Provider", "metadata", "name", name, "spec", spec);
}

char *sim_rack_objects(const struct sim_rack *r, const char *provider_name)
{
	struct buf b;
	json_t *j = provider_object(r, provider_name);

	buf_init(&b, 64u << 20);
	yaml_print(j, &b);
	json_decref(j);
	for (unsigned i = 0; i < r->n; i++) {
		j = machine_object(r, &r->slots[i].machine, provider_name);
		buf_puts(&b, "---\n");
		yaml_print(j, &b);
		json_decref(j);
	}
	return buf_steal(&b);
}

/* --- start and end ---------------------------------------------------------------------------- */

static void defaults(struct sim_rack_spec *s)
{
	s->racks = s->racks ? s->racks : (s->machines + SIM_RACK_MACHINES - 1) / SIM_RACK_MACHINES;
	s->drives = s->drives ? s->drives : 2;
	s->drive_bytes = s->drive_bytes ? s->drive_bytes : (int64_t)16 << 30;
	s->user = str_or(s->user, "admin");
	s->times = sim_times_or_fast(&s->times);
}

static int check(const struct sim_rack_spec *s, struct err *e)
{
	if (s->machines < 1 || s->machines > MACHINES_MAX)
		return err_set(e, ERR_INVALID, 0, "machines: want 1 to %d, got %u", MACHINES_MAX,
			       s->machines);
	if (s->racks > s->machines)
		return err_set(e, ERR_INVALID, 0,
			       "racks: want at most one for each of the %u machines, got %u",
			       s->machines, s->racks);
	if (s->drives > MACHINE_DRIVES)
		return err_set(e, ERR_INVALID, 0, "drives: want 1 to %d, got %u", MACHINE_DRIVES,
			       s->drives);
	if (!s->password)
		return err_set(e, ERR_INVALID, 0, "password: is missing");
	if (s->data && mkdir(s->data, 0700) < 0 && errno != EEXIST)
		return err_errno(e, errno, "%s", s->data);
	return 0;
}

static struct sim_site site_of(const struct sim_rack *r)
{
	const struct sim_rack_spec *s = &r->spec;

	return (struct sim_site){.group = r->group,
				 .firmware = &sim_firmware,
				 .http = s->http,
				 .faults = r->faults,
				 .times = s->times,
				 .drives = s->drives,
				 .drive_bytes = s->drive_bytes,
				 .data = s->data,
				 .segments_to_drover = s->segments_to_drover,
				 .cluster_cas = s->cluster_cas,
				 .routes = s->routes,
				 .kubelet_token = s->kubelet_token};
}

struct sim_rack *sim_rack_new(struct loop_group *g, const struct sim_rack_spec *s, struct err *e)
{
	struct sim_rack *r;

	if (check(s, e) < 0)
		return NULL;
	r = mem_new(struct sim_rack);
	r->group = g;
	r->spec = *s;
	defaults(&r->spec);
	r->faults = fault_list_new(s->faults);
	r->site = site_of(r);
	r->slots = mem_calloc(s->machines, sizeof(*r->slots));
	if (s->data)
		r->ports_path = mem_printf("%s/ports.json", s->data);
	for (unsigned i = 0; i < s->machines; i++) {
		struct slot *slot = &r->slots[i];
		const struct sim_dialect *dialect = dialect_of(r, i + 1);

		sim_machine_init(&slot->machine, &r->site, i + 1,
				 dialect ? dialect->quirks.boot.cd : NULL);
		slot->bmc = sim_bmc_new(g, &slot->machine, dialect, r->spec.user, s->password);
		r->n++;
		if (slot->machine.problem.kind != ERR_NONE) {
			*e = slot->machine.problem;
			sim_rack_free(r);
			return NULL;
		}
	}
	if (r->ports_path && load_ports(r, e) < 0) {
		sim_rack_free(r);
		return NULL;
	}
	return r;
}

void sim_rack_free(struct sim_rack *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->n; i++) {
		sim_bmc_free(r->slots[i].bmc);
		sim_machine_done(&r->slots[i].machine);
	}
	free(r->ports_path);
	free(r->slots);
	fault_list_free(r->faults);
	free(r);
}
