// Prints the TF_CONFIG that training-operator v1.9.4 puts into every replica of every small job,
// as the JSON array of tests/golden/tf_config.json. It calls the operator's own
// SetClusterSpec, so what is printed is what a pod gets. From this folder:
//
//	go mod tidy && go run . > ../tf_config.json
package main

import (
	"encoding/json"
	"log"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeflowv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/tensorflow"
)

const (
	name        = "distributed-mnist"
	namespace   = "team-a"
	maxReplicas = 5
)

type replica struct {
	Role     string  `json:"role"`
	Index    int     `json:"index"`
	TFConfig *string `json:"tfConfig"` // null: the operator sets none
}

type job struct {
	Name      string         `json:"name"`
	Namespace string         `json:"namespace"`
	Roles     map[string]int `json:"roles"`
	Replicas  []replica      `json:"replicas"`
}

var roles = []struct {
	key  string
	kind kubeflowv1.ReplicaType
	most int
}{
	{"chief", kubeflowv1.TFJobReplicaTypeChief, 1},
	{"worker", kubeflowv1.TFJobReplicaTypeWorker, maxReplicas},
	{"ps", kubeflowv1.TFJobReplicaTypePS, maxReplicas},
	{"evaluator", kubeflowv1.TFJobReplicaTypeEval, 1},
}

func main() {
	var jobs []job
	each(0, make([]int, len(roles)), func(counts []int) { jobs = append(jobs, render(counts)) })
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(jobs); err != nil {
		log.Fatal(err)
	}
}

// each calls visit with every combination of replica counts of at least 1 and at most maxReplicas in all.
func each(role int, counts []int, visit func([]int)) {
	total := 0
	for _, count := range counts[:role] {
		total += count
	}
	if role == len(roles) {
		if total > 0 {
			visit(counts)
		}
		return
	}
	for count := 0; count <= roles[role].most && total+count <= maxReplicas; count++ {
		counts[role] = count
		each(role+1, counts, visit)
	}
	counts[role] = 0
}

func render(counts []int) job {
	rendered := job{Name: name, Namespace: namespace, Roles: map[string]int{}}
	object := &kubeflowv1.TFJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec:       kubeflowv1.TFJobSpec{TFReplicaSpecs: map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaSpec{}},
	}
	for i, role := range roles {
		if counts[i] == 0 {
			continue
		}
		replicas := int32(counts[i])
		rendered.Roles[role.key] = counts[i]
		object.Spec.TFReplicaSpecs[role.kind] = &kubeflowv1.ReplicaSpec{
			Replicas: &replicas,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: kubeflowv1.TFJobDefaultContainerName, Image: "tensorflow"}},
			}},
		}
	}
	kubeflowv1.SetDefaults_TFJob(object) // adds the default port 2222, as the API does
	for i, role := range roles {
		for index := range counts[i] {
			rendered.Replicas = append(rendered.Replicas, replica{role.key, index, tfConfig(object, role.kind, index)})
		}
	}
	return rendered
}

func tfConfig(object *kubeflowv1.TFJob, kind kubeflowv1.ReplicaType, index int) *string {
	template := object.Spec.TFReplicaSpecs[kind].Template.DeepCopy()
	reconciler := &tensorflow.TFJobReconciler{}
	if err := reconciler.SetClusterSpec(object, template, string(kind), strconv.Itoa(index)); err != nil {
		log.Fatal(err)
	}
	for _, variable := range template.Spec.Containers[0].Env {
		if variable.Name == "TF_CONFIG" {
			return &variable.Value
		}
	}
	return nil
}
