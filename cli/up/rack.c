/*
 * rack: the simulated rack of `drover up`. It has the machines, a TLS listener on the address of
 * each BMC, one more listener for users and for the program that moves switch ports, and the server
 * of the OS image.
 * Tests: tests/real/up.py, examples/demo.py
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/data/yaml.h"
#include "base/http/http_curl.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/up/files.h"
#include "cli/up/server.h"
#include "cli/up/up.h"
#include "sim/node.h"
#include "sim/rack.h"

#define CONNECTIONS 2048
#define PER_OCTET 250 /* number of BMC addresses with the same third octet, as in sim/rack.h */
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
	struct up *up;
	struct loop_group *group;
	struct http *http;
	struct sim_rack *rack;
	struct httpd *httpd, *images;
	struct httpd_mhd **bmcs, *people, *images_l;
	unsigned nbmcs;
	char *image;
	char digest[CRYPTO_DIGEST_TEXT];
	char *urls[2], *bmc_format, *folder, *origins[UP_TENANTS], *segments[UP_TENANTS];
	const char *cas[UP_TENANTS + 1];
	struct sim_route routes[UP_TENANTS + 1];
	char driver[4096], *people_url, *ca_path;
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
		   (long long)(r->up->port + UP_PORT_IMAGES));
	r->images_l = httpd_mhd_new(r->images, &s, e);
	return r->images_l ? 0 : err_wrap(e, "images on %s", address);
}

const char *up_rack_image_digest(const struct up_rack *r)
{
	return r->digest;
}

const char *up_rack_driver(const struct up_rack *r)
{
	return r->driver;
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
	struct up *u = r->up;
	struct sim_rack_spec s = {
		.machines = (unsigned)u->machines,
		.racks = (unsigned)u->racks,
		.data = r->folder,
		.user = "drover",
		.password = u->bmc_password,
		.http = r->http,
		.endpoint_format = r->bmc_format,
		.cluster_cas = r->cas,
		.routes = r->routes,
		.ca_pem = up_server_ca_pem(u->host.server),
		.media_url = r->urls[0],
		.agent_url = r->urls[1],
		.loopback_only = true,
		.kubelet_token = u->kubelet_token,
		.faults = &u->faults,
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
		r->cas[i] = up_server_ca_pem(u->tenants[i].server);
		r->segments[i] = mem_printf("tenant/%s", u->tenants[i].name);
		r->routes[i] =
			(struct sim_route){r->segments[i], up_server_url(u->tenants[i].server)};
	}
	r->rack = sim_rack_new(r->group, &s, e);
	return r->rack ? 0 : -1;
}

/* Opens a TLS listener with a certificate for `host` only, because one certificate with the names
 * of all BMCs would make each handshake large. what: name of the listener, for errors. NULL with
 * *e. */
static struct httpd_mhd *listen_on(struct up_rack *r, const char *what, const char *host,
				   enum up_port port, struct err *e)
{
	const char *const names[] = {host, NULL};
	char address[40], *cert = NULL;
	struct httpd_mhd_spec s = {.address = address, .max_connections = BMC_CONNECTIONS};
	struct httpd_mhd *m = NULL;
	OWN(secret) key = NULL;

	str_format(address, sizeof(address), "%s:%lld", host, (long long)(r->up->port + port));
	if (up_certificate(r->up, names, &cert, &key, e) == 0) {
		s.cert_pem = cert;
		s.key_pem = key;
		m = httpd_mhd_new(r->httpd, &s, e);
	}
	if (!m)
		(void)!err_wrap(e, "%s on %s", what, address);
	free(cert);
	return m;
}

static int listen_bmcs(struct up_rack *r, struct err *e)
{
	unsigned n = sim_rack_count(r->rack);
	char host[24];

	r->bmcs = mem_calloc(n, sizeof(*r->bmcs));
	for (; r->nbmcs < n; r->nbmcs++) {
		bmc_host(r->nbmcs + 1, host);
		r->bmcs[r->nbmcs] = listen_on(r, "BMC", host, UP_PORT_BMC, e);
		if (!r->bmcs[r->nbmcs])
			return -1;
	}
	r->people = listen_on(r, "rack", "127.0.0.1", UP_PORT_RACK, e);
	return r->people ? 0 : -1;
}

/* Writes URL and CA certificate of the rack's listener for users into the rack's folder, where
 * `drover sim fault` reads them. */
static int write_way(const struct up_rack *r, struct err *e)
{
	const char *ca = up_server_ca_pem(r->up->host.server);
	char *path = mem_printf("%s/url", r->folder);
	int rc = up_write(path, r->people_url, strlen(r->people_url), e);

	free(path);
	if (rc < 0)
		return -1;
	path = mem_printf("%s/ca.crt", r->folder);
	rc = up_write(path, ca, strlen(ca), e);
	free(path);
	return rc;
}

struct up_rack *up_rack_new(struct up *u, struct err *e)
{
	struct up_rack *r = mem_new(struct up_rack);
	ssize_t n = readlink("/proc/self/exe", r->driver, sizeof(r->driver) - 1);
	int rc = n < 0 ? err_errno(e, errno, "/proc/self/exe") : 0;

	r->up = u;
	r->group = loop_group_new(u->loop, "rack");
	r->http = http_new(r->group, http_curl_new(r->group, CONNECTIONS), 0);
	r->folder = mem_printf("%s/rack", u->data);
	r->ca_path = mem_printf("%s/host/ca.crt", u->data);
	r->people_url = up_url(u, "https", UP_PORT_RACK);
	r->urls[0] = up_url(u, "http", UP_PORT_MEDIA);
	r->urls[1] = up_url(u, "https", UP_PORT_AGENT);
	r->bmc_format =
		mem_printf("https://127.10.%%u.%%u:%lld", (long long)(u->port + UP_PORT_BMC));
	if (rc == 0)
		rc = up_folder(r->folder, e);
	if (rc == 0)
		rc = make_rack(r, e);
	if (rc == 0) {
		r->httpd = httpd_new(r->group);
		sim_rack_routes(r->rack, r->httpd);
		rc = listen_bmcs(r, e);
	}
	if (rc == 0)
		rc = write_way(r, e);
	if (rc == 0)
		rc = serve_image(r, e);
	if (rc < 0) {
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
	free(r->bmcs);
	free(r->image);
	free(r->urls[0]);
	free(r->urls[1]);
	free(r->bmc_format);
	free(r->folder);
	free(r->people_url);
	free(r->ca_path);
	free(r);
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Adds the settings that sim_rack_objects() does not make: the program that moves switch ports, the
 * required wipe level, and the limits. */
static int finish_provider(const struct up_rack *r, json_t *spec)
{
	return json_object_set_new(spec, "network",
				   json_pack("{s:s,s:{s:[s,s,s,s,s,s]},s:{s:s,s:s}}", "type",
					     "exec", "exec", "command", r->driver, "sim",
					     "port-move", r->people_url, "--ca", r->ca_path,
					     "segments", "quarantine", "quarantine", "provisioning",
					     "provisioning")) ||
	       json_object_set_new(spec, "wipe",
				   json_pack("{s:{s:s,s:s},s:s}", "minimumLevel", "flash", "Clear",
					     "hdd", "Clear", "minimumTrust", "BootNetwork")) ||
	       json_object_set_new(spec, "limits",
				   json_pack("{s:i, s:i, s:i}", "powerOnPerMinute",
					     r->nbmcs > CROWD ? CROWD_PER_MINUTE : PER_MINUTE,
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
			(void)!err_set(e, ERR_PROTOCOL, 0,
				       "the simulated rack returned an incomplete Provider");
			json_decref(list);
			return NULL;
		}
	return list;
}
