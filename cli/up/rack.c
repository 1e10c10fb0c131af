/*
 * rack: the simulated machines of `drover up`, with the listeners of their BMCs.
 */
#include "cli/up/rack.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "base/data/yaml.h"
#include "base/file.h"
#include "base/http/http_curl.h"
#include "base/httpd/httpd_mhd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/up/files.h"
#include "sim/machine/faults.h"
#include "sim/node/node.h"
#include "sim/rack/rack.h"

#define CONNECTIONS 8192
#define FAULTS_MAX (1u << 20)
#define CERT_DAYS 365 /* lifetime of the certificates, which are issued anew at each start */
#define PER_OCTET 250 /* number of BMC addresses with the same third octet, as in sim/rack/rack.h */
#define IMAGE_BYTES (16u << 20)
/* seconds that a machine takes to write the image: long enough for a user to see it */
#define IMAGE_S 3
#define BMC_CONNECTIONS 64
#define PER_MINUTE 600 /* maximum number of machines that drover powers on per minute */
/* A rack with more than CROWD machines is limited to CROWD_PER_MINUTE power-ons per minute: the
 * number of machines that one CPU core can bring from power-on to wiped in a minute. Machines in
 * progress therefore finish before the next ones start. */
#define CROWD 100
#define CROWD_PER_MINUTE 120

struct up_rack {
	const struct up_rack_spec *spec;
	struct loop_group *group;
	/* Memory of the texts in `faults` */
	struct arena *arena;
	struct sim_faults faults;
	struct secret *bmc_password, *kubelet_token, *ca_key;
	struct http *http;
	struct sim_rack *rack;
	struct httpd *httpd, *images;
	struct httpd_mhd **bmcs, *people, *images_l;
	unsigned nbmcs;
	char *image;
	char digest[CRYPTO_DIGEST_TEXT];
	char *urls[2], *bmc_format, *folder, *segments[UP_TENANTS];
	const char *cas[UP_TENANTS + 1];
	struct sim_route routes[UP_TENANTS + 1];
	char *people_url, *ca_path;
	/* Descriptor of the lock on the folder; -1: not open. */
	int lock;
};

/* --- the image -------------------------------------------------------------------------------- */

static void on_image(struct httpd_req *q, void *arg)
{
	struct up_rack *r = arg;

	httpd_reply(q, 200, "application/octet-stream", r->image, IMAGE_BYTES);
}

static int serve_image(struct up_rack *r, struct err *e)
{
	char address[32];
	struct httpd_mhd_spec s = {.address = address};

	r->image = sim_node_image("v1.36.0", IMAGE_BYTES, r->digest);
	r->images = httpd_new(r->group);
	httpd_route(r->images, "GET", "/node.raw", 0, on_image, r);
	str_format(address, sizeof(address), "127.0.0.1:%lld",
		   (long long)(r->spec->port + UP_PORT_IMAGES));
	r->images_l = httpd_mhd_new(r->images, &s, e);
	return r->images_l ? 0 : err_wrap(e, "images on %s", address);
}

const char *up_rack_image_digest(const struct up_rack *r)
{
	return r->digest;
}

/* --- machines --------------------------------------------------------------------------------- */

static void bmc_host(unsigned number, char out[static 24])
{
	str_format(out, 24, "127.10.%u.%u", number / PER_OCTET, number % PER_OCTET + 1);
}

/* Creates the simulated machines, and the routes from the tenants' segments to their API
 * servers. */
static int make_rack(struct up_rack *r, struct err *e)
{
	const struct up_rack_spec *u = r->spec;
	struct sim_rack_spec s = {
		.machines = (unsigned)u->machines,
		.racks = (unsigned)u->racks,
		.data = r->folder,
		.user = "drover",
		.password = r->bmc_password,
		.http = r->http,
		.endpoint_format = r->bmc_format,
		.cluster_cas = r->cas,
		.routes = r->routes,
		.ca_pem = u->machines <= UP_LISTENERS ? u->ca_pem : NULL,
		.media_url = r->urls[0],
		.agent_url = r->urls[1],
		.loopback_only = true,
		.kubelet_token = r->kubelet_token,
		.faults = &r->faults,
	};
	struct sim_times t = sim_times_or_fast(&(struct sim_times){0});

	s.times = (struct sim_times){
		.power_ms = t.power_ms / u->speed + 1,
		.post_ms = t.post_ms / u->speed + 1,
		.kernel_ms = t.kernel_ms / u->speed + 1,
		.system_ms = t.system_ms / u->speed + 1,
		.wipe_bytes_per_s = t.wipe_bytes_per_s * u->speed,
		.write_bytes_per_s = (int64_t)IMAGE_BYTES / IMAGE_S * u->speed,
	};
	for (int i = 0; i < UP_TENANTS; i++) {
		r->cas[i] = u->tenants[i].ca_pem;
		r->segments[i] = mem_printf("tenant/%s", u->tenants[i].name);
		r->routes[i] = (struct sim_route){r->segments[i], u->tenants[i].url};
	}
	r->rack = sim_rack_new(r->group, &s, e);
	return r->rack ? 0 : -1;
}

struct listener {
	/* Name, for errors. */
	const char *what;
	/* IP address of the socket. */
	const char *address;
	/* Host of the certificate. */
	const char *host;
	enum up_port port;
	unsigned connections;
};

/* Opens a TLS listener. Its certificate names one host only, because one certificate with the names
 * of all BMCs would make each handshake large. NULL with *e. */
static struct httpd_mhd *listen_on(struct up_rack *r, const struct listener *l, struct err *e)
{
	const char *const names[] = {l->host, NULL};
	char address[40], *cert = NULL;
	struct httpd_mhd_spec s = {.address = address, .max_connections = l->connections};
	struct httpd_mhd *m = NULL;
	OWN(secret) key = NULL;

	str_format(address, sizeof(address), "%s:%lld", l->address,
		   (long long)(r->spec->port + l->port));
	if (crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = r->spec->ca_pem,
							 .ca_key = r->ca_key,
							 .cn = "drover up",
							 .names = names,
							 .wall_ms = loop_wall(loop_of(r->group)),
							 .days = CERT_DAYS},
			      &cert, &key, e) == 0) {
		s.cert_pem = cert;
		s.key_pem = key;
		m = httpd_mhd_new(r->httpd, &s, e);
	}
	if (!m)
		err_note_wrap(e, "%s on %s", l->what, address);
	free(cert);
	return m;
}

static int listen_bmcs(struct up_rack *r, struct err *e)
{
	unsigned n = sim_rack_count(r->rack);
	bool each = n <= UP_LISTENERS; /* true: each BMC has a listener */
	char host[24];

	r->bmcs = mem_calloc(n, sizeof(*r->bmcs));
	for (; r->nbmcs < (each ? n : 1); r->nbmcs++) {
		bmc_host(r->nbmcs + 1, host);
		r->bmcs[r->nbmcs] = listen_on(
			r,
			&(struct listener){.what = "BMC",
					   .address = each ? host : "0.0.0.0",
					   .host = host,
					   .port = UP_PORT_BMC,
					   .connections = each ? BMC_CONNECTIONS : CONNECTIONS},
			e);
		if (!r->bmcs[r->nbmcs])
			return -1;
	}
	r->people = listen_on(r,
			      &(struct listener){.what = "rack",
						 .address = "127.0.0.1",
						 .host = "127.0.0.1",
						 .port = UP_PORT_RACK,
						 .connections = BMC_CONNECTIONS},
			      e);
	return r->people ? 0 : -1;
}

/* Writes URL and CA certificate of the rack's listener for users into the rack's folder, where
 * `drover sim fault` reads them. */
static int write_way(const struct up_rack *r, struct err *e)
{
	const char *ca = r->spec->ca_pem;
	char *path = mem_printf("%s/url", r->folder);
	int rc = file_write(path, r->people_url, strlen(r->people_url), 0600, true, e);

	free(path);
	if (rc < 0)
		return -1;
	path = mem_printf("%s/ca.crt", r->folder);
	rc = file_write(path, ca, strlen(ca), 0600, true, e);
	free(path);
	return rc;
}

/* Two processes in one folder would overwrite each other's machines. */
static int lock_folder(struct up_rack *r, struct err *e)
{
	char *path = mem_printf("%s/lock", r->folder);
	int rc = 0;

	r->lock = file_lock(path, e);
	if (r->lock < 0)
		rc = e->kind != ERR_CONFLICT
			     ? -1
			     : err_set(e, ERR_CONFLICT, e->code,
				       "%s: another simulated rack uses it", r->folder);
	free(path);
	return rc;
}

int up_faults_read(const char *path, struct arena *a, struct sim_faults *out, struct err *e)
{
	size_t len;
	char *text;
	int rc;

	if (!path)
		return 0;
	text = file_text(path, FAULTS_MAX, &len, e);
	rc = text ? sim_faults_read(text, len, a, out, e) : -1;
	free(text);
	return rc < 0 ? err_wrap(e, "--faults %s", path) : 0;
}

static int begin(struct up_rack *r, struct err *e)
{
	if (up_faults_read(r->spec->faults, r->arena, &r->faults, e) < 0 ||
	    up_folder(r->folder, e) < 0 || lock_folder(r, e) < 0 || make_rack(r, e) < 0)
		return -1;
	r->httpd = httpd_new(r->group);
	sim_rack_routes(r->rack, r->httpd);
	return listen_bmcs(r, e) < 0 || write_way(r, e) < 0 ? -1 : serve_image(r, e);
}

struct up_rack *up_rack_new(struct loop *l, const struct up_rack_spec *s, struct err *e)
{
	struct up_rack *r = mem_new(struct up_rack);

	r->spec = s;
	r->lock = -1;
	r->arena = arena_new();
	r->group = loop_group_new(l, "rack");
	r->http = http_new(r->group, http_curl_new(r->group, CONNECTIONS), 0);
	r->bmc_password = secret_from_str(s->bmc_password);
	r->kubelet_token = secret_from_str(s->kubelet_token);
	r->ca_key = secret_from_str(s->ca_key);
	r->folder = mem_printf("%s/rack", s->data);
	r->ca_path = mem_printf("%s/host/ca.crt", s->data);
	r->people_url = up_url(s->port, "https", UP_PORT_RACK);
	r->urls[0] = up_url(s->port, "http", UP_PORT_MEDIA);
	r->urls[1] = up_url(s->port, "https", UP_PORT_AGENT);
	r->bmc_format =
		mem_printf("https://127.10.%%u.%%u:%lld", (long long)(s->port + UP_PORT_BMC));
	if (begin(r, e) < 0) {
		up_rack_free(r);
		return NULL;
	}
	return r;
}

void up_rack_free(struct up_rack *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->nbmcs; i++)
		httpd_mhd_free(r->bmcs[i]);
	httpd_mhd_free(r->people);
	httpd_mhd_free(r->images_l);
	httpd_free(r->httpd);
	httpd_free(r->images);
	sim_rack_free(r->rack);
	http_free(r->http);
	loop_group_free(r->group);
	for (int i = 0; i < UP_TENANTS; i++)
		free(r->segments[i]);
	secret_free(r->bmc_password);
	secret_free(r->kubelet_token);
	secret_free(r->ca_key);
	arena_free(r->arena);
	free(r->bmcs);
	free(r->image);
	free(r->urls[0]);
	free(r->urls[1]);
	free(r->bmc_format);
	free(r->folder);
	free(r->people_url);
	free(r->ca_path);
	if (r->lock >= 0)
		close(r->lock);
	free(r);
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Adds the settings that sim_rack_objects() does not make: the program that moves switch ports, the
 * required wipe level, and the limits. */
static int finish_provider(const struct up_rack *r, json_t *spec)
{
	return json_object_set_new(spec, "network",
				   json_pack("{s:s,s:{s:[s,s,s,s,s,s]},s:{s:s,s:s}}", "type",
					     "exec", "exec", "command", r->spec->program, "sim",
					     "port-move", r->people_url, "--ca", r->ca_path,
					     "segments", "quarantine", "quarantine", "provisioning",
					     "provisioning")) ||
	       json_object_set_new(spec, "wipe",
				   json_pack("{s:{s:s,s:s},s:s}", "minimumLevel", "flash", "Clear",
					     "hdd", "Clear", "minimumTrust", "BootNetwork")) ||
	       json_object_set_new(
		       spec, "limits",
		       json_pack("{s:i, s:i, s:i}", "powerOnPerMinute",
				 sim_rack_count(r->rack) > CROWD ? CROWD_PER_MINUTE : PER_MINUTE,
				 "requestsPerSecond", 200, "concurrentOperations", 32));
}

json_t *up_rack_objects(const struct up_rack *r, struct err *e)
{
	char *text = sim_rack_objects(r->rack, UP_PROVIDER);
	json_t *list = yaml_parse_all(text, strlen(text), e), *o;
	size_t i;

	free(text);
	json_array_foreach (list, i, o)
		if (str_eq(json_str_at(o, "kind"), "Provider") &&
		    finish_provider(r, json_at(o, "spec")) != 0) {
			err_note(e, ERR_PROTOCOL, 0,
				 "the simulated rack returned an incomplete Provider");
			json_decref(list);
			return NULL;
		}
	return list;
}
