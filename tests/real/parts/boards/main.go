// Reads Grafana boards strictly, by the types that Grafana generates from its schema: a member that
// Grafana does not know, or one of a wrong type, is an error. Usage: boards FILE...
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	bad := false
	for _, name := range os.Args[1:] {
		text, err := os.ReadFile(name)
		var board dashboard.Dashboard
		if err == nil {
			err = board.UnmarshalJSONStrict(text)
		}
		if err == nil {
			err = board.Validate()
		}
		// Without errors both return an empty list, not nil.
		if err != nil && err.Error() != "" {
			fmt.Printf("%s: %v\n", name, err)
			bad = true
		}
	}
	if bad {
		os.Exit(1)
	}
}
