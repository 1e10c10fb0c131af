#ifndef SIM_PORTS_H
#define SIM_PORTS_H

#include "base/err.h"
#include "base/http/http.h"

/*
 * ports: the exec network driver of the rack's switch (docs/exec-fabric.md): JSON lines on standard
 * input and output, PUT and GET /sim/ports/MAC behind. `drover sim port-move URL` runs it.
 *
 * The rack remembers the highest fence of each port and refuses a lower one; what it says of a port
 * is what forwards, so the proof is Strong.
 */
struct sim_ports;

/* write: one reply without its newline.  NULL with *e: the URL is none. */
struct sim_ports *sim_ports_new(struct http *http, const char *rack_url, const char *ca_pem,
				void (*write)(const char *line, size_t len, void *arg), void *arg,
				struct err *e);
void sim_ports_free(struct sim_ports *p);
/* False: no request of the protocol, the driver had better end. */
bool sim_ports_line(struct sim_ports *p, const char *line, size_t len);

/* Until end of file, and what was begun has ended; exit status. ca_pem_file NULL: an http URL, or
 * the system's CAs. */
int sim_ports_main(const char *rack_url, const char *ca_pem_file);

#endif
