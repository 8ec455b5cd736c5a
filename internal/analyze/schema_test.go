package analyze_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/form"
)

const schemaFile = "../../docs/findings.schema.json"

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(schemaFile)
	must(t, err)
	return s
}

func TestOutputFollowsTheSchema(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"traffic": strings.Join(traffic(t, 10*time.Second), "\n"),
		"nothing": "",
		"bad":     "{\n" + line(0, "orders", "a", 999),
	}
	for name, text := range texts {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(run(t, text, analyze.FormatJSON)))
		must(t, err)
		if err := schema(t).Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSchemaRefusesWhatIsNotDocumented(t *testing.T) {
	t.Parallel()
	text := run(t, strings.Join(traffic(t, 5*time.Second), "\n"), analyze.FormatJSON)
	for _, change := range [][2]string{
		{`"kind": "hot_key_write"`, `"kind": "hot_key"`},
		{`"shards": `, `"shard": `},
		{`"fingerprint": "`, `"fingerprint": "x`},
		{`"findings": [`, `"more": 1, "findings": [`},
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(text, change[0], change[1], 1)))
		must(t, err)
		if schema(t).Validate(v) == nil {
			t.Errorf("with %s it is still valid", change[1])
		}
	}
}

// words is a part of the schema.
type words struct {
	Required      []string
	Enum          []string
	Properties    map[string]*words
	Items         *words
	PropertyNames *words
	Defs          map[string]*words `json:"$defs"`
}

func TestTheSchemaHasEveryFieldAndWord(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(schemaFile)
	must(t, err)
	var s words
	must(t, json.Unmarshal(text, &s))
	finding := s.Defs["finding"]
	for what, lists := range map[string][2][]string{
		"result":   {s.Required, fields(reflect.TypeFor[analyze.Result]())},
		"finding":  {finding.Required, fields(reflect.TypeFor[detect.Finding]())},
		"what_if":  {s.Defs["what_if"].Required, fields(reflect.TypeFor[whatif.Answer]())},
		"table":    {s.Defs["table"].Required, fields(reflect.TypeFor[detect.Table]())},
		"gap":      {s.Defs["gap"].Required, fields(reflect.TypeFor[sample.Gap]())},
		"kinds":    {finding.Properties["kind"].Enum, texts(detect.Kinds())},
		"reasons":  {finding.Properties["reason"].Enum, texts(detect.Reasons())},
		"evidence": {s.Defs["evidence"].Required, fields(reflect.TypeFor[detect.Evidence]())},
		"sharded":  {s.Defs["sharded"].Required, fields(reflect.TypeFor[detect.Sharded]())},
		"rolling":  {s.Defs["rolling"].Required, fields(reflect.TypeFor[detect.Rolling]())},
		"actions":  {finding.Properties["advice"].Items.Properties["action"].Enum, detect.Actions()},
		"quality":  {s.Defs["quality"].Required, fields(reflect.TypeFor[detect.Quality]())},
		"incident": {s.Defs["incident"].Required, fields(reflect.TypeFor[detect.Incident]())},
		"causes": {s.Defs["incident"].Properties["cause"].Enum, texts([]detect.Cause{
			detect.CauseHotKey, detect.CauseShardedKey, detect.CauseRollingKey, detect.CauseMovingHotSpot, detect.CauseIndexBackPressure,
			detect.CauseSingleCaller, detect.CauseFewValues, detect.CauseHotPartition, detect.CauseStarvation, detect.CauseRetryStorm, detect.CausePipeline,
		})},
		"sources": {s.Defs["quality"].Properties["source"].Enum, texts([]detect.Source{
			detect.SourceRequests, detect.SourceChanges, detect.SourceMinutes, detect.SourceMixed,
		})},
		"sampling": {s.Defs["quality"].Properties["sampling"].Enum, texts([]detect.Sampling{
			"", detect.SamplingNone, detect.SamplingIndependent, detect.SamplingByCall, detect.SamplingAssumed, detect.SamplingUnknowable,
		})},
		"blind":    {s.Defs["quality"].Properties["cannot_see"].Items.Enum, []string{detect.BlindReads, detect.BlindThrottled, detect.BlindNoOps}},
		"severity": {finding.Properties["severity"].Enum, texts([]detect.Severity{detect.Critical, detect.Warning, detect.Info})},
		"state":    {finding.Properties["state"].Enum, texts([]detect.State{detect.Pending, detect.Firing, detect.Resolved})},
		"bad": {s.Properties["samples"].Properties["bad"].PropertyNames.Enum,
			texts(append(form.Reasons(), analyze.ReasonUnreadable, analyze.ReasonTooManyTables))},
	} {
		slices.Sort(lists[0])
		slices.Sort(lists[1])
		if !slices.Equal(lists[0], lists[1]) {
			t.Errorf("%s: the schema has\n%v, the code\n%v", what, lists[0], lists[1])
		}
	}
}

// fields are the JSON names of a struct.
func fields(of reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(of) {
		if tag, ok := f.Tag.Lookup("json"); ok && f.IsExported() {
			names = append(names, tag)
		}
	}
	return names
}

func texts[T ~string](all []T) []string {
	var out []string
	for _, v := range all {
		out = append(out, string(v))
	}
	return out
}
