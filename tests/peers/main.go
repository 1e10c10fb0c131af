// Command peers plans pods with Karpenter's scheduler, as Karpenter's own benchmark does: without a cluster or API
// server, with one node pool and the instance types of Karpenter's fake cloud.
//
//	peers PODS ROUNDS
//
// PODS is a file written by tests/bench/plan_peer.c, with one pod per line: KIND CPU MEMORY OWN OTHER.  Prints one line
// of JSON: time of the fastest round, peak memory, number of nodes, and their price.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	clients "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/test"
)

const (
	types400 = 400
	workers  = 5 // as in Karpenter's benchmark
	label    = "my-label"
)

func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// selecting returns a selector of the pods whose label has this value.
func selecting(value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}
}

func pod(i int, line string) *corev1.Pod {
	f := strings.Fields(line)
	if len(f) != 5 {
		die(fmt.Errorf("line %d: %q", i+1, line))
	}
	o := test.PodOptions{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("pod-%06d", i), Labels: map[string]string{label: f[3]},
			UID: types.UID(fmt.Sprintf("uid-%06d", i)),
		},
		ResourceRequirements: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(f[1]), corev1.ResourceMemory: resource.MustParse(f[2]),
		}},
	}
	switch f[0] {
	case "zone-spread", "host-spread":
		key := corev1.LabelTopologyZone
		if f[0] == "host-spread" {
			key = corev1.LabelHostname
		}
		o.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selecting(f[4]),
		}}
	case "zone-together":
		o.PodRequirements = []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelTopologyZone, LabelSelector: selecting(f[4])}}
	case "host-apart":
		o.PodAntiRequirements = []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: selecting(f[4])}}
	}
	return test.Pod(o)
}

func read(path string) (pods []*corev1.Pod) {
	file, err := os.Open(path)
	die(err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		pods = append(pods, pod(len(pods), lines.Text()))
	}
	return pods
}

// one runs one round from an empty state. The returned time covers creating the topology and the scheduler, and solving.
func one(ctx context.Context, pods []*corev1.Pod) (scheduling.Results, time.Duration) {
	pool := test.NodePool(v1.NodePool{Spec: v1.NodePoolSpec{Limits: v1.Limits{
		corev1.ResourceCPU: resource.MustParse("10000000"), corev1.ResourceMemory: resource.MustParse("10000000Gi"),
	}}})
	provider := fake.NewCloudProvider()
	offered := map[string][]*cloudprovider.InstanceType{pool.Name: fake.InstanceTypes(types400)}
	provider.InstanceTypes = offered[pool.Name]
	client := clients.NewFakeClient()
	cluster := state.NewCluster(clock.RealClock{}, client, provider)
	parallel := scheduling.NumConcurrentReconciles(workers)

	began, cpu := time.Now(), processor()
	topology, err := scheduling.NewTopology(ctx, client, cluster, nil, []*v1.NodePool{pool}, offered, pods, parallel)
	die(err)
	s := scheduling.NewScheduler(ctx, client, []*v1.NodePool{pool}, cluster, nil, topology, offered, nil,
		events.NewRecorder(&record.FakeRecorder{}), clock.RealClock{}, nil, nil, parallel)
	results, err := s.Solve(ctx, pods)
	die(err)
	took := min(time.Since(began), processor()-cpu) // excludes other load of the machine
	if len(results.PodErrors) > 0 {
		die(fmt.Errorf("%d of %d pods got no place", len(results.PodErrors), len(pods)))
	}
	return results, took
}

// processor returns the processor time of this process.
func processor() time.Duration {
	var used syscall.Rusage
	die(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// price returns the sum of the prices of all new nodes, each with its cheapest possible instance type.
func price(r scheduling.Results) (sum float64) {
	for _, n := range r.NewNodeClaims {
		least := math.MaxFloat64
		for _, t := range n.InstanceTypeOptions {
			least = min(least, fake.PriceFromResources(t.Capacity))
		}
		sum += least
	}
	return sum
}

func main() {
	if len(os.Args) != 3 {
		die(fmt.Errorf("usage: peers PODS ROUNDS"))
	}
	rounds, err := strconv.Atoi(os.Args[2])
	die(err)
	log.SetLogger(logr.Discard())
	ctx := options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), test.Options())
	pods := read(os.Args[1])
	best := time.Duration(math.MaxInt64)
	var last scheduling.Results
	for range rounds {
		results, took := one(ctx, pods)
		last, best = results, min(best, took)
	}
	var used syscall.Rusage
	die(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	die(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"pods": len(pods), "ms": float64(best.Microseconds()) / 1e3, "mb": float64(used.Maxrss) / 1024,
		"nodes": len(last.NewNodeClaims), "price": price(last),
	}))
}
