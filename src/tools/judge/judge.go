// Package judge is what the judges of objects have in common: a stream of JSON comes in, one line for each object
// goes out.
package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Each prints what is said of each object on the standard input.
func Each[T any](say func(T) (string, error)) {
	objects := json.NewDecoder(os.Stdin)
	for {
		var object T
		err := objects.Decode(&object)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			Fail(err)
		}
		line, err := say(object)
		if err != nil {
			Fail(err)
		}
		fmt.Println(line)
	}
}

// Fail ends the program with the error.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
