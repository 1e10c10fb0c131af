#ifndef BASE_DATA_YAML_H
#define BASE_DATA_YAML_H

#include "base/buf.h"
#include "base/err.h"
#include "base/data/json.h"

/*
 * yaml: YAML text to JSON values (libyaml events), for configuration, kubeconfigs and manifests.
 * Tags and duplicate keys are refused; depth is bounded as in json.h. An alias becomes a copy of
 * its anchor's value and a merge key (<<) the members of its mapping, as kubectl reads them; all
 * copies together have at most JSON_VALUES_MAX values and 4 MiB of text. Plain scalars follow the
 * YAML 1.2 core schema (true/false/null, integers, floats); quoted ones are strings. The text is
 * UTF-8, or UTF-16 behind a byte order mark. Errors name line and column.
 */
/* Returns the one document that is not empty, of at most JSON_VALUES_MAX values
 * (base/data/json.h). */
json_t *yaml_parse(const char *text, size_t len, struct err *e);
/* Returns an array with one element per document. The number of values is not bounded: for files
 * that the user of the program chose. */
json_t *yaml_parse_all(const char *text, size_t len, struct err *e);

/* Block style, members in their order, lists not indented; whatever YAML 1.1 or 1.2 might take
 * for another type is quoted. For our own values: no error, only out->over, and keys below 1,000
 * bytes. */
void yaml_print(const json_t *j, struct buf *out);

#endif
