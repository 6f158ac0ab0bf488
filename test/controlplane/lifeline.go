package main

import (
	"io"
	"os"
)

// lifelineVariable, when set, ties this process to the one that started it: standard input is then
// a pipe whose other end only the starter holds, and its closing, by whatever death, ends us too.
const lifelineVariable = "CONTROLPLANE_LIFELINE"

func followLifeline() {
	if os.Getenv(lifelineVariable) == "" {
		return
	}
	go func() {
		// Nothing is ever written to the pipe; an error means the same as its end.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
}
