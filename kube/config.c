#include "kube/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/data/yaml.h"
#include "base/http/http_address.h"
#include "base/mem.h"
#include "base/pem.h"
#include "base/str.h"

/*
 * Reads kubeconfigs: parses the text into a JSON tree, checks the tree, then extracts the entries
 * of the current context. A tenant's file is checked as a whole against a list of allowed members,
 * so that members that future versions may add are refused too. An administrator's own file is
 * checked only in the parts that are used, because it often contains other clusters with other
 * kinds of login.
 */
#define MAX_FILE ((size_t)1 << 20)
#define MAX_FILES 64
/* Maximum number of entries in each of clusters, users and contexts of a tenant's file. */
#define MAX_ENTRIES 100
#define MAX_NAME 253 /* Longest name of a cluster, user or context, in bytes. */
#define MAX_SERVER 1024
/* Longest token in bytes; servers accept headers of 8 to 64 KiB. */
#define MAX_TOKEN ((size_t)32 << 10)
#define MAX_TENANT_CERTS 32
#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

struct reader {
	enum kube_config_trust trust;
	const char *dir;
	struct err *e;
};

void kube_config_free(struct kube_config *c)
{
	if (!c)
		return;
	free(c->server);
	free(c->ca_pem);
	free(c->tls_server_name);
	free(c->client_cert_pem);
	secret_free(c->client_key_pem);
	secret_free(c->token);
	free(c->token_file);
	free(c->namespace_);
	free(c);
}

struct kube_config *kube_config_copy(const struct kube_config *c)
{
	struct kube_config *n = mem_new(struct kube_config);

	n->server = mem_strdup(c->server);
	n->local_ok = c->local_ok;
	n->ca_pem = mem_strdup(c->ca_pem);
	n->tls_server_name = mem_strdup(c->tls_server_name);
	n->client_cert_pem = mem_strdup(c->client_cert_pem);
	n->client_key_pem = secret_copy(c->client_key_pem);
	n->pem_read = c->pem_read;
	n->token = secret_copy(c->token);
	n->token_file = mem_strdup(c->token_file);
	n->namespace_ = mem_strdup(c->namespace_);
	return n;
}

/* Clears all strings in j before they are freed, because they contain keys and tokens; jansson does
 * not clear them. */
static void wipe_strings(json_t *j)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_string(j))
		secret_wipe((void *)(uintptr_t)json_string_value(j), json_string_length(j));
	json_object_foreach (j, key, v)
		wipe_strings(v);
	json_array_foreach (j, i, v)
		wipe_strings(v);
}

static void tree_free(json_t **j)
{
	wipe_strings(*j);
	json_decref(*j);
}

/* Returns the contents of a file, at most MAX_FILE bytes; NULL with *e. The file may contain a
 * secret, so buffers are cleared before they are freed. */
static struct secret *read_file(const char *path, struct err *e)
{
	struct secret *s = NULL;
	FILE *f = fopen(path, "re");
	char *data;
	size_t n;

	if (!f) {
		err_note_errno(e, errno, "%s", path);
		return NULL;
	}
	data = mem_alloc(MAX_FILE + 1);
	n = fread(data, 1, MAX_FILE + 1, f);
	if (ferror(f))
		err_note_errno(e, errno, "%s", path);
	else if (n > MAX_FILE)
		err_note(e, ERR_INVALID, 0, "%s: has more than %zu bytes", path, MAX_FILE);
	else
		s = secret_new(data, n);
	secret_wipe(data, n);
	free(data);
	(void)fclose(f);
	return s;
}

/* --- the address ------------------------------------------------------------------------------ */

static bool is_port(const char *s)
{
	int64_t port;

	return str_to_i64(s, 1, 65535, &port) && s[0] != '+';
}

/* Accepts only https://host[:port][/prefix]: no user, query, escape or non-ASCII byte in the host,
 * so that all parsers read the same host from the URL. http_ok also accepts http://; local_ok
 * accepts loopback hosts. */
static int check_server(const char *server, const char *path, bool http_ok, bool local_ok,
			struct err *e)
{
	static const char in_name[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
	char host[256];
	const char *p, *rest;
	bool bracketed;
	size_t n;

	if (strlen(server) > MAX_SERVER)
		return err_set(e, ERR_INVALID, 0, "%s: has more than %d bytes", path, MAX_SERVER);
	/* Do not quote the URL in the error, because it may contain a password. */
	if (strpbrk(server, "@?#"))
		return err_set(e, ERR_INVALID, 0,
			       "%s: want https://host:port, without user, query or fragment", path);
	if (str_starts(server, "https://"))
		p = server + 8;
	else if (http_ok && str_starts(server, "http://"))
		p = server + 7;
	else
		return err_set(e, ERR_INVALID, 0, "%s: want https://host:port, got \"%s\"", path,
			       server);
	bracketed = *p == '[';
	p += bracketed;
	n = strspn(p, bracketed ? "0123456789abcdefABCDEF:." : in_name);
	rest = p + n;
	if (!n || n >= sizeof(host) || (bracketed && *rest++ != ']'))
		return err_set(e, ERR_INVALID, 0, "%s: no host in \"%s\"", path, server);
	memcpy(host, p, n);
	host[n] = '\0';
	if (*rest == ':') {
		char port[6] = "";
		size_t digits = strspn(++rest, "0123456789");

		if (digits < sizeof(port))
			memcpy(port, rest, digits);
		if (!is_port(port))
			return err_set(e, ERR_INVALID, 0, "%s: no port in \"%s\"", path, server);
		rest += digits;
	}
	if (*rest && *rest != '/')
		return err_set(e, ERR_INVALID, 0, "%s: want https://host:port, got \"%s\"", path,
			       server);
	if (strpbrk(rest, "%\\ ") || strstr(rest, "/.."))
		return err_set(e, ERR_INVALID, 0,
			       "%s: want a path without %%, \\, spaces and /.., got \"%s\"", path,
			       server);
	for (const char *c = rest; *c; c++)
		if (*c <= ' ' || *c > '~')
			return err_set(e, ERR_INVALID, 0, "%s: want only printable ASCII", path);
	if (!local_ok && http_host_is_local(host, bracketed))
		return err_set(e, ERR_INVALID, 0,
			       "%s: loopback and link-local addresses are not allowed in a "
			       "tenant's kubeconfig, got \"%s\"",
			       path, server);
	return 0;
}

/* --- the tree --------------------------------------------------------------------------------- */

/* True for the values by which clientcmd (kubectl's reader of kubeconfigs) represents an unset
 * member. */
static bool is_unset(const json_t *v)
{
	return !v || json_is_null(v) || json_is_false(v) ||
	       (json_is_string(v) && !json_string_length(v));
}

/* Reads the string member `name` of o into *out; *out is NULL if the member is not set. Returns -1
 * with *e if the member is not a string. */
static int member(struct reader *r, const json_t *o, const char *path, const char *name,
		  const char **out)
{
	const json_t *v = json_object_get(o, name);

	*out = NULL;
	if (is_unset(v))
		return 0;
	if (!json_is_string(v))
		return err_set(r->e, ERR_INVALID, 0, "%s.%s: want a string", path, name);
	if (strlen(json_string_value(v)) != json_string_length(v))
		return err_set(r->e, ERR_INVALID, 0, "%s.%s: has a NUL in it", path, name);
	*out = json_string_value(v);
	return 0;
}

/* Checks the name of a context, cluster or user. The name is untrusted text that drover only
 * compares with other names. */
static int check_name(struct reader *r, const json_t *v, const char *path, const char *name)
{
	const char *s = json_string_value(v);

	if (is_unset(v))
		return 0;
	if (!s || json_string_length(v) > MAX_NAME || strlen(s) != json_string_length(v))
		return err_set(r->e, ERR_INVALID, 0, "%s%s%s: want a name of at most %d bytes",
			       path, *path ? "." : "", name, MAX_NAME);
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return err_set(r->e, ERR_INVALID, 0, "%s%s%s: has a control character",
				       path, *path ? "." : "", name);
	return 0;
}

static int only_allowed(struct reader *r, const json_t *o, const char *path,
			const char *const *allowed)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)o, key, v) {
		bool ok = is_unset(v);

		for (size_t i = 0; allowed[i] && !ok; i++)
			ok = !strcmp(allowed[i], key);
		if (!ok)
			return err_set(r->e, ERR_INVALID, 0,
				       "%s.%s: not allowed in a tenant's kubeconfig", path, key);
	}
	return 0;
}

/* Checks every entry of one of the lists in a tenant's file (clusters, users or contexts), used or
 * not. */
static int check_all(struct reader *r, const json_t *top, const char *list, const char *inner,
		     const char *const *allowed)
{
	const json_t *all = json_object_get(top, list), *v;
	size_t i;

	if (!is_unset(all) && !json_is_array(all))
		return err_set(r->e, ERR_INVALID, 0, "%s: want a list", list);
	if (json_array_size(all) > MAX_ENTRIES)
		return err_set(r->e, ERR_INVALID, 0, "%s: has more than %d entries", list,
			       MAX_ENTRIES);
	json_array_foreach (all, i, v) {
		char path[64];

		(void)str_format(path, sizeof(path), "%s[%zu]", list, i);
		if (!json_is_object(v))
			return err_set(r->e, ERR_INVALID, 0, "%s: want an object", path);
		if (check_name(r, json_object_get(v, "name"), path, "name") < 0)
			return -1;
		(void)str_format(path, sizeof(path), "%s[%zu].%s", list, i, inner);
		if (only_allowed(r, json_object_get(v, inner), path, allowed) < 0)
			return -1;
	}
	return 0;
}

/* Checks the file as a whole, independently of the current context. */
static int check_tenant(struct reader *r, const json_t *top)
{
	static const char *const top_members[] = {"apiVersion",	     "kind",	   "clusters",
						  "users",	     "contexts",   "preferences",
						  "current-context", "extensions", NULL};
	static const char *const cluster_members[] = {
		"server",	   "certificate-authority-data",
		"tls-server-name", "disable-compression",
		"extensions",	   NULL};
	static const char *const user_members[] = {"client-certificate-data", "client-key-data",
						   "token", "extensions", NULL};
	static const char *const context_members[] = {"cluster", "user", "namespace", "extensions",
						      NULL};
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)top, key, v) {
		size_t i = 0;

		while (top_members[i] && strcmp(top_members[i], key) != 0)
			i++;
		if (!top_members[i])
			return err_set(r->e, ERR_INVALID, 0,
				       "%s: not allowed in a tenant's kubeconfig", key);
	}
	if (check_name(r, json_object_get(top, "current-context"), "", "current-context") < 0 ||
	    check_all(r, top, "clusters", "cluster", cluster_members) < 0 ||
	    check_all(r, top, "users", "user", user_members) < 0)
		return -1;
	return check_all(r, top, "contexts", "context", context_members);
}

/* Returns the first entry with this name in a list; path: its location in the file, for errors.
 * NULL with the error set: no such entry, or it is not an object. */
static const json_t *named(struct reader *r, const json_t *top, const char *list, const char *inner,
			   const char *name, char path[static 64])
{
	const json_t *v;
	size_t i;

	json_array_foreach (json_object_get(top, list), i, v) {
		const json_t *o = json_object_get(v, inner);

		if (!str_eq(json_str_at(v, "name"), name))
			continue;
		(void)str_format(path, 64, "%s[%zu].%s", list, i, inner);
		if (json_is_object(o))
			return o;
		err_note(r->e, ERR_INVALID, 0, "%s: want an object", path);
		return NULL;
	}
	err_note(r->e, ERR_INVALID, 0, "%s: no %s is named \"%s\"", list, inner, name);
	return NULL;
}

/* Decodes base64 that may contain line breaks, as in a YAML block; NULL with *e set. */
static struct secret *decode(const char *text, struct err *e)
{
	char *packed = mem_alloc(strlen(text) + 1), *bytes;
	struct secret *s = NULL;
	size_t n = 0, len;

	for (; *text; text++)
		if (!strchr(" \t\r\n", *text))
			packed[n++] = *text;
	bytes = crypto_base64_decode(packed, n, &len, e);
	secret_wipe(packed, n);
	free(packed);
	if (bytes) {
		s = secret_new(bytes, len);
		secret_wipe(bytes, len);
		free(bytes);
	}
	return s;
}

/* Reads key or certificate bytes: from member NAME-data (base64), or from the file that member NAME
 * names (not in a tenant's file). *out stays NULL if neither is set. */
static int material(struct reader *r, const json_t *o, const char *path, const char *name,
		    struct secret **out)
{
	char data_name[64];
	const char *data, *file;

	(void)str_format(data_name, sizeof(data_name), "%s-data", name);
	if (member(r, o, path, data_name, &data) < 0 || member(r, o, path, name, &file) < 0)
		return -1;
	if (data) {
		*out = decode(data, r->e);
		if (!*out)
			return err_wrap(r->e, "%s.%s", path, data_name);
	} else if (file) {
		char *full = file[0] == '/' || str_empty(r->dir)
				     ? mem_strdup(file)
				     : mem_printf("%s/%s", r->dir, file);

		*out = read_file(full, r->e);
		free(full);
		if (!*out)
			return err_wrap(r->e, "%s.%s", path, name);
	} else {
		return 0;
	}
	return 0;
}

/* Returns the path of the member that material() reads (NAME-data or NAME), for errors. */
static const char *material_at(const json_t *o, const char *path, const char *name,
			       char out[static 96])
{
	char data_name[64];

	(void)str_format(data_name, sizeof(data_name), "%s-data", name);
	(void)str_format(out, 96, "%s.%s", path,
			 is_unset(json_object_get(o, data_name)) ? name : data_name);
	return out;
}

static int take_certs(struct reader *r, const json_t *o, const char *path, const char *name,
		      char **out)
{
	OWN(secret) s = NULL;
	char at[96];

	if (material(r, o, path, name, &s) < 0)
		return -1;
	if (!s)
		return 0;
	*out = pem_certs(secret_expose(s), secret_len(s),
			 r->trust == KUBE_CONFIG_TENANT ? MAX_TENANT_CERTS : PEM_CERTS_MAX, r->e);
	return *out ? 0 : err_wrap(r->e, "%s", material_at(o, path, name, at));
}

static int take_key(struct reader *r, const json_t *o, const char *path, const char *name,
		    struct secret **out)
{
	OWN(secret) s = NULL;
	char at[96];

	if (material(r, o, path, name, &s) < 0)
		return -1;
	if (!s)
		return 0;
	*out = pem_key(secret_expose(s), secret_len(s), r->e);
	return *out ? 0 : err_wrap(r->e, "%s", material_at(o, path, name, at));
}

static int take_cluster(struct reader *r, const json_t *o, const char *path, const char *server,
			struct kube_config *c)
{
	const char *text, *name, *proxy;
	const json_t *insecure = json_object_get(o, "insecure-skip-tls-verify");
	bool tenant = r->trust == KUBE_CONFIG_TENANT;
	char at[96];
	size_t n;

	if (!is_unset(insecure))
		return err_set(r->e, ERR_INVALID, 0,
			       "%s.insecure-skip-tls-verify: TLS is always verified", path);
	if (member(r, o, path, "server", &text) < 0 ||
	    member(r, o, path, "tls-server-name", &name) < 0 ||
	    member(r, o, path, "proxy-url", &proxy) < 0)
		return -1;
	if (proxy)
		return err_set(r->e, ERR_UNSUPPORTED, 0, "%s.proxy-url: proxies are not supported",
			       path);
	(void)str_format(at, sizeof(at), "%s.server", path);
	if (!text && !server)
		return err_set(r->e, ERR_INVALID, 0, "%s: missing", at);
	if (check_server(server ? server : text, server ? "server" : at, !tenant, !tenant || server,
			 r->e) < 0)
		return -1;
	if (name && !http_is_server_name(name))
		return err_set(r->e, ERR_INVALID, 0,
			       "%s.tls-server-name: want a host name or four decimal numbers, got "
			       "\"%s\"",
			       path, name);
	c->server = mem_strdup(server ? server : text);
	for (n = strlen(c->server); n && c->server[n - 1] == '/'; n--)
		c->server[n - 1] = '\0';
	c->tls_server_name = mem_strdup(name);
	if (take_certs(r, o, path, "certificate-authority", &c->ca_pem) < 0)
		return -1;
	if (tenant && !c->ca_pem)
		return err_set(r->e, ERR_INVALID, 0, "%s.certificate-authority-data: missing",
			       path);
	return 0;
}

/* Checks a token. The token is sent in a header, so anything that could end the line is refused. */
static int check_token(const char *token, size_t len, const char *path, struct err *e)
{
	if (len > MAX_TOKEN)
		return err_set(e, ERR_INVALID, 0, "%s: has more than %zu bytes", path, MAX_TOKEN);
	for (size_t i = 0; i < len; i++)
		if (token[i] <= ' ' || token[i] > '~')
			return err_set(e, ERR_INVALID, 0, "%s: want printable ASCII without spaces",
				       path);
	return len ? 0 : err_set(e, ERR_INVALID, 0, "%s: is empty", path);
}

/* Returns the token in text without white space at the end; NULL with *e. */
static struct secret *token_of(const char *text, size_t len, const char *path, struct err *e)
{
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	return check_token(text, len, path, e) < 0 ? NULL : secret_new(text, len);
}

struct secret *kube_config_read_token(const char *path, struct err *e)
{
	OWN(secret) s = read_file(path, e);

	return s ? token_of(secret_expose(s), secret_len(s), path, e) : NULL;
}

static int take_user(struct reader *r, const json_t *o, const char *path, struct kube_config *c)
{
	static const char *const unsupported[] = {
		"exec",	  "auth-provider", "username",	    "password", "as",
		"as-uid", "as-groups",	   "as-user-extra", NULL};
	const char *token, *file;
	char at[96];

	for (size_t i = 0; unsupported[i]; i++)
		if (!is_unset(json_object_get(o, unsupported[i])))
			return err_set(r->e, ERR_UNSUPPORTED, 0,
				       "%s.%s: not supported; use a token or a key pair", path,
				       unsupported[i]);
	if (member(r, o, path, "token", &token) < 0 || member(r, o, path, "tokenFile", &file) < 0)
		return -1;
	if (token) {
		(void)str_format(at, sizeof(at), "%s.token", path);
		c->token = token_of(token, strlen(token), at, r->e);
		if (!c->token)
			return -1;
	}
	if (file) {
		c->token_file = file[0] == '/' || str_empty(r->dir)
					? mem_strdup(file)
					: mem_printf("%s/%s", r->dir, file);
		secret_free(c->token);
		c->token = kube_config_read_token(c->token_file, r->e);
		if (!c->token)
			return err_wrap(r->e, "%s.tokenFile", path);
	}
	if (take_certs(r, o, path, "client-certificate", &c->client_cert_pem) < 0 ||
	    take_key(r, o, path, "client-key", &c->client_key_pem) < 0)
		return -1;
	if (!c->client_cert_pem != !c->client_key_pem)
		return err_set(
			r->e, ERR_INVALID, 0,
			"%s: want both client-certificate-data and client-key-data, or neither",
			path);
	/* mutant: key-pair */
	if (c->client_key_pem && pem_pair(c->client_cert_pem, c->client_key_pem, r->e) < 0)
		return err_wrap(r->e, "%s", material_at(o, path, "client-key", at));
	if (r->trust == KUBE_CONFIG_TENANT && !c->client_cert_pem && !c->token)
		return err_set(r->e, ERR_INVALID, 0,
			       "%s: neither token nor client-certificate-data", path);
	return 0;
}

static int take(struct reader *r, const json_t *top, const char *server, struct kube_config *c)
{
	const json_t *context, *cluster, *user;
	const char *current, *cluster_name, *user_name, *ns;
	char context_at[64], cluster_at[64], user_at[64];

	if (!json_is_object(top))
		return err_set(r->e, ERR_INVALID, 0, "want a Config object");
	if (r->trust == KUBE_CONFIG_TENANT && check_tenant(r, top) < 0)
		return -1;
	current = json_str_at(top, "current-context");
	if (str_empty(current))
		return err_set(r->e, ERR_INVALID, 0, "current-context: missing");
	context = named(r, top, "contexts", "context", current, context_at);
	if (!context || member(r, context, context_at, "cluster", &cluster_name) < 0 ||
	    member(r, context, context_at, "user", &user_name) < 0 ||
	    member(r, context, context_at, "namespace", &ns) < 0)
		return -1;
	if (ns && !str_is_dns_label(ns))
		return err_set(r->e, ERR_INVALID, 0, "%s.namespace: want a DNS label, got \"%s\"",
			       context_at, ns);
	if (!cluster_name || !user_name)
		return err_set(r->e, ERR_INVALID, 0, "%s.%s: missing", context_at,
			       cluster_name ? "user" : "cluster");
	cluster = named(r, top, "clusters", "cluster", cluster_name, cluster_at);
	user = cluster ? named(r, top, "users", "user", user_name, user_at) : NULL;
	if (!user || take_cluster(r, cluster, cluster_at, server, c) < 0 ||
	    take_user(r, user, user_at, c) < 0)
		return -1;
	c->namespace_ = mem_strdup(ns ? ns : "default");
	c->pem_read = true;
	return 0;
}

struct kube_config *kube_config_parse(const char *text, size_t len, enum kube_config_trust trust,
				      const char *server, const char *dir, struct err *e)
{
	struct reader r = {.trust = trust, .dir = dir, .e = e};
	__attribute__((cleanup(tree_free))) json_t *top = NULL;
	OWN(kube_config) c = mem_new(struct kube_config);

	if (len > MAX_FILE) {
		err_note(e, ERR_INVALID, 0, "a kubeconfig has at most %zu bytes", MAX_FILE);
		return NULL;
	}
	c->local_ok = trust == KUBE_CONFIG_OWN;
	top = yaml_parse(text, len, e);
	if (!top || take(&r, top, str_empty(server) ? NULL : server, c) < 0)
		return NULL;
	return give(c);
}

/* --- drover's own files ----------------------------------------------------------------------- */

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !slash	       ? mem_strdup(".")
	       : slash == path ? mem_strdup("/")
			       : mem_strndup(path, (size_t)(slash - path));
}

static void absolute(json_t *o, const char *name, const char *dir)
{
	const char *path = json_str_at(o, name);
	char *full;

	if (str_empty(path) || path[0] == '/')
		return;
	full = mem_printf("%s/%s", dir, path);
	json_object_set_new(o, name, json_string(full));
	free(full);
}

/* Makes relative paths absolute; they are relative to the directory of the file. */
static void absolute_paths(json_t *top, const char *dir)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(top, "clusters"), i, v)
		absolute(json_object_get(v, "cluster"), "certificate-authority", dir);
	json_array_foreach (json_object_get(top, "users"), i, v) {
		absolute(json_object_get(v, "user"), "client-certificate", dir);
		absolute(json_object_get(v, "user"), "client-key", dir);
		absolute(json_object_get(v, "user"), "tokenFile", dir);
	}
}

/* Appends the entries of a file to the lists in all. The entry of an earlier file wins, because
 * named() returns the first entry with a name. */
static int merge_file(json_t *all, const char *path, struct err *e)
{
	static const char *const lists[] = {"clusters", "users", "contexts"};
	OWN(secret) text = read_file(path, e);
	__attribute__((cleanup(tree_free))) json_t *top = NULL;
	const char *current;
	json_t *v;
	char *dir;
	size_t k;

	if (!text)
		return -1;
	if (!secret_len(text)) /* As in kubectl, an empty file has no entries. */
		return 0;
	top = yaml_parse(secret_expose(text), secret_len(text), e);
	if (!top)
		return err_wrap(e, "%s", path);
	if (!json_is_object(top))
		return err_set(e, ERR_INVALID, 0, "%s: want a Config object", path);
	dir = folder_of(path);
	absolute_paths(top, dir);
	free(dir);
	/* Append copies, because the strings in the file's tree are cleared when it is freed. */
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		json_array_foreach (json_object_get(top, lists[i]), k, v)
			json_array_append_new(json_object_get(all, lists[i]), json_deep_copy(v));
	current = json_str_at(top, "current-context");
	if (!str_empty(current) && !json_object_get(all, "current-context"))
		json_object_set_new(all, "current-context", json_string(current));
	return 0;
}

static int merge(json_t *all, const char *paths, struct err *e)
{
	char *list = mem_strdup(paths), *rest, *path;
	size_t read = 0, files = 0;
	int rc = 0;

	for (path = strtok_r(list, ":", &rest); path && rc == 0;
	     path = strtok_r(NULL, ":", &rest)) {
		if (++files > MAX_FILES)
			rc = err_set(e, ERR_INVALID, 0, "at most %d files are read", MAX_FILES);
		else if (merge_file(all, path, e) == 0)
			read++;
		else if (e->kind != ERR_NOT_FOUND) /* As in kubectl, missing files are ignored. */
			rc = -1;
	}
	if (rc == 0 && !files)
		rc = err_set(e, ERR_NOT_FOUND, 0, "names no file");
	else if (rc == 0 && !read)
		rc = files == 1 ? -1
				: err_set(e, ERR_NOT_FOUND, 0, "none of these files is there: %s",
					  paths);
	free(list);
	return rc;
}

struct kube_config *kube_config_load(const char *paths, const char *context, struct err *e)
{
	struct reader r = {.trust = KUBE_CONFIG_OWN, .e = e};
	__attribute__((cleanup(tree_free))) json_t *all =
		json_pack("{s:[], s:[], s:[]}", "clusters", "users", "contexts");
	OWN(kube_config) c = mem_new(struct kube_config);

	c->local_ok = true;
	if (merge(all, paths, e) < 0)
		return NULL;
	if (!str_empty(context))
		json_object_set_new(all, "current-context", json_string(context));
	if (take(&r, all, NULL, c) < 0) {
		err_note_wrap(e, "%s", paths);
		return NULL;
	}
	return give(c);
}

/* --- in a pod --------------------------------------------------------------------------------- */

/* Reads a small text file of the service account; NULL with *e set. */
static char *read_text(const char *dir, const char *name, struct err *e)
{
	char *path = mem_printf("%s/%s", dir, name);
	OWN(secret) s = read_file(path, e);
	size_t n = s ? secret_len(s) : 0;

	free(path);
	while (n && strchr(" \t\r\n", secret_expose(s)[n - 1]))
		n--;
	return s ? mem_strndup(secret_expose(s), n) : NULL;
}

struct kube_config *kube_config_in_cluster_at(const char *host, const char *port, const char *dir,
					      struct err *e)
{
	OWN(kube_config) c = mem_new(struct kube_config);
	struct err none;
	char *ca;

	if (str_empty(host) || str_empty(port)) {
		err_note(e, ERR_NOT_FOUND, 0,
			 "not in a pod: KUBERNETES_SERVICE_HOST and _PORT are not set");
		return NULL;
	}
	c->server = strchr(host, ':') ? mem_printf("https://[%s]:%s", host, port)
				      : mem_printf("https://%s:%s", host, port);
	if (check_server(c->server, "KUBERNETES_SERVICE_HOST", false, true, e) < 0)
		return NULL;
	c->local_ok = true;
	ca = read_text(dir, "ca.crt", e);
	if (!ca)
		return NULL;
	c->ca_pem = pem_certs(ca, strlen(ca), PEM_CERTS_MAX, e);
	free(ca);
	if (!c->ca_pem) {
		err_note_wrap(e, "%s/ca.crt", dir);
		return NULL;
	}
	c->pem_read = true;
	c->token_file = mem_printf("%s/token", dir);
	c->token = kube_config_read_token(c->token_file, e);
	if (!c->token)
		return NULL;
	c->namespace_ = read_text(dir, "namespace", &none);
	if (!c->namespace_ || !str_is_dns_label(c->namespace_)) {
		free(c->namespace_);
		c->namespace_ = mem_strdup("default");
	}
	return give(c);
}

struct kube_config *kube_config_in_cluster(struct err *e)
{
	return kube_config_in_cluster_at(getenv("KUBERNETES_SERVICE_HOST"),
					 getenv("KUBERNETES_SERVICE_PORT"), SERVICE_ACCOUNT, e);
}
