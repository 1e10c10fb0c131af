// deviceplugin registers N fake GPUs with the kubelet, through the kubelet's
// own device plugin stub, so that a pod can request nvidia.com/gpu on a
// machine without GPUs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/klog/v2"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	plugin "k8s.io/kubernetes/pkg/kubelet/cm/devicemanager/plugin/v1beta1"
)

func main() {
	count := flag.Int("count", 8, "how many devices to offer")
	resource := flag.String("resource", "nvidia.com/gpu", "the resource they are offered as")
	flag.Parse()

	logger := klog.Background()
	ctx, stop := signal.NotifyContext(klog.NewContext(context.Background(), logger),
		syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	devices := []*pluginapi.Device{}
	for i := range *count {
		devices = append(devices, &pluginapi.Device{
			ID: fmt.Sprintf("GPU-%d", i), Health: pluginapi.Healthy,
		})
	}
	// The kubelet empties the folder at its start: wait for its socket before creating ours.
	for !there(pluginapi.KubeletSocket) && ctx.Err() == nil {
		time.Sleep(200 * time.Millisecond)
	}
	socket := filepath.Join(pluginapi.DevicePluginPath, "drover-gpu.sock")
	stub := plugin.NewDevicePluginStub(logger, devices, socket, *resource, false, false)
	stub.SetAllocFunc(allocate)
	if err := stub.Start(ctx); err != nil {
		fail(logger, err, "the plugin's own socket did not open")
	}
	if err := stub.Register(ctx, pluginapi.KubeletSocket, *resource, pluginapi.DevicePluginPath); err != nil {
		fail(logger, err, "the kubelet did not take the plugin")
	}
	// If the plugin's socket is deleted, the kubelet has restarted: exit, so that the unit
	// starts this program again.
	for there(socket) && ctx.Err() == nil {
		time.Sleep(time.Second)
	}
}

// allocate returns one empty response per container. The stub's default returns none, which the
// kubelet refuses.
func allocate(request *pluginapi.AllocateRequest, _ map[string]*pluginapi.Device) (*pluginapi.AllocateResponse, error) {
	response := &pluginapi.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		response.ContainerResponses = append(response.ContainerResponses, &pluginapi.ContainerAllocateResponse{
			Envs: map[string]string{"DROVER_GPUS": strings.Join(container.DevicesIds, ",")},
		})
	}
	return response, nil
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func fail(logger klog.Logger, err error, what string) {
	logger.Error(err, what)
	klog.FlushAndExit(klog.ExitFlushTimeout, 1)
}
