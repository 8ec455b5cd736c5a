package sample

import "time"

// build makes a record of the fields seen, and answers why it cannot be true.
func (d *Decoder) build(at int64) Reason {
	d.rec = Record{Rate: 1, N: 1}
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
	return d.rec.Check()
}

func (d *Decoder) buildTime(at int64) Reason {
	r := &d.rec
	if !d.seen.has(fieldTime) {
		r.Time, r.TimeFromMessage = at, true
		if at <= 0 {
			return ReasonNoTime
		}
		return ""
	}
	if d.given[fieldTime].kind == kindNumber {
		var ok bool
		if r.Time, ok = d.whole(fieldTime); !ok {
			return ReasonBadTime
		}
		return ""
	}
	text, reason := d.text(fieldTime, ReasonBadTime)
	if reason != "" {
		return reason
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return ReasonBadTime
	}
	r.Time = t.UnixMilli()
	return ""
}

func (d *Decoder) buildNames() (reason Reason) {
	if d.rec.Table, reason = d.text(fieldTable, ReasonBadTable); reason != "" {
		return reason
	}
	d.rec.Index, reason = d.text(fieldIndex, ReasonBadTable)
	return reason
}

// buildRequest reads what was asked for: the operation, on how many bytes, and
// how consistent.
func (d *Decoder) buildRequest() Reason {
	r := &d.rec
	name, reason := d.text(fieldOp, ReasonBadOp)
	if reason != "" {
		return reason
	}
	var ok bool
	if r.Op, ok = ParseOp(name); !ok && name != "" {
		return ReasonBadOp
	}
	if d.seen.has(fieldBytes) {
		if r.Bytes, ok = d.whole(fieldBytes); !ok {
			return ReasonBadBytes
		}
	}
	name, reason = d.text(fieldRead, ReasonBadRead)
	if reason != "" {
		return reason
	}
	if name != "" {
		if r.Read, ok = ParseConsistency(name); !ok {
			return ReasonBadRead
		}
	}
	if r.Op == TransactGetItems {
		r.Read = Transactional
	}
	return ""
}

// buildUnits reads the units, and computes those that are not given.
func (d *Decoder) buildUnits() Reason {
	r := &d.rec
	hasRead, hasWrite := d.seen.has(fieldRCU), d.seen.has(fieldWCU)
	if !hasRead || !hasWrite {
		var told bool
		r.RCU, r.WCU, told = EstimateUnits(r.Op, r.Bytes, r.Read)
		if !told && !hasRead && !hasWrite {
			return ReasonNoOp
		}
		r.Estimated = r.Op.IsRead() && !hasRead || r.Op.IsWrite() && !hasWrite
	}
	var ok bool
	if hasRead {
		if r.RCU, ok = d.milli(fieldRCU); !ok {
			return ReasonBadUnits
		}
	}
	if hasWrite {
		if r.WCU, ok = d.milli(fieldWCU); !ok {
			return ReasonBadUnits
		}
	}
	return ""
}

// buildWeight reads how many requests the record stands for.
func (d *Decoder) buildWeight() Reason {
	var ok bool
	if d.seen.has(fieldRate) {
		if d.rec.Rate, ok = d.float(fieldRate); !ok {
			return ReasonBadRate
		}
	} else if rate, known := d.rates[d.rec.Table]; known {
		d.rec.Rate = rate
	}
	if d.seen.has(fieldN) {
		if d.rec.N, ok = d.whole(fieldN); !ok {
			return ReasonBadN
		}
	}
	return ""
}

// contextFields are all but the first few that records have.
const contextFields fieldSet = 1<<fieldThrottle | 1<<fieldCaller | 1<<fieldAccount |
	1<<fieldRegion | 1<<fieldID | 1<<fieldAttrs

func (d *Decoder) buildContext() (reason Reason) {
	if d.seen&contextFields == 0 {
		return ""
	}
	r := &d.rec
	if r.Throttle, reason = d.text(fieldThrottle, ReasonBadText); reason != "" {
		return reason
	}
	if r.Caller, reason = d.text(fieldCaller, ReasonBadText); reason != "" {
		return reason
	}
	if r.Account, reason = d.text(fieldAccount, ReasonBadText); reason != "" {
		return reason
	}
	if r.Region, reason = d.text(fieldRegion, ReasonBadText); reason != "" {
		return reason
	}
	if r.ID, reason = d.text(fieldID, ReasonBadText); reason != "" {
		return reason
	}
	r.Attrs, reason = d.textMap(fieldAttrs)
	return reason
}

// text is the text of a field, empty when it is absent, or that reason when it
// is no string.
func (d *Decoder) text(f field, otherwise Reason) (string, Reason) {
	if !d.seen.has(f) {
		return "", ""
	}
	v := d.given[f]
	if v.kind != kindString && v.kind != kindEscaped {
		return "", otherwise
	}
	return d.textOf(v)
}

// textMap is a field of text to text, nil when it is absent or empty. The map
// is the decoder's own.
func (d *Decoder) textMap(f field) (map[string]string, Reason) {
	if !d.seen.has(f) {
		return nil, ""
	}
	if d.given[f].kind != kindObject {
		return nil, ReasonBadAttrs
	}
	clear(d.attrs)
	var reason Reason
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

func (d *Decoder) attr(name, v value) Reason {
	if v.kind != kindString && v.kind != kindEscaped {
		return ReasonBadAttrs
	}
	key, reason := d.textOf(name)
	if reason != "" {
		return reason
	}
	d.attrs[key], reason = d.textOf(v)
	return reason
}
