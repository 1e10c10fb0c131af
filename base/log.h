#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * log: logs a fixed message plus fields, as key=value or JSON, one line each, to standard error or
 * to a function (tests). Only controller/ and the programs' main files log; all other code returns
 * a struct err.
 *
 *   log_info("machine state", LOG_S("machine", name), LOG_S("to", to));
 *
 * Values are escaped, so foreign bytes cannot forge a line. There is deliberately no field type for
 * struct secret. May be called from any thread.
 */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

struct log_field {
	const char *key;
	enum { LOG_F_STR, LOG_F_INT, LOG_F_ERR, LOG_F_END } type;
	union {
		const char *s;
		int64_t i;
		const struct err *e;
	};
};
#define LOG_S(k, v) ((struct log_field){.key = (k), .type = LOG_F_STR, .s = (v)})
#define LOG_I(k, v) ((struct log_field){.key = (k), .type = LOG_F_INT, .i = (int64_t)(v)})
/* Field that logs a struct err: its text, its kind and the place that set it. */
#define LOG_E(v) ((struct log_field){.key = "error", .type = LOG_F_ERR, .e = (v)})
#define LOG_END ((struct log_field){.type = LOG_F_END})

void log_config(enum log_level least, enum log_format format);
/* log_redirect() passes log lines to fn instead of standard error; fn NULL: standard error again.
 * log_clock() sets the clock for time stamps; wall_ms NULL: the system clock. */
void log_redirect(void (*fn)(const char *line, size_t len, void *arg), void *arg);
void log_clock(int64_t (*wall_ms)(void *arg), void *arg);

void log_write(enum log_level level, const char *message, const struct log_field *fields);

/* Logs a message with fields. The array begins with an unused element, which is skipped, because
 * without fields the arguments would otherwise begin with a comma. */
#define log_at(level, msg, ...)                                                                    \
	log_write(level, msg, (const struct log_field[]){LOG_END, ##__VA_ARGS__, LOG_END} + 1)
#define log_debug(msg, ...) log_at(LOG_DEBUG, msg, ##__VA_ARGS__)
#define log_info(msg, ...) log_at(LOG_INFO, msg, ##__VA_ARGS__)
#define log_warn(msg, ...) log_at(LOG_WARN, msg, ##__VA_ARGS__)
#define log_error(msg, ...) log_at(LOG_ERROR, msg, ##__VA_ARGS__)

#endif
