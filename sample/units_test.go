package sample_test

import (
	"testing"

	"github.com/keyheat/keyheat/sample"
)

const kb = 1024

// TestReadUnitsOfTheGuide repeats the worked examples of the Developer Guide, "DynamoDB read
// and write operations", capacity unit consumption for read operations: GetItem of 3.5 and 10
// KB, BatchGetItem of 1.5 and 6.5 KB, Query of 40.8 KB and of 1,500 items. The other rows are
// the edges of its rules.
func TestReadUnitsOfTheGuide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story string
		bytes int64
		read  sample.Consistency
		want  sample.Milli
	}{
		{"get 3.5 KB, strongly", 3584, sample.Strong, 1000},
		{"get 3.5 KB, eventually", 3584, sample.Eventual, 500},
		{"get 3.5 KB, in a transaction", 3584, sample.Transactional, 2000},
		{"get 10 KB, strongly", 10 * kb, sample.Strong, 3000},
		{"get 10 KB, eventually", 10 * kb, sample.Eventual, 1500},
		{"get 20 KB, strongly", 20 * kb, sample.Strong, 5000},
		{"query 10 items of 40.8 KB in all, strongly", 41779, sample.Strong, 11000},
		{"query 10 items of 40.8 KB in all, eventually", 41779, sample.Eventual, 5500},
		{"query 1,500 items of 64 bytes, strongly", 1500 * 64, sample.Strong, 24000},
		{"query 1,500 items of 64 bytes, eventually", 1500 * 64, sample.Eventual, 12000},
		{"exactly one block", 4096, sample.Strong, 1000},
		{"one byte more", 4097, sample.Strong, 2000},
		{"a missing item, strongly", 0, sample.Strong, 1000},
		{"a missing item, eventually", 0, sample.Eventual, 500},
		{"a missing item, in a transaction", 0, sample.Transactional, 2000},
		{"nonsense is the minimum", -5, sample.Consistency(9), 500},
	} {
		if got := sample.ReadUnits(c.bytes, c.read); got != c.want {
			t.Errorf("%s: %d, want %d", c.story, got, c.want)
		}
	}
	batch := sample.ReadUnits(1536, sample.Strong) + sample.ReadUnits(6656, sample.Strong)
	if batch != 3000 {
		t.Errorf("batch get of 1.5 and 6.5 KB: %d, want 3000", batch)
	}
}

// TestWriteUnitsOfTheGuide restates the Developer Guide, "DynamoDB read and write
// operations", capacity unit consumption for write operations: its example is
// the batch of 500 bytes and 3.5 KB, the others are its rules for PutItem,
// UpdateItem, DeleteItem and transactions in numbers.
func TestWriteUnitsOfTheGuide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story         string
		bytes         int64
		transactional bool
		want          sample.Milli
	}{
		{"put 1,024 bytes", 1024, false, 1000},
		{"put 1,025 bytes", 1025, false, 2000},
		{"update 3.2 KB to 0.9 KB", 3277, false, 4000},
		{"delete 1.6 KB", 1638, false, 2000},
		{"delete what is not there", 0, false, 1000},
		{"write 1.5 KB in a transaction", 1536, true, 4000},
	} {
		if got := sample.WriteUnits(c.bytes, c.transactional); got != c.want {
			t.Errorf("%s: %d, want %d", c.story, got, c.want)
		}
	}
	batch := sample.WriteUnits(500, false) + sample.WriteUnits(3584, false)
	if batch != 5000 {
		t.Errorf("batch write of 500 bytes and 3.5 KB: %d, want 5000", batch)
	}
}

func TestEstimateUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op       sample.Op
		bytes    int64
		read     sample.Consistency
		rcu, wcu sample.Milli
		ok       bool
	}{
		{sample.GetItem, 0, sample.Eventual, 500, 0, true},
		{sample.BatchGetItem, 4097, sample.Strong, 2000, 0, true},
		{sample.Query, 41779, sample.Strong, 11000, 0, true},
		{sample.Scan, 0, sample.Eventual, 500, 0, true},
		{sample.TransactGetItems, 1, sample.Eventual, 2000, 0, true},
		{sample.PutItem, 1025, sample.Eventual, 0, 2000, true},
		{sample.UpdateItem, 0, sample.Transactional, 0, 1000, true},
		{sample.DeleteItem, 0, sample.Eventual, 0, 1000, true},
		{sample.BatchWriteItem, 3584, sample.Eventual, 0, 4000, true},
		{sample.TransactWriteItems, 1536, sample.Eventual, 0, 4000, true},
		{sample.ExecuteStatement, 100, sample.Eventual, 0, 0, false},
		{sample.BatchExecuteStatement, 100, sample.Eventual, 0, 0, false},
		{sample.ExecuteTransaction, 100, sample.Eventual, 0, 0, false},
		{sample.OpUnknown, 100, sample.Eventual, 0, 0, false},
	} {
		rcu, wcu, ok := sample.EstimateUnits(c.op, c.bytes, c.read)
		if rcu != c.rcu || wcu != c.wcu || ok != c.ok {
			t.Errorf("%s of %d bytes: %d, %d, %v", c.op, c.bytes, rcu, wcu, ok)
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story string
		units sample.Milli
		n     int64
		rate  float64
		want  sample.Milli
	}{
		{"one request, all sampled", 500, 1, 1, 500},
		{"one in a hundred", 2000, 1, 0.01, 200_000},
		{"25 equal requests, half of them sampled", 1500, 25, 0.5, 75_000},
		{"a third rounds down", 1000, 1, 0.3, 3333},
		{"two thirds round up", 2000, 1, 0.3, 6667},
		{"a half rounds up", 1, 3, 0.4, 8}, // 7.5
		{"nothing stays nothing", 0, 1_000_000, 1e-9, 0},
		{"beyond the limit is cut", 1e9, 1e9, 1e-9, sample.MaxLoad},
		{"as is division by zero", 1, 1, 0, sample.MaxLoad},
		{"units are never lost", 1, 0, 1, 1},
	} {
		r := sample.Record{RCU: c.units, N: c.n, Rate: c.rate}
		if read, write := r.Load(); read != c.want || write != 0 {
			t.Errorf("%s: reads %d, writes %d, want %d", c.story, read, write, c.want)
		}
		r.RCU, r.WCU = 0, c.units
		if read, write := r.Load(); read != 0 || write != c.want {
			t.Errorf("%s: reads %d, writes %d, want %d", c.story, read, write, c.want)
		}
	}
}

func TestNumberSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"7": 2, "42": 2, "-421": 3, "1001": 3, "0": 1, "0.0": 1, "-0": 1,
		"1.50": 2, "1.5": 2, "0.00420": 2, "100": 2, "1e2": 2, "1.5E+20": 2, "15e-1": 2,
		"12345678901234567890123456789012345678": 20, "0.1234567890": 6,
		"": 1, "x": 1, "1e": 1,
	} {
		if got := sample.NumberSize(text); got != want {
			t.Errorf("%q: %d bytes, want %d", text, got, want)
		}
	}
}
