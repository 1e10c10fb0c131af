#include "tests/contract/unsaid.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"

/* The check in progress; a program runs one at a time */
static struct {
	const char *password;
	char *basic;
	bool said;
} kept;

/* Removes backslashes from the text before comparing, because log lines escape quotes. */
void unsaid_check(const char *text)
{
	char *plain;
	size_t n = 0;

	if (!text || !kept.password)
		return;
	plain = mem_calloc(strlen(text) + 1, 1);
	for (; *text; text++)
		if (*text != '\\')
			plain[n++] = *text;
	if (strstr(plain, kept.password) || strstr(plain, kept.basic)) {
		kept.said = true;
		print_message("it tells a password: %s\n", plain);
	}
	free(plain);
}

static void on_line(const char *line, size_t len, void *arg)
{
	char *text = mem_calloc(len + 1, 1);

	(void)arg;
	memcpy(text, line, len);
	unsaid_check(text);
	free(text);
}

void unsaid_begin(const char *user, const char *password)
{
	char both[256];

	str_format(both, sizeof(both), "%s:%s", user, password);
	kept.password = password;
	kept.said = false;
	kept.basic = crypto_base64(both, strlen(both));
	log_config(LOG_DEBUG, LOG_TEXT);
	log_redirect(on_line, NULL);
}

void unsaid_end(void)
{
	log_redirect(NULL, NULL);
	log_config(LOG_INFO, LOG_TEXT);
	free(kept.basic);
	kept.password = NULL;
	kept.basic = NULL;
	assert_false(kept.said);
}
