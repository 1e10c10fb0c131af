#ifndef BASE_DATA_YAML_H
#define BASE_DATA_YAML_H

#include "base/buf.h"
#include "base/err.h"
#include "base/data/json.h"

/*
 * yaml: converts YAML text to JSON values (libyaml events), for configuration, kubeconfigs and
 * manifests. Tags and duplicate keys are refused; depth is limited as in json.h. As in kubectl, an
 * alias becomes a copy of its anchor's value, and a merge key (<<) becomes the members of its
 * mapping; all copies together have at most JSON_VALUES_MAX values and 4 MiB of text. Plain scalars
 * follow the YAML 1.2 core schema (true/false/null, integers, floats); quoted scalars are strings.
 * The text is UTF-8, or UTF-16 with a byte order mark. Errors name line and column.
 */
/* Parses a text with one document, of at most JSON_VALUES_MAX values (base/data/json.h); documents
 * of comments only do not count. NULL with *e on error, also if there are several documents. */
json_t *yaml_parse(const char *text, size_t len, struct err *e);
/* Parses all documents into an array with one element per document. The number of values is not
 * limited, so use it only for files that the user of the program chose. */
json_t *yaml_parse_all(const char *text, size_t len, struct err *e);

/* Prints j in block style: members in their order, lists not indented. Quotes each text that YAML
 * 1.1 or 1.2 might read as another type. Only for values that drover made itself: a failure shows
 * only in out->over, and keys must be shorter than 1,000 bytes. */
void yaml_print(const json_t *j, struct buf *out);

#endif
