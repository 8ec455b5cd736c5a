package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/buckettest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

var update = flag.Bool("update", false, "write the golden files")

const goldenMistakes = "testdata/mistakes.golden"

// mistake is a file that somebody gives analyze, or a command line, that is not what they
// believe.
type mistake struct {
	story string
	args  string // beside analyze; FILE is the file
	file  string
	// judged reports whether a part can be judged, and so is.
	judged bool
}

// request is a sound sample.
func request(second int) string {
	return fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"k%d","op":"PutItem","wcu":1}`, 1763692032000+1000*second, second%3)
}

func requests(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(request(i) + "\n")
	}
	return b.String()
}

func gzipped(text string) string {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.NoCompression) // which is the same in every version
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

// rowOfCSV has a time, a key, an operation and a note.
func rowOfCSV(second int, note string) string {
	return fmt.Sprintf("%d,k%d,PutItem,%s\n", 1763692032000+1000*second, second, note)
}

// wide is text in UTF-16 with its byte order mark.
func wide(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func event(name, parameters string) string {
	return `{"eventTime":"2026-11-21T02:27:12Z","eventSource":"dynamodb.amazonaws.com","eventName":"` + name + `","requestParameters":` + parameters + `}`
}

const (
	assumed  = `{"eventTime":"2026-11-21T02:27:12Z","eventSource":"sts.amazonaws.com","eventName":"AssumeRole","requestParameters":{}}` + "\n"
	keysOnly = `{"eventID":"1","eventName":"MODIFY","eventSource":"aws:dynamodb","tableName":"orders","dynamodb":{"ApproximateCreationDateTime":1763692032,"Keys":{"id":{"S":"a"}},"StreamViewType":"KEYS_ONLY"}}`
	sorted   = `{"eventID":"1","eventName":"MODIFY","eventSource":"aws:dynamodb","tableName":"orders","dynamodb":{"ApproximateCreationDateTime":1763692032,"Keys":{"id":{"S":"a"},"at":{"N":"1"}},"StreamViewType":"KEYS_ONLY"}}`
)

var mistakes = []mistake{
	{"times in seconds", "", `{"ts":1763692032,"table":"orders","pk":"a","op":"PutItem"}`, false},
	{"times in fractions of seconds", "", `{"ts":1763692032.185,"table":"orders","pk":"a","op":"PutItem"}`, false},
	{"times in microseconds", "", `{"ts":1763692032185000,"table":"orders","pk":"a","op":"PutItem"}`, false},
	{"times in nanoseconds", "", `{"table":"orders","pk":"a","op":"PutItem","ts":1763692032185000000}`, false},
	{"milliseconds, called seconds", "--time-unit s", request(0), false},
	{"a local time", "", `{"ts":"21.11.2026 12:00","table":"orders","pk":"a","op":"PutItem"}`, false},
	{"days before months, or behind", "", `{"ts":"05/11/2026 12:00:00","table":"orders","pk":"a","op":"PutItem"}`, false},
	{"days before months, as a later line shows", "--table orders", "ts,pk,op\n05/11/2026 12:00:00,a,put\n20/11/2026 12:00:00,a,put\n", false},
	{"American times", "--table orders", "ts,pk,op\n11/20/2026 1:00:00.5 PM,a,put\n", false},
	{"times without seconds", "--table orders", "ts,pk,op\n2026-11-20 12:00,a,put\n", false},
	{"a layout of other letters", "--time-layout dd.MM.yyyy", request(0), false},
	{"a layout without seconds", "--time-layout %d/%m/%Y-%H:%M", request(0), false},
	{"a layout beside a unit", "--time-unit s --time-layout %d/%m/%Y-%H:%M:%S", request(0), false},
	{"CSV", "", "time,customer_id,action\n1763692032185,a,put\n", false},
	{"CSV in quotes", "", "\"time\",\"customer id\",\"action\"\n1763692032185,\"a, b\",put\n", false},
	{"CSV of Excel with semicolons", "", "\ufeffZeit;Kunde\r\n21.11.2026;a\r\n", false},
	{"CSV with rows below German names", "", "Zeitpunkt;Kunde;Auftrag;Aktion;Größe (Bytes)\n" + strings.Repeat("20.11.2026 12:00:00;shop-1;17;UpdateItem;712,0\n", 40), false},
	{"CSV whose key has no name that is known", "", "time,who,verb\n1763692032185,a,put\n", false},
	{"an HTTP status as the throttle", "--map throttle=status --table orders", "ts,pk,op,status\n1763692032185,a,PutItem,400\n", false},
	{"a throttle that says no", "", `{"ts":1763692032185,"table":"orders","pk":"a","op":"PutItem","throttle":"false"}` + "\n", false},
	{"CSV with an index of pandas", "", ",timestamp,user_id\n0,1763692032185,a\n", false},
	{"TSV", "", "timestamp\tkey\toperation\n1763692032185\ta\tput\n", false},
	{"CSV without a line of names", "--map pk=customer_id --table orders", "1763692032185,a,put\n", false},
	{"CSV without a table", "--map ts=time,pk=id,op=const:PutItem", "time,id\n1763692032185,a\n", false},
	{"CSV in seconds", "--map ts=time,pk=id,op=const:PutItem --table orders", "time,id\n1763692032,a\n", false},
	{"CSV, mapped to a column that is not there", "--map ts=time,pk=customer,op=const:PutItem --table orders", "time,id\n1763692032185,a\n", false},
	{"rows that are too short", "--map pk=id,op=const:PutItem --table orders", "ts,id,note\n1763692032185,a\n", false},
	{"a lost quote", "--table orders", "ts,pk,op,note\n" + rowOfCSV(0, "\"a text\nover lines\"") + rowOfCSV(1, "\"lost") + rowOfCSV(2, "x") + rowOfCSV(3, "\"y\"") + rowOfCSV(4, ""), true},
	{"a lost quote before many rows", "--table orders", "ts,pk,op,note\n" + rowOfCSV(0, "\"lost") + strings.Repeat(rowOfCSV(1, "x"), 3000), true},
	{"a text in quotes of which nothing says where it ends", "--table orders", "ts,pk,op,note\n" + rowOfCSV(0, "\"lost") + strings.Repeat("more of it\n", 10_000), false},
	{"a quote in the midst of a text", "--table orders", "ts,pk,op,note\n" + rowOfCSV(0, "5\" disk"), false},
	{"a line of names and no rows", "--table orders", "ts,pk,op\n", false},
	{"decimal commas between commas", "--table orders", "ts,pk,op,wcu\n1763692032185,a,PutItem,\"1,5\"\n", false},
	{"a column with a comma in its name", "", "\"@timestamp\",\"Customer's order, ID\",op\n1763692032185,a,put\n", false},
	{"a name in quotes that do not end", "--map pk=\"Customer --table orders", request(0), false},
	{"Excel's own first line", "", "sep=;\r\ntime;key;action\r\n1763692032185;a;put\r\n", false},
	{"an export of a log", "", "@timestamp,@message\n2026-11-21 12:00:00.123,\"{\"\"ddb\"\":{\"\"table\"\":\"\"orders\"\",\"\"key\"\":\"\"a\"\",\"\"op\"\":\"\"put\"\"}}\"\n", false},
	{"own names", "", `{"timestamp":1763692032185,"customerId":"a","operation":"put","table_name":"orders"}`, false},
	{"own names, nested and over lines", "", "{\n  \"@timestamp\": \"2026-11-21T12:00:00Z\",\n  \"ddb\": {\n    \"key\": \"a\"\n  }\n}\n", false},
	{"a path that is not there", "--map pk=detail.id --table orders", `{"ts":1763692032185,"detail":{"key":"a"},"op":"PutItem"}`, false},
	{"no table", "", `{"ts":1763692032185,"pk":"a","op":"PutItem"}`, false},
	{"no key", "", `{"ts":1763692032185,"table":"orders","op":"PutItem"}`, false},
	{"an empty key", "", `{"ts":1763692032185,"table":"orders","pk":"","op":"PutItem"}`, false},
	{"neither operation nor units", "", `{"ts":1763692032185,"table":"orders","pk":"a"}`, false},
	{"a statement", "", `{"ts":1763692032185,"table":"orders","pk":"a","op":"ExecuteStatement"}`, false},
	{"an operation of one's own", "", `{"ts":1763692032185,"table":"orders","pk":"a","op":"saveOrder"}`, false},
	{"a read with write units", "", `{"ts":1763692032185,"table":"orders","pk":"a","op":"GetItem","wcu":1}`, false},
	{"a rate in per cent", "", `{"ts":1763692032185,"table":"orders","pk":"a","op":"PutItem","rate":50}`, false},
	{"a log with JSON in its lines", "", "2026-11-21 12:00:00 INFO " + `{"time":1763692032185,"table":"orders","key":"a","op":"put"}` + "\n", false},
	{"a log that begins with other lines", "", strings.Repeat("starting\n", 30) + strings.Repeat(`INFO {"msg":"metrics flushed"}`+"\n", 30) + `INFO {"time":1763692032185,"table":"orders","key":"a","op":"put"}` + "\n", false},
	{"a line without JSON between those of a log", "", requests(20) + "WARN connection reset, retrying\n" + requests(20), true},
	{"JSON of which most are no requests", "", strings.Repeat(`{"msg":"metrics flushed"}`+"\n", 30) + `{"time":1763692032185,"table":"orders","key":"a","op":"put"}` + "\n", false},
	{"a log with the time in front of its JSON", "", "2026-11-21 12:00:00,123 [main] INFO " + `{"table":"orders","key":"a","op":"put"}` + "\n", false},
	{"a log of Docker", "", `{"log":"INFO {\"key\":\"a\",\"table\":\"orders\",\"op\":\"put\"}\n","stream":"stdout","time":"2026-11-21T12:00:00Z"}` + "\n", false},
	{"a log of pairs", "", "time=2026-11-21T12:00:00Z level=info table=orders pk=a op=put\n", false},
	{"a list in an object", "", "{\n \"events\": [\n  {\"timestamp\": 1763692032185, \"message\": \"{}\"}\n ]\n}\n", false},
	{"a log that begins with brackets", "", "[2026-11-21 12:00:00] started\n[2026-11-21 12:00:01] on\n", false},
	{"an access log", "", `127.0.0.1 - - [21/Nov/2026:12:00:00 +0000] "GET /orders/a HTTP/1.1" 200 17` + "\n", false},
	{"Python's dicts", "", "{'ts': 1763692032185, 'table': 'orders', 'pk': 'a'}\n", false},
	{"lines that end with a comma", "", strings.ReplaceAll(requests(3), "\n", ",\n"), false},
	{"a broken object", "", `{"ts":1763692032185,"table":"orders","pk":"a`, false},
	{"values and no objects", "", "1\n2\n", false},
	{"XML", "", "<requests><request/></requests>\n", false},
	{"binary data", "", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00>\x00", false},
	{"Latin-1", "", strings.Replace(request(0), "k0", "M\xfcller", 1), false},
	{"UTF-16 with a byte order mark", "", wide(request(0)), false},
	{"a workbook", "", "PK\x03\x04\x14\x00\x06\x00", false},
	{"Parquet", "", "PAR1\x15\x04", false},
	{"nothing", "", "", false},
	{"empty lines", "", "\n\n \n", false},
	{"an empty list of records", "", `{"Records":[]}`, false},
	{"gzip that is cut off at once", "", gzipped(requests(10))[:12], false},
	{"gzip that is cut off", "", gzipped(requests(2000))[:60_000], true},
	{"gzip that is none", "", "\x1f\x8b\x00\x00", false},
	{"CloudTrail of a table with a sort key, whose keys nobody names", "", event("PutItem", `{"tableName":"orders","key":{"id":"a","at":"b"}}`), false},
	{"CloudTrail of a table whose keys have telling names", "", event("PutItem", `{"tableName":"orders","key":{"SK":"b","PK":"a"}}`), false},
	{"CloudTrail of such a table among other services' events", "", strings.Repeat(`{"eventTime":"2026-11-21T02:27:12Z","eventSource":"s3.amazonaws.com","eventName":"PutBucketAcl","requestParameters":{}}`+"\n", 20) + event("PutItem", `{"tableName":"orders","key":{"id":"a","at":"b"}}`), false},
	{"CloudTrail of queries", "", event("Query", `{"tableName":"orders"}`), false},
	{"CloudTrail without data events", "", `{"Records":[{"eventTime":"2026-11-21T02:27:12Z","eventSource":"s3.amazonaws.com","eventName":"PutBucketAcl","requestParameters":{}}]}`, false},
	{"CloudTrail of an account, whose data events are not logged", "", strings.Repeat(assumed, 5), false},
	{"CloudTrail of queries among other services' events", "", strings.Repeat(assumed, 20) + event("Query", `{"tableName":"orders"}`), false},
	{"CloudTrail of what is done to a table itself", "", event("DescribeTable", `{"tableName":"orders"}`), false},
	{"a stream of keys only", "", keysOnly, true},
	{"a stream of keys only, of a table with a sort key", "", sorted, false},
	{"a table's export", "", `{"Item":{"id":{"S":"a"}}}`, false},
	{"a report of Contributor Insights", "", `{"KeyLabels":["pk"],"AggregationStatistic":"Sum","Contributors":[{"Keys":["a"]}]}`, false},
	{"figures of CloudWatch", "", `{"Label":"ConsumedWriteCapacityUnits","Datapoints":[{"Sum":1}]}`, false},
	{"one broken first line", "", "[{\"ts\": broken\n, and more\n" + requests(50), true},
	{"a first line that wraps", "", "{\"Records\":[\n{\n" + requests(50), true},
	{"nine bad lines of ten", "", requests(5) + strings.Repeat("GET /\n", 45), true},
	{"one good line of a thousand", "", request(0) + "\n" + strings.Repeat("GET /\n", 1000), false},
	{"a sound pipeline of half a file", "--fail-on critical", requests(5) + strings.Repeat("GET /\n", 45), false},
	{"a file that is not there", "absent.ndjson", "", false},
	{"a pattern that matches nothing", "*.parquet", "", false},
	{"a folder without files", "folder", "", false},
	{"a unit that is none", "--time-unit min", request(0), false},
	{"a field that is none", "--map key=id", request(0), false},
	{"a mapping without a field", "--map id", request(0), false},
	{"a severity that is none", "--fail-on loud", request(0), false},
}

// analyzed runs analyze with a mistake.
func analyzed(t *testing.T, m mistake, format string) (code int, stdout, stderr string) {
	t.Helper()
	args := append([]string{"analyze", "-o", format}, strings.Fields(m.args)...)
	if m.file != "" || m.args == "" || strings.HasPrefix(m.args, "--") {
		args = append(args, "requests")
		must.Succeed(t, os.WriteFile("requests", []byte(m.file), 0o600))
	}
	var out, errs bytes.Buffer
	code = cli.Run(context.Background(), command(), args, cli.Streams{Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

// TestMistakes gives analyze what people give it, in every format: no file gets a clean
// bill of health, and what is wrong is said in a sentence with where it is and what to
// do. testdata/mistakes.golden has the sentences, each once; -update writes them.
func TestMistakes(t *testing.T) {
	want, err := os.ReadFile(goldenMistakes)
	if err != nil && !*update {
		t.Fatal(err)
	}
	home, err := os.Getwd()
	must.Succeed(t, err)
	t.Chdir(t.TempDir())
	must.Succeed(t, os.Mkdir("folder", 0o700))
	golden := printedOnce{seen: map[string]bool{}}
	for _, m := range mistakes {
		code, table, stderr := analyzed(t, m, "table")
		printed := stderr
		if m.judged {
			printed += firstAndLast(table)
		}
		golden.add(m.story, code, printed)
		if m.judged != (code == cli.OK) {
			t.Errorf("%s: exit code %d", m.story, code)
		}
		if strings.Contains(table, "No hot keys.\n") {
			t.Errorf("%s: a clean bill of health:\n%s", m.story, table)
		}
		if table == "" {
			continue // it could not be opened
		}
		checkFormats(t, m)
	}
	mistakesWithStreams(t, &golden)
	mistakesWithBuckets(t, &golden)
	if *update {
		must.Succeed(t, os.WriteFile(home+"/"+goldenMistakes, []byte(golden.text.String()), 0o600))
		return
	}
	if golden.text.String() != string(want) {
		t.Errorf("%s differs: run with -update, and read the difference", goldenMistakes)
	}
}

// printedOnce is what is printed about mistakes, a line each. A sentence that an earlier line
// has in full is cut after its first words.
type printedOnce struct {
	text strings.Builder
	seen map[string]bool
}

// sentence ends like one, or before a list or a remedy.
var sentence = regexp.MustCompile(`.+?(?:[.:;] |$)`)

// shownSentence is how many characters a sentence that is repeated has.
const shownSentence = 24

func (p *printedOnce) add(story string, code int, printed string) {
	printed = sentence.ReplaceAllStringFunc(strings.Join(strings.Fields(printed), " "), func(text string) string {
		if characters := []rune(text); p.seen[text] && len(characters) > shownSentence {
			return string(characters[:shownSentence]) + "… "
		}
		p.seen[text] = true
		return text
	})
	fmt.Fprintf(&p.text, "%s (exits %d) %s\n", story, code, strings.TrimSpace(printed))
}

// checkFormats checks that every other format says what is not judged.
func checkFormats(t *testing.T, m mistake) {
	t.Helper()
	partly := m.judged || strings.Contains(m.args, "--fail-on")
	_, text, _ := analyzed(t, m, "json")
	var result struct {
		Samples struct {
			Judged  bool
			Unsized int
			Share   *float64
			Faults  []struct{ Remedy string }
		}
		Gaps []any
	}
	must.Succeed(t, json.Unmarshal([]byte(text), &result))
	s := result.Samples
	if s.Judged != partly || s.Judged && *s.Share == 1 && s.Unsized == 0 && len(result.Gaps) == 0 {
		t.Errorf("%s: in JSON it is %+v", m.story, s)
	}
	for _, fault := range s.Faults {
		if fault.Remedy == "" {
			t.Errorf("%s: a fault without a remedy", m.story)
		}
	}
	kind := ",not_judged,"
	if partly {
		kind = ",partly_judged,"
	}
	if _, text, _ = analyzed(t, m, "csv"); !strings.Contains(text, kind) && s.Unsized == 0 {
		t.Errorf("%s: in CSV it is %s", m.story, text)
	}
	if _, text, _ = analyzed(t, m, "html"); strings.Contains(text, "any key was hot is not known") == partly {
		t.Errorf("%s: the page does not say what it knows", m.story)
	}
}

// firstAndLast returns the verdict of a table, and what stands below it about what was
// read.
func firstAndLast(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	at := strings.Index(text, " samples counted")
	return first + "\n" + text[strings.LastIndex(text[:at], "\n")+1:]
}

// A file that may not be read is named.
func TestAFileThatMayNotBeRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read all files")
	}
	t.Chdir(t.TempDir())
	must.Succeed(t, os.WriteFile("secret", []byte(request(0)), 0))
	code, out, errs := analyzed(t, mistake{args: "secret"}, "table")
	if code != cli.Failed || out != "" || !strings.Contains(errs, "secret: permission denied") {
		t.Errorf("exit code %d, %s, %s", code, out, errs)
	}
}

// streamMistake is a table's stream that is not what somebody believes, or that they may
// not read.
type streamMistake struct {
	story string
	args  string // beside analyze
	// wrong makes it so. The table orders has some changes, and a stream that was disabled
	// since: its shards have ends, so that a reading of it ends soon.
	wrong  func(*streamstest.Fake)
	env    [2]string // a name and its value
	judged bool
}

func denied(operation string) func(*streamstest.Fake) {
	return func(f *streamstest.Fake) { f.Deny(operation) }
}

func failing(operation, code string) func(*streamstest.Fake) {
	return func(f *streamstest.Fake) { f.Fail(operation, slices.Repeat([]string{code}, 20)...) }
}

// another makes a table whose stream has this view, and was disabled if that is the full
// one.
func another(name, view string, changes int) func(*streamstest.Fake) {
	return func(f *streamstest.Fake) {
		table := f.CreateTable(model.Schema{Name: name, Key: model.Key{Partition: []string{"id"}}})
		if view == "" {
			return
		}
		table.EnableStream(view)
		f.Advance(-time.Second) // what is written in the second in which a reading begins is not read
		for i := range changes {
			_ = table.Put(model.Item{"id": model.S(fmt.Sprint(i))})
		}
		f.Advance(time.Second)
		if view == streamstest.NewAndOldImages {
			table.DisableStream()
		}
	}
}

var streamMistakes = []streamMistake{
	{"a stream that was disabled", "--stream orders", nil, [2]string{}, true},
	{"a stream that was disabled, with nothing in it", "--stream quiet", another("quiet", streamstest.NewAndOldImages, 0), [2]string{}, false},
	{"a stream that shows keys only", "--stream keys --requests 4", another("keys", streamstest.KeysOnly, 5), [2]string{}, true},
	{"no stream", "--stream bare", another("bare", "", 0), [2]string{}, false},
	{"an open stream in which nothing was written", "--stream idle --requests 4", func(f *streamstest.Fake) {
		f.CreateTable(model.Schema{Name: "idle", Key: model.Key{Partition: []string{"id"}}}).EnableStream(streamstest.NewAndOldImages)
	}, [2]string{}, false},
	{"no such table, or the wrong Region", "--stream order", nil, [2]string{}, false},
	{"no Region", "--stream orders", nil, [2]string{"AWS_REGION", ""}, false},
	{"no credentials", "--stream orders", nil, [2]string{"AWS_ACCESS_KEY_ID", ""}, false},
	{"a profile that is not there", "--stream orders", nil, [2]string{"AWS_PROFILE", "shop"}, false},
	{"an expired token", "--stream orders", failing("DescribeTable", "ExpiredTokenException"), [2]string{}, false},
	{"a token that expires on the way", "--stream orders", failing("GetRecords", "ExpiredTokenException"), [2]string{}, false},
	{"credentials of nobody", "--stream orders", failing("DescribeTable", "UnrecognizedClientException"), [2]string{}, false},
	{"nothing answers", "--stream orders", nil, [2]string{"AWS_ENDPOINT_URL", "http://127.0.0.1:1"}, false},
	{"may not describe the table", "--stream orders", denied("DescribeTable"), [2]string{}, false},
	{"may not list streams", "--stream orders", denied("ListStreams"), [2]string{}, false},
	{"may not describe the stream", "--stream orders", denied("DescribeStream"), [2]string{}, false},
	{"may not open shards", "--stream orders", denied("GetShardIterator"), [2]string{}, false},
	{"may not read records", "--stream orders", denied("GetRecords"), [2]string{}, false},
	{"files beside a stream", "--stream orders requests", nil, [2]string{}, false},
	{"more hours than a stream keeps", "--stream orders --last 36h", nil, [2]string{}, false},
	{"hours of no stream", "--last 3h requests", nil, [2]string{}, false},
	{"too many requests", "--stream orders --requests 9", nil, [2]string{}, false},
	{"a mapping of a stream's fields", "--stream orders --map pk=id", nil, [2]string{}, false},
}

// varying are the times of records, which are another every day, and how often a shard was
// asked until it was at its end.
var varying = regexp.MustCompile(`[0-9-]{10}T[0-9:]{8}Z|[0-9]+ GetRecords`)

// mistakesWithStreams runs analyze with each.
func mistakesWithStreams(t *testing.T, golden *printedOnce) {
	t.Helper()
	for _, m := range streamMistakes {
		t.Run(m.story, func(t *testing.T) {
			fake := streamstest.New(streamstest.Options{})
			another("orders", streamstest.NewAndOldImages, 20)(fake)
			if m.wrong != nil {
				m.wrong(fake)
			}
			server := httptest.NewServer(fake)
			defer server.Close()
			golden.addFromAWS(t, server.URL, m.story, m.args, m.env, m.judged)
		})
	}
}

// addFromAWS runs analyze beside a server, and adds what it prints.
func (p *printedOnce) addFromAWS(t *testing.T, url, story, args string, env [2]string, judged bool) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_PROFILE": "", "AWS_DEFAULT_REGION": "",
	} {
		t.Setenv(name, value)
	}
	if env[0] != "" {
		t.Setenv(env[0], env[1])
	}
	var out, errs bytes.Buffer
	code := cli.Run(t.Context(), command(), append([]string{"analyze"}, strings.Fields(args)...), cli.Streams{Out: &out, Err: &errs})
	printed := errs.String()
	if judged {
		printed += firstAndLast(out.String())
	}
	p.add(story, code, varying.ReplaceAllString(printed, "…"))
	if judged != (code == cli.OK) {
		t.Errorf("exit code %d", code)
	}
	if !judged && strings.Contains(out.String(), "No hot keys") {
		t.Errorf("a clean bill of health:\n%s", out.String())
	}
}

// bucketMistake is a bucket that is not what somebody believes, or that they may not read.
type bucketMistake struct {
	story  string
	args   string // beside analyze
	wrong  func(*buckettest.Server)
	env    [2]string
	judged bool
}

func refusing(operation string, f buckettest.Fault) func(*buckettest.Server) {
	return func(s *buckettest.Server) { s.Fail(operation, slices.Repeat([]buckettest.Fault{f}, 20)...) }
}

func holding(key, body string) func(*buckettest.Server) {
	return func(s *buckettest.Server) { s.Put(buckettest.Object{Key: key, Body: []byte(body)}) }
}

var forbidden = buckettest.Fault{Status: 403, Code: "AccessDenied", Message: "Access Denied"}

var bucketMistakes = []bucketMistake{
	{"objects, some of them cut off", "s3://logs/day/", holding("day/z.gz", gzipped(requests(2000))[:60_000]), [2]string{}, true},
	{"objects in another form", "s3://logs/parquet/", holding("parquet/a", "PAR1\x15\x04"), [2]string{}, false},
	{"objects, and the first begins with a broken line", "s3://logs/day/", holding("day/0", "[{\"ts\": broken\n, and more\n"+requests(50)), [2]string{}, true},
	{"objects that were written before", "--last 3h s3://logs/day/", nil, [2]string{}, false},
	{"no such bucket", "s3://log/day/", nil, [2]string{}, false},
	{"no such prefix", "s3://logs/night/", nil, [2]string{}, false},
	{"no name of a bucket", "s3:///day/", nil, [2]string{}, false},
	{"a bucket in another Region", "s3://logs/day/", refusing("ListObjectsV2", buckettest.Fault{Status: 301, Code: "PermanentRedirect", Region: "eu-central-1"}), [2]string{}, false},
	{"may not list objects", "s3://logs/day/", refusing("ListObjectsV2", forbidden), [2]string{}, false},
	{"may not read objects", "s3://logs/day/", refusing("GetObject", forbidden), [2]string{}, false},
	{"an expired token, for objects", "s3://logs/day/", refusing("ListObjectsV2", buckettest.Fault{Status: 400, Code: "ExpiredToken"}), [2]string{}, false},
	{"no credentials, for objects", "s3://logs/day/", nil, [2]string{"AWS_ACCESS_KEY_ID", ""}, false},
	{"no Region, for objects", "s3://logs/day/", nil, [2]string{"AWS_REGION", ""}, false},
	{"hours of files", "--last 3h s3://logs/day/ requests", nil, [2]string{}, false},
}

// mistakesWithBuckets runs analyze with each.
func mistakesWithBuckets(t *testing.T, golden *printedOnce) {
	t.Helper()
	for _, m := range bucketMistakes {
		t.Run(m.story, func(t *testing.T) {
			fake := &buckettest.Server{Bucket: "logs"}
			for i := range 3 {
				fake.Put(buckettest.Object{Key: fmt.Sprint("day/", i+1), Body: []byte(requests(20))})
			}
			if m.wrong != nil {
				m.wrong(fake)
			}
			server := httptest.NewServer(fake)
			defer server.Close()
			golden.addFromAWS(t, server.URL, m.story, m.args, m.env, m.judged)
		})
	}
}
