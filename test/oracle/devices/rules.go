package main

import (
	"context"
	"fmt"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	informers "k8s.io/client-go/informers/resource/v1"
	listers "k8s.io/client-go/listers/resource/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
)

// fixed is a list that nobody changes, asked for and not watched for.
type fixed struct{ *cache.ListWatch }

func (fixed) IsWatchListSemanticsUnSupported() bool { return true }

// informer shows the objects of such a list.
type informer struct{ cache.SharedIndexInformer }

// sliceInformer and ruleInformer are informers as the tracker wants them.
type (
	sliceInformer struct{ informer }
	ruleInformer  struct{ informer }
)

func newInformer(kind, list runtime.Object) informer {
	source := fixed{&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return list, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return watch.NewFake(), nil
		},
	}}
	return informer{cache.NewSharedIndexInformer(source, kind, 0, cache.Indexers{})}
}

func (i informer) Informer() cache.SharedIndexInformer { return i.SharedIndexInformer }

func (i sliceInformer) Lister() listers.ResourceSliceLister {
	return listers.NewResourceSliceLister(i.GetIndexer())
}

func (i ruleInformer) Lister() listers.DeviceTaintRuleLister {
	return listers.NewDeviceTaintRuleLister(i.GetIndexer())
}

// tainted is the slices of the problem, in their order, with the taints that its rules add: what
// kube-scheduler's tracker makes of both.
func tainted(p problem) ([]*resourceapi.ResourceSlice, error) {
	if len(p.Rules) == 0 {
		return p.Slices, nil
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	slices := sliceInformer{newInformer(&resourceapi.ResourceSlice{}, listOfSlices(p))}
	rules := ruleInformer{newInformer(&resourceapi.DeviceTaintRule{}, listOfRules(p))}
	merged, err := tracker.StartTracker(ctx, tracker.Options{
		EnableDeviceTaintRules:   true,
		EnableConsumableCapacity: p.Features.ConsumableCapacity,
		SliceInformer:            informers.ToTypedResourceSliceInformer(slices),
		TaintInformer:            informers.ToTypedDeviceTaintRuleInformer(rules),
	})
	if err != nil {
		return nil, err
	}
	defer merged.Stop()
	// The tracker may keep a slice without a rule that comes at the same moment, so rules are first.
	for _, one := range []cache.SharedIndexInformer{rules, slices} {
		go one.RunWithContext(ctx)
		cache.WaitFor(ctx, "", one.HasSyncedChecker())
	}
	cache.WaitFor(ctx, "", merged.HasSyncedChecker())
	found, err := merged.ListPatchedResourceSlices()
	if err != nil {
		return nil, err
	}
	if len(found) != len(p.Slices) {
		return nil, fmt.Errorf("the tracker has %d of %d slices", len(found), len(p.Slices))
	}
	return inOrder(p.Slices, found), nil
}

func listOfSlices(p problem) *resourceapi.ResourceSliceList {
	list := &resourceapi.ResourceSliceList{}
	for _, one := range p.Slices {
		list.Items = append(list.Items, *one)
	}
	return list
}

func listOfRules(p problem) *resourceapi.DeviceTaintRuleList {
	list := &resourceapi.DeviceTaintRuleList{}
	for _, one := range p.Rules {
		list.Items = append(list.Items, *one)
	}
	return list
}

// inOrder is the found slices in the order in which those of their names are told.
func inOrder(told, found []*resourceapi.ResourceSlice) []*resourceapi.ResourceSlice {
	byName := map[string]*resourceapi.ResourceSlice{}
	for _, one := range found {
		byName[one.Name] = one
	}
	var ordered []*resourceapi.ResourceSlice
	for _, one := range told {
		ordered = append(ordered, byName[one.Name])
	}
	return ordered
}
