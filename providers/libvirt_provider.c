#include "providers/libvirt_provider.h"

#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/helper.h"
#include "providers/registry.h"

/*
 * Provider type libvirt: machines are libvirt domains, reached through the helper process
 * drover-libvirt (docs/providers/libvirt.md specifies its requests).
 *
 * The address of a machine is libvirt://PROVIDER/DOMAIN. HTTP boot is not supported: libvirt only
 * sets the order of boot devices in the firmware.
 * Tests: tests/contract/test_provider.c
 */
#define RATE 50
#define CONCURRENT 64

static const struct helper_words words = {
	.type = "libvirt", .self = "drover-libvirt", .thing = "domain"};

/* True if --allow-libvirt allows the URI. The user who starts drover chooses what drover opens with
 * its own rights; users who may only write Providers must not. */
static bool is_allowed(const struct provider_libvirt *l)
{
	for (size_t i = 0; l->allowed && l->allowed[i]; i++)
		if (str_eq(l->allowed[i], l->uri))
			return true;
	return false;
}

/* True for a URI whose connection is a local socket, or is encrypted and verified by libvirt. */
static bool is_safe(const char *uri)
{
	static const char *const schemes[] = {"qemu:///", "qemu+unix://", "qemu+tls://",
					      "qemu+ssh://", "test:///"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (str_starts(uri, schemes[i]))
			return !strstr(uri, "no_verify") && !strstr(uri, "no_sanity");
	return false;
}

static int libvirt_open(struct provider *p, const struct provider_spec *s, struct err *e)
{
	const struct provider_libvirt *l = s->libvirt;
	const char *argv[] = {l ? l->helper : NULL, NULL};
	/* Pass these variables to the helper: libvirt finds the socket of qemu:///session, and ssh
	 * finds its keys, through them. */
	const char *home = getenv("HOME"), *run_dir = getenv("XDG_RUNTIME_DIR");
	char *env[5] = {mem_strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"),
			mem_strdup("LANG=C.UTF-8")};
	struct child_spec child = {
		.group = s->group, .argv = argv, .env = (const char *const *)env, .pings = true};
	size_t n = 2;
	int rc = 0;

	if (!l || str_empty(l->uri) || str_empty(l->pool))
		rc = err_set(e, ERR_INVALID, 0, "libvirt: uri and storagePool are required");
	else if (!is_safe(l->uri))
		rc = err_set(
			e, ERR_DENIED, 0,
			"libvirt.uri: want qemu:///, qemu+tls://, qemu+ssh:// or test:/// without "
			"no_verify, got %.150s",
			l->uri);
	else if (/* mutant: libvirt-any */ !is_allowed(l))
		rc = err_set(e, ERR_DENIED, 0,
			     "libvirt.uri: %.200s is not allowed: add it with --allow-libvirt",
			     l->uri);
	else if (!l->helper)
		rc = err_set(e, ERR_UNSUPPORTED, 0, "drover-libvirt is not installed");
	if (rc == 0) {
		if (home)
			env[n++] = mem_printf("HOME=%s", home);
		if (run_dir)
			env[n++] = mem_printf("XDG_RUNTIME_DIR=%s", run_dir);
		child.hello = json_pack("{s:s,s:s,s:s?}", "uri", l->uri, "pool", l->pool,
					"mediaURL", s->media_url);
		p->state = helper_new(&words, s, child_new(&child), RATE, CONCURRENT);
	}
	for (size_t i = 0; i < n; i++)
		free(env[i]);
	return rc;
}

static json_t *drives_of(const struct provider_template *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->ndrives; i++)
		json_array_append_new(list, json_pack("{s:I,s:s}", "bytes",
						      (json_int_t)t->drives[i].bytes, "bus",
						      provider_bus_names[t->drives[i].bus]));
	return list;
}

static void ask_about(struct provider_machine *m, enum job_kind kind, json_t *request_,
		      const struct provider_template *t, const struct provider_call *c)
{
	json_object_set_new(request_, "uuid", json_string(t->uuid));
	json_object_set_new(request_, "owner", json_string(t->owner));
	json_object_set_new(request_, "machine", json_string(helper_machine_of(m)->name));
	helper_ask(m, kind, request_, c);
}

static void libvirt_define(struct provider *p, struct provider_machine *m,
			   const struct provider_template *t, const struct provider_call *c)
{
	(void)p;
	ask_about(m, JOB_DEFINE,
		  json_pack("{s:s,s:I,s:I,s:s?,s:s?,s:s?,s:o}", "op", "define", "cpus",
			    (json_int_t)t->cpus, "memoryBytes", (json_int_t)t->memory_bytes,
			    "network", t->network, "bridge", t->bridge, "type", t->type, "drives",
			    drives_of(t)),
		  t, c);
}

static void libvirt_undefine(struct provider *p, struct provider_machine *m,
			     const struct provider_template *t, const struct provider_call *c)
{
	(void)p;
	ask_about(m, JOB_UNDEFINE, json_pack("{s:s}", "op", "undefine"), t, c);
}

static const struct provider_hardware_ops hardware = {
	.observe = helper_observe,
	.power = helper_power,
	.boot = helper_boot,
	.media = helper_media,
	.define = libvirt_define,
	.undefine = libvirt_undefine,
};

const struct provider_ops libvirt_provider_ops = {
	.type = "libvirt",
	.open = libvirt_open,
	.close = helper_close,
	.attach = helper_attach,
	.detach = helper_detach,
	.hardware = &hardware,
};
