#include "cli/baremetalhost.h"

#include <stdlib.h>
#include <string.h>

#include "api/kinds.h"
#include "base/mem.h"
#include "base/str.h"

static void note(struct buf *notes, const char *text)
{
	char *line = mem_strdup(text);

	str_printable(line);
	buf_printf(notes, "# %s\n", line);
	free(line);
}

/* --- addresses -------------------------------------------------------------------------------- */

/* True if the first len bytes of s are a scheme of Metal3 that means Redfish, without its suffix
 * +http or +https. */
static bool is_redfish(const char *s, size_t len)
{
	static const char *const schemes[] = {
		"redfish",	    "redfish-virtualmedia", "redfish-uefihttp",
		"idrac-redfish",    "idrac-virtualmedia",   "ilo5-redfish",
		"ilo5-virtualmedia"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strlen(schemes[i]) == len && strncmp(s, schemes[i], len) == 0)
			return true;
	return false;
}

/* Converts a BMC address, and adds notes. NULL: drover cannot use such a BMC; *why is the
 * reason. */
static const char *address_of(const struct baremetalhost_import *m, const char *address,
			      struct buf *notes, const char **why)
{
	const char *rest = strstr(address, "://");
	size_t scheme = rest ? (size_t)(rest - address) : 0, plus;

	rest = rest ? rest + 3 : address;
	plus = strcspn(address, "+");
	if (strpbrk(rest, "@?#")) {
		*why = "its BMC address contains a user, a query or a fragment";
		return NULL;
	}
	if (!scheme || (scheme == 4 && str_starts(address, "ipmi"))) {
		if (strchr(rest, '/') || !*rest) {
			*why = "its IPMI address is not HOST or HOST:PORT";
			return NULL;
		}
		note(notes, "  address: the Machine needs a Provider of type ipmi "
			    "(docs/providers/ipmi.md)");
		return arena_printf(m->a, "ipmi://%s", rest);
	}
	if (!is_redfish(address, plus < scheme ? plus : scheme)) {
		*why = arena_printf(m->a,
				    "drover has no driver for BMC addresses %.*s://; use the "
				    "BMC's Redfish or IPMI",
				    (int)scheme, address);
		return NULL;
	}
	if (plus < scheme && scheme - plus == strlen("+http") &&
	    str_starts(address + plus, "+http"))
		note(notes,
		     "  address: Metal3 uses HTTP; drover requires HTTPS, so check that the port "
		     "serves HTTPS");
	else if (plus < scheme &&
		 (scheme - plus != strlen("+https") || !str_starts(address + plus, "+https"))) {
		*why = "the suffix of its BMC address is neither +http nor +https";
		return NULL;
	}
	note(notes, "  tls: drover will trust the first certificate that the BMC shows, and later "
		    "no other certificate; to verify the first certificate too, set fingerprint or "
		    "caSecretRef instead");
	return arena_printf(m->a, "https://%s", rest);
}

/* --- Secrets ---------------------------------------------------------------------------------- */

/* Returns the name of the host's Secret in drover's namespace, and notes how to copy the Secret.
 * NULL: the host names none. */
static const char *secret_of(struct baremetalhost_import *m, const char *ns, const char *secret,
			     struct buf *notes)
{
	const char *name = secret, *from = arena_printf(m->a, "%s/%s", ns, str_or(secret, ""));
	const char *known;

	if (str_empty(secret) || !str_is_dns_subdomain(secret) || !str_is_dns_label(ns)) {
		note(notes, arena_printf(m->a,
					 "  credentials: spec.bmc.credentialsName names no usable "
					 "Secret; drover uses the Secret of Provider %s",
					 m->provider));
		return NULL;
	}
	known = json_string_value(json_object_get(m->secrets, name));
	if (known && !str_eq(known, from)) /* a Secret of this name in another namespace */
		name = arena_printf(m->a, "%s-%s", ns, secret);
	if (json_object_get(m->secrets, name))
		return name;
	json_object_set_new(m->secrets, name, json_string(from));
	if (str_eq(ns, m->ns) && str_eq(name, secret))
		return name;
	note(notes,
	     arena_printf(m->a, "  credentials: copy Secret %s to %s/%s:", from, m->ns, name));
	note(notes, arena_printf(m->a,
				 "    kubectl get secret -n %s %s -o json | jq '{apiVersion, kind, "
				 "type, data, metadata: {name: \"%s\", namespace: \"%s\"}}' | "
				 "kubectl apply -f -",
				 ns, secret, name, m->ns));
	return name;
}

/* --- hosts ------------------------------------------------------------------------------------ */

/* Notes what Metal3 still does with the host. */
static void note_use(const struct baremetalhost_import *m, const json_t *host, struct buf *notes)
{
	const char *user = json_str_at(host, "spec", "consumerRef", "name"),
		   *state = json_str_at(host, "status", "provisioning", "state");

	if (user || json_at(host, "spec", "image"))
		note(notes, arena_printf(m->a,
					 "  in use: Metal3 provisions this host%s%s%s%s; approve "
					 "the Machine only when nothing on it is needed any more",
					 user ? " for " : "", str_or(user, ""),
					 state ? ", state " : "", str_or(state, "")));
	if (!json_at(host, "metadata", "annotations", "baremetalhost.metal3.io/detached"))
		note(notes,
		     "  before `drover approve`: detach the host from Metal3 (annotation "
		     "baremetalhost.metal3.io/detached), so that only drover switches its power");
}

static void note_ignored(const struct baremetalhost_import *m, const json_t *host,
			 struct buf *notes)
{
	const char *key, *all = "";
	json_t *v;

	json_object_foreach (json_at(host, "spec", "rootDeviceHints"), key, v)
		all = arena_printf(m->a, "%s%s%s", all, *all ? ", " : "", key);
	if (*all)
		note(notes, arena_printf(m->a,
					 "  rootDeviceHints (%s) is ignored: rootDevice of the "
					 "Provider's instance type chooses the drive for the image",
					 all));
	if (json_true_at(host, "spec", "bmc", "disableCertificateVerification"))
		note(notes, "  disableCertificateVerification is ignored: drover always verifies "
			    "the BMC's certificate");
	if (!json_str_at(host, "spec", "bootMACAddress"))
		note(notes, "  bootMACAddress: the BareMetalHost has none; add it to spec of the "
			    "Machine");
}

/* Returns the name of the Machine: that of the host, or with its namespace if the name is taken. */
static const char *name_of(const struct baremetalhost_import *m, const char *ns, const char *name)
{
	return json_object_get(m->names, name) ? arena_printf(m->a, "%s-%s", ns, name) : name;
}

static json_t *machine_of(const struct baremetalhost_import *m, const json_t *host,
			  const char *name, const char *address, const char *secret)
{
	json_t *bmc = json_pack("{s:s}", "address", address);

	if (secret)
		json_object_set_new(bmc, "credentialsSecretRef",
				    json_pack("{s:s}", "name", secret));
	if (str_starts(address, "https://"))
		json_object_set_new(bmc, "tls", json_pack("{s:b}", "trustOnFirstUse", 1));
	return json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:s}, s:s*, s:s, s:o, s:s*}}", "apiVersion",
			 OBJECT_API_VERSION, "kind", "Machine", "metadata", "name", name, "spec",
			 "providerRef", "name", m->provider, "instanceType", m->instance_type,
			 "managementPolicy", "Observe", "bmc", bmc, "bootMACAddress",
			 json_str_at(host, "spec", "bootMACAddress"));
}

json_t *baremetalhost_machine(struct baremetalhost_import *m, const json_t *host, struct buf *notes)
{
	const struct object_kind *k = &object_kinds[OBJECT_MACHINE];
	const char *ns = str_or(json_str_at(host, "metadata", "namespace"), "default"),
		   *title = str_or(json_str_at(host, "metadata", "name"), ""),
		   *from = json_str_at(host, "spec", "bmc", "address"), *why = NULL, *address,
		   *name = name_of(m, ns, title);
	struct err e = {0};
	json_t *o;
	void *out;

	if (str_empty(from)) {
		note(notes, arena_printf(m->a, "BareMetalHost %s/%s: not imported: it has no BMC",
					 ns, title));
		return NULL;
	}
	note(notes, arena_printf(m->a, "BareMetalHost %s/%s becomes Machine %s", ns, title, name));
	address = address_of(m, from, notes, &why);
	if (!address) {
		note(notes, arena_printf(m->a, "  not imported: %s", why));
		return NULL;
	}
	o = machine_of(
		m, host, name, address,
		secret_of(m, ns, json_str_at(host, "spec", "bmc", "credentialsName"), notes));
	if (object_decode(k, o, m->a, &out, &e) < 0 || object_check(k, out, NULL, &e) < 0) {
		note(notes, arena_printf(m->a, "  not imported: %s", e.text));
		json_decref(o);
		return NULL;
	}
	note_ignored(m, host, notes);
	note_use(m, host, notes);
	json_object_set_new(m->names, name, json_true());
	return o;
}
