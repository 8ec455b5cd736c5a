package analyze_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/docs"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/sample/mapped"
)

// loggedWrite is one write in the life of a service, as its logs tell it.
type loggedWrite struct {
	n     int
	at    time.Time
	key   string
	units int
}

func (w loggedWrite) item() string { return fmt.Sprintf("line%d", w.n) }

func (w loggedWrite) stamp() string { return w.at.Format("2006-01-02T15:04:05.000Z07:00") }

// writes are some seconds of writes of so many units, of which one key gets 1,200 units a second.
func writes(each int) (all []loggedWrite) {
	seconds := 12
	if each == 1 { // many
		seconds = 6
	}
	for s := range seconds {
		for i := range 1200/each + 20 {
			w := loggedWrite{n: len(all), at: noon.Add(time.Duration(s)*time.Second + time.Duration(i*1000/(1200/each+20))*time.Millisecond), key: "acme", units: each}
			if i >= 1200/each {
				w.key, w.units = fmt.Sprintf("customer%d", (7*len(all))%90), 1
			}
			all = append(all, w)
		}
	}
	return all
}

// lines writes each as a line.
func lines(all []loggedWrite, line func(loggedWrite) string) string {
	var b strings.Builder
	for _, w := range all {
		b.WriteString(line(w) + "\n")
	}
	return b.String()
}

// list writes all as a list.
func list(all []loggedWrite, element func(loggedWrite) string) string {
	return "[" + strings.ReplaceAll(strings.TrimSpace(lines(all, element)), "\n", ",") + "]"
}

func quoted(text string) string {
	raw, _ := json.Marshal(text) // texts always encode
	return string(raw)
}

// logged is a request as a service logs it, without its time.
func logged(w loggedWrite) string {
	return fmt.Sprintf(`{"level":"info","traceId":"t%d","ddb":{"table":"orders","key":%q,"action":"update_item","wcu":%d}}`, w.n, w.key, w.units)
}

// change is a stream record; what names its table comes with it.
func changed(w loggedWrite, table string) string {
	return fmt.Sprintf(`{"eventID":"e%d","eventName":"INSERT","eventSource":"aws:dynamodb"%s,"dynamodb":{"ApproximateCreationDateTime":%d,"Keys":{"customer":{"S":%q},"line":{"S":%q}},"NewImage":{"customer":{"S":%q},"line":{"S":%q}}}}`,
		w.n, table, w.at.UnixMilli(), w.key, w.item(), w.key, w.item())
}

// trailed is an event of CloudTrail.
func trailed(w loggedWrite) string {
	return fmt.Sprintf(`{"eventVersion":"1.08","eventTime":%q,"eventSource":"dynamodb.amazonaws.com","eventName":"PutItem","awsRegion":"eu-west-1","requestID":"r%d","requestParameters":{"tableName":"orders","key":{"customer":%q,"line":%q}}}`,
		w.at.Format(time.RFC3339), w.n, w.key, w.item())
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text) // into memory
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

const arn = `,"eventSourceARN":"arn:aws:dynamodb:eu-west-1:111122223333:table/orders/stream/2026"`

// forms are what people have, by the rows of docs/FORM.md.
var forms = map[string]map[string]func() string{
	"CSV or TSV": {
		"columns": func() string {
			return "when;kunde;auftrag;aktion;verbrauchte einheiten\n" + lines(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf("%s;%s;%s;Update;%d,0", w.at.Format("02.01.2006 15:04:05.000"), w.key, w.item(), w.units)
			})
		},
		"OpenTelemetry's attributes as columns": func() string {
			var b strings.Builder
			c := csv.NewWriter(&b)
			_ = c.Write([]string{"Timestamp", "rpc.method", "aws.dynamodb.table_names", "app.customer_id", "aws.dynamodb.consumed_capacity"})
			for _, w := range writes(50) {
				_ = c.Write([]string{w.stamp(), "PutItem", `["orders"]`, w.key, fmt.Sprintf(`["{\"TableName\":\"orders\",\"CapacityUnits\":%d}"]`, w.units)})
			}
			c.Flush()
			return b.String()
		},
		"a key in JSON": func() string {
			return "time,table,operation,key,capacity_units\n" + lines(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`%s,orders,PutItem,"{""customer"":{""S"":""%s""},""line"":{""S"":""%s""}}",%d`, w.stamp(), w.key, w.item(), w.units)
			})
		},
	},
	"JSON, one object a line or a list": {
		"lines":    func() string { return lines(writes(50), timed) },
		"a list":   func() string { return list(writes(50), timed) },
		"touching": func() string { return strings.ReplaceAll(lines(writes(1), timed), "\n", "") }, // some MiB
		"with ConsumedCapacity": func() string {
			return lines(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`{"time":%q,"operation":"UpdateItem","params":{"TableName":"orders","Key":{"customer":{"S":%q},"line":{"S":%q}}},"ConsumedCapacity":{"TableName":"orders","CapacityUnits":%d,"Table":{"CapacityUnits":%d}}}`,
					w.stamp(), w.key, w.item(), w.units+1, w.units)
			})
		},
		"as a stream of changes of a connector": func() string {
			return lines(writes(1), func(w loggedWrite) string {
				return fmt.Sprintf(`{"topic":"t","key":{"customer":%q,"line":%q},"value":{"op":"u","source":{"table_name":"orders"},"ts_ms":%d}}`, w.key, w.item(), w.at.UnixMilli())
			})
		},
	},
	"logs with JSON in their lines": {
		"the time in front": func() string {
			return lines(writes(50), func(w loggedWrite) string { return w.stamp() + " INFO " + logged(w) })
		},
		"syslog": func() string {
			return lines(writes(50), func(w loggedWrite) string { return "<134>1 " + w.stamp() + " host carts 77 - - " + logged(w) })
		},
		"pino": func() string {
			return lines(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`{"level":30,"time":%d,"pid":1,"hostname":"h1","success":true,"id":"2","caller":"main.go:19","commandName":"PutItemCommand","input":{"TableName":"orders","Key":{"customer":{"S":%q},"line":{"S":%q}}},"output":{"ConsumedCapacity":{"CapacityUnits":%d}}}`, w.at.UnixMilli(), w.key, w.item(), w.units)
			})
		},
		"Powertools": func() string {
			return lines(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`{"level":"INFO","message":"put","event":"put_item","timestamp":%q,"table_name":"orders","hash_key":%q,"operation":"PutItem","writeCapacity":%d}`, w.at.Format("2006-01-02 15:04:05,000-0700"), w.key, w.units)
			})
		},
		"old syslog": func() string {
			return lines(writes(50), func(w loggedWrite) string { return w.at.Format(time.Stamp) + " host carts[77]: " + logged(w) })
		},
		"Docker": func() string {
			return lines(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`{"log":%s,"stream":"stdout","time":%q}`, quoted(logged(w)), w.stamp())
			})
		},
		"journald": func() string {
			return lines(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`{"__REALTIME_TIMESTAMP":"%d","MESSAGE":%s}`, w.at.UnixMicro(), quoted(logged(w)))
			})
		},
		"among many others": func() string {
			return lines(writes(50), func(w loggedWrite) string {
				return strings.Repeat(w.stamp()+" {\"msg\":\"tick\"}\n"+w.stamp()+" started\n", 2) + w.stamp() + " INFO " + logged(w)
			})
		},
	},
	"logs with `key=value`": {
		"a time in front, and colours": func() string {
			return lines(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf("%s INFO orders.store: put \x1b[36mtable=\x1b[0morders op=PutItem key=%s wcu=%d", w.at.Format("2006-01-02 15:04:05,000"), w.key, w.units)
			})
		},
		"slog": func() string {
			return lines(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`[worker] time=%s level=INFO msg="stored a record" table=orders op=PutItem key=%q wcu=%d`, w.stamp(), w.key, w.units)
			})
		},
	},
	"answers of CloudWatch Logs": {
		"filter-log-events": func() string {
			return `{"events":` + list(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`{"logStreamName":"s","timestamp":%d,"message":%s,"eventId":"%d"}`, w.at.UnixMilli(), quoted(logged(w)), w.n)
			}) + `,"searchedLogStreams":[{"logStreamName":"s"}]}`
		},
		"get-query-results": func() string {
			return `{"results":` + list(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`[{"field":"@timestamp","value":%q},{"field":"@message","value":%s},{"field":"@ptr","value":"p%d"}]`, w.at.Format("2006-01-02 15:04:05.000"), quoted(logged(w)), w.n)
			}) + `,"status":"Complete"}`
		},
		"Insights' CSV": func() string {
			var b strings.Builder
			c := csv.NewWriter(&b)
			_ = c.Write([]string{"@timestamp", "@message"})
			for _, w := range writes(50) {
				_ = c.Write([]string{w.at.Format("2006-01-02 15:04:05.000"), logged(w)})
			}
			c.Flush()
			return b.String()
		},
	},
	"answers of Elasticsearch, Kibana, Loki": {
		"_search": func() string {
			return `{"took":5,"hits":{"total":{"value":3},"hits":` + list(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`{"_id":"i%d","_source":{"@timestamp":%q,"doc":%s}}`, w.n, w.stamp(), logged(w))
			}) + `}}`
		},
		"Loki": func() string {
			return `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"carts"},"values":` + list(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`["%d",%s]`, w.at.UnixNano(), quoted(logged(w)))
			}) + `}]}}`
		},
		"logcli": func() string {
			return lines(writes(50), func(w loggedWrite) string {
				return fmt.Sprintf(`{"labels":{"app":"carts"},"line":%s,"timestamp":%q}`, quoted(logged(w)), w.stamp())
			})
		},
	},
	"DynamoDB stream records": {
		"a function's event": func() string {
			return `{"Records":` + list(writes(1), func(w loggedWrite) string { return changed(w, arn) }) + `}`
		},
		"in a function's log": func() string {
			return lines(writes(1), func(w loggedWrite) string {
				return w.stamp() + "\tr0\tINFO\tevent {\"Records\":[" + changed(w, arn) + "]}"
			})
		},
		"get-records": func() string {
			return `{"Records":` + list(writes(1), func(w loggedWrite) string { return changed(w, "") }) + `,"NextShardIterator":"x"}`
		},
	},
	"Kinesis Data Streams for DynamoDB": {
		"a function's event": func() string {
			return `{"Records":` + list(writes(1), func(w loggedWrite) string {
				return fmt.Sprintf(`{"kinesis":{"partitionKey":"p%d","data":%q},"eventSource":"aws:kinesis","eventID":"s%d"}`, w.n, base64.StdEncoding.EncodeToString([]byte(changed(w, `,"tableName":"orders"`))), w.n)
			}) + `}`
		},
	},
	"CloudTrail's data events": {
		"a trail": func() string { return `{"Records":` + list(writes(1), trailed) + `}` },
		"EventBridge": func() string {
			return lines(writes(1), func(w loggedWrite) string {
				return fmt.Sprintf(`{"id":"b%d","source":"aws.dynamodb","detail":%s}`, w.n, trailed(w))
			})
		},
		"lookup-events": func() string {
			return `{"Events":` + list(writes(1), func(w loggedWrite) string {
				return fmt.Sprintf(`{"EventId":"b%d","EventName":"PutItem","EventSource":"dynamodb.amazonaws.com","CloudTrailEvent":%s}`, w.n, quoted(trailed(w)))
			}) + `}`
		},
		"by a subscription": func() string {
			events := list(writes(1), func(w loggedWrite) string {
				return fmt.Sprintf(`{"id":"i%d","timestamp":%d,"message":%s}`, w.n, w.at.UnixMilli(), quoted(trailed(w)))
			})
			return fmt.Sprintf(`{"awslogs":{"data":%q}}`, packed(`{"messageType":"DATA_MESSAGE","logEvents":`+events+`}`))
		},
	},
	"incremental exports to S3": {
		"data": func() string {
			return lines(writes(1), func(w loggedWrite) string {
				return fmt.Sprintf(`{"Metadata":{"WriteTimestampMicros":{"N":"%d"}},"Keys":{"customer":{"S":%q},"line":{"S":%q}},"NewImage":{"customer":{"S":%q},"line":{"S":%q}}}`,
					w.at.UnixMicro(), w.key, w.item(), w.key, w.item())
			})
		},
	},
	"OpenTelemetry's spans, of the file exporter": {
		"lines": func() string {
			return lines(writes(1), func(w loggedWrite) string {
				return fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"carts"}}]},"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%016x","name":"DynamoDB.PutItem","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[`+
					`{"key":"rpc.service","value":{"stringValue":"DynamoDB"}},{"key":"rpc.method","value":{"stringValue":"PutItem"}},{"key":"aws.dynamodb.table_names","value":{"arrayValue":{"values":[{"stringValue":"orders"}]}}},{"key":"keyheat.partition_key","value":{"stringValue":%q}}]}]}]}]}`,
					w.n+1, w.n+1, w.at.UnixNano(), w.at.UnixNano(), w.key)
			})
		},
	},
	"X-Ray's traces": {
		"batch-get-traces": func() string {
			return `{"Traces":` + list(writes(50), func(w loggedWrite) string {
				document := fmt.Sprintf(`{"id":"s%d","start_time":%.3f,"subsegments":[{"id":"u%d","name":"DynamoDB","start_time":%.3f,"aws":{"operation":"UpdateItem","table_name":"orders","consumed_capacity":[{"TableName":"orders","CapacityUnits":%d}]},"annotations":{"pk":%q}}]}`,
					w.n, float64(w.at.UnixMilli())/1000, w.n, float64(w.at.UnixMilli())/1000, w.units, w.key)
				return fmt.Sprintf(`{"Id":"1-%d","Segments":[{"Id":"g%d","Document":%s}]}`, w.n, w.n, quoted(document))
			}) + `}`
		},
	},
}

func timed(w loggedWrite) string {
	return fmt.Sprintf(`{"requestId":"q%d","eventTime":%q,"tbl":"orders","tenant_id":%q,"order_id":%q,"verb":"put","write_units":%d}`, w.n, w.stamp(), w.key, w.item(), w.units)
}

// TestFormsLeadToAnAnswer reads each form that the documents name, as people have it, follows the
// step that is proposed, if any, and wants the hot key.
func TestFormsLeadToAnAnswer(t *testing.T) {
	t.Parallel()
	step := regexp.MustCompile(`try (?:--map '([^']*)')?(?: ?--time-unit (\w+))?.*\. It finds`)
	tables := format.Tables{"orders": {Schema: sample.Schema{KeySchema: sample.Keys("customer", "line")}}}
	for row, all := range forms {
		if !strings.Contains(docs.Form, "\n| "+row) {
			t.Errorf("docs/FORM.md has no row %q", row)
		}
		for name, text := range all {
			t.Run(row+"/"+name, func(t *testing.T) {
				t.Parallel()
				o := analyze.Options{Paths: []string{"-"}, In: strings.NewReader(text()), Tables: tables, Mapping: mapped.Mapping{Table: "orders"}}
				r, err := analyze.Files(t.Context(), o)
				must(t, err)
				if !r.Samples.Judged {
					found := step.FindStringSubmatch(r.Samples.Faults[0].Remedy)
					if found == nil {
						t.Fatalf("no step leads on: %+v", r.Samples.Faults)
					}
					if found[1] != "" {
						must(t, o.Mapping.ParseFields(found[1]))
					}
					o.Mapping.Unit, o.In = mapped.Unit(found[2]), strings.NewReader(text())
					r, err = analyze.Files(t.Context(), o)
					must(t, err)
				}
				if len(r.Findings) == 0 || r.Findings[0].Key != "acme" || r.Findings[0].Severity != detect.Critical || r.Findings[0].Peak.WCU.Value != 1200 {
					t.Errorf("findings %+v of %+v", r.Findings, r.Samples)
				}
			})
		}
	}
	for row := range strings.Lines(docs.Form[strings.Index(docs.Form, "| you have"):]) {
		name, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		if strings.HasPrefix(row, "| ") && forms[name] == nil && name != "you have" && name != "---" && !strings.HasPrefix(name, "full exports") {
			t.Errorf("no test reads %q", name)
		}
		if strings.TrimSpace(row) == "" {
			break
		}
	}
}

// TestAnIDIsNoKey: a column whose values hardly repeat is neither proposed as the partition key nor
// believed to be one.
func TestAnIDIsNoKey(t *testing.T) {
	t.Parallel()
	text := lines(writes(50), func(w loggedWrite) string {
		return fmt.Sprintf(`{"time":%q,"eventId":"e%d","id":"i%d","op":"PutItem","table":"orders"}`, w.stamp(), w.n, w.n)
	})
	r := result(t, text)
	if remedy := r.Samples.Faults[0].Remedy; !strings.Contains(remedy, "no name and no value tells which is the partition key") || strings.Contains(remedy, "pk=id") || strings.Contains(remedy, "pk=eventId") {
		t.Error(remedy)
	}
	var out bytes.Buffer
	err := analyze.Run(t.Context(), analyze.Options{
		Paths: []string{"-"}, In: strings.NewReader(text), Out: &out, FailOn: detect.Critical, Mapping: mapped.Mapping{Fields: map[string]string{"pk": "eventId", "ts": "time"}},
	})
	if !strings.HasPrefix(out.String(), "No hot keys, if eventId is the partition key.") || err == nil || errors.Is(err, analyze.ErrFound) {
		t.Errorf("%v: %.200s", err, out.String())
	}
}

// TestTheSameFileTwice: its samples count once, and that is said.
func TestTheSameFileTwice(t *testing.T) {
	t.Parallel()
	text := []byte(lines(writes(100), func(w loggedWrite) string { return line(int(w.at.Sub(noon).Seconds()), "orders", w.key, w.units/2) }))
	r, err := analyze.Files(t.Context(), analyze.Options{Paths: []string{write(t, "a", text), write(t, "b", text)}})
	must(t, err)
	if len(r.Findings) > 0 || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "Counted once, because an earlier file has the same bytes: ") {
		t.Errorf("%+v, %q", r.Findings, r.Notes)
	}
}

// TestWholeKeysTellOfSortKeys: an event shows all attributes of its item's key, so that a table whose
// events have one is not told to give parts of its items keys of their own.
func TestWholeKeysTellOfSortKeys(t *testing.T) {
	t.Parallel()
	alone := func(w loggedWrite) string {
		return strings.Replace(trailed(w), fmt.Sprintf(`,"line":%q`, w.item()), "", 1)
	}
	if r := result(t, lines(writes(1), alone)); len(r.Findings) == 0 || r.Findings[0].Case != casebook.HotItem {
		t.Errorf("without a sort key: %+v", r.Findings)
	}
}

// TestLinesOfAnotherFile: a rotated log that has a part of another one is named. Lines that are alike
// by chance, as two hosts write them, are not.
func TestLinesOfAnotherFile(t *testing.T) {
	t.Parallel()
	log := func(host string) (all []string) {
		for i := range 4000 {
			all = append(all, fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"acme","op":"PutItem","wcu":1,"attrs":{"h":%q}}`, noon.UnixMilli()+int64(i/2), host))
		}
		return all
	}
	a, b, like := log("a"), log("b"), log("a")
	for i := range like { // most lines are in the other, and none in its order
		like[i] = like[(i*1201)%len(like)]
	}
	path := func(name string, lines []string) string { return write(t, name, []byte(strings.Join(lines, "\n"))) }
	first, second, third, part := path("a", a), path("b", b), path("like", like), path("a.1", a[2500:])
	r, err := analyze.Files(t.Context(), analyze.Options{Paths: []string{first, second, third, part}})
	must(t, err)
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], part+" repeats about 1,") || !strings.Contains(r.Notes[0], " lines of "+first+" in their order") {
		t.Errorf("%q", r.Notes)
	}
}

// TestKeysOfTwoTypes: 42 and "42" are two keys, which no table has; that is said.
func TestKeysOfTwoTypes(t *testing.T) {
	t.Parallel()
	for keys, want := range map[[2]string]int{{`42`, `"42"`}: 1, {`"41"`, `"42"`}: 0} {
		text := lines(writes(100), func(w loggedWrite) string {
			return fmt.Sprintf(`{"ts":%d,"table":"orders","pk":%s,"op":"PutItem","wcu":1}`, w.at.UnixMilli(), keys[w.n%2])
		})
		if r := result(t, text); len(r.Notes) != want {
			t.Errorf("%v: %q", keys, r.Notes)
		}
	}
}

// TestAProposalIsOfAllLines: a file may begin with calm lines, in which no key repeats, and have a
// key without a telling name. A column that is true or false is no throttle.
func TestAProposalIsOfAllLines(t *testing.T) {
	t.Parallel()
	n := 0
	calm := lines(writes(1)[:3000], func(w loggedWrite) string {
		n++
		return fmt.Sprintf(`{"time":%q,"who":"w%d","doc_id":"d%d","ok":true,"op":"PutItem","table":"orders"}`, w.stamp(), n, n%1500)
	})
	hot := lines(writes(1), func(w loggedWrite) string {
		n++
		who := w.key
		if who != "acme" {
			who = fmt.Sprint("w", n)
		}
		return fmt.Sprintf(`{"time":%q,"who":%q,"doc_id":"d%d","ok":true,"op":"PutItem","table":"orders"}`, w.stamp(), who, n)
	})
	r := result(t, calm+hot)
	if remedy := r.Samples.Faults[0].Remedy; !strings.HasPrefix(remedy, "try --map 'ts=time,pk=who'. It finds 2,000 samples in 2,000 lines of 10,") || !strings.Contains(remedy, "“acme” has 6") {
		t.Error(remedy)
	}
}
