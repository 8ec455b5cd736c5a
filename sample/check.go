package sample

// Limits of DynamoDB. Source: Developer Guide, "Quotas in Amazon DynamoDB".
const (
	// MaxKeyBytes is the longest partition key in bytes. A sort key may have half as many.
	MaxKeyBytes  = 2048
	maxSKBytes   = 1024
	minNameBytes = 3
	maxNameBytes = 255
	MaxItemBytes = 400 << 10
	// maxPageBytes is the most that one Query, Scan or statement reads.
	maxPageBytes = 1 << 20
)

// The range of request times in Unix milliseconds: from January 2012, when DynamoDB opened, to
// the end of 9999. Seconds or microseconds, mistaken for milliseconds, lie outside.
const (
	minTime = 1_325_376_000_000
	maxTime = 253_402_300_799_999
)

// Check returns the reason to reject the record, or an empty RejectReason. Every record of a
// decoder has passed it; call it for records that you make yourself. Of the texts it checks
// only table, index, account, Region, and that Throttle is not a word for "no", or an error that
// is no throttling.
func (r *Record) Check() RejectReason {
	if r.isUsual() && IsName(r.Table) && IsName(r.Index) && IsPlace(r.Account) && IsPlace(r.Region) {
		return ""
	}
	return r.fault()
}

// CheckExceptNames is Check of a record whose table, index, account and Region have passed
// [IsName] and [IsPlace]: a decoder checks a name that many records share only once.
func (r *Record) CheckExceptNames() RejectReason {
	if r.isUsual() {
		return ""
	}
	return r.fault()
}

// fault is the slow form of Check: it checks one field after the other.
func (r *Record) fault() RejectReason {
	switch {
	case r.isUntimely():
		return RejectBadTime
	case r.Table == "":
		return RejectNoTable
	case !IsName(r.Table) || !IsName(r.Index):
		return RejectBadTable
	case !IsPlace(r.Account) || !IsPlace(r.Region):
		return RejectBadText
	case r.PK.IsZero() && r.Op != Scan:
		return RejectNoKey
	}
	if reason := r.PK.check(MaxKeyBytes); reason != "" {
		return reason
	}
	if reason := r.SK.check(maxSKBytes); reason != "" {
		return reason
	}
	if reason := r.checkAmounts(); reason != "" {
		return reason
	}
	if r.Throttle != "" && isOtherError(r.Throttle) {
		return RejectBadThrottle
	}
	return ""
}

// CheckAmounts is Check of a record whose names, keys, operation, consistency and rate have
// passed it, as in a batch that shares them.
//
// It subtracts each field from its bounds and combines the signs: a negative difference is a
// fault. So a record costs one branch, instead of one for each field.
func (r *Record) CheckAmounts() RejectReason {
	units := r.RCU | (MaxUnits - r.RCU) | r.WCU | (MaxUnits - r.WCU)
	others := (r.Time - minTime) | (maxTime - r.Time) | r.Bytes | (MaxItemBytes - r.Bytes) |
		(r.N - 1) | (MaxN - r.N) | r.Attempts | (MaxAttempts - r.Attempts)
	if int64(units)|others >= 0 && (r.WCU == 0 || !r.Op.IsRead()) &&
		(r.Calls == 0 || r.Calls >= MinCalls && r.Calls <= float64(r.N)) &&
		r.Waited == 0 && !r.Failed && r.Conflicts|r.ConditionsFailed == 0 && r.isBounded() {
		return ""
	}
	if r.isUntimely() {
		return RejectBadTime
	}
	return r.checkAmounts()
}

func (r *Record) isUntimely() bool {
	return !r.TimeFromMessage && (r.Time < minTime || r.Time > maxTime)
}

// isUsual reports whether a record, apart from its names, is of the usual kind and can be
// true. It compares by signs, as CheckAmounts does.
func (r *Record) isUsual() bool {
	table, index, pk, sk := len(r.Table), len(r.Index), len(r.PK.Text), len(r.SK.Text)
	texts := (table - 1) | (maxNameBytes - table) | (maxNameBytes - index) | (maxNameBytes - len(r.Account)) | (maxNameBytes - len(r.Region)) |
		(pk - 1) | (MaxKeyBytes - pk) | (sk - len(r.SK.Type)) | (maxSKBytes*len(r.SK.Type) - sk)
	return texts >= 0 && len(r.Throttle) == 0 && len(r.PK.Type) == 1 && len(r.SK.Type) <= 1 && r.Read <= Transactional &&
		r.Rate >= MinRate && r.Rate <= 1 && r.CheckAmounts() == ""
}

// nameBytes are the bytes allowed in names of tables, indexes, accounts and Regions.
var nameBytes = func() (allowed [256]bool) {
	for _, b := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") {
		allowed[b] = true
	}
	return allowed
}()

// NameRule describes the names that [IsName] accepts, for error texts.
const NameRule = `3 to 255 letters, digits, "_", "-" and "."`

// IsName reports whether DynamoDB allows a text as the name of a table or index: 3 to 255
// bytes, all of them letters, digits, "_", "-" or ".". It accepts an empty text (unknown).
func IsName(text string) bool {
	return (len(text) >= minNameBytes || text == "") && IsPlace(text)
}

// IsPlace reports whether a text can be an account or a Region: at most 255 of the bytes that
// [IsName] allows. Names occur in commands, labels and pages, where other bytes could do harm.
func IsPlace(text string) bool {
	if len(text) > maxNameBytes {
		return false
	}
	for i := range len(text) {
		if !nameBytes[text[i]] {
			return false
		}
	}
	return true
}

// isBounded reports whether the load is within MaxLoad. It avoids the division in Load, which
// would cost as much as all other checks.
func (r *Record) isBounded() bool {
	return float64(max(r.RCU, r.WCU))*float64(r.N) < float64(MaxLoad)*r.Rate
}

func (r *Record) checkAmounts() RejectReason {
	switch {
	case r.Bytes < 0:
		return RejectBadBytes
	case r.Bytes > MaxItemBytes && (r.Bytes > maxPageBytes || !r.Op.readsPages()):
		return RejectTooLarge
	case r.Read > Transactional:
		return RejectBadRead
	case r.RCU < 0 || r.RCU > MaxUnits || r.WCU < 0 || r.WCU > MaxUnits,
		r.WCU > 0 && r.Op.IsRead(): // a write may have read units, if a transaction was retried
		return RejectBadUnits
	case !(r.Rate >= MinRate && r.Rate <= 1): // also rejects NaN
		return RejectBadRate
	case r.N < 1 || r.N > MaxN:
		return RejectBadN
	case r.Calls != 0 && !(r.Calls >= MinCalls && r.Calls <= float64(r.N)): // also rejects NaN
		return RejectBadCalls
	case r.Attempts != 0 || r.Waited != 0 || r.Failed:
		if r.Attempts < 1 || r.Attempts > MaxAttempts || !(r.Waited >= 0 && r.Waited <= MaxWaited) {
			return RejectBadRetries
		}
	}
	if !r.isBounded() {
		return RejectBadUnits
	}
	return r.checkLost()
}

// readsPages reports whether the operation's bytes may cover many items.
func (o Op) readsPages() bool {
	switch o {
	case Query, Scan, ExecuteStatement, BatchExecuteStatement:
		return true
	}
	return false
}

// check returns the reject reason of a key with a limit in bytes. An unknown key passes.
func (k Key) check(limit int) RejectReason {
	if len(k.Type) > MaxKeyParts || k.Type == "" && k.Text != "" {
		return RejectBadKey
	}
	if len(k.Type) == 1 {
		if k.Text == "" {
			return RejectBadKey
		}
	} else {
		rest := k.Text
		for range len(k.Type) {
			var part string
			if part, rest = cutPart(rest); part == "" {
				return RejectBadKey
			}
		}
	}
	// Size counts fewer bytes than the text has, so a short text needs no count.
	if len(k.Text) > limit && k.Size() > limit {
		return RejectKeyTooLong
	}
	return ""
}
