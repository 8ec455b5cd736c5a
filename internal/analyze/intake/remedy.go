package intake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
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
	ReasonTooManyTables:     "there are more tables and indexes than can be judged at once: split the files by table",
	sample.RejectEmpty:      "there is nothing in it",
	sample.RejectTooDeep:    "its JSON nests too deep: map the fields that matter with --map",
	sample.RejectBadUTF8:    "it is not UTF-8: convert the file, as in iconv -f LATIN1 -t UTF-8 FILE",
	sample.RejectBadTable:   "the name of the table or index is none of DynamoDB's: up to 255 letters, digits, underscores, hyphens and dots; give the name, not the ARN",
	sample.RejectBadOp:      "the operation is none of DynamoDB's: write it as the API does, such as PutItem, or name another field, --map op=FIELD",
	sample.RejectBadKey:     "the key is empty, or no text, number or binary",
	sample.RejectKeyTooLong: "the key is longer than DynamoDB allows",
	sample.RejectBadBytes:   "the size is no whole number of bytes from 0",
	sample.RejectTooLarge:   "the size is more than DynamoDB allows: is it in bytes?",
	sample.RejectBadRead:    "read is one of eventual, strong and transactional; leave a field of that name out with --map read=",
	sample.RejectBadUnits: "its units are no numbers from 0, more than DynamoDB could serve, or write units (wcu) of an operation " +
		"that only reads, whose units are rcu",
	sample.RejectBadRate:         "rate is the share of requests that was sampled, above 0 up to 1; leave a field of that name out with --map rate=",
	sample.RejectBadN:            "n is how many requests a line stands for, a whole number from 1; leave a field of that name out with --map n=",
	sample.RejectBadCalls:        "calls is above 0 and at most n; leave a field of that name out with --map calls=",
	sample.RejectBadRetries:      "attempts is a whole number from 1, waited_ms a number, failed true or false",
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

// dataEvents are the reject reasons of requests in a trail, with the number of request
// fields in them: the trail is known to log them.
var dataEvents = map[sample.RejectReason]int{
	cloudtrail.RejectFailed: 3, cloudtrail.RejectQuery: 3, cloudtrail.RejectBatch: 3, cloudtrail.RejectTransaction: 3, cloudtrail.RejectStatement: 3,
}

// advice is the remedy for a line.
type advice struct {
	text string
	// fits is the number of a request's fields that the line seems to have, 0 to 3. It is
	// 3 if the text names all that the line lacks.
	fits int
	// columns is the number of columns of a line that names the ones below it; 0 for
	// another line.
	columns int
	// row is of how many columns the line is where it is not the line of names; 0 for another
	// line.
	row int
}

// glimpse is a line that was not counted, and its neighbourhood.
type glimpse struct {
	line, behind []byte
	inside       bool // the line is known not to be a file's first
	inJSON       bool // others of the file have objects of JSON
	named        bool // names of its fields may be shown
	of           Fields
}

// Remedy returns the remedy for a line that was not counted, or a guess at its nature.
func Remedy(reason sample.RejectReason, line []byte, named bool, of Fields) string {
	return adviceOn(reason, glimpse{line: line, named: named, of: of}).text
}

func adviceOn(reason sample.RejectReason, g glimpse) advice {
	if g.of == nil {
		g.of = own{}
	}
	if text := remedies[reason]; text != "" {
		return advice{text: text, fits: dataEvents[reason]}
	}
	if reason == change.RejectKeySchema && g.named {
		if remedy := keysRemedy(g.line); remedy != "" {
			return advice{text: remedy, fits: 3}
		}
	}
	if hint := change.Hint(reason); hint != "" {
		return advice{text: hint + ", in the file of --tables"}
	}
	switch reason {
	case cloudtrail.RejectNotRequest:
		return advice{text: otherEvent(g.line)}
	case ReasonUnreadable:
		if a, is := aroundList(g.line); is {
			return a
		}
		return advice{text: "it is longer than 1 MiB, which no sample is"}
	case sample.RejectNotObject:
		if json.Valid(g.line) {
			return advice{text: "it is JSON, but no object: a sample is one object a line"}
		}
		return syntaxAdvice(g) // a line that begins as JSON would
	case sample.RejectSyntax:
		return syntaxAdvice(g)
	case sample.RejectBadTime:
		return timeAdvice(g)
	case sample.RejectBadThrottle:
		return throttleAdvice(g)
	case sample.RejectNoTime, sample.RejectNoTable, sample.RejectNoKey, sample.RejectNoOp:
		return missingAdvice(reason, g)
	case mapped.RejectRow:
		return advice{text: fmt.Sprintf("it has not the %d columns of the line of names, or a quote stands in the midst of a field", len(g.of.Columns()))}
	}
	return advice{text: "it is no sample"}
}

// throttleAdvice returns the remedy for a line's throttle.
func throttleAdvice(g glimpse) advice {
	field, value := wording.Printable(g.of.FieldName("throttle")), g.of.Value(g.line, "throttle")
	if reason, known := sample.ParseThrottle(value); known && reason == "" {
		return advice{text: field + " says that the request was not throttled, and is there for those that were: leave it out, or read it with --map throttle=" + field, fits: 3}
	}
	if value = shorten([]byte(value), maxValue); g.named && value != "" {
		field += " is " + wording.Quote(value) + ", which"
	}
	return advice{text: field + " does not tell whether the request was throttled: it may be true or false, yes or no, 1 or 0, none or nothing, or DynamoDB's reason or exception, " +
		"such as ProvisionedThroughputExceededException. An HTTP status is none of these: 400 has other causes, too", fits: 3}
}

// maxValue is how much of a field's value is shown, in bytes.
const maxValue = 40

// aroundArray is an object that begins with a list of objects, as AWS's commands print them.
var aroundArray = regexp.MustCompile(`^\s*\{\s*"([A-Za-z_]+)"\s*:\s*\[\s*\{`)

// aroundList returns the remedy for an object whose elements are the samples.
func aroundList(line []byte) (a advice, is bool) {
	match := aroundArray.FindSubmatch(line)
	if match == nil {
		return a, false
	}
	return advice{text: "it is one object around a list: give the list alone, as in jq -c '." + string(match[1]) + "[]' FILE | reporter analyze -"}, true
}

// tableName is where stream records and CloudTrail's events name their table.
var tableName = regexp.MustCompile(`"tableName"\s*:\s*"([a-zA-Z0-9_.-]{3,255})"`)

// eventSource is where an event of CloudTrail names its service.
var eventSource = regexp.MustCompile(`"eventSource"\s*:\s*"([a-z0-9-]{2,40}\.amazonaws\.com)"`)

// otherEvent describes an event that is no request to a table. A trail of a whole account
// holds such events.
func otherEvent(line []byte) string {
	const needs = "requests to tables are in a trail only if it logs DynamoDB's data events, which is not its default"
	match := eventSource.FindSubmatch(line)
	switch {
	case match == nil:
		return "it is no data event of DynamoDB: " + needs
	case string(match[1]) == "dynamodb.amazonaws.com":
		return "it is an event of DynamoDB about a table as a whole, and may stay in the file: " + needs
	}
	return "it is an event of " + string(match[1]) + ", and may stay in the file: " + needs
}

// keysRemedy names the key attributes of a stream record or an event, for the setting
// that tells partition key and sort key apart; empty unless the line shows one or two.
func keysRemedy(line []byte) string {
	var keys Names
	for _, name := range fieldsOf(line) {
		for _, in := range []string{"dynamodb.Keys.", "requestParameters.key."} {
			if key, is := strings.CutPrefix(name, in); is {
				key, _, _ = strings.Cut(key, ".")
				keys = append(keys, key)
			}
		}
	}
	table := "NAME"
	if match := tableName.FindSubmatch(line); match != nil {
		table = string(match[1])
	}
	switch len(keys) {
	case 1:
		key := wording.Printable(keys[0])
		return fmt.Sprintf("its key has one attribute, %s, and the file of --tables says something else of %s: where %s has no sort key write tables: {%s: {partition_key: %s, sort_key: []}}", key, table, table, table, key)
	case 2:
	default:
		return ""
	}
	which := "No event tells which is the partition key. This does, as HASH: aws dynamodb describe-table --table-name " + table +
		" --query Table.KeySchema. If it is " + wording.Printable(keys[0]) + ", write"
	for range 2 {
		if len(keys[:1].similarName(partitionNames, nil))+len(keys[1:].similarName(sortNames, nil)) > 0 {
			which = "Going by their names alone, write"
			break
		}
		slices.Reverse(keys)
	}
	return fmt.Sprintf("its keys are %s. %s in a file for --tables: tables: {%s: {partition_key: %s, sort_key: %s}}",
		keys, which, table, wording.Printable(keys[0]), wording.Printable(keys[1]))
}

// partitionNames and sortNames are names of key attributes that identify their role.
var (
	partitionNames = []string{"pk", "partitionkey", "hashkey", "hash"}
	sortNames      = []string{"sk", "sortkey", "rangekey", "range"}
)

// fieldOf is the field that a reason finds missing.
var fieldOf = map[sample.RejectReason]string{
	sample.RejectNoTime: "ts", sample.RejectNoTable: "table", sample.RejectNoKey: "pk", sample.RejectNoOp: "op",
}

// missing names the lacking field in words.
var missing = map[sample.RejectReason]string{
	sample.RejectNoTime: "time (ts)", sample.RejectNoTable: "table (table)", sample.RejectNoKey: "partition key (pk)",
	sample.RejectNoOp: "operation (op) and no units (rcu, wcu)",
}

// lookAmong follows a mapping that was guessed by names.
const lookAmong = "; look among all names for units (wcu, rcu), sizes (bytes) and a sampling rate, too"

func missingAdvice(reason sample.RejectReason, g glimpse) advice {
	names, of := Names(g.of.Columns()), g.of
	if at := bytes.IndexByte(g.line, '{'); len(names) == 0 && at >= 0 {
		names = fieldsOf(g.line[at:])
	}
	_, fits := names.suggest()
	for _, field := range []string{"ts", "pk"} {
		if theirs := of.FieldName(field); theirs != field && names.has(theirs) {
			fits++ // what was said counts for as much as what a name tells
		}
	}
	say := func(text string) advice { return advice{text: text, fits: min(fits, 3)} }
	if a, is := aroundList(g.line); is && g.named && fits == 0 {
		return a
	}
	switch {
	case names.has("digestStartTime"):
		return advice{text: "it is a digest of CloudTrail, which holds no events: leave these files out"}
	case names.has("Item") && len(names) == 1:
		return advice{text: "it is an item of a table's export, which tells of no requests"}
	case names.has("KeyLabels") || names.has("AggregationStatistic"):
		return advice{text: "it is a report of Contributor Insights, which has no single requests: --contributor-insights TABLE reads and judges those"}
	case reason == sample.RejectNoTable && (names.has(of.FieldName("pk")) || !g.named):
		return say("it names no table: say which with --table NAME")
	}
	what := "it has no " + missing[reason]
	switch theirs := of.FieldName(fieldOf[reason]); {
	case theirs != fieldOf[reason] && names.has(theirs):
		return say(what + ": " + wording.Printable(theirs) + " is empty in it")
	case theirs != fieldOf[reason] && g.named && len(names) > 0:
		return say(what + ": there is no " + wording.Printable(theirs) + " in " + names.String() + ": name another with --map " + fieldOf[reason] + "=" + cmp.Or(names.guesses()[fieldOf[reason]], "FIELD"))
	}
	if !g.named || len(names) == 0 {
		return say(what + ": say which field it is with --map")
	}
	suggested, _ := names.suggest()
	return say(what + "; its fields are " + names.String() + ": try " + suggested + lookAmong)
}

// syntaxAdvice describes a line that is no JSON.
func syntaxAdvice(g glimpse) advice {
	text := bytes.TrimSpace(g.line)
	header, inColumns := mapped.ColumnsOf(text)
	columns := Names(header.Names)
	switch {
	case bytes.IndexByte(g.line, 0) >= 0 || !utf8.Valid(g.line) && bytes.IndexAny(g.line, "{,\t") != 0 && binary(g.line):
		return advice{text: "it is binary: give JSON, CSV or TSV, plain or as gzip or zstd"}
	case len(text) > 0 && text[0] == '{', bytes.HasPrefix(text, []byte("[{")):
		return advice{text: "its JSON is broken, or cut off"}
	case behindText(text) != nil:
		return behindAdvice(text[:bytes.IndexByte(text, '{')], behindText(text), g.named)
	case g.inJSON:
		return advice{text: "it is text without JSON in a file that has JSON in other lines: what it tells of is not counted"}
	case inColumns && g.inside, inColumns && slices.ContainsFunc(columns, isFigure):
		return advice{text: fmt.Sprintf("it is a row of %s: the first line must name the columns", kindOf(header.Separator)), row: len(columns)}
	case inColumns && !utf8.Valid(g.line):
		return advice{text: remedies[sample.RejectBadUTF8], columns: len(columns)}
	case inColumns && g.named:
		return columnsAdvice(&header, g.behind)
	case inColumns:
		return advice{text: fmt.Sprintf("these are %s columns: name them with --map, as in --map pk=COLUMN", kindOf(header.Separator)), columns: len(columns)}
	}
	return advice{text: "it is no JSON object, and no row of CSV or TSV under a line of names"}
}

// columnsAdvice proposes a mapping for a line of names, with all of them where some have to be
// chosen from.
func columnsAdvice(header *mapped.Columns, behind []byte) advice {
	names := Names(header.Names).withCells(header, behind)
	suggested, fits := names.suggest()
	what := fmt.Sprintf("these are %s columns", kindOf(header.Separator))
	if strings.Contains(suggested, "=FIELD") {
		what += ", " + names.String()
		suggested += " with one of them in the place of each FIELD"
	}
	return advice{text: what + ": " + suggested + lookAmong, fits: fits, columns: len(header.Names)}
}

// behindText returns the JSON object that a line ends with, behind other text; nil for none.
func behindText(line []byte) []byte {
	at := bytes.IndexByte(line, '{')
	if at < 1 || !bytes.HasSuffix(line, []byte("}")) {
		return nil
	}
	return line[at:]
}

func behindAdvice(before, object []byte, named bool) advice {
	const what = "it is JSON behind other text, as in a log: "
	names := fieldsOf(object)
	if !named || len(names) == 0 {
		return advice{text: what + "name its fields with --map"}
	}
	suggested, fits := names.suggest()
	if names.similarName(synonyms[0].names, nil) == "" && bytes.ContainsAny(before, "0123456789") {
		suggested, fits = strings.Replace(suggested, "ts=FIELD", "ts=begin:", 1), fits+1
	}
	return advice{text: what + suggested + lookAmong, fits: fits}
}

// isFigure reports whether a cell is a number or a time, as no column is called.
func isFigure(cell string) bool { return cell != "" && strings.Trim(cell, "0123456789.:-+TZ ") == "" }

func kindOf(separator rune) string {
	if separator == '\t' {
		return "TSV"
	}
	return "CSV"
}

// binary reports whether much of a text is no text.
func binary(text []byte) bool {
	odd := 0
	for _, r := range string(text) {
		if r == utf8.RuneError || r < ' ' && r != '\t' && r != '\r' {
			odd++
		}
	}
	return odd*4 > len(text)
}
