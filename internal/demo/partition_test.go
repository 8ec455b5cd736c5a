package demo

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// unit is one read or write unit.
const unit sample.Milli = 1000

// offer sends so many equal requests, evenly over each second from a time in Unix
// milliseconds, and returns how many were served in each second.
func offer(p *partition, at, seconds, requests int64, read, write sample.Milli) []int64 {
	served := make([]int64, seconds)
	for i := range seconds * requests {
		if p.serve(at+1000*i/requests, read, write) {
			served[i/requests]++
		}
	}
	return served
}

// TestAPartitionServesWhatDynamoDBDoes holds the model to the figures of the Developer
// Guide, written out here: 1,000 write units and 3,000 read units a second, each for
// itself, and no burst beyond that.
func TestAPartitionServesWhatDynamoDBDoes(t *testing.T) {
	t.Parallel()
	const idle = 300 * 1000 // as long as burst capacity gathers
	read20KB := sample.ReadUnits(20*1024, sample.Strong)
	if read20KB != 5*unit {
		t.Fatalf("a strongly consistent read of 20 KB costs %d", read20KB)
	}
	for _, c := range []struct {
		story       string
		requests    int64
		read, write sample.Milli
		least, most int64 // in each second
	}{
		{"writes below the limit are all served", 950, 0, unit, 950, 950},
		{"of more than 1,000 write units a second 1,000 are served", 1600, 0, unit, 999, 1001},
		{"a hundred times as much brings no more", 100_000, 0, unit, 999, 1001},
		{"a write of four units counts four times", 1000, 0, 4 * unit, 249, 251},
		{"of more than 3,000 read units a second 3,000 are served", 4500, unit, 0, 2999, 3001},
		{"600 strongly consistent reads of 20 KB fill a partition", 600, read20KB, 0, 600, 600},
		{"of 900 of them 600 are served", 900, read20KB, 0, 599, 601},
		{"eventually consistent reads cost half", 9000, unit / 2, 0, 5998, 6002},
	} {
		var p partition
		for second, n := range offer(&p, idle, 20, c.requests, c.read, c.write) {
			if n < c.least || n > c.most {
				t.Errorf("%s: second %d serves %d, want %d to %d", c.story, second, n, c.least, c.most)
			}
		}
	}
}

func TestReadsAndWritesAreRefusedEachForItself(t *testing.T) {
	t.Parallel()
	var p partition
	if n := offer(&p, 0, 1, 5000, 0, unit)[0]; n > 1000 {
		t.Fatalf("%d writes are served", n)
	}
	if n := offer(&p, 999, 1, 2000, unit, 0)[0]; n != 2000 {
		t.Errorf("%d of 2000 reads are served while writes are refused", n)
	}
}

// TestBurstCapacityLiftsNothing: after any idle time a second has the limit and
// nothing beyond it.
func TestBurstCapacityLiftsNothing(t *testing.T) {
	t.Parallel()
	var p partition
	at := int64(0)
	for _, idle := range []time.Duration{time.Second, time.Minute, 5 * time.Minute, 24 * time.Hour} {
		if n := offer(&p, at, 1, 3000, 0, unit)[0]; n != 1000 {
			t.Errorf("%d are served at %d", n, at)
		}
		at += time.Second.Milliseconds() + idle.Milliseconds()
	}
}

func TestKeysSpreadOverPartitions(t *testing.T) {
	t.Parallel()
	used := make(map[*partition]int)
	var keys table
	for i := range 6400 {
		used[keys.locate("cart#"+string(rune('a'+i%26))+time.Duration(i).String())]++
	}
	for _, n := range used {
		if n > 200 {
			t.Errorf("a partition has %d of 6400 keys", n)
		}
	}
	if len(used) != partitions {
		t.Errorf("%d partitions are used", len(used))
	}
}
