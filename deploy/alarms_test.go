package deploy_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/keyheat/keyheat/internal/aws/cloudwatch/publish"
)

// TestAlarmsAreOnMetricsThatAreWritten: an alarm on a metric, a dimension or a namespace
// that nobody writes would be silent for ever.
func TestAlarmsAreOnMetricsThatAreWritten(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("cloudwatch-alarms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Parameters map[string]struct{ Type, Default string }
		Conditions map[string]any
		Resources  map[string]struct {
			Type       string
			Properties struct {
				Namespace, Topic map[string]string
				MetricName       string
				Dimensions       []map[string]any
				Statistic        string
				Period           int
				TreatMissingData string
				AlarmActions     []map[string]string
			}
		}
	}
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(document) // which knows names as they are written
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(asJSON, &template); err != nil {
		t.Fatal(err)
	}
	if got := template.Parameters["Namespace"].Default; got != publish.Default().Namespace {
		t.Errorf("the namespace is %q", got)
	}
	missing := map[string]string{publish.HotKeys: "missing", publish.HighestUtilization: "notBreaching", publish.SecondsCounted: "breaching"}
	for name, alarm := range template.Resources {
		p := alarm.Properties
		want, written := missing[p.MetricName]
		if !written || p.TreatMissingData != want || alarm.Type != "AWS::CloudWatch::Alarm" || p.Namespace["Ref"] != "Namespace" ||
			p.Statistic != "Maximum" || p.Period != 60 || len(p.AlarmActions) != 1 || p.AlarmActions[0]["Ref"] != "Topic" {
			t.Errorf("%s: %+v", name, p)
		}
		delete(missing, p.MetricName)
		var dimensions []string
		for _, d := range p.Dimensions {
			if choice, conditional := d["Fn::If"].([]any); conditional {
				if _, known := template.Conditions[choice[0].(string)]; !known {
					t.Errorf("%s: the condition %v is not there", name, choice[0])
				}
				d = choice[1].(map[string]any)
			}
			dimensions = append(dimensions, d["Name"].(string))
		}
		if p.MetricName != publish.SecondsCounted && !slices.Equal(dimensions, []string{publish.TableDimension, publish.AccountDimension}) ||
			p.MetricName == publish.SecondsCounted && len(dimensions) > 0 {
			t.Errorf("%s has the dimensions %q", name, dimensions)
		}
	}
	if len(missing) > 0 {
		t.Errorf("no alarm on %v", missing)
	}
}
