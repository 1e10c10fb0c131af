/*
 * server: one embedded API server: its CA and token on disk, its store, TLS listener and
 * kubeconfig.
 */
#include "cli/up/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/httpd/httpd.h"
#include "base/httpd/httpd_mhd.h"
#include "base/mem.h"
#include "base/store/store_sqlite.h"
#include "base/str.h"
#include "cli/up/files.h"
#include "kube/apiserver/apiserver.h"

#define FILE_MAX_BYTES (64u << 10)
#define CA_DAYS 3650
#define CERT_DAYS 365
/* number of past changes after which a watch can still continue without a new list */
#define HISTORY 100000
#define CONNECTIONS 16384
#define VERSION "v1.36.0" /* Kubernetes version that the server reports to clients */

/* Kinds of workloads. The first WITH_CONTROLLER have controllers in sim/cluster/workloads.h. */
#define WITH_CONTROLLER 3
static const char *const workload_kinds[] = {"Deployment",  "ReplicaSet", "Job",
					     "StatefulSet", "DaemonSet",  NULL};

struct up_server {
	struct loop *loop;
	char *name, *url, *ca_pem;
	struct secret *ca_key, *token, *kubelet_token;
	struct apiserver_token tokens[2];
	struct store *store;
	struct apiserver *api;
	struct httpd *httpd;
	struct httpd_mhd *listener;
};

/* --- files ------------------------------------------------------------------------------------ */

/* Returns the content of a file of less than FILE_MAX_BYTES, owned by the caller. NULL with *e;
 * ERR_NOT_FOUND: the file does not exist. */
static struct secret *read_file(const char *path, struct err *e)
{
	char text[FILE_MAX_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct secret *s = NULL;
	size_t len = 0;
	ssize_t n = 0;

	if (fd < 0) {
		err_note_errno(e, errno, "%s", path);
		if (errno == ENOENT)
			e->kind = ERR_NOT_FOUND;
		return NULL;
	}
	while (len < sizeof(text) && (n = read(fd, text + len, sizeof(text) - len)) > 0)
		len += (size_t)n;
	if (n < 0 || len == sizeof(text))
		err_note_errno(e, n < 0 ? errno : EFBIG, "%s", path);
	else
		s = secret_new(text, len);
	secret_wipe(text, sizeof(text));
	close(fd);
	return s;
}

static const char *path_in(const char *folder, const char *name, char *out, size_t size)
{
	return str_format(out, size, "%s/%s", folder, name) ? out : NULL;
}

static struct secret *read_in(const char *folder, const char *name, struct err *e)
{
	char path[4096];

	if (!path_in(folder, name, path, sizeof(path))) {
		err_note(e, ERR_INVALID, 0, "the path of the folder is too long");
		return NULL;
	}
	return read_file(path, e);
}

static int write_in(const char *folder, const char *name, const char *text, mode_t mode,
		    struct err *e)
{
	char path[4096];

	if (!path_in(folder, name, path, sizeof(path)))
		return err_set(e, ERR_INVALID, 0, "the path of the folder is too long");
	return file_write(path, text, strlen(text), mode, true, e);
}

/* --- created at the first start --------------------------------------------------------------- */

static int make_ca(struct up_server *s, struct err *e)
{
	char cn[128];

	if (!str_format(cn, sizeof(cn), "%s API CA", s->name))
		return err_set(e, ERR_INVALID, 0, "the name is too long");
	return crypto_ca_new(cn, loop_wall(s->loop), CA_DAYS, &s->ca_pem, &s->ca_key, e);
}

static void make_token(struct up_server *s)
{
	uint8_t raw[32];
	char hex[65];

	loop_random_bytes(s->loop, raw, sizeof(raw));
	str_hex(hex, raw, sizeof(raw));
	s->token = secret_from_str(hex);
	secret_wipe(raw, sizeof(raw));
	secret_wipe(hex, sizeof(hex));
}

/* Reads the CA from folder, or creates the CA at the first start. The key is written before the
 * certificate. After a crash in between there is a key without certificate, which the next start
 * replaces; a certificate without key would be an error. */
static int keep_ca(struct up_server *s, const char *folder, struct err *e)
{
	OWN(secret) cert = read_in(folder, "ca.crt", e);

	if (cert) {
		s->ca_pem = mem_strdup(secret_expose(cert));
		s->ca_key = read_in(folder, "ca.key", e);
		return s->ca_key ? 0
				 : err_wrap(e, "ca.crt exists, but its key ca.key cannot be read");
	}
	if (e->kind != ERR_NOT_FOUND || make_ca(s, e) < 0 ||
	    write_in(folder, "ca.key", secret_expose(s->ca_key), 0600, e) < 0)
		return -1;
	return write_in(folder, "ca.crt", s->ca_pem, 0644, e);
}

static int keep_token(struct up_server *s, const char *folder, struct err *e)
{
	s->token = read_in(folder, "token", e);
	if (s->token)
		return secret_len(s->token) >= 32 ? 0
						  : err_set(e, ERR_INVALID, 0,
							    "%s/token: shorter than 32 "
							    "characters; remove the file to get a "
							    "new token",
							    folder);
	if (e->kind != ERR_NOT_FOUND)
		return -1;
	make_token(s);
	return write_in(folder, "token", secret_expose(s->token), 0600, e);
}

static int keep_all(struct up_server *s, const char *folder, struct err *e)
{
	if (!folder) {
		make_token(s);
		return make_ca(s, e);
	}
	if (up_folder(folder, e) < 0)
		return -1;
	return keep_ca(s, folder, e) < 0 ? -1 : keep_token(s, folder, e);
}

/* --- serving ---------------------------------------------------------------------------------- */

/* Copies the host in listen to `out`, for the URL and the certificate. A wildcard address becomes
 * the loopback address. -1: *e, listen is not ADDRESS:PORT. */
static int host_of(const char *listen, char *out, size_t size, struct err *e)
{
	const char *colon = strrchr(listen, ':');
	size_t len = colon ? (size_t)(colon - listen) : 0;

	if (len >= 2 && listen[0] == '[') {
		listen++;
		len -= 2;
	}
	if (!colon || len >= size)
		return err_set(e, ERR_INVALID, 0, "\"%s\": want an address and a port", listen);
	memcpy(out, listen, len);
	out[len] = '\0';
	if (!len || str_eq(out, "0.0.0.0"))
		(void)str_copy(out, size, "127.0.0.1");
	else if (str_eq(out, "::"))
		(void)str_copy(out, size, "::1");
	return 0;
}

static int serve(struct up_server *s, const struct up_server_spec *spec, struct err *e)
{
	char host[64], url[96], *cert = NULL;
	const char *names[] = {"localhost",
			       "127.0.0.1",
			       "kubernetes",
			       "kubernetes.default",
			       "kubernetes.default.svc",
			       host,
			       NULL};
	OWN(secret) key = NULL;
	struct httpd_mhd_spec listener = {.address = spec->listen,
					  .max_connections = CONNECTIONS,
					  .client_ca_pem = s->ca_pem};

	if (host_of(spec->listen, host, sizeof(host), e) < 0 ||
	    crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = s->ca_pem,
							 .ca_key = s->ca_key,
							 .cn = "kube-apiserver",
							 .names = names,
							 .wall_ms = loop_wall(s->loop),
							 .days = CERT_DAYS},
			      &cert, &key, e) < 0)
		return -1;
	listener.cert_pem = cert;
	listener.key_pem = key;
	s->listener = httpd_mhd_new(s->httpd, &listener, e);
	free(cert);
	if (!s->listener)
		return -1;
	(void)str_format(url, sizeof(url), strchr(host, ':') ? "https://[%s]:%u" : "https://%s:%u",
			 host, httpd_mhd_port(s->listener));
	s->url = mem_strdup(url);
	return 0;
}

struct up_server *up_server_new(struct loop_group *g, const struct up_server_spec *spec,
				struct err *e)
{
	OWN(up_server) s = mem_new(struct up_server);
	static const char *const masters[] = {"system:masters", NULL};
	static const char *const nodes[] = {"system:nodes", "system:bootstrappers", NULL};
	struct apiserver_spec api = {.version = VERSION,
				     .tokens = s->tokens,
				     .ntokens = spec->kubelet_token ? 2 : 1,
				     .authenticate = true,
				     .rbac = true,
				     .controllers = true,
				     .checks = true,
				     .graceful_pods = spec->graceful_pods,
				     .inert_kinds = workload_kinds +
						    (spec->workloads ? WITH_CONTROLLER : 0),
				     .join_endpoint = spec->join_endpoint,
				     .schemas = true};

	s->loop = loop_of(g);
	s->name = mem_strdup(str_or(spec->name, "drover"));
	if (keep_all(s, spec->folder, e) < 0)
		return NULL;
	s->kubelet_token = secret_copy(spec->kubelet_token);
	api.ca_pem = s->ca_pem;
	s->tokens[0] = (struct apiserver_token){s->token, "admin", masters};
	s->tokens[1] = (struct apiserver_token){s->kubelet_token, "system:node:all", nodes};
	s->store = spec->folder ? store_sqlite_new(g, spec->folder, HISTORY, e)
				: store_mem_new(g, HISTORY);
	if (!s->store)
		return NULL;
	s->api = apiserver_new(g, s->store, &api);
	s->httpd = httpd_new(g);
	apiserver_routes(s->api, s->httpd);
	return serve(s, spec, e) < 0 ? NULL : give(s);
}

void up_server_free(struct up_server *s)
{
	if (!s)
		return;
	httpd_mhd_free(s->listener);
	httpd_free(s->httpd);
	apiserver_free(s->api);
	store_free(s->store);
	secret_free(s->ca_key);
	secret_free(s->token);
	secret_free(s->kubelet_token);
	free(s->ca_pem);
	free(s->url);
	free(s->name);
	free(s);
}

const char *up_server_url(const struct up_server *s)
{
	return s->url;
}

const char *up_server_ca_pem(const struct up_server *s)
{
	return s->ca_pem;
}

const struct secret *up_server_ca_key(const struct up_server *s)
{
	return s->ca_key;
}

const struct secret *up_server_token(const struct up_server *s)
{
	return s->token;
}

struct store *up_server_store(struct up_server *s)
{
	return s->store;
}

/* --- kubeconfig ------------------------------------------------------------------------------- */

struct secret *up_server_kubeconfig(const struct up_server *s)
{
	char *ca = crypto_base64(s->ca_pem, strlen(s->ca_pem));
	struct secret *out;
	struct buf b;

	buf_init(&b, FILE_MAX_BYTES);
	buf_printf(&b,
		   "apiVersion: v1\nkind: Config\nclusters:\n- name: %s\n  cluster:\n"
		   "    server: %s\n    certificate-authority-data: %s\nusers:\n- name: %s\n"
		   "  user:\n    token: %s\ncontexts:\n- name: %s\n  context:\n    cluster: %s\n"
		   "    user: %s\ncurrent-context: %s\n",
		   s->name, s->url, ca, s->name, secret_expose(s->token), s->name, s->name, s->name,
		   s->name);
	out = secret_new(b.data, b.len);
	secret_wipe(b.data, b.len);
	buf_done(&b);
	free(ca);
	return out;
}

int up_server_save_kubeconfig(const struct up_server *s, const char *path, struct err *e)
{
	OWN(secret) text = up_server_kubeconfig(s);

	return file_write(path, secret_expose(text), secret_len(text), 0600, true, e);
}
