// Package keytrace reads a recorded trace of key accesses as samples, for tests and benchmarks.
package keytrace

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/keyheat/keyheat/sample"
)

// traceTable is the table of all accesses of the trace.
const traceTable = "orm"

// accessBytes is the size of one access in the unpacked trace.
const accessBytes = 4

// Config is how the accesses are spread over time.
type Config struct {
	// Start is the event time of the first access. Whole milliseconds count.
	Start time.Time
	// PerSecond is how many accesses fall into one second, at least 1.
	PerSecond int
	// Seed decides the units of each access.
	Seed uint64
	// Limit ends the trace after so many accesses; 0 reads all of it.
	Limit int
}

func (c Config) validate() error {
	switch {
	case c.Start.IsZero():
		return errors.New("trace start is missing: give the event time of the first access")
	case c.PerSecond < 1:
		return fmt.Errorf("trace accesses per second are %d: give at least 1", c.PerSecond)
	case c.Limit < 0:
		return fmt.Errorf("trace limit is %d: give how many accesses to read, or 0 for all", c.Limit)
	}
	return nil
}

// Read reads the zstd-compressed trace from src, lazily, in event-time order.
// The iterator is good for one pass. It ends after the first error that it
// yields: src failed, is not zstd, or ends within an access.
//
// The trace (testdata/README.md has its source and licence) is the real one behind
// Keyheat's measurements. It only lists the accessed objects, in order. Read adds
// everything else, always the same for the same Config:
//
//   - table "orm", partition key "<type>#<id>#<index>", one UpdateItem an
//     access, nothing sampled away;
//   - event time at a fixed number of accesses a second;
//   - whole write units, drawn at random: 25% of the accesses cost 1, 50%
//     cost 2, 19% are uniform in 4–10, 6% uniform in 10–24.
func Read(src io.Reader, c Config) (iter.Seq2[sample.Record, error], error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return func(yield func(sample.Record, error) bool) {
		if err := c.read(src, func(r sample.Record) bool { return yield(r, nil) }); err != nil {
			yield(sample.Record{}, fmt.Errorf("read trace: %w", err))
		}
	}, nil
}

// read passes each access to yield until that returns false.
func (c Config) read(src io.Reader, yield func(sample.Record) bool) error {
	unpacked, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer unpacked.Close()
	in := bufio.NewReaderSize(unpacked, 64<<10)
	draw := rand.New(rand.NewPCG(c.Seed, 0))
	start := c.Start.UnixMilli()
	var access [accessBytes]byte
	for i := 0; c.Limit == 0 || i < c.Limit; i++ {
		switch _, err := io.ReadFull(in, access[:]); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("access %d: %w", i, err)
		}
		r := sample.Record{
			Time:  start + int64(i)*1000/int64(c.PerSecond),
			Table: traceTable,
			PK:    sample.KeyString(traceObject(binary.BigEndian.Uint32(access[:]))),
			Op:    sample.UpdateItem,
			WCU:   traceUnits(draw) * 1000,
			Rate:  1,
			N:     1,
		}
		if !yield(r) {
			return nil
		}
	}
	return nil
}

// traceObject returns the partition key of an access: five bits of type, 18 of id, nine
// of index.
func traceObject(access uint32) string {
	key := make([]byte, 0, 2+1+6+1+3)
	key = strconv.AppendUint(key, uint64(access>>27), 10)
	key = append(key, '#')
	key = strconv.AppendUint(key, uint64(access>>9&(1<<18-1)), 10)
	key = append(key, '#')
	return string(strconv.AppendUint(key, uint64(access&(1<<9-1)), 10))
}

// traceUnits draws the cost of one access, in whole write units.
func traceUnits(draw *rand.Rand) sample.Milli {
	switch p := draw.IntN(100); {
	case p < 25:
		return 1
	case p < 75:
		return 2
	case p < 94:
		return sample.Milli(4 + draw.IntN(7))
	}
	return sample.Milli(10 + draw.IntN(15))
}
