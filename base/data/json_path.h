#ifndef BASE_DATA_JSON_PATH_H
#define BASE_DATA_JSON_PATH_H

#include "base/data/json.h"

/*
 * json_path: a member by its JSONPath, as kubectl and additionalPrinterColumns of
 * CustomResourceDefinitions write it: .a.b, ['a'], [0], [*], [?(@.a=="b")], "\." for a dot in a
 * name.
 */
/* The first that it finds; NULL: nothing, or it is not such a path.  Borrowed from j. */
const json_t *json_path(const json_t *j, const char *path);

#endif
