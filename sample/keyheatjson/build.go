package keyheatjson

import (
	"time"

	"github.com/keyheat/keyheat/sample"
)

// build makes a record of the fields seen, and returns why it cannot be true.
func (d *Decoder) build(at int64) sample.Reason {
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
	if reason := d.buildUnits(); reason != "" {
		return reason
	}
	if reason := d.buildWeight(); reason != "" {
		return reason
	}
	if reason := d.buildContext(); reason != "" {
		return reason
	}
	return d.judge(d.seen)
}

// judge returns why a record of these fields cannot be true.
func (d *Decoder) judge(has fieldSet) sample.Reason {
	if !has.has(fieldRate) && len(d.rates) > 0 {
		if rate, known := sample.Lookup(d.rates, d.rec.Target()); known {
			d.rec.Rate = rate
		}
	}
	return d.rec.Check()
}

func (d *Decoder) buildTime(at int64) sample.Reason {
	r := &d.rec
	if !d.seen.has(fieldTime) {
		r.Time, r.TimeFromMessage = at, true
		if at <= 0 {
			return sample.ReasonNoTime
		}
		return ""
	}
	if d.given[fieldTime].kind == kindNumber {
		var ok bool
		if r.Time, ok = d.wholeNumber(fieldTime); !ok {
			return sample.ReasonBadTime
		}
		return ""
	}
	text, reason := d.text(fieldTime, sample.ReasonBadTime)
	if reason != "" {
		return reason
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return sample.ReasonBadTime
	}
	r.Time = t.UnixMilli()
	return ""
}

func (d *Decoder) buildNames() (reason sample.Reason) {
	if d.rec.Table, reason = d.text(fieldTable, sample.ReasonBadTable); reason != "" {
		return reason
	}
	d.rec.Index, reason = d.text(fieldIndex, sample.ReasonBadTable)
	return reason
}

// buildRequest reads what was asked for: the operation, on how many bytes, and
// how consistent.
func (d *Decoder) buildRequest() sample.Reason {
	r := &d.rec
	name, reason := d.text(fieldOp, sample.ReasonBadOp)
	if reason != "" {
		return reason
	}
	var ok bool
	if r.Op, ok = sample.ParseOp(name); !ok && name != "" {
		return sample.ReasonBadOp
	}
	if d.seen.has(fieldBytes) {
		if r.Bytes, ok = d.wholeNumber(fieldBytes); !ok {
			return sample.ReasonBadBytes
		}
	}
	name, reason = d.text(fieldRead, sample.ReasonBadRead)
	if reason != "" {
		return reason
	}
	if name != "" {
		if r.Read, ok = sample.ParseConsistency(name); !ok {
			return sample.ReasonBadRead
		}
	}
	if r.Op == sample.TransactGetItems {
		r.Read = sample.Transactional
	}
	return ""
}

// buildUnits reads the units, and computes those that are not given.
func (d *Decoder) buildUnits() sample.Reason {
	r := &d.rec
	var ok bool
	if d.seen.has(fieldRCU) {
		if r.RCU, ok = d.milli(fieldRCU); !ok {
			return sample.ReasonBadUnits
		}
	}
	if d.seen.has(fieldWCU) {
		if r.WCU, ok = d.milli(fieldWCU); !ok {
			return sample.ReasonBadUnits
		}
	}
	return d.estimate(d.seen)
}

// estimate computes the units that are not given.
func (d *Decoder) estimate(has fieldSet) sample.Reason {
	hasRead, hasWrite := has.has(fieldRCU), has.has(fieldWCU)
	if (!hasRead || !hasWrite) && !d.rec.CompleteUnits(hasRead, hasWrite) {
		return sample.ReasonNoOp
	}
	return ""
}

// buildWeight reads how many requests the record stands for.
func (d *Decoder) buildWeight() sample.Reason {
	var ok bool
	if d.seen.has(fieldRate) {
		if d.rec.Rate, ok = d.float(fieldRate); !ok {
			return sample.ReasonBadRate
		}
	}
	if d.seen.has(fieldN) {
		if d.rec.N, ok = d.wholeNumber(fieldN); !ok {
			return sample.ReasonBadN
		}
	}
	if d.seen.has(fieldCalls) {
		// None is not "unknown": nothing comes from no call.
		if d.rec.Calls, ok = d.float(fieldCalls); !ok || d.rec.Calls <= 0 {
			return sample.ReasonBadCalls
		}
	}
	if d.seen&retryFields != 0 {
		return d.buildRetries()
	}
	return ""
}

// retryFields are those of calls that may have been sent again.
const retryFields fieldSet = 1<<fieldAttempts | 1<<fieldWaited | 1<<fieldFailed

// buildRetries reads how the record's calls were sent.
func (d *Decoder) buildRetries() sample.Reason {
	if !d.seen.has(fieldAttempts) {
		return sample.ReasonBadRetries // nothing is known of calls whose attempts are not
	}
	var ok bool
	// None is not "unknown": each was sent.
	if d.rec.Attempts, ok = d.wholeNumber(fieldAttempts); !ok || d.rec.Attempts <= 0 {
		return sample.ReasonBadRetries
	}
	if d.seen.has(fieldWaited) {
		if d.rec.Waited, ok = d.float(fieldWaited); !ok {
			return sample.ReasonBadRetries
		}
	}
	if d.seen.has(fieldFailed) {
		return d.buildFailed()
	}
	return ""
}

func (d *Decoder) buildFailed() sample.Reason {
	v := d.given[fieldFailed]
	if v.kind != kindBool {
		return sample.ReasonBadRetries
	}
	d.rec.Failed = d.src[v.start] == 't'
	return ""
}

// contextFields are all but the first few that records have.
const contextFields fieldSet = 1<<fieldThrottle | 1<<fieldCall | 1<<fieldCaller | 1<<fieldAccount |
	1<<fieldRegion | 1<<fieldID | 1<<fieldAttrs

func (d *Decoder) buildContext() (reason sample.Reason) {
	if d.seen&contextFields == 0 {
		return ""
	}
	r := &d.rec
	if r.Throttle, reason = d.text(fieldThrottle, sample.ReasonBadText); reason != "" {
		return reason
	}
	if r.Call, reason = d.text(fieldCall, sample.ReasonBadText); reason != "" {
		return reason
	}
	if r.Caller, reason = d.text(fieldCaller, sample.ReasonBadText); reason != "" {
		return reason
	}
	if r.Account, reason = d.text(fieldAccount, sample.ReasonBadText); reason != "" {
		return reason
	}
	if r.Region, reason = d.text(fieldRegion, sample.ReasonBadText); reason != "" {
		return reason
	}
	if r.ID, reason = d.text(fieldID, sample.ReasonBadText); reason != "" {
		return reason
	}
	r.Attrs, reason = d.textMap(fieldAttrs)
	return reason
}

// text returns the text of a field, empty when it is absent, or that reason when it
// is no string.
func (d *Decoder) text(f field, otherwise sample.Reason) (string, sample.Reason) {
	if !d.seen.has(f) {
		return "", ""
	}
	v := d.given[f]
	if v.kind != kindString && v.kind != kindEscaped {
		return "", otherwise
	}
	return d.textOf(v)
}

// textMap returns a field of text to text, nil when it is absent or empty. The map
// is the decoder's own.
func (d *Decoder) textMap(f field) (map[string]string, sample.Reason) {
	if !d.seen.has(f) {
		return nil, ""
	}
	if d.given[f].kind != kindObject {
		return nil, sample.ReasonBadAttrs
	}
	d.clearAttrs()
	var reason sample.Reason
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

func (d *Decoder) attr(name, v value) sample.Reason {
	if v.kind != kindString && v.kind != kindEscaped {
		return sample.ReasonBadAttrs
	}
	key, reason := d.textOf(name)
	if reason != "" {
		return reason
	}
	d.attrs[key], reason = d.textOf(v)
	return reason
}
