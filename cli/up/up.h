#ifndef CLI_UP_UP_H
#define CLI_UP_UP_H

#include "base/httpd/httpd_cert.h"
#include "base/httpd/httpd_mhd.h"
#include "controller/controller.h"
#include "cli/up/server.h"
#include "sim/faults.h"
#include "sim/scheduler.h"
#include "sim/workloads.h"

/*
 * up: what the files of `drover up` share.
 *
 *   cli/up/up.c	the command line; servers, controller, and the order in which they come and go
 *   cli/up/objects.c	the objects of the host cluster, and how they get there
 *   cli/up/rack.c	the simulated machines, their BMCs, the image that they run
 *   cli/up/common.c	addresses and certificates
 *
 * Everything is one process on one loop. Ports count up from `port`, so that a kubeconfig stays
 * good over a restart.
 * Tests: tests/unit/cli/up/test_up.c, tests/real/up.py, examples/demo.py
 */
#define UP_TENANTS 2
#define UP_PROVIDER "rack" /* also begins the names of its Secrets */
#define UP_CERT_DAYS 365   /* made anew at each start */

enum up_port {
	UP_PORT_HOST,
	/* and the next, one each */
	UP_PORT_TENANT,
	UP_PORT_AGENT = UP_PORT_TENANT + UP_TENANTS,
	UP_PORT_MEDIA,
	UP_PORT_OPS,
	UP_PORT_IMAGES,
	/* of people and the switch driver */
	UP_PORT_RACK,
	/* on each BMC's own address */
	UP_PORT_BMC,
	UP_PORTS,
};

struct up_rack;
struct up_cluster {
	/* kubeconfig: the file */
	char *name, *kubeconfig;
	struct loop_group *group;
	struct up_server *server;
	/* NULL: the host's, which runs no pods */
	struct sim_scheduler *scheduler;
	/* NULL: the host's */
	struct sim_workloads *workloads;
};

struct up {
	/* absolute */
	const char *data;
	/* NULL: nothing goes wrong */
	const char *faults_file;
	/* of what it says */
	struct arena *arena;
	struct sim_faults faults;
	/* port: 0 until the folder is open, unless given */
	int64_t machines, speed, port;
	bool debug;

	struct loop *loop;
	struct loop_group *group;
	/* of schedulers, controllers of workloads, and what applies objects */
	struct http *http;
	struct up_cluster host, tenants[UP_TENANTS];
	struct secret *kubelet_token, *bmc_password;
	struct up_rack *rack;
	struct up_apply *apply;

	struct loop_group *drover;
	struct http *drover_http;
	struct controller *controller;
	const char *exec_allowed[2];
	struct httpd *agent, *media, *ops;
	struct httpd_cert *agent_l;
	struct httpd_mhd *media_l, *ops_l;
	char *agent_image;
	struct loop_signal *term, *intr;
	/* once it is ready */
	struct loop_timer disk_look;
	int64_t began;
	bool ready, stopping;
	int status;
	/* of the folder */
	int lock;
	int log;
};

/* "https://127.0.0.1:16442"; malloc'd. */
char *up_url(const struct up *u, const char *scheme, enum up_port port);
/* A certificate of the host cluster's CA for these names (NULL-terminated). */
int up_certificate(const struct up *u, const char *const *names, char **cert_pem,
		   struct secret **key, struct err *e) __attribute__((warn_unused_result));

/* --- objects ---------------------------------------------------------------------------------- */

/* Send all of them, one after the other; what is there already is merged, or left alone when only
 * the first start makes it (NodePools, Machines). done comes once; e NULL: all are there. */
struct up_apply *up_apply_new(struct up *u, void (*done)(const struct err *e, void *arg), void *arg,
			      struct err *e);
void up_apply_free(struct up_apply *a);

/* --- rack ------------------------------------------------------------------------------------- */

struct up_rack *up_rack_new(struct up *u, struct err *e);
void up_rack_free(struct up_rack *r);
/* Its Provider and Machines; an array. */
json_t *up_rack_objects(const struct up_rack *r, struct err *e);
const char *up_rack_image_digest(const struct up_rack *r);
/* The program that moves its ports: this one; as long as the rack. */
const char *up_rack_driver(const struct up_rack *r);

#endif
