#ifndef REDFISH_LINK_H
#define REDFISH_LINK_H

#include <stdbool.h>
#include "base/err.h"

/*
 * link: checks addresses that a BMC returns (@odata.id, Location, nextLink, action targets),
 * because they may be arbitrary bytes.
 *
 * link_path() returns (malloc'd) what follows the origin, without the fragment; NULL with
 * ERR_PROTOCOL for another scheme, host or port than `origin`, a user part, a relative or
 * protocol-relative reference, more than 1024 bytes, control or non-ASCII bytes, or a "." or ".."
 * segment in any escaped form.
 */
char *link_path(const char *origin, const char *link, struct err *e);

/* Returns (malloc'd) the path that a Location header leads to.  The header may be relative to
 * `path`, the path of the request (RFC 3986, section 5.2).  Errors as for link_path(). */
char *link_from(const char *origin, const char *path, const char *location, struct err *e);

/* Returns the first part of a configured URL, "https://host:port", malloc'd; *path points to the
 * rest ("" if empty). NULL with ERR_INVALID and code REDFISH_ADDRESS. */
char *link_origin(const char *url, const char **path, struct err *e);

#endif
