package sample

import (
	"bytes"
	"encoding/json"
)

// AppendJSON appends the record as one object of Keyheat JSON, without a line end: add "\n" for
// NDJSON. It leaves out defaults, units that a decoder would compute alike, and the time if the
// message has it. It replaces bytes that are not UTF-8 by U+FFFD.
//
// A record that passes Check decodes to itself, with one exception. Estimated units that cannot
// be computed again from operation, bytes and consistency are written out, and decode as
// reported units, because the load matters more.
func (r *Record) AppendJSON(dst []byte) []byte {
	o := object{
		Table: r.Table, Index: r.Index, PK: keyJSON(r.PK), SK: keyJSON(r.SK), Op: r.Op.String(), Bytes: r.Bytes,
		Throttle: r.Throttle, Calls: r.Calls, Attempts: r.Attempts, Waited: r.Waited, Failed: r.Failed,
		Conflicts: r.Conflicts, ConditionsFailed: r.ConditionsFailed,
		Call: r.Call, Caller: r.Caller, Account: r.Account, Region: r.Region, ID: r.ID, Attrs: r.Attrs,
	}
	if !r.TimeFromMessage {
		o.Time = &r.Time
	}
	rcu, wcu := r.StatedUnits()
	if rcu {
		o.RCU = new(float64(r.RCU) / 1000)
	}
	if wcu {
		o.WCU = new(float64(r.WCU) / 1000)
	}
	if r.Read != Eventual {
		o.Read = r.Read.String()
	}
	if r.Rate != 1 {
		o.Rate = &r.Rate
	}
	if r.N != 1 {
		o.N = &r.N
	}
	line := bytes.NewBuffer(dst)
	to := json.NewEncoder(line)
	to.SetEscapeHTML(false)
	if err := to.Encode(o); err != nil {
		return dst // a number that is not finite, which Check rejects
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n"))
}

// object is a record as one object of Keyheat JSON.
type object struct {
	Time     *int64   `json:"ts,omitempty"`
	Table    string   `json:"table,omitempty"`
	Index    string   `json:"index,omitempty"`
	PK       any      `json:"pk,omitempty"`
	SK       any      `json:"sk,omitempty"`
	Op       string   `json:"op,omitempty"`
	RCU      *float64 `json:"rcu,omitempty"`
	WCU      *float64 `json:"wcu,omitempty"`
	Bytes    int64    `json:"bytes,omitempty"`
	Read     string   `json:"read,omitempty"`
	Throttle string   `json:"throttle,omitempty"`
	Rate     *float64 `json:"rate,omitempty"`
	N        *int64   `json:"n,omitempty"`
	Calls    float64  `json:"calls,omitempty"`
	Attempts int64    `json:"attempts,omitempty"`
	Waited   float64  `json:"waited_ms,omitempty"`
	Failed   bool     `json:"failed,omitempty"`

	Conflicts        int64 `json:"conflict,omitempty"`
	ConditionsFailed int64 `json:"condition_failed,omitempty"`

	Call    string            `json:"call,omitempty"`
	Caller  string            `json:"caller,omitempty"`
	Account string            `json:"account,omitempty"`
	Region  string            `json:"region,omitempty"`
	ID      string            `json:"id,omitempty"`
	Attrs   map[string]string `json:"attrs,omitempty"`
}

// keyJSON returns a string key as a string, any other key in DynamoDB's JSON, and nil for the
// unknown key.
func keyJSON(k Key) any {
	switch len(k.Type) {
	case 0:
		return nil
	case 1:
		if k.Type == TypeString {
			return k.Text
		}
		return map[string]string{k.Type: k.Text}
	}
	parts := make([]any, 0, len(k.Type))
	for _, part := range k.Parts() {
		parts = append(parts, keyJSON(part))
	}
	return parts
}

// StatedUnits returns which units an encoder must write so that a decoder finds them. These are
// the units above zero and the units of the operation, except estimates that
// [Record.CompleteUnits] repeats. Without an operation that reads or writes, it is at least one
// of the two.
func (r *Record) StatedUnits() (rcu, wcu bool) {
	readUnits, writeUnits, known := EstimateUnits(r.Op, r.Bytes, r.Read)
	reads, writes := r.Op.IsRead(), r.Op.IsWrite()
	rcu = (reads || r.RCU != 0) && !(r.Estimated && reads && r.RCU == readUnits)
	wcu = (writes || r.WCU != 0) && !(r.Estimated && writes && r.WCU == writeUnits)
	return rcu, wcu || !known && !rcu
}
