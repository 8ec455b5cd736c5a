package awssdk_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sort"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/sample/awssdk"
)

// instant answers each request at once with nothing, so only the client's own time remains,
// including the middleware's. Against a real network the middleware's part is many times
// smaller.
type instant struct{}

var header = http.Header{"Content-Type": {"application/x-amz-json-1.0"}}

func (instant) Do(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader([]byte(`{}`))), ContentLength: 2, Header: header, Request: request}, nil
}

// BenchmarkOverhead compares a client with the middleware to a bare client in the same run. The
// clients take turns in short blocks, either one first, so that a busy machine slows both
// alike. "ratio" is the median over pairs of blocks.
func BenchmarkOverhead(b *testing.B) {
	for _, c := range []struct {
		name    string
		options awssdk.Options
	}{
		{"off", awssdk.Options{Rate: awssdk.Off}},
		{"1%", awssdk.Options{Rate: 0.01}},
		{"100%-folded", awssdk.Options{Rate: 1}},
		{"adaptive-100/s", awssdk.Options{MaxPerSecond: 100}},
	} {
		b.Run(c.name, func(b *testing.B) { benchOverhead(b, c.options) })
	}
}

const block = 100

func benchOverhead(b *testing.B, options awssdk.Options) {
	bare := dynamodb.NewFromConfig(config(instant{}))
	cfg := config(instant{})
	options.Sink, options.Tables = awssdk.WriterSink(io.Discard), orders
	sampler, err := awssdk.Instrument(&cfg, options)
	if err != nil {
		b.Fatal(err)
	}
	tapped := dynamodb.NewFromConfig(cfg)
	inputs := make([]*dynamodb.PutItemInput, 16)
	for i := range inputs {
		inputs[i] = &dynamodb.PutItemInput{TableName: table, Item: row(fmt.Sprint(i), "status", "open", "a", "some text")}
	}
	round := func(c *dynamodb.Client) float64 {
		begun := time.Now()
		for i := range block {
			if _, err := c.PutItem(b.Context(), inputs[i%len(inputs)]); err != nil {
				b.Fatal(err)
			}
		}
		return float64(time.Since(begun)) / block
	}
	var without, ratios []float64
	for b.Loop() {
		one, two, three := round(bare), round(tapped), round(tapped)
		four := round(bare)
		without = append(without, one, four)
		ratios = append(ratios, (two+three)/(one+four))
	}
	b.ReportMetric(median(without), "bare-ns/request")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(allocations(b, tapped, inputs[0])-allocations(b, bare, inputs[0]), "added-allocs/request")
	if err := sampler.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func median(of []float64) float64 {
	sort.Float64s(of)
	return of[len(of)/2]
}

func allocations(b *testing.B, c *dynamodb.Client, in *dynamodb.PutItemInput) float64 {
	return testing.AllocsPerRun(500, func() {
		if _, err := c.PutItem(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	})
}
