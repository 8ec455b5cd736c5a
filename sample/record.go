// Package sample holds one observed DynamoDB request as one key saw it, with the
// schema of tables and what DynamoDB charges.
//
// A producer makes a [Record] of each request that it samples and writes it with
// [Record.AppendJSON], in Keyheat JSON. A collector reads such messages with the
// decoder of package keyheatjson, and other forms with their own decoders; each
// hands out to a [Handler] what is sound, and the rest with its [Reason]:
//
//	{"ts":1763692032185,"table":"orders","pk":"user#42","op":"UpdateItem","wcu":2,"rate":0.01}
//
// What a record stands for is its Load, n × units ÷ rate. Units are those that
// DynamoDB reported; where a producer has none they are computed from the
// operation, the item's size and the consistency (EstimateUnits), and the
// record says so.
//
// Requests are sampled by call, and a record is one item: the items of a call come
// together or not at all. What samples prove depends on that, so a record says how
// many calls its requests came from (Calls), or which call it is of (Call). Where
// neither is known, requests are taken for independent.
//
// A call that is throttled is sent again, and its demand is one all the same. What the
// retries were, and what they cost the caller, a record says where its producer sees
// it: Attempts, Waited, Failed.
//
// A Key is an identity and not a text: 42 the string and 42 the number differ,
// 42 and 4.2e1 do not. testdata/keys.json holds the examples which every
// decoder, of whatever form, must agree on.
//
// The package takes nothing on trust. A record that cannot be true (Check) is
// a bad sample with a reason: never a panic, and never a silent zero. It needs
// the standard library only, so that an application can import it.
package sample

import "strings"

// Milli is an amount of capacity in thousandths of a unit: a WCU or an RCU.
// DynamoDB charges in halves of a unit, so a thousandth loses nothing, and
// whole numbers add without rounding.
type Milli int64

// Consistency is how a read was asked for; it sets the price of a read.
type Consistency uint8

// The consistencies, the cheapest first. Eventual is also what a record
// without one means.
const (
	Eventual Consistency = iota
	Strong
	Transactional
)

// Key is one partition or sort key as an identity: two keys are the same key
// exactly when their Keys are equal. The zero Key is "not known".
type Key struct {
	// Type is S, N or B; for a multi-attribute key one letter an attribute
	// ("SN"). "42" the string and 42 the number are different keys.
	Type string
	// Text is the string as it is, the number in DynamoDB's canonical decimal
	// form, the binary in base64; of a multi-attribute key its parts, joined.
	Text string
}

// Record is one observed request, or n equal ones, on one key of one table
// or index.
//
// A record that a Decoder hands out may alias the decoder's buffers: it is
// valid until the handler returns. Clone keeps it.
type Record struct {
	// Time is when the request was made, in Unix milliseconds.
	Time int64
	// TimeFromMessage reports that the producer gave no time, and Time is the
	// message's own.
	TimeFromMessage bool
	// Table is the table's name; Index the index read or written, empty for
	// the table itself.
	Table, Index string
	// PK and SK are the keys in that table or index. PK is unknown only for a
	// Scan. SK is unknown when the producer did not say.
	PK, SK Key
	// Op is the operation; OpUnknown when only units were given.
	Op Op
	// RCU and WCU are the units that one request consumed, or asked for when
	// it was throttled. Never negative.
	RCU, WCU Milli
	// Estimated reports that the units were not reported by DynamoDB, nor follow
	// from whole images of the item: they were computed from what is known.
	Estimated bool
	// Bytes is the item size, 0 when unknown.
	Bytes int64
	// Read is the consistency of a read.
	Read Consistency
	// Throttle is AWS's reason text when the request was throttled: such a
	// record is demand, not consumption. Empty when it went through.
	Throttle string
	// Rate is the share of requests that were sampled, in (0,1].
	Rate float64
	// N is how many equal requests the record stands for, at least 1, all within
	// one second.
	N int64
	// Call identifies the call that the request was an item of, for as long as its
	// records are near each other: the items of one sampled call come together.
	// Empty when unknown.
	Call string
	// Calls is how many sampled calls the N requests came from, in (0,N]; 0 when
	// unknown. An item of a call that has 25 on this key counts a twenty-fifth, so
	// that N/Calls is how many came together, and Calls add up.
	Calls float64
	// Attempts is how often the call of each request was sent, the first time
	// included, and 0 when unknown. It is told once, by the record of the call's end
	// and not by those of its throttled attempts.
	Attempts int64
	// Waited is how long the caller of each request waited because its call was sent
	// again, in milliseconds: from the end of the first attempt to the call's end. The
	// mean of all N. Zero when Attempts is unknown.
	Waited float64
	// Failed reports that the calls failed for good because they were throttled. False
	// when Attempts is unknown.
	Failed bool
	// Caller, Account, Region and ID are empty when unknown.
	Caller, Account, Region, ID string
	// Attrs are other attributes, text to text, that may serve as candidate
	// keys. Nil when none were given.
	Attrs map[string]string
	// Change reports that the record was made of a changed item, as streams show
	// them: they show neither reads nor what was throttled.
	Change bool
	// Edit is what whole images of the item show of a write; nil without them.
	Edit *Edit
}

// Edit is what a write did to its item.
type Edit struct {
	// Changed is how many of the item's bytes, those of the attributes that the
	// write set, changed or removed; Grown by how many bytes the item grew,
	// negative when it shrank.
	Changed, Grown int64
	// Attributes are the names of the changed attributes.
	Attributes []string
}

// Clone returns a copy that aliases nothing and may be kept.
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
