// The health that Argo CD computes for objects: runs a health script in the Lua of Argo CD
// (gopher-lua), with the libraries that its controller opens (util/lua in argo-cd: package, base and
// table, and its own os, which this program leaves out). Reads one JSON object a line and prints one
// line "STATUS MESSAGE" for each. argo-cd itself takes half an hour to build.
//
//	argolua SCRIPT
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
	luajson "layeh.com/gopher-json"
)

// statuses that Argo CD accepts from a script; any other is Unknown there.
var statuses = map[string]bool{"Healthy": true, "Progressing": true, "Degraded": true, "Suspended": true,
	"Missing": true, "Unknown": true}

var libraries = []struct {
	name string
	open lua.LGFunction
}{
	{lua.LoadLibName, lua.OpenPackage},
	{lua.BaseLibName, lua.OpenBase},
	{lua.TabLibName, lua.OpenTable},
}

type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func judge(script string, object []byte) (health, error) {
	var h health
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for _, library := range libraries {
		call := lua.P{Fn: l.NewFunction(library.open), NRet: 0, Protect: true}
		if err := l.CallByParam(call, lua.LString(library.name)); err != nil {
			return h, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	l.SetContext(ctx)
	value, err := luajson.Decode(l, object)
	if err != nil {
		return h, err
	}
	l.SetGlobal("obj", value)
	if err := l.DoString(script); err != nil {
		return h, err
	}
	text, err := luajson.Encode(l.Get(-1))
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return h, err
	}
	if !statuses[h.Status] {
		return h, fmt.Errorf("%q is not a health of Argo CD", h.Status)
	}
	return h, nil
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: argolua SCRIPT < objects")
	}
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	in, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		h, err := judge(string(script), in.Bytes())
		if err != nil {
			log.Fatalf("%v: %s", err, in.Text())
		}
		fmt.Fprintln(out, h.Status, strings.ReplaceAll(h.Message, "\n", " "))
	}
	if err := in.Err(); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
