package analyze_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/intake"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/reasons"
	"github.com/keyheat/keyheat/sample"
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
	inputs := map[string]string{
		"traffic": strings.Join(traffic(t, 10*time.Second), "\n"),
		"nothing": "",
		"bad":     "{\n" + line(0, "orders", "a", 999),
	}
	for name, text := range inputs {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(run(t, text, analyze.FormatJSON)))
		must(t, err)
		if err := schema(t).Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSchemaRejectsWhatIsNotDocumented(t *testing.T) {
	t.Parallel()
	text := run(t, strings.Join(traffic(t, 5*time.Second), "\n"), analyze.FormatJSON)
	for _, change := range [][2]string{
		{`"subject": "key_writes"`, `"subject": "writes"`},
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
		"result":           {s.Required, fields(reflect.TypeFor[analyze.Result]())},
		"finding":          {finding.Required, fields(reflect.TypeFor[detect.Finding]())},
		"partitions":       {s.Defs["partitions"].Required, fields(reflect.TypeFor[partition.View]())},
		"partition":        {s.Defs["partition_load"].Required, fields(reflect.TypeFor[detect.PartitionLoad]())},
		"busiest":          {s.Defs["partition_load"].Properties["busiest"].Items.Required, fields(reflect.TypeFor[detect.BusyKey]())},
		"splits":           {s.Defs["partition_split"].Required, fields(reflect.TypeFor[detect.PartitionSplit]())},
		"map_states":       {s.Defs["partitions"].Properties["state"].Enum, texts([]partition.State{partition.Learning, partition.One, partition.Inferred, partition.Doubtful, partition.Withdrawn})},
		"what_if":          {s.Defs["what_if"].Required, fields(reflect.TypeFor[whatif.Answer]())},
		"table":            {s.Defs["table"].Required, fields(reflect.TypeFor[detect.Table]())},
		"gap":              {s.Defs["gap"].Required, fields(reflect.TypeFor[sample.Gap]())},
		"subjects":         {finding.Properties["subject"].Enum, detect.Subjects()},
		"evidence":         {s.Defs["evidence"].Required, fields(reflect.TypeFor[detect.Evidence]())},
		"retries":          {s.Defs["evidence"].Properties["retries"].Required, fields(reflect.TypeFor[detect.Retries]())},
		"callers":          {s.Defs["evidence"].Properties["retries"].Properties["callers"].Items.Required, fields(reflect.TypeFor[detect.CallerRetries]())},
		"sharded":          {s.Defs["sharded"].Required, fields(reflect.TypeFor[detect.Sharded]())},
		"rolling":          {s.Defs["rolling"].Required, fields(reflect.TypeFor[detect.Rolling]())},
		"replication":      {s.Defs["replication"].Required, fields(reflect.TypeFor[detect.Replication]())},
		"actions":          {finding.Properties["advice"].Items.Properties["action"].Enum, constants(t, "", "Action")},
		"quality":          {s.Defs["quality"].Required, fields(reflect.TypeFor[detect.Quality]())},
		"incident":         {s.Defs["incident"].Required, fields(reflect.TypeFor[say.Incident]())},
		"grounds":          {finding.Properties["ground"].Enum, append(constants(t, "Ground", ""), "")},
		"keys":             {s.Defs["members"].Required, fields(reflect.TypeFor[detect.Members]())},
		"blindness":        {s.Defs["blind"].Required, fields(reflect.TypeFor[detect.Blind]())},
		"design":           {s.Defs["view"].Properties["design"].Required, fields(reflect.TypeFor[detect.Design]())},
		"rules":            {s.Defs["view"].Properties["design"].Properties["rule"].Enum, constants(t, "DesignRule", "")},
		"unread":           {s.Defs["cloudwatch"].Properties["unread"].Enum, append(constants(t, "Unread", ""), "")},
		"recent":           {s.Defs["recent"].Required, fields(reflect.TypeFor[detect.Recent]())},
		"sources":          {s.Defs["quality"].Properties["source"].Enum, constants(t, "Source", "")},
		"sampling":         {s.Defs["quality"].Properties["sampling"].Enum, append(constants(t, "Sampling", ""), "")},
		"blind":            {s.Defs["quality"].Properties["cannot_see"].Items.Enum, constants(t, "", "Blind")},
		"cloudwatch":       {s.Defs["cloudwatch"].Required, fields(reflect.TypeFor[detect.CloudWatch]())},
		"table_cloudwatch": {s.Defs["table_cloudwatch"].Required, fields(reflect.TypeFor[detect.TableCloudWatch]())},
		"verdicts":         {s.Defs["cloudwatch"].Properties["verdict"].Enum, constants(t, "Corroborated", "")},
		"severity":         {finding.Properties["severity"].Enum, texts([]detect.Severity{detect.Critical, detect.Warning, detect.Info})},
		"state":            {finding.Properties["state"].Enum, texts([]detect.State{detect.Pending, detect.Firing, detect.Resolved})},
		"step":             {finding.Properties["advice"].Items.Required, fields(reflect.TypeFor[detect.Step]())},
		"fixes":            {s.Defs["fix"].Enum, texts(detect.Fixes())},
		"arguments":        {slices.Collect(maps.Keys(finding.Properties["advice"].Items.Properties["arguments"].Properties)), optional(reflect.TypeFor[detect.Arguments]())},
		"cost":             {s.Defs["cost"].Required, fields(reflect.TypeFor[detect.Cost]())},
		"need":             {s.Defs["need"].Required, fields(reflect.TypeFor[detect.Need]())},
		"after":            {s.Defs["after"].Required, fields(reflect.TypeFor[detect.After]())},
		"names":            {s.Defs["shard_names"].Required, fields(reflect.TypeFor[detect.ShardNames]())},
		"suffixes":         {s.Defs["shard_names"].Properties["suffix"].Enum, constants(t, "Suffix", "")},
		"efforts":          {finding.Properties["advice"].Items.Properties["effort"].Enum, constants(t, "Effort", "")},
		"bad": {s.Properties["samples"].Properties["bad"].PropertyNames.Enum,
			texts(append(reasons.All(), intake.ReasonUnreadable, intake.ReasonTooManyTables, intake.ReasonDuplicate))},
	} {
		slices.Sort(lists[0])
		slices.Sort(lists[1])
		if !slices.Equal(lists[0], lists[1]) {
			t.Errorf("%s: the schema has\n%v, the code\n%v", what, lists[0], lists[1])
		}
	}
}

// fields are the JSON names of a struct that are always there; what JSON leaves out has
// none.
func fields(of reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(of) {
		if tag, ok := f.Tag.Lookup("json"); ok && f.IsExported() && tag != "-" && !strings.HasSuffix(tag, ",omitempty") {
			names = append(names, tag)
		}
	}
	return names
}

// optional are the JSON names of a struct that JSON leaves out when they are empty.
func optional(of reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(of) {
		if name, leftOut := strings.CutSuffix(f.Tag.Get("json"), ",omitempty"); leftOut {
			names = append(names, name)
		}
	}
	return names
}

// constants returns the texts of detect's constants of a type, or with a prefix.
func constants(t *testing.T, typeName, prefix string) (all []string) {
	t.Helper()
	files, err := filepath.Glob("../../detect/*.go")
	must(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		must(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			of, _ := spec.Type.(*ast.Ident)
			value, isText := spec.Values[0].(*ast.BasicLit)
			if isText && (of != nil && of.Name == typeName || prefix != "" && strings.HasPrefix(spec.Names[0].Name, prefix)) {
				text, err := strconv.Unquote(value.Value)
				must(t, err)
				all = append(all, text)
			}
			return true
		})
	}
	return all
}

func texts[T ~string](all []T) []string {
	var out []string
	for _, v := range all {
		out = append(out, string(v))
	}
	return out
}
