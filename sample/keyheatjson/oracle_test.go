package keyheatjson_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// oracle decodes as Decoder documents it, slowly and by other means: encoding/json splits and
// reads the text, math/big the numbers. The two share only the types. If the text itself is
// broken, the oracle's reject reason is always "syntax", because the order of several faults is
// not specified.
type oracle struct {
	recorder
	src []byte
	at  int64
}

func oracleDecode(message []byte, at int64) *recorder {
	o := &oracle{src: bytes.TrimPrefix(message, []byte("\xef\xbb\xbf")), at: at}
	pos := o.blank(0)
	if pos == len(o.src) {
		o.Bad(sample.RejectEmpty, nil)
	}
	for pos < len(o.src) {
		switch o.src[pos] {
		case '{':
			pos = o.line(pos)
		case '[':
			pos = o.list(pos)
		default:
			pos = o.stray(pos)
		}
		pos = o.blank(pos)
	}
	return &o.recorder
}

func (o *oracle) blank(pos int) int {
	return len(o.src) - len(bytes.TrimLeft(o.src[pos:], " \t\r\n"))
}

func (o *oracle) broken() { o.Bad(sample.RejectSyntax, nil) }

// value returns the JSON value at pos and where it ends.
func (o *oracle) value(pos int) (raw json.RawMessage, end int, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(o.src[pos:]))
	if err := dec.Decode(&raw); err != nil {
		return nil, 0, false
	}
	return raw, pos + int(dec.InputOffset()), utf8.Valid(raw) && depth(raw) <= keyheatjson.MaxDepth
}

func depth(raw []byte) int {
	deepest, now := 0, 0
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // 1e999 is JSON, though no float64
	for {
		token, err := dec.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			now++
			deepest = max(deepest, now)
		case json.Delim('}'), json.Delim(']'):
			now--
		}
	}
}

// nextLine returns the rest from pos on, split behind each line end.
func (o *oracle) nextLine(pos int) int {
	line, _, _ := bytes.Cut(o.src[pos:], []byte("\n"))
	return min(pos+len(line)+1, len(o.src))
}

func (o *oracle) nextLineWith(first byte, pos int) int {
	for pos = o.nextLine(pos); pos < len(o.src) && o.src[pos] != first; {
		pos = o.nextLine(pos)
	}
	return pos
}

func (o *oracle) line(pos int) int {
	raw, end, ok := o.value(pos)
	if !ok {
		o.broken()
		if string(bytes.Trim(o.src[pos:o.nextLine(pos)], " \t\r\n")) == "{" {
			return o.nextLineWith('{', pos)
		}
		return o.nextLine(pos)
	}
	tail := bytes.TrimLeft(o.src[end:], " \t\r")
	if len(tail) > 0 && tail[0] != '{' && tail[0] != '\n' {
		o.broken()
		return o.nextLine(end)
	}
	o.object(raw)
	return end
}

func (o *oracle) list(opened int) int {
	stop := func(pos int) int {
		o.broken()
		if bytes.IndexByte(o.src[opened:pos], '\n') < 0 {
			return o.nextLine(pos)
		}
		return o.nextLineWith('[', pos)
	}
	pos := o.blank(opened + 1)
	if pos < len(o.src) && o.src[pos] == ']' {
		return pos + 1
	}
	for {
		raw, end, ok := o.value(pos)
		if !ok {
			return stop(pos)
		}
		if raw[0] == '{' {
			o.object(raw)
		} else {
			o.Bad(sample.RejectNotObject, nil)
		}
		pos = o.blank(end)
		switch {
		case pos < len(o.src) && o.src[pos] == ',':
			pos = o.blank(pos + 1)
		case pos < len(o.src) && o.src[pos] == ']':
			return pos + 1
		default:
			return stop(end)
		}
	}
}

func (o *oracle) stray(pos int) int {
	_, end, ok := o.value(pos)
	if tail := o.src[min(end, len(o.src)):]; ok {
		tail = bytes.TrimLeft(tail, " \t\r")
		ok = len(tail) == 0 || tail[0] == '\n'
	}
	if ok {
		o.Bad(sample.RejectNotObject, nil)
	} else {
		o.broken()
	}
	return o.nextLine(pos)
}

func (o *oracle) object(raw json.RawMessage) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		panic("a value that encoding/json has read: " + err.Error())
	}
	for name, v := range fields {
		if string(v) == "null" {
			delete(fields, name)
		}
	}
	r, reason := oracleRecord(fields, o.at)
	if reason == sample.RejectBadUTF8 {
		reason = sample.RejectSyntax
	}
	if reason != "" {
		o.Bad(reason, nil)
		return
	}
	o.Record(&r)
}

// oracleRecord reads the fields in the documented order of checks: first the
// form of each, then the limits.
func oracleRecord(fields map[string]json.RawMessage, at int64) (r sample.Record, reason sample.RejectReason) {
	fail := func(why sample.RejectReason) {
		if reason == "" {
			reason = why
		}
	}
	text := func(name string, why sample.RejectReason) string {
		s, lone, ok := oracleText(fields[name])
		if fields[name] != nil && !ok {
			fail(why)
		}
		if lone {
			fail(sample.RejectBadUTF8)
		}
		return s
	}
	whole := func(name string, otherwise int64, why sample.RejectReason) int64 {
		if fields[name] == nil {
			return otherwise
		}
		v, ok := oracleWhole(fields[name])
		if !ok {
			fail(why)
		}
		return v
	}

	switch ts := fields["ts"]; {
	case ts == nil:
		r.Time, r.TimeFromMessage = at, true
		if at <= 0 {
			fail(sample.RejectNoTime)
		}
	case ts[0] == '"':
		t, err := time.Parse(time.RFC3339, text("ts", sample.RejectBadTime))
		if err != nil {
			fail(sample.RejectBadTime)
		}
		r.Time = t.UnixMilli()
	default:
		r.Time = whole("ts", 0, sample.RejectBadTime)
	}
	r.Table = text("table", sample.RejectBadTable)
	r.Index = text("index", sample.RejectBadTable)
	var why sample.RejectReason
	if r.PK, why = oracleKey(fields["pk"]); why != "" {
		fail(why)
	}
	if r.SK, why = oracleKey(fields["sk"]); why != "" {
		fail(why)
	}
	op := text("op", sample.RejectBadOp)
	if i := slices.Index(operations, op); i >= 0 {
		r.Op = sample.Op(i)
	} else {
		fail(sample.RejectBadOp)
	}
	r.Bytes = whole("bytes", 0, sample.RejectBadBytes)
	switch text("read", sample.RejectBadRead) {
	case "", "eventual":
	case "strong":
		r.Read = sample.Strong
	case "transactional":
		r.Read = sample.Transactional
	default:
		fail(sample.RejectBadRead)
	}
	if op == "TransactGetItems" {
		r.Read = sample.Transactional
	}
	r.Rate = 1
	if v := fields["rate"]; v != nil && json.Unmarshal(v, &r.Rate) != nil {
		fail(sample.RejectBadRate)
	}
	r.N = whole("n", 1, sample.RejectBadN)
	if v := fields["calls"]; v != nil && (json.Unmarshal(v, &r.Calls) != nil || r.Calls <= 0) {
		fail(sample.RejectBadCalls)
	}
	r.Conflicts, r.ConditionsFailed = whole("conflict", 0, sample.RejectBadLost), whole("condition_failed", 0, sample.RejectBadLost)
	if fields["attempts"] == nil && (fields["waited_ms"] != nil || fields["failed"] != nil) {
		fail(sample.RejectBadRetries)
	}
	if r.Attempts = whole("attempts", 0, sample.RejectBadRetries); fields["attempts"] != nil && r.Attempts < 1 {
		fail(sample.RejectBadRetries)
	}
	for name, to := range map[string]any{"waited_ms": &r.Waited, "failed": &r.Failed} {
		if v := fields[name]; v != nil && json.Unmarshal(v, to) != nil {
			fail(sample.RejectBadRetries)
		}
	}
	if why = oracleUnits(&r, fields); why != "" {
		fail(why)
	}
	if v := fields["throttle"]; v != nil && v[0] == '[' {
		r.Throttle = string(v)
	} else {
		r.Throttle = text("throttle", sample.RejectBadText)
	}
	r.Call = text("call", sample.RejectBadText)
	r.Caller = text("caller", sample.RejectBadText)
	r.Account = text("account", sample.RejectBadText)
	r.Region = text("region", sample.RejectBadText)
	r.ID = text("id", sample.RejectBadText)
	if r.Attrs, why = oracleAttrs(fields["attrs"]); why != "" {
		fail(why)
	}
	fail(oracleLimits(&r))
	return r, reason
}

// oracleDenials are the throttle texts that mean "not throttled".
var oracleDenials = []string{
	"", "-", "0", "f", "false", "n", "n/a", "nein", "nil", "no", "none", "not throttled", "null", "ok", "success", "succeeded",
	"[]",
}

// oracleOthers are parts of errors that are no throttling.
var oracleOthers = regexp.MustCompile(`(?i)transactionconflict|conditionalcheckfailed|validationexception|validationerror|internalservererror`)

// operations are DynamoDB's, in the order of sample.Op.
var operations = []string{
	"", "GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems",
	"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems",
	"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction",
}

func oracleText(raw json.RawMessage) (s string, lone, ok bool) {
	if raw == nil || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false, false
	}
	return s, hasLoneSurrogate(string(raw)), true
}

var escapeRun = regexp.MustCompile(`\\\\|(?:\\u[0-9a-fA-F]{4})+`)

// hasLoneSurrogate looks at runs of \uXXXX as the UTF-16 that they are.
func hasLoneSurrogate(raw string) bool {
	for _, run := range escapeRun.FindAllString(raw, -1) {
		var units []uint16
		meant := 0
		for i := 0; run != `\\` && i < len(run); i += 6 {
			u, err := strconv.ParseUint(run[i+2:i+6], 16, 16)
			if err != nil {
				panic(err)
			}
			if u == utf8.RuneError {
				meant++
			}
			units = append(units, uint16(u))
		}
		if strings.Count(string(utf16.Decode(units)), "\ufffd") != meant {
			return true
		}
	}
	return false
}

var exponentPart = regexp.MustCompile(`[eE]([+-]?)(\d+)$`)

// oracleNumber returns the exact number, or nil if it is so large or small that the caller may
// treat it as infinite or zero, by the sign of size.
func oracleNumber(text string) (r *big.Rat, size int) {
	if m := exponentPart.FindStringSubmatch(text); m != nil {
		mantissa := strings.TrimSuffix(text, m[0])
		if digits := strings.TrimLeft(m[2], "0"); len(digits) > 4 {
			if strings.Trim(mantissa, "+-0.") == "" {
				return new(big.Rat), 0
			}
			if m[1] == "-" {
				return nil, -1
			}
			return nil, 1
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("no number: " + text)
	}
	return r, 0
}

func isNumber(raw json.RawMessage) bool {
	return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
}

func oracleWhole(raw json.RawMessage) (int64, bool) {
	if !isNumber(raw) {
		return 0, false
	}
	r, _ := oracleNumber(string(raw))
	if r == nil || !r.IsInt() || len(new(big.Int).Abs(r.Num()).String()) > 18 {
		return 0, false
	}
	return r.Num().Int64(), true
}

func oracleMilli(raw json.RawMessage) (sample.Milli, bool) {
	if !isNumber(raw) {
		return 0, false
	}
	r, size := oracleNumber(string(raw))
	switch {
	case size > 0:
		return 0, false
	case size < 0 && raw[0] == '-':
		return -1, true
	case size < 0:
		return 1, true
	}
	thousandths := new(big.Rat).Mul(r, big.NewRat(1000, 1)).FloatString(0) // half away from zero
	v, err := strconv.ParseInt(thousandths, 10, 64)
	if err != nil || len(strings.TrimPrefix(thousandths, "-")) > 18 {
		return 0, false
	}
	if v == 0 {
		v = int64(r.Sign())
	}
	return sample.Milli(v), true
}

func oracleUnits(r *sample.Record, fields map[string]json.RawMessage) sample.RejectReason {
	name := operations[r.Op]
	reads := strings.Contains(name, "Get") || name == "Query" || name == "Scan"
	writes := strings.HasSuffix(name, "Item") && name != "GetItem" || strings.Contains(name, "Write")
	size := math.Max(float64(r.Bytes), 1)
	if reads {
		r.RCU = sample.Milli(math.Ceil(size/4096) * map[sample.Consistency]float64{
			sample.Eventual: 500, sample.Strong: 1000, sample.Transactional: 2000,
		}[r.Read])
		r.Estimated = fields["rcu"] == nil
	}
	if writes {
		r.WCU = sample.Milli(math.Ceil(size/1024) * 1000)
		if strings.HasPrefix(name, "Transact") {
			r.WCU *= 2
		}
		r.Estimated = fields["wcu"] == nil
	}
	if r.Conflicts > 0 && r.Conflicts == r.N*max(r.Attempts, 1) { // what they cost is unknown
		r.RCU, r.WCU = 0, 0
	} else if name == "TransactWriteItems" && r.Conflicts+r.ConditionsFailed > 0 && r.Conflicts+r.ConditionsFailed == r.N*max(r.Attempts, 1) { // it was prepared
		r.WCU /= 2
	}
	if !reads && !writes && fields["rcu"] == nil && fields["wcu"] == nil {
		return sample.RejectNoOp
	}
	ok := true
	if v := fields["rcu"]; v != nil {
		r.RCU, ok = oracleMilli(v)
	}
	if v := fields["wcu"]; v != nil && ok {
		r.WCU, ok = oracleMilli(v)
	}
	if !ok {
		return sample.RejectBadUnits
	}
	return ""
}

func oracleKey(raw json.RawMessage) (sample.Key, sample.RejectReason) {
	if raw == nil {
		return sample.Key{}, ""
	}
	if raw[0] != '[' {
		return oracleAttribute(raw)
	}
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil || len(elements) == 0 {
		return sample.Key{}, sample.RejectBadKey
	}
	var joined sample.Key
	for i, e := range elements {
		if i == sample.MaxKeyParts {
			return sample.Key{}, sample.RejectBadKey
		}
		k, reason := oracleAttribute(e)
		if reason != "" {
			return k, reason
		}
		if len(elements) == 1 {
			return k, ""
		}
		if i > 0 {
			joined.Text += "|"
		}
		joined.Type += k.Type
		joined.Text += strings.NewReplacer(`\`, `\\`, `|`, `\|`).Replace(k.Text)
	}
	return joined, ""
}

func oracleAttribute(raw json.RawMessage) (k sample.Key, reason sample.RejectReason) {
	bad := sample.RejectBadKey
	if raw[0] != '{' {
		if isNumber(raw) {
			return oracleNumberKey(string(raw))
		}
		s, lone, ok := oracleText(raw)
		switch {
		case lone:
			return k, sample.RejectBadUTF8
		case !ok || s == "":
			return k, bad
		}
		return sample.Key{Type: "S", Text: s}, ""
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || len(members) != 1 {
		return k, bad
	}
	for letter, v := range members {
		s, lone, ok := oracleText(v)
		switch {
		case letter == "N" && isNumber(v):
			return oracleNumberKey(string(v))
		case !ok || !strings.Contains("SNB", letter) || letter == "":
			return k, bad
		case lone:
			return k, sample.RejectBadUTF8
		case letter == "N":
			return oracleNumberKey(s)
		case letter == "S" && s != "":
			return sample.Key{Type: "S", Text: s}, ""
		case letter == "B":
			s = strings.NewReplacer("\r", "", "\n", "").Replace(s)
			if n := len(s) % 4; n > 1 && !strings.Contains(s, "=") {
				s += "=="[n-2:]
			}
			b, err := base64.StdEncoding.DecodeString(s)
			if err != nil || len(b) == 0 {
				return k, bad
			}
			return sample.Key{Type: "B", Text: base64.StdEncoding.EncodeToString(b)}, ""
		}
	}
	return k, bad
}

var numberSyntax = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

func oracleNumberKey(text string) (sample.Key, sample.RejectReason) {
	if !numberSyntax.MatchString(text) {
		return sample.Key{}, sample.RejectBadKey
	}
	r, _ := oracleNumber(text)
	if r == nil {
		return sample.Key{}, sample.RejectBadKey
	}
	// 167 decimals hold 130 places and 38 digits. DynamoDB cannot hold more.
	plain := r.FloatString(168)
	if back, ok := new(big.Rat).SetString(plain); !ok || back.Cmp(r) != 0 {
		return sample.Key{}, sample.RejectBadKey
	}
	plain = strings.TrimRight(strings.TrimRight(plain, "0"), ".")
	if r.Sign() == 0 {
		return sample.Key{Type: "N", Text: "0"}, ""
	}
	if r.IsInt() {
		plain = r.Num().String()
	}
	size := new(big.Rat).Abs(r)
	low, _ := new(big.Rat).SetString("1e-130")
	high, _ := new(big.Rat).SetString("1e126")
	digits := strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(plain), "0")
	if len(digits) > 38 || size.Cmp(low) < 0 || size.Cmp(high) >= 0 {
		return sample.Key{}, sample.RejectBadKey
	}
	return sample.Key{Type: "N", Text: plain}, ""
}

func oracleAttrs(raw json.RawMessage) (map[string]string, sample.RejectReason) {
	if raw == nil {
		return nil, ""
	}
	if raw[0] != '{' {
		return nil, sample.RejectBadAttrs
	}
	var attrs map[string]string
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token() // the brace
	for dec.More() {
		from := dec.InputOffset()
		token, _ := dec.Token()
		name := raw[from:dec.InputOffset()]
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			panic(err)
		}
		s, lone, ok := oracleText(v)
		switch {
		case !ok:
			return nil, sample.RejectBadAttrs
		case lone || hasLoneSurrogate(string(name)):
			return nil, sample.RejectBadUTF8
		}
		if attrs == nil {
			attrs = map[string]string{}
		}
		attrs[token.(string)] = s
	}
	return attrs, ""
}

func oracleLimits(r *sample.Record) sample.RejectReason {
	maxBytes := int64(400 * 1024)
	switch operations[r.Op] {
	case "Query", "Scan", "ExecuteStatement", "BatchExecuteStatement":
		maxBytes = 1024 * 1024
	}
	tooMuch := func(units sample.Milli) bool {
		most := new(big.Rat).SetFloat64(1e12 * r.Rate)
		load := new(big.Rat).SetInt64(int64(units))
		load.Mul(load, new(big.Rat).SetInt64(r.N))
		return load.Cmp(most) >= 0
	}
	from := time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC)
	until := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, check := range []struct {
		bad    bool
		reason sample.RejectReason
	}{
		{!r.TimeFromMessage && (r.Time < from.UnixMilli() || r.Time >= until.UnixMilli()), sample.RejectBadTime},
		{r.Table == "", sample.RejectNoTable},
		{!isName(r.Table) || !isName(r.Index), sample.RejectBadTable},
		{!isPlace(r.Account) || !isPlace(r.Region), sample.RejectBadText},
		{r.PK.Type == "" && operations[r.Op] != "Scan", sample.RejectNoKey},
		{oracleKeyBytes(r.PK) > 2048 || oracleKeyBytes(r.SK) > 1024, sample.RejectKeyTooLong},
		{r.Bytes < 0, sample.RejectBadBytes},
		{r.Bytes > maxBytes, sample.RejectTooLarge},
		{r.RCU < 0 || r.WCU < 0 || r.RCU > 1e9 || r.WCU > 1e9, sample.RejectBadUnits},
		{r.WCU > 0 && slices.Contains([]string{"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"}, operations[r.Op]), sample.RejectBadUnits},
		{r.Rate < 1e-9 || r.Rate > 1, sample.RejectBadRate},
		{r.N < 1 || r.N > 1e9, sample.RejectBadN},
		{r.Calls != 0 && (r.Calls < 0.001 || r.Calls > float64(r.N)), sample.RejectBadCalls},
		{r.Attempts > 1000 || r.Waited < 0 || r.Waited > 86_400_000, sample.RejectBadRetries},
		{tooMuch(r.RCU) || tooMuch(r.WCU), sample.RejectBadUnits},
		{r.Conflicts < 0 || r.ConditionsFailed < 0 || r.Conflicts+r.ConditionsFailed > r.N*max(r.Attempts, 1), sample.RejectBadLost},
		{r.ConditionsFailed > 0 && slices.Contains([]string{"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"}, operations[r.Op]), sample.RejectBadLost},
		{r.Conflicts > 0 && slices.Contains([]string{"GetItem", "BatchGetItem", "Query", "Scan"}, operations[r.Op]), sample.RejectBadLost},
		{oracleOthers.MatchString(r.Throttle), sample.RejectBadThrottle},
		{r.Throttle != "" && slices.Contains(oracleDenials, strings.ToLower(strings.TrimSpace(r.Throttle))), sample.RejectBadThrottle},
	} {
		if check.bad {
			return check.reason
		}
	}
	return ""
}

func oracleKeyBytes(k sample.Key) (n int) {
	for _, part := range k.Parts() {
		n += len(part.Text)
		if part.Type == "B" {
			b, _ := base64.StdEncoding.DecodeString(part.Text)
			n += len(b) - len(part.Text)
		}
	}
	return n
}

// oracleName are the names that DynamoDB's API reference allows, oraclePlace the accounts and
// Regions that Keyheat accepts.
var (
	oracleName  = regexp.MustCompile(`\A([a-zA-Z0-9_.-]{3,255})?\z`)
	oraclePlace = regexp.MustCompile(`\A[a-zA-Z0-9_.-]{0,255}\z`)
)

func isName(text string) bool  { return oracleName.MatchString(text) }
func isPlace(text string) bool { return oraclePlace.MatchString(text) }
