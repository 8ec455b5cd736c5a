// Package strict builds the kustomize folders and decodes every object strictly with
// Kubernetes' own types.
package strict

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// kinds returns an empty object of each kind that the folders use, by group, version and
// kind.
func kinds() map[string]any {
	return map[string]any{
		"v1 Namespace": &corev1.Namespace{}, "v1 ConfigMap": &corev1.ConfigMap{}, "v1 Service": &corev1.Service{},
		"apps/v1 StatefulSet": &appsv1.StatefulSet{}, "apps/v1 Deployment": &appsv1.Deployment{}, "batch/v1 Job": &batchv1.Job{},
		"policy/v1 PodDisruptionBudget": &policyv1.PodDisruptionBudget{}, "networking.k8s.io/v1 NetworkPolicy": &networkingv1.NetworkPolicy{},
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"../base", "../example"} {
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		seen := make(map[string]int)
		labels := make(map[string]bool) // of pods
		var selectors []map[string]string
		for _, r := range built.Resources() {
			name := r.GetApiVersion() + " " + r.GetKind()
			object := kinds()[name]
			if object == nil {
				t.Errorf("%s: %s is a kind that this test does not know", folder, name)
				continue
			}
			seen[name]++
			text, err := r.AsYAML()
			if err != nil {
				t.Fatal(err)
			}
			if err := yaml.UnmarshalStrict(text, object); err != nil {
				t.Errorf("%s: %s %s: %v", folder, name, r.GetName(), err)
			}
			switch o := object.(type) {
			case *appsv1.StatefulSet:
				checkPod(t, r.GetName(), &o.Spec.Template.Spec, true)
				labels[o.Spec.Template.Labels["app.kubernetes.io/name"]] = true
			case *appsv1.Deployment:
				checkPod(t, r.GetName(), &o.Spec.Template.Spec, true)
				labels[o.Spec.Template.Labels["app.kubernetes.io/name"]] = true
			case *batchv1.Job:
				checkPod(t, r.GetName(), &o.Spec.Template.Spec, false)
			case *policyv1.PodDisruptionBudget:
				selectors = append(selectors, o.Spec.Selector.MatchLabels)
			case *corev1.Service:
				selectors = append(selectors, o.Spec.Selector)
			case *networkingv1.NetworkPolicy:
				if len(o.Spec.PolicyTypes) != 2 {
					t.Errorf("%s: the network policy is for %v", folder, o.Spec.PolicyTypes)
				}
			}
		}
		for _, s := range selectors {
			if !labels[s["app.kubernetes.io/name"]] {
				t.Errorf("%s: no pod has the labels %v", folder, s)
			}
		}
		if want := "map[apps/v1 Deployment:1 apps/v1 StatefulSet:1 batch/v1 Job:1 networking.k8s.io/v1 NetworkPolicy:1 policy/v1 PodDisruptionBudget:2 v1 ConfigMap:2 v1 Namespace:1 v1 Service:2]"; fmt.Sprint(seen) != want {
			t.Errorf("%s has %v, want %s", folder, seen, want)
		}
	}
}

// checkPod holds a pod to the habits that a restricted namespace and a small cluster ask for.
func checkPod(t *testing.T, name string, p *corev1.PodSpec, serves bool) {
	t.Helper()
	if len(p.Containers) != 1 || p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken || p.SecurityContext.RunAsNonRoot == nil || !*p.SecurityContext.RunAsNonRoot {
		t.Fatalf("%s: %+v", name, p)
	}
	c := &p.Containers[0]
	s := c.SecurityContext
	if s == nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || len(s.Capabilities.Drop) != 1 {
		t.Errorf("%s: %+v", name, s)
	}
	if c.Resources.Limits.Memory().IsZero() || serves && c.Resources.Limits.Memory().Cmp(*c.Resources.Requests.Memory()) != 0 {
		t.Errorf("%s: memory %v", name, c.Resources)
	}
	if serves && (c.LivenessProbe == nil || c.ReadinessProbe == nil || c.StartupProbe == nil || c.ReadinessProbe.HTTPGet.Path != "/-/ready" || c.LivenessProbe.HTTPGet.Path != "/-/healthy") {
		t.Errorf("%s lacks a probe", name)
	}
}
