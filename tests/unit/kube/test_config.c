#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/config.h"
#include "tests/data/pems.h"

/* Placeholders for the base64 of the PEMs in pems.h; JUNK64 is "hello". */
#define CA64 "$CA"
#define CERT64 "$CERT"
#define KEY64 "$KEY"
#define JUNK64 "aGVsbG8="

static const struct {
	const char *name, *pem;
} pems[] = {
	{CA64, PEMS_CA},
	{CERT64, PEMS_CERT},
	{KEY64, PEMS_KEY},
	{"$OTHER", PEMS_OTHER_KEY},
	{"$SEC1_ENCRYPTED", PEMS_KEY_SEC1_ENCRYPTED},
	{"$PKCS8_ENCRYPTED", PEMS_KEY_ENCRYPTED},
	{"$RSA_1024", PEMS_RSA_1024},
	{"$ENCRYPTED_CERT", "-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\n"
			    "DEK-Info: AES-256-CBC,00000000000000000000000000000000\n\n"
			    "aGVsbG8=\n-----END CERTIFICATE-----\n"},
};

/* Replaces the placeholders by base64; frees text and returns a new one. */
static char *with_pems(char *text)
{
	struct buf out;
	size_t n;

	buf_init(&out, (size_t)1 << 21);
	for (const char *p = text; *p; p += n) {
		size_t best = 0, at = 0;

		for (size_t i = 0; i < sizeof(pems) / sizeof(pems[0]); i++)
			if (str_starts(p, pems[i].name) && strlen(pems[i].name) > best) {
				best = strlen(pems[i].name);
				at = i;
			}
		n = best ? best : 1;
		if (best) {
			char *b64 = crypto_base64(pems[at].pem, strlen(pems[at].pem));

			buf_puts(&out, b64);
			free(b64);
		} else {
			buf_put(&out, p, 1);
		}
	}
	free(text);
	return buf_steal(&out);
}

/* Returns a kubeconfig with cluster and user given as flow mappings. */
static char *config_text(const char *cluster, const char *user)
{
	return with_pems(mem_printf(
		"apiVersion: v1\nkind: Config\ncurrent-context: here\n"
		"contexts:\n- name: here\n  context: {cluster: c, user: u, namespace: ns-1}\n"
		"clusters:\n- name: c\n  cluster: {%s}\n"
		"users:\n- name: u\n  user: {%s}\n",
		cluster, user));
}

#define CLUSTER "server: 'https://api.example:6443', certificate-authority-data: " CA64
#define USER "token: abc.def"

static struct kube_config *parse(const char *cluster, const char *user,
				 enum kube_config_trust trust, const char *server, struct err *e)
{
	char *text = config_text(cluster, user);
	struct kube_config *c;

	err_clear(e);
	c = kube_config_parse(text, strlen(text), trust, server, NULL, e);
	free(text);
	return c;
}

static void a_tenants_config_is_read(void **state)
{
	struct err e;
	struct kube_config *c =
		parse(CLUSTER ", tls-server-name: kubernetes, insecure-skip-tls-verify: false",
		      "client-certificate-data: " CERT64 ", client-key-data: " KEY64 ", token: t-1",
		      KUBE_CONFIG_TENANT, NULL, &e);
	struct kube_config *copy;

	(void)state;
	assert_non_null(c);
	copy = kube_config_copy(c);
	kube_config_free(c);
	assert_string_equal(copy->server, "https://api.example:6443");
	assert_string_equal(copy->ca_pem, PEMS_CA);
	assert_string_equal(copy->tls_server_name, "kubernetes");
	assert_string_equal(copy->client_cert_pem, PEMS_CERT);
	assert_string_equal(secret_expose(copy->client_key_pem), PEMS_KEY);
	assert_true(copy->pem_read);
	assert_string_equal(secret_expose(copy->token), "t-1");
	assert_null(copy->token_file);
	assert_string_equal(copy->namespace_, "ns-1");
	kube_config_free(copy);
}

/* Returns base64 as a YAML block; in a folded block the lines are joined by spaces. */
static char *wrapped(const char *style, const char *pem, size_t width)
{
	char *b64 = crypto_base64(pem, strlen(pem));
	struct buf out;

	buf_init(&out, (size_t)1 << 16);
	buf_puts(&out, style);
	for (size_t at = 0; at < strlen(b64); at += width)
		buf_printf(&out, "\n      %.*s", (int)width, b64 + at);
	free(b64);
	return buf_steal(&out);
}

/* Editors, templates and `base64` without -w0 break base64 into lines. */
static void wrapped_base64_is_read(void **state)
{
	static const struct {
		const char *style;
		size_t width;
	} cases[] = {{"|", 64}, {"|", 4096}, {">-", 76}, {"|-", 64}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *ca = wrapped(cases[i].style, PEMS_CA, cases[i].width),
		     *cert = wrapped(cases[i].style, PEMS_CERT, cases[i].width),
		     *key = wrapped(cases[i].style, PEMS_KEY, cases[i].width);
		char *text = mem_printf(
			"\xef\xbb\xbf"
			"current-context: x\ncontexts: [{name: x, "
			"context: {cluster: c, user: u}}]\n"
			"clusters:\n- name: c\n  cluster:\n    server: https://api.example\n"
			"    certificate-authority-data: %s\n"
			"users:\n- name: u\n  user:\n    token: |\n      t-1\n"
			"    client-certificate-data: %s\n    client-key-data: %s\n---\n",
			ca, cert, key);
		struct err e;
		OWN(kube_config)
		c = kube_config_parse(text, strlen(text), KUBE_CONFIG_TENANT, NULL, NULL, &e);

		assert_ok(c ? 0 : -1, &e);
		assert_string_equal(c->ca_pem, PEMS_CA);
		assert_string_equal(c->client_cert_pem, PEMS_CERT);
		assert_string_equal(secret_expose(c->client_key_pem), PEMS_KEY);
		assert_string_equal(secret_expose(c->token), "t-1");
		free(ca);
		free(cert);
		free(key);
		free(text);
	}
}

struct refusal {
	const char *cluster, *user;
	enum err_kind kind;
	/* Beginning of the error text. */
	const char *text;
};

static void check_refusals(const struct refusal *r, size_t n, enum kube_config_trust trust)
{
	for (size_t i = 0; i < n; i++) {
		struct err e;
		struct kube_config *c = parse(r[i].cluster ? r[i].cluster : CLUSTER,
					      r[i].user ? r[i].user : USER, trust, NULL, &e);

		if (c)
			fail_msg("accepted: cluster {%s} user {%s}", r[i].cluster, r[i].user);
		if (e.kind != r[i].kind || !str_starts(e.text, r[i].text))
			fail_msg("case %zu: kind %d, \"%s\", want %d, \"%s\"", i, e.kind, e.text,
				 r[i].kind, r[i].text);
	}
}

static void a_tenants_config_with_anything_else_is_refused(void **state)
{
	static const struct refusal cases[] = {
		{NULL, USER ", exec: {command: sh}", ERR_INVALID,
		 "users[0].user.exec: not allowed in a tenant's"},
		{NULL, USER ", auth-provider: {name: gcp}", ERR_INVALID,
		 "users[0].user.auth-provider: not allowed"},
		{NULL, USER ", username: u", ERR_INVALID, "users[0].user.username: not allowed"},
		{NULL, USER ", password: p", ERR_INVALID, "users[0].user.password: not allowed"},
		{NULL, "tokenFile: /etc/shadow", ERR_INVALID,
		 "users[0].user.tokenFile: not allowed"},
		{NULL, "client-certificate: a, client-key-data: " KEY64, ERR_INVALID,
		 "users[0].user.client-certificate: not"},
		{NULL, "client-certificate-data: " CERT64 ", client-key: /k", ERR_INVALID,
		 "users[0].user.client-key: not"},
		{NULL, USER ", as: system:admin", ERR_INVALID, "users[0].user.as: not allowed"},
		{NULL, USER ", as-groups: [g]", ERR_INVALID,
		 "users[0].user.as-groups: not allowed"},
		{NULL, USER ", tomorrow: 1", ERR_INVALID, "users[0].user.tomorrow: not allowed"},
		{CLUSTER ", certificate-authority: /etc/ca", NULL, ERR_INVALID,
		 "clusters[0].cluster.certificate-authority: not"},
		{CLUSTER ", proxy-url: 'http://p'", NULL, ERR_INVALID,
		 "clusters[0].cluster.proxy-url: not allowed"},
		{CLUSTER ", insecure-skip-tls-verify: true", NULL, ERR_INVALID,
		 "clusters[0].cluster.insecure-skip-tls-verify: not allowed"},
		{CLUSTER ", insecure-skip-tls-verify: 'yes'", NULL, ERR_INVALID,
		 "clusters[0].cluster.insecure-skip-tls-verify: not allowed"},
		{"server: 'https://a'", NULL, ERR_INVALID,
		 "clusters[0].cluster.certificate-authority-data: missing"},
		{"certificate-authority-data: " CA64, NULL, ERR_INVALID,
		 "clusters[0].cluster.server: missing"},
		{"server: 7, certificate-authority-data: " CA64, NULL, ERR_INVALID,
		 "clusters[0].cluster.server: want a string"},
		{"server: 'https://a', certificate-authority-data: '!'", NULL, ERR_INVALID,
		 "clusters[0].cluster.certificate-authority-data"},
		{"server: 'https://a', certificate-authority-data: " JUNK64, NULL, ERR_INVALID,
		 "clusters[0].cluster.certificate-authority-data: is not PEM"},
		{CLUSTER ", tls-server-name: 'a b'", NULL, ERR_INVALID,
		 "clusters[0].cluster.tls-server-name: want"},
		{NULL, "extensions: []", ERR_INVALID, "users[0].user: neither token nor"},
		{NULL, "client-certificate-data: " CERT64 ", token: t", ERR_INVALID,
		 "users[0].user: want both client-certificate-data and"},
		{NULL, "token: \"a\\r\\nX: y\"", ERR_INVALID,
		 "users[0].user.token: want printable"},
		{NULL, "token: 'a b'", ERR_INVALID, "users[0].user.token: want printable"},
		{NULL, "token: \"a\\0b\"", ERR_INVALID, "line 12, column"},
		{NULL, "client-certificate-data: " CERT64 ", client-key-data: $SEC1_ENCRYPTED",
		 ERR_INVALID, "users[0].user.client-key-data: is encrypted"},
		{NULL, "client-certificate-data: " CERT64 ", client-key-data: $PKCS8_ENCRYPTED",
		 ERR_INVALID, "users[0].user.client-key-data: is encrypted"},
		{NULL, "client-certificate-data: $ENCRYPTED_CERT, client-key-data: " KEY64,
		 ERR_INVALID, "users[0].user.client-certificate-data: is encrypted"},
		{"server: 'https://a', certificate-authority-data: $ENCRYPTED_CERT", NULL,
		 ERR_INVALID, "clusters[0].cluster.certificate-authority-data: is encrypted"},
		{NULL, "client-certificate-data: " CERT64 ", client-key-data: $OTHER", ERR_INVALID,
		 "users[0].user.client-key-data: is not the key of the certificate"},
		{NULL, "client-certificate-data: " CERT64 ", client-key-data: $RSA_1024",
		 ERR_INVALID, "users[0].user.client-key-data: want a key for RSA"},
		{NULL, "client-certificate-data: " KEY64 ", client-key-data: " KEY64, ERR_INVALID,
		 "users[0].user.client-certificate-data: is not PEM of a certificate"},
		{CLUSTER ", tls-server-name: 127.1", NULL, ERR_INVALID,
		 "clusters[0].cluster.tls-server-name: want a string"},
		{CLUSTER ", tls-server-name: '127.1'", NULL, ERR_INVALID,
		 "clusters[0].cluster.tls-server-name: want a host name"},
		{CLUSTER ", tls-server-name: '0x7f.1'", NULL, ERR_INVALID,
		 "clusters[0].cluster.tls-server-name: want a host name"},
		{CLUSTER ", tls-server-name: '2130706433'", NULL, ERR_INVALID,
		 "clusters[0].cluster.tls-server-name: want a host name"},
		{CLUSTER ", tls-server-name: '::1'", NULL, ERR_INVALID,
		 "clusters[0].cluster.tls-server-name: want a host name"},
		{CLUSTER ", tls-server-name: \"a\\tb\"", NULL, ERR_INVALID,
		 "clusters[0].cluster.tls-server-name: want a host name"},
	};

	(void)state;
	check_refusals(cases, sizeof(cases) / sizeof(cases[0]), KUBE_CONFIG_TENANT);
}

static void what_a_tenant_does_not_use_is_checked_too(void **state)
{
	char *text = with_pems(mem_strdup(
		"current-context: here\n"
		"contexts: [{name: here, context: {cluster: c, user: u}}]\n"
		"clusters: [{name: c, cluster: {" CLUSTER "}}]\n"
		"users: [{name: u, user: {token: t}}, {name: v, user: {exec: {command: x}}}]\n"));
	struct err e;
	struct kube_config *c;

	(void)state;
	assert_null(kube_config_parse(text, strlen(text), KUBE_CONFIG_TENANT, NULL, NULL, &e));
	assert_string_equal(e.text, "users[1].user.exec: not allowed in a tenant's kubeconfig");
	c = kube_config_parse(text, strlen(text), KUBE_CONFIG_OWN, NULL, NULL, &e);
	assert_non_null(c);
	assert_string_equal(c->namespace_, "default");
	kube_config_free(c);
	free(text);
}

/* Each case changes one part of a tenant's kubeconfig. A case consists of the text and the expected
 * error. */
static void what_a_tenant_names_is_bounded(void **state)
{
	static const char rest[] = "contexts: [{name: here, context: {cluster: c, user: u}}]\n"
				   "clusters: [{name: c, cluster: {" CLUSTER
				   "}}]\nusers: [{name: u, user: {token: t}}]\n";
	static const char *const cases[][2] = {
		{"current-context: here\nother: 1\n", "other: not allowed in a tenant's"},
		{"current-context: \"a\\tb\"\n", "current-context: has a control character"},
		{"current-context: 7\n", "current-context: want a name"},
	};
	char *text, *list, *long_name = mem_alloc(400);
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text = with_pems(mem_printf("%s%s", cases[i][0], rest));
		assert_null(
			kube_config_parse(text, strlen(text), KUBE_CONFIG_TENANT, NULL, NULL, &e));
		if (!str_starts(e.text, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], e.text);
		free(text);
	}
	memset(long_name, 'n', 399);
	long_name[399] = '\0';
	text = mem_printf("current-context: x\nclusters: [{name: %s, cluster: {}}]\n", long_name);
	assert_null(kube_config_parse(text, strlen(text), KUBE_CONFIG_TENANT, NULL, NULL, &e));
	assert_true(str_starts(e.text, "clusters[0].name: want a name of at most 253"));
	free(text);
	list = mem_alloc(101 * 4 + 1);
	for (size_t i = 0; i < 101; i++)
		memcpy(list + 4 * i, "{}, ", 4);
	list[404] = '\0';
	text = mem_printf("current-context: x\nusers: [%s]\n", list);
	assert_null(kube_config_parse(text, strlen(text), KUBE_CONFIG_TENANT, NULL, NULL, &e));
	assert_true(str_starts(e.text, "users: has more than 100 entries"));
	free(text);
	free(list);
	assert_null(
		parse("server: 'https://u:hunter2@api.example', certificate-authority-data: " CA64,
		      USER, KUBE_CONFIG_TENANT, NULL, &e));
	assert_null(strstr(e.text, "hunter2"));
	text = mem_alloc((32 << 10) + 16);
	memset(text, 't', (32 << 10) + 15);
	memcpy(text, "token: ", 7);
	text[(32 << 10) + 15] = '\0';
	assert_null(parse(CLUSTER, text, KUBE_CONFIG_TENANT, NULL, &e));
	assert_true(str_starts(e.text, "users[0].user.token: has more than"));
	free(text);
	free(long_name);
}

static void a_tenant_leads_us_to_no_local_address(void **state)
{
	static const char *const local[] = {
		"https://localhost:8443",
		"https://LocalHost",
		"https://localhost.",
		"https://x.localhost",
		"https://127.0.0.1",
		"https://127.1",
		"https://127.9.9.9:1",
		"https://2130706433",
		"https://0x7f000001",
		"https://0177.0.0.1",
		"https://0.0.0.0",
		"https://0",
		"https://169.254.169.254",
		"https://2852039166",
		"https://127.0.0.1.",
		"https://[::1]:6443",
		"https://[::]",
		"https://[fe80::1]",
		"https://[febf::1]",
		"https://[::ffff:127.0.0.1]",
		"https://[::ffff:a9fe:a9fe]",
		"https://[64:ff9b::7f00:1]",
		"https://[::7f00:1]",
		"https://ip6-localhost",
		"https://[bad]",
		"https://[1::2::3]",
	};
	static const char *const wrong[] = {
		"http://api.example",
		"api.example:6443",
		"https://",
		"https://:6443",
		"https://u@api.example",
		"https://a.example@127.0.0.1",
		"https://api.example:0",
		"https://api.example:65536",
		"https://api.example:+1",
		"https://api.example:",
		"https://api.example:1x",
		"https://api.example?x",
		"https://api.example#x",
		"https://api.example/%2e",
		"https://api.example/../x",
		"https://[::1",
		"https://[fe80::1%25eth0]",
		"https://loc%61lhost",
		"https://api.example/a b",
		"https://ap\xc3\xad.example",
		"https://api\\.example",
		"ftp://api.example",
		"HTTPS://api.example",
	};
	static const char *const fine[] = {
		"https://10.0.0.1:6443",     "https://[2001:db8::1]:6443",
		"https://kube.team-a",	     "https://rancher.example/k8s/clusters/c-1",
		"https://localhost.example", "https://169.253.0.1",
		"https://128.0.0.1"};
	struct err e;
	char cluster[256];

	(void)state;
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]) + sizeof(wrong) / sizeof(wrong[0]);
	     i++) {
		size_t nlocal = sizeof(local) / sizeof(local[0]);
		const char *server = i < nlocal ? local[i] : wrong[i - nlocal];
		struct kube_config *c;

		snprintf(cluster, sizeof(cluster),
			 "server: '%s', certificate-authority-data: " CA64, server);
		c = parse(cluster, USER, KUBE_CONFIG_TENANT, NULL, &e);
		if (c)
			fail_msg("accepted: %s", server);
		assert_int_equal(e.kind, ERR_INVALID);
		if (!str_starts(e.text, "clusters[0].cluster.server: "))
			fail_msg("%s: %s", server, e.text);
	}
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		struct kube_config *c;

		snprintf(cluster, sizeof(cluster),
			 "server: '%s', certificate-authority-data: " CA64, fine[i]);
		c = parse(cluster, USER, KUBE_CONFIG_TENANT, NULL, &e);
		if (!c)
			fail_msg("%s: %s", fine[i], e.text);
		assert_string_equal(c->server, fine[i]);
		kube_config_free(c);
	}
}

static void an_admins_address_wins_and_may_be_local(void **state)
{
	struct err e;
	struct kube_config *c =
		parse("server: 'https://localhost:1', certificate-authority-data: " CA64, USER,
		      KUBE_CONFIG_TENANT, "https://127.0.0.1:7443/", &e);

	(void)state;
	assert_non_null(c);
	assert_string_equal(c->server, "https://127.0.0.1:7443");
	kube_config_free(c);
	assert_null(parse(CLUSTER, USER, KUBE_CONFIG_TENANT, "http://10.0.0.1", &e));
	assert_true(str_starts(e.text, "server: want https"));
}

static void our_own_config_names_what_it_cannot_have(void **state)
{
	static const struct refusal cases[] = {
		{NULL, "exec: {command: sh}", ERR_UNSUPPORTED, "users[0].user.exec: not supported"},
		{NULL, "auth-provider: {name: x}", ERR_UNSUPPORTED,
		 "users[0].user.auth-provider: not supported"},
		{NULL, "username: a, password: b", ERR_UNSUPPORTED,
		 "users[0].user.username: not supported"},
		{NULL, USER ", as: x", ERR_UNSUPPORTED, "users[0].user.as: not supported"},
		{CLUSTER ", proxy-url: 'http://p'", NULL, ERR_UNSUPPORTED,
		 "clusters[0].cluster.proxy-url: "},
		{CLUSTER ", insecure-skip-tls-verify: true", NULL, ERR_INVALID,
		 "clusters[0].cluster.insecure-skip-tls-verify: TLS is always verified"},
		{"server: 'https://a', certificate-authority: /nowhere/ca", NULL, ERR_NOT_FOUND,
		 "clusters[0].cluster.certificate-authority: /nowhere/ca"},
		{NULL, "tokenFile: /nowhere/token", ERR_NOT_FOUND,
		 "users[0].user.tokenFile: /nowhere/token"},
	};

	(void)state;
	check_refusals(cases, sizeof(cases) / sizeof(cases[0]), KUBE_CONFIG_OWN);
}

static void broken_files_are_refused(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"[]", "want a Config object"},
		{"a: [", ""},
		{"kind: Config", "current-context: missing"},
		{"current-context: x", "contexts: no context is named \"x\""},
		{"{current-context: x, contexts: [{name: x, context: 3}]}",
		 "contexts[0].context: want an object"},
		{"{current-context: x, contexts: [{name: x, context: {user: u}}]}",
		 "contexts[0].context.cluster: missing"},
		{"{current-context: x, contexts: [{name: x, context: {cluster: c}}]}",
		 "contexts[0].context.user: missing"},
		{"{current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}]}",
		 "clusters: no cluster is named \"c\""},
		{"{current-context: x, contexts: [{name: x, "
		 "context: {cluster: c, user: u, namespace: A_b}}]}",
		 "contexts[0].context.namespace: want a DNS label"},
		{"{current-context: x, contexts: {}}", "contexts: "},
	};

	(void)state;
	for (int trust = KUBE_CONFIG_OWN; trust <= KUBE_CONFIG_TENANT; trust++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct err e = {0};

			assert_null(kube_config_parse(cases[i][0], strlen(cases[i][0]),
						      (enum kube_config_trust)trust, NULL, NULL,
						      &e));
			assert_int_not_equal(e.kind, ERR_NONE);
			if (!str_starts(e.text, cases[i][1]))
				fail_msg("\"%s\": %s", cases[i][0], e.text);
		}
}

static char *folder(void)
{
	char *dir = mem_strdup("/tmp/drover-config-XXXXXX");

	assert_non_null(mkdtemp(dir));
	return dir;
}

static void put_file(const char *dir, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	free(path);
}

static void drop_folder(char *dir, const char *const *names)
{
	for (; *names; names++) {
		char *path = mem_printf("%s/%s", dir, *names);

		(void)unlink(path);
		free(path);
	}
	assert_int_equal(rmdir(dir), 0);
	free(dir);
}

static void paths_of_our_own_config_are_relative_to_it(void **state)
{
	char *dir = folder(), *path = mem_printf("%s/config", dir);
	char *text = config_text(
		"server: 'http://localhost:8080/', certificate-authority: ca.pem",
		"client-certificate: cert.pem, client-key: key.pem, token: old, tokenFile: token");
	struct kube_config *c;
	struct err e;

	(void)state;
	put_file(dir, "config", text);
	put_file(dir, "ca.pem", PEMS_CA);
	put_file(dir, "cert.pem", PEMS_CERT);
	put_file(dir, "key.pem", PEMS_KEY);
	put_file(dir, "token", "fresh\n");
	c = kube_config_load(path, NULL, &e);
	assert_non_null(c);
	assert_string_equal(c->server, "http://localhost:8080");
	assert_string_equal(c->ca_pem, PEMS_CA);
	assert_string_equal(c->client_cert_pem, PEMS_CERT);
	assert_string_equal(secret_expose(c->client_key_pem), PEMS_KEY);
	assert_string_equal(secret_expose(c->token), "fresh");
	assert_true(str_ends(c->token_file, "/token"));
	kube_config_free(c);

	put_file(dir, "token", "two words\n");
	assert_null(kube_config_load(path, NULL, &e));
	assert_non_null(strstr(e.text, "users[0].user.tokenFile"));
	free(text);
	free(path);
	drop_folder(dir, (const char *const[]){"config", "ca.pem", "cert.pem", "key.pem", "token",
					       NULL});
	assert_null(kube_config_load("/nowhere/config", NULL, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

/* As in kubectl, the first file that sets a value counts, and missing files are skipped. */
static void several_files_are_merged_and_a_context_is_chosen(void **state)
{
	static const char *const names[] = {"one", "two", "sub-ca.pem", "empty", NULL};
	char *dir = folder(),
	     *list = mem_printf("%s/none:%s/empty:%s/one::%s/two:", dir, dir, dir, dir);
	struct kube_config *c;
	struct err e;

	(void)state;
	put_file(dir, "sub-ca.pem", PEMS_CA);
	put_file(dir, "empty", "");
	put_file(dir, "one",
		 "current-context: a\n"
		 "contexts: [{name: a, context: {cluster: east, user: me}}, "
		 "{name: c, context: {cluster: west, user: nobody}}]\n"
		 "clusters: [{name: east, cluster: {server: 'https://east.example'}}]\n");
	put_file(dir, "two",
		 "current-context: b\n"
		 "contexts: [{name: a, context: {cluster: west, user: me}}, "
		 "{name: b, context: {cluster: west, user: me, namespace: x}}]\n"
		 "clusters: [{name: west, cluster: {server: 'https://west.example', "
		 "certificate-authority: sub-ca.pem}}]\n"
		 "users: [{name: me, user: {token: t}}]\n");
	c = kube_config_load(list, NULL, &e);
	assert_ok(c ? 0 : -1, &e);
	assert_string_equal(c->server, "https://east.example"); /* context a of the first file */
	assert_string_equal(secret_expose(c->token), "t");	/* user of the second file */
	assert_true(c->local_ok);
	kube_config_free(c);
	c = kube_config_load(list, "b", &e);
	assert_ok(c ? 0 : -1, &e);
	assert_string_equal(c->server, "https://west.example");
	assert_string_equal(c->ca_pem, PEMS_CA); /* relative to the file's directory */
	assert_string_equal(c->namespace_, "x");
	kube_config_free(c);
	assert_null(kube_config_load(list, "nowhere", &e));
	assert_non_null(strstr(e.text, "no context is named \"nowhere\""));
	assert_null(kube_config_load(list, "c", &e));
	assert_non_null(strstr(e.text, "no user is named \"nobody\""));
	free(list);
	list = mem_printf("%s/none:%s/neither", dir, dir);
	assert_null(kube_config_load(list, NULL, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_null(kube_config_load(":", NULL, &e));
	free(list);
	put_file(dir, "two", "[]\n");
	list = mem_printf("%s/one:%s/two", dir, dir);
	/* An existing but invalid file is an error. */
	assert_null(kube_config_load(list, NULL, &e));
	assert_non_null(strstr(e.text, "/two: want a Config object"));
	free(list);
	drop_folder(dir, names);
}

static void a_pod_finds_its_cluster(void **state)
{
	char *dir = folder();
	struct kube_config *c;
	struct err e;

	(void)state;
	assert_null(kube_config_in_cluster_at(NULL, "443", dir, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_null(kube_config_in_cluster_at("10.96.0.1", "443", dir, &e));
	assert_non_null(strstr(e.text, "ca.crt"));
	put_file(dir, "ca.crt", PEMS_CA);
	assert_null(kube_config_in_cluster_at("10.96.0.1", "443", dir, &e));
	assert_non_null(strstr(e.text, "/token"));
	put_file(dir, "token", "tok\n");
	c = kube_config_in_cluster_at("fd00::1", "443", dir, &e);
	assert_non_null(c);
	assert_string_equal(c->server, "https://[fd00::1]:443");
	assert_string_equal(c->namespace_, "default");
	assert_string_equal(secret_expose(c->token), "tok");
	kube_config_free(c);
	put_file(dir, "namespace", "drover\n");
	c = kube_config_in_cluster_at("10.96.0.1", "443", dir, &e);
	assert_non_null(c);
	assert_string_equal(c->server, "https://10.96.0.1:443");
	assert_string_equal(c->namespace_, "drover");
	assert_true(c->pem_read);
	kube_config_free(c);
	assert_null(kube_config_in_cluster_at("10.96.0.1", "tcp://x", dir, &e));
	drop_folder(dir, (const char *const[]){"ca.crt", "token", "namespace", NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tenants_config_is_read),
		cmocka_unit_test(wrapped_base64_is_read),
		cmocka_unit_test(a_tenants_config_with_anything_else_is_refused),
		cmocka_unit_test(what_a_tenant_does_not_use_is_checked_too),
		cmocka_unit_test(what_a_tenant_names_is_bounded),
		cmocka_unit_test(a_tenant_leads_us_to_no_local_address),
		cmocka_unit_test(an_admins_address_wins_and_may_be_local),
		cmocka_unit_test(our_own_config_names_what_it_cannot_have),
		cmocka_unit_test(broken_files_are_refused),
		cmocka_unit_test(paths_of_our_own_config_are_relative_to_it),
		cmocka_unit_test(several_files_are_merged_and_a_context_is_chosen),
		cmocka_unit_test(a_pod_finds_its_cluster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
