#include "base/store/store_sqlite_db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/store/store_internal.h"
#include "base/str.h"

#define SCHEMA_VERSION 1
#define APPLICATION_ID 0x64726f76 /* "drov". */

static const char schema[] =
	"CREATE TABLE version (rev INTEGER PRIMARY KEY, create_rev INTEGER NOT NULL,"
	" key TEXT NOT NULL, value BLOB, sum INTEGER NOT NULL);"
	"CREATE TABLE history (id INTEGER PRIMARY KEY CHECK (id = 0), oldest INTEGER NOT NULL);"
	"INSERT INTO history VALUES (0, 1);";

enum statement { PUT, GONE, OLDEST, STATEMENTS };

static const char *const statement_text[STATEMENTS] = {
	[PUT] = ("INSERT INTO version (rev, create_rev, key, value, sum) "
		 "VALUES (?1, ?2, ?3, ?4, ?5)"),
	[GONE] = "DELETE FROM version WHERE rev = ?1",
	[OLDEST] = "UPDATE history SET oldest = ?1",
};

struct store_db {
	char *folder, *file;
	/* Descriptor of the locked file FOLDER/lock; -1: none. */
	int lock;
	sqlite3 *sql;
	sqlite3_stmt *statement[STATEMENTS];
};

/* --- checksums -------------------------------------------------------------------------------- */

/* Adds bytes to a checksum (FNV-1a). Each step is invertible, so a change of any single byte
 * changes the sum. */
static uint64_t add_bytes(uint64_t sum, const void *data, size_t n)
{
	for (const unsigned char *p = data; n-- > 0; p++)
		sum = (sum ^ *p) * 0x100000001b3u;
	return sum;
}

static int64_t sum_of(const struct store_db_row *r)
{
	uint64_t sum = 0xcbf29ce484222325u, value_len = r->value ? r->value_len : UINT64_MAX;

	sum = add_bytes(sum, &r->rev, sizeof(r->rev));
	sum = add_bytes(sum, &r->create_rev, sizeof(r->create_rev));
	sum = add_bytes(sum, &value_len, sizeof(value_len));
	sum = add_bytes(sum, r->key, strlen(r->key));
	return (int64_t)(r->value ? add_bytes(sum, r->value, r->value_len) : sum);
}

/* --- errors ----------------------------------------------------------------------------------- */

static int damaged(const struct store_db *d, const char *how, struct err *e)
{
	return err_set(e, ERR_INVALID, 0,
		       "%s is damaged (%s); nothing was changed: restore a backup, or move the "
		       "folder away to start with an empty store",
		       d->file, how);
}

static int failed(const struct store_db *d, struct err *e)
{
	/* Save errno first, because SQLite does not preserve it for a failed COMMIT. */
	int last = errno, rc = sqlite3_extended_errcode(d->sql);
	int cause = sqlite3_system_errno(d->sql) ? sqlite3_system_errno(d->sql) : last;

	switch (rc & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* Means here that a table or column is missing. */
		return damaged(d, sqlite3_errmsg(d->sql), e);
	case SQLITE_FULL:
		return err_set(e, ERR_CAPACITY, rc,
			       "data folder %s: the disk is full; make room, then start again",
			       d->folder);
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return err_set(e, ERR_DENIED, rc, "data folder %s: %s", d->folder,
			       sqlite3_errmsg(d->sql));
	case SQLITE_BUSY:
		return err_set(e, ERR_CONFLICT, rc, "%s is in use by another program", d->file);
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		if (cause)
			return err_errno(e, cause, "data folder %s: %s", d->folder,
					 sqlite3_errmsg(d->sql));
		break;
	default:
		break;
	}
	return err_set(e, ERR_UNAVAILABLE, rc, "data folder %s: %s", d->folder,
		       sqlite3_errmsg(d->sql));
}

static int run(struct store_db *d, const char *text, struct err *e)
{
	return sqlite3_exec(d->sql, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(d, e);
}

/* Reads the first column of the first row of a query into *out. */
static int ask_number(struct store_db *d, const char *text, int64_t *out, struct err *e)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(d->sql, text, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	else if (rc == SQLITE_DONE)
		(void)damaged(d, "a row is missing", e);
	else
		(void)failed(d, e);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? 0 : -1;
}

static int expect_text(struct store_db *d, const char *text, const char *want, struct err *e)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(d->sql, text, -1, &st, NULL), ret = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc != SQLITE_ROW)
		ret = failed(d, e);
	else if (!str_eq((const char *)sqlite3_column_text(st, 0), want))
		ret = damaged(d, str_or((const char *)sqlite3_column_text(st, 0), "no answer"), e);
	sqlite3_finalize(st);
	return ret;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int sync_folder(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || fsync(fd) < 0 ? err_errno(e, errno, "folder %s", path) : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

static int make_folder(const char *folder, struct err *e)
{
	if (mkdir(folder, 0700) < 0)
		return errno == EEXIST ? 0 : err_errno(e, errno, "data folder %s", folder);

	char *parent = mem_printf("%s/..", folder);
	int rc = sync_folder(parent, e);

	free(parent);
	return rc;
}

static int take_lock(struct store_db *d, struct err *e)
{
	char *path = mem_printf("%s/lock", d->folder);
	char pid[32] = "";

	d->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(path);
	if (d->lock < 0)
		return err_errno(e, errno, "data folder %s: cannot write in it", d->folder);
	if (flock(d->lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return err_errno(e, errno, "data folder %s: lock", d->folder);

		ssize_t n = pread(d->lock, pid, sizeof(pid) - 1, 0);

		pid[n > 0 ? n : 0] = '\0';
		pid[strspn(pid, "0123456789")] = '\0';
		return err_set(e, ERR_CONFLICT, 0, "data folder %s: in use by process %s",
			       d->folder, str_or(pid, "(unknown)"));
	}
	snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	if (ftruncate(d->lock, 0) < 0 || pwrite(d->lock, pid, strlen(pid), 0) < 0)
		return err_errno(e, errno, "data folder %s: lock", d->folder);
	return 0;
}

static int open_file(struct store_db *d, struct err *e)
{
	int fd = open(d->file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_errno(e, errno, "%s", d->file);
	close(fd);

	int rc = sqlite3_open_v2(d->file, &d->sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
				 NULL);

	if (!d->sql)
		abort(); /* The handle is NULL only without memory. */
	if (rc != SQLITE_OK)
		return failed(d, e);
	/* Do not checkpoint when the file is closed, because that would modify it, and the file may
	 * still be refused. */
	sqlite3_db_config(d->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	/* Lock the file for this process alone. Exclusive mode avoids a memory-mapped file beside
	 * the log, which could not grow on a full disk. */
	return run(d, "PRAGMA locking_mode = EXCLUSIVE", e);
}

static int check_kind(struct store_db *d, bool *empty, struct err *e)
{
	int64_t application, version, tables;

	if (ask_number(d, "PRAGMA application_id", &application, e) < 0 ||
	    ask_number(d, "PRAGMA user_version", &version, e) < 0 ||
	    ask_number(d, "SELECT count(*) FROM sqlite_schema", &tables, e) < 0)
		return -1;
	*empty = application == 0 && version == 0 && tables == 0;
	if (*empty)
		return 0;
	if (application != APPLICATION_ID)
		return err_set(e, ERR_INVALID, 0,
			       "%s is a database of another program; nothing was changed: name "
			       "another folder",
			       d->file);
	if (version > SCHEMA_VERSION)
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "%s has schema version %lld, this drover knows versions up to %d; "
			       "nothing was changed: use the drover that wrote it, or a newer one",
			       d->file, (long long)version, SCHEMA_VERSION);
	if (version < 1)
		return damaged(d, "no schema version", e);
	return expect_text(d, "PRAGMA quick_check(1)", "ok", e);
}

static int create_tables(struct store_db *d, struct err *e)
{
	char *text = mem_printf("BEGIN; %s PRAGMA application_id = %d; PRAGMA user_version = %d; "
				"COMMIT;",
				schema, APPLICATION_ID, SCHEMA_VERSION);
	int rc = run(d, text, e);

	free(text);
	return rc;
}

static int prepare(struct store_db *d, struct err *e)
{
	for (int i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v3(d->sql, statement_text[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &d->statement[i], NULL) != SQLITE_OK)
			return failed(d, e);
	return 0;
}

struct store_db *store_db_open(const char *folder, struct err *e)
{
	OWN(store_db) d = mem_new(struct store_db);
	bool empty;

	d->folder = mem_strdup(folder);
	d->lock = -1;
	if (make_folder(folder, e) < 0 || take_lock(d, e) < 0)
		return NULL;

	/* Use an absolute path: SQLite would read a relative name that begins with "file:" as a
	 * URL. */
	char *real = realpath(folder, NULL);

	d->file = mem_printf("%s/store.db", str_or(real, folder));
	free(real);
	if (open_file(d, e) < 0 || check_kind(d, &empty, e) < 0 ||
	    run(d,
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		"PRAGMA journal_size_limit = 16777216",
		e) < 0 ||
	    expect_text(d, "PRAGMA journal_mode", "wal", e) < 0 ||
	    (empty && create_tables(d, e) < 0) || prepare(d, e) < 0)
		return NULL;
	return give(d);
}

void store_db_free(struct store_db *d)
{
	if (!d)
		return;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(d->statement[i]);
	sqlite3_close(d->sql);
	if (d->lock >= 0)
		close(d->lock);
	free(d->folder);
	free(d->file);
	free(d);
}

/* --- loading ---------------------------------------------------------------------------------- */

static int load_row(struct store_db *d, sqlite3_stmt *st, struct store *s, struct err *e)
{
	struct store_db_row r = {
		.rev = (uint64_t)sqlite3_column_int64(st, 0),
		.create_rev = (uint64_t)sqlite3_column_int64(st, 1),
		.key = (const char *)sqlite3_column_text(st, 2),
	};
	struct store_entry c;
	struct err why;

	if (r.rev == 0 || r.rev > INT64_MAX || r.create_rev == 0 || !r.key ||
	    strlen(r.key) != (size_t)sqlite3_column_bytes(st, 2))
		return damaged(d, "a row is invalid", e);
	if (sqlite3_column_type(st, 3) != SQLITE_NULL) {
		r.value = sqlite3_column_blob(st, 3);
		/* Use "" for an empty value, for which SQLite returns NULL. */
		r.value = r.value ? r.value : "";
		r.value_len = (size_t)sqlite3_column_bytes(st, 3);
	}
	if (sqlite3_column_int64(st, 4) != sum_of(&r))
		return damaged(d, "the checksum of a row does not match its content", e);
	c = (struct store_entry){.key = r.key,
				 .value = r.value,
				 .value_len = r.value_len,
				 .rev = r.rev,
				 .create_rev = r.create_rev};
	if (store_load(s, &c, &why) < 0)
		return damaged(d, why.text, e);
	return 0;
}

int store_db_load(struct store_db *d, struct store *s, struct err *e)
{
	sqlite3_stmt *st = NULL;
	int64_t oldest;
	int rc;

	if (ask_number(d, "SELECT oldest FROM history", &oldest, e) < 0)
		return -1;
	if (oldest < 1)
		return damaged(d, "the start of the history is not a positive revision", e);
	store_load_begin(s, (uint64_t)oldest);
	rc = sqlite3_prepare_v2(d->sql,
				"SELECT rev, create_rev, key, value, sum FROM version ORDER BY rev",
				-1, &st, NULL);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(st);
		if (rc == SQLITE_ROW && load_row(d, st, s, e) < 0) {
			sqlite3_finalize(st);
			return -1;
		}
	}
	if (rc != SQLITE_DONE)
		(void)failed(d, e);
	sqlite3_finalize(st);
	if (rc != SQLITE_DONE)
		return -1;
	store_load_end(s);
	sqlite3_db_config(d->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int step(struct store_db *d, enum statement which, struct err *e)
{
	sqlite3_stmt *st = d->statement[which];
	int rc = sqlite3_step(st) == SQLITE_DONE ? 0 : failed(d, e);

	sqlite3_reset(st);
	return rc;
}

static int put(struct store_db *d, const struct store_db_row *r, struct err *e)
{
	sqlite3_stmt *st = d->statement[PUT];

	sqlite3_bind_int64(st, 1, (int64_t)r->rev);
	sqlite3_bind_int64(st, 2, (int64_t)r->create_rev);
	sqlite3_bind_text64(st, 3, r->key, strlen(r->key), SQLITE_STATIC, SQLITE_UTF8);
	if (!r->value)
		sqlite3_bind_null(st, 4);
	else if (sqlite3_bind_blob64(st, 4, r->value, r->value_len, SQLITE_STATIC) != SQLITE_OK)
		return failed(d, e);
	sqlite3_bind_int64(st, 5, sum_of(r));
	return step(d, PUT, e);
}

static int write_all(struct store_db *d, const struct store_db_batch *b, struct err *e)
{
	if (run(d, "BEGIN", e) < 0)
		return -1;
	for (size_t i = 0; i < b->nrows; i++)
		if (put(d, &b->row[i], e) < 0)
			return -1;
	for (size_t i = 0; i < b->ngone; i++) {
		sqlite3_bind_int64(d->statement[GONE], 1, (int64_t)b->gone[i]);
		if (step(d, GONE, e) < 0)
			return -1;
	}
	if (b->ngone) {
		sqlite3_bind_int64(d->statement[OLDEST], 1, (int64_t)b->oldest);
		if (step(d, OLDEST, e) < 0)
			return -1;
	}
	return run(d, "COMMIT", e);
}

int store_db_write(struct store_db *d, const struct store_db_batch *b, struct err *e)
{
	errno = 0;
	if (write_all(d, b, e) == 0)
		return 0;
	/* After the error the contents of the disk are unknown until the next start: roll back, and
	 * write nothing more, not even a checkpoint when the file is closed. */
	if (!sqlite3_get_autocommit(d->sql))
		sqlite3_exec(d->sql, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_db_config(d->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	return -1;
}
