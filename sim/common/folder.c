#include "sim/common/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/crypto.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define FILE_MAX (1u << 20)
#define CERT_DAYS 3650

static char *path_in(const struct sim_folder *f, const char *name)
{
	return mem_printf("%s/%s", f->path, name);
}

char *sim_file_read(const char *path, struct err *e)
{
	FILE *f = fopen(path, "re");
	char *text;
	size_t n;

	if (!f) {
		err_note_errno(e, errno, "%s", path);
		return NULL;
	}
	text = mem_alloc(FILE_MAX);
	n = fread(text, 1, FILE_MAX - 1, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

static char *folder_read(const struct sim_folder *f, const char *name, struct err *e)
{
	char *path = path_in(f, name), *text = sim_file_read(path, e);

	free(path);
	return text;
}

int sim_folder_write(const struct sim_folder *f, const char *name, const char *text, struct err *e)
{
	char *path = path_in(f, name);
	int status = file_write(path, text, strlen(text), 0600, false, e);

	free(path);
	return status;
}

int sim_folder_open(struct sim_folder *f, const char *path, const char *verb, struct err *e)
{
	char *lock;
	int status = 0;

	f->path = path;
	f->lock = -1;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_errno(e, errno, "%s", path);
	lock = path_in(f, "lock");
	f->lock = file_lock(lock, e);
	if (f->lock < 0)
		status = e->kind != ERR_CONFLICT
				 ? -1
				 : err_set(e, ERR_CONFLICT, e->code,
					   "%s: another `%s` uses this directory; end that "
					   "process, or choose a different --data",
					   path, verb);
	free(lock);
	return status;
}

void sim_folder_close(struct sim_folder *f)
{
	if (f->lock >= 0)
		close(f->lock);
	f->lock = -1;
}

struct secret *sim_folder_password(const struct sim_folder *f, struct loop *l, struct err *e)
{
	uint8_t random[8];
	char hex[17], *text = folder_read(f, "password", e);
	struct secret *password;

	if (!text && e->kind != ERR_NOT_FOUND)
		return NULL;
	if (text) {
		text[strcspn(text, "\r\n")] = '\0';
	} else {
		loop_random_bytes(l, random, sizeof(random));
		str_hex(hex, random, sizeof(random));
		if (sim_folder_write(f, "password", hex, e) < 0)
			return NULL;
		text = mem_strdup(hex);
	}
	password = secret_from_str(text);
	secret_wipe(text, strlen(text));
	free(text);
	return password;
}

/* --- certificates ----------------------------------------------------------------------------- */

struct files {
	char cert[64], key[64];
};

static int issue(const struct sim_folder *f, struct loop *l, const struct files *at,
		 const char *subject, const char *const *names, struct sim_certificates *out,
		 struct err *e)
{
	int64_t wall = loop_wall(l);
	OWN(secret) ca_key = NULL;

	if (crypto_ca_new("drover sim rack", wall, CERT_DAYS, &out->ca, &ca_key, e) < 0 ||
	    crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = out->ca,
							 .ca_key = ca_key,
							 .cn = subject,
							 .names = names,
							 .wall_ms = wall,
							 .days = CERT_DAYS},
			      &out->cert, &out->key, e) < 0)
		return -1;
	/* Writes the key last, because the presence of the key means that the set of files is
	 * complete. */
	return sim_folder_write(f, "ca.crt", out->ca, e) < 0 ||
			       sim_folder_write(f, at->cert, out->cert, e) < 0 ||
			       sim_folder_write(f, at->key, secret_expose(out->key), e) < 0
		       ? -1
		       : 0;
}

int sim_folder_certificates(const struct sim_folder *f, struct loop *l, const char *name,
			    const char *subject, const char *const *names,
			    struct sim_certificates *out, struct err *e)
{
	struct files at;
	char *key;

	str_format(at.cert, sizeof(at.cert), "%s.crt", name);
	str_format(at.key, sizeof(at.key), "%s.key", name);
	*out = (struct sim_certificates){0};
	key = folder_read(f, at.key, e);
	if (!key)
		return e->kind == ERR_NOT_FOUND ? issue(f, l, &at, subject, names, out, e) : -1;
	out->key = secret_from_str(key);
	secret_wipe(key, strlen(key));
	free(key);
	out->ca = folder_read(f, "ca.crt", e);
	out->cert = out->ca ? folder_read(f, at.cert, e) : NULL;
	return out->cert ? 0 : -1;
}

void sim_certificates_done(struct sim_certificates *c)
{
	secret_free(c->key);
	free(c->ca);
	free(c->cert);
	*c = (struct sim_certificates){0};
}
