package intake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
	sample.RejectBadTable:   "the name of the table or index is none of DynamoDB's: 3 to 255 letters, digits, underscores, hyphens and dots; give the name, not the ARN",
	sample.RejectBadOp:      "the operation is none of DynamoDB's: write it as the API does, such as PutItem, or name another field, --map op=FIELD, or one operation for all, --map op=const:PutItem",
	sample.RejectBadKey:     "the key is empty, or no text, number or binary",
	sample.RejectKeyTooLong: "the key is longer than DynamoDB allows",
	sample.RejectBadBytes:   "the size is no whole number of bytes from 0",
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
}

// glimpse is a line that was not counted, and its neighbourhood.
type glimpse struct {
	line, behind []byte
	first        bool // the line may be the first of its file, below a preamble
	named        bool // names of its fields may be shown
	fields       Fields
}

// advise returns the remedy for a line that was not counted, or a guess at its nature.
func (g *glimpse) advise(reason sample.RejectReason) advice {
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
		return advice{text: cmp.Or(listRemedy(g.line), "it is longer than 1 MiB, which no sample is")}
	case sample.RejectNotObject, sample.RejectSyntax:
		return g.syntaxAdvice()
	case sample.RejectBadTime:
		return g.timeAdvice()
	case sample.RejectBadThrottle:
		return g.throttleAdvice()
	case sample.RejectNoTime, sample.RejectNoTable, sample.RejectNoKey, sample.RejectNoOp:
		return g.missingAdvice(reason)
	case mapped.RejectRow:
		return advice{text: fmt.Sprintf("it has not the %d columns of the line of names, or a quote stands in the midst of a field", len(g.fields.Columns()))}
	}
	return advice{text: "it is no sample"}
}

// maxValue is how much of a field's value is shown, in bytes.
const maxValue = 40

// throttleAdvice returns the remedy for a line's throttle.
func (g *glimpse) throttleAdvice() advice {
	field := wording.Printable(g.fields.FieldName("throttle"))
	subject := field
	if code := g.fields.Value(g.line, "throttle"); sample.ParseLost(code) == sample.EndedInConflict {
		return advice{text: field + ": a conflict of transactions is no throttling: count the attempts that it ended in conflict", fits: 3}
	} else if sample.ParseLost(code) == sample.EndedByCondition {
		return advice{text: field + ": a failed condition is no throttling: count the attempts that it ended in condition_failed", fits: 3}
	}
	if value := shorten([]byte(g.fields.Value(g.line, "throttle")), maxValue); g.named && value != "" {
		subject += " is " + wording.Quote(value)
	}
	return advice{text: subject + ": leave it out, or read it with --map throttle=" + field + ", if it is true or false, yes or no, 1 or 0, or DynamoDB's reason or exception, " +
		"such as ProvisionedThroughputExceededException. An HTTP status does not tell: 400 has other causes, too", fits: 3}
}

// timeUnits are the units of numeric times, the longest first.
var timeUnits = []struct {
	flag, name string
	perSecond  float64
}{{"s", "seconds", 1}, {"ms", "milliseconds", 1e3}, {"us", "microseconds", 1e6}, {"ns", "nanoseconds", 1e9}}

// DynamoDB began in 2012. A number between these seconds, in a unit of timeUnits, is a time
// that could be meant; no number is one in two units.
const firstSecond, lastSecond = 1_325_376_000, 4_102_444_800

// timeAdvice returns the remedy for a line's time: its likely unit, if it is a number.
func (g *glimpse) timeAdvice() advice {
	field, value := g.fields.FieldName("ts"), strings.TrimSpace(g.fields.Value(g.line, "ts"))
	number, _ := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64)
	for _, unit := range timeUnits {
		if seconds := number / unit.perSecond; seconds >= firstSecond && seconds <= lastSecond {
			return advice{text: fmt.Sprintf("%s looks like %s: --time-unit %s", field, unit.name, unit.flag), fits: 3}
		}
	}
	return advice{text: field + " is no time with seconds from 2012 on in a known form: write RFC 3339 such as 2026-11-21T12:00:00.123Z, or Unix milliseconds, " +
		"or say how it is written, as in --time-layout '%d/%m/%Y %H:%M:%S', where months may be before days, or --time-unit s", fits: 1}
}

// aroundArray is an object that begins with a list of objects, as AWS's commands print them.
var aroundArray = regexp.MustCompile(`^\s*\{\s*"([A-Za-z_]+)"\s*:\s*\[\s*\{`)

// listRemedy returns the remedy for an object whose elements are the samples, or "".
func listRemedy(line []byte) string {
	match := aroundArray.FindSubmatch(line)
	if match == nil {
		return ""
	}
	return "it is one object around a list: give the list alone, as in jq -c '." + string(match[1]) + "[]' FILE | reporter analyze -"
}

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
	var keys Names
	for _, name := range fieldsOf(line) {
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
	return fmt.Sprintf("its keys are %s, %s. %s in a file for --tables: tables: {%s: {partition_key: %s, sort_key: %s}}", pk, sk, instruction, table, pk, sk)
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

// lookAmong follows a mapping that was guessed by names.
const lookAmong = "; look among all names for units (wcu, rcu), sizes (bytes) and a sampling rate, too"

// noRequests are objects without requests, by a field that only they have.
var noRequests = []struct{ field, text string }{
	{"digestStartTime", "it is a digest of CloudTrail, which holds no events: leave these files out"},
	{"Item", "it is an item of a table's export, which tells of no requests"},
	{"AggregationStatistic", "it is a report of Contributor Insights, which has no single requests: --contributor-insights TABLE reads and judges those"},
}

// missingAdvice returns the remedy for a line that lacks a field.
func (g *glimpse) missingAdvice(reason sample.RejectReason) advice {
	names := Names(g.fields.Columns())
	if at := bytes.IndexByte(g.line, '{'); len(names) == 0 && at >= 0 {
		names = fieldsOf(g.line[at:])
	}
	suggested, fits := names.suggest()
	for _, field := range []string{"ts", "pk"} {
		if theirs := g.fields.FieldName(field); theirs != field && names.has(theirs) {
			fits++ // a mapped name counts for as much as a telling one
		}
	}
	for _, other := range noRequests {
		if names.has(other.field) && fits < 2 {
			return advice{text: other.text}
		}
	}
	if list := listRemedy(g.line); list != "" && g.named && fits == 0 {
		return advice{text: list}
	}
	field, text := missing[reason][0], "it has no "+missing[reason][1]
	theirs := g.fields.FieldName(field)
	op, _ := sample.ParseOp(g.fields.Value(g.line, "op"))
	switch {
	case reason == sample.RejectNoOp && op != sample.OpUnknown:
		text = fmt.Sprintf("its operation is %s: a statement does not tell reads from writes. Map its units (rcu, wcu), or its kind with --map op=const:GetItem or op=const:UpdateItem", op)
	case reason == sample.RejectNoTable && (names.has(g.fields.FieldName("pk")) || !g.named):
		text = "it names no table: say which with --table NAME"
	case theirs != field && names.has(theirs):
		text += ": " + wording.Printable(theirs) + " is empty in it"
	case !g.named || len(names) == 0:
		text += ": say which field it is with --map"
	case theirs != field:
		text += ": there is no " + wording.Printable(theirs) + " in " + names.String() + ": name another with --map " + field + "=" + cmp.Or(names.guesses()[field], "FIELD")
	default:
		text += "; its fields are " + names.String() + ": try " + suggested + lookAmong
	}
	return advice{text: text, fits: min(fits, 3)}
}

// syntaxAdvice describes a line that is no object of JSON.
func (g *glimpse) syntaxAdvice() advice {
	text := bytes.TrimSpace(g.line)
	header, inColumns := mapped.ColumnsOf(text)
	next, _, _ := bytes.Cut(g.behind, []byte("\n"))
	switch {
	case json.Valid(text):
		return advice{text: "it is JSON, but no object: a sample is one object a line"}
	case bytes.IndexByte(text, 0) >= 0:
		return advice{text: "it is binary: give JSON, CSV or TSV, plain or as gzip or zstd"}
	case !utf8.Valid(text):
		return advice{text: remedies[sample.RejectBadUTF8], fits: 1}
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[{")):
		return advice{text: "its JSON is broken, or cut off"}
	case objectBehind(text) != nil:
		return g.behindAdvice(text)
	case g.first && inColumns && !slices.ContainsFunc(header.Names, isFigure) && objectBehind(next) == nil:
		return g.columnsAdvice(&header)
	}
	return advice{text: "it is no JSON object, and no row of CSV or TSV: their first line must name the columns"}
}

// columnsAdvice proposes a mapping for a line of names, with all of them where some have to be
// chosen from.
func (g *glimpse) columnsAdvice(header *mapped.Columns) advice {
	text := "these are CSV columns"
	if header.Separator == '\t' {
		text = "these are TSV columns"
	}
	if !g.named {
		return advice{text: text + ": name them with --map, as in --map pk=COLUMN", fits: 1}
	}
	suggested, fits := Names(header.Names).suggest()
	if strings.Contains(suggested, "=FIELD") {
		text += ", " + Names(header.Names).String()
		suggested += " with one of them in the place of each FIELD"
	}
	return advice{text: text + ": " + suggested + lookAmong, fits: fits + 1} // the rows below it tell less
}

// objectBehind returns the JSON object that a line ends with, behind other text; nil for none.
func objectBehind(line []byte) []byte {
	line = bytes.TrimSpace(line)
	at := bytes.IndexByte(line, '{')
	if at < 1 || !bytes.HasSuffix(line, []byte("}")) {
		return nil
	}
	return line[at:]
}

// behindAdvice proposes a mapping for an object behind other text.
func (g *glimpse) behindAdvice(text []byte) advice {
	const kind = "it is JSON behind other text, as in a log: "
	object := objectBehind(text)
	names := fieldsOf(object)
	if !g.named || len(names) == 0 {
		return advice{text: kind + "name its fields with --map"}
	}
	suggested, fits := names.suggest()
	if bytes.ContainsAny(text[:len(text)-len(object)], "0123456789") && strings.Contains(suggested, "ts=FIELD") {
		suggested, fits = strings.Replace(suggested, "ts=FIELD", "ts=begin:", 1), fits+1
	}
	return advice{text: kind + suggested + lookAmong, fits: fits}
}

// isFigure reports whether a cell is a number or a time, as no column is called.
func isFigure(cell string) bool { return cell != "" && strings.Trim(cell, "0123456789.:-+TZ ") == "" }
