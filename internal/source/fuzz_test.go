package source_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source"
)

// fetchBody is a fetch response of one partition, without its size.
func fetchBody(version int16, records []byte, aborted ...kmsg.FetchResponseTopicPartitionAbortedTransaction) []byte {
	res := kmsg.NewPtrFetchResponse()
	res.SetVersion(version)
	rt := kmsg.NewFetchResponseTopic()
	rt.Topic = topic
	rp := kmsg.NewFetchResponseTopicPartition()
	rp.HighWatermark, rp.LastStableOffset, rp.LogStartOffset = 9, 9, 0
	rp.AbortedTransactions, rp.RecordBatches = aborted, records
	rt.Partitions = append(rt.Partitions, rp)
	res.Topics = append(res.Topics, rt)
	return res.AppendTo([]byte{0, 0, 0x6b, 0x68})
}

// FuzzFetchResponse feeds the response decoder any bytes: it must refuse or
// answer records that lie inside of them.
func FuzzFetchResponse(f *testing.F) {
	for version := int16(4); version <= 11; version++ {
		f.Add(version, fetchBody(version, []byte("records"), kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: 1}))
	}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		records, err := source.ParseFetch(body, version)
		if err == nil && !bytes.Contains(body, records) {
			t.Fatal("records from nowhere")
		}
	})
}

func TestFetchResponseOfEveryVersionIsUnderstood(t *testing.T) {
	t.Parallel()
	for version := int16(4); version <= 11; version++ {
		body := fetchBody(version, []byte("records"), kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: 1})
		records, err := source.ParseFetch(body, version)
		if err != nil || string(records) != "records" {
			t.Errorf("version %d: %q, %v", version, records, err)
		}
		for cut := range body {
			if _, err := source.ParseFetch(body[:cut], version); err == nil {
				t.Errorf("version %d: cut at %d of %d and not refused", version, cut, len(body))
			}
		}
	}
}

// FuzzSplit cuts any text: it must end, move forwards, and never hand out more
// than a buffer. The buffer is small enough that megabytes are not needed.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"{\"n\":1}\n{\"n\":2}\n", `[{"n":1},{"n":2}]`, "{\n\"n\":1\n}\n{\n\"n\":2\n}", `{"Records":[{"n":1}]}}`, "[[],[\n", ",{}]", "\ufeff[]\n[", "\"", `{"a":"\`, "]\n}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		next := source.Split(bytes.NewReader(text))
		last := int64(0)
		for {
			m, at, err := next()
			if errors.Is(err, io.EOF) {
				if at > int64(len(text)) {
					t.Fatalf("ended at %d of %d", at, len(text))
				}
				return
			}
			if err != nil || at <= last && m.Fault == "" || len(m.Value) == 0 || len(m.Value) > source.MaxSample {
				t.Fatalf("message of %d bytes, position %d after %d: %v", len(m.Value), at, last, err)
			}
			last = at
		}
	})
}
