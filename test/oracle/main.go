// What Kubernetes 1.37.2 itself says of device selectors, for the comparison with gang::cel.
//
// Reads JSON documents, one a line: {"expression": ..., "device": {...}} with the device in the
// form of the API. Answers one JSON line each: how the expression compiles (text, estimated cost),
// what it evaluates to (value, error text, actual cost), and whether repeated evaluations agree:
// the order of Go's maps is random, so some expressions have no single answer upstream.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	v1 "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// question is one line of input.
type question struct {
	Expression string `json:"expression"`
	Device     device `json:"device"`
}

// device has the fields of a device that a selector can see.
type device struct {
	Driver     string                                  `json:"driver"`
	Multiple   *bool                                   `json:"allowMultipleAllocations"`
	Attributes map[v1.QualifiedName]v1.DeviceAttribute `json:"attributes"`
	Capacity   map[v1.QualifiedName]v1.DeviceCapacity  `json:"capacity"`
}

// answer is one line of output. Cost and estimate are numbers as text: they may need 64 bits.
type answer struct {
	CompileError string `json:"compileError,omitempty"`
	Estimate     string `json:"estimate,omitempty"`
	Value        any    `json:"value,omitempty"`
	Error        string `json:"error,omitempty"`
	Cost         string `json:"cost,omitempty"`
	Unstable     bool   `json:"unstable,omitempty"`
}

// evaluations of one expression on one device: enough that a random order shows.
const evaluations = 6

func main() {
	if len(os.Args) == 3 && os.Args[1] == "--time" {
		answerTimes(os.Args[2])
		return
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 {
			return
		}
		var q question
		if jsonErr := json.Unmarshal(line, &q); jsonErr != nil {
			fmt.Fprintln(os.Stderr, "oracle: ", jsonErr)
			os.Exit(1)
		}
		text, _ := json.Marshal(ask(q))
		out.Write(append(text, '\n'))
		if in.Buffered() == 0 {
			out.Flush()
		}
		if err != nil {
			return
		}
	}
}

func ask(q question) (result answer) {
	defer func() {
		if r := recover(); r != nil {
			result = answer{CompileError: fmt.Sprintf("panic: %v", r), Unstable: true}
		}
	}()
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true})
	compiled := compiler.CompileCELExpression(q.Expression, dracel.Options{})
	if compiled.Error != nil {
		return answer{CompileError: compiled.Error.Detail}
	}
	result = evaluate(compiled, q.Device)
	for i := 1; i < evaluations; i++ {
		again := evaluate(compiled, q.Device)
		if fmt.Sprint(again) != fmt.Sprint(result) {
			result.Unstable = true
		}
	}
	result.Estimate = fmt.Sprint(compiled.MaxCost)
	return result
}

func evaluate(compiled dracel.CompilationResult, d device) answer {
	var result answer
	input := dracel.Device{
		Driver:                   d.Driver,
		AllowMultipleAllocations: d.Multiple,
		Attributes:               d.Attributes,
		Capacity:                 d.Capacity,
	}
	value, details, err := compiled.DeviceMatches(context.Background(), input)
	if details != nil && details.ActualCost() != nil {
		result.Cost = fmt.Sprint(*details.ActualCost())
	}
	if err == nil {
		result.Value = value
		return result
	}
	result.Error = dracel.EnhanceRuntimeError(err).Error()
	if strings.HasPrefix(result.Error, "CEL result of type ") {
		attribute, _, err := compiled.EvaluateDerivedAttribute(context.Background(), input)
		if err == nil {
			result.Value = attribute
		}
	}
	return result
}
