#ifndef SIM_PORTS_H
#define SIM_PORTS_H

#include "base/err.h"
#include "base/http.h"

/*
 * ports: the exec network driver of the rack's switch (docs/exec-fabric.md): JSON lines on
 * standard input and output, PUT and GET /sim/ports/MAC behind.  `drover sim port-move URL` runs it.
 */
/* Until end of file; exit status. */
int sim_ports_main(const char *rack_url, const char *ca_pem_file);

#endif
