#ifndef BASE_DATA_YAML_H
#define BASE_DATA_YAML_H

#include "base/buf.h"
#include "base/err.h"
#include "base/data/json.h"

/*
 * yaml: converts YAML text to JSON values (libyaml events), for configuration, kubeconfigs and
 * manifests. Tags and duplicate keys are refused; depth is bounded as in json.h. An alias becomes a
 * copy of its anchor's value, and a merge key (<<) becomes the members of its mapping, as in
 * kubectl; all copies together have at most JSON_VALUES_MAX values and 4 MiB of text. Plain scalars
 * follow the YAML 1.2 core schema (true/false/null, integers, floats); quoted scalars are strings.
 * The text is UTF-8, or UTF-16 with a byte order mark. Errors name line and column.
 */
/* Parses the only non-empty document, of at most JSON_VALUES_MAX values (base/data/json.h). NULL
 * with *e, also if there are several. */
json_t *yaml_parse(const char *text, size_t len, struct err *e);
/* Parses all documents into an array with one element per document. The number of values is not
 * bounded: use it only for files that the user of the program chose. */
json_t *yaml_parse_all(const char *text, size_t len, struct err *e);

/* Prints j in block style, members in their order, lists not indented; quotes whatever YAML 1.1 or
 * 1.2 might read as another type. For drover's own values only: a failure shows only in out->over,
 * and keys must be shorter than 1,000 bytes. */
void yaml_print(const json_t *j, struct buf *out);

#endif
