package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// timing is one line of output of `cel --time N`: nanoseconds of one evaluation.
type timing struct {
	Value bool    `json:"value"`
	Time  float64 `json:"time"`
}

// answerTimes reads questions as main does, and says how long each takes: the mean of n evaluations
// as kube-scheduler makes them, of a selector compiled before, with the device in the form of the
// API. Every answer must be true or false.
func answerTimes(n string) {
	count, err := strconv.Atoi(n)
	if err != nil || count < 1 {
		fmt.Fprintln(os.Stderr, "oracle: --time wants a number of evaluations, not", n)
		os.Exit(2)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, "oracle: ", err)
			os.Exit(1)
		}
		text, _ := json.Marshal(measure(q, count))
		fmt.Println(string(text))
	}
}

func measure(q question, count int) timing {
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true})
	options := dracel.Options{DisableCostEstimation: true}
	compiled := compiler.CompileCELExpression(q.Expression, options)
	if compiled.Error != nil {
		fmt.Fprintln(os.Stderr, "oracle: ", compiled.Error.Detail)
		os.Exit(1)
	}
	input := dracel.Device{
		Driver:                   q.Device.Driver,
		AllowMultipleAllocations: q.Device.Multiple,
		Attributes:               q.Device.Attributes,
		Capacity:                 q.Device.Capacity,
	}
	ctx := context.Background()
	var result timing
	begun := time.Now()
	for i := 0; i < count; i++ {
		value, _, err := compiled.DeviceMatches(ctx, input)
		if err != nil {
			fmt.Fprintln(os.Stderr, "oracle: ", err)
			os.Exit(1)
		}
		result.Value = value
	}
	result.Time = float64(time.Since(begun).Nanoseconds()) / float64(count)
	return result
}
