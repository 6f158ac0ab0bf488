#include "bench/pod_event.h"

namespace gang::bench {

std::string pod_event() {
  return R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{)"
         R"("name":"train-a-0-x7k2p","generateName":"train-a-0-","namespace":"research",)"
         R"("uid":"4b8c1a52-7c1e-4d0b-9f57-0c5b6a0d9e11","resourceVersion":"184467",)"
         R"("generation":1,"creationTimestamp":"2026-05-04T10:11:12Z","labels":{)"
         R"("batch.kubernetes.io/controller-uid":"9d1f0c7e-1c8a-4f6f-8d62-5f0b8a8f1c11",)"
         R"("batch.kubernetes.io/job-completion-index":"0",)"
         R"("batch.kubernetes.io/job-name":"train-a","app":"trainer","team":"vision"},)"
         R"("annotations":{"batch.kubernetes.io/job-completion-index":"0"},)"
         R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train-a",)"
         R"("uid":"9d1f0c7e-1c8a-4f6f-8d62-5f0b8a8f1c11","controller":true,)"
         R"("blockOwnerDeletion":true}],"finalizers":["batch.kubernetes.io/job-tracking"]},)"
         R"("spec":{"volumes":[{"name":"kube-api-access-5zq8h","projected":{"sources":[)"
         R"({"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}],)"
         R"("defaultMode":420}}],"containers":[{"name":"worker",)"
         R"("image":"registry.example.com/vision/trainer:1.4","command":["python","train.py"],)"
         R"("env":[{"name":"RANK","value":"0"},{"name":"WORLD_SIZE","value":"8"}],)"
         R"("resources":{"limits":{"nvidia.com/gpu":"1","memory":"16Gi"},)"
         R"("requests":{"cpu":"4","memory":"16Gi","nvidia.com/gpu":"1"}},)"
         R"("volumeMounts":[{"name":"kube-api-access-5zq8h","readOnly":true,)"
         R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],)"
         R"("terminationMessagePath":"/dev/termination-log",)"
         R"("terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],)"
         R"("restartPolicy":"Never","terminationGracePeriodSeconds":30,)"
         R"("dnsPolicy":"ClusterFirst","serviceAccountName":"default",)"
         R"("schedulerName":"gang-scheduler","schedulingGroup":{"podGroupName":"train-a"},)"
         R"("tolerations":[{"key":"nvidia.com/gpu","operator":"Exists",)"
         R"("effect":"NoSchedule"}],"priority":0,"enableServiceLinks":true,)"
         R"("preemptionPolicy":"PreemptLowerPriority"},"status":{"phase":"Pending",)"
         R"("conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",)"
         R"("lastProbeTime":null,"lastTransitionTime":"2026-05-04T10:11:13Z"}],)"
         R"("qosClass":"Burstable"}}})";
}

}  // namespace gang::bench
