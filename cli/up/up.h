#ifndef CLI_UP_UP_H
#define CLI_UP_UP_H

#include "cli/trace_options.h"
#include "base/httpd/httpd_cert.h"
#include "base/httpd/httpd_mhd.h"
#include "controller/controller.h"
#include "cli/up/rack_process.h"
#include "cli/up/server.h"
#include "sim/cluster/scheduler.h"
#include "sim/cluster/workloads.h"

/*
 * up: declarations that the files of `drover up` share:
 *
 *   cli/up/up.c            the command line; starts and stops servers and controller
 *   cli/up/objects.c       the objects of the host cluster, and how they are applied
 *   cli/up/rack_process.c  the process with the rack
 *   cli/up/rack.c          the simulated machines, their BMCs, the image that they run
 *
 * The API servers and the controller run in one process on one loop, the rack in another.
 * Tests: tests/unit/cli/up/test_up.c, tests/real/up.py, examples/demo.py
 */
struct up_cluster {
	/* name of the cluster, and path of its kubeconfig */
	char *name, *kubeconfig;
	struct loop_group *group;
	struct up_server *server;
	/* scheduler of a tenant's cluster; NULL for the host cluster, which runs no pods */
	struct sim_scheduler *scheduler;
	/* workload controllers of a tenant's cluster; NULL for the host cluster */
	struct sim_workloads *workloads;
};

struct up {
	/* absolute path of the folder with all data */
	const char *data;
	/* file with the faults to inject; NULL: none */
	const char *faults_file;
	/* racks: number of racks that share the machines. port: first of the consecutive ports.
	 * Until the folder is open: the port given on the command line; 0: none given. */
	int64_t machines, racks, speed, port;
	bool debug, rack_only;
	/* path of this executable */
	char program[4096];
	struct trace_options traces;

	struct loop *loop;
	struct loop_group *group;
	/* client of the schedulers, the workload controllers and up_apply */
	struct http *http;
	struct up_cluster host, tenants[UP_TENANTS];
	struct secret *kubelet_token, *bmc_password;
	struct up_rack_process *rack;
	struct up_apply *apply;

	struct loop_group *drover;
	struct http *drover_http;
	struct controller *controller;
	const char *exec_allowed[2];
	struct httpd *agent, *media, *ops, *view;
	struct httpd_cert *agent_l, *view_l;
	struct httpd_mhd *media_l, *ops_l;
	char *agent_image;
	struct loop_signal *term, *intr;
	/* timer of the check that all stores can still write; runs once `ready` is true */
	struct loop_timer disk_check;
	int64_t began;
	bool ready, stopping;
	int status;
	/* file descriptor of the lock on the folder; -1: not open */
	int lock;
	int log;
};

/* Starts to create all objects of the host cluster, one after the other, then drover's namespace in
 * each tenant's cluster. An existing object is merged with the new one; existing NodePools,
 * Namespaces and Machines stay unchanged. Calls done() once; e is NULL if all objects exist now.
 * Returns NULL with *e if the creation could not start. rack: Provider and Machines, valid during
 * the call. digest: digest of the OS image. */
struct up_apply *up_apply_new(struct up *u, const json_t *rack, const char *digest,
			      void (*done)(const struct err *e, void *arg), void *arg,
			      struct err *e);
void up_apply_free(struct up_apply *a);

#endif
