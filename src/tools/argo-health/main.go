// argo-health SCRIPT: what an Argo CD health check in Lua says of each object in a stream of JSON: one line
// "STATUS: message" for each. The interpreter is Argo CD's (gopher-lua), with the libraries that Argo CD opens for
// such a script: base, package and table (and of os the clock, which ours does not use), not string or math.
package main

import (
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"

	"numaoperator.io/tools/judge"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: argo-health SCRIPT")
		os.Exit(2)
	}
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		judge.Fail(err)
	}
	judge.Each(func(object map[string]any) (string, error) {
		return health(string(script), object)
	})
}

func health(script string, object map[string]any) (string, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage},
		{lua.BaseLibName, lua.OpenBase},
		{lua.TabLibName, lua.OpenTable},
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(library.open), Protect: true}, lua.LString(library.name)); err != nil {
			return "", err
		}
	}
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return "", err
	}
	result, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return "", fmt.Errorf("the script returned no table but %s", state.Get(-1).Type())
	}
	return fmt.Sprintf("%s: %s", result.RawGetString("status"), result.RawGetString("message")), nil
}

func value(state *lua.LState, of any) lua.LValue {
	switch v := of.(type) {
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		table := state.NewTable()
		for _, item := range v {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range v {
			table.RawSetString(key, value(state, item))
		}
		return table
	default:
		return lua.LNil
	}
}
