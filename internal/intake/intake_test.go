package intake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/intake"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/reasons"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sample/cloudtrail"
)

// read returns the reading of so many good samples and bad lines.
func read(good int, bad map[sample.RejectReason]int) intake.Reading {
	var t intake.Tally
	t.Begin("a")
	for range good {
		t.Good(&sample.Record{})
	}
	for reason, n := range bad {
		for range n {
			t.Bad(reason, nil)
		}
	}
	return t.Reading()
}

func TestAVerdictNeedsData(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story   string
		good    int
		bad     map[sample.RejectReason]int
		judged  bool
		covers  string
		because string
	}{
		{"nothing", 0, nil, false, "", "a holds no samples"},
		{"one line", 0, map[sample.RejectReason]int{sample.RejectSyntax: 1}, false, "", "the only line could not be counted"},
		{"nothing good", 0, map[sample.RejectReason]int{sample.RejectSyntax: 3}, false, "", "none of 3 lines"},
		{"too little", 1, map[sample.RejectReason]int{sample.RejectSyntax: 100}, false, "", "only 1 of 101 lines"},
		{"little", 1, map[sample.RejectReason]int{sample.RejectSyntax: 99}, true, "covers 1% of the lines", ""},
		{"most", 98, map[sample.RejectReason]int{sample.RejectSyntax: 2}, true, "covers 98% of the lines", ""},
		{"all but an odd line", 999, map[sample.RejectReason]int{sample.RejectSyntax: 1}, true, "", ""},
		{"events that are no load", 1, map[sample.RejectReason]int{cloudtrail.RejectNotRequest: 999, cloudtrail.RejectFailed: 1}, true, "", ""},
		{"nothing but those", 0, map[sample.RejectReason]int{cloudtrail.RejectNotRequest: 2}, false, "", "none of 2 lines"},
	} {
		r := read(c.good, c.bad)
		if r.Judged != c.judged || !strings.Contains(say.IntakeShare(&r), c.covers) || c.covers == "" && say.IntakeShare(&r) != "" {
			t.Errorf("%s: judged is %v, %q", c.story, r.Judged, say.IntakeShare(&r))
		}
		if !strings.Contains(say.IntakeFailure(&r), c.because) || (c.because == "") != (say.IntakeFailure(&r) == "") {
			t.Errorf("%s: %q", c.story, say.IntakeFailure(&r))
		}
	}
}

// A line that comes again is told by where it stands, not by what it says.
func TestALineIsTheOneThatIsBad(t *testing.T) {
	t.Parallel()
	var tally intake.Tally
	message := []byte("same\nsame\nsame\nother\n")
	tally.Begin("a")
	tally.Message(message, 7)
	tally.Bad(sample.RejectSyntax, message[10:14])
	tally.Bad(sample.RejectNoKey, []byte("other")) // a copy
	for _, fault := range tally.Reading().Faults {
		if want := map[sample.RejectReason]int64{sample.RejectSyntax: 9, sample.RejectNoKey: 10}[fault.Reason]; fault.Line != want {
			t.Errorf("%s is in line %d, want %d", fault.Reason, fault.Line, want)
		}
	}
}

// remedy returns the remedy for a line, with the names of its fields or without.
func remedy(reason sample.RejectReason, line string, named bool) string {
	tally := intake.Tally{Hidden: !named}
	tally.Begin("a")
	tally.Message([]byte(line), 1)
	tally.Bad(reason, []byte(line))
	return tally.Reading().Faults[0].Remedy
}

// Every reason has something to do, or to know, and no line makes it panic or show what
// is hidden.
func TestEveryReasonHasARemedy(t *testing.T) {
	t.Parallel()
	lines := []string{"", "{", "{}", "[{", "secret,secret2\n", "secret\tb", `{"secret":{"secret":["secret",{"secret":1}]}}`, "<", "\x00", `x {"secret":1}`,
		`{"dynamodb":{"Keys":{"secret":{"S":"a"},"secret2":{"S":"b"}}},"tableName":"secret"}`}
	for _, reason := range append(reasons.All(), intake.ReasonUnreadable, intake.ReasonTooManyTables, intake.ReasonDuplicate) {
		for _, line := range lines {
			if remedy(reason, line, true) == "" {
				t.Errorf("%s has no remedy", reason)
			}
			if hidden := remedy(reason, line, false); strings.Contains(hidden, "secret") || hidden == "" {
				t.Errorf("%s of %q shows %q", reason, line, hidden)
			}
		}
	}
}

// TestALineOfManyEvents: of a file that is one line each complaint has the number of the event,
// however the file comes.
func TestALineOfManyEvents(t *testing.T) {
	t.Parallel()
	event := func(n int) string {
		return fmt.Sprintf(`{"eventSource":"dynamodb.amazonaws.com","text":"]}{[\"\\","list":[{"a":[%d]},{}]}`, n)
	}
	var tally intake.Tally
	tally.Begin("trail")
	n := 0
	for _, events := range []int{3, 40, 2} { // as a list that is cut between its elements
		var parts []string
		for range events {
			n++
			parts = append(parts, event(n))
		}
		message := []byte("[" + strings.Join(parts, ", ") + "]")
		tally.Message(message, 1)
		for i, at := n-events+1, 1; i <= n; i, at = i+1, at+len(event(i))+2 {
			switch i {
			case 7:
				tally.Bad(cloudtrail.RejectQuery, message[at:at+20])
			case 45:
				tally.Bad(cloudtrail.RejectBatch, message[at:at+20])
			default:
				tally.Good(&sample.Record{})
			}
		}
	}
	r := tally.Reading()
	for _, f := range r.Faults {
		if want := map[sample.RejectReason]int64{cloudtrail.RejectQuery: 7, cloudtrail.RejectBatch: 45}[f.Reason]; f.Record != want || !strings.Contains(say.DescribeFault(&f), fmt.Sprintf("trail, line 1, record %d: ", want)) {
			t.Errorf("%s is record %d, want %d: %s", f.Reason, f.Record, want, say.DescribeFault(&f))
		}
	}
	if len(r.Faults) != 2 || !strings.Contains(say.IntakeShare(&r), "95% of the events") {
		t.Errorf("%+v: %s", r.Faults, say.IntakeShare(&r))
	}
}

// TestOtherKeys: much that was throttled without anything found may be counted by another key.
func TestOtherKeys(t *testing.T) {
	t.Parallel()
	orders := detect.Target{Table: "orders"}
	table := func(served, throttled int64) []detect.Table {
		return []detect.Table{{Target: orders, Requests: served, Throttled: detect.Throttled{Requests: throttled}}}
	}
	var found detect.Finding
	found.Target = orders
	if all := say.OtherKeys(table(15_000, 5200), nil); len(all) != 1 || !strings.Contains(all[0], "orders: 25.7% of the requests seen were throttled") {
		t.Errorf("a quarter throttled and nothing found: %q", all)
	}
	for story, all := range map[string][]string{
		"a finding":       say.OtherKeys(table(15_000, 5200), []detect.Finding{found}),
		"few throttled":   say.OtherKeys(table(15_000, 120), nil),
		"hardly any seen": say.OtherKeys(table(10, 9), nil),
	} {
		if len(all) > 0 {
			t.Errorf("%s: %q", story, all)
		}
	}
}

// TestUnitsThatAreNotReported: which are the least, and which are computed from sizes.
func TestUnitsThatAreNotReported(t *testing.T) {
	t.Parallel()
	count := func(records ...sample.Record) intake.Reading {
		var tally intake.Tally
		tally.Begin("a")
		for i := range records {
			tally.Good(&records[i])
		}
		return tally.Reading()
	}
	least, sized, told := sample.Record{Estimated: true}, sample.Record{Estimated: true, Bytes: 900}, sample.Record{WCU: 1000}
	for _, c := range []struct {
		story           string
		r               intake.Reading
		bound, computed string
	}{
		{"least", count(least, least), "100% of the samples count as the least", ""},
		{"half of them", count(least, told), "50% of the samples", ""},
		{"sizes", count(sized, told), "", "Units of 1 of 2 samples are computed from sizes. They are rather too low"},
		{"all told", count(told), "", ""},
	} {
		for _, said := range [][2]string{{say.IntakeBound(&c.r), c.bound}, {say.ComputedUnits(&c.r), c.computed}} {
			if !strings.Contains(said[0], said[1]) || (said[0] == "") != (said[1] == "") {
				t.Errorf("%s: %q, want %q", c.story, said[0], said[1])
			}
		}
	}
}

// TestRemediesOfAThrottle: what a throttle must be, with the value that it is not.
func TestRemediesOfAThrottle(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"throttle":"400"}`:                          "throttle is “400”: leave it out, or read it with --map throttle=throttle, if it is true or false, yes or no",
		`{"throttle":"TransactionConflictException"}`: "throttle: a conflict of transactions is no throttling: count the attempts that it ended in conflict",
		`{"throttle":"ConditionalCheckFailed"}`:       "throttle: a failed condition is no throttling: count the attempts that it ended in condition_failed",
		`{"throttle":"false"}`:                        "throttle is “false”: leave it out, or read it with --map throttle=throttle",
	} {
		if got := remedy(sample.RejectBadThrottle, line, true); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// TestAMappingIsProposed: of a file's lines, with what it finds in them.
func TestAMappingIsProposed(t *testing.T) {
	t.Parallel()
	const second = 1763692032
	for _, c := range []struct{ story, head, line, want string }{
		{"a table by another name", "", `{"ts":{ms},"ddb_tbl":"t-1","pk":"{key}","op":"GetItem"}`, "try --map 'table=ddb_tbl'. It finds 30 samples in 30 lines; “a” has 60% of their load"},
		{"nested, in seconds", "", `{"time":{s},"dyn":{"key":"{key}","verb":"PutItem"},"tbl":"t-1"}`, "try --map 'ts=time,table=tbl,pk=dyn.key,op=dyn.verb' --time-unit s."},
		{"a key by its name alone", "", `{"when":{ms},"orderId":"{key}","verb":"put"}`, "try --map 'ts=when,pk=orderId,op=verb' --table NAME."},
		{"German columns", "Zeitpunkt;Kunde;Auftrag;Aktion;Größe (Bytes);Gedrosselt\n", "20.11.2026 12:00:00;{key};{n};Update;900;nein",
			"try --map 'ts=Zeitpunkt,pk=Kunde,sk=Auftrag,op=Aktion,bytes=Größe (Bytes),throttle=Gedrosselt' --table NAME."},
		{"English ones", "time;customer_id;order_id;size;throttled;consumed_wcu;foo\n", "2026-11-20 12:00:00;{key};{n};900;false;3;x",
			"try --map 'ts=time,pk=customer_id,sk=order_id,wcu=consumed_wcu,bytes=size,throttle=throttled' --table NAME. It finds 30 samples in 31 lines"},
		{"two keys as likely", "datum;customer;user;verb\n", "2026-11-20 12:00:00;{key};u{key};put", "the partition key may be customer or user: name them, as in --map ts=FIELD,pk=FIELD"},
		{"no key", "Zeile;Wert;Name\n", "{n};{n};{key}", "its fields are Name, Wert, Zeile; none of them is a time with seconds in a known form"},
		{"among lines without requests", "", "{\"msg\":\"up\",\"at\":{ms}}\n{\"when\":{ms},\"customer_id\":\"{key}\",\"verb\":\"put\"}", "try --map 'ts=when,pk=customer_id,op=verb' --table NAME. It finds 30 samples in 60 lines"},
	} {
		text := c.head
		for n := range 30 {
			text += strings.NewReplacer("{ms}", fmt.Sprint(second*1000+n), "{s}", fmt.Sprint(second), "{key}", string(rune('a'+n%10*n%3)), "{n}", fmt.Sprint(n)).Replace(c.line) + "\n"
		}
		var tally intake.Tally
		tally.Begin("a")
		tally.Message([]byte(text), 1)
		at := 0
		for line := range strings.Lines(text) {
			reason := sample.RejectNoTime
			if line[0] != '{' {
				reason = sample.RejectSyntax
			}
			tally.Bad(reason, []byte(text)[at:at+len(line)-1:at+len(line)-1])
			at += len(line)
		}
		r := tally.Reading()
		if f := r.Faults[0]; !strings.Contains(f.Remedy, c.want) {
			t.Errorf("%s: %s", c.story, say.DescribeFault(&f))
		}
	}
}

// TestRemediesOfATrail: events of other services, or about a table itself, are no fault of a
// trail; and a key of one attribute cannot be told apart from what settings say.
func TestRemediesOfATrail(t *testing.T) {
	t.Parallel()
	const put = `{"eventSource":"dynamodb.amazonaws.com","eventName":"PutItem","requestParameters":{"tableName":"orders","key":{"id":"a"}}}`
	for _, c := range []struct {
		reason     sample.RejectReason
		line, want string
	}{
		{cloudtrail.RejectNotRequest, `{"eventSource":"sts.amazonaws.com"}`, "an event of sts.amazonaws.com that is no request to an item, and may stay in the file"},
		{cloudtrail.RejectNotRequest, `{"eventSource":"dynamodb.amazonaws.com","eventName":"DescribeTable"}`, "an event of dynamodb.amazonaws.com that is no request to an item, and may stay"},
		{cloudtrail.RejectNotRequest, `{"eventSource":"a customer"}`, "it is no request to an item: requests are in a trail only if"},
		{change.RejectKeySchema, put, "its key has one attribute, id, and the file of --tables says something else of orders: where orders has no sort key write tables: {orders: {partition_key: id, sort_key: []}}"},
	} {
		if got := remedy(c.reason, c.line, true); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.line, got)
		}
	}
}

// TestTimes: a number is a time in the unit in which it lies after 2012, DynamoDB's first year;
// no other number of the line is taken for its time.
func TestTimes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"ts":1763692032}`:             "ts looks like seconds: --time-unit s",
		`{"ts":"1763692032,185"}`:       "ts looks like seconds: --time-unit s",
		`{"ts":1763692032185}`:          "ts looks like milliseconds: --time-unit ms",
		`{"ts":1763692032185000}`:       "ts looks like microseconds: --time-unit us",
		`{"ts":1763692032185000000}`:    "ts looks like nanoseconds: --time-unit ns",
		`{"ts":946684800000}`:           "ts is no time with seconds from 2012 on",
		`{"ts":946684800000000000}`:     "ts is no time with seconds from 2012 on",
		`{"ts":"12","id":"1763692032"}`: "ts is no time with seconds from 2012 on",
		`{"ts":"05/11/2026 12:00:00"}`:  "--time-layout '%d/%m/%Y %H:%M:%S'",
	} {
		if got := remedy(sample.RejectBadTime, line, true); !strings.Contains(got, want) {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// TestAStatementIsAnOperation: a line with an operation that may read or write does not lack one.
func TestAStatementIsAnOperation(t *testing.T) {
	t.Parallel()
	got := remedy(sample.RejectNoOp, `{"ts":1763692032185,"table":"orders","pk":"a","op":"ExecuteStatement"}`, true)
	if want := "its operation is ExecuteStatement: a statement does not tell reads from writes"; !strings.HasPrefix(got, want) {
		t.Error(got)
	}
}

// FuzzRemedy looks at any line: it must not panic, and say something.
func FuzzRemedy(f *testing.F) {
	for _, seed := range []string{`{"a":{"b":[1,{"c":2}]},"d":1`, "a,b\n1,2", "[[{", "2026-11-21 {\"a\":1}", "}]", `{"a":{}}{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, reason := range reasons.All() {
			if remedy(reason, line, true) == "" {
				t.Errorf("%s of %q has no remedy", reason, line)
			}
		}
	})
}
