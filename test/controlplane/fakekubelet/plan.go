// Package fakekubelet plays the kubelets of all nodes for tests: it runs pods that are bound, and
// ends those that are deleted, by writing what real kubelets write. No container ever runs.
package fakekubelet

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Annotations on a pod that change what happens to it. Each is read anew whenever the pod changes,
// so a test may add or remove one while the pod runs. Durations are in the form of Go: "1.5s".
const (
	// StartDelay keeps the pod Pending for so long after it was bound.
	StartDelay = "fake-kubelet/start-delay"
	// CompleteAfter ends the pod as Succeeded so long after it started.
	CompleteAfter = "fake-kubelet/complete-after"
	// FailAfter ends the pod as Failed with exit code 1 so long after it started.
	FailAfter = "fake-kubelet/fail-after"
	// StopAfter is how long a deleted pod lives on, in place of its grace period.
	StopAfter = "fake-kubelet/stop-after"
	// Hang "true" keeps a deleted pod for ever.
	Hang = "fake-kubelet/hang"
	// Refuse turns the pod down at admission; its value is the reason, such as OutOfcpu.
	Refuse = "fake-kubelet/refuse"
	// Ignore "true" leaves the pod alone; the test writes its status and ends it.
	Ignore = "fake-kubelet/ignore"
)

// action is what a kubelet does to a pod next.
type action int

const (
	rest action = iota
	refuse
	start
	succeed
	fail
	remove
)

// step is an action and how long to wait before it; after the wait the plan is made anew.
type step struct {
	action action
	wait   time.Duration
}

// moments are the times at which this process first saw a pod bound, running and deleted; the
// API's own have whole seconds only, too coarse for short runs.
type moments struct {
	bound, running, deleted time.Time
}

// note fills in the moments that pod has reached by now.
func (m *moments) note(pod *v1.Pod, now time.Time) {
	if m.bound.IsZero() {
		m.bound = now
	}
	if m.running.IsZero() && pod.Status.Phase == v1.PodRunning {
		m.running = now
	}
	if m.deleted.IsZero() && pod.DeletionTimestamp != nil {
		m.deleted = now
	}
}

// plan says what to do with a bound pod. It fails when an annotation is not a duration.
func plan(pod *v1.Pod, m moments, now time.Time) (step, error) {
	if pod.Annotations[Ignore] == "true" {
		return step{action: rest}, nil
	}
	if pod.DeletionTimestamp != nil {
		return planEnd(pod, m, now)
	}
	switch pod.Status.Phase {
	case v1.PodSucceeded, v1.PodFailed:
		return step{action: rest}, nil
	case v1.PodRunning:
		return planRunning(pod, m, now)
	}
	if pod.Annotations[Refuse] != "" {
		return step{action: refuse}, nil
	}
	delay, _, err := duration(pod, StartDelay)
	return step{start, m.bound.Add(delay).Sub(now)}, err
}

func planRunning(pod *v1.Pod, m moments, now time.Time) (step, error) {
	complete, completes, err := duration(pod, CompleteAfter)
	if err != nil {
		return step{}, err
	}
	failure, fails, err := duration(pod, FailAfter)
	if err != nil {
		return step{}, err
	}
	switch {
	case fails && (!completes || failure < complete):
		return step{fail, m.running.Add(failure).Sub(now)}, nil
	case completes:
		return step{succeed, m.running.Add(complete).Sub(now)}, nil
	}
	return step{action: rest}, nil
}

func planEnd(pod *v1.Pod, m moments, now time.Time) (step, error) {
	if pod.Annotations[Hang] == "true" {
		return step{action: rest}, nil
	}
	grace := time.Duration(0)
	if pod.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	}
	if grace == 0 && terminal(pod) {
		return step{action: rest}, nil // ended already; finalizers keep the object
	}
	stop, given, err := duration(pod, StopAfter)
	if given {
		grace = stop
	}
	return step{remove, m.deleted.Add(grace).Sub(now)}, err
}

func terminal(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

func duration(pod *v1.Pod, annotation string) (value time.Duration, given bool, err error) {
	text, given := pod.Annotations[annotation]
	if !given {
		return 0, false, nil
	}
	value, err = time.ParseDuration(text)
	if err != nil {
		return 0, true, fmt.Errorf("annotation %s: %w", annotation, err)
	}
	return value, true, nil
}
