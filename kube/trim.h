#ifndef KUBE_TRIM_H
#define KUBE_TRIM_H

#include "base/err.h"
#include "base/data/json.h"

/*
 * kube_trim: parse an object of a list or watch without its managedFields.
 *
 * They are a third to a half of a Node or Pod, no projection reads them, and
 * the API cannot be asked to leave them out.  The first member of that name
 * with an array is cut out of the text, as servers write it (no white space);
 * what it holds is then not checked.  Anything else is parsed as it is.
 */
json_t *kube_trim_parse(const char *text, size_t len, struct err *e);

#endif
