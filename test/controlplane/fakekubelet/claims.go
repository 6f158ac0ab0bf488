package fakekubelet

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

// refusal is the reason of the event that says why a pod with claims cannot start, as upstream's.
const refusal = "FailedPrepareDynamicResources"

// prepare reads the claims of a pod that is to start, as a kubelet does before it calls drivers. It
// fails, in a kubelet's words, unless each is the pod's to use, reserved for it and allocated.
func (k *kubelet) prepare(ctx context.Context, pod *v1.Pod) error {
	for i := range pod.Spec.ResourceClaims {
		name, mustCheckOwner, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
		if err != nil {
			return err
		}
		if name == nil {
			continue // the controller found that none is needed
		}
		if err := k.checkClaim(ctx, pod, *name, mustCheckOwner); err != nil {
			return err
		}
	}
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil {
		return k.checkClaim(ctx, pod, extended.ResourceClaimName, false)
	}
	return nil
}

func (k *kubelet) checkClaim(
	ctx context.Context, pod *v1.Pod, name string, mustCheckOwner bool) error {
	claim, err := k.client.ResourceV1().ResourceClaims(pod.Namespace).Get(
		ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("fetch ResourceClaim %s: %v", name, err) // not the pod is missing
	}
	if mustCheckOwner {
		if err := resourceclaim.IsForPod(pod, claim, true); err != nil {
			return err
		}
	}
	if !resourceclaim.IsReservedForPod(pod, claim, true) {
		return fmt.Errorf("pod %s (%s) is not allowed to use ResourceClaim %s (%s)",
			pod.Name, pod.UID, name, claim.UID)
	}
	if claim.Status.Allocation == nil {
		return errors.New("ResourceClaim " + name + ": not allocated")
	}
	return nil
}

// tellRefusal makes one event for each reason that keeps the pod from starting.
func (k *kubelet) tellRefusal(ctx context.Context, pod *v1.Pod, cause error) error {
	hash := fnv.New64a()
	fmt.Fprint(hash, pod.UID, cause)
	now := metav1.NewTime(time.Now())
	_, err := k.client.CoreV1().Events(pod.Namespace).Create(ctx, &v1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", pod.Name, hash.Sum64())},
		InvolvedObject: v1.ObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name,
			Namespace: pod.Namespace, UID: pod.UID},
		Type: v1.EventTypeWarning, Reason: refusal,
		Message: "Failed to prepare dynamic resources: " + cause.Error(),
		Source:  v1.EventSource{Component: "kubelet", Host: pod.Spec.NodeName},
		Count:   1, FirstTimestamp: now, LastTimestamp: now,
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
