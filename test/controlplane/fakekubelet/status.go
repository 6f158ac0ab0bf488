package fakekubelet

import (
	"encoding/json"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// exit codes of containers, as a shell would report them.
const (
	exitFailure    = 1
	exitTerminated = 143 // 128 + SIGTERM
)

// statusPatch is a strategic merge patch that fails when the pod was replaced by another of its
// name. Conditions of others, such as PodScheduled, stay.
func statusPatch(pod *v1.Pod, status v1.PodStatus) ([]byte, error) {
	status.ObservedGeneration = pod.Generation
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   status,
	})
}

func runningStatus(pod *v1.Pod, since time.Time) v1.PodStatus {
	begin := metav1.NewTime(since)
	running := v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: begin}}
	done := v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		Reason: "Completed", StartedAt: begin, FinishedAt: begin}}
	status := v1.PodStatus{
		Phase:      v1.PodRunning,
		StartTime:  &begin,
		HostIP:     "127.0.0.1",
		HostIPs:    []v1.HostIP{{IP: "127.0.0.1"}},
		Conditions: conditions(begin, v1.ConditionTrue, ""),
	}
	for _, container := range pod.Spec.InitContainers {
		state := done
		if container.RestartPolicy != nil && *container.RestartPolicy == v1.ContainerRestartPolicyAlways {
			state = running
		}
		status.InitContainerStatuses = append(
			status.InitContainerStatuses, containerStatus(container, state))
	}
	for _, container := range pod.Spec.Containers {
		status.ContainerStatuses = append(
			status.ContainerStatuses, containerStatus(container, running))
	}
	return status
}

// endedStatus is what is left of a pod whose containers stopped with the given exit code.
func endedStatus(pod *v1.Pod, phase v1.PodPhase, exitCode int32, now time.Time) v1.PodStatus {
	end := metav1.NewTime(now)
	reason := "PodFailed"
	containerReason := "Error"
	if phase == v1.PodSucceeded {
		reason, containerReason = "PodCompleted", "Completed"
	}
	status := v1.PodStatus{Phase: phase, Conditions: conditions(end, v1.ConditionFalse, reason)}
	begin := end
	if pod.Status.StartTime != nil {
		begin = *pod.Status.StartTime
	}
	stopped := v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		ExitCode: exitCode, Reason: containerReason, StartedAt: begin, FinishedAt: end}}
	for _, container := range pod.Spec.Containers {
		entry := containerStatus(container, stopped)
		entry.Ready, entry.Started = false, new(bool)
		status.ContainerStatuses = append(status.ContainerStatuses, entry)
	}
	return status
}

// refusedStatus is a pod that failed admission on its node: no container ever ran.
func refusedStatus(reason string, now time.Time) v1.PodStatus {
	begin := metav1.NewTime(now)
	return v1.PodStatus{
		Phase:     v1.PodFailed,
		Reason:    reason,
		Message:   "Pod was rejected: Node didn't have enough resource (" + reason + ")",
		StartTime: &begin,
	}
}

func conditions(since metav1.Time, ready v1.ConditionStatus, reason string) []v1.PodCondition {
	kinds := []v1.PodConditionType{
		v1.PodReadyToStartContainers, v1.PodInitialized, v1.ContainersReady, v1.PodReady}
	result := make([]v1.PodCondition, 0, len(kinds))
	for _, kind := range kinds {
		condition := v1.PodCondition{
			Type: kind, Status: ready, Reason: reason, LastTransitionTime: since}
		if kind == v1.PodInitialized { // stays true when a pod ends
			condition.Status = v1.ConditionTrue
		}
		result = append(result, condition)
	}
	return result
}

func containerStatus(container v1.Container, state v1.ContainerState) v1.ContainerStatus {
	started := state.Running != nil
	return v1.ContainerStatus{
		Name:               container.Name,
		State:              state,
		Ready:              true,
		Started:            &started,
		Image:              container.Image,
		ImageID:            "fake://" + container.Image,
		ContainerID:        "fake://" + container.Name,
		AllocatedResources: container.Resources.Requests,
		Resources: &v1.ResourceRequirements{
			Requests: container.Resources.Requests, Limits: container.Resources.Limits},
	}
}
