package analyze_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
)

// storm is a minute of a key whose demand is 900 units a second, of which one caller
// sends what it asks for four times.
func storm() string {
	var text strings.Builder
	for s := range 60 {
		for i := range 5 {
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"tenant#1","sk":"%d","op":"PutItem","wcu":1,"n":100,"calls":100,"attempts":1,"caller":"svc-%d"}`+"\n", 1763692032000+1000*s, 17*s+i, i)
		}
		for i := range 4 {
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"tenant#1","sk":"%d","op":"PutItem","wcu":1,"n":100,"calls":100,"attempts":4,"waited_ms":25,"caller":"lambda/reindex"}`+"\n", 1763692032000+1000*s, 19*s+i)
		}
		fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"tenant#2","op":"PutItem","wcu":1,"n":200,"calls":200,"attempts":1,"caller":"svc-1"}`+"\n", 1763692032000+1000*s)
	}
	return text.String()
}

// TestAStormIsExplained reads of a retry storm: who makes it, what it costs, and that
// backing off comes first; on the first screen, as JSON by the schema, and as one
// incident.
func TestAStormIsExplained(t *testing.T) {
	t.Parallel()
	out := explained(t, storm(), "tenant#1")
	f := findingOf(t, storm(), casebook.RetryStorm, "tenant#1")
	if r := f.Evidence.Retries; r.Attempts != 126_000 || r.Calls != 54_000 || r.Seconds != 60 || r.Waited.Value != 600 || r.Callers[0].Caller != "lambda/reindex" || r.Callers[0].Amplification != 4 {
		t.Errorf("the retries are %+v", r)
	}
	if m := casebook.New(f).Move; m.Act != casebook.BackOff || m.Callers[0].Text != "lambda/reindex" {
		t.Errorf("for now there is %+v", m)
	}
	first := say.Line{Name: "1.", Text: stepOf(t, f, detect.FixCalmRetries) + ". " + say.StepWhy(f, &f.Advice[0])}
	hasLines(t, out, append(slices.Concat(say.Requests(f), say.Details(f)), first))
	lines, brief := strings.Split(out, "\n"), say.New(f)
	hasLines(t, strings.Join(lines[:min(screen, len(lines))], "\n"), []say.Line{{Name: say.LineWhy, Text: brief.Why}, {Name: say.LineNow, Text: brief.Now}})
	asJSON := run(t, storm(), analyze.FormatJSON)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(asJSON))
	must(t, err)
	if err := schema(t).Validate(v); err != nil {
		t.Error(err)
	}
	r := result(t, storm())
	if len(r.Incidents) != 1 || r.Incidents[0].Case != casebook.RetryStorm || len(r.Incidents[0].Findings) != 2 {
		t.Errorf("incidents %+v", r.Incidents)
	}
}

// TestFailuresAreNotRefusals: calls that were sent again for an unknown reason, such as a broken
// connection, are no harm by DynamoDB. Each throttled attempt in the samples is.
func TestFailuresAreNotRefusals(t *testing.T) {
	t.Parallel()
	var again, throttled strings.Builder
	for s := range 90 {
		const put = `{"ts":%d,"table":"orders","pk":"tenant#1","op":"PutItem","wcu":%d,"n":%d,"calls":%d%s,"caller":"svc"}` + "\n"
		at := 1763692032000 + 1000*s
		fmt.Fprintf(&again, put, at, 1, 1100, 1100, `,"attempts":1`)
		fmt.Fprintf(&again, put, at, 1, 40, 40, `,"attempts":3,"waited_ms":60`)
		fmt.Fprintf(&throttled, put, at, 0, 80, 80, `,"throttle":"TableWriteKeyRangeThroughputExceeded"`)
	}
	f := findingOf(t, again.String(), detect.KeyWrites, "tenant#1")
	if r := f.Evidence.Retries; r == nil || r.Retries() != 60*80 {
		t.Errorf("the retries are %+v", r)
	}
	if h := casebook.New(f).Harm; !h.None() || !h.Visible {
		t.Errorf("retries of unknown reasons are a harm: %+v", h)
	}
	f = findingOf(t, again.String()+throttled.String(), detect.KeyWrites, "tenant#1")
	if h := casebook.New(f).Harm; h.None() || h.Attempts != f.Evidence.ThrottledRequests() {
		t.Errorf("throttled attempts are no harm: %+v", h)
	}
}

// TestTablesTellServedFromThrottled: what a table's requests were, and consumed, does not
// include what was throttled, in no form of the result.
func TestTablesTellServedFromThrottled(t *testing.T) {
	t.Parallel()
	samples := strings.Repeat(`{"ts":1763692032000,"table":"orders","pk":"a","op":"PutItem","wcu":2,"n":10}`+"\n", 2) +
		`{"ts":1763692032100,"table":"orders","pk":"a","op":"PutItem","wcu":2,"n":3,"throttle":"TableWriteKeyRangeThroughputExceeded"}` + "\n" +
		`{"ts":1763692032200,"table":"orders","pk":"a","op":"PutItem","wcu":0,"n":6,"throttle":"TableWriteKeyRangeThroughputExceeded"}` + "\n"
	got := result(t, samples).Tables[0]
	if want := (detect.Throttled{Requests: 9, WCU: 6}); got.Requests != 20 || got.WCU != 40 || got.Throttled != want {
		t.Errorf("%d requests with %g WCU, throttled %+v; want 20 with 40, and %+v", got.Requests, got.WCU, got.Throttled, want)
	}
	for _, c := range []struct{ samples, header, row string }{
		{samples, "REQUESTS SEEN WRITE UNITS READ UNITS THROTTLED SEEN UNITS THROTTLED orders", "orders 1 20 40 0 9 6"},
		{strings.SplitAfter(samples, "\n")[0], "REQUESTS SEEN WRITE UNITS READ UNITS orders", "orders 1 10 20 0"},
	} {
		text := strings.Join(strings.Fields(run(t, c.samples, analyze.FormatTable)), " ")
		if !strings.Contains(text, c.header) || !strings.Contains(text, c.row) {
			t.Errorf("it does not say %q and %q:\n%s", c.header, c.row, text)
		}
	}
	hasLines(t, explained(t, samples, "orders"), say.TableLoad(&got))
	without := strings.Split(samples, "\n")
	if got := result(t, without[0]+"\n"+without[3]+"\n").Tables[0].Throttled; got != (detect.Throttled{Requests: 6}) {
		t.Errorf("attempts without units are %+v", got)
	}
}

// TestWhatIsNotOneFigureIsNotSaidAsOne: what failed is at the head, shares say what they are of, a
// key without a finding has its mean, and the requests of a table that throttles are all that
// were seen.
func TestWhatIsNotOneFigureIsNotSaidAsOne(t *testing.T) {
	t.Parallel()
	lines := func(seconds int, each string) string {
		var text strings.Builder
		for s := range seconds {
			text.WriteString(strings.ReplaceAll(each, "@", fmt.Sprint(1763692032000+1000*s)))
		}
		return text.String()
	}
	const put = `{"ts":@,"table":"orders","op":"PutItem","wcu":1,`
	const throttle = `"throttle":"TableWriteKeyRangeThroughputExceeded",`
	failing := lines(90, put+`"pk":"a","sk":"1","n":1000,"calls":1000,"attempts":1}`+"\n"+put+throttle+`"pk":"a","sk":"2","n":1000,"calls":1000,"attempts":3,"failed":true}`+"\n")
	both := lines(180, put+`"pk":"a","n":650}`+"\n"+`{"ts":@,"table":"orders","op":"GetItem","rcu":0.5,"pk":"a","n":3900}`+"\n"+put+`"pk":"b","n":300}`+"\n")
	sampled := lines(120, put+`"pk":"a","rate":0.01}`+"\n")
	warm := lines(60, put+`"pk":"a","n":500}`+"\n"+put+`"pk":"b","n":500}`+"\n"+put+throttle+`"pk":"a","n":100}`+"\n")
	if share, failed := findingOf(t, failing, detect.KeyWrites, "a").FailedShare(); !failed || share != 0.5 {
		t.Errorf("%g of the requests failed, %t", share, failed)
	}
	for _, c := range []struct {
		name, samples, key string
		kind               any
	}{
		{"requests that fail", failing, "a", detect.KeyWrites}, {"reads and writes", both, "a", detect.KeyWrites}, {"a table that throttles", warm, "", detect.SubjectPartition},
	} {
		f := findingOf(t, c.samples, c.kind, sample.Text(c.key))
		hasLines(t, explained(t, c.samples, cmp.Or(c.key, "orders")), slices.Concat(say.Figures(f), say.Requests(f)))
	}
	hasLines(t, explained(t, both, "orders"), []say.Line{{Name: "[INFO]", Text: "orders: "}})
	tables := result(t, sampled).Tables
	hasLines(t, explained(t, sampled, "orders"), say.TableLoad(&tables[0]))
	if page := explained(t, sampled, "a"); !strings.Contains(page, "mean        100 (") {
		t.Errorf("a sampled key without a finding has no mean:\n%s", page)
	}
}
