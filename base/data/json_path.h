#ifndef BASE_DATA_JSON_PATH_H
#define BASE_DATA_JSON_PATH_H

#include "base/data/json.h"

/*
 * json_path: finds a value by a JSONPath as in kubectl and in additionalPrinterColumns of
 * CustomResourceDefinitions: .a.b, ['a'], [0], [*], [?(@.a=="b")], "\." for a dot in a name.
 */
/* Returns the first match, borrowed from j; NULL: no match, or path is not valid. */
const json_t *json_path(const json_t *j, const char *path);

#endif
