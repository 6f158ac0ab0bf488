// What Kubernetes 1.37.2 itself allocates, for the comparison with gang::engine.
//
// Reads JSON documents, one a line: a node, slices, taint rules, classes, claims that hold devices
// and claims to allocate. Answers one JSON line each: the allocations, or the class and text of the
// error.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// problem is one line of input. Defaults are set.
type problem struct {
	Features structured.Features            `json:"features"`
	Node     *v1.Node                       `json:"node"`
	Slices   []*resourceapi.ResourceSlice   `json:"slices"`
	Rules    []*resourceapi.DeviceTaintRule `json:"rules"`
	Classes  []*resourceapi.DeviceClass     `json:"classes"`
	Held     []*resourceapi.ResourceClaim   `json:"held"`
	Claims   []*resourceapi.ResourceClaim   `json:"claims"`
}

// answer is one line of output; End is "yes", "no", "node", "fatal" or "limit".
type answer struct {
	End         string                         `json:"end"`
	Message     string                         `json:"message,omitempty"`
	Allocations []resourceapi.AllocationResult `json:"allocations,omitempty"`
}

// budget for one attempt; what takes longer says nothing about feasibility.
const budget = 2 * time.Second

// classes is a lister over a fixed set.
type classes []*resourceapi.DeviceClass

func (c classes) List() ([]*resourceapi.DeviceClass, error) { return c, nil }

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, fmt.Errorf("it does not exist")
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	caches := map[bool]*dracel.Cache{}
	for _, lists := range []bool{false, true} {
		caches[lists] = dracel.NewCache(100, dracel.Features{
			EnableConsumableCapacity: true, EnableListTypeAttributes: lists})
	}
	encoder := json.NewEncoder(out)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 {
			return
		}
		var p problem
		if jsonErr := json.Unmarshal(line, &p); jsonErr != nil {
			fmt.Fprintln(os.Stderr, "oracle:", jsonErr)
			os.Exit(1)
		}
		slices, trackErr := tainted(p)
		if trackErr != nil {
			fmt.Fprintln(os.Stderr, "oracle:", trackErr)
			os.Exit(1)
		}
		p.Slices = slices
		found := solve(p, caches[p.Features.ListTypeAttributes])
		if encodeErr := encoder.Encode(found); encodeErr != nil {
			fmt.Fprintln(os.Stderr, "oracle:", encodeErr)
			os.Exit(1)
		}
		if err != nil {
			return
		}
	}
}

func solve(p problem, cache *dracel.Cache) answer {
	ctx, cancel := context.WithTimeout(context.Background(), budget)
	defer cancel()
	allocator, err := structured.NewAllocator(
		ctx, p.Features, held(p), classes(p.Classes), p.Slices, cache)
	if err != nil {
		return answer{End: "fatal", Message: err.Error()}
	}
	allocations, err := allocator.Allocate(ctx, p.Node, p.Claims)
	switch {
	case ctx.Err() != nil:
		return answer{End: "limit"}
	case err == nil && allocations == nil:
		return answer{End: "no"}
	case err == nil:
		return answer{End: "yes", Allocations: allocations}
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		return answer{End: "node", Message: err.Error()}
	}
	return answer{End: "fatal", Message: err.Error()}
}

// held is what the allocated claims take.
func held(p problem) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range p.Held {
		for _, result := range claim.Status.Allocation.Devices.Results {
			take(&state, result, p.Features.ConsumableCapacity)
		}
	}
	return state
}

func take(state *structured.AllocatedState, result resourceapi.DeviceRequestAllocationResult,
	shares bool) {
	if result.AdminAccess != nil && *result.AdminAccess {
		return
	}
	id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
	if !shares || result.ShareID == nil {
		state.AllocatedDevices.Insert(id)
		return
	}
	share := types.UID(*result.ShareID)
	state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, &share))
	if result.ConsumedCapacity != nil {
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, result.ConsumedCapacity))
	}
}
