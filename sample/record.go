// Package sample defines one observed DynamoDB request as one key saw it, the schema of tables,
// and DynamoDB's prices.
//
// A producer makes a [Record] of each sampled request, and writes it as Keyheat JSON with
// [Record.AppendJSON]. A collector reads Keyheat JSON with package keyheatjson, and other
// formats with their own decoders. Each decoder passes good records to a [Handler], and bad
// samples with their [RejectReason]:
//
//	{"ts":1763692032185,"table":"orders","pk":"user#42","op":"UpdateItem","wcu":2,"rate":0.01}
//
// A record represents a load of n × units ÷ rate ([Record.Load]). Units are the consumed
// capacity that DynamoDB reported. If a producer has none, they are computed from the
// operation, the item's size and the consistency ([EstimateUnits]), and the record is marked as
// Estimated.
//
// Requests are sampled by call, and a record is one item: the items of a call are kept or
// dropped together. The error of an estimate depends on that. So a record states the number of
// its calls (Calls) or names its call (Call). Without either, its requests are treated as
// independent.
//
// A call that is throttled and retried counts once as requested load. If the producer sees
// retries, the record counts the attempts (Attempts), the caller's waiting time (Waited), and
// the final failure (Failed).
//
// A write, or a read in a transaction, may lose attempts to other requests of its item. The record
// counts conflicts of transactions (Conflicts) and failed conditions (ConditionsFailed), which are
// no throttling.
//
// A Key is an identity, not a text. The string 42 and the number 42 differ; the numbers 42 and
// 4.2e1 are equal. testdata/keys.json has examples that all decoders must agree on.
//
// An impossible record (see [Record.Check]) is a bad sample with a reject reason, never a
// panic, and never a silent zero. The package needs only the standard library, so that any
// application can import it.
package sample

import "strings"

// Milli is an amount of capacity in thousandths of a unit (WCU or RCU). DynamoDB charges in
// halves of a unit, so a thousandth is exact, and whole numbers add without rounding.
type Milli int64

// Consistency is the requested consistency of a read. It sets the price of the read.
type Consistency uint8

// The consistencies, the cheapest first. Eventual is the default.
const (
	Eventual Consistency = iota
	Strong
	Transactional
)

// Key is the identity of one partition or sort key: two keys are the same exactly if their Keys
// are equal. The zero Key is unknown.
type Key struct {
	// Type is S, N or B, or one letter for each attribute of a multi-attribute key ("SN"). The
	// string 42 and the number 42 are different keys.
	Type string
	// Text is the string itself, a number in DynamoDB's canonical decimal form, or a binary in
	// base64. The parts of a multi-attribute key are joined.
	Text string
}

// Place is a 65,536th of DynamoDB's key space, counted from 1: the first 16 bits of a position.
// The zero Place is unknown.
type Place uint32

// Record is one observed request, or n equal ones, on one key of one table or index.
//
// A decoder's Record may alias the decoder's buffers, and is valid until the handler returns.
// Clone makes a lasting copy.
type Record struct {
	// Time is the time of the request in Unix milliseconds.
	Time int64
	// TimeFromMessage means that the producer gave no time, and that Time is the message's own.
	TimeFromMessage bool
	// Table is the table's name. Index is the index that was read or written, empty for the
	// table itself.
	Table, Index string
	// PK and SK are the keys in that table or index. PK is unknown only for a Scan, and where
	// [Record.IsCallerOnly] holds. SK is unknown if the producer left it out.
	PK, SK Key
	// Place is the place of a PK that a key policy hides, if the operator allows it. No decoder
	// sets it.
	Place Place
	// Op is the operation, or OpUnknown if only units were given.
	Op Op
	// RCU and WCU are the units that one request consumed, or requested if it was throttled.
	// They are never negative.
	RCU, WCU Milli
	// Estimated means that the units were computed. They were neither reported by DynamoDB, nor
	// do they follow from whole images of the item.
	Estimated bool
	// Bytes is the item size, 0 if unknown.
	Bytes int64
	// Read is the consistency of a read.
	Read Consistency
	// Throttle is AWS's reason text of a throttled request. Such a record is requested load,
	// not consumed. It is empty for other requests.
	Throttle string
	// Rate is the sampling rate of the requests, in (0,1].
	Rate float64
	// N is the number of equal requests that the record represents, at least 1, all within one
	// second.
	N int64
	// Call names the call that the request was an item of. It need only be unique among nearby
	// records, because the items of one sampled call arrive together. It is empty if unknown.
	Call string
	// Calls is the number of sampled calls that the N requests came from, in (0,N], or 0 if
	// unknown. Calls add up: one item of a call with 25 items on this key counts a
	// twenty-fifth. N/Calls is the number of requests that were sampled together.
	Calls float64
	// Attempts is the number of attempts of each request's call, including the first, or 0 if
	// unknown. Only the record of the call's end counts them, not the records of its throttled
	// attempts.
	Attempts int64
	// Waited is the time in milliseconds that each request's caller waited because of retries:
	// from the end of the first attempt to the call's end. It is the mean over all N, and zero
	// if Attempts is unknown.
	Waited float64
	// Failed means that the calls were throttled, or lost to other requests, after all retries.
	// It is false if Attempts is unknown.
	Failed bool
	// Conflicts and ConditionsFailed are the attempts of all N requests that DynamoDB ended with
	// a conflict of transactions on this item, and because their condition on it did not hold:
	// at most N × Attempts together, or N if Attempts is unknown. The last attempt of a request
	// that took effect is none of them.
	Conflicts, ConditionsFailed int64
	// Caller, Account, Region and ID are empty if unknown.
	Caller, Account, Region, ID string
	// Attrs are other attributes, text to text, that may serve as candidate keys. Nil if there
	// are none.
	Attrs map[string]string
	// Change means that the record comes from a stream of changed items. Such streams show
	// neither reads nor throttled requests.
	Change bool
	// Edit describes a write whose images of the item are whole; nil otherwise.
	Edit *Edit
}

// IsCallerOnly reports whether the record has no key and is no Scan. It tells who calls which
// table, and counts no load: another source may count the same request under its key.
func (r *Record) IsCallerOnly() bool { return r.PK.Type == "" && r.Op != Scan }

// Edit describes the effect of a write on its item.
type Edit struct {
	// Changed is the number of bytes of the attributes that the write set, changed or removed.
	// Grown is the growth of the item in bytes, negative if it shrank.
	Changed, Grown int64
	// Attributes are the names of the changed attributes.
	Attributes []string
}

// Clone returns a lasting copy, which aliases nothing.
func (r *Record) Clone() Record {
	c := *r
	for _, s := range []*string{
		&c.Table, &c.Index, &c.PK.Type, &c.PK.Text, &c.SK.Type, &c.SK.Text,
		&c.Throttle, &c.Caller, &c.Account, &c.Region, &c.ID, &c.Call,
	} {
		*s = strings.Clone(*s)
	}
	if r.Attrs != nil {
		c.Attrs = make(map[string]string, len(r.Attrs))
		for k, v := range r.Attrs {
			c.Attrs[strings.Clone(k)] = strings.Clone(v)
		}
	}
	if r.Edit != nil {
		edit := *r.Edit
		edit.Attributes = make([]string, len(r.Edit.Attributes))
		for i, name := range r.Edit.Attributes {
			edit.Attributes[i] = strings.Clone(name)
		}
		c.Edit = &edit
	}
	return c
}
