"""What each figure of `make bench` and of the tests on real parts means, in the order of the tables.

The figures' values, units and goals are in the entries of build/bench.json, which the programs
print. A program that prints a figure without a line here is an error, so that no table has a bare
name.
"""

# The cases of bench_plan_growth: each is planned with a quarter of its size and with all of it.
GROWTH = {
    "identical": "50,000 identical pods",
    "hosts": "50,000 identical pods, spread over hosts with maxSkew 3",
    "apps": "20,000 pods in apps of 10, each spread over zones and kept away from another app",
    "shapes": "20,000 pods with all different requests",
    "pools": "20,000 pods with all different requests, 50 pools",
    "racks": "2,000 racks of 8 machines; pods spread over racks, or apart on them",
    "gangs": "250 gangs of 8 pods in racks of 10 machines",
}

GROUPS = [
    ("Planning", [
        ("plan_1k_mixed_ms", "plan of 1,000 mixed pods on 400 instance types by one thread, construction included"),
        ("plan_5k_mixed_ms", "the same for 5,000 pods"),
        ("plan_20k_mixed_ms", "the same for 20,000 pods: plain, spread over zones or hosts, together in a zone, "
                              "apart on hosts"),
        ("plan_20k_mixed_solve_ms", "the part of it that remains when the pods are already in memory"),
        ("plan_4k_preferences_ms", "plan of 4,000 pods that prefer one zone to another and get it"),
        ("plan_50k_identical_ms", "plan of 50,000 identical pods"),
        ("plan_50k_on_nodes_ms", "plan of 50,000 pods that fit on existing Nodes"),
        ("plan_incremental_ms", "new plan after one pod changed, 5,000 Nodes"),
        ("plan_incremental_topology_ms", "the same for a pod that is spread over zones and hosts"),
        ("plan_reclaim_4k_ms", "plan of 4,000 pods that wait for 4,000 machines, half of them borrowed"),
        ("plan_reclaim_10k_ms", "the same for 10,000 pods and machines"),
        ("plan_reclaim_slice_ms", "its longest turn"),
        ("plan_reclaim_unit_ns", "time of one work unit in the turn in which a unit takes longest"),
        ("plan_reclaim_exponent", "growth of its time: 1 is linear, 2 is quadratic"),
        ("plan_reclaim_work_exponent", "growth of the number of its steps"),
        ("plan_timeline_ms", "expected times of 20,000 waiting pods, in addition to their plan"),
        ("plan_rss_mb", "peak memory of a plan of 20,000 pods and 2,000 Nodes"),
        ("consolidate_1k_nodes_ms", "search for Nodes that can be released: 1,000 Nodes, 10,000 pods"),
        ("burst_decide_10k_ms", "decision about cloud instances for 10,000 pods and 1,000 offers"),
        ("launch_1k_p99_ms", "drover's processor time for a launch of an EC2 instance: 99th percentile of 1,000 at once"),
        ("launch_1k_turn_ms", "longest turn of the event loop meanwhile"),
        ("burst_month_s", "a month of 30,000 jobs of 200 tenants, each with a BurstPolicy and a budget, replayed"),
        ("trace_gpu_use_pct", "GPU use in a trace of 30 days on 2,000 machines; wiping and booting count as unused"),
        ("trace_bound_pct", "upper bound of that GPU use for any planner"),
        ("trace_gain_ratio", "that GPU use, divided by the use when the machines are split by tenant"),
        ("trace_gain_bound", "upper bound of that ratio for any planner"),
        ("trace_replay_s", "processor time of the replay"),
        ("trace_turns_gpu_use_pct", "GPU use in a trace of 30 days in which each tenant has one burst of 3 days"),
        ("trace_turns_bound_pct", "upper bound of that GPU use for any planner"),
        ("trace_turns_gain_ratio", "that GPU use, divided by the use when the machines are split by tenant"),
        ("trace_turns_gain_bound", "upper bound of that ratio for any planner"),
    ]),
    ("Growth of a plan", [row for name, what in GROWTH.items() for row in (
        (f"plan_growth_{name}_ms", f"plan of {what}"),
        (f"plan_growth_{name}_mb", "its memory"),
        (f"plan_growth_{name}_exponent", "growth of its time: 1 is linear, 2 is quadratic"))] + [
            ("plan_unplaced_topology_ms", "plan of 160,000 pods of which most find no machine"),
            ("plan_unplaced_topology_placed", "pods that it places; no fewer than when half as many ask")]),
    ("Controller", [
        ("start_cpu_s", "processor time of the start: 1,000 machines, 500 virtual clusters, 1,000 Nodes"),
        ("loop_turn_max_ms", "longest turn of the event loop during that start"),
        ("node_event_cpu_us", "processor time for one event of a Node, 5,000 Nodes"),
        ("scale_start_cpu_s", "processor time of the start with 10,000 machines and 500 virtual clusters"),
        ("scale_start_cpu_exponent", "its growth from 1,000 to 10,000 machines: 1 is linear, 2 is quadratic"),
        ("scale_restart_cpu_s", "processor time of a second start with the same objects"),
        ("scale_start_s", "time until that start is over: every BMC was read, and all is quiet"),
        ("scale_rss_mb", "memory after it"),
        ("scale_turn_max_ms", "longest turn of the event loop during it"),
        ("scale_node_event_us", "processor time for one event of a Node; the worst of 1,000 to 10,000 machines"),
        ("waiting_rss_mb", "memory with 20,000 waiting pods: 1,000 machines, all in use, 500 virtual clusters"),
        ("waiting_turn_max_ms", "longest turn of the event loop during a start with these pods"),
        ("waiting_start_cpu_s", "processor time of that start, with an event on each pod"),
        ("waiting_start_cpu_exponent", "its growth from 2,500 to 20,000 pods: 1 is linear, 2 is quadratic"),
        ("mark_to_first_call_p99_ms", "from a pod marked unschedulable to the first call to a provider, 5,000 Nodes"),
        ("controller_rss_1k_mb", "memory: 1,000 machines, 2,000 pods, 10 virtual clusters"),
        ("controller_rss_mb", "memory: 1,000 machines, 20,000 pods, 2,000 Nodes, 500 virtual clusters"),
        ("ingest_extra_mb", "memory beside the stored objects while 100,000 pods of 4 KB are read"),
        ("ingest_store_mb", "memory of the stored objects"),
        ("ingest_max_turn_ms", "longest turn of the event loop meanwhile"),
        ("ingest_ratio", "speed of reading them, divided by that of jansson on the same bytes"),
        ("ingest_cpu_ratio", "the same by processor time"),
        ("hostile_tenant_plan_ms", "plan for 499 tenants beside a hostile one at its limits"),
        ("hostile_tenant_turn_ms", "longest turn of the event loop during that plan"),
        ("hostile_tenant_read_mb", "peak memory while the hostile tenant's pods are read"),
        ("hostile_tenant_read_ms", "longest turn of the event loop meanwhile"),
        ("why_all_ms", "`drover why` on 1,000 machines, 500 tenants and 20,000 waiting pods, without a leader"),
        ("why_all_rss_mb", "its memory"),
        ("view_queue_page_ms", "one page of /v1/queue with 20,000 waiting pods"),
        ("view_events_rest_pct", "200 readers of /v1/events over TLS while nothing changes, of one core"),
        ("view_events_change_pct", "the same while one machine changes each second"),
        ("page_first_load_kb", "first load of the page with 1,000 machines"),
        ("page_rest_bytes_s", "traffic of the open page while nothing changes"),
        ("recover_s", "from the controller's death at any moment until its work goes on (Lease of 15 s)"),
    ]),
    ("BMCs, networks and providers", [
        ("bmc_watch_10k_p99_ms", "p99 of the time to observe a healthy BMC, 10,000 BMCs, 100 of which hang"),
        ("bmc_watch_10k_p99_ratio", "that p99, divided by the p99 while none hangs"),
        ("inspect_1k_cold_s", "start with 1,000 unknown machines until each was observed"),
        ("inspect_1k_cold_ratio", "that time, divided by the time of the slowest BMC's own answers"),
        ("http_fanout_ratio", "2,000 hosts with 10 requests of 200 ms each: time, divided by 2 s"),
        ("http_fanout_cpu_us", "processor time for each of these requests"),
        ("bcm_poll_1k_cpu_pct", "polling a BCM head node that installs 1,000 nodes, of one core"),
        ("bcm_change_us", "processor time to change one member of a BCM device"),
        ("netris_move_own_ms", "drover's processor time to move a machine to a tenant's network and prove it"),
        ("netris_500_moves_s", "500 such moves at once"),
        ("netris_lost_servers", "servers that are then not where they were moved to"),
    ]),
    ("Machines", [
        ("real_pending_to_running_s", "pending pod until it runs on a newly imaged VM (real Kubernetes, UEFI, Redfish)"),
        ("real_release_to_free_s", "drained until wiped and free again, same parts"),
        ("agent_home_s", "kernel start until the agent has connected"),
        ("agent_image_mib", "size of the agent's boot image"),
        ("image_write_ratio", "speed of writing an OS image, divided by that of the slower of network and disk"),
        ("image_write_bound", "the same, if no processor had been idle during the write"),
        ("image_write_dense_ratio", "speed of writing an image without runs of zeros, divided by the same"),
        ("image_write_dense_bound", "the same, if no processor had been idle during the write"),
        ("wipe_overwrite_ratio", "speed of overwriting a drive, divided by that of fio"),
    ]),
    ("Embedded API server", [
        ("up_ready_s", "start of `drover up` until its API server is ready"),
        ("apiserver_creates_per_s", "pods created, each on disk before its reply, one client"),
        ("apiserver_gets_per_s", "pods read, one client"),
        ("apiserver_client_creates_per_s", "pods created through drover's own client"),
        ("apiserver_client_gets_per_s", "pods read through drover's own client"),
        ("apiserver_watch_10k_mb", "memory of 10,000 watches over TLS"),
        ("apiserver_create_beside_1k_ms", "one object created, while 1,000 watches receive each object"),
        ("apiserver_create_apart_1k_ms", "one object created, while 1,000 watches receive nothing"),
        ("apiserver_create_cpu_us", "processor time of the server for one create"),
        ("apiserver_get_cpu_us", "processor time of the server for one get"),
        ("apiserver_event_cpu_us", "processor time of the server for one event that a watch receives"),
        ("apiserver_fanout_per_s", "events that 1,000 watches receive"),
        ("store_commits_per_s", "commits to the store with 64 in flight"),
        ("store_idle_commit_ms", "one commit at a time, until it is on disk"),
        ("store_open_10k_ms", "opening a store with 10,000 keys"),
    ]),
]

NAMES = {name: what for _, rows in GROUPS for name, what in rows}


def groups(entries):
    """Returns (title, [(entry, description)]) for each group that has an entry."""
    found = [(title, [(entries[name], what) for name, what in rows if name in entries]) for title, rows in GROUPS]
    return [(title, rows) for title, rows in found if rows]


def reached(entry):
    return entry["value"] <= entry["goal"] if entry["better"] == "lower" else entry["value"] >= entry["goal"]


def figure(value):
    """Returns the value with three significant digits, or as an integer with thousands separated."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def bound(entry):
    return f"{'at most' if entry['better'] == 'lower' else 'at least'} {figure(entry['goal'])}"
