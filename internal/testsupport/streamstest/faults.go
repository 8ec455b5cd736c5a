package streamstest

import "fmt"

// The exceptions that a Fake returns, by their names in the API.
const (
	codeInvalid    = "ValidationException"
	codeNotFound   = "ResourceNotFoundException"
	codeInUse      = "ResourceInUseException"
	codeExpired    = "ExpiredIteratorException"
	codeTrimmed    = "TrimmedDataAccessException"
	codeLimit      = "LimitExceededException"
	codeThrottling = "ThrottlingException"
	codeThroughput = "ProvisionedThroughputExceededException"
	codeDenied     = "AccessDeniedException"
	codeInternal   = "InternalServerError"
	codeUnknown    = "UnknownOperationException"
)

// Refusal is a response that is an exception. The methods of a Table return it
// as an error, too.
type Refusal struct {
	// Code is the exception's name in the API.
	Code, Message string
	more          map[string]any
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

func refuse(code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// faults are what tests want to go wrong.
type faults struct {
	denied map[string]bool
	armed  map[string][]string // codes, by operation
	shares map[string]shares
	before func(Call)
}

// shares of requests that go wrong.
type shares struct{ throttles, errors float64 }

func newFaults() faults {
	return faults{denied: map[string]bool{}, armed: map[string][]string{}, shares: map[string]shares{}}
}

// Deny makes every call of an operation, such as GetRecords, fail for want of
// permission, until Allow.
func (f *Fake) Deny(operation string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults.denied[operation] = true
}

// Allow takes a Deny back.
func (f *Fake) Allow(operation string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.faults.denied, operation)
}

// Fail makes the next calls of an operation fail with these exceptions, in
// order: ThrottlingException, InternalServerError, and so on.
func (f *Fake) Fail(operation string, codes ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults.armed[operation] = append(f.faults.armed[operation], codes...)
}

// SetFaults changes, for one operation, the shares of requests that are refused
// as too many and that end in an internal error; for all of them when it is
// empty.
func (f *Fake) SetFaults(operation string, throttles, errors float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if operation == "" {
		clear(f.faults.shares)
		f.options.Throttles, f.options.Errors = throttles, errors
		return
	}
	f.faults.shares[operation] = shares{throttles, errors}
}

// ExpireIterators makes every iterator that was given until now expire.
func (f *Fake) ExpireIterators() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expired = f.tickets
}

// Before has fn called before each request is looked at, with what is known of
// it by then: its operation and its caller. It may call any method of the fake
// and its tables: that is how a shard splits between two pages. nil ends it.
func (f *Fake) Before(fn func(Call)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults.before = fn
}

// reads are the operations that chance may refuse.
var reads = map[string]bool{
	"ListStreams": true, "DescribeStream": true, "GetShardIterator": true, "GetRecords": true,
	"DescribeTable": true, "ListTables": true,
}

// fault decides whether a call fails whatever it requests.
func (f *Fake) fault(call *Call) error {
	if f.faults.denied[call.Operation] {
		return refuse(codeDenied, "User: arn:aws:iam::%s:user/%s is not authorized to perform: dynamodb:%s "+
			"because no identity-based policy allows the dynamodb:%s action", f.options.Account, call.Caller, call.Operation, call.Operation)
	}
	if armed := f.faults.armed[call.Operation]; len(armed) > 0 {
		f.faults.armed[call.Operation] = armed[1:]
		return refuse(armed[0], "as the test wanted")
	}
	if !reads[call.Operation] {
		return nil
	}
	wrong, own := f.faults.shares[call.Operation]
	if !own {
		wrong = shares{f.options.Throttles, f.options.Errors}
	}
	if f.chance(wrong.errors) {
		return refuse(codeInternal, "An internal error occurred")
	}
	if f.chance(wrong.throttles) {
		// Under which name a request that is too many is refused depends on what
		// refuses it.
		codes := []string{codeThrottling, codeLimit, codeThroughput}
		return refuse(codes[f.random.IntN(len(codes))], "Rate exceeded")
	}
	return f.rate(call)
}

// rates are how often an operation may be called in a second (API, "You can
// call … at a maximum rate of").
var rates = map[string]int{"DescribeStream": 10, "ListStreams": 5}

// rate refuses what is more than that.
func (f *Fake) rate(call *Call) error {
	allowed := rates[call.Operation]
	if allowed == 0 || f.options.NoRates {
		return nil
	}
	if f.log.served(call.Operation, call.Time) >= allowed {
		return refuse(codeThrottling, "Rate of requests exceeds the allowed throughput: %d %s a second", allowed, call.Operation)
	}
	return nil
}
