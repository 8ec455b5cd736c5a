package intake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sample/cloudtrail"
	"github.com/keyheat/keyheat/sample/mapped"
)

// remedies are the remedies for reject reasons that need no look at the line.
var remedies = map[sample.RejectReason]string{
	ReasonDuplicate:         "their id, table and key were counted before: they were delivered twice, or id means something else: --map id= leaves it out",
	ReasonUnreadable:        "it is longer than 64 MiB, which no sample is",
	ReasonTooManyTables:     "there are more tables and indexes than can be judged at once: split the files by table",
	sample.RejectEmpty:      "there is nothing in it",
	sample.RejectTooDeep:    "its JSON nests too deep: map the fields that matter with --map",
	sample.RejectBadUTF8:    "it is not UTF-8: convert the file, as in iconv -f LATIN1 -t UTF-8 FILE",
	sample.RejectBadTable:   "the name of the table or index is none of DynamoDB's: 3 to 255 letters, digits, underscores, hyphens and dots; give the name, not the ARN",
	sample.RejectBadKey:     "the key is empty, or no text, number or binary",
	sample.RejectKeyTooLong: "the key is longer than DynamoDB allows",
	sample.RejectTooLarge:   "the size is more than DynamoDB allows: is it in bytes?",
	sample.RejectBadRead:    "read is one of eventual, strong and transactional; leave a field of that name out with --map read=",
	sample.RejectBadUnits: "its units are no numbers from 0, more than DynamoDB could serve, or write units (wcu) of an operation " +
		"that only reads, whose units are rcu",
	sample.RejectBadRate:    "rate is the share of requests that was sampled, above 0 up to 1; leave a field of that name out with --map rate=",
	sample.RejectBadN:       "n is how many requests a line stands for, a whole number from 1; leave a field of that name out with --map n=",
	sample.RejectBadCalls:   "calls is above 0 and at most n; leave a field of that name out with --map calls=",
	sample.RejectBadRetries: "attempts is a whole number from 1, waited_ms a number, failed true or false",
	sample.RejectBadLost: "conflict and condition_failed are whole numbers of attempts from 0, at most n × attempts together, of a write or a transaction; " +
		"leave fields of these names out with --map conflict=,condition_failed=",
	sample.RejectBadText:         "a field that should be a text is none, or an account or Region holds more than letters, digits, underscores, hyphens and dots",
	sample.RejectBadAttrs:        "attrs are texts by name",
	change.RejectNotChange:       "it is no stream record: a file has one form",
	change.RejectBadImage:        "its image is not DynamoDB JSON",
	cloudtrail.RejectFailed:      "the request was rejected before it cost anything",
	cloudtrail.RejectQuery:       "CloudTrail does not tell the key of a Query",
	cloudtrail.RejectBatch:       "CloudTrail does not tell the keys of a batch",
	cloudtrail.RejectTransaction: "CloudTrail does not tell the keys of this transaction",
	cloudtrail.RejectStatement:   "CloudTrail does not tell the keys of a statement",
	mapped.RejectQuote: fmt.Sprintf("a quote begins in this line and is not closed within %d KiB, or not before the next row: "+
		"close it, or double it where it is part of the text", mapped.MaxRow>>10),
}

// glimpse is a line that was not counted.
type glimpse struct {
	line   []byte
	named  bool // names of its fields may be shown
	fields Fields
}

// advise returns the remedy for a line that was not counted, or a guess at its nature.
func (g *glimpse) advise(reason sample.RejectReason) string {
	if text := remedies[reason]; text != "" {
		return text
	}
	if reason == change.RejectKeySchema && g.named {
		if remedy := keysRemedy(g.line); remedy != "" {
			return remedy
		}
	}
	if hint := change.Hint(reason); hint != "" {
		return hint + ", in the file of --tables"
	}
	switch reason {
	case cloudtrail.RejectNotRequest:
		return otherEvent(g.line)
	case sample.RejectNotObject, sample.RejectSyntax:
		return g.syntaxAdvice()
	case sample.RejectBadTime:
		return g.timeAdvice()
	case sample.RejectBadThrottle:
		return g.throttleAdvice()
	case sample.RejectBadOp:
		return g.valueOf("op") + ", which is no operation of DynamoDB: write it as the API does, such as PutItem, or put, get, update, delete; or name another field, --map op=FIELD, or one operation for all, --map op=const:PutItem"
	case sample.RejectBadBytes:
		return g.valueOf("bytes") + ": the size is a whole number of bytes, so KB have to be multiplied by 1,024"
	case sample.RejectNoTime, sample.RejectNoTable, sample.RejectNoKey, sample.RejectNoOp:
		return g.missingAdvice(reason)
	case mapped.RejectRow:
		return fmt.Sprintf("it has not the %d columns of the line of names, or a quote stands in the midst of a field", len(g.fields.Columns().Names))
	}
	return "it is no sample"
}

// maxValue is how much of a field's value is shown, in bytes.
const maxValue = 40

// valueOf names a field with its value in the line, as far as it may be shown.
func (g *glimpse) valueOf(field string) string {
	subject := wording.Printable(g.fields.FieldName(field))
	if value := shorten([]byte(g.fields.Value(g.line, field)), maxValue); g.named && value != "" {
		subject += " is " + wording.Quote(value)
	}
	return subject
}

// throttleAdvice returns the remedy for a line's throttle.
func (g *glimpse) throttleAdvice() string {
	field := wording.Printable(g.fields.FieldName("throttle"))
	if code := g.fields.Value(g.line, "throttle"); sample.ParseLost(code) == sample.EndedInConflict {
		return field + ": a conflict of transactions is no throttling: count the attempts that it ended in conflict"
	} else if sample.ParseLost(code) == sample.EndedByCondition {
		return field + ": a failed condition is no throttling: count the attempts that it ended in condition_failed"
	}
	return g.valueOf("throttle") + ": leave it out, or read it with --map throttle=" + field + ", if it is true or false, yes or no, 1 or 0, or DynamoDB's reason or exception, " +
		"such as ProvisionedThroughputExceededException. An HTTP status does not tell: 400 has other causes, too"
}

// timeAdvice returns the remedy for a line's time: its likely unit, if it is a number.
func (g *glimpse) timeAdvice() string {
	field, value := g.fields.FieldName("ts"), strings.Replace(g.fields.Value(g.line, "ts"), ",", ".", 1)
	if unit, ok := mapped.TimeUnit(value); ok && unit != "" {
		return fmt.Sprintf("%s looks like %s: --time-unit %s", field, unitNames[unit], unit)
	}
	return field + " is no time with seconds from 2012 on in a known form: write RFC 3339 such as 2026-11-21T12:00:00.123Z, or Unix milliseconds, " +
		"or say how it is written, as in --time-layout '%d/%m/%Y %H:%M:%S', where months may be before days, or --time-unit s"
}

var unitNames = map[mapped.Unit]string{mapped.Seconds: "seconds", mapped.Milliseconds: "milliseconds", mapped.Microseconds: "microseconds", mapped.Nanoseconds: "nanoseconds"}

// tableName is where stream records and CloudTrail's events name their table.
var tableName = regexp.MustCompile(`"tableName"\s*:\s*"([a-zA-Z0-9_.-]{3,255})"`)

// eventSource is where an event of CloudTrail names its service.
var eventSource = regexp.MustCompile(`"eventSource"\s*:\s*"([a-z0-9-]{2,40}\.amazonaws\.com)"`)

// otherEvent describes an event that is no request to an item. A trail of a whole account
// holds such events.
func otherEvent(line []byte) string {
	text := "it is no request to an item"
	if match := eventSource.FindSubmatch(line); match != nil {
		text = "it is an event of " + string(match[1]) + " that is no request to an item, and may stay in the file"
	}
	return text + ": requests are in a trail only if it logs DynamoDB's data events, which is not its default"
}

// keysRemedy names the key attributes of a stream record or an event, for the setting
// that tells partition key and sort key apart; empty unless the line shows one or two.
func keysRemedy(line []byte) string {
	var keys []string
	var first json.RawMessage // others may follow in its line
	if json.NewDecoder(bytes.NewReader(line)).Decode(&first) != nil {
		return ""
	}
	rows := mapped.RowsOf(first)
	if len(rows) == 0 {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(rows[0].Values)) {
		for _, in := range []string{"dynamodb.Keys.", "requestParameters.key."} {
			if key, is := strings.CutPrefix(name, in); is {
				key, _, _ = strings.Cut(key, ".")
				keys = append(keys, wording.Printable(key))
			}
		}
	}
	table := "NAME"
	if match := tableName.FindSubmatch(line); match != nil {
		table = string(match[1])
	}
	switch len(keys) {
	case 1:
		return fmt.Sprintf("its key has one attribute, %s, and the file of --tables says something else of %s: where %s has no sort key write tables: {%s: {partition_key: %s, sort_key: []}}", keys[0], table, table, table, keys[0])
	case 2:
	default:
		return ""
	}
	pk, sk := keys[0], keys[1]
	if nearness(sk) > nearness(pk) {
		pk, sk = sk, pk
	}
	instruction := "No event tells which is the partition key. This does, as HASH: aws dynamodb describe-table --table-name " + table +
		" --query Table.KeySchema. If it is " + pk + ", write"
	named := func(pk, sk string) bool {
		return slices.Contains(partitionNames, plain(pk)) || slices.Contains(sortNames, plain(sk))
	}
	if named(sk, pk) {
		pk, sk = sk, pk
	}
	if named(pk, sk) {
		instruction = "Going by their names alone, write"
	}
	return fmt.Sprintf("its keys are %s and %s. %s in a file for --tables: tables: {%s: {partition_key: %s, sort_key: %s}}", pk, sk, instruction, table, pk, sk)
}

// partitionNames and sortNames are names of key attributes that identify their role.
var (
	partitionNames = []string{"pk", "partitionkey", "hashkey", "hash"}
	sortNames      = []string{"sk", "sortkey", "rangekey", "range"}
)

// missing names the field that a reason finds missing, and describes it.
var missing = map[sample.RejectReason][2]string{
	sample.RejectNoTime: {"ts", "time (ts)"}, sample.RejectNoTable: {"table", "table (table)"}, sample.RejectNoKey: {"pk", "partition key (pk)"},
	sample.RejectNoOp: {"op", "operation (op) and no units (rcu, wcu)"},
}

// noRequests are objects without requests, by a field that only they have.
var noRequests = []struct{ field, text string }{
	{"digestStartTime", "it is a digest of CloudTrail, which holds no events: leave these files out"},
	{"Item", "it is an item of a table's export, which tells of no requests"},
	{"AggregationStatistic", "it is a report of Contributor Insights, which has no single requests: --contributor-insights TABLE reads and judges those"},
}

// missingAdvice returns the remedy for a line that lacks a field.
func (g *glimpse) missingAdvice(reason sample.RejectReason) string {
	var top map[string]json.RawMessage
	if json.Unmarshal(g.line, &top) == nil {
		for _, other := range noRequests {
			if top[other.field] != nil && (other.field != "Item" || len(top) == 1) {
				return other.text
			}
		}
	}
	field, text := missing[reason][0], "it has no "+missing[reason][1]
	theirs := g.fields.FieldName(field)
	op, _ := sample.ParseOp(g.fields.Value(g.line, "op"))
	switch {
	case reason == sample.RejectNoOp && op != sample.OpUnknown:
		return fmt.Sprintf("its operation is %s: a statement does not tell reads from writes. Map its units (rcu, wcu), or its kind with --map op=const:GetItem or op=const:UpdateItem", op)
	case reason == sample.RejectNoTable:
		return "it names no table: say which with --table NAME"
	case theirs != field && g.named:
		return text + ": " + wording.Printable(theirs) + " is empty in it, or not there"
	}
	return text + ": say which field it is with --map " + field + "=FIELD"
}

// syntaxAdvice describes a line that is no object of JSON.
func (g *glimpse) syntaxAdvice() string {
	text := bytes.TrimSpace(g.line)
	switch {
	case json.Valid(text):
		return "it is JSON, but no object: a sample is one object a line"
	case bytes.IndexByte(text, 0) >= 0:
		return "it is binary: give JSON, CSV or TSV, plain or as gzip or zstd"
	case !utf8.Valid(text):
		return remedies[sample.RejectBadUTF8]
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[{")):
		return "its JSON is broken, or cut off"
	}
	return "it has no JSON object and no pairs such as pk=a, and is no row of CSV or TSV, whose first line must name the columns"
}

// isFigure reports whether a cell is a number or a time, as no column is called.
func isFigure(cell string) bool { return cell != "" && strings.Trim(cell, "0123456789.:-+TZ ") == "" }
