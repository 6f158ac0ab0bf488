package fakekubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// kubelet is all kubelets of the cluster: one watch of the bound pods feeds a queue that workers
// empty. A pod is with at most one worker at a time; only seen is shared, under its lock.
type kubelet struct {
	client kubernetes.Interface
	pods   corelisters.PodLister
	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName]

	lock sync.Mutex
	seen map[types.UID]moments
}

// Run serves until ctx ends.
func Run(ctx context.Context, client kubernetes.Interface, workers int) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "").String()
		}),
		informers.WithTransform(dropManagedFields))
	informer := factory.Core().V1().Pods()
	k := &kubelet{
		client: client,
		pods:   informer.Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](
				50*time.Millisecond, 5*time.Second)),
		seen: map[types.UID]moments{},
	}
	if _, err := informer.Informer().AddEventHandler(k.handlers()); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	var group sync.WaitGroup
	for range workers {
		group.Go(func() { k.work(ctx) })
	}
	klog.Infof("fake kubelet runs with %d workers", workers)
	<-ctx.Done()
	k.queue.ShutDown()
	group.Wait()
	return nil
}

// dropManagedFields halves the memory of the cache; nobody here reads them.
func dropManagedFields(object any) (any, error) {
	if pod, ok := object.(*v1.Pod); ok {
		pod.ManagedFields = nil
	}
	return object, nil
}

func (k *kubelet) handlers() cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    k.changed,
		UpdateFunc: func(_, object any) { k.changed(object) },
		DeleteFunc: k.gone,
	}
}

func (k *kubelet) changed(object any) {
	pod := object.(*v1.Pod)
	k.noted(pod)
	k.queue.Add(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
}

func (k *kubelet) gone(object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	if pod, ok := object.(*v1.Pod); ok {
		k.lock.Lock()
		defer k.lock.Unlock()
		delete(k.seen, pod.UID)
	}
}

// noted returns the moments of pod, brought up to date.
func (k *kubelet) noted(pod *v1.Pod) moments {
	k.lock.Lock()
	defer k.lock.Unlock()
	m := k.seen[pod.UID]
	m.note(pod, time.Now())
	k.seen[pod.UID] = m
	return m
}

func (k *kubelet) work(ctx context.Context) {
	for {
		key, stopped := k.queue.Get()
		if stopped {
			return
		}
		if err := k.reconcile(ctx, key); err != nil {
			klog.ErrorS(err, "will be tried again", "pod", key)
			k.queue.AddRateLimited(key)
		} else {
			k.queue.Forget(key)
		}
		k.queue.Done(key)
	}
}

// reconcile does the next step of one pod when it is due, and otherwise comes back then.
func (k *kubelet) reconcile(ctx context.Context, key types.NamespacedName) error {
	pod, err := k.pods.Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	m := k.noted(pod)
	next, err := plan(pod, m, time.Now())
	if err != nil {
		klog.ErrorS(err, "pod is left alone", "pod", key)
		return nil
	}
	if next.action != rest && next.wait > 0 {
		k.queue.AddAfter(key, next.wait)
		return nil
	}
	return ignoreReplaced(k.act(ctx, pod, m, next.action))
}

func (k *kubelet) act(ctx context.Context, pod *v1.Pod, m moments, what action) error {
	now := time.Now()
	switch what {
	case rest:
		return nil
	case refuse:
		return k.write(ctx, pod, refusedStatus(pod.Annotations[Refuse], now))
	case start:
		return k.run(ctx, pod, m)
	case succeed:
		return k.write(ctx, pod, endedStatus(pod, v1.PodSucceeded, 0, now))
	case fail:
		return k.write(ctx, pod, endedStatus(pod, v1.PodFailed, exitFailure, now))
	case remove:
		return k.remove(ctx, pod, now)
	}
	return fmt.Errorf("no such action: %d", what)
}

// run starts the containers of pod, once its claims can be prepared; until then it fails.
func (k *kubelet) run(ctx context.Context, pod *v1.Pod, m moments) error {
	if err := k.prepare(ctx, pod); err != nil {
		return errors.Join(err, k.tellRefusal(ctx, pod, err))
	}
	delay, _, err := duration(pod, StartDelay)
	if err != nil {
		return err
	}
	return k.write(ctx, pod, runningStatus(pod, m.bound.Add(delay)))
}

// remove reports the containers of a deleted pod as stopped, then takes its object away.
func (k *kubelet) remove(ctx context.Context, pod *v1.Pod, now time.Time) error {
	if !terminal(pod) {
		err := k.write(ctx, pod, endedStatus(pod, v1.PodFailed, exitTerminated, now))
		if err != nil {
			return err
		}
	}
	options := metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
	return k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *options)
}

func (k *kubelet) write(ctx context.Context, pod *v1.Pod, status v1.PodStatus) error {
	patch, err := statusPatch(pod, status)
	if err != nil {
		return err
	}
	_, err = k.client.CoreV1().Pods(pod.Namespace).Patch(
		ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// ignoreReplaced drops the errors that say that the pod is gone or another of its name is there:
// an event about that is under way.
func ignoreReplaced(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
