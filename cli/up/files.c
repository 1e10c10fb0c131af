/*
 * files: folders and tokens, which `drover up` stores between its starts. The functions block: call
 * them only before the loop runs.
 */
#include "cli/up/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define FILE_MAX (64 << 10)
#define TOKEN_BYTES 32

int up_folder(const char *path, struct err *e)
{
	char *p = mem_strdup(path);
	struct stat st;
	int rc = 0;

	for (char *at = p + 1; !rc; at++) {
		char c = *at;

		if (c != '/' && c != '\0')
			continue;
		*at = '\0';
		if (mkdir(p, 0700) < 0 && errno != EEXIST)
			rc = err_errno(e, errno, "folder %s", p);
		*at = c;
		if (!c)
			break;
	}
	free(p);
	/* mkdir() reports EEXIST also if path is a file */
	if (!rc && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		rc = err_errno(e, ENOTDIR, "folder %s", path);
	if (!rc && access(path, R_OK | W_OK | X_OK) < 0)
		rc = err_errno(e, errno, "folder %s", path);
	return rc;
}

struct secret *up_token(struct loop *l, const char *folder, const char *name, struct err *e)
{
	uint8_t raw[TOKEN_BYTES];
	char hex[2 * TOKEN_BYTES + 1];
	char *path = mem_printf("%s/%s", folder, name);
	char *text = file_text(path, FILE_MAX, NULL, e);
	struct secret *s = NULL;

	if (text && strlen(text) == 2 * TOKEN_BYTES) {
		s = secret_from_str(text);
	} else if (text) {
		err_note(e, ERR_INVALID, 0,
			 "%s: want %d hex digits; remove the file to get a new token", path,
			 2 * TOKEN_BYTES);
	} else if (e->kind == ERR_NOT_FOUND) {
		loop_random_bytes(l, raw, sizeof(raw));
		str_hex(hex, raw, sizeof(raw));
		if (file_write(path, hex, strlen(hex), 0600, true, e) == 0)
			s = secret_from_str(hex);
		secret_wipe(raw, sizeof(raw));
		secret_wipe(hex, sizeof(hex));
	}
	if (text)
		secret_wipe(text, strlen(text));
	free(text);
	free(path);
	return s;
}
