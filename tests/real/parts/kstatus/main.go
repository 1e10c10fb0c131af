// The status that kstatus (Flux, kpt, kubectl wait --for with its conditions) computes for objects:
// reads one JSON object a line and prints one line "STATUS MESSAGE" for each.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func main() {
	in, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		var o unstructured.Unstructured
		if err := o.UnmarshalJSON(in.Bytes()); err != nil {
			log.Fatal(err)
		}
		result, err := status.Compute(&o)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintln(out, result.Status, strings.ReplaceAll(result.Message, "\n", " "))
	}
	if err := in.Err(); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
