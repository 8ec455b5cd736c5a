package keyheatjson

import (
	"time"

	"github.com/keyheat/keyheat/sample"
)

// build makes a record from the fields seen, and returns its reject reason.
func (d *Decoder) build(at int64) sample.RejectReason {
	d.renew()
	if reason := d.buildTime(at); reason != "" {
		return reason
	}
	if reason := d.buildNames(); reason != "" {
		return reason
	}
	if reason := d.buildKeys(); reason != "" {
		return reason
	}
	if reason := d.buildRequest(); reason != "" {
		return reason
	}
	if reason := d.buildWeight(); reason != "" {
		return reason
	}
	if reason := d.buildUnits(); reason != "" { // the requests in conflict have none
		return reason
	}
	if reason := d.buildContext(); reason != "" {
		return reason
	}
	d.setRate(d.seen)
	return d.rec.Check()
}

// setRate gives a record without a rate of its own the rate of its table.
func (d *Decoder) setRate(has fieldSet) {
	if !has.has(fieldRate) && len(d.rates) > 0 {
		if rate, known := sample.Lookup(d.rates, d.rec.Target()); known {
			d.rec.Rate = rate
		}
	}
}

func (d *Decoder) buildTime(at int64) sample.RejectReason {
	r := &d.rec
	if !d.seen.has(fieldTime) {
		r.Time, r.TimeFromMessage = at, true
		if at <= 0 {
			return sample.RejectNoTime
		}
		return ""
	}
	if d.given[fieldTime].kind == kindNumber {
		var ok bool
		if r.Time, ok = d.wholeNumber(fieldTime); !ok {
			return sample.RejectBadTime
		}
		return ""
	}
	text, reason := d.text(fieldTime, sample.RejectBadTime)
	if reason != "" {
		return reason
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return sample.RejectBadTime
	}
	r.Time = t.UnixMilli()
	return ""
}

func (d *Decoder) buildNames() (reason sample.RejectReason) {
	if d.rec.Table, reason = d.text(fieldTable, sample.RejectBadTable); reason != "" {
		return reason
	}
	d.rec.Index, reason = d.text(fieldIndex, sample.RejectBadTable)
	return reason
}

// buildRequest reads the operation, the bytes and the consistency.
func (d *Decoder) buildRequest() sample.RejectReason {
	r := &d.rec
	name, reason := d.text(fieldOp, sample.RejectBadOp)
	if reason != "" {
		return reason
	}
	var ok bool
	if r.Op, ok = sample.ParseOp(name); !ok && name != "" {
		return sample.RejectBadOp
	}
	if d.seen.has(fieldBytes) {
		if r.Bytes, ok = d.wholeNumber(fieldBytes); !ok {
			return sample.RejectBadBytes
		}
	}
	name, reason = d.text(fieldRead, sample.RejectBadRead)
	if reason != "" {
		return reason
	}
	if name != "" {
		if r.Read, ok = sample.ParseConsistency(name); !ok {
			return sample.RejectBadRead
		}
	}
	if r.Op == sample.TransactGetItems {
		r.Read = sample.Transactional
	}
	return ""
}

// buildUnits reads the units, and estimates missing ones.
func (d *Decoder) buildUnits() sample.RejectReason {
	r := &d.rec
	var ok bool
	if d.seen.has(fieldRCU) {
		if r.RCU, ok = d.milli(fieldRCU); !ok {
			return sample.RejectBadUnits
		}
	}
	if d.seen.has(fieldWCU) {
		if r.WCU, ok = d.milli(fieldWCU); !ok {
			return sample.RejectBadUnits
		}
	}
	return d.estimate(d.seen)
}

// estimate computes the units that the record does not have.
func (d *Decoder) estimate(has fieldSet) sample.RejectReason {
	hasRead, hasWrite := has.has(fieldRCU), has.has(fieldWCU)
	if (!hasRead || !hasWrite) && !d.rec.CompleteUnits(hasRead, hasWrite) {
		return sample.RejectNoOp
	}
	return ""
}

// buildWeight reads the number of requests that the record represents.
func (d *Decoder) buildWeight() sample.RejectReason {
	var ok bool
	if d.seen.has(fieldRate) {
		if d.rec.Rate, ok = d.float(fieldRate); !ok {
			return sample.RejectBadRate
		}
	}
	if d.seen.has(fieldN) {
		if d.rec.N, ok = d.wholeNumber(fieldN); !ok {
			return sample.RejectBadN
		}
	}
	if d.seen.has(fieldCalls) {
		// 0 is not "unknown": every request comes from a call.
		if d.rec.Calls, ok = d.float(fieldCalls); !ok || d.rec.Calls <= 0 {
			return sample.RejectBadCalls
		}
	}
	if d.seen&lostFields != 0 {
		if reason := d.buildLost(); reason != "" {
			return reason
		}
	}
	if d.seen&retryFields != 0 {
		return d.buildRetries()
	}
	return ""
}

// lostFields are the fields about attempts that other requests of the item ended.
const lostFields fieldSet = 1<<fieldConflict | 1<<fieldConditionFailed

func (d *Decoder) buildLost() sample.RejectReason {
	for _, f := range [...]field{fieldConflict, fieldConditionFailed} {
		if !d.seen.has(f) {
			continue
		}
		n, ok := d.wholeNumber(f)
		if !ok {
			return sample.RejectBadLost
		}
		*d.shapes.places[f].whole = n
	}
	return ""
}

// retryFields are the fields about retries.
const retryFields fieldSet = 1<<fieldAttempts | 1<<fieldWaited | 1<<fieldFailed

// buildRetries reads the attempts, waiting time and failure of the record's calls.
func (d *Decoder) buildRetries() sample.RejectReason {
	if !d.seen.has(fieldAttempts) {
		return sample.RejectBadRetries // the other retry fields need attempts
	}
	var ok bool
	// 0 is not "unknown": every call was sent.
	if d.rec.Attempts, ok = d.wholeNumber(fieldAttempts); !ok || d.rec.Attempts <= 0 {
		return sample.RejectBadRetries
	}
	if d.seen.has(fieldWaited) {
		if d.rec.Waited, ok = d.float(fieldWaited); !ok {
			return sample.RejectBadRetries
		}
	}
	if d.seen.has(fieldFailed) {
		return d.buildFailed()
	}
	return ""
}

func (d *Decoder) buildFailed() sample.RejectReason {
	v := d.given[fieldFailed]
	if v.kind != kindBool {
		return sample.RejectBadRetries
	}
	d.rec.Failed = d.src[v.start] == 't'
	return ""
}

// contextFields are the less common fields, which most records lack.
const contextFields fieldSet = 1<<fieldThrottle | 1<<fieldCall | 1<<fieldCaller | 1<<fieldAccount |
	1<<fieldRegion | 1<<fieldID | 1<<fieldAttrs

func (d *Decoder) buildContext() (reason sample.RejectReason) {
	if d.seen&contextFields == 0 {
		return ""
	}
	for _, f := range [...]field{fieldThrottle, fieldCall, fieldCaller, fieldAccount, fieldRegion, fieldID} {
		if *d.shapes.places[f].text, reason = d.text(f, sample.RejectBadText); reason != "" {
			return reason
		}
	}
	d.rec.Attrs, reason = d.textMap(fieldAttrs)
	return reason
}

// text returns the text of a field, or "" if it is absent. A value that is not a string gets
// the reject reason `otherwise`, but for a list of throttle reasons.
func (d *Decoder) text(f field, otherwise sample.RejectReason) (string, sample.RejectReason) {
	if !d.seen.has(f) {
		return "", ""
	}
	v := d.given[f]
	if v.kind == kindArray && f == fieldThrottle { // ThrottlingReasons as they are
		return alias(d.src[v.start:v.end]), ""
	}
	if v.kind != kindString && v.kind != kindEscaped {
		return "", otherwise
	}
	return d.textOf(v)
}

// textMap returns the map of a field, or nil if it is absent or empty. The decoder reuses the
// map.
func (d *Decoder) textMap(f field) (map[string]string, sample.RejectReason) {
	if !d.seen.has(f) {
		return nil, ""
	}
	if d.given[f].kind != kindObject {
		return nil, sample.RejectBadAttrs
	}
	d.clearAttrs()
	var reason sample.RejectReason
	c := cursor{src: d.src, pos: d.given[f].start}
	c.object(func(name, v value) {
		if reason == "" {
			reason = d.attr(name, v)
		}
	})
	if len(d.attrs) == 0 {
		return nil, reason
	}
	return d.attrs, reason
}

func (d *Decoder) attr(name, v value) sample.RejectReason {
	if v.kind != kindString && v.kind != kindEscaped {
		return sample.RejectBadAttrs
	}
	key, reason := d.textOf(name)
	if reason != "" {
		return reason
	}
	d.attrs[key], reason = d.textOf(v)
	return reason
}
