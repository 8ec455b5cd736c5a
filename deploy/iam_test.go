package deploy_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/internal/analyze/contributorinsights"
	"github.com/keyheat/keyheat/internal/aws/catalog"
	"github.com/keyheat/keyheat/internal/aws/cloudwatch"
	"github.com/keyheat/keyheat/internal/source/files/bucket"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
)

// TestPoliciesAreWhatTheCodeCalls holds the IAM policies to the operations of the
// interfaces through which the code asks AWS: none is missing, and none is too many.
func TestPoliciesAreWhatTheCodeCalls(t *testing.T) {
	t.Parallel()
	for file, calls := range map[string][]string{
		"iam/reporter-cloudwatch.json": actions("cloudwatch", reflect.TypeFor[cloudwatch.API]()),
		"iam/reporter-analyze-contributor-insights.json": slices.Concat(actions("cloudwatch", reflect.TypeFor[contributorinsights.API]()),
			actions("cloudwatch", reflect.TypeFor[cloudwatch.API]()), actions("dynamodb", reflect.TypeFor[contributorinsights.Tables]())),
		"iam/collector-streams.json": append(actions("dynamodb", reflect.TypeFor[catalog.API]()),
			actions("dynamodb", reflect.TypeFor[streams.DynamoDBStreams]())...),
		"iam/reporter-analyze-s3.json": actions("s3", reflect.TypeFor[bucket.API]()),
		"iam/reporter-analyze-stream.json": append(actions("dynamodb", reflect.TypeFor[catalog.API]()),
			actions("dynamodb", reflect.TypeFor[streams.DynamoDBStreams]())...),
	} {
		text, err := os.ReadFile(file)
		must(t, err)
		var policy struct {
			Version   string
			Statement []struct {
				Sid, Effect string
				Action      []string
				Resource    string
			}
		}
		if err := json.Unmarshal(text, &policy); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var allowed []string
		for _, s := range policy.Statement {
			if s.Effect != "Allow" || s.Resource == "" || s.Sid == "" {
				t.Errorf("%s: the statement %+v", file, s)
			}
			allowed = append(allowed, s.Action...)
		}
		slices.Sort(allowed)
		slices.Sort(calls)
		if policy.Version != "2012-10-17" || len(calls) == 0 || !slices.Equal(allowed, calls) {
			t.Errorf("%s allows %v, the code calls %v", file, allowed, calls)
		}
	}
}

// renamed are the operations that IAM calls otherwise.
var renamed = map[string]string{"s3:ListObjectsV2": "s3:ListBucket"}

// actions are the operations of an interface, as IAM names them.
func actions(service string, of reflect.Type) (all []string) {
	for m := range of.NumMethod() {
		name := service + ":" + of.Method(m).Name
		if other := renamed[name]; other != "" {
			name = other
		}
		all = append(all, name)
	}
	return all
}
