package analyze_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/analyze"
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
	text := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"finding retry_storm, firing, of orders", "1. Retry with backoff, jitter and a limit. “lambda/reindex” sends each request 4.0 times on average.",
		"“lambda/reindex” makes 76% of all attempts on “tenant#1”: it sends each request 4.0 times.",
		"retries in 60 seconds callers waited 600 s",
		"126,000 for 54,000 requests in 60 seconds, 2.3 each; “lambda/reindex”: 76.2%, 4.0 each, 0 failed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	lines := strings.Split(out, "\n")
	if head := strings.Join(lines[:min(screen, len(lines))], "\n"); !strings.Contains(head, "Now    Let the retries of “lambda/reindex”") {
		t.Errorf("the first screen does not say what to do:\n%s", out)
	}
	asJSON := run(t, storm(), analyze.FormatJSON)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(asJSON))
	must(t, err)
	if err := schema(t).Validate(v); err != nil {
		t.Error(err)
	}
	r := result(t, storm())
	if len(r.Incidents) != 1 || r.Incidents[0].Cause != detect.CauseRetryStorm || len(r.Incidents[0].Findings) != 2 {
		t.Errorf("incidents %+v", r.Incidents)
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
	page := strings.Join(strings.Fields(explained(t, samples, "orders")), " ")
	for _, want := range []string{"seen 20 served requests in 1 second", "writes 40 WCU, on average", "throttled 9 attempts of 6 WCU and 0 RCU"} {
		if !strings.Contains(page, want) {
			t.Errorf("it does not say %q:\n%s", want, page)
		}
	}
	without := strings.Split(samples, "\n")
	page = strings.Join(strings.Fields(explained(t, without[0]+"\n"+without[3]+"\n", "orders")), " ")
	if !strings.Contains(page, "throttled 6 attempts") || strings.Contains(page, "0 WCU and 0 RCU") {
		t.Errorf("attempts without units are told as\n%s", page)
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
	for _, c := range []struct {
		name, samples, key string
		says               []string
	}{
		{"requests that fail", failing, "a", []string{"failed 50% of the requests in the last 60 seconds, after all retries"}},
		{"reads and writes", both, "a", []string{"180 seconds in which reads and writes are above what a partition serves only if both count together", "share 68.4% of the writes of orders", "if neither metric counts throttles, do nothing."}},
		{"reads and writes of a table", both, "orders", []string{"of reads and writes together", "[INFO] orders: "}},
		{"a sampled key without a finding", sampled, "a", []string{"mean 100 (", "over 120 seconds with samples of the table"}},
		{"a sampled table", sampled, "orders", []string{"writes about 12,000 WCU, on average 100 WCU/s", "reads 0 RCU"}},
		{"a table that throttles", warm, "orders", []string{"peak 1,100 WCU/s on all keys", "looked at 66,000 requests in 60 seconds", "keys “a”, “b”"}},
	} {
		page := strings.Join(strings.Fields(explained(t, c.samples, c.key)), " ")
		for _, want := range c.says {
			if !strings.Contains(page, want) {
				t.Errorf("%s: it does not say %q:\n%s", c.name, want, page)
			}
		}
	}
}
