package intake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sample/cloudtrail"
	"github.com/keyheat/keyheat/sample/mapped"
)

// remedies are what to do about reasons that need no look at the line.
var remedies = map[sample.Reason]string{
	ReasonUnreadable:        "it is longer than 1 MiB, which no sample is",
	ReasonTooManyTables:     "there are more tables and indexes than can be judged at once: split the files by table",
	sample.ReasonEmpty:      "there is nothing in it",
	sample.ReasonTooDeep:    "its JSON nests too deep: map the fields that matter with --map",
	sample.ReasonBadUTF8:    "it is not UTF-8: convert the file, as in iconv -f LATIN1 -t UTF-8 FILE",
	sample.ReasonBadTable:   "the table's name is no text of up to 255 bytes",
	sample.ReasonBadOp:      "the operation is none of DynamoDB's: write it as the API does, such as PutItem, or name another field, --map op=FIELD",
	sample.ReasonBadKey:     "the key is empty, or no text, number or binary",
	sample.ReasonKeyTooLong: "the key is longer than DynamoDB allows",
	sample.ReasonBadBytes:   "the size is no whole number of bytes from 0",
	sample.ReasonTooLarge:   "the size is more than DynamoDB allows: is it in bytes?",
	sample.ReasonBadRead:    "read is one of eventual, strong and transactional; leave a field of that name out with --map read=",
	sample.ReasonBadUnits:   "its units are no numbers from 0, or more than DynamoDB could serve",
	sample.ReasonBadRate:    "rate is the share of requests that was sampled, above 0 up to 1; leave a field of that name out with --map rate=",
	sample.ReasonBadN:       "n is how many requests a line stands for, a whole number from 1; leave a field of that name out with --map n=",
	sample.ReasonBadCalls:   "calls is above 0 and at most n; leave a field of that name out with --map calls=",
	sample.ReasonBadRetries: "attempts is a whole number from 1, waited_ms a number, failed true or false",
	sample.ReasonBadText:    "a field that should be a text is none",
	sample.ReasonBadAttrs:   "attrs are texts by name",
	change.ReasonNotChange:  "it is no stream record: a file has one form",
	change.ReasonBadImage:   "its image is not DynamoDB JSON",
	cloudtrail.ReasonFailed: "the request was rejected before it cost anything",
	cloudtrail.ReasonQuery:  "CloudTrail does not tell the key of a Query",
	cloudtrail.ReasonBatch:  "CloudTrail does not tell the keys of a batch",
	cloudtrail.ReasonNotRequest: "it is no data event of DynamoDB: the trail must log DynamoDB's data events, " +
		"which is not its default",
	cloudtrail.ReasonTransaction: "CloudTrail does not tell the keys of this transaction",
	cloudtrail.ReasonStatement:   "CloudTrail does not tell the keys of a statement",
	mapped.ReasonQuote: fmt.Sprintf("a quote begins in this line and is not closed within %d KiB, or not before the next row: "+
		"close it, or double it where it is part of the text", mapped.MaxRow>>10),
}

// Remedy says what to do about a line that could not be counted, or what it seems to be.
// It shows names of the line's fields only with named. Fields is what they are called, nil
// for the names of Keyheat JSON.
func Remedy(reason sample.Reason, line []byte, named bool, of Fields) string {
	if of == nil {
		of = own{}
	}
	if text := remedies[reason]; text != "" {
		return text
	}
	if reason == change.ReasonKeySchema && named {
		if remedy := keysRemedy(line); remedy != "" {
			return remedy
		}
	}
	if hint := change.Hint(reason); hint != "" {
		return hint + ", in the file of --tables"
	}
	switch reason {
	case sample.ReasonNotObject:
		if json.Valid(line) {
			return "it is JSON, but no object: a sample is one object a line"
		}
		return syntaxRemedy(line, named) // a line that begins as JSON would
	case sample.ReasonSyntax:
		return syntaxRemedy(line, named)
	case sample.ReasonBadTime:
		return timeRemedy(of.Called("ts"), line)
	case sample.ReasonNoTime, sample.ReasonNoTable, sample.ReasonNoKey, sample.ReasonNoOp:
		return missingRemedy(reason, line, named, of)
	case mapped.ReasonRow:
		return fmt.Sprintf("it has not the %d columns of the line of names, or a quote stands in the midst of a field", len(of.Columns()))
	}
	return "it is no sample"
}

// tableName is where stream records and CloudTrail's events name their table.
var tableName = regexp.MustCompile(`"tableName"\s*:\s*"([a-zA-Z0-9_.-]{3,255})"`)

// keysRemedy says which key attributes a stream record or an event has, for the file that
// says which is which; nothing where the line does not show two.
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
	if len(keys) != 2 {
		return ""
	}
	table := "NAME"
	if match := tableName.FindSubmatch(line); match != nil {
		table = string(match[1])
	}
	return fmt.Sprintf("its keys are %s: say which is which in a file for --tables, as in tables: {%s: {partition_key: %s, sort_key: %s}}",
		keys, table, wording.Printable(keys[0]), wording.Printable(keys[1]))
}

// fieldOf is the field that a reason finds missing.
var fieldOf = map[sample.Reason]string{
	sample.ReasonNoTime: "ts", sample.ReasonNoTable: "table", sample.ReasonNoKey: "pk", sample.ReasonNoOp: "op",
}

// missing says it in words.
var missing = map[sample.Reason]string{
	sample.ReasonNoTime: "time (ts)", sample.ReasonNoTable: "table (table)", sample.ReasonNoKey: "partition key (pk)",
	sample.ReasonNoOp: "operation (op) and no units (rcu, wcu)",
}

func missingRemedy(reason sample.Reason, line []byte, named bool, of Fields) string {
	names := Names(of.Columns())
	if len(names) == 0 && bytes.IndexByte(line, '{') >= 0 {
		names = fieldsOf(line[bytes.IndexByte(line, '{'):])
	}
	switch {
	case names.has("digestStartTime"):
		return "it is a digest of CloudTrail, which holds no events: leave these files out"
	case names.has("Item") && len(names) == 1:
		return "it is an item of a table's export, which tells of no requests"
	case names.has("KeyLabels") || names.has("Contributors"):
		return "it is a report of Contributor Insights, which has no single requests: --contributor-insights TABLE reads and judges those"
	case names.has("Datapoints") || names.has("MetricDataResults"):
		return "these are CloudWatch's figures, which know no keys"
	case reason == sample.ReasonNoTable && (names.has(of.Called("pk")) || !named):
		return "it names no table: say which with --table NAME"
	}
	what := "it has no " + missing[reason]
	switch theirs := of.Called(fieldOf[reason]); {
	case theirs != fieldOf[reason] && names.has(theirs):
		return what + ": " + wording.Printable(theirs) + " is empty in it"
	case theirs != fieldOf[reason] && named && len(names) > 0:
		return what + ": there is no " + wording.Printable(theirs) + " in " + names.String() + ": name another with --map " + fieldOf[reason] + "=FIELD"
	}
	if !named || len(names) == 0 {
		return what + ": say which field it is with --map"
	}
	return what + "; its fields are " + names.String() + ": try " + names.suggest()
}

// digits are numbers as times are, whole or with a fraction.
var digits = regexp.MustCompile(`[0-9]{9,19}`)

// timeRemedy says what is wrong with a time, which stands in the field of that name: in
// which unit it seems to be.
func timeRemedy(field string, line []byte) string {
	from := line
	if at := bytes.Index(line, []byte(`"`+field+`"`)); at >= 0 {
		from = line[at:]
	}
	unit := map[int]string{9: "s", 10: "s", 13: "ms", 16: "us", 19: "ns"}
	name := map[string]string{"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
	for _, of := range [][]byte{from, line} {
		for _, number := range digits.FindAll(of, 8) {
			if u := unit[len(number)]; u != "" {
				return fmt.Sprintf("%s looks like %s: --time-unit %s", field, name[u], u)
			}
		}
	}
	return field + " is no time that is known: write Unix milliseconds, another --time-unit, or RFC 3339 such as 2026-11-21T12:00:00.123Z"
}

// syntaxRemedy says what a line that is no JSON seems to be.
func syntaxRemedy(line []byte, named bool) string {
	text := bytes.TrimSpace(line)
	header, inColumns := mapped.ColumnsOf(text)
	columns := Names(header.Names)
	switch {
	case bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line) && bytes.IndexAny(line, "{,\t") != 0 && binary(line):
		return "it is binary: give JSON, CSV or TSV, plain or as gzip or zstd"
	case bytes.HasPrefix(text, []byte("{'")):
		return "it is Python's way to print a dict and no JSON: write it with json.dumps"
	case len(text) > 0 && text[0] == '{', bytes.HasPrefix(text, []byte("[{")):
		if bytes.HasSuffix(text, []byte("},")) {
			return "a comma follows the object: write an object a line, or an array in brackets"
		}
		return "its JSON is broken, or cut off"
	case bytes.HasPrefix(text, []byte("<")):
		return "it is XML or HTML: give JSON, CSV or TSV"
	case bytes.IndexByte(text, '{') > 0 && bytes.HasSuffix(text, []byte("}")):
		return "it is JSON behind other text, as in a log: " + jsonBehind(text, named)
	case inColumns && slices.ContainsFunc(columns, isFigure):
		return fmt.Sprintf("it is a row of %s: the first line must name the columns", kindOf(header.Separator))
	case inColumns && named:
		return fmt.Sprintf("these are %s columns: %s", kindOf(header.Separator), columns.suggest())
	case inColumns:
		return fmt.Sprintf("these are %s columns: name them with --map, as in --map pk=COLUMN", kindOf(header.Separator))
	}
	return "it is no JSON object, and no row of CSV or TSV under a line of names"
}

// isFigure reports whether a cell is a number or a time, as no column is called.
func isFigure(cell string) bool { return cell != "" && strings.Trim(cell, "0123456789.:-+TZ ") == "" }

func kindOf(separator rune) string {
	if separator == '\t' {
		return "TSV"
	}
	return "CSV"
}

func jsonBehind(text []byte, named bool) string {
	names := fieldsOf(text[bytes.IndexByte(text, '{'):])
	if !named || len(names) == 0 {
		return "name its fields with --map"
	}
	return names.suggest()
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
