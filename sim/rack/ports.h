#ifndef SIM_RACK_PORTS_H
#define SIM_RACK_PORTS_H

#include "base/err.h"
#include "base/http/http.h"

/*
 * ports: the exec network driver of the rack's switch (docs/exec-fabric.md). It translates JSON
 * lines on standard input and output to PUT and GET of /sim/ports/MAC. `drover sim port-move URL`
 * runs it.
 *
 * The rack records the highest fence of each port and refuses a lower one. It reports the segment
 * in which a port really forwards, so the driver's proof is of the kind Strong.
 */
struct sim_ports;

/* Creates a driver. write(): called with each reply, without a newline. NULL with *e: the URL is
 * not valid. */
struct sim_ports *sim_ports_new(struct http *http, const char *rack_url, const char *ca_pem,
				void (*write)(const char *line, size_t len, void *arg), void *arg,
				struct err *e);
void sim_ports_free(struct sim_ports *p);
/* Handles one line of input. False: the line is not a request of the protocol, and the driver
 * should exit. */
bool sim_ports_line(struct sim_ports *p, const char *line, size_t len);

/* Runs the driver on standard input and output until end of file, and until all requests are
 * answered. Returns the exit status. ca_pem_file NULL: an http URL, or the system's CAs. */
int sim_ports_main(const char *rack_url, const char *ca_pem_file);

#endif
